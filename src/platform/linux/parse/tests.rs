//! Parsers on bytes: what kernels print, and what a hostile process can make them print.

use std::collections::BTreeSet;

use proptest::prelude::*;

use super::descriptor::{fdinfo, pts_number, target};
use super::process::{Rights, argv, cgroup, closer_status, environment, namespace, rights, status};
use super::stat::{Stat, schedstat, terminal_name};
use super::system::{HidePid, boot_seconds, hidepid, locks, mounted_types, passwd, processors};
use super::{decimal, in_base, signed};
use crate::model::bytes::OsBytes;
use crate::model::descriptor::{Access, Target};
use crate::model::identity::{Pid, StartKey};

const AFTER_NAME: &str = " S 41 42 43 34817 42 4194304 100 0 0 0 7 5 0 0 20 0 1 0 5200 1000000 300 \
    18446744073709551615 94000 95000 96000 0 0 0 0 4096 0 0 0 0 17 0 0 0 0 0 0 97000 98000 99000 100000 \
    100100 100200 100300 0";

fn line(name: &[u8]) -> Vec<u8> {
    [b"4242 (", name, b")", AFTER_NAME.as_bytes(), b"\n"].concat()
}

fn pid(raw: i64) -> Option<Pid> {
    Pid::new(raw)
}

#[test]
fn a_stat_line_gives_its_fields() {
    let stat = Stat::parse(&line(b"node")).unwrap();
    assert_eq!(Some(stat.pid), pid(4242));
    assert_eq!(stat.comm, b"node");
    assert_eq!(
        (stat.ppid, stat.pgid, stat.sid, stat.tpgid),
        (pid(41), pid(42), pid(43), pid(42))
    );
    assert_eq!(
        (stat.state, stat.cpu_ticks, stat.threads, stat.rss_pages),
        ('S', 12, 1, 300)
    );
    assert_eq!(stat.start, StartKey(5200));
    assert_eq!(stat.image, (94000, 100_000));
    assert_eq!(terminal_name(stat.tty).as_deref(), Some("pts/1"));
    assert!(!stat.kernel_thread() && !stat.forked_no_exec());
    assert_eq!(stat.marks(false), "S+");
}

#[test]
fn a_hostile_name_cannot_move_a_field() {
    let names: [&[u8]; 8] = [
        b") R 1 1 1 (",
        b"a b c",
        b"\n",
        b"",
        b")",
        b"((",
        b"x) Z 0 0 0 0 0\n",
        b"\xff\xfe\x00\x1b[31m",
    ];
    for name in names {
        let stat = Stat::parse(&line(name)).unwrap();
        assert_eq!(stat.comm, name);
        assert_eq!(
            (stat.state, stat.ppid, stat.start),
            ('S', pid(41), StartKey(5200))
        );
    }
}

#[test]
fn a_stat_line_cut_short_is_none() {
    let whole = line(b"node");
    let needed = whole.windows(5).position(|part| part == b" 300 ").unwrap() + 4;
    for length in 0..needed - 3 {
        assert!(Stat::parse(&whole[..length]).is_none(), "{length}");
    }
    // Older kernels print fewer fields at the end.
    assert_eq!(Stat::parse(&whole[..needed]).unwrap().image, (0, 0));
}

#[test]
fn marks_stand_in_the_order_of_ps() {
    let mut stat = Stat::parse(&line(b"x")).unwrap();
    stat.nice = -5;
    stat.sid = Some(stat.pid);
    stat.threads = 4;
    assert_eq!(stat.marks(true), "S<Lsl+");
    stat.nice = 3;
    stat.tpgid = None;
    assert_eq!(stat.marks(false), "SNsl");
    // The groups of another pid namespace are all 0: no two of them are the same.
    stat.pgid = None;
    assert_eq!(stat.marks(false), "SNsl");
}

#[test]
fn a_processor_time_of_zeros_is_no_figure() {
    assert_eq!(schedstat(b"123 45 6\n"), Some([123, 45, 6]));
    assert_eq!(schedstat(b"0 0 0\n"), None);
    assert_eq!(schedstat(b"1 2\n"), None);
    assert_eq!(schedstat(b""), None);
}

#[test]
fn terminals_have_the_names_of_ps() {
    let device = |major: u32, minor: u32| (minor & 0xff) | (major << 8) | ((minor & 0xfff00) << 12);
    for (major, minor, name) in [
        (136, 0, "pts/0"),
        (136, 300, "pts/300"),
        (137, 1, "pts/257"),
        (4, 1, "tty1"),
        (4, 64, "ttyS0"),
        (5, 1, "console"),
        (204, 65, "ttyAMA1"),
        (229, 0, "hvc0"),
        (999, 7, "999:7"),
    ] {
        assert_eq!(terminal_name(device(major, minor)).as_deref(), Some(name));
    }
    assert_eq!(terminal_name(0), None);
}

#[test]
fn arguments_are_split_at_their_nuls() {
    let split = |bytes: &[u8]| {
        argv(bytes)
            .iter()
            .map(|element| element.as_bytes().to_vec())
            .collect::<Vec<_>>()
    };
    assert_eq!(split(b"node\0a b\0"), [b"node".to_vec(), b"a b".to_vec()]);
    assert_eq!(
        split(b"node\0\0x\0\0\0"),
        [b"node".to_vec(), b"".to_vec(), b"x".to_vec()]
    );
    assert_eq!(split(b"npm exec demo\0\0\0\0\0"), [b"npm exec demo".to_vec()]);
    assert_eq!(split(b"no end"), [b"no end".to_vec()]);
    assert_eq!(split(b"\0after"), [b"".to_vec(), b"after".to_vec()]);
    assert_eq!(split(b""), Vec::<Vec<u8>>::new());
    assert_eq!(split(b"\0\0"), Vec::<Vec<u8>>::new());
    assert_eq!(split(b"\xff\xfe\0"), [b"\xff\xfe".to_vec()]);
}

#[test]
fn an_environment_keeps_the_values_of_identifiers_only() {
    let text = b"B=2\0TOKEN=hidden\0SESSION=one\0SESSION=two\0=x\0nothing\0E=\0\xff=1\0";
    let kept = environment(text, &BTreeSet::from(["SESSION".to_owned(), "E".to_owned()]));
    let names: Vec<&[u8]> = kept.names.iter().map(OsBytes::as_bytes).collect();
    assert_eq!(names, [b"B".as_slice(), b"E", b"SESSION", b"TOKEN", b"\xff"]);
    assert_eq!(kept.identifiers["SESSION"], OsBytes::from("one"));
    assert_eq!(kept.identifiers["E"], OsBytes::from(""));
    assert_eq!(kept.identifiers.len(), 2);
}

const STATUS: &[u8] =
    b"Name:\tUid:\\t0\nUmask:\t0022\nState:\tS (sleeping)\nNSpid:\t4242\t17\nUid:\t1000\t0\t0\t0\n\
    VmLck:\t      12 kB\nVmSwap:\t    8 kB\nSigPnd:\t0000000000000001\nShdPnd:\t0000000000004000\n\
    SigBlk:\t0000000000010000\nSigIgn:\t0000000000001000\nSigCgt:\t0000000180004002\n";

#[test]
fn a_status_gives_the_real_user_and_what_a_closer_look_needs() {
    let found = status(STATUS).unwrap();
    assert_eq!((found.uid, found.pages_locked), (1000, true));
    let closer = closer_status(STATUS);
    let signals = closer.signals.unwrap();
    assert_eq!((signals.pending, signals.blocked), (0x4001, 0x10000));
    assert_eq!((signals.ignored, signals.caught), (0x1000, 0x1_8000_4002));
    assert_eq!(closer.swap_bytes, Some(8192));
    assert_eq!(closer.namespace_pids, Some(vec![4242, 17]));
    assert_eq!(status(b"Name:\tx\n"), None);
    let zombie = closer_status(b"State:\tZ (zombie)\nUid:\t0\t0\t0\t0\n");
    assert_eq!(
        (zombie.signals, zombie.swap_bytes, zombie.namespace_pids),
        (None, None, None)
    );
}

#[test]
fn the_control_group_is_that_of_version_two_or_of_systemd() {
    let group = |text: &[u8]| cgroup(text).map(|path| path.lossy().into_owned());
    assert_eq!(group(b"0::/user.slice/a:b\n").as_deref(), Some("/user.slice/a:b"));
    assert_eq!(
        group(b"5:cpu:/x\n1:name=systemd:/unit\n0::/\n").as_deref(),
        Some("/unit")
    );
    assert_eq!(
        group(b"5:cpu:/x\n1:name=systemd:/unit\n").as_deref(),
        Some("/unit")
    );
    assert_eq!(group(b"0::/\n").as_deref(), Some("/"));
    assert_eq!(group(b"5:cpu:/x\n"), None);
    assert_eq!(group(b""), None);
}

fn of(link: &[u8]) -> Target {
    target(link, &fdinfo(b""))
}

fn anonymous(name: &str) -> Target {
    Target::Anonymous {
        name: name.into(),
        pid: None,
    }
}

#[test]
fn terminals_and_their_masters_are_told_apart() {
    let terminal = |path: &str, hung_up| Target::Terminal {
        path: path.into(),
        hung_up,
    };
    assert_eq!(of(b"/dev/pts/3"), terminal("/dev/pts/3", false));
    assert_eq!(of(b"/dev/pts/3 (deleted)"), terminal("/dev/pts/3", true));
    assert_eq!(of(b"/dev/ttyS0"), terminal("/dev/ttyS0", false));
    assert_eq!(of(b"/dev/pts/ptmx"), Target::PtyMaster { index: None });
    let master = fdinfo(b"tty-index:\t5\n");
    assert_eq!(
        target(b"/dev/ptmx", &master),
        Target::PtyMaster { index: Some(5) }
    );
    assert_eq!(pts_number(b"/dev/pts/17"), Some(17));
    assert_eq!(pts_number(b"/dev/pts/ptmx"), None);
}

#[test]
fn objects_without_a_file_are_told_by_their_name() {
    assert_eq!(of(b"pipe:[77]"), Target::Pipe { inode: 77 });
    assert_eq!(of(b"socket:[78]"), Target::Socket { inode: 78 });
    assert_eq!(of(b"anon_inode:[eventpoll]"), anonymous("eventpoll"));
    assert_eq!(of(b"anon_inode:inotify"), anonymous("inotify"));
    assert_eq!(of(b"/memfd:x (deleted)"), anonymous("memfd:x"));
    let held = fdinfo(b"pos:\t0\nflags:\t02000002\nPid:\t512\nNSpid:\t512\n");
    for link in [b"anon_inode:[pidfd]".as_slice(), b"pidfd:[9000]"] {
        assert_eq!(
            target(link, &held),
            Target::Anonymous {
                name: "pidfd".into(),
                pid: pid(512)
            }
        );
    }
}

#[test]
fn files_and_what_is_unknown_keep_their_link() {
    let file = |path: &str, deleted| Target::File {
        path: path.into(),
        deleted,
    };
    assert_eq!(of(b"/dev/null"), Target::Null);
    assert_eq!(of(b"/tmp/a (deleted)"), file("/tmp/a", true));
    assert_eq!(of(b"/tmp/pipe:[1]"), file("/tmp/pipe:[1]", false));
    assert_eq!(
        of(b"mnt:[4026531841]"),
        Target::Other {
            link: "mnt:[4026531841]".into()
        }
    );
    assert_eq!(
        of(b"pipe:[77"),
        Target::Other {
            link: "pipe:[77".into()
        }
    );
}

#[test]
fn the_access_mode_is_in_the_low_bits_of_the_flags() {
    let info = fdinfo(b"pos:\t12\nflags:\t0100001\nmnt_id:\t27\nino:\t10010630\n");
    assert_eq!(
        (info.access, info.inode, info.mount, info.position),
        (Some(Access::Write), Some(10_010_630), Some(27), Some(12))
    );
    assert_eq!(fdinfo(b"flags:\t02000000\n").access, Some(Access::Read));
    assert_eq!(fdinfo(b"flags:\t02\n").access, Some(Access::Both));
    assert_eq!(fdinfo(b"flags:\t03\n").access, None);
    assert_eq!(fdinfo(b"flags:\t9\n").access, None);
    assert_eq!(fdinfo(b"Pid:\t-1\n").pid, None);
}

#[test]
fn locks_are_held_not_waited_for() {
    let text = b"1: POSIX  ADVISORY  WRITE 3548 08:01:1441 0 EOF\n\
        1: -> POSIX  ADVISORY  WRITE 3549 08:01:1441 0 EOF\n\
        2: FLOCK  ADVISORY  READ 359 00:13:11691 0 EOF\n3: OFDLCK ADVISORY  WRITE -1 08:01:12 0 9\n\
        4: LEASE  ACTIVE    READ 20 08:01:13 0 EOF\nbroken\n";
    let found: Vec<_> = locks(text)
        .map(|lock| (lock.kind, lock.mode, lock.pid, lock.inode))
        .collect();
    let expected = [
        ("POSIX", "WRITE", Some(3548), 1441),
        ("FLOCK", "READ", Some(359), 11691),
        ("OFDLCK", "WRITE", None, 12),
    ];
    assert_eq!(
        found,
        expected.map(|(kind, mode, pid, inode)| (kind.to_owned(), mode.to_owned(), pid, inode))
    );
    let of_descriptor = b"pos:\t0\nlock:\t1: FLOCK  ADVISORY  WRITE 359 00:13:11691 0 EOF\n";
    assert_eq!(locks(of_descriptor).count(), 1);
}

#[test]
fn users_are_those_with_a_number() {
    let text = b"root:x:0:0:root:/root:/bin/bash\n\n#comment\nbad:x:abc:0:::\n:x:5:5:::\nop:x:1000:1000:Op:/home/op\n+::::::\n";
    let found: Vec<_> = passwd(text)
        .map(|entry| {
            (
                entry.uid,
                entry.name.lossy().into_owned(),
                entry.home.lossy().into_owned(),
            )
        })
        .collect();
    assert_eq!(
        found,
        [
            (0, "root".to_owned(), "/root".to_owned()),
            (1000, "op".to_owned(), "/home/op".to_owned())
        ]
    );
}

#[test]
fn rights_are_read() {
    let text = b"Name:\tx\nGid:\t1\t2\t3\t4\nGroups:\t7 9 \nCapEff:\t0000000000080000\n";
    let found = rights(text);
    assert_eq!((found.effective, found.groups), (1 << 19, [4, 7, 9].into()));
    assert_eq!(rights(b"Groups:\t \n"), Rights::default());
}

#[test]
fn the_system_is_read() {
    let text = b"cpu  1 2\ncpu0 1 2\ncpu1 1 2\nintr 5\nbtime 1700000000\nprocesses 9\n";
    assert_eq!(boot_seconds(text), Some(1_700_000_000));
    assert_eq!(processors(text), 2);
    assert_eq!(namespace(b"pid:[4026531836]"), Some(4_026_531_836));
    assert_eq!(namespace(b"pid:4026531836"), None);
    let mounts = b"21 1 0:20 / /proc rw,nosuid shared:5 - proc proc rw\n\
        40 1 0:20 / /proc rw shared:5 master:1 - proc proc rw,hidepid=invisible\n27 1 8:1 / / rw - ext4 /dev/sda1 rw\n";
    let hides = |value: &str, gid| {
        let value = value.to_owned();
        Some(HidePid { value, gid })
    };
    assert_eq!(hidepid(mounts, b"/proc"), hides("invisible", 0));
    let exempt = b"40 1 0:20 / /proc rw - proc proc rw,gid=992,hidepid=2\n";
    assert_eq!(hidepid(exempt, b"/proc"), hides("2", 992));
    assert_eq!(hidepid(&mounts[..52], b"/proc"), None);
    assert_eq!(hidepid(mounts, b"/other"), None);
    let types: Vec<_> = mounted_types(mounts)
        .map(|(id, kind)| (id, kind.lossy().into_owned()))
        .collect();
    assert_eq!(
        types,
        [
            (21, "proc".to_owned()),
            (40, "proc".to_owned()),
            (27, "ext4".to_owned())
        ]
    );
}

#[test]
fn numbers_are_whole_or_none() {
    assert_eq!(decimal(b"18446744073709551615"), Some(u64::MAX));
    assert_eq!(decimal(b"18446744073709551616"), None);
    assert_eq!((decimal(b""), decimal(b"+1"), decimal(b"1 ")), (None, None, None));
    assert_eq!(
        (signed(b"-1"), signed(b"--1"), signed(b"-")),
        (Some(-1), None, None)
    );
    assert_eq!(
        (in_base(b"ff", 16), in_base(b"+f", 16), in_base(b"8", 8)),
        (Some(255), None, None)
    );
}

proptest! {
    #[test]
    fn a_name_of_any_bytes_comes_back_whole(name in proptest::collection::vec(any::<u8>(), 0..=15)) {
        let stat = Stat::parse(&line(&name)).unwrap();
        prop_assert_eq!(stat.comm, name);
        prop_assert_eq!(stat.start, StartKey(5200));
    }

    #[test]
    fn arguments_come_back_whole(elements in proptest::collection::vec(proptest::collection::vec(1_u8..=255, 1..20), 0..8), padding in 0_usize..5) {
        let mut text = elements.iter().flat_map(|element| element.iter().copied().chain([0])).collect::<Vec<u8>>();
        text.extend(vec![0; padding]);
        let found: Vec<Vec<u8>> = argv(&text).iter().map(|element| element.as_bytes().to_vec()).collect();
        prop_assert_eq!(found, elements);
    }

    #[test]
    fn any_bytes_are_taken_without_harm(text in proptest::collection::vec(any::<u8>(), 0..300)) {
        let _ = Stat::parse(&text);
        let _ = schedstat(&text);
        let _ = status(&text);
        let _ = closer_status(&text);
        let _ = cgroup(&text);
        let _ = environment(&text, &BTreeSet::new());
        let info = fdinfo(&text);
        let _ = target(&text, &info);
        let _ = (locks(&text).count(), passwd(&text).count(), mounted_types(&text).count());
        let _ = (boot_seconds(&text), processors(&text), hidepid(&text, b"/proc"), namespace(&text));
        let _ = (pts_number(&text), decimal(&text), signed(&text), in_base(&text, 16));
    }
}

#[test]
fn one_without_memory_is_about_to_be_a_zombie() {
    let with_code = |start: u64| {
        let rest: Vec<String> = (4..=52)
            .map(|field| if field == 26 { start } else { field }.to_string())
            .collect();
        let line = format!("7 (x) R {}", rest.join(" "));
        super::stat::Stat::parse(line.as_bytes())
            .expect("a line")
            .has_no_memory()
    };
    assert_eq!([0, 1, 0x5555_0000].map(with_code), [true, false, false]);
}
