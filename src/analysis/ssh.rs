//! Reads an `ssh` command line: target and control path (ssh(1)).

use std::borrow::Cow;

use crate::model::bytes::OsBytes;
use crate::model::finding::{Lead, LeadKind};
use crate::model::sample::Sample;

/// What an ssh process was started with.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct SshCall {
    /// `[user@]host`, or an `ssh://` address.
    pub(crate) target: String,
    /// `-S PATH`, or `-o ControlPath=PATH`.
    pub(crate) control_path: Option<String>,
}

impl SshCall {
    /// Returns the usual check and revocation of a master with this control path, as text.
    pub(crate) fn usual(&self, control: &str) -> String {
        let path = quoted(control);
        // Whoever is asked by path is not looked up by name, but ssh wants one.
        let host = quoted(if self.target == control {
            "any"
        } else {
            &self.target
        });
        format!("check: ssh -O check -S {path} {host}; revoke: ssh -O exit -S {path} {host}")
    }
}

/// The text is pasted into a shell, and the words are another process's.
fn quoted(word: &str) -> Cow<'_, str> {
    shlex::try_quote(word).unwrap_or(Cow::Borrowed("PATH-WITH-NUL"))
}

/// Options of ssh(1) that take a value.
const WITH_VALUE: &str = "BbcDEeFIiJLlmOoPpQRSWw";

/// Returns the call where argv is one of ssh itself.
pub(crate) fn parse(argv: &[OsBytes]) -> Option<SshCall> {
    let (program, rest) = argv.split_first()?;
    // A multiplexing master rewrites its title: `ssh: /path/to/socket [mux]`.
    if let Some(title) = program.as_str().and_then(|title| title.strip_prefix("ssh: ")) {
        let path = title.strip_suffix(" [mux]")?;
        return Some(SshCall {
            target: path.to_owned(),
            control_path: Some(path.to_owned()),
        });
    }
    if program.basename() != b"ssh" {
        return None;
    }
    let mut call = SshCall {
        target: String::new(),
        control_path: None,
    };
    let mut user = None;
    let mut words = rest.iter().map(OsBytes::lossy);
    while let Some(word) = words.next() {
        let Some(letters) = word.strip_prefix('-').filter(|letters| !letters.is_empty()) else {
            call.target = match user {
                Some(user) if !word.contains('@') => format!("{user}@{word}"),
                _ => word.into_owned(),
            };
            break;
        };
        let Some(at) = letters.find(|letter| WITH_VALUE.contains(letter)) else {
            continue;
        };
        let mut characters = letters[at..].chars();
        let letter = characters.next();
        let glued: String = characters.collect();
        let value = if glued.is_empty() {
            words.next().map(Cow::into_owned)
        } else {
            Some(glued)
        };
        match (letter, value) {
            (Some('S'), value) => call.control_path = value,
            (Some('l'), value) => user = value,
            (Some('o'), Some(value)) => {
                let setting = value.split_once(['=', ' ']);
                if let Some((_, path)) = setting.filter(|(name, _)| name.eq_ignore_ascii_case("controlpath"))
                {
                    call.control_path = Some(path.to_owned());
                }
            }
            _ => {}
        }
    }
    call.control_path = call.control_path.filter(|path| path != "none");
    (!call.target.is_empty()).then_some(call)
}

/// Letters that a master puts behind the path while it binds its socket.
const BOUND_SUFFIX: usize = 16;

/// Returns the control path of a master that listens on `bound`: ssh binds `PATH.` and 16 random letters,
/// then links PATH to it; the kernel goes on naming the first (OpenSSH, `muxserver_listen` of mux.c).
pub(crate) fn control_path(bound: &OsBytes) -> String {
    let bound = bound.lossy();
    match bound.rsplit_once('.') {
        Some((path, suffix))
            if suffix.len() == BOUND_SUFFIX && suffix.bytes().all(|byte| byte.is_ascii_alphanumeric()) =>
        {
            path.to_owned()
        }
        _ => bound.into_owned(),
    }
}

/// Returns the control path that a lead stands for: what an ssh process listens on, else what its argv says;
/// of a connection to a master, its other end.
pub fn of_lead(sample: &Sample, lead: &Lead) -> Option<String> {
    match lead.kind {
        LeadKind::UnixSocket => Some(control_path(&lead.target)),
        LeadKind::Ssh => {
            let process = sample.process(lead.pid)?;
            let bound = sample.sockets.value().and_then(|sockets| {
                let mut open = process.descriptors.value()?.iter();
                open.find_map(|one| {
                    let socket = sockets.unix.get(&one.target.inode()?)?;
                    socket.path.as_ref().filter(|_| socket.listening)
                })
            });
            match bound {
                Some(bound) => Some(control_path(bound)),
                None => parse(process.args())?.control_path,
            }
        }
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::{control_path, parse};
    use crate::model::bytes::OsBytes;

    fn call(line: &str) -> Option<(String, Option<String>)> {
        let argv: Vec<OsBytes> = line.split(' ').map(OsBytes::from).collect();
        parse(&argv).map(|call| (call.target, call.control_path))
    }

    #[test]
    fn target_and_control_path_are_found() {
        let with = |target: &str, path: Option<&str>| Some((target.to_owned(), path.map(str::to_owned)));
        assert_eq!(
            call("ssh -N -o ControlPath=/tmp/c deploy@10.2.0.4"),
            with("deploy@10.2.0.4", Some("/tmp/c"))
        );
        assert_eq!(call("ssh -S /tmp/s -p 22 host"), with("host", Some("/tmp/s")));
        assert_eq!(call("ssh -NfS/tmp/s host"), with("host", Some("/tmp/s")));
        assert_eq!(call("/usr/bin/ssh -l u host uptime -S x"), with("u@host", None));
        assert_eq!(call("ssh -S none host"), with("host", None));
        assert_eq!(call("sshd -D"), None);
        assert_eq!(call("ssh -V"), None);
    }

    #[test]
    fn the_path_behind_a_bound_socket_is_the_one_that_ssh_can_be_asked_by() {
        let cases = [
            ("/tmp/cm-u@h:22.fUxnQhUIwZ7O4dfY", "/tmp/cm-u@h:22"),
            ("/tmp/cm-u@h:22", "/tmp/cm-u@h:22"),
            ("/tmp/c.host.example", "/tmp/c.host.example"),
            ("/tmp/c.fUxnQhUIwZ7O4d_Y", "/tmp/c.fUxnQhUIwZ7O4d_Y"),
        ];
        for (bound, path) in cases {
            assert_eq!(control_path(&OsBytes::from(bound)), path);
        }
    }

    #[test]
    fn a_master_that_rewrote_its_title_is_read() {
        let argv = [OsBytes::from("ssh: /tmp/ctl [mux]")];
        assert_eq!(
            parse(&argv).and_then(|call| call.control_path).as_deref(),
            Some("/tmp/ctl")
        );
        assert_eq!(
            parse(&argv).map(|call| call.usual("/tmp/ctl")).as_deref(),
            Some("check: ssh -O check -S /tmp/ctl any; revoke: ssh -O exit -S /tmp/ctl any")
        );
    }

    #[test]
    fn what_is_to_be_pasted_into_a_shell_is_quoted() {
        let argv = ["ssh", "-S", "/tmp/a b", "$(touch x)"].map(OsBytes::from);
        let usual = parse(&argv).map(|call| call.usual("/tmp/a b"));
        assert_eq!(
            usual.as_deref(),
            Some(
                "check: ssh -O check -S '/tmp/a b' '$(touch x)'; revoke: ssh -O exit -S '/tmp/a b' '$(touch x)'"
            )
        );
    }
}
