//! The smallest RTT of each round trip, and how many packets a window keeps queued by it.

use super::{AckEvent, Rounds};
use crate::units::Time;

/// With fewer samples in a round trip, all of them may come from delayed ACKs.
const MIN_SAMPLES: u32 = 3; // Linux tcp_vegas.c: more than 2

/// What an ACK tells about its round trip.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Round {
    /// It goes on.
    Running,
    /// It is over, but too few samples were taken.
    Unmeasured,
    /// It is over; this was its smallest RTT.
    Measured(Time),
}

/// Finds the smallest RTT of each round trip: the minimum hides delayed ACKs and short bursts.
#[derive(Debug)]
pub(super) struct RoundRtt {
    rounds: Rounds,
    min: Time,
    samples: u32,
}

impl RoundRtt {
    /// Before the first ACK.
    pub(super) fn new() -> Self {
        RoundRtt { rounds: Rounds::default(), min: Time::NEVER, samples: 0 }
    }

    /// Takes the sample of an ACK.
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

    /// Drops the samples so far: what comes after a loss is another round trip.
    pub(super) fn forget(&mut self) {
        (self.min, self.samples) = (Time::NEVER, 0);
    }
}

/// Packets of a window that wait in queues: those that `base`, the RTT without queues, would not
/// hold at the rate `window / rtt` (Brakmo and Peterson 1995: `(Expected - Actual) x BaseRTT`).
pub(super) fn backlog(window: f64, rtt: Time, base: Time) -> f64 {
    if rtt == Time::ZERO {
        return 0.0;
    }
    window * rtt.since(base).picoseconds() as f64 / rtt.picoseconds() as f64
}
