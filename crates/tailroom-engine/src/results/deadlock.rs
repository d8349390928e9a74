//! Deadlocks of paused links: links of which none can resume before another of them does.

use super::finished_run::FinishedRun;
use crate::units::Time;

/// Links that wait for one another.
#[derive(Debug)]
pub(super) struct Deadlock {
    /// A cycle of links: packets of each wait for the next, and those of the last for the first.
    pub(super) cycle: Vec<usize>,
    /// Since when all of them are paused.
    pub(super) since: Time,
    /// Number of links that stand still for good, those of the cycle and those that wait for them.
    pub(super) links: usize,
}

/// The deadlock at the end of a run, if there is one.
///
/// A paused link is stuck if more of its bytes than `xon` wait at links that are stuck: it resumes only
/// after one of these has sent. The largest set of such links is what remains of the paused links when
/// those that are not stuck are taken away one after another.
pub(super) fn deadlock(run: &FinishedRun<'_>) -> Option<Deadlock> {
    let mut is_stuck: Vec<bool> =
        run.links.iter().map(|link| link.stopped_since().is_some()).collect();
    let xon = |link: usize| run.network.links[link].pause.map_or(u64::MAX, |it| it.xon.bytes());
    loop {
        let mut behind_stuck = vec![0; is_stuck.len()];
        for one in run.waiting.iter().filter(|one| is_stuck[one.at]) {
            behind_stuck[one.ingress] += one.bytes;
        }
        let frees = |link: &usize| is_stuck[*link] && behind_stuck[*link] <= xon(*link);
        let open: Vec<usize> = (0..is_stuck.len()).filter(frees).collect();
        if open.is_empty() {
            break;
        }
        for link in open {
            is_stuck[link] = false;
        }
    }
    let first = is_stuck.iter().position(|stuck| *stuck)?;
    let cycle = cycle_from(first, |link| {
        let waiting = run.waiting.iter().filter(|one| one.ingress == link && is_stuck[one.at]);
        waiting.max_by_key(|one| one.bytes).map(|one| one.at)
    });
    let since = cycle.iter().filter_map(|&link| run.links[link].stopped_since()).max()?;
    Some(Deadlock { cycle, since, links: is_stuck.iter().filter(|stuck| **stuck).count() })
}

/// The cycle in which one comes to go round if each step leads to `next`; it begins with its lowest
/// index.
fn cycle_from(first: usize, next: impl Fn(usize) -> Option<usize>) -> Vec<usize> {
    let mut path = vec![first];
    while let Some(link) = path.last().and_then(|&link| next(link)) {
        if let Some(start) = path.iter().position(|&before| before == link) {
            path.drain(..start);
            break;
        }
        path.push(link);
    }
    let lowest = path.iter().enumerate().min_by_key(|(_, link)| **link).map_or(0, |(at, _)| at);
    path.rotate_left(lowest);
    path
}
