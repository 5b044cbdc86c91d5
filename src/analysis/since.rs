//! What an instance does from one moment on, counted from sample to sample: a connection may open and
//! close between two samples that are far apart.

use std::collections::{BTreeMap, BTreeSet};
use std::net::SocketAddr;

use crate::model::identity::InstanceId;
use crate::model::socket::InetSocket;
use crate::model::world::World;

/// What an instance did, at least: what came and went between two samples nobody saw. `None`: not
/// known, which is not 0.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Activity {
    /// Connections that were not there at the moment from which it is counted.
    pub connections_opened: Option<u64>,
    /// Bytes sent on all connections.
    pub bytes_sent: Option<u64>,
}

/// Connections to the outside, by inode.
type Connections = BTreeMap<u64, Connection>;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Connection {
    /// Whether the other end has opened it: it came to a port on which a member listens.
    incoming: bool,
    /// Bytes sent; `None`: the system does not say.
    sent: Option<u64>,
}

/// Counts what one instance does.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Counter {
    id: InstanceId,
    boot_id: String,
    /// Connections as the last sample that could be looked into had them; `None`: there is none yet.
    last: Option<Connections>,
    activity: Activity,
}

impl Counter {
    /// Returns a counter that begins with this world: what is open in it was not opened since.
    pub fn from(world: &World, id: InstanceId) -> Self {
        let mut counter = Self {
            id,
            boot_id: world.sample.host.boot_id.clone(),
            last: None,
            activity: Activity::default(),
        };
        counter.add(world);
        counter
    }

    /// Counts what the next world shows. One that cannot be looked into, or that does not have the
    /// instance, is passed over.
    pub fn add(&mut self, world: &World) {
        if world.sample.host.boot_id != self.boot_id {
            return;
        }
        let Some(now) = connections(world, self.id) else {
            return;
        };
        match &self.last {
            None => {
                self.activity = Activity {
                    connections_opened: Some(0),
                    bytes_sent: now.values().all(|one| one.sent.is_some()).then_some(0),
                }
            }
            Some(before) => {
                let is_new =
                    |(inode, one): &(&u64, &Connection)| !one.incoming && !before.contains_key(inode);
                let opened = now.iter().filter(is_new).count();
                let sent = now.iter().map(|(inode, one)| {
                    let then = before.get(inode).map_or(Some(0), |then| then.sent);
                    Some(one.sent?.saturating_sub(then?))
                });
                let sent: Option<u64> = sent.sum();
                let Activity {
                    connections_opened,
                    bytes_sent,
                } = &mut self.activity;
                *connections_opened = connections_opened.map(|count| count + opened as u64);
                *bytes_sent = bytes_sent.zip(sent).map(|(before, more)| before + more);
            }
        }
        self.last = Some(now);
    }

    /// Returns what was counted so far.
    pub fn activity(&self) -> Activity {
        self.activity
    }
}

/// Returns the connections of all members but those between two of them; `None` where one of them could not
/// be looked into.
fn connections(world: &World, id: InstanceId) -> Option<Connections> {
    let sockets = world.sample.sockets.value()?;
    let instance = world.judged.instance(id)?;
    let own_net = world.sample.observer.net_namespace;
    let mut open: BTreeMap<u64, &InetSocket> = BTreeMap::new();
    for (key, _) in instance.members() {
        let process = world.sample.get(key)?;
        // Connections of another network namespace are in no list that was read.
        if own_net.is_some()
            && process
                .net_namespace
                .value()
                .is_some_and(|net| Some(*net) != own_net)
        {
            return None;
        }
        for descriptor in process.descriptors.value()? {
            let inode = descriptor.target.inode();
            open.extend(inode.and_then(|inode| Some((inode, sockets.inet.get(&inode)?))));
        }
    }
    let ends: BTreeSet<(SocketAddr, SocketAddr)> = open
        .values()
        .filter_map(|socket| Some((socket.local, socket.remote?)))
        .collect();
    let ports: BTreeSet<u16> = open
        .values()
        .filter(|socket| socket.remote.is_none())
        .map(|socket| socket.local.port())
        .collect();
    let outside = open.into_iter().filter_map(|(inode, socket)| {
        let remote = socket.remote?;
        let connection = Connection {
            incoming: ports.contains(&socket.local.port()),
            sent: socket.bytes_sent,
        };
        (!ends.contains(&(remote, socket.local))).then_some((inode, connection))
    });
    Some(outside.collect())
}

#[cfg(test)]
mod tests {
    use super::{Activity, Counter};
    use crate::analysis::testkit::{Machine, once};
    use crate::model::reading::Reading;
    use crate::model::world::World;

    fn world(machine: &Machine, bytes: &[(u64, Option<u64>)]) -> World {
        let mut sample = machine.sample();
        let Reading::Value(sockets) = &mut sample.sockets else {
            panic!("no sockets")
        };
        for (inode, bytes) in bytes {
            sockets.inet.get_mut(inode).unwrap().bytes_sent = *bytes;
        }
        World {
            seq: 1,
            sample,
            judged: once(machine),
            complete: true,
        }
    }

    fn machine(connections: &[u32]) -> Machine {
        let mut machine = Machine::new();
        machine.add(100, 1, "claude");
        machine.add(200, 100, "python3 -m mcp_server_git --repository /srv/app");
        machine.wire_pipes(100, 200, 9000);
        for number in connections {
            let local = format!("10.0.0.1:{}", 4000 + number);
            machine.tcp(
                200,
                5 + number,
                9500 + u64::from(*number),
                &local,
                Some("10.0.0.2:443"),
            );
        }
        machine.tcp(200, 90, 9590, "10.0.0.1:8080", None);
        machine
    }

    fn counted(connections_opened: Option<u64>, bytes_sent: Option<u64>) -> Activity {
        Activity {
            connections_opened,
            bytes_sent,
        }
    }

    #[test]
    fn a_connection_that_opens_and_closes_between_is_counted() {
        let begin = world(&machine(&[0]), &[(9500, Some(100))]);
        let mut counter = Counter::from(&begin, begin.judged.instances[0].id);
        assert_eq!(counter.activity(), counted(Some(0), Some(0)));
        counter.add(&world(&machine(&[0, 1]), &[(9500, Some(150)), (9501, Some(7))]));
        counter.add(&world(&machine(&[0]), &[(9500, Some(150))]));
        counter.add(&world(&machine(&[0, 2]), &[(9500, Some(150)), (9502, Some(3))]));
        assert_eq!(counter.activity(), counted(Some(2), Some(60)));
    }

    #[test]
    fn what_comes_in_and_what_stays_inside_was_not_opened() {
        let begin = world(&machine(&[]), &[]);
        let mut later = machine(&[1]);
        later.tcp(200, 91, 9591, "10.0.0.1:8080", Some("10.0.0.9:7000"));
        later.tcp(200, 92, 9592, "127.0.0.1:5000", Some("127.0.0.1:8080"));
        later.tcp(200, 93, 9593, "127.0.0.1:8080", Some("127.0.0.1:5000"));
        let mut counter = Counter::from(&begin, begin.judged.instances[0].id);
        let sent = [
            (9501, Some(1)),
            (9591, Some(10)),
            (9592, Some(100)),
            (9593, Some(100)),
        ];
        counter.add(&world(&later, &sent));
        assert_eq!(counter.activity(), counted(Some(1), Some(11)));
    }

    #[test]
    fn what_is_not_known_is_not_zero() {
        let mut begin = world(&machine(&[0]), &[(9500, Some(100))]);
        let id = begin.judged.instances[0].id;
        let next = world(&machine(&[0, 1]), &[(9500, Some(150)), (9501, None)]);
        let mut counter = Counter::from(&begin, id);
        counter.add(&next);
        assert_eq!(counter.activity(), counted(Some(1), None));
        begin.sample.sockets = Reading::Denied;
        let mut counter = Counter::from(&begin, id);
        assert_eq!(counter.activity(), Activity::default());
        counter.add(&world(&machine(&[0]), &[(9500, Some(5))]));
        assert_eq!(
            counter.activity(),
            counted(Some(0), Some(0)),
            "counted from there"
        );
    }

    #[test]
    fn a_sample_that_shows_nothing_takes_nothing_away() {
        let begin = world(&machine(&[0]), &[(9500, Some(1))]);
        let mut counter = Counter::from(&begin, begin.judged.instances[0].id);
        let mut denied = world(&machine(&[0, 1]), &[(9500, Some(9)), (9501, Some(9))]);
        denied.sample.sockets = Reading::Denied;
        counter.add(&denied);
        let mut elsewhere = world(&machine(&[0, 1]), &[(9500, Some(9)), (9501, Some(9))]);
        elsewhere.sample.host.boot_id = "another".to_owned();
        counter.add(&elsewhere);
        assert_eq!(counter.activity(), counted(Some(0), Some(0)));
        counter.add(&world(&machine(&[0]), &[(9500, Some(4))]));
        assert_eq!(counter.activity(), counted(Some(0), Some(3)));
    }
}
