//! Ssh masters that have left their parent (`ControlPersist`): they daemonise, so no ancestry tells who
//! started them, yet their control path is an authority that stays behind.

use crate::model::identity::Pid;
use crate::model::process::Process;
use crate::model::sample::Sample;

use super::ssh;

/// Returns whether a process is one: by its title, or by its argv and its parent (`ssh -f -M`).
pub(crate) fn is_one(process: &Process) -> bool {
    let Some(program) = process.args().first() else {
        return false;
    };
    let titled = program.as_bytes().starts_with(b"ssh: ") && program.as_bytes().ends_with(b" [mux]");
    let adopted = || program.basename() == b"ssh" && process.ppid == Some(Pid::INIT);
    titled || adopted() && ssh::parse(process.args()).is_some_and(|call| call.control_path.is_some())
}

/// Returns why a member of an instance may have started a master: the user is the same, and so is the
/// directory, one that not everybody works in; and the master started later. A master's title lies over
/// its environment, so that tells nothing. `None`: nothing says so. It is a lead, not a proof.
pub(crate) fn why_of(sample: &Sample, master: &Process, member: &Process) -> Option<String> {
    let same_user = member.uid.value().is_some() && member.uid == master.uid;
    let directory = member.cwd.value()?;
    let tells = directory.as_bytes() != b"/" && member.home.as_ref() != Some(directory);
    let later = master.key.start >= member.key.start;
    if !(same_user && tells && later && master.cwd.value() == Some(directory)) {
        return None;
    }
    let after_s = sample
        .elapsed_ms(member)
        .saturating_sub(sample.elapsed_ms(master))
        / 1000;
    Some(format!(
        "it has left its parent; started {after_s} s after {} {} by the same user in the same directory: that \
         one may have started it",
        member.key.pid,
        member.comm.lossy()
    ))
}

#[cfg(test)]
mod tests {
    use super::super::testkit::{Machine, instance, once};
    use crate::model::finding::LeadKind;
    use crate::model::process::Argv;
    use crate::model::reading::Reading;

    fn with(title: Argv, change: impl FnOnce(&mut Machine)) -> Vec<String> {
        let mut machine = Machine::new();
        machine.add(100, 1, "claude");
        machine.add(200, 100, "python -m mcp_server_git");
        machine.wire_pipes(100, 200, 900);
        machine.add_argv(300, 1, title);
        for number in [200, 300] {
            machine.process(number).cwd = Reading::Value("/srv/app".into());
        }
        change(&mut machine);
        let judged = once(&machine);
        let reach = instance(&judged, 200).reach.clone().expect("reach");
        let ssh = reach.into_iter().filter(|lead| lead.kind == LeadKind::Ssh);
        ssh.map(|lead| format!("{} {}", lead.pid, lead.meaning)).collect()
    }

    fn with_master(change: impl FnOnce(&mut Machine)) -> Vec<String> {
        with(vec!["ssh: /tmp/ctl [mux]".into()], change)
    }

    #[test]
    fn one_in_the_background_is_known_by_its_argv() {
        let words = |line: &str| line.split(' ').map(Into::into).collect();
        assert_eq!(with(words("ssh -fNM -S /tmp/ctl host"), |_| {}).len(), 1);
        assert_eq!(with(words("ssh -fN host"), |_| {}), Vec::<String>::new());
        assert_eq!(with(words("scp -S /tmp/ctl host"), |_| {}), Vec::<String>::new());
    }

    #[test]
    fn a_master_of_the_same_user_and_directory_is_a_lead() {
        let found = with_master(|_| {});
        assert_eq!(found.len(), 1, "{found:?}");
        assert!(
            found[0].starts_with("300 an ssh connection with the control path /tmp/ctl"),
            "{found:?}"
        );
        assert!(found[0].contains("may have started it"), "{found:?}");
    }

    #[test]
    fn a_master_that_differs_in_anything_is_none() {
        type Change = fn(&mut Machine);
        let changes: [(&str, Change); 5] = [
            ("user", |machine| machine.process(300).uid = Reading::Value(7)),
            ("directory", |machine| {
                machine.process(300).cwd = Reading::Value("/srv".into());
            }),
            ("directory denied", |machine| {
                machine.process(300).cwd = Reading::Denied;
            }),
            ("a directory that everybody has", |machine| {
                for number in [200, 300] {
                    machine.process(number).cwd = Reading::Value("/home/user".into());
                }
            }),
            ("start", |machine| machine.process(300).key.start.0 = 1),
        ];
        for (what, change) in changes {
            assert_eq!(with_master(change), Vec::<String>::new(), "{what}");
        }
    }
}
