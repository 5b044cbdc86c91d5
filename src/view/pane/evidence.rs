//! Pane 1: the finding in words, what the instance does now, what it can act through, and what is
//! not known.

use super::super::paint::{Para, Piece, lit, safe, say};
use super::super::theme::{Theme, Tone};
use super::subject::Subject;
use crate::app::App;
use crate::model::finding::{Fact, Finding, Lead, LeadKind, Lineage, Weight};
use crate::model::identity::ProcessKey;
use crate::model::instance::Instance;
use crate::model::process::Process;
use crate::model::reading::Reading;
use crate::model::time::UnixMillis;
use crate::model::world::World;
use crate::table::{Reach, cells};
use crate::text::width::{Glyphs, truncate_middle};
use crate::text::{Safe, format};

/// Text of the pane.
pub(super) fn paragraphs(app: &App, subject: &Subject<'_>) -> Vec<Para> {
    match subject.instance {
        Some(instance) if subject.is_instance() => of_instance(app, subject, instance),
        Some(instance) => of_member(app, subject, instance),
        None if subject.node.figures.instances > 0 => of_sum(subject),
        None => of_process(subject),
    }
}

fn of_instance(app: &App, subject: &Subject<'_>, instance: &Instance) -> Vec<Para> {
    let mut out = finding(subject, instance);
    out.extend(holders(subject, instance));
    out.extend(acts_now(subject, instance));
    out.extend(can_act(subject, instance.reach.as_deref(), None, glyphs_of(app)));
    out.extend(not_known(app, subject, Some(instance)));
    out.extend(marks(subject, instance));
    let shown = subject.shown;
    for (weight, label) in [(Weight::Supporting, "supports"), (Weight::Context, "context")] {
        let facts = instance.facts.iter().filter(|fact| fact.weight == weight);
        out.extend(facts.map(|fact| fact_para(subject, lit(label, Tone::Dim), fact)));
    }
    if !instance.twins.is_empty() {
        let pids: Vec<String> = instance.twins.iter().map(ToString::to_string).collect();
        let younger = if instance.older_twin {
            "; a younger generation runs"
        } else {
            ""
        };
        let text = format!("same command, directory and client: {}{younger}", pids.join(" "));
        out.push(Para::labelled(lit("twins", Tone::Dim), say(&text, Tone::Plain)));
    }
    for lead in instance.reach.iter().flatten() {
        out.push(lead_para(shown.safe_bytes(lead.target.as_bytes()), lead, subject));
    }
    out
}

fn glyphs_of(app: &App) -> Glyphs {
    Theme::new(app.options()).glyphs()
}

fn finding(subject: &Subject<'_>, instance: &Instance) -> Vec<Para> {
    let tone = Tone::of(instance.finding);
    let label = safe(cells::finding(instance.finding), tone);
    let strong: Vec<&Fact> = instance
        .facts
        .iter()
        .filter(|fact| fact.weight == Weight::Strong)
        .collect();
    let Some((first, rest)) = strong.split_first() else {
        return vec![Para::labelled(label, lit(meaning(instance.finding), Tone::Plain))];
    };
    let mut out = vec![fact_para(subject, label, first)];
    out.extend(rest.iter().map(|fact| fact_para(subject, Piece::default(), fact)));
    out
}

/// So many holders are told with their command lines; the facts name the others.
const HOLDERS: usize = 3;

/// Who holds the other end where that is the trouble: it is another row, or none, and to judge it takes more than
/// its name.
fn holders(subject: &Subject<'_>, instance: &Instance) -> Vec<Para> {
    if !matches!(instance.finding, Finding::Held | Finding::Wedged) {
        return Vec::new();
    }
    let stdin = instance.stdio.as_ref().and_then(|stdio| stdio.stdin.as_ref());
    let shown = subject.shown;
    let mut told: Vec<ProcessKey> = Vec::new();
    let mut out = Vec::new();
    for process in stdin
        .iter()
        .flat_map(|end| &end.holders)
        .filter_map(|holder| shown.by_pid(holder.pid))
    {
        if told.contains(&process.key) || told.len() == HOLDERS {
            continue;
        }
        told.push(process.key);
        let line = shown.line(process.key).cloned().unwrap_or_default();
        let text = Safe::join([Safe::from_text(&process.key.pid.to_string()), line], " ");
        let parent = process
            .ppid
            .map_or_else(String::new, |ppid| format!("parent {ppid}, "));
        let elapsed = format::elapsed(shown.world.sample.elapsed_ms(process));
        let note = Safe::from_text(&format!("{parent}for {elapsed}"));
        out.push(Para::labelled(lit("holder", Tone::Strong), safe(text, Tone::Plain)).note(note));
    }
    out
}

/// Returns what a finding means, in a sentence.
pub(in crate::view) fn meaning(finding: Finding) -> &'static str {
    match finding {
        Finding::Severed => "nobody can talk on its wire any more",
        Finding::Held => "the other end of its wire is held, but by no client",
        Finding::Wedged => {
            "the client that holds the other end, or a relay between, cannot act: stopped, traced, or stuck"
        }
        Finding::Defunct => "the server has exited and its parent has not waited for it",
        Finding::Unknown => "it cannot be said; the facts name what could not be read",
        Finding::Network => "it listens and needs no wire",
        Finding::Attached => "a live client holds the other end of its wire",
    }
}

fn fact_para(subject: &Subject<'_>, label: Piece, fact: &Fact) -> Para {
    let text = safe(subject.shown.safe_text(&fact.text), Tone::Plain);
    Para::labelled(label, text).note(subject.shown.safe_text(&fact.source))
}

fn marks(subject: &Subject<'_>, instance: &Instance) -> Vec<Para> {
    let shown = subject.shown;
    let mut out = Vec::new();
    let mut mark = |label: &'static str, text: Safe| {
        out.push(Para::labelled(lit(label, Tone::Plain), safe(text, Tone::Plain)));
    };
    match (&instance.adopter, instance.lineage) {
        (Some(adopter), _) => {
            let name = shown.safe_bytes(adopter.name.as_bytes());
            let who = format!("{} ({}), adopted: ", adopter.pid, adopter.kind.word());
            let because = shown.safe_text(&adopter.because);
            let mut text = Safe::join([name, Safe::from_text(&who)], " ");
            text.push(&because);
            mark("parent", text);
        }
        (None, Lineage::Unknown) => mark("parent", Safe::literal("it cannot be said what became of it")),
        (None, Lineage::Child | Lineage::Reparented) => {}
    }
    if let Some(managed) = &instance.managed {
        let text = format!("by {}, {}: it would be restarted", managed.by, managed.unit);
        mark("managed", shown.safe_text(&text));
    }
    if let Some(container) = &instance.container {
        let id: String = container.id.chars().take(12).collect();
        mark(
            "container",
            Safe::from_text(&format!("{} {id}", container.engine)),
        );
    }
    if let Some(via) = &instance.via {
        let name = shown
            .instance(via.instance)
            .map_or_else(Safe::default, |proxy| shown.safe_bytes(proxy.name.as_bytes()));
        let text = Safe::join(
            [
                Safe::literal("its client is the MCP server"),
                name,
                Safe::from_text(&via.instance.0.pid.to_string()),
                Safe::literal("which is"),
                cells::finding(via.finding),
            ],
            " ",
        );
        mark("via", text);
    }
    out
}

fn acts_now(subject: &Subject<'_>, instance: &Instance) -> Vec<Para> {
    let label = || lit("ACTS NOW", Tone::Strong);
    let Some((first, rest)) = instance.acts_now.split_first() else {
        let text = if subject.shown.world.seq <= 1 {
            "not known yet: that takes two samples"
        } else {
            "nothing seen between the last two samples"
        };
        return vec![Para::labelled(label(), lit(text, Tone::Plain))];
    };
    let mut out = vec![fact_para(subject, label(), first)];
    out.extend(rest.iter().map(|fact| fact_para(subject, Piece::default(), fact)));
    out
}

/// So many leads stand above the facts, one a line; all of them follow in full behind the facts.
const LEADS: usize = 4;

/// Columns of a target above the facts: its end tells more than its middle.
const TARGET: usize = 56;

fn can_act(
    subject: &Subject<'_>,
    reach: Option<&[Lead]>,
    only: Option<crate::model::identity::Pid>,
    glyphs: Glyphs,
) -> Vec<Para> {
    let label = lit("CAN ACT", Tone::Strong);
    let Some(leads) = reach else {
        let text = "not looked at: the closer look at this instance has not been taken";
        return vec![Para::labelled(label, lit(text, Tone::Warning))];
    };
    let leads: Vec<&Lead> = leads
        .iter()
        .filter(|lead| only.is_none_or(|pid| lead.pid == pid))
        .collect();
    if leads.is_empty() {
        let text = "no visible lead; that does not say that it cannot act";
        return vec![Para::labelled(label, lit(text, Tone::Plain))];
    }
    // A line that only counts one more says less than that one.
    let named = if leads.len() == LEADS + 1 {
        LEADS + 1
    } else {
        LEADS
    };
    let mut lines: Vec<Safe> = leads
        .iter()
        .take(named)
        .map(|lead| lead_line(subject, lead, glyphs))
        .collect();
    if leads.len() > named {
        let more = &leads[named..];
        let kinds = Reach::of(more.iter().copied()).words();
        lines.push(Safe::from_text(&format!(
            "and {} more ({kinds}): behind the facts; sockets in pane 3",
            more.len()
        )));
    }
    let mut label = label;
    lines
        .into_iter()
        .map(|line| Para::labelled(std::mem::take(&mut label), safe(line, Tone::Plain)))
        .collect()
}

/// Letter, kind and target. Of a helper the program alone: its first argument may be a whole command line.
fn lead_line(subject: &Subject<'_>, lead: &Lead, glyphs: Glyphs) -> Safe {
    let letter = Safe::from_text(&format!("{:<2}", lead.letter));
    let target = if lead.kind == LeadKind::Child {
        subject.shown.name_and_pid(lead.pid)
    } else {
        let target = subject.shown.safe_bytes(lead.target.as_bytes());
        // The text is escaped already; what is cut of it stays so.
        Safe::from_escaped(&truncate_middle(target.as_str(), TARGET, glyphs))
    };
    match lead.kind {
        LeadKind::CredentialName => Safe::join([letter, target, Safe::literal("(name only)")], " "),
        kind => Safe::join([letter, Safe::literal(kind.word()), target], " "),
    }
}

fn lead_para(target: Safe, lead: &Lead, subject: &Subject<'_>) -> Para {
    let mut parts = vec![Safe::literal(lead.kind.word()), target];
    if let Some(state) = &lead.state {
        parts.push(subject.shown.safe_text(state));
    }
    let fd = lead.fd.map_or_else(String::new, |fd| format!(" fd {fd}"));
    parts.push(Safe::from_text(&format!("({}{fd})", lead.pid)));
    let ago = |word: &str, ms: Option<u64>| ms.map(|ms| format!("last {word} {} ago", format::elapsed(ms)));
    let times: Vec<String> = ago("sent", lead.last_sent_ms)
        .into_iter()
        .chain(ago("received", lead.last_received_ms))
        .collect();
    if !times.is_empty() {
        parts.push(Safe::from_text(&times.join(", ")));
    }
    let mut text = Safe::join(parts, " ");
    text.push_literal(": ");
    text.push(&subject.shown.safe_text(&lead.meaning));
    if let Some(advice) = &lead.advice {
        text.push_literal(". Usual: ");
        text.push(&subject.shown.safe_text(advice));
    }
    Para::labelled(
        say(&format!("lead {}", lead.letter), Tone::Strong),
        safe(text, Tone::Plain),
    )
}

/// What the evidence does not say, and what would help.
fn not_known(app: &App, subject: &Subject<'_>, instance: Option<&Instance>) -> Vec<Para> {
    let sample = &subject.shown.world.sample;
    let mut texts: Vec<String> = Vec::new();
    for (process, _) in subject.processes() {
        let pid = process.key.pid;
        texts.extend(missing(&process.descriptors, "descriptors", pid));
        texts.extend(missing(&process.environment, "environment", pid));
    }
    texts.extend(missing_of(&sample.sockets, "sockets of the machine", ""));
    if instance.is_some() && !sample.unsearched.is_empty() {
        let count = sample.unsearched.len();
        let (processes, hold) = if count == 1 {
            ("process", "it holds")
        } else {
            ("processes", "they hold")
        };
        texts.push(format!(
            "{count} {processes} could not be searched for other ends: what {hold} is not known"
        ));
    }
    let own_net = sample.observer.net_namespace;
    let net = subject.process.and_then(|process| process.net_namespace.value());
    if net.is_some() && own_net.is_some() && net != own_net.as_ref() {
        texts
            .push("it lives in another network namespace: its connections are not seen from here".to_owned());
    }
    let before = if app.options().origin.is_some() {
        before_saved(subject.shown.world)
    } else {
        let since = app.since().map_or_else(String::new, UnixMillis::clock);
        format!("{since} (mcpwake was not running)")
    };
    texts.push(format!("sessions in memory; anything before {before}"));
    let mut label = lit("unknown", Tone::Strong);
    texts
        .into_iter()
        .map(|text| Para::labelled(std::mem::take(&mut label), say(&text, Tone::Plain)))
        .collect()
}

/// Returns from when on whoever saved a sample had looked: since it was started, where this was not its
/// first sample.
fn before_saved(world: &World) -> String {
    let sample = &world.sample;
    let own = sample.process(sample.observer.pid).filter(|_| world.seq > 1);
    match own {
        Some(own) => format!(
            "{}, when the mcpwake that saved this was started",
            sample.started_at(own).day_and_clock()
        ),
        None => format!("the snapshot, taken {}", sample.taken_at.day_and_clock()),
    }
}

fn missing<T>(reading: &Reading<T>, what: &str, pid: crate::model::identity::Pid) -> Option<String> {
    missing_of(reading, what, &format!(" of {pid}"))
}

/// Returns a sentence for each of the ways in which a value can be absent.
pub(super) fn missing_of<T>(reading: &Reading<T>, what: &str, whose: &str) -> Option<String> {
    Some(match reading {
        Reading::Value(_) => return None,
        Reading::Denied => format!("{what}{whose}: denied; root, or its own user, may read them"),
        Reading::Gone => format!("{what}{whose}: gone before they could be read"),
        Reading::Unsupported => format!("{what}{whose}: this system does not show them"),
        Reading::Failed(why) => format!("{what}{whose}: reading failed: {why}"),
        Reading::Unread => {
            format!("{what}{whose}: not looked at; the next sample does, while the row is selected")
        }
    })
}

fn of_member(app: &App, subject: &Subject<'_>, instance: &Instance) -> Vec<Para> {
    let mut out = Vec::new();
    let name = subject.shown.safe_bytes(instance.name.as_bytes());
    let text = Safe::join(
        [
            Safe::literal("of its instance"),
            name,
            Safe::from_text(&format!("{}:", instance.lead_process().pid)),
            Safe::literal(meaning(instance.finding)),
        ],
        " ",
    );
    out.push(Para::labelled(
        safe(cells::finding(instance.finding), Tone::of(instance.finding)),
        safe(text, Tone::Plain),
    ));
    if let Some(process) = subject.process {
        out.push(state(subject, process));
        let only = Some(process.key.pid);
        out.extend(can_act(subject, instance.reach.as_deref(), only, glyphs_of(app)));
    }
    out.extend(not_known(app, subject, None));
    out
}

fn of_process(subject: &Subject<'_>) -> Vec<Para> {
    let Some(process) = subject.process else {
        return vec![super::no_process(subject)];
    };
    vec![no_finding(subject, process), state(subject, process)]
}

/// A client is named with its servers; anything else is none, as far as is seen.
fn no_finding(subject: &Subject<'_>, process: &Process) -> Para {
    let servers: Vec<Safe> = subject
        .shown
        .world
        .judged
        .instances
        .iter()
        .filter(|one| {
            one.client
                .as_ref()
                .is_some_and(|client| client.process == process.key)
        })
        .map(|one| {
            let name = subject.shown.safe_bytes(one.name.as_bytes());
            Safe::join([name, Safe::from_text(&one.lead_process().pid.to_string())], " ")
        })
        .collect();
    if servers.is_empty() {
        let text = "none: it is no member of an MCP server, as far as is seen; e explains why";
        return Para::labelled(lit("finding", Tone::Strong), lit(text, Tone::Plain));
    }
    Para::labelled(
        lit("client of", Tone::Strong),
        safe(Safe::join(servers, ", "), Tone::Plain),
    )
}

fn state(subject: &Subject<'_>, process: &Process) -> Para {
    let parent = process.ppid.map(|pid| subject.shown.name_and_pid(pid));
    let mut text = Safe::from_text(&format!("{} ({}), parent ", process.stat, state_word(process)));
    text.push(&parent.unwrap_or(Safe::literal("none")));
    let cpu = cells::cpu(process.cpu_permille);
    text.push(&Safe::from_text(&format!(
        ", CPU {cpu} %, memory {}, {} {}, tty {}",
        format::bytes(process.rss_bytes),
        process.threads,
        if process.threads == 1 { "thread" } else { "threads" },
        process.tty.as_deref().unwrap_or("none")
    )));
    Para::labelled(lit("state", Tone::Strong), safe(text, Tone::Plain))
}

fn state_word(process: &Process) -> &'static str {
    match process.state {
        'R' => "running",
        'S' => "sleeping",
        'D' => "waiting in the kernel, cannot be interrupted",
        'T' => "stopped",
        't' => "stopped by a tracer",
        _ if process.lost_main_thread() => "its main thread has exited, others run",
        'Z' | 'X' => "exited, not waited for",
        'I' => "idle",
        _ => "state not known here",
    }
}

fn of_sum(subject: &Subject<'_>) -> Vec<Para> {
    let figures = &subject.node.figures;
    let mut out = Vec::new();
    for finding in Finding::ALL {
        let count = figures.count(finding);
        if count > 0 {
            let label = format!("{count:>4} {}", cells::finding_word(finding));
            out.push(wide(
                say(&label, Tone::of(finding)),
                lit(meaning(finding), Tone::Plain),
            ));
        }
    }
    if figures.older > 0 {
        let text = "of these a younger twin runs under the same client: their session has probably ended";
        out.push(wide(
            say(&format!("{:>4} older", figures.older), Tone::Warning),
            lit(text, Tone::Plain),
        ));
    }
    let reach = figures.reach.map_or_else(String::new, |reach| reach.words());
    out.push(wide(lit("     CAN ACT", Tone::Strong), say(&reach, Tone::Plain)));
    out.push(super::no_process(subject));
    out
}

/// A paragraph whose label holds a count and a finding.
fn wide(label: Piece, text: Piece) -> Para {
    Para {
        gutter: 15,
        ..Para::labelled(label, text)
    }
}
