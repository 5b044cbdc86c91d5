//! Fills one instance of the inventory.

use crate::model::finding::{End, Fact, Lead, Stdio};
use crate::model::identity::ProcessKey;
use crate::model::instance::{ClientRef, Identification, Instance};
use crate::report::inventory;
use crate::report::publish::{Secrets, redacted};
use crate::report::word;

/// Returns an instance as the inventory shows it.
pub(in crate::report) fn instance(instance: &Instance, secrets: Secrets<'_>) -> inventory::Instance {
    let name = redacted(&instance.name, secrets);
    inventory::Instance {
        id: instance.id.to_string(),
        name: name.text,
        name_base64: name.base64,
        transport: word::transport(instance.transport),
        finding: instance.finding.word(),
        lineage: word::lineage(instance.lineage),
        adopter: instance.adopter.as_ref().map(|adopter| inventory::Adopter {
            pid: adopter.pid.get(),
            kind: adopter.kind.word(),
            name: redacted(&adopter.name, secrets).text,
        }),
        managed: instance.managed.as_ref().map(|managed| inventory::Managed {
            by: managed.by.clone(),
            unit: secrets.line(&managed.unit),
        }),
        container: instance.container.as_ref().map(|container| inventory::Container {
            engine: container.engine.clone(),
            id: container.id.clone(),
        }),
        via: instance.via.as_ref().map(|via| inventory::Via {
            instance: via.instance.to_string(),
            finding: via.finding.word(),
        }),
        network: instance.network.as_ref().map(|network| inventory::Network {
            listens: lines(&network.listens, secrets),
            peers: lines(&network.peers, secrets),
        }),
        server_pid: instance.server.map(pid),
        launcher_pids: instance.launchers.iter().copied().map(pid).collect(),
        helper_pids: instance.helpers.iter().copied().map(pid).collect(),
        client: instance.client.as_ref().map(|one| client(one, secrets)),
        identified_by: identification(&instance.identified_by, secrets),
        stdio: instance.stdio.as_ref().map(stdio),
        reach: instance
            .reach
            .as_ref()
            .map(|leads| leads.iter().map(|one| lead(one, secrets)).collect()),
        twins: instance.twins.iter().map(|pid| pid.get()).collect(),
        older_twin: instance.older_twin,
        facts: all_facts(instance)
            .into_iter()
            .map(|one| fact(one, secrets))
            .collect(),
        activity: None,
    }
}

/// Returns the facts of an instance, then what it does now where that is not among them.
pub(in crate::report) fn all_facts(instance: &Instance) -> Vec<&Fact> {
    let now = instance
        .acts_now
        .iter()
        .filter(|fact| !instance.facts.contains(fact));
    instance.facts.iter().chain(now).collect()
}

fn lines(lines: &[String], secrets: Secrets<'_>) -> Vec<String> {
    lines.iter().map(|line| secrets.line(line)).collect()
}

fn pid(key: ProcessKey) -> u32 {
    key.pid.get()
}

fn client(client: &ClientRef, secrets: Secrets<'_>) -> inventory::Client {
    inventory::Client {
        pid: client.process.pid.get(),
        id: client.id.clone(),
        name: redacted(&client.name, secrets).text,
        state: client.state.to_string(),
        on_wire: client.on_wire,
    }
}

fn identification(by: &Identification, secrets: Secrets<'_>) -> inventory::Identification {
    inventory::Identification {
        confidence: by.confidence.word(),
        rule: by.rule.clone(),
        because: secrets.line(&by.because),
        file: by.file.as_ref().map(|file| redacted(file, secrets).text),
        server_name: by.server_name.as_ref().map(|name| redacted(name, secrets).text),
    }
}

fn stdio(stdio: &Stdio) -> inventory::Stdio {
    inventory::Stdio {
        stdin: stdio.stdin.as_ref().map(end),
        stdout: stdio.stdout.as_ref().map(end),
        stderr: stdio.stderr.as_ref().map(end),
    }
}

fn end(end: &End) -> inventory::End {
    inventory::End {
        fd: end.fd,
        pid: end.pid.get(),
        kind: word::end_kind(end.kind),
        inode: end.inode,
        access: end.access.map(word::access),
        peer: word::peer(end.peer),
        holders: end
            .holders
            .iter()
            .map(|holder| inventory::Holder {
                pid: holder.pid.get(),
                fd: holder.fd,
                access: word::access(holder.access),
                relation: word::relation(holder.relation),
            })
            .collect(),
        holder_count: end.holder_count,
    }
}

fn lead(lead: &Lead, secrets: Secrets<'_>) -> inventory::Lead {
    let target = redacted(&lead.target, secrets);
    inventory::Lead {
        letter: lead.letter.clone(),
        kind: lead.kind.word(),
        target: target.text,
        target_base64: target.base64,
        state: lead.state.clone(),
        pid: lead.pid.get(),
        fd: lead.fd,
        meaning: secrets.line(&lead.meaning),
        last_sent_ms: lead.last_sent_ms,
        last_received_ms: lead.last_received_ms,
    }
}

/// Returns a fact as the inventory shows it.
pub(in crate::report) fn fact(fact: &Fact, secrets: Secrets<'_>) -> inventory::Fact {
    inventory::Fact {
        code: fact.code.clone(),
        text: secrets.line(&fact.text),
        source: fact.source.clone(),
        weight: word::weight(fact.weight),
    }
}
