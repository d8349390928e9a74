//! What the memory of a pool can read, in units of a bit/s times a picosecond: packets are read one after
//! another at its rate, and a head is dropped unless what is still to be read exceeds the bucket.

use std::collections::BTreeMap;

use tailroom_engine::network::Network;
use tailroom_engine::pool::policy::PolicyConfig;
use tailroom_engine::units::Time;

#[derive(Debug)]
pub(super) struct Reading {
    rate: i128,
    bucket: i128,
    /// When everything is read, times the rate.
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
        let mut ports = BTreeMap::new();
        for link in members {
            let name = link.line.as_ref().map_or(&link.name, |line| &line.name);
            let highest = ports.entry((link.line.is_some(), name)).or_insert(0);
            *highest = link.rate.bits_per_second().max(*highest);
        }
        let ports: u64 = ports.into_values().sum();
        let rate = params.memory_rate.map_or(ports, |rate| rate.rate().bits_per_second());
        let bucket = work(params.bucket.bytes());
        Some(Reading { rate: rate.into(), bucket, done: 0, last: None })
    }

    pub(super) fn read(&mut self, now: Time, bytes: u64) {
        let now = i128::from(now.picoseconds()) * self.rate;
        self.done = self.done.max(now) + work(bytes);
    }

    /// When a head may be dropped, `now` or later.
    pub(super) fn ready_at(&self, now: Time) -> Time {
        let at = (self.done - self.bucket + self.rate - 1).div_euclid(self.rate);
        now.max(Time::from_picoseconds(u64::try_from(at.max(0)).unwrap_or(u64::MAX)))
    }
}
