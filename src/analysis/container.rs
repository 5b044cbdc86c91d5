//! Whether a process lives in a container, by its control group.

use crate::model::finding::Container;
use crate::model::process::Process;

/// Returns the container of a process. The control group's path names engine and id; the forms
/// are those of docker, podman, containerd (Kubernetes) and lxc under cgroup v1 and v2.
pub(crate) fn of(process: &Process) -> Option<Container> {
    let path = process.cgroup.value()?.lossy().into_owned();
    let segments: Vec<&str> = path.split('/').filter(|segment| !segment.is_empty()).collect();
    segments.iter().enumerate().rev().find_map(|(index, segment)| {
        let before = index
            .checked_sub(1)
            .and_then(|index| segments.get(index))
            .copied()
            .unwrap_or_default();
        named(segment, before, &path)
    })
}

fn named(segment: &str, before: &str, path: &str) -> Option<Container> {
    let bare = segment.strip_suffix(".scope").unwrap_or(segment);
    let found = |engine: &str, id: &str| {
        Some(Container {
            engine: engine.to_owned(),
            id: id.to_owned(),
        })
    };
    for (prefix, engine) in [
        ("docker-", "docker"),
        ("libpod-", "podman"),
        ("cri-containerd-", "containerd"),
        ("crio-", "cri-o"),
        ("nerdctl-", "containerd"),
    ] {
        if let Some(id) = bare.strip_prefix(prefix).filter(|id| is_id(id)) {
            return found(engine, id);
        }
    }
    if before == "lxc" || before == "lxc.payload" {
        return found("lxc", bare);
    }
    if let Some(name) = bare.strip_prefix("lxc.payload.") {
        return found("lxc", name);
    }
    if is_id(bare) {
        let engine = match before {
            "docker" => "docker",
            "libpod" | "libpod_parent" => "podman",
            _ if path.contains("kubepods") => "kubernetes",
            _ => "unknown",
        };
        return found(engine, bare);
    }
    None
}

fn is_id(text: &str) -> bool {
    text.len() == 64 && text.bytes().all(|byte| byte.is_ascii_hexdigit())
}

#[cfg(test)]
mod tests {
    use super::named;

    const ID: &str = "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef";

    #[test]
    fn engines_are_told_by_the_control_group() {
        let cases = [
            (format!("docker-{ID}.scope"), "system.slice", Some("docker")),
            (ID.to_owned(), "docker", Some("docker")),
            (format!("libpod-{ID}.scope"), "machine.slice", Some("podman")),
            (
                format!("cri-containerd-{ID}.scope"),
                "kubepods.slice",
                Some("containerd"),
            ),
            ("web".to_owned(), "lxc", Some("lxc")),
            ("docker.service".to_owned(), "system.slice", None),
            ("session-3.scope".to_owned(), "user-1000.slice", None),
            ("docker-0123.scope".to_owned(), "system.slice", None),
        ];
        for (segment, before, engine) in cases {
            let found = named(&segment, before, "/x");
            assert_eq!(found.as_ref().map(|one| one.engine.as_str()), engine, "{segment}");
        }
    }
}
