//! What the memory of a pool can read, in units of a bit/s times a picosecond: packets are read one after
//! another at its rate, and a head is dropped unless what is still to be read exceeds the bucket.

use std::collections::BTreeMap;

use tailroom_engine::link::serializer::Serializer;
use tailroom_engine::network::Network;
use tailroom_engine::pool::policy::PolicyConfig;
use tailroom_engine::units::Time;

#[derive(Debug)]
pub(super) struct Reading {
    /// How the ports send at whose rates together the memory is read.
    ports: Vec<Serializer>,
    bucket: i128,
    /// What could be read by the time at which everything is.
    done: i128,
    /// The link whose head was dropped last.
    pub(super) last: Option<usize>,
}

fn work(bytes: u64) -> i128 {
    i128::from(bytes) * 8_000_000_000_000
}

impl Reading {
    /// The memory of a pool whose policy is Occamy.
    pub(super) fn new(network: &Network, pool: usize) -> Option<Self> {
        let PolicyConfig::Occamy(params) = &network.pools[pool].policy else { return None };
        let members =
            network.links.iter().filter(|link| link.pool.is_some_and(|it| it.pool == pool));
        // The links of a line have the same rates.
        let ports: BTreeMap<_, _> = members
            .map(|link| {
                let name = link.line.as_ref().map_or(&link.name, |line| &line.name);
                let sends = Serializer::new(link.rate, &link.rate_changes, link.rate_period);
                ((link.line.is_some(), name), sends)
            })
            .collect();
        let ports = match params.memory_rate {
            Some(rate) => vec![Serializer::constant(rate.rate())],
            None => ports.into_values().collect(),
        };
        Some(Reading { ports, bucket: work(params.bucket.bytes()), done: 0, last: None })
    }

    /// What the memory can read by `time`.
    fn readable(&self, time: Time) -> i128 {
        self.ports.iter().map(|port| port.capacity(Time::ZERO, time).cast_signed()).sum()
    }

    pub(super) fn read(&mut self, now: Time, bytes: u64) {
        self.done = self.done.max(self.readable(now)) + work(bytes);
    }

    /// When the pool looks whether a head may be dropped: as soon as it may, and at a change of rate before.
    pub(super) fn looks_at(&self, now: Time) -> Time {
        let changes = self.ports.iter().map(|port| port.next_change(now));
        changes.fold(self.ready_at(now), Time::min)
    }

    /// When a head may be dropped, `now` or later.
    pub(super) fn ready_at(&self, now: Time) -> Time {
        let missing = |time: Time| self.done - self.bucket - self.readable(time);
        let mut time = now;
        while missing(time) > 0 {
            let rates = self.ports.iter().map(|port| port.rate_at(time).bits_per_second());
            let rate: u64 = rates.sum();
            let changes = self.ports.iter().map(|port| port.next_change(time)).min();
            let next = changes.expect("a pool has links");
            let wait = (missing(time) + i128::from(rate) - 1).checked_div(rate.into());
            let wait = wait.map_or(Time::NEVER, |wait| Time::from_picoseconds(wait as u64));
            if time.saturating_add(wait) <= next {
                return time.saturating_add(wait);
            }
            time = next;
        }
        time
    }
}
