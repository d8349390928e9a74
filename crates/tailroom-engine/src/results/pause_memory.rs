//! What waits behind links with pause frames at most, against the memory that is there for it.

use std::collections::{BTreeMap, BTreeSet};

use super::finished_run::FinishedRun;
use super::warning::{Warning, WarningKind, list};
use crate::network::Network;
use crate::quantity::limit::Limit;
use crate::queue::LinkInfo;
use crate::units::float;

/// The most bytes that wait behind links with pause frames while none of their packets is dropped for want
/// of headroom: xoff and headroom of each, and what they share.
fn most_waiting(network: &Network, ingresses: &BTreeSet<usize>) -> u64 {
    let mut total: u64 = 0;
    let mut shared: BTreeMap<usize, Shared> = BTreeMap::new();
    for &link in ingresses {
        let spec = &network.links[link];
        let Some(pause) = spec.pause else { continue };
        total = total.saturating_add(pause.xoff.bytes());
        let Some(member) = spec.ingress else {
            total = total.saturating_add(pause.headroom.bytes());
            continue;
        };
        let pool = shared.entry(member.pool).or_insert(Shared { free: 1.0, headroom: 0 });
        pool.free /= 1.0 + member.alpha;
        pool.headroom = pool.headroom.saturating_add(pause.headroom.bytes());
    }
    shared
        .into_iter()
        .fold(total, |total, (pool, share)| total.saturating_add(share.most_waiting(network, pool)))
}

/// What some ingresses of a pool have together.
#[derive(Clone, Copy, Debug)]
struct Shared {
    /// The share of the pool that they leave free.
    free: f64,
    headroom: u64,
}

impl Shared {
    /// The most bytes beyond xoff. Ingresses hold the most if they are filled one after the other: each takes
    /// alpha / (1 + alpha) of what the ones before it left free, up to T = alpha (free - T) (Choudhury and
    /// Hahne 1998), and keeps it when its threshold falls.
    fn most_waiting(self, network: &Network, pool: usize) -> u64 {
        let memory = &network.ingress_pools[pool];
        let size = memory.size.bytes();
        let below = (float(size) * (1.0 - self.free)).ceil() as u64;
        let headroom = memory.headroom.map_or(self.headroom, |all| all.bytes().min(self.headroom));
        let held = below.saturating_add(headroom);
        if memory.includes_headroom { held.min(size) } else { held }
    }
}

/// By link, the links with pause frames that lead to it.
fn ingresses(network: &Network) -> BTreeMap<usize, BTreeSet<usize>> {
    let mut leading: BTreeMap<usize, BTreeSet<usize>> = BTreeMap::new();
    for (index, link) in network.links.iter().enumerate() {
        if link.pause.is_some() {
            for next in network.links_behind(index) {
                leading.entry(next).or_default().insert(index);
            }
        }
    }
    leading
}

/// Queues that are full before all links that lead to them have stopped; the message tells the worse case,
/// that a queue is full before the switch asks for a pause.
pub(super) fn short_limits(run: &FinishedRun<'_>) -> Vec<Warning> {
    let leading = ingresses(run.network);
    if leading.is_empty() {
        return Vec::new();
    }
    let (links, facts) = (&run.network.links, run.network.link_facts());
    let (mut before, mut after) = (Vec::new(), Vec::new());
    for (next, ingresses) in leading {
        let (room, waiting) =
            (room(run, next, &facts[next]), most_waiting(run.network, &ingresses));
        let pauses = ingresses.iter().filter_map(|&link| links[link].pause);
        let xoff = pauses.map(|pause| pause.xoff.bytes()).max().unwrap_or(0);
        let place = format!("links.{}.queue.limit", links[next].name);
        if room < xoff {
            before.push(Short { place, room, needed: xoff });
        } else if room < waiting {
            after.push(Short { place, room, needed: waiting });
        }
    }
    let before = worst(before).map(|(place, Short { room, needed, .. })| {
        let text = format!(
            "{place}: room for {room} B, and the switch asks for a pause of a link that leads there at \
             {needed} B: packets are dropped before it does. Raise the limit above xoff and headroom of all \
             links that lead there, or lower xoff"
        );
        let values = [("limit_bytes", room as f64), ("xoff_bytes", needed as f64)];
        Warning::new(WarningKind::ShortLimit, place, &values, text)
    });
    let after = worst(after).map(|(place, Short { room, needed, .. })| {
        let text = format!(
            "{place}: room for {room} B, and up to {needed} B wait there until all links that lead there \
             have stopped: xoff and headroom of each, and their share of ingress_pools. Packets may be \
             dropped in spite of pause frames: raise the limit to {needed} B, or lower xoff or alpha"
        );
        let values = [("limit_bytes", room as f64), ("needed_bytes", needed as f64)];
        Warning::new(WarningKind::ShortLimit, place, &values, text)
    });
    before.into_iter().chain(after).collect()
}

/// Pools that are full before all links that lead to their queues have stopped.
pub(super) fn short_pools(run: &FinishedRun<'_>) -> Vec<Warning> {
    let mut leading: BTreeMap<usize, BTreeSet<usize>> = BTreeMap::new();
    for (next, ingresses) in ingresses(run.network) {
        if let Some(member) = run.network.links[next].pool {
            leading.entry(member.pool).or_default().extend(ingresses);
        }
    }
    let short = leading.into_iter().filter_map(|(pool, ingresses)| {
        let pool = &run.network.pools[pool];
        let (room, needed) = (pool.size_bytes, most_waiting(run.network, &ingresses));
        let place = format!("pools.{}.size", pool.name);
        (room < needed).then_some(Short { place, room, needed })
    });
    let warning = worst(short.collect()).map(|(place, Short { room, needed, .. })| {
        let text = format!(
            "{place}: the pool has {room} B, and up to {needed} B wait in it until all links that lead there \
             have stopped: xoff and headroom of each, and their share of ingress_pools. Packets may be \
             dropped in spite of pause frames: raise the size to {needed} B, or lower xoff or alpha"
        );
        let values = [("size_bytes", room as f64), ("needed_bytes", needed as f64)];
        Warning::new(WarningKind::ShortPool, place, &values, text)
    });
    warning.into_iter().collect()
}

/// Links whose headroom is part of a pool that is smaller.
pub(super) fn headrooms_above_pools(run: &FinishedRun<'_>) -> Vec<Warning> {
    let above = run.network.links.iter().filter_map(|link| {
        let (member, pause) = (link.ingress?, link.pause?);
        let pool = &run.network.ingress_pools[member.pool];
        let (headroom, room) = (pause.headroom.bytes(), pool.size.bytes());
        let place = format!("links.{}.pause.headroom", link.name);
        let is_above = pool.includes_headroom && headroom > room;
        is_above.then_some(Short { place, room, needed: headroom })
    });
    let warning = worst(above.collect()).map(|(place, Short { room, needed, .. })| {
        let text = format!(
            "{place}: {needed} B are part of an ingress pool (includes_headroom) that has {room} B in all, \
             so that the link never has them: lower it, raise `size` of the pool, or set \
             includes_headroom = false"
        );
        let values = [("headroom_bytes", needed as f64), ("size_bytes", room as f64)];
        Warning::new(WarningKind::HeadroomAbovePool, place, &values, text)
    });
    warning.into_iter().collect()
}

/// Links whose `xon_offset` is below `xon` even while nothing else takes memory, so that it changes nothing.
pub(super) fn unused_xon_offsets(run: &FinishedRun<'_>) -> Vec<Warning> {
    let unused = run.network.links.iter().filter_map(|link| {
        let (member, pause) = (link.ingress?, link.pause?);
        let size = run.network.ingress_pools[member.pool].size.bytes();
        let threshold = pause.xoff.bytes() + (member.alpha * float(size)) as u64;
        let resumes_at = threshold.saturating_sub(member.xon_offset);
        let place = format!("links.{}.ingress.xon_offset", link.name);
        let is_unused = member.xon_offset > 0 && resumes_at <= pause.xon.bytes();
        is_unused.then_some((place, member.xon_offset, threshold, pause.xon.bytes()))
    });
    let unused: Vec<_> = unused.collect();
    let warning = unused.first().map(|(_, offset, threshold, xon)| {
        let place = list(&unused.iter().map(|(place, ..)| place.clone()).collect::<Vec<_>>());
        let text = format!(
            "{place}: {offset} B below the threshold, which is {threshold} B at most, is never above xon, \
             {xon} B: the link resumes at xon alone. Lower xon_offset below {} B, lower xon, or remove it",
            threshold.saturating_sub(*xon)
        );
        let values = [
            ("xon_offset_bytes", *offset as f64),
            ("threshold_bytes", *threshold as f64),
            ("xon_bytes", *xon as f64),
        ];
        Warning::new(WarningKind::UnusedXonOffset, place, &values, text)
    });
    warning.into_iter().collect()
}

/// Memory that is less than what may wait there, in bytes.
struct Short {
    place: String,
    room: u64,
    needed: u64,
}

/// All places together, and the one with the least room.
fn worst(mut short: Vec<Short>) -> Option<(String, Short)> {
    short.sort_by_key(|one| one.room);
    let place = list(&short.iter().map(|one| one.place.clone()).collect::<Vec<_>>());
    Some((place, short.into_iter().next()?))
}

/// The most bytes that the queue of a link holds.
fn room(run: &FinishedRun<'_>, link: usize, facts: &LinkInfo) -> u64 {
    let spec = &run.network.links[link];
    match spec.limit(spec.queue.parameters().limit()) {
        Limit::Packets(packets) => packets.saturating_mul(facts.packet_bytes.into()),
        Limit::Bytes(bytes) => bytes,
    }
}
