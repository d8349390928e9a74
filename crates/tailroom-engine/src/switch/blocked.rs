//! Head-of-line blocking: for how long links are free while packets for them wait at paused links.
//!
//! A link is free when it would send a packet that arrived at once. When it becomes free is known
//! before, and is no event: the time is counted when a packet reaches the link, when another link of its
//! line sends, and when the paused links that hold packets for it become one more or one less.

use super::Switch;
use crate::link::Link;
use crate::network::Network;
use crate::packet::transit::Transit;
use crate::units::Time;

/// The packets that wait at links which may be paused, and the links for which they wait.
#[derive(Clone, Debug)]
pub(super) struct Blocking {
    /// By link that may be paused, the links behind it, in order, each with the number of packets for
    /// it that wait.
    behind: Vec<Vec<(usize, u64)>>,
    /// By link.
    blocked: Vec<Blocked>,
}

/// For how long a link was blocked.
#[derive(Clone, Copy, Debug, Default)]
struct Blocked {
    /// Number of paused links that hold packets for it.
    holders: u32,
    /// Up to when the time is counted, while there are such links.
    counted_to: Time,
    /// In the measured window.
    time: Time,
}

impl Blocked {
    #[inline]
    fn count(&mut self, link: &Link, now: Time) {
        if self.holders > 0 {
            self.count_while_held(link, now);
        }
    }

    #[inline(never)]
    fn count_while_held(&mut self, link: &Link, now: Time) {
        if let Some(free_since) = link.free_since() {
            let blocked = now.since(free_since.max(self.counted_to));
            self.time = self.time.saturating_add(blocked);
        }
        self.counted_to = now;
    }

    /// One more or one less paused link holds packets for the link.
    fn change_holders(&mut self, link: &Link, now: Time, is_more: bool) {
        self.count(link, now);
        self.counted_to = now;
        self.holders = if is_more { self.holders + 1 } else { self.holders - 1 };
    }
}

impl Blocking {
    pub(super) fn new(network: &Network) -> Self {
        let behind = network.links.iter().enumerate().map(|(link, spec)| {
            let behind = spec.pause.map(|_| network.links_behind(link));
            let mut behind: Vec<(usize, u64)> =
                behind.into_iter().flatten().map(|next| (next, 0)).collect();
            behind.sort_unstable();
            behind.dedup();
            behind
        });
        let behind: Vec<_> = behind.collect();
        Blocking { blocked: vec![Blocked::default(); behind.len()], behind }
    }

    /// Counts for how long a link was blocked, before something happens to it at `now`.
    pub(super) fn count(&mut self, link: usize, links: &[Link], now: Time) {
        self.blocked[link].count(&links[link], now);
    }

    /// Starts the statistics at `now`.
    pub(super) fn begin_measuring(&mut self, links: &[Link], now: Time) {
        for (blocked, link) in self.blocked.iter_mut().zip(links) {
            blocked.count(link, now);
            blocked.time = Time::ZERO;
        }
    }

    /// For how long each link was blocked in the measured window, which ends at `now`.
    pub(super) fn times(&mut self, links: &[Link], now: Time) -> Vec<Time> {
        let all = self.blocked.iter_mut().zip(links);
        all.map(|(blocked, link)| {
            blocked.count(link, now);
            blocked.time
        })
        .collect()
    }

    /// A packet for `next` begins to wait at a link, or ends.
    fn change(&mut self, at: usize, next: usize, links: &[Link], now: Time, is_more: bool) {
        let Ok(place) = self.behind[at].binary_search_by_key(&next, |(link, _)| *link) else {
            return;
        };
        let packets = &mut self.behind[at][place].1;
        let is_edge = *packets == u64::from(!is_more);
        *packets = if is_more { *packets + 1 } else { *packets - 1 };
        if is_edge && links[at].is_stopped() {
            self.blocked[next].change_holders(&links[next], now, is_more);
        }
    }
}

impl Switch {
    /// As [`Blocking::count`].
    #[inline]
    pub(super) fn count_blocked(&mut self, link: usize, now: Time) {
        self.blocking.count(link, &self.links, now);
    }

    /// Counts for how long a link was blocked, before it serves a packet, stops or resumes at `now`.
    /// Returns whether the link is stopped. Out of line, as few networks pause.
    #[inline(never)]
    pub(super) fn count_before_service(&mut self, link: usize, now: Time) -> bool {
        self.count_blocked(link, now);
        self.links[link].is_stopped()
    }

    /// A packet begins to wait at a link, or ends.
    #[inline]
    pub(super) fn note_wait(&mut self, at: usize, packet: Transit, now: Time, begins: bool) {
        if self.links[at].has_pause() {
            self.change_waiting(at, packet, now, begins);
        }
    }

    #[inline(never)]
    fn change_waiting(&mut self, at: usize, packet: Transit, now: Time, begins: bool) {
        if let Some(next) = self.routes.link_after(packet) {
            self.blocking.change(at, next, &self.links, now, begins);
        }
    }

    /// A link has been stopped or has resumed, if it was not before what it now is.
    #[inline(never)]
    pub(super) fn note_gate(&mut self, link: usize, was_stopped: bool, now: Time) {
        let Switch { blocking: Blocking { behind, blocked }, links, .. } = self;
        let is_stopped = links[link].is_stopped();
        if is_stopped == was_stopped {
            return;
        }
        for (next, _) in behind[link].iter().filter(|(_, packets)| *packets > 0) {
            blocked[*next].change_holders(&links[*next], now, is_stopped);
        }
    }
}
