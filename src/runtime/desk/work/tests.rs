//! What the desk leaves on the disk.

use std::fs;
use std::path::Path;
use std::sync::Arc;

use tempfile::TempDir;

use super::{After, Work};
use crate::analysis::Known;
use crate::app::freeze::SavedFile;
use crate::app::testkit::{live, options};
use crate::app::{Attach, Copy, Followed, Material, Opened, Order, Outcome};
use crate::catalog::Catalog;
use crate::journal::entry::SnapshotReason;
use crate::journal::{Digest, Entry, Line};
use crate::model::world::World;
use crate::platform::{NoSignaller, Signaller};
use crate::runtime::collector::Knowledge;
use crate::store::Access;

fn own_uid() -> u32 {
    use std::os::unix::fs::MetadataExt as _;
    tempfile::tempdir().unwrap().path().metadata().unwrap().uid()
}

/// A world that this user sees: the store checks who owns its directories.
pub(in crate::runtime::desk) fn world() -> Arc<World> {
    let mut scene = live();
    scene.sample.observer.uid = own_uid();
    scene.world()
}

fn work(state: &TempDir, access: Access) -> Work {
    signalling(
        state.path(),
        access,
        Box::new(NoSignaller::new("a test of the disk")),
    )
}

/// A desk with its state in this directory.
pub(in crate::runtime::desk) fn signalling(
    state: &Path,
    access: Access,
    signaller: Box<dyn Signaller>,
) -> Work {
    let knowledge = Knowledge::fixed(Known {
        catalog: Arc::new(Catalog::builtin().unwrap()),
        configured: Arc::default(),
    });
    let mut work = Work::new(
        access,
        options().keep_redactor,
        knowledge,
        "rules of a test".to_owned(),
        signaller,
    );
    work.state_home = Some(state.as_os_str().to_owned());
    work
}

pub(in crate::runtime::desk) fn opened(work: &mut Work) -> Opened {
    let order = Order::Open {
        title: Some("OPS-1412".to_owned()),
        offered: None,
        on: world(),
    };
    match work.carry_out(order).0 {
        Outcome::Opened(Ok(opened)) => opened,
        other => panic!("{other:?}"),
    }
}

pub(in crate::runtime::desk) fn note(text: &str) -> Order {
    Order::Append(Box::new(Entry::Note {
        on: None,
        text: text.to_owned(),
    }))
}

#[test]
fn a_snapshot_is_on_disk_under_the_digest_that_is_shown_and_copied_in_as_it_is() {
    let state = tempfile::tempdir().unwrap();
    let mut work = work(&state, Access::ReadWrite);
    let Outcome::Saved(Ok((file, lines))) = work
        .carry_out(Order::Save {
            world: world(),
            why: SnapshotReason::Freeze,
        })
        .0
    else {
        panic!("not saved");
    };
    assert!(lines.is_empty());
    assert_eq!(Digest::of(&fs::read(&file.path).unwrap()), file.sha256);
    let opened = opened(&mut work);
    assert_eq!(opened.problem, None);
    let named = opened.lines.iter().any(
        |line| matches!(&line.entry, Ok(Entry::Snapshot { file: one, .. }) if one.sha256 == file.sha256),
    );
    assert!(named, "{:?}", opened.lines);
    let Outcome::Saved(Ok((second, lines))) = work
        .carry_out(Order::Save {
            world: world(),
            why: SnapshotReason::Freeze,
        })
        .0
    else {
        panic!("not saved");
    };
    assert!(Path::new(&second.path).starts_with(&opened.path));
    assert_eq!(lines.len(), 1);
}

#[test]
fn entries_come_back_as_lines_with_those_of_others() {
    let state = tempfile::tempdir().unwrap();
    let mut mine = work(&state, Access::ReadWrite);
    assert!(matches!(
        mine.carry_out(note("early")).0,
        Outcome::Written(Err(_))
    ));
    let opened = opened(&mut mine);
    assert_eq!(opened.lines.len(), 1);
    let Outcome::Written(Ok(lines)) = mine.carry_out(note("first")).0 else {
        panic!("not written");
    };
    assert_eq!(lines.len(), 1);
    assert_eq!(lines[0].seq, 2);
    let mut theirs = work(&state, Access::ReadWrite);
    let order = Order::Open {
        title: None,
        offered: None,
        on: world(),
    };
    let Outcome::Opened(Ok(joined)) = theirs.carry_out(order).0 else {
        panic!("not joined");
    };
    assert_eq!((joined.path, joined.title), (opened.path, "OPS-1412".to_owned()));
    assert_eq!(joined.lines.len(), 2);
    theirs.carry_out(note("second"));
    let Outcome::Written(Ok(lines)) = mine.carry_out(note("third")).0 else {
        panic!("not written");
    };
    assert_eq!(lines.iter().map(|line| line.seq).collect::<Vec<_>>(), [3, 4]);
}

#[test]
fn output_is_attached_byte_for_byte_and_a_pipe_is_refused() {
    let state = tempfile::tempdir().unwrap();
    let mut work = work(&state, Access::ReadWrite);
    let opened = opened(&mut work);
    let attach = |material| {
        Order::Attach(Box::new(Attach {
            material,
            label: "audit".to_owned(),
            on: None,
            lead: None,
        }))
    };
    let text = "line 1\r\n\tline 2";
    let outcome = work.carry_out(attach(Material::Pasted(text.to_owned()))).0;
    assert!(matches!(outcome, Outcome::Written(Ok(lines)) if lines.len() == 1));
    let attachments = fs::read_dir(Path::new(&opened.path).join("attachments")).unwrap();
    let contents: Vec<Vec<u8>> = attachments
        .map(|entry| fs::read(entry.unwrap().path()).unwrap())
        .collect();
    assert_eq!(contents, [text.as_bytes()]);
    for path in ["/dev/zero", "/nowhere/to/be/found"] {
        let outcome = work.carry_out(attach(Material::File(path.to_owned()))).0;
        assert!(
            matches!(&outcome, Outcome::Refused(why) if why.contains(path)),
            "{outcome:?}"
        );
    }
}

#[test]
fn a_copy_has_a_file_once_an_incident_is_open() {
    let state = tempfile::tempdir().unwrap();
    let mut work = work(&state, Access::ReadWrite);
    let opened = opened(&mut work);
    // Longer than any way to a clipboard takes without being a desktop's.
    let text = "x".repeat(100_000);
    work.clipboard =
        crate::runtime::clipboard::Clipboard::new(crate::runtime::clipboard::Surroundings::default());
    let copy = Copy {
        text: text.clone(),
        ending: "md",
        what: "2 rows".to_owned(),
        on: world(),
    };
    let (outcome, after) = work.carry_out(Order::Copy(Box::new(copy)));
    assert!(matches!(after, After::Nothing));
    assert!(
        matches!(&outcome, Outcome::Copied(said) if said.starts_with("2 rows: not sent") && said.contains("copies/")),
        "{outcome:?}"
    );
    let copies: Vec<_> = fs::read_dir(Path::new(&opened.path).join("copies"))
        .unwrap()
        .collect();
    assert_eq!(copies.len(), 1);
    assert_eq!(
        fs::read_to_string(copies[0].as_ref().unwrap().path()).unwrap(),
        text
    );
}

#[test]
fn read_only_writes_nothing() {
    let state = tempfile::tempdir().unwrap();
    let mut work = work(&state, Access::ReadOnly);
    assert!(matches!(
        work.carry_out(Order::Save {
            world: world(),
            why: SnapshotReason::Freeze
        })
        .0,
        Outcome::Saved(Err(_))
    ));
    let order = Order::Open {
        title: Some("OPS-1412".to_owned()),
        offered: None,
        on: world(),
    };
    assert!(matches!(work.carry_out(order).0, Outcome::Opened(Err(_))));
    assert_eq!(fs::read_dir(state.path()).unwrap().count(), 0);
}

#[test]
fn an_incident_that_is_joined_says_which_servers_its_snapshots_show() {
    let state = tempfile::tempdir().unwrap();
    let mut first = work(&state, Access::ReadWrite);
    assert!(opened(&mut first).shown.is_empty());
    first.carry_out(Order::Save {
        world: world(),
        why: SnapshotReason::Freeze,
    });
    let join = |on: Arc<World>| {
        let order = Order::Open {
            title: None,
            offered: None,
            on,
        };
        match work(&state, Access::ReadWrite).carry_out(order).0 {
            Outcome::Opened(Ok(opened)) => opened,
            other => panic!("{other:?}"),
        }
    };
    let mut wanted: Vec<_> = world().judged.instances.iter().map(|one| one.id).collect();
    wanted.sort_unstable();
    let joined = join(world());
    assert!(!wanted.is_empty());
    let shown: Vec<_> = joined.shown.keys().copied().collect();
    assert_eq!(shown, wanted);
    let kept = joined.shown.values().next().expect("one");
    assert_eq!(kept.taken_at, world().sample.taken_at);
    assert!(kept.sha256.is_some());
    let [evidence] = &joined.evidence[..] else {
        panic!("the snapshot itself");
    };
    assert_eq!(evidence.judged.instances.len(), wanted.len());
    let mut rebooted = World::clone(&world());
    rebooted.sample.host.boot_id = "another".to_owned();
    let joined_later = join(Arc::new(rebooted));
    assert!(joined_later.shown.is_empty(), "another boot: other processes");
    fs::remove_dir_all(Path::new(&joined.path).join("snapshots")).unwrap();
    assert!(join(world()).shown.is_empty(), "what is gone shows nothing");
}

#[test]
fn the_newest_open_incident_is_found_gone_on_with_and_closed() {
    let state = tempfile::tempdir().unwrap();
    let mut first = work(&state, Access::ReadWrite);
    let found = |work: &mut Work| match work.carry_out(Order::FindOpen(world())).0 {
        Outcome::Found(offer) => offer.map(|offer| offer.title),
        other => panic!("{other:?}"),
    };
    let open = |work: &mut Work, title: Option<&str>, offered: Option<&str>| {
        let order = Order::Open {
            title: title.map(str::to_owned),
            offered: offered.map(str::to_owned),
            on: world(),
        };
        match work.carry_out(order).0 {
            Outcome::Opened(Ok(opened)) => opened.path,
            other => panic!("{other:?}"),
        }
    };
    assert_eq!(found(&mut first), None);
    let one = open(&mut first, Some("OPS-1"), None);
    let mut second = work(&state, Access::ReadWrite);
    assert_eq!(found(&mut second).as_deref(), Some("OPS-1"));
    // What was offered is meant, also where another one was opened since.
    let mut third = work(&state, Access::ReadWrite);
    let unseen = Order::Open {
        title: Some("OPS-2".to_owned()),
        offered: None,
        on: world(),
    };
    let outcome = third.carry_out(unseen).0;
    assert!(
        matches!(&outcome, Outcome::Elsewhere(offer) if offer.path == one && offer.title == "OPS-1"),
        "{outcome:?}"
    );
    open(&mut third, Some("OPS-2"), Some(&one));
    assert_eq!(open(&mut second, None, Some(&one)), one);
    let close = || Order::Append(Box::new(Entry::Closed { remaining: None }));
    assert!(matches!(second.carry_out(close()).0, Outcome::Written(Ok(_))));
    // Nothing comes behind the end.
    assert!(matches!(
        second.carry_out(note("late")).0,
        Outcome::Written(Err(_))
    ));
    assert_eq!(found(&mut second).as_deref(), Some("OPS-2"));
    assert!(matches!(third.carry_out(close()).0, Outcome::Written(Ok(_))));
    // The offered one was closed meanwhile, and a closed one is not gone on with.
    let outcome = second
        .carry_out(Order::Open {
            title: None,
            offered: None,
            on: world(),
        })
        .0;
    assert!(matches!(outcome, Outcome::Opened(Err(_))), "{outcome:?}");
    assert_eq!(found(&mut second), None);
}

fn save(work: &mut Work) -> SavedFile {
    let order = Order::Save {
        world: world(),
        why: SnapshotReason::Freeze,
    };
    match work.carry_out(order).0 {
        Outcome::Saved(Ok((file, _))) => file,
        other => panic!("{other:?}"),
    }
}

fn joined(work: &mut Work) -> Opened {
    let order = Order::Open {
        title: None,
        offered: None,
        on: world(),
    };
    match work.carry_out(order).0 {
        Outcome::Opened(Ok(opened)) => opened,
        other => panic!("{other:?}"),
    }
}

fn digests(lines: &[Line]) -> Vec<Digest> {
    let snapshot = |line: &Line| match &line.entry {
        Ok(Entry::Snapshot { file, .. }) => Some(file.sha256),
        _ => None,
    };
    lines.iter().filter_map(snapshot).collect()
}

fn followed(work: &mut Work) -> Followed {
    match work.carry_out(Order::Follow).0 {
        Outcome::Followed(Ok(followed)) => followed,
        other => panic!("{other:?}"),
    }
}

#[test]
fn what_this_screen_froze_goes_once_into_the_incident_that_it_goes_on_with() {
    let state = tempfile::tempdir().unwrap();
    let mut first = work(&state, Access::ReadWrite);
    let incident = opened(&mut first).path;
    let mut stranger = work(&state, Access::ReadWrite);
    save(&mut stranger);
    let mut second = work(&state, Access::ReadWrite);
    let frozen = save(&mut second);
    let opened = joined(&mut second);
    assert_eq!((opened.path, opened.problem), (incident.clone(), None));
    assert_eq!(opened.copied, [frozen.sha256]);
    assert_eq!(
        digests(&opened.lines),
        [frozen.sha256],
        "what another screen froze is its own"
    );
    let name = Path::new(&frozen.path).file_name().unwrap();
    let inside = Path::new(&incident).join("snapshots").join(name);
    assert_eq!(Digest::of(&fs::read(inside).unwrap()), frozen.sha256);
    let again = joined(&mut second);
    assert_eq!(again.copied, []);
    assert_eq!(digests(&again.lines), [frozen.sha256], "once");
}

#[test]
fn a_new_incident_takes_in_no_snapshot_of_other_work() {
    let state = tempfile::tempdir().unwrap();
    let mut first = work(&state, Access::ReadWrite);
    opened(&mut first);
    // While one incident is open, what is frozen on a screen beside it is of nobody knows which.
    let mut second = work(&state, Access::ReadWrite);
    save(&mut second);
    let open = |work: &mut Work, offered: &str| {
        let order = Order::Open {
            title: Some("OPS-2".to_owned()),
            offered: Some(offered.to_owned()),
            on: world(),
        };
        match work.carry_out(order).0 {
            Outcome::Opened(Ok(opened)) => opened,
            other => panic!("{other:?}"),
        }
    };
    let Outcome::Found(Some(offer)) = first.carry_out(Order::FindOpen(world())).0 else {
        panic!("none is open");
    };
    let mut third = work(&state, Access::ReadWrite);
    let own = save(&mut third);
    assert_eq!(
        open(&mut third, &offer.path).copied,
        [own.sha256],
        "its own goes with it"
    );
}

#[test]
fn what_others_write_is_followed_from_where_it_was_read() {
    let state = tempfile::tempdir().unwrap();
    let mut mine = work(&state, Access::ReadWrite);
    assert_eq!(followed(&mut mine), Followed::default(), "nothing is open");
    let path = opened(&mut mine).path;
    let mut theirs = work(&state, Access::ReadWrite);
    joined(&mut theirs);
    assert_eq!(followed(&mut mine), Followed::default());
    theirs.carry_out(note("theirs"));
    save(&mut theirs);
    let seen = followed(&mut mine);
    assert_eq!(seen.lines.iter().map(|line| line.seq).collect::<Vec<_>>(), [2, 3]);
    assert!(!seen.shown.is_empty(), "their snapshot shows servers");
    assert_eq!(seen.faults, None, "nothing was looked at but what is new");
    mine.carry_out(note("mine"));
    assert_eq!(
        followed(&mut mine).lines,
        [],
        "what this desk wrote was told already"
    );
    assert_eq!(followed(&mut theirs).lines.len(), 1);
    // Somebody changes what was read already.
    let journal = Path::new(&path).join("journal.jsonl");
    let text = fs::read_to_string(&journal).unwrap();
    fs::write(&journal, text.replace("theirs", "thairs")).unwrap();
    // Some file systems tell times apart only by milliseconds.
    let file = fs::File::options().append(true).open(&journal).unwrap();
    file.set_modified(std::time::UNIX_EPOCH).unwrap();
    let seen = followed(&mut mine);
    assert!(
        seen.faults
            .is_some_and(|faults| faults.iter().any(|fault| fault.contains("edited"))),
        "it is said"
    );
    fs::rename(&journal, journal.with_extension("away")).unwrap();
    assert!(matches!(
        mine.carry_out(Order::Follow).0,
        Outcome::Followed(Err(_))
    ));
}

#[test]
fn an_incident_that_is_left_takes_nothing_more() {
    let state = tempfile::tempdir().unwrap();
    let mut mine = work(&state, Access::ReadWrite);
    opened(&mut mine);
    let outcome = mine.carry_out(Order::Leave(world())).0;
    assert!(matches!(outcome, Outcome::Found(Some(_))), "{outcome:?}");
    assert!(matches!(mine.carry_out(note("late")).0, Outcome::Written(Err(_))));
}
