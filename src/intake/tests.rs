//! Configuration files in directories made for the test, read with the built-in catalogue.

use std::fs::{self, File};
use std::os::unix::ffi::OsStrExt as _;
use std::os::unix::fs::{PermissionsExt as _, symlink};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::LazyLock;
use std::time::Instant;

use tempfile::TempDir;

use super::*;

static CATALOG: LazyLock<Arc<Catalog>> = LazyLock::new(|| Arc::new(Catalog::builtin().unwrap()));

struct World {
    home: TempDir,
    intake: Intake,
    wanted: Wanted,
}

fn bytes(path: &Path) -> OsBytes {
    path.as_os_str().as_bytes().into()
}

fn entry(command: &str) -> String {
    format!("{{\"mcpServers\": {{\"s\": {{\"command\": \"{command}\", \"args\": []}}}}}}")
}

impl World {
    fn new() -> Self {
        let home = TempDir::new().unwrap();
        let wanted = Wanted {
            homes: BTreeSet::from([(1000, bytes(home.path()))]),
            ..Wanted::default()
        };
        let catalog = Arc::clone(&CATALOG);
        Self {
            home,
            intake: Intake::new(catalog, Os::Linux),
            wanted,
        }
    }

    fn at(&self, path: &str) -> PathBuf {
        self.home.path().join(path)
    }

    fn write(&self, path: &str, text: impl AsRef<[u8]>) -> PathBuf {
        let path = self.at(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(&path, text).unwrap();
        path
    }

    fn read(&mut self) -> Arc<Configured> {
        self.intake.read(&self.wanted)
    }

    /// Reads; returns the details of the problems of one path.
    fn problems(&mut self, path: &Path) -> Vec<String> {
        let read = self.read();
        let rows = read
            .problems
            .iter()
            .filter(|problem| problem.what == path.to_string_lossy());
        rows.map(|problem| problem.detail.clone()).collect()
    }
}

/// Returns why the only thing below a path that could not be read could not.
fn problem_below(read: &Configured, path: &Path) -> Absence {
    let path = path.to_string_lossy();
    let rows: Vec<_> = read
        .problems
        .iter()
        .filter(|row| row.what.starts_with(&*path))
        .collect();
    assert_eq!(rows.len(), 1);
    rows[0].kind
}

fn commands(configured: &Configured) -> Vec<&str> {
    configured
        .servers
        .iter()
        .map(|server| server.command.as_str())
        .collect()
}

/// Waits for a condition; fails after ten seconds.
fn until(what: &str, mut condition: impl FnMut() -> bool) {
    let begun = Instant::now();
    while !condition() {
        assert!(
            begun.elapsed() < Duration::from_secs(10),
            "waited in vain until {what}"
        );
        std::thread::park_timeout(Duration::from_millis(2));
    }
}

#[test]
fn nothing_wanted_is_nothing_read() {
    let mut world = World::new();
    world.write(".cursor/mcp.json", entry("run"));
    world.wanted = Wanted::default();
    assert_eq!(*world.read(), Configured::default());
}

#[test]
fn files_of_the_homes_are_read_and_files_that_are_not_there_are_no_problem() {
    let mut world = World::new();
    let file = world.write(".cursor/mcp.json", entry("run"));
    let read = world.read();
    assert_eq!(commands(&read), ["run"]);
    assert_eq!(read.servers[0].client, "cursor");
    assert_eq!(read.servers[0].home, bytes(world.home.path()));
    assert!(read.files.contains(&bytes(&file)));
    assert!(world.problems(&file).is_empty());
    let below = world.home.path().to_string_lossy().into_owned();
    assert!(
        !read
            .problems
            .iter()
            .any(|problem| problem.what.starts_with(&below)),
        "{:?}",
        read.problems
    );
}

#[test]
fn the_same_files_are_the_same_result() {
    let mut world = World::new();
    let file = world.write(".cursor/mcp.json", entry("run"));
    let first = world.read();
    assert!(Arc::ptr_eq(&first, &world.read()));
    fs::write(&file, entry("new")).unwrap();
    // The same size, perhaps within the grain of the file's time stamps.
    until("the change is seen", || commands(&world.read()) == ["new"]);
    fs::remove_file(&file).unwrap();
    assert!(world.read().servers.is_empty());
}

#[test]
fn projects_are_read_up_to_their_repository() {
    let mut world = World::new();
    fs::create_dir_all(world.at("repo/.git")).unwrap();
    world.write("repo/.cursor/mcp.json", entry("top"));
    world.write("repo/a/.cursor/mcp.json", entry("inner"));
    world.write("other/.cursor/mcp.json", entry("other"));
    world.wanted.projects.insert(bytes(&world.at("repo/a/b/gone")));
    let read = world.read();
    assert_eq!(commands(&read), ["top", "inner"]);
    assert_eq!(read.servers[1].project, Some(bytes(&world.at("repo/a"))));
    assert_eq!(read.servers[1].home, bytes(world.home.path()));
}

#[test]
fn a_project_outside_any_home_is_read_for_every_user() {
    let mut world = World::new();
    let other = TempDir::new().unwrap();
    let project = TempDir::new().unwrap();
    fs::create_dir(project.path().join(".git")).unwrap();
    fs::create_dir(project.path().join(".cursor")).unwrap();
    fs::write(project.path().join(".cursor/mcp.json"), entry("run")).unwrap();
    world.wanted.homes.insert((1001, bytes(other.path())));
    world.wanted.projects.insert(bytes(project.path()));
    let read = world.read();
    let homes: BTreeSet<&OsBytes> = read.servers.iter().map(|server| &server.home).collect();
    assert_eq!(
        homes,
        BTreeSet::from([&bytes(world.home.path()), &bytes(other.path())])
    );
}

#[test]
fn a_running_client_names_files_and_entries() {
    let mut world = World::new();
    world.write("extra.json", entry("extra"));
    let argv = |value: &str| ["claude", "--mcp-config", value].map(OsBytes::from).to_vec();
    let home = bytes(world.home.path());
    for value in ["extra.json", "gone.json", &entry("inline")] {
        world
            .wanted
            .clients
            .push(("claude-code".to_owned(), argv(value), home.clone(), home.clone()));
    }
    let read = world.read();
    assert_eq!(commands(&read), ["extra", "inline"]);
    assert!(
        read.servers
            .iter()
            .all(|server| server.home == home && server.project.as_ref() == Some(&home))
    );
    let gone = world.at("gone.json").to_string_lossy().into_owned();
    let problem = read.problems.iter().find(|problem| problem.what == gone).unwrap();
    assert_eq!(problem.kind, Absence::Gone);
}

#[test]
fn a_broken_file_says_where_and_what_of_it_is_still_used() {
    let mut world = World::new();
    let file = world.write(".cursor/mcp.json", "{\n \"mcpServers\": {\n }]\n");
    let problems = world.problems(&file);
    assert_eq!(problems.len(), 1);
    assert!(problems[0].starts_with("line 3: "), "{problems:?}");
    assert!(
        problems[0].ends_with("what it configures is not known"),
        "{problems:?}"
    );
    assert!(!world.read().files.contains(&bytes(&file)));

    fs::write(&file, entry("run")).unwrap();
    until("it is good", || world.problems(&file).is_empty());
    assert_eq!(commands(&world.read()), ["run"]);

    fs::write(&file, "{\"mcpServers\":").unwrap();
    until("it is broken again", || !world.problems(&file).is_empty());
    assert!(
        world.problems(&file)[0].ends_with("the entry that was read from it before is still compared with")
    );
    assert_eq!(commands(&world.read()), ["run"]);
}

#[test]
fn a_byte_order_mark_is_let_through_and_other_encodings_are_not() {
    let mut world = World::new();
    let file = world.write(".cursor/mcp.json", format!("\u{feff}{}", entry("run")));
    assert_eq!(commands(&world.read()), ["run"]);
    let wide: Vec<u8> = entry("run").encode_utf16().flat_map(u16::to_le_bytes).collect();
    fs::write(&file, [&[0xff, 0xfe], &wide[..]].concat()).unwrap();
    until("it is seen", || {
        world
            .problems(&file)
            .iter()
            .any(|detail| detail.contains("not UTF-8"))
    });
}

#[test]
fn what_is_no_regular_file_is_reported_and_blocks_nobody() {
    let mut world = World::new();
    let fifo = world.at(".cursor/mcp.json");
    fs::create_dir_all(fifo.parent().unwrap()).unwrap();
    let made = Command::new("mkfifo").arg(&fifo).status().unwrap();
    assert!(made.success());
    let directory = world.at(".claude.json");
    fs::create_dir(&directory).unwrap();
    let device = world.write(".gemini/.keep", "").with_file_name("settings.json");
    symlink("/dev/zero", &device).unwrap();
    let begun = Instant::now();
    assert_eq!(
        world.problems(&fifo),
        ["it is a FIFO, socket or device, not a regular file: not read; what it configures is not known"]
    );
    assert_eq!(world.problems(&device).len(), 1);
    assert!(world.problems(&directory)[0].starts_with("it is a directory"));
    assert!(begun.elapsed() < DEADLINE, "a FIFO was waited for");
}

#[test]
fn a_fifo_that_came_after_the_look_is_not_waited_for() {
    use super::hands::Errand as _;
    let world = World::new();
    let fifo = world.at("fifo");
    assert!(Command::new("mkfifo").arg(&fifo).status().unwrap().success());
    let os = if Path::new("/proc/self/stat").exists() {
        Os::Linux
    } else {
        Os::Macos
    };
    let opened = file::open(&fifo, os).unwrap();
    assert!(
        file::read(&opened)
            .unwrap_err()
            .detail
            .starts_with("it is a FIFO")
    );
    let gone = file::Load {
        path: world.at("gone"),
        os,
    }
    .run()
    .unwrap_err();
    assert_eq!(gone.kind, Absence::Gone);
}

#[test]
fn a_link_to_a_file_is_ordinary() {
    let mut world = World::new();
    let real = world.write("dotfiles/mcp.json", entry("run"));
    fs::create_dir(world.at(".cursor")).unwrap();
    symlink(real, world.at(".cursor/mcp.json")).unwrap();
    assert_eq!(commands(&world.read()), ["run"]);
}

#[test]
fn a_file_that_is_too_large_is_not_read() {
    let mut world = World::new();
    let path = world.write(".cursor/mcp.json", "");
    File::options()
        .write(true)
        .open(&path)
        .unwrap()
        .set_len(file::MAX_BYTES + 1)
        .unwrap();
    let problems = world.problems(&path);
    assert_eq!(problems.len(), 1);
    assert!(
        problems[0].starts_with("8388609 bytes, more than 8388608"),
        "{problems:?}"
    );
}

#[test]
fn a_home_that_is_not_there_is_one_problem() {
    let mut world = World::new();
    let home = world.at("nobody");
    world.wanted.homes = BTreeSet::from([(65534, bytes(&home))]);
    assert_eq!(problem_below(&world.read(), &home), Absence::Gone);
}

/// Root reads everything, so that this says nothing when it runs as root.
#[test]
fn what_may_not_be_read_is_denied() {
    let mut world = World::new();
    let file = world.write(".cursor/mcp.json", entry("run"));
    fs::set_permissions(&file, fs::Permissions::from_mode(0o000)).unwrap();
    if File::open(&file).is_ok() {
        println!("not checked: this user may read every file");
        return;
    }
    let read = world.read();
    let row = read
        .problems
        .iter()
        .find(|row| row.what == file.to_string_lossy())
        .unwrap();
    assert_eq!(row.kind, Absence::Denied);
    let home = world.at("closed");
    fs::create_dir(&home).unwrap();
    fs::set_permissions(&home, fs::Permissions::from_mode(0o000)).unwrap();
    world.wanted.homes = BTreeSet::from([(1001, bytes(&home))]);
    assert_eq!(problem_below(&world.read(), &home), Absence::Denied);
}

#[test]
fn a_write_that_sets_the_time_back_is_seen() {
    let mut world = World::new();
    let path = world.write(".cursor/mcp.json", entry("one"));
    world.read();
    let times = fs::metadata(&path).unwrap().modified().unwrap();
    let file = File::options().write(true).open(&path).unwrap();
    fs::write(&path, entry("two")).unwrap();
    file.set_modified(times).unwrap();
    until("the second write is seen", || commands(&world.read()) == ["two"]);
}

#[test]
fn many_broken_files_of_one_client_hide_no_file_of_another() {
    let mut world = World::new();
    let first = world.write(".claude/plugins/cache/0/.mcp.json", "{");
    let text = world.write("broken", "{");
    for at in 1..700 {
        let directory = world.at(&format!(".claude/plugins/cache/{at}"));
        fs::create_dir(&directory).unwrap();
        fs::hard_link(&text, directory.join(".mcp.json")).unwrap();
    }
    world.write(".cursor/mcp.json", entry("cursor"));
    world.write(
        ".config/zed/settings.json",
        "{\"context_servers\": {\"z\": {\"command\": \"zed\"}}}",
    );
    let read = world.read();
    assert_eq!(commands(&read), ["zed", "cursor"]);
    let rows: Vec<_> = read
        .problems
        .iter()
        .filter(|row| row.what.contains(&*world.home.path().to_string_lossy()))
        .collect();
    assert!(
        rows.iter().any(|row| row.what == first.to_string_lossy()),
        "{rows:?}"
    );
    assert!(rows.len() < 30, "{} rows", rows.len());
    let told: Vec<&str> = rows
        .iter()
        .filter(|row| row.what.starts_with("files of Claude Code in "))
        .map(|row| row.detail.as_str())
        .collect();
    assert_eq!(
        told,
        [
            "500 more than are read of one client: what they configure is not known",
            "180 more of them could not be read: what they configure is not known"
        ]
    );
}
