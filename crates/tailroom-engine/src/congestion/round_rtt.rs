//! The smallest RTT of each round trip, and the number of queued packets that follows from it.

use super::{AckEvent, Rounds};
use crate::units::Time;

/// Smallest number of samples per round trip: with fewer, all of them may be from delayed ACKs.
const MIN_SAMPLES: u32 = 3; // Linux tcp_vegas.c: more than 2

/// State of the round trip after an ACK.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Round {
    /// The round trip continues.
    Running,
    /// The round trip is over, with too few samples.
    Unmeasured,
    /// The round trip is over; the value is its smallest RTT.
    Measured(Time),
}

/// Measures the smallest RTT of each round trip, which excludes the effect of delayed ACKs and
/// short bursts.
#[derive(Clone, Debug)]
pub(super) struct RoundRtt {
    rounds: Rounds,
    min: Time,
    samples: u32,
}

impl RoundRtt {
    /// Creates the state before the first ACK.
    pub(super) fn new() -> Self {
        RoundRtt { rounds: Rounds::default(), min: Time::NEVER, samples: 0 }
    }

    /// Adds the RTT sample of an ACK.
    #[inline]
    pub(super) fn on_ack(&mut self, event: &AckEvent) -> Round {
        if let Some(rtt) = event.rtt {
            self.min = self.min.min(rtt);
            self.samples += 1;
        }
        if !self.rounds.is_over(event) {
            return Round::Running;
        }
        let is_measured = self.samples >= MIN_SAMPLES;
        let min = self.min;
        self.forget();
        if is_measured { Round::Measured(min) } else { Round::Unmeasured }
    }

    /// Discards the samples so far. Called after a loss, since samples from before and after it
    /// must not be mixed.
    pub(super) fn forget(&mut self) {
        (self.min, self.samples) = (Time::NEVER, 0);
    }
}

/// Packets of a window that are queued: the window minus the packets in flight at the rate
/// `window / rtt` over `base`, the RTT without queueing delay (Brakmo and Peterson 1995:
/// `(Expected - Actual) x BaseRTT`).
pub(super) fn backlog(window: f64, rtt: Time, base: Time) -> f64 {
    if rtt == Time::ZERO {
        return 0.0;
    }
    window * rtt.since(base).picoseconds() as f64 / rtt.picoseconds() as f64
}
