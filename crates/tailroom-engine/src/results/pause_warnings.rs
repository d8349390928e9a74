//! Warnings about links with pause frames.

use std::collections::BTreeMap;

use super::deadlock::{Deadlock, deadlock};
use super::finished_run::FinishedRun;
use super::warning::{Warning, WarningKind, list};
use crate::quantity::limit::Limit;
use crate::quantity::{Duration, Size};
use crate::queue::LinkInfo;

/// Paused links that wait for one another and never resume.
pub(super) fn deadlocks(run: &FinishedRun<'_>) -> Vec<Warning> {
    let warning = deadlock(run).map(|Deadlock { cycle, since, links }| {
        let names = cycle.iter().map(|&link| format!("links.{}", run.network.links[link].name));
        let place = list(&names.collect::<Vec<_>>());
        let text = format!(
            "{place}: deadlock since {}: packets of each of these {} paused links wait for the next, and \
             those of the last for the first, so that {links} links stand still for good. Break the cycle \
             of paths, or let a link of it send no pause frames",
            Duration::new(since.picoseconds()),
            cycle.len(),
        );
        let values = [
            ("cycle_links", cycle.len() as f64),
            ("stuck_links", links as f64),
            ("since_s", since.seconds()),
        ];
        Warning::new(WarningKind::PauseDeadlock, place, &values, text)
    });
    warning.into_iter().collect()
}

/// Links whose headroom is less than what may arrive until the sender has stopped.
pub(super) fn short_headrooms(run: &FinishedRun<'_>) -> Vec<Warning> {
    if run.network.links.iter().all(|link| link.pause.is_none()) {
        return Vec::new();
    }
    let facts = run.network.link_facts();
    let (mut places, mut shortest) = (Vec::new(), None);
    for (link, info) in run.network.links.iter().zip(&facts) {
        let Some(pause) = link.pause else { continue };
        let needed = pause.least_headroom_bytes(link.rate, link.delay, info.packet_bytes);
        let pool = link.ingress.and_then(|it| run.network.ingress_pools[it.pool].headroom);
        let shared = pool.map_or(u64::MAX, Size::bytes);
        let headroom = pause.headroom.bytes().min(shared);
        if headroom >= needed {
            continue;
        }
        let key = if headroom == shared { "ingress.pool" } else { "pause.headroom" };
        places.push(format!("links.{}.{key}", link.name));
        if shortest.is_none_or(|(_, most, _)| needed > most) {
            shortest = Some((headroom, needed, info.packet_bytes));
        }
    }
    let warning = shortest.map(|(headroom, needed, packet)| {
        let place = list(&places);
        let text = format!(
            "{place}: {headroom} B of headroom, and up to {needed} B arrive from a busy link until its \
             sender has stopped: the rest of a packet of {packet} B that crosses the threshold, cable both \
             ways, pause frame, response time and a packet that the sender has just begun. Packets may be \
             dropped in spite of the pause frames: raise it to {needed} B"
        );
        let values = [("headroom_bytes", headroom as f64), ("needed_bytes", needed as f64)];
        Warning::new(WarningKind::ShortHeadroom, place, &values, text)
    });
    warning.into_iter().collect()
}

/// Queues that are full before the switch asks for a pause of a link that leads to them.
pub(super) fn short_limits(run: &FinishedRun<'_>) -> Vec<Warning> {
    let links = &run.network.links;
    let mut most = BTreeMap::new();
    for (index, link) in links.iter().enumerate() {
        let Some(pause) = link.pause else { continue };
        for next in run.network.links_behind(index) {
            let xoff: &mut u64 = most.entry(next).or_default();
            *xoff = pause.xoff.bytes().max(*xoff);
        }
    }
    if most.is_empty() {
        return Vec::new();
    }
    let facts = run.network.link_facts();
    let short = most.into_iter().map(|(next, xoff)| (next, xoff, room(run, next, &facts[next])));
    let mut short: Vec<_> = short.filter(|(_, xoff, room)| room < xoff).collect();
    short.sort_by_key(|(_, _, room)| *room);
    let warning = short.first().map(|(_, xoff, room)| {
        let places = short.iter().map(|(next, ..)| format!("links.{}.queue.limit", links[*next].name));
        let place = list(&places.collect::<Vec<_>>());
        let text = format!(
            "{place}: room for {room} B, and the switch asks for a pause of a link that leads there at \
             {xoff} B: packets are dropped before it does. Raise the limit above xoff and headroom of all \
             links that lead there, or lower xoff"
        );
        let values = [("limit_bytes", *room as f64), ("xoff_bytes", *xoff as f64)];
        Warning::new(WarningKind::ShortLimit, place, &values, text)
    });
    warning.into_iter().collect()
}

/// The most bytes that the queue of a link holds.
fn room(run: &FinishedRun<'_>, link: usize, facts: &LinkInfo) -> u64 {
    let spec = &run.network.links[link];
    match spec.limit(spec.queue.parameters().limit()) {
        Limit::Packets(packets) => packets.saturating_mul(facts.packet_bytes.into()),
        Limit::Bytes(bytes) => bytes,
    }
}
