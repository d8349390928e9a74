//! Warnings about links with pause frames.

use std::collections::BTreeMap;

use super::deadlock::{Deadlock, deadlock};
use super::finished_run::FinishedRun;
use super::warning::{Warning, WarningKind, list};
use crate::link::LinkSpec;
use crate::link::pause::PauseSpec;
use crate::link::serializer::Serializer;
use crate::quantity::Duration;
use crate::queue::LinkInfo;
use crate::units::{Rate, Time, float};

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

/// Links whose headroom is less than what may arrive until the sender has stopped, one warning for each
/// place where headroom may be short.
pub(super) fn short_headrooms(run: &FinishedRun<'_>) -> Vec<Warning> {
    if run.network.links.iter().all(|link| link.pause.is_none()) {
        return Vec::new();
    }
    let facts = run.network.link_facts();
    let mut short: BTreeMap<Headroom, (Vec<String>, Short)> = BTreeMap::new();
    for (link, info) in run.network.links.iter().zip(&facts) {
        let Some(pause) = link.pause else { continue };
        let waits = longest_wait(run, &facts, link);
        let needed =
            pause.least_headroom_bytes(fastest(link), longest(link), info.packet_bytes, waits);
        let (headroom, place) = least_headroom(run, link, pause);
        if headroom >= needed {
            continue;
        }
        let found = Short { headroom, needed, packet: info.packet_bytes, waits };
        let (places, worst) = short.entry(place).or_insert((Vec::new(), found));
        places.push(format!("links.{}.{}", link.name, place.key()));
        if found.needed > worst.needed {
            *worst = found;
        }
    }
    short.into_iter().map(|(place, (places, worst))| worst.warning(place, &places)).collect()
}

/// For how long a pause frame for a link waits at most: the largest packet of the links that share a line with
/// the one over which it travels.
fn longest_wait(run: &FinishedRun<'_>, facts: &[LinkInfo], link: &LinkSpec) -> Time {
    let Some(over) = link.pause_frames_over else { return Time::ZERO };
    let links = &run.network.links;
    let line_of = |link: usize| links[link].line.as_ref().map(|line| line.name.as_str());
    let shares = |other: usize| {
        other == over || (line_of(over).is_some() && line_of(other) == line_of(over))
    };
    let sizes =
        (0..links.len()).filter(|&other| shares(other)).map(|other| facts[other].packet_bytes);
    Serializer::constant(slowest(&links[over])).nominal_time(sizes.max().unwrap_or(0))
}

/// The highest rate that a link has by its schedule: most arrives at it until the sender has stopped.
fn fastest(link: &LinkSpec) -> Rate {
    link.rate_changes.iter().map(|change| change.rate).fold(link.rate, Ord::max)
}

/// The longest delay that it has.
fn longest(link: &LinkSpec) -> Time {
    link.delay_changes.iter().map(|change| change.delay).fold(link.delay, Ord::max)
}

/// The lowest rate at which it sends.
fn slowest(link: &LinkSpec) -> Rate {
    let rates = link.rate_changes.iter().map(|change| change.rate);
    rates.filter(|rate| rate.bits_per_second() > 0).fold(link.rate, Ord::min)
}

/// Where the headroom of a link lies.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Headroom {
    OfLink,
    OutsidePool,
    InPool,
}

impl Headroom {
    fn key(self) -> &'static str {
        if self == Headroom::OfLink { "pause.headroom" } else { "ingress.pool" }
    }
}

/// The headroom of a link whose neighbours take none, in bytes, and where it is the least.
fn least_headroom(run: &FinishedRun<'_>, link: &LinkSpec, pause: PauseSpec) -> (u64, Headroom) {
    let own = (pause.headroom.bytes(), Headroom::OfLink);
    let Some(member) = link.ingress else { return own };
    let pool = &run.network.ingress_pools[member.pool];
    let outside = pool.headroom.map(|size| (size.bytes(), Headroom::OutsidePool));
    // At its threshold T = alpha (B - T) the link leaves B - T free.
    let free = float(pool.size.bytes()) / (1.0 + member.alpha);
    let inside = pool.includes_headroom.then_some((free as u64, Headroom::InPool));
    [outside, inside].into_iter().flatten().fold(own, Ord::min)
}

/// What a link has of headroom, and what it needs.
#[derive(Clone, Copy, Debug)]
struct Short {
    headroom: u64,
    needed: u64,
    packet: u32,
    /// For how long the pause frame waits at most.
    waits: Time,
}

impl Short {
    fn warning(self, at: Headroom, places: &[String]) -> Warning {
        let Short { headroom, needed, packet, waits } = self;
        let behind =
            if waits > Time::ZERO { " behind a packet of the other direction" } else { "" };
        let place = list(places);
        let (has, remedy) = match at {
            Headroom::OfLink => {
                (format!("{headroom} B of headroom"), format!("raise it to {needed} B"))
            }
            Headroom::OutsidePool => (
                format!("the pool has {headroom} B of headroom for all its links"),
                format!(
                    "raise `headroom` of the pool to {needed} B for each link that may be paused at once"
                ),
            ),
            Headroom::InPool => (
                format!(
                    "a link at its threshold leaves {headroom} B of the pool free, which are its headroom"
                ),
                "raise `size` of the pool or lower `alpha`".to_owned(),
            ),
        };
        let text = format!(
            "{place}: {has}, and up to {needed} B arrive from a busy link until its sender has stopped: the \
             rest of a packet of {packet} B that crosses the threshold, cable both ways, pause frame{behind}, \
             response time and a packet that the sender has just begun. Packets may be dropped in spite of \
             the pause frames: {remedy}"
        );
        let values = [("headroom_bytes", headroom as f64), ("needed_bytes", needed as f64)];
        Warning::new(WarningKind::ShortHeadroom, place, &values, text)
    }
}
