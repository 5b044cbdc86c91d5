//! Lines of `/proc/PID/fdinfo` that tell of files without a descriptor: registered with an `io_uring`, in
//! flight in a unix socket.

use super::descriptor::bracketed;
use super::{decimal, labelled};

/// A file that is registered with an `io_uring`, as far as its line tells it. How it was opened is not told.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(in crate::platform::linux) enum Registered {
    /// A pipe, by its inode.
    Pipe(u64),
    /// A socket, by its inode.
    Socket(u64),
    /// Anything with a name: its path, before Linux 6.14 only the last part of it.
    Named(Vec<u8>),
    /// A file without a name, before Linux 6.14: every pipe is shown so.
    Nameless,
}

/// Returns the files that are registered with a ring; `None` where the kernel did not list them, which it
/// does not while the ring is at work (`mutex_trylock` in its `io_uring/fdinfo.c`).
///
/// `whole_or_nothing`: a kernel from Linux 6.16 on, which then leaves out the number of slots too. Before, a
/// table of empty slots cannot be told from one that is not listed.
pub(in crate::platform::linux) fn registered(text: &[u8], whole_or_nothing: bool) -> Option<Vec<Registered>> {
    let mut lines = text
        .split(|byte| *byte == b'\n')
        .skip_while(|line| !line.starts_with(b"UserFiles:"));
    let slots = decimal(lines.next()?.strip_prefix(b"UserFiles:")?.trim_ascii())?;
    let slot = |line: &[u8]| {
        let colon = line.iter().position(|byte| *byte == b':')?;
        let (number, rest) = line.split_at_checked(colon)?;
        decimal(number.trim_ascii())?;
        let name = rest.get(1..)?;
        Some(name.strip_prefix(b" ").unwrap_or(name).to_vec())
    };
    let names: Vec<Vec<u8>> = lines.map_while(slot).collect();
    if slots > 0 && names.is_empty() && !whole_or_nothing {
        return None;
    }
    let used = names.into_iter().filter(|name| name != b"<none>");
    Some(used.map(|name| file(&name)).collect())
}

fn file(name: &[u8]) -> Registered {
    if let Some(inode) = bracketed(name, b"pipe:[") {
        return Registered::Pipe(inode);
    }
    if let Some(inode) = bracketed(name, b"socket:[") {
        return Registered::Socket(inode);
    }
    if name.is_empty() {
        return Registered::Nameless;
    }
    Registered::Named(unescaped(name))
}

/// The kernel writes blanks, line ends and backslashes of a path in octal (`mangle_path`).
fn unescaped(text: &[u8]) -> Vec<u8> {
    let mut path = Vec::with_capacity(text.len());
    let mut rest = text;
    while let Some((byte, after)) = rest.split_first() {
        let digits = after.get(..3).filter(|_| *byte == b'\\');
        let code = digits
            .and_then(|digits| super::in_base(digits, 8))
            .and_then(|code| u8::try_from(code).ok());
        path.push(code.unwrap_or(*byte));
        rest = after
            .get(if code.is_some() { 3 } else { 0 }..)
            .unwrap_or_default();
    }
    path
}

/// Returns how many descriptors wait in a unix socket to be received (Linux 5.6); for one that listens,
/// those of the connections that it has not accepted too. `None` for other sockets.
pub(in crate::platform::linux) fn in_flight(text: &[u8]) -> Option<u32> {
    let count = labelled(text, b"scm_fds:").and_then(decimal)?;
    u32::try_from(count).ok()
}

/// Returns whether a kernel of this release lists either all of a ring or nothing: since Linux 6.16.
pub(in crate::platform::linux) fn lists_rings_whole(release: &str) -> bool {
    let mut numbers = release.split(|sign: char| !sign.is_ascii_digit());
    let mut next = || numbers.next().and_then(|number| number.parse::<u32>().ok());
    match (next(), next()) {
        (Some(major), Some(minor)) => (major, minor) >= (6, 16),
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// As Linux 6.18 writes it, with the lines before and after.
    const RING: &[u8] = b"pos:\t0\nflags:\t02000002\nmnt_id:\t17\nino:\t185887\nSqMask:\t0x3\nSQEs:\t1\n    0: opcode:NOP, fd:-1\n\
        CQEs:\t0\nSqThread:\t-1\nUserFiles:\t7\n    0: pipe:[185888]\n    2: socket:[185889]\n    3: /etc/hostname\n    \
        4: /tmp/a\\040fi\\134fo\nUserBufs:\t1\n    0: 0x7f00/4096\nPollList:\nCqOverflowList:\nNAPI:\tdisabled\n";

    #[test]
    fn the_files_of_a_ring_are_told() {
        assert_eq!(
            registered(RING, true),
            Some(vec![
                Registered::Pipe(185_888),
                Registered::Socket(185_889),
                Registered::Named(b"/etc/hostname".to_vec()),
                Registered::Named(b"/tmp/a fi\\fo".to_vec()),
            ])
        );
    }

    #[test]
    fn what_is_not_listed_is_not_none() {
        let sparse = b"SqThread:\t-1\nUserFiles:\t5\nUserBufs:\t0\nPollList:\n".as_slice();
        let empty = b"UserFiles:\t0\nUserBufs:\t0\n".as_slice();
        let older =
            b"UserFiles:\t4\n    0: \n    1: <none>\n    2: UNIX-STREAM\n    3: hostname\nUserBufs:\t0\n"
                .as_slice();
        let busy = b"pos:\t0\nflags:\t02000002\nmnt_id:\t17\nino:\t185887\n".as_slice();
        for (text, whole_or_nothing, wanted) in [
            (sparse, true, Some(vec![])),
            (sparse, false, None),
            (empty, true, Some(vec![])),
            (empty, false, Some(vec![])),
            (
                older,
                false,
                Some(vec![
                    Registered::Nameless,
                    Registered::Named(b"UNIX-STREAM".to_vec()),
                    Registered::Named(b"hostname".to_vec()),
                ]),
            ),
            (busy, true, None),
            (busy, false, None),
            (b"UserFiles:\tmany\n", true, None),
            (b"", true, None),
        ] {
            assert_eq!(
                registered(text, whole_or_nothing),
                wanted,
                "{}",
                String::from_utf8_lossy(text)
            );
        }
    }

    #[test]
    fn escapes_of_a_path_are_undone_and_nothing_else() {
        for (text, path) in [
            (&b"/a\\040b"[..], &b"/a b"[..]),
            (b"/a\\012\\011\\134", b"/a\n\t\\"),
            (b"/a\\", b"/a\\"),
            (b"/a\\04", b"/a\\04"),
            (b"/a\\999", b"/a\\999"),
            (b"/\xff\\777", b"/\xff\\777"),
        ] {
            assert_eq!(unescaped(text), path);
        }
    }

    #[test]
    fn descriptors_in_flight_are_counted() {
        for (text, count) in [
            (&b"pos:\t0\nflags:\t02\nino:\t9\nscm_fds: 2\n"[..], Some(2)),
            (b"pos:\t0\nscm_fds: 0\n", Some(0)),
            (b"pos:\t0\nflags:\t02\n", None),
            (b"scm_fds: -1\n", None),
            (b"scm_fds: 4294967296\n", None),
            (b"", None),
        ] {
            assert_eq!(in_flight(text), count);
        }
    }

    #[test]
    fn kernels_are_told_by_their_release() {
        for (release, whole) in [
            ("6.18.44-fc-v857", true),
            ("6.16.0", true),
            ("7.0.0-rc1", true),
            ("6.15.9", false),
            ("6.9-generic", false),
            ("5.15.0-91-generic", false),
            ("", false),
            ("next", false),
        ] {
            assert_eq!(lists_rings_whole(release), whole, "{release}");
        }
    }
}
