//! What a verifier must not be fooled by: every kind of change, with its line.

use std::io::Cursor;

use proptest::prelude::*;

use super::*;
use crate::journal::digest::Digest;
use crate::journal::entry::Entry;
use crate::journal::line::Sealed;
use crate::journal::operator::Operator;
use crate::model::time::UnixMillis;

fn operator() -> Operator {
    Operator {
        user: "deploy".to_owned(),
        uid: 1000,
        login_uid: Some(1000),
        ssh_from: None,
    }
}

fn note(text: &str) -> Entry {
    Entry::Note {
        on: None,
        text: text.to_owned(),
    }
}

fn seal(joint: Joint, text: &str) -> Sealed {
    let at = UnixMillis(1_796_000_000_000 + i64::try_from(joint.seq).unwrap());
    Sealed::new(joint, at, &operator(), &note(text)).unwrap()
}

/// A journal of `count` entries, line by line.
fn journal(count: u64) -> Vec<Vec<u8>> {
    let mut joint = Joint::START;
    (1..=count)
        .map(|number| {
            let sealed = seal(joint, &format!("note {number} \u{1f41d} \"quoted\""));
            joint = sealed.joint;
            sealed.bytes
        })
        .collect()
}

fn joint_after(lines: &[Vec<u8>]) -> Joint {
    lines
        .last()
        .map_or(Joint::START, |line| Line::read(line).unwrap().joint())
}

fn check(bytes: &[u8], expect: Option<Head>) -> Verified {
    verify(&mut Cursor::new(bytes), expect, &mut |_, _| {}).unwrap()
}

fn fault(lines: &[Vec<u8>]) -> (FaultKind, u64) {
    let fault = check(&lines.concat(), None).fault.unwrap();
    (fault.kind, fault.line)
}

fn head(lines: &[Vec<u8>]) -> Head {
    Line::read(lines.last().unwrap()).unwrap().head()
}

#[test]
fn a_whole_journal_passes_and_hands_out_its_entries() {
    let lines = journal(5);
    let mut seen = Vec::new();
    let verified = verify(
        &mut Cursor::new(lines.concat()),
        Some(head(&lines)),
        &mut |number, line| {
            seen.push((number, line.entry.clone().unwrap()));
        },
    )
    .unwrap();
    assert_eq!((verified.entries, verified.fault, verified.torn), (5, None, None));
    assert_eq!(verified.head, Some(head(&lines)));
    assert_eq!(seen.len(), 5);
    assert_eq!(seen[2], (3, note("note 3 \u{1f41d} \"quoted\"")));
}

#[test]
fn an_old_head_is_found_in_a_journal_that_grew() {
    let lines = journal(5);
    assert_eq!(check(&lines.concat(), Some(head(&lines[..3]))).fault, None);
}

#[test]
fn an_edited_line_is_named() {
    for at in 0..5 {
        let mut lines = journal(5);
        let text = String::from_utf8(lines[at].clone()).unwrap();
        lines[at] = text.replacen("note ", "vote ", 1).into_bytes();
        assert_eq!(fault(&lines), (FaultKind::Edited, at as u64 + 1));
    }
}

#[test]
fn an_edited_line_with_a_new_hash_is_named() {
    for at in 0..4 {
        let mut lines = journal(5);
        lines[at] = seal(joint_after(&lines[..at]), "forged").bytes;
        assert_eq!(fault(&lines), (FaultKind::Edited, at as u64 + 1));
    }
}

#[test]
fn missing_lines_are_named() {
    for at in 0..4 {
        let mut lines = journal(5);
        lines.remove(at);
        assert_eq!(fault(&lines), (FaultKind::Missing, at as u64 + 1));
    }
    let mut lines = journal(6);
    lines.drain(1..4);
    assert_eq!(fault(&lines), (FaultKind::Missing, 2));
    assert_eq!(check(b"", None).fault.unwrap().kind, FaultKind::Missing);
}

#[test]
fn an_inserted_line_is_named() {
    for at in 0..=5 {
        for blank in [&b"\n"[..], b"{}\n", b"no entry\n"] {
            let mut lines = journal(5);
            lines.insert(at, blank.to_vec());
            let kind = if at < 5 {
                FaultKind::Inserted
            } else {
                FaultKind::Edited
            };
            assert_eq!(fault(&lines), (kind, at as u64 + 1));
        }
    }
    for at in 0..5 {
        // Forged so that it joins the line before.
        let mut lines = journal(5);
        lines.insert(at, seal(joint_after(&lines[..at]), "forged").bytes);
        let line = if at < 4 { at as u64 + 1 } else { 6 };
        assert_eq!(
            fault(&lines),
            (FaultKind::Inserted, line),
            "before line {}",
            at + 1
        );
        // Forged so that it joins nothing.
        let mut lines = journal(5);
        let joint = Joint {
            seq: at as u64,
            digest: Digest::of(b"elsewhere"),
        };
        lines.insert(at, seal(joint, "forged").bytes);
        assert_eq!(
            fault(&lines),
            (FaultKind::Inserted, at as u64 + 1),
            "before line {}",
            at + 1
        );
    }
}

#[test]
fn a_reordered_line_is_named() {
    for at in 0..4 {
        let mut lines = journal(5);
        lines.swap(at, at + 1);
        assert_eq!(fault(&lines), (FaultKind::Reordered, at as u64 + 1));
    }
    let mut lines = journal(6);
    let moved = lines.remove(1);
    lines.insert(4, moved);
    assert_eq!(fault(&lines), (FaultKind::Reordered, 2));
}

#[test]
fn a_duplicated_line_is_named() {
    for from in 0..5 {
        for to in 0..=5 {
            let mut lines = journal(5);
            lines.insert(to, lines[from].clone());
            // Next to each other the second one counts.
            let line = if to == from { to as u64 + 2 } else { to as u64 + 1 };
            assert_eq!(
                fault(&lines),
                (FaultKind::Duplicated, line),
                "line {} before {}",
                from + 1,
                to + 1
            );
        }
    }
}

#[test]
fn a_truncated_journal_is_found_by_the_expected_head() {
    let lines = journal(5);
    for kept in 0..5 {
        let cut = lines[..kept].concat();
        let found = check(&cut, Some(head(&lines))).fault.unwrap();
        assert_eq!((found.kind, found.line), (FaultKind::Truncated, kept as u64 + 1));
        assert_eq!(check(&cut, None).fault.is_none(), kept > 0);
    }
}

#[test]
fn a_journal_that_was_cut_and_continued_is_found_by_the_expected_head() {
    let lines = journal(5);
    let mut forged = lines[..3].to_vec();
    while forged.len() < 7 {
        let joint = joint_after(&forged);
        forged.push(seal(joint, "forged").bytes);
    }
    assert_eq!(check(&forged.concat(), None).fault, None);
    let found = check(&forged.concat(), Some(head(&lines))).fault.unwrap();
    assert_eq!((found.kind, found.line), (FaultKind::Replaced, 5));
}

#[test]
fn a_swapped_journal_is_found_by_the_expected_head() {
    let other: Vec<Vec<u8>> = vec![seal(Joint::START, "another incident").bytes];
    let found = check(&other.concat(), Some(head(&journal(1)))).fault.unwrap();
    assert_eq!((found.kind, found.line), (FaultKind::Replaced, 1));
}

#[test]
fn a_torn_tail_is_told_apart_from_a_fault() {
    let lines = journal(3);
    let whole = lines.concat();
    for cut in 1..=lines[2].len() {
        let bytes = &whole[..whole.len() - cut];
        let verified = check(bytes, None);
        assert_eq!((verified.entries, &verified.fault), (2, &None));
        let torn = (lines[2].len() - cut) as u64;
        let expected = (torn > 0).then_some(Torn { line: 3, bytes: torn });
        assert_eq!(verified.torn, expected);
    }
}

#[test]
fn a_line_without_end_does_not_fill_memory() {
    let mut bytes = journal(2).concat();
    bytes.resize(bytes.len() + 3 * LONGEST_LINE, b'x');
    let torn = check(&bytes, None).torn.unwrap();
    assert_eq!((torn.line, torn.bytes), (3, 3 * LONGEST_LINE as u64));
    bytes.push(b'\n');
    let found = check(&bytes, None).fault.unwrap();
    assert_eq!((found.kind, found.line), (FaultKind::Edited, 3));
}

#[test]
fn a_key_twice_or_a_second_spelling_is_no_entry() {
    let line = String::from_utf8(journal(1).remove(0)).unwrap();
    for (from, to) in [
        ("\"text\":", "\"text\":\"other\",\"text\":"),
        ("note 1", "\\u006eote 1"),
        ("\"on\":null", "\"on\": null"),
        ("{\"seq\":1,", "{\"seq\":1.0,"),
    ] {
        let forged = line.replacen(from, to, 1);
        assert_ne!(forged, line);
        // With a right hash, as somebody would forge it.
        let body = &forged[..forged.find(",\"hash\":").unwrap()];
        let hash = Digest::of(format!("{}{body}", Digest::ZERO).as_bytes());
        let forged = format!("{body},\"hash\":\"{hash}\"}}\n");
        assert_eq!(Line::read(forged.as_bytes()), Err(LineError::Form), "{forged}");
    }
}

/// A small generator, so that a failure can be repeated: splitmix64.
struct Random(u64);

impl Random {
    fn below(&mut self, bound: usize) -> usize {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        usize::try_from((mixed ^ (mixed >> 31)) % bound as u64).unwrap()
    }
}

#[test]
fn no_single_byte_can_be_changed() {
    let lines = journal(20);
    let whole = lines.concat();
    let mut random = Random(7);
    for _ in 0..1000 {
        let at = random.below(whole.len() - 1);
        let mut bytes = whole.clone();
        bytes[at] ^= u8::try_from(1 + random.below(255)).unwrap();
        let line = whole[..at].split(|byte| *byte == b'\n').count() as u64;
        let fault = check(&bytes, None).fault.unwrap();
        assert_eq!((fault.kind, fault.line), (FaultKind::Edited, line), "byte {at}");
    }
}

#[test]
fn no_byte_can_be_added_or_removed() {
    let whole = journal(3).concat();
    for at in 0..whole.len() - 1 {
        let mut fewer = whole.clone();
        fewer.remove(at);
        assert!(check(&fewer, None).fault.is_some(), "byte {at} removed");
        for byte in [b' ', b'\n', 0] {
            let mut more = whole.clone();
            more.insert(at, byte);
            assert!(check(&more, None).fault.is_some(), "{byte} before byte {at}");
        }
    }
}

proptest! {
    #[test]
    fn no_bytes_stop_the_verifier(bytes in any::<Vec<u8>>()) {
        let verified = check(&bytes, None);
        prop_assert!(verified.fault.is_some() || verified.torn.is_some());
    }

    #[test]
    fn no_mixture_of_lines_stops_the_verifier(picks in proptest::collection::vec((0..6_usize, any::<bool>()), 0..12)) {
        let lines = journal(6);
        let mixed: Vec<Vec<u8>> = picks
            .iter()
            .map(|(pick, cut)| lines[*pick][usize::from(*cut)..].to_vec())
            .collect();
        let sound = !picks.is_empty() && picks.iter().enumerate().all(|(place, pick)| *pick == (place, false));
        prop_assert_eq!(check(&mixed.concat(), None).fault.is_none(), sound);
    }
}
