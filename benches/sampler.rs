//! CPU time of a sample and of a closer look (descriptors, sockets, who holds the other ends), beside
//! ps(1), lsof(8) and ss(8) on the same machine in the same run.
//!
//! `cargo bench --bench sampler -- 5000` starts that many children on pipes first, with about 20
//! descriptors each, 50 of them by the name of a server: the closer look then is of those. Without a
//! number it measures what runs anyway. Only the ratios mean something on another machine.

#[cfg(target_os = "linux")]
#[expect(clippy::print_stdout, reason = "the table is what a bench is for")]
fn main() {
    linux::main(|line| println!("{line}"));
}

#[cfg(not(target_os = "linux"))]
fn main() {}

#[cfg(target_os = "linux")]
mod linux {
    use std::collections::BTreeSet;
    use std::os::fd::OwnedFd;
    use std::os::unix::process::CommandExt as _;
    use std::process::{Child, Command, Stdio};
    use std::sync::mpsc;
    use std::time::Duration;

    use mcpwake::model::interest::Interest;
    use mcpwake::model::sample::Sample;
    use mcpwake::platform::Source as _;
    use mcpwake::platform::linux::{LinuxSource, Options};
    use rustix::process::{Resource, getrlimit, setrlimit};

    /// Without children of its own, one process in so many is looked at closely.
    const CLOSELY_ONE_IN: usize = 20;
    /// So many children go by this name.
    const SERVERS: usize = 50;
    const SERVER: &str = "mcp-server-bench";
    /// Descriptors that every child inherits beside its pipes.
    const INHERITED: usize = 17;
    const ROUNDS: usize = 9;

    pub(super) fn main(say: impl Fn(String)) {
        let number = std::env::args()
            .skip(1)
            .find_map(|argument| argument.parse().ok())
            .unwrap_or(0);
        let mut population = Population::start(number);
        let options = Options::default();
        let mut source = LinuxSource::new(options).expect("no proc file system");
        let mut last = source.sample().expect("cannot sample");
        let processes = last.processes.len();
        let cold = last.cost_us;
        let interest = interest(&last);
        let closer_cold = closer(&mut source, &mut last, &interest);
        let (mut warm, mut closer_warm) = (Vec::new(), Vec::new());
        for _ in 0..ROUNDS {
            pause();
            let mut sample = source.sample().expect("cannot sample");
            warm.push(sample.cost_us);
            closer_warm.push(closer(&mut source, &mut sample, &interest));
        }
        let ps = tool(
            "ps",
            &["-e", "-o", "pid,ppid,pgid,sid,tty,stat,etimes,user,rss,args"],
        );
        let lsof = tool("lsof", &["-nP"]);
        let ss = tool("ss", &["-xp"]);
        say(format!(
            "{processes} processes, {} looked at closely, {} descriptors in all",
            interest.closely.len(),
            descriptors(&last)
        ));
        for (what, us) in [
            ("sample, cold", cold),
            ("sample, warm (median)", median(warm)),
            ("closer look, cold", closer_cold),
            ("closer look, warm (median)", median(closer_warm)),
        ] {
            say(format!(
                "{what:28} {:9.2} ms   {} of ps -e   {} of lsof -nP   {} of ss -xp",
                ms(us),
                ratio(us, ps),
                ratio(us, lsof),
                ratio(us, ss)
            ));
        }
        say(format!("{:28} {:9.2} ms", "ps -e -o …", ms(ps.unwrap_or(0))));
        say(format!("{:28} {:9.2} ms", "lsof -nP", ms(lsof.unwrap_or(0))));
        say(format!("{:28} {:9.2} ms", "ss -xp", ms(ss.unwrap_or(0))));
        population.end();
    }

    fn interest(sample: &Sample) -> Interest {
        let own = || sample.processes.values().filter(|process| !process.kernel_thread);
        let servers =
            own().filter(|process| process.args().first().is_some_and(|name| name.lossy() == SERVER));
        let mut closely: BTreeSet<_> = servers.map(|process| process.key).collect();
        if closely.is_empty() {
            closely = own().step_by(CLOSELY_ONE_IN).map(|process| process.key).collect();
        }
        Interest {
            closely,
            ..Interest::default()
        }
    }

    fn closer(source: &mut LinuxSource, sample: &mut Sample, interest: &Interest) -> u64 {
        let before = sample.cost_us;
        source.look_closer(sample, interest);
        sample.cost_us - before
    }

    /// Open descriptors of all processes that may be read.
    fn descriptors(sample: &Sample) -> usize {
        let of = |pid| std::fs::read_dir(format!("/proc/{pid}/fd")).map_or(0, Iterator::count);
        sample.processes.keys().map(of).sum()
    }

    /// The pause between two refreshes of the screen: caches cool down as in use.
    fn pause() {
        let (_sender, receiver) = mpsc::channel::<()>();
        let _ = receiver.recv_timeout(Duration::from_secs(1));
    }

    fn median(mut figures: Vec<u64>) -> u64 {
        figures.sort_unstable();
        figures[figures.len() / 2]
    }

    #[expect(clippy::cast_precision_loss, reason = "milliseconds for reading")]
    fn ms(us: u64) -> f64 {
        us as f64 / 1000.0
    }

    fn ratio(us: u64, of: Option<u64>) -> String {
        of.filter(|of| *of > 0)
            .map_or_else(|| "   -".into(), |of| format!("{:.3}", ms(us) / ms(of)))
    }

    /// Returns the CPU time that a tool used, microseconds; `None` where it does not run.
    fn tool(program: &str, arguments: &[&str]) -> Option<u64> {
        let before = children_us();
        Command::new(program)
            .args(arguments)
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .status()
            .ok()?;
        Some(children_us().saturating_sub(before))
    }

    /// CPU time of the children that were waited for, from `/proc/self/stat` (in ticks).
    fn children_us() -> u64 {
        let stat = std::fs::read_to_string("/proc/self/stat").unwrap_or_default();
        let fields = stat.rsplit(')').next().unwrap_or_default();
        let ticks: u64 = fields
            .split_whitespace()
            .skip(13)
            .take(2)
            .filter_map(|n| n.parse::<u64>().ok())
            .sum();
        ticks * 1_000_000 / rustix::param::clock_ticks_per_second()
    }

    /// Children that sleep on their pipes until those are closed.
    struct Population {
        children: Vec<Child>,
        _inherited: Vec<OwnedFd>,
    }

    impl Population {
        fn start(number: usize) -> Self {
            // Two pipe ends of every child stay here.
            let mut files = getrlimit(Resource::Nofile);
            files.current = files.maximum;
            setrlimit(Resource::Nofile, files).expect("cannot raise the limit on open files");
            let null = std::fs::File::open("/dev/null").expect("no /dev/null");
            let inherited = if number == 0 { 0 } else { INHERITED };
            let inherited = (0..inherited)
                .map(|_| rustix::io::dup(&null).expect("cannot dup"))
                .collect();
            let start = |at| {
                Command::new("cat")
                    .arg0(if at < SERVERS { SERVER } else { "cat" })
                    .stdin(Stdio::piped())
                    .stdout(Stdio::piped())
                    .spawn()
                    .expect("cannot start cat")
            };
            Self {
                children: (0..number).map(start).collect(),
                _inherited: inherited,
            }
        }

        fn end(&mut self) {
            for child in &mut self.children {
                drop(child.stdin.take());
                let _ = child.kill();
            }
            for child in &mut self.children {
                let _ = child.wait();
            }
        }
    }
}
