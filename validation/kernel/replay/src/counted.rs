//! The window in whole packets, as the kernel counts it.
//!
//! tailroom's control says by how much the window grows; the kernel's sender holds a whole number of
//! packets and counts the growth until it is a packet. The count is the host's, the growth and the
//! answer to congestion are the control's. Both sides begin with the same window, and the replay goes
//! on from its own.

use crate::law::Law;
use crate::outcome::Outcome;
use crate::trace::{Callback, Description, Kind, Trace};

/// Smallest ssthresh, in packets (RFC 5681 sec. 3.1).
const MIN_SSTHRESH: u64 = 2;
/// Counts this close to a whole number are that number: what float arithmetic leaves of 1 / w times
/// w differs from 1 by 1e-11 at the windows of the traces.
const ROUNDING: f64 = 1e-6;
/// Two windows of whole packets that differ by less are equal.
const HALF: f64 = 0.5;

/// A host that counts in whole packets.
#[derive(Debug)]
struct Host {
    law: Law,
    goal_at_most: u64,
    count_unit: f64,
    cwnd: u64,
    ssthresh: u64,
    count: f64,
}

/// Replays a trace in whole packets.
///
/// # Errors
/// The trace names a control that has no window law.
pub fn replay(trace: &Trace) -> Result<Outcome, String> {
    let law = Law::new(&trace.description.tailroom)?;
    let mut host = Host::new(law, &trace.description);
    let mut outcome = Outcome::default();
    let mut last: Option<&Callback> = None;
    for (at, callback) in trace.begun() {
        if callback.kind.is_about_window() {
            match last {
                Some(last) => outcome.taken_over += u64::from(host.between(last, callback)),
                None => host.take_over(callback),
            }
            last = Some(callback);
        }
        if let Some(sides) = host.answer(callback) {
            outcome.compare(at, callback, sides.map(|side| side as f64), HALF);
        }
    }
    Ok(outcome)
}

impl Host {
    fn new(law: Law, description: &Description) -> Self {
        Host {
            law,
            goal_at_most: description.goal_at_most.unwrap_or(u64::MAX),
            count_unit: description.count_unit,
            cwnd: 0,
            ssthresh: 0,
            count: 0.0,
        }
    }

    fn take_over(&mut self, callback: &Callback) {
        (self.cwnd, self.ssthresh) = (callback.cwnd, callback.ssthresh);
        self.count = callback.count as f64 * self.count_unit;
    }

    /// What the kernel's sender did by itself between two callbacks. The end of a recovery sets the
    /// window to ssthresh, here to that of tailroom. Whether it set another window, which the replay
    /// takes over.
    fn between(&mut self, last: &Callback, callback: &Callback) -> bool {
        if callback.count != last.count_after {
            self.count = callback.count as f64 * self.count_unit;
        }
        if callback.ssthresh != last.ssthresh_after && last.kind != Kind::Congestion {
            self.ssthresh = callback.ssthresh;
        }
        if callback.cwnd == last.cwnd_after {
            return false;
        }
        let is_recovered = callback.cwnd == callback.ssthresh;
        self.cwnd = if is_recovered { self.ssthresh } else { callback.cwnd };
        !is_recovered
    }

    /// Answers a callback; the kernel's and tailroom's number, if there is one.
    fn answer(&mut self, callback: &Callback) -> Option<[u64; 2]> {
        match callback.kind {
            Kind::Avoid => {
                self.avoid(callback);
                Some([callback.cwnd_after, self.cwnd])
            }
            Kind::Congestion => {
                let is_slow_start = self.cwnd < self.ssthresh;
                let left = self.law.reduce(self.cwnd as f64, callback, is_slow_start);
                self.ssthresh = (left as u64).max(MIN_SSTHRESH);
                Some([callback.answer, self.ssthresh])
            }
            Kind::Sample => {
                self.law.note(callback);
                if callback.ssthresh_after != callback.ssthresh {
                    self.ssthresh = callback.ssthresh_after; // HyStart, which is the sender's here
                }
                None
            }
            Kind::Init | Kind::Undo | Kind::State | Kind::Event | Kind::Rate => None,
        }
    }

    fn avoid(&mut self, callback: &Callback) {
        if !callback.is_limited {
            return;
        }
        if self.cwnd < self.ssthresh && self.law.has_own_slow_start() {
            self.own_slow_start(callback);
            return;
        }
        let room = self.ssthresh.saturating_sub(self.cwnd);
        let used = callback.acked.min(room);
        self.cwnd += used;
        if callback.acked > used {
            self.grow(callback, callback.acked - used);
        }
    }

    fn own_slow_start(&mut self, callback: &Callback) {
        let grown = self.law.grow(self.cwnd as f64, callback, callback.acked, true);
        self.cwnd = (grown as u64).min(self.ssthresh);
        if self.law.ends_slow_start() {
            self.ssthresh = self.cwnd.max(MIN_SSTHRESH);
        }
    }

    /// Counts the growth of the control: the window grows by a packet when the count has reached its
    /// goal.
    fn grow(&mut self, callback: &Callback, acked: u64) {
        let cwnd = self.cwnd as f64;
        let growth = self.law.grow(cwnd, callback, acked, false) - cwnd;
        if growth < 0.0 {
            // A law that moves by whole packets; that it shrinks begins no slow start.
            self.cwnd = (cwnd + growth) as u64;
            self.ssthresh = self.ssthresh.min(self.cwnd).max(MIN_SSTHRESH);
            return;
        }
        let goal = self.cwnd.min(self.goal_at_most) as f64;
        let credit = growth * goal;
        let whole = credit.round();
        self.count += if (credit - whole).abs() < ROUNDING { whole } else { credit };
        if self.count >= goal {
            let packets = (self.count / goal).floor();
            self.count -= packets * goal;
            self.cwnd += packets as u64;
        }
    }
}
