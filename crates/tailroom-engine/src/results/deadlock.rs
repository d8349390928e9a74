//! Deadlocks of paused links: links of which none can resume before another of them does.

use super::finished_run::FinishedRun;
use crate::link::ingress_pool::Free;
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
/// A paused link is stuck if more of its bytes than those at which it resumes wait at links that are
/// stuck: it resumes only after one of these has sent. The largest set of such links is what remains of the paused links when
/// those that are not stuck are taken away one after another.
pub(super) fn deadlock(run: &FinishedRun<'_>) -> Option<Deadlock> {
    let mut is_stuck: Vec<bool> =
        run.links.iter().map(|link| link.stopped_since().is_some()).collect();
    loop {
        let mut behind_stuck = vec![0; is_stuck.len()];
        for one in run.waiting.iter().filter(|one| is_stuck[one.at]) {
            behind_stuck[one.ingress] += one.bytes;
        }
        let frees = |link: &usize| {
            let at = run.links[*link].resumes_at(free_at_last(run, *link, &behind_stuck));
            is_stuck[*link] && behind_stuck[*link] <= at
        };
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

/// What is free for the ingress of a link when nothing waits in switches but these bytes by link, and the
/// others have left, which frees headroom first.
fn free_at_last(run: &FinishedRun<'_>, link: usize, waiting: &[u64]) -> Free {
    let specs = &run.network.links;
    let Some(member) = specs[link].ingress else { return Free::OWN };
    let pool = &run.network.ingress_pools[member.pool];
    let is_member = |other: &usize| specs[*other].ingress.is_some_and(|it| it.pool == member.pool);
    let shared = (0..specs.len()).filter(is_member).map(|other| {
        let link = &run.links[other];
        let left = link.waiting_in_switch() - waiting[other];
        let outside = if pool.includes_headroom { 0 } else { link.occupied_in_switch().headroom };
        let headroom = outside.saturating_sub(left);
        let own = specs[other].pause.map_or(0, |pause| pause.xoff.bytes());
        waiting[other].saturating_sub(headroom + own)
    });
    Free { shared: pool.size.bytes().saturating_sub(shared.sum()), ..Free::OWN }
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
