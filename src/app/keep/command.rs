//! Commands that the operator has configured, for a lead: which are meant for it, and what they come to.
//! None is run by itself.

use std::sync::Arc;

use crate::analysis;
use crate::app::App;
use crate::app::effect::{Attach, Effect, JobId, Order, Run};
use crate::journal::{InstanceRef, LeadRef, Subject};
use crate::model::finding::{Lead, LeadKind};
use crate::model::world::World;
use crate::text::{Safe, shell};

/// A command of a configuration file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Configured {
    /// What the operator calls it.
    pub name: String,
    /// Program and arguments, with placeholders.
    pub argv: Vec<String>,
    /// The kinds of leads that it is for; none: all.
    pub kinds: Vec<LeadKind>,
    /// After this long it is ended, seconds.
    pub timeout_s: u64,
}

/// What a placeholder stands for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Placeholder {
    /// The process that has the lead.
    Pid,
    /// Address, path, name or host of the lead.
    Target,
    /// The control path of an ssh master.
    ControlPath,
}

impl Placeholder {
    /// All.
    pub const ALL: [Self; 3] = [Self::Pid, Self::Target, Self::ControlPath];

    /// Returns how it is written.
    pub fn written(self) -> &'static str {
        match self {
            Self::Pid => "{pid}",
            Self::Target => "{target}",
            Self::ControlPath => "{control_path}",
        }
    }
}

/// A command as it would be run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Ready {
    /// Its name.
    pub name: String,
    /// Program and arguments.
    pub argv: Vec<String>,
    /// After this long it is ended, seconds.
    pub timeout_s: u64,
}

/// Returns the commands that are meant for a lead, ready to be run; or why there is none.
pub(super) fn of_lead(
    app: &App,
    world: &World,
    on: &InstanceRef,
    lead: &LeadRef,
) -> Result<Vec<Ready>, String> {
    let meant: Vec<&Configured> = app
        .options
        .commands
        .iter()
        .filter(|command| command.kinds.is_empty() || command.kinds.contains(&lead.kind))
        .collect();
    if meant.is_empty() {
        return Err(format!(
            "no configured command is for a lead of the kind {}",
            lead.kind.word()
        ));
    }
    let seen = world.judged.instance(on.id).and_then(|instance| {
        let leads = instance.reach.iter().flatten();
        leads
            .into_iter()
            .find(|one| one.kind == lead.kind && one.letter == lead.letter)
    });
    let values = Values::of(app, world, on, lead, seen);
    let filled: Vec<Result<Ready, String>> = meant.iter().map(|command| values.fill(command)).collect();
    let why = filled.iter().find_map(|one| one.as_ref().err().cloned());
    let ready: Vec<Ready> = filled.into_iter().flatten().collect();
    match why {
        Some(why) if ready.is_empty() => Err(why),
        _ => Ok(ready),
    }
}

struct Values {
    pid: String,
    target: String,
    control_path: Option<String>,
    /// Whether a value holds what must not be shown, and so cannot be confirmed.
    secret: bool,
}

impl Values {
    fn of(app: &App, world: &World, on: &InstanceRef, lead: &LeadRef, seen: Option<&Lead>) -> Self {
        let redactor = &app.options.keep_redactor;
        let target = seen.map_or_else(|| lead.target.clone(), |seen| seen.target.lossy().into_owned());
        let control_path = seen.and_then(|seen| analysis::control_path(&world.sample, seen));
        let hides = |text: &str| redactor.line(text) != *text;
        Self {
            pid: seen.map_or_else(|| on.pid(), |seen| seen.pid).to_string(),
            secret: hides(&target) || control_path.as_deref().is_some_and(hides),
            target,
            control_path,
        }
    }

    fn fill(&self, command: &Configured) -> Result<Ready, String> {
        let mut argv = Vec::with_capacity(command.argv.len());
        for element in &command.argv {
            let filled = self
                .element(element)
                .map_err(|why| format!("{}: {why}", command.name))?;
            argv.push(filled);
        }
        Ok(Ready {
            name: command.name.clone(),
            argv,
            timeout_s: command.timeout_s,
        })
    }

    fn element(&self, element: &str) -> Result<String, String> {
        let mut rest = element;
        let mut out = String::new();
        // What was filled in is not looked at again: a target may hold braces.
        while let Some((at, placeholder)) = Placeholder::ALL
            .into_iter()
            .filter_map(|one| Some((rest.find(one.written())?, one)))
            .min_by_key(|(at, _)| *at)
        {
            let value = match placeholder {
                Placeholder::Pid => &self.pid,
                Placeholder::Target => &self.target,
                Placeholder::ControlPath => self
                    .control_path
                    .as_ref()
                    .ok_or("no control path of this lead is known")?,
            };
            if self.secret && placeholder != Placeholder::Pid {
                return Err("the lead holds a secret, which a command line would show".to_owned());
            }
            if at == 0 && out.is_empty() && value.starts_with('-') {
                return Err(format!("{value} would be taken for an option"));
            }
            out.push_str(&rest[..at]);
            out.push_str(value);
            rest = &rest[at + placeholder.written().len()..];
        }
        out.push_str(rest);
        Ok(out)
    }
}

impl Ready {
    /// Returns what stands above the command, of how many it is.
    pub fn heading(&self, at: usize, of: usize) -> Safe {
        Safe::from_text(&format!(
            "{at} of {of}: {}, {} s at most",
            self.name, self.timeout_s
        ))
    }

    /// Returns the command, quoted as for a shell.
    pub fn line(&self) -> Safe {
        shell::line(&self.argv, usize::MAX)
    }

    /// Returns whether the form shows it whole, with its heading and the line that is typed: what was not
    /// seen was not confirmed.
    fn fits(&self, at: usize, of: usize, (width, height): (u16, u16)) -> bool {
        let columns = usize::from(width.saturating_sub(4)).max(1);
        let lines = |text: &Safe| text.ascii().wrapped(columns).len();
        let needed = lines(&self.heading(at, of)) + lines(&self.line()) + 1;
        needed <= usize::from(height.saturating_sub(4))
    }
}

/// Orders the command that was confirmed.
pub(super) fn confirmed(
    app: &mut App,
    mut ready: Vec<Ready>,
    at: usize,
    on: &InstanceRef,
    lead: &LeadRef,
) -> Vec<Effect> {
    let of = ready.len();
    let Some(chosen) = ready.get(at) else {
        return Vec::new();
    };
    if !chosen.fits(at + 1, of, app.size) {
        app.say("not run: this screen does not show the whole command; a larger one does".to_owned());
        return Vec::new();
    }
    run(app, ready.swap_remove(at), on, lead)
}

/// Orders a command that was confirmed.
fn run(app: &mut App, ready: Ready, on: &InstanceRef, lead: &LeadRef) -> Vec<Effect> {
    if app.options.read_only {
        app.say("read-only: nothing is run".to_owned());
        return Vec::new();
    }
    let Ready {
        name,
        argv,
        timeout_s,
    } = ready;
    app.say(format!("{name} runs, {timeout_s} s at most"));
    let job = app.next_job();
    app.keep.running.insert(job, name.clone());
    let run = Run {
        label: format!("output of {name} on {lead}"),
        argv,
        timeout_s,
        on: Some(Subject::Instance(on.clone())),
        lead: Some(lead.clone()),
    };
    vec![Effect::Desk(job, Order::Run(Box::new(run)))]
}

/// Takes the end of a command: its output is attached, and stays here until it is.
pub(in crate::app) fn ran(
    app: &mut App,
    job: JobId,
    result: Result<(Box<Attach>, String), String>,
) -> Vec<Effect> {
    let name = app.keep.running.remove(&job).unwrap_or_default();
    match result {
        Err(why) => {
            app.say(format!("NOT RUN: {name}: {why}"));
            Vec::new()
        }
        Ok((attach, status)) => {
            let what = format!("{name} {status}; its output");
            super::update::order(app, Order::Attach(attach), what)
        }
    }
}

/// Returns the commands of nobody: for options that have none.
pub fn none() -> Arc<[Configured]> {
    Arc::from(Vec::new())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::app::effect::{Material, Outcome};
    use crate::app::keep::testkit::{Journal, serve, served};
    use crate::app::popup::Content;
    use crate::app::testkit::{app_with, live, options, press};
    use crate::app::{App, Event, Options, update};
    use crate::journal::Entry;
    use crate::journal::entry::AttachedFrom;
    use crate::model::time::UnixMillis;

    fn command(name: &str, argv: &[&str], kinds: &[LeadKind]) -> Configured {
        Configured {
            name: name.to_owned(),
            argv: argv.iter().map(|one| (*one).to_owned()).collect(),
            kinds: kinds.to_vec(),
            timeout_s: 5,
        }
    }

    /// The record of git, with the last lead chosen: the name of a credential.
    fn form(commands: Vec<Configured>) -> (App, Journal) {
        let world = live().world();
        let options = Options {
            commands: commands.into(),
            ..options()
        };
        let mut app = app_with(options, Arc::clone(&world), 100, 40);
        let mut journal = Journal::of(&world);
        served(&mut app, &mut journal, "r T <enter> G");
        (app, journal)
    }

    fn asked(app: &App) -> Option<Vec<String>> {
        match app.popup()?.content() {
            Content::Record(form) => Some(form.typing()?.command()?.0.argv.clone()),
            _ => None,
        }
    }

    fn orders(effects: &[Effect]) -> Vec<&Run> {
        let run = |effect| match effect {
            &Effect::Desk(_, Order::Run(ref run)) => Some(&**run),
            _ => None,
        };
        effects.iter().filter_map(run).collect()
    }

    #[test]
    fn a_command_is_run_after_a_typed_yes_and_its_output_attached() {
        let introspect = command(
            "introspect",
            &["/usr/bin/introspect", "--name={target}", "{pid}", "{target};x"],
            &[LeadKind::CredentialName],
        );
        let (mut app, mut journal) = form(vec![introspect]);
        assert!(orders(&press(&mut app, "x")).is_empty());
        let argv = [
            "/usr/bin/introspect",
            "--name=GITHUB_TOKEN",
            "48271",
            "GITHUB_TOKEN;x",
        ];
        assert_eq!(asked(&app).expect("a question"), argv);
        update(&mut app, Event::Paste("yes".to_owned()));
        for no in ["<enter>", "x y <enter>", "x Y E S <enter>", "x <esc>"] {
            assert!(orders(&press(&mut app, no)).is_empty(), "{no}");
        }
        let effects = press(&mut app, "x yes <enter>");
        let [run] = orders(&effects)[..] else {
            panic!("{effects:?}")
        };
        assert_eq!((&run.argv[..], run.timeout_s), (&argv.map(str::to_owned)[..], 5));
        assert_eq!(run.lead.as_ref().map(|lead| lead.letter.as_str()), Some("c"));
        let Effect::Desk(job, _) = effects[0] else {
            panic!("{effects:?}")
        };
        press(&mut app, "<esc>");
        assert!(press(&mut app, "q").is_empty(), "it asks while a command runs");
        press(&mut app, "<esc>");
        let from = AttachedFrom::Command {
            argv: run.argv.clone(),
            started_at: UnixMillis(1),
            ended_at: UnixMillis(2),
            status: "exited with 0".to_owned(),
        };
        let attach = Attach {
            material: Material::Output {
                bytes: b"{}".to_vec(),
                from,
            },
            label: run.label.clone(),
            on: run.on.clone(),
            lead: run.lead.clone(),
        };
        let outcome = Outcome::Ran(Ok((Box::new(attach.clone()), "exited with 0".to_owned())));
        let effects = update(&mut app, Event::Done(job, outcome));
        let [Effect::Desk(written, Order::Attach(ordered))] = &effects[..] else {
            panic!("{effects:?}")
        };
        assert_eq!(**ordered, attach);
        // What could not be attached is tried again; the command is not run again.
        let failed = Outcome::Written(Err("disk full".to_owned()));
        update(&mut app, Event::Done(*written, failed));
        let effects = press(&mut app, "m again <enter>");
        assert!(orders(&effects).is_empty());
        assert!(
            matches!(
                &effects[..],
                [
                    Effect::Desk(_, Order::Attach(_)),
                    Effect::Desk(_, Order::Append(_))
                ]
            ),
            "{effects:?}"
        );
        assert!(matches!(
            &serve(&mut app, &mut journal, effects)[..],
            [Entry::Note { .. }]
        ));
    }

    #[test]
    fn the_arrows_choose_among_those_that_are_for_the_kind() {
        let token = [LeadKind::CredentialName];
        let (mut app, _) = form(vec![
            command("one", &["/bin/one"], &token),
            command("ssh", &["/bin/ssh"], &[LeadKind::Ssh]),
            command("two", &["/bin/two"], &[]),
        ]);
        press(&mut app, "x yes <down>");
        assert_eq!(asked(&app).expect("a question"), ["/bin/two"]);
        assert!(
            orders(&press(&mut app, "<enter>")).is_empty(),
            "the yes was for the other"
        );
        press(&mut app, "x <down> <down> <up>");
        assert_eq!(asked(&app).expect("a question"), ["/bin/one"]);
    }

    #[test]
    fn what_the_screen_does_not_show_whole_is_not_run() {
        let long = format!("--long={}", "x".repeat(96 * 40));
        let (mut app, _) = form(vec![command("x", &["/bin/x", &long], &[])]);
        assert!(orders(&press(&mut app, "x yes <enter>")).is_empty());
        assert!(
            app.status().is_some_and(|said| said.contains("whole command")),
            "{:?}",
            app.status()
        );
        update(
            &mut app,
            Event::Resized {
                width: 200,
                height: 60,
            },
        );
        assert_eq!(orders(&press(&mut app, "x yes <enter>")).len(), 1);
    }

    #[test]
    fn what_cannot_be_filled_in_or_shown_is_not_offered() {
        let cases: [(&[&str], &str); 2] = [
            (&["/bin/x", "{control_path}"], "no control path"),
            (
                &["/bin/x"],
                "no configured command is for a lead of the kind credential-name",
            ),
        ];
        for (argv, wanted) in cases {
            let kinds = if argv.len() == 1 {
                vec![LeadKind::Ssh]
            } else {
                Vec::new()
            };
            let (mut app, _) = form(vec![command("x", argv, &kinds)]);
            press(&mut app, "x");
            assert_eq!(asked(&app), None);
            assert!(
                app.status().is_some_and(|said| said.contains(wanted)),
                "{:?}",
                app.status()
            );
        }
        let values = Values {
            pid: "1".to_owned(),
            target: "-oProxyCommand=x".to_owned(),
            control_path: None,
            secret: false,
        };
        assert!(values.element("{target}").unwrap_err().contains("an option"));
        assert_eq!(
            values.element("--to={target}").as_deref(),
            Ok("--to=-oProxyCommand=x")
        );
        let braces = Values {
            target: "{pid}{".to_owned(),
            ..values
        };
        assert_eq!(braces.element("{target}{pid}").as_deref(), Ok("{pid}{1"));
        let secret = Values {
            secret: true,
            ..braces
        };
        assert!(secret.element("{target}").is_err() && secret.element("{pid}").is_ok());
    }
}
