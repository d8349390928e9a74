//! LEDBAT (RFC 6817): grows while the queueing delay is below a target and shrinks above it, no
//! faster than Reno either way, so that it gives way to flows that fill the queue.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{AckEvent, CongestionEvent, ControlParameters, SteadyState, WindowLaw};
use crate::parameters::{BadParameter, check};
use crate::quantity::PositiveDuration;
use crate::units::Time;

/// Parameters of LEDBAT; defaults as RFC 6817 sec. 2.5.
///
/// The RFC measures the delay one way; here it is the RTT, so that a queue on the way back or an ACK
/// that is delayed counts too. Slow start is the scenario's: a flow that should have none, as the
/// RFC's pseudo-code, takes `initial_ssthresh = 2`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct LedbatParams {
    /// The queueing delay to keep (100 ms, the most that the RFC allows).
    pub target: PositiveDuration,
    /// Packets that the window grows by in a round trip without queueing delay (1, the most that the
    /// RFC allows).
    #[schemars(range(max = 1.0), extend("exclusiveMinimum" = 0.0))]
    pub gain: f64,
    /// For how many minutes the smallest delay is remembered (10): a longer path shows by then.
    #[schemars(range(min = 1, max = 1440))]
    pub base_history: u32,
    /// The delay is the smallest of so many samples (4, as ns-3; the RFC asks for at least 1).
    #[schemars(range(min = 1, max = 1000))]
    pub noise_filter: u32,
}

impl Default for LedbatParams {
    fn default() -> Self {
        let target = PositiveDuration::new(Time::from_milliseconds(100).picoseconds());
        LedbatParams { target, gain: 1.0, base_history: 10, noise_filter: 4 }
    }
}

impl ControlParameters for LedbatParams {
    fn is_loss_based(&self) -> bool {
        false
    }

    fn validate(&self) -> Result<(), BadParameter> {
        let is_weight = 0.0 < self.gain && self.gain <= 1.0;
        check("gain", self.gain, is_weight, "more than 0 and at most 1")?;
        let (minutes, samples) = (self.base_history, self.noise_filter);
        let is_history = (1..=1440).contains(&minutes);
        check("base_history", minutes, is_history, "at least 1 and at most 1440 minutes")?;
        let is_filter = (1..=1000).contains(&samples);
        check("noise_filter", samples, is_filter, "at least 1 and at most 1000 samples")
    }

    fn steady_state(&self) -> SteadyState {
        SteadyState::MaySettle
    }
}

/// A running LEDBAT.
#[derive(Debug)]
pub struct Ledbat {
    target: f64,
    gain: f64,
    /// The smallest delay of each of the last minutes, in a ring.
    minutes: Box<[Time]>,
    minute: usize,
    minute_end: Time,
    /// The smallest of `minutes`.
    base: Time,
    /// The last samples, in a ring.
    recent: Box<[Time]>,
    last: usize,
}

const MIN_WINDOW: f64 = 2.0; // RFC 6817 sec. 2.5, MIN_CWND
const MINUTE: Time = Time::from_milliseconds(60_000);

impl Ledbat {
    /// Starts the control.
    pub fn new(params: &LedbatParams) -> Self {
        let ring = |length: u32| vec![Time::NEVER; length.max(1) as usize].into_boxed_slice();
        Ledbat {
            target: params.target.time().picoseconds() as f64,
            gain: params.gain,
            minutes: ring(params.base_history),
            minute: 0,
            minute_end: Time::ZERO,
            base: Time::NEVER,
            recent: ring(params.noise_filter),
            last: 0,
        }
    }

    /// RFC 6817 sec. 2.4.2, `update_base_delay`.
    fn update_base(&mut self, now: Time, delay: Time) {
        if now >= self.minute_end {
            // Minutes are those of the clock, as the RFC's round_to_minute.
            let minutes = now.picoseconds() / MINUTE.picoseconds();
            self.minute_end = Time::from_picoseconds(minutes * MINUTE.picoseconds()) + MINUTE;
            self.minute = (self.minute + 1) % self.minutes.len();
            self.minutes[self.minute] = delay;
            self.base = self.minutes.iter().copied().min().unwrap_or(delay);
        } else if delay < self.minutes[self.minute] {
            self.minutes[self.minute] = delay;
            self.base = self.base.min(delay);
        }
    }

    /// The queueing delay after another sample.
    fn queueing_delay(&mut self, now: Time, delay: Time) -> Time {
        self.update_base(now, delay);
        self.last = (self.last + 1) % self.recent.len();
        self.recent[self.last] = delay;
        self.recent.iter().copied().min().unwrap_or(delay).since(self.base)
    }
}

impl WindowLaw for Ledbat {
    #[inline]
    fn on_ack(&mut self, cwnd_packets: f64, event: &AckEvent) -> f64 {
        let Some(rtt) = event.rtt else {
            return cwnd_packets;
        };
        if self.base == Time::NEVER {
            // The sender's slow start has seen the path with an empty queue.
            self.update_base(event.now, event.min_rtt);
        }
        let queueing_delay = self.queueing_delay(event.now, rtt).picoseconds() as f64;
        let off_target = 1.0 - queueing_delay / self.target;
        // RFC 6817 sec. 2.4.2. Its bound by what is in flight is the sender's: a window that does not
        // limit the flow is not asked for.
        let change = self.gain * off_target * event.acked_packets as f64 / cwnd_packets;
        (cwnd_packets + change).max(MIN_WINDOW)
    }

    fn on_congestion(&mut self, event: &CongestionEvent) -> f64 {
        0.5 * event.cwnd_packets // RFC 6817 sec. 2.4.2
    }
}

#[cfg(test)]
mod tests {
    use super::super::CongestionKind;
    use super::super::script::{Script, assert_close, ms};
    use super::*;

    /// A control that knows 50 ms without queues and whose last four samples are `rtt`.
    fn settled(rtt: Time) -> (Ledbat, Script) {
        let (mut ledbat, mut script) = (Ledbat::new(&LedbatParams::default()), Script::new());
        script.ack(&mut ledbat, 100.0, ms(50.0));
        for _ in 0..4 {
            script.ack(&mut ledbat, 100.0, rtt);
        }
        (ledbat, script)
    }

    #[test]
    fn the_window_moves_in_proportion_to_the_distance_from_the_target() {
        // An ACK at a window of 100 adds (100 ms - queueing delay) / 100 ms / 100.
        for (rtt_ms, change) in
            [(50.0, 0.01), (75.0, 0.0075), (150.0, 0.0), (200.0, -0.005), (350.0, -0.02)]
        {
            let (mut ledbat, mut script) = settled(ms(rtt_ms));
            assert_close(script.ack(&mut ledbat, 100.0, ms(rtt_ms)), 100.0 + change);
        }
    }

    #[test]
    fn two_packets_are_the_smallest_window() {
        let (mut ledbat, mut script) = settled(ms(2_000.0));
        assert_close(script.ack(&mut ledbat, 3.0, ms(2_000.0)), 2.0); // 3 - 18.5 / 3 without
    }

    #[test]
    fn the_smallest_of_four_samples_counts() {
        let (mut ledbat, mut script) = settled(ms(100.0));
        for _ in 0..3 {
            // Three at 400 ms do not hide the fourth at 100: half the target, half a packet a window.
            assert_close(script.ack(&mut ledbat, 100.0, ms(400.0)), 100.005);
        }
        assert_close(script.ack(&mut ledbat, 100.0, ms(400.0)), 100.0 - 0.025);
    }

    #[test]
    fn the_smallest_delay_is_forgotten_after_ten_minutes() {
        let (mut ledbat, mut script) = settled(ms(150.0));
        for minute in 1..10 {
            script.event.now = Time::from_milliseconds(60_000 * minute);
            assert_close(script.ack(&mut ledbat, 100.0, ms(150.0)), 100.0);
        }
        // The path is longer by 100 ms and the queue empty: so it looks in the eleventh minute.
        script.event.now = Time::from_milliseconds(600_000);
        assert_close(script.ack(&mut ledbat, 100.0, ms(150.0)), 100.01);
    }

    #[test]
    fn the_smallest_rtt_of_slow_start_is_known() {
        let (mut ledbat, mut script) = (Ledbat::new(&LedbatParams::default()), Script::new());
        script.event.min_rtt = ms(50.0);
        assert_close(script.ack(&mut ledbat, 100.0, ms(250.0)), 100.0 - 0.01);
    }

    #[test]
    fn congestion_halves_the_window() {
        let (mut ledbat, script) = settled(ms(50.0));
        for kind in [CongestionKind::Loss, CongestionKind::Mark, CongestionKind::Timeout] {
            assert_close(script.congestion(&mut ledbat, 50.0, kind), 25.0);
        }
    }

    #[test]
    fn contradictory_parameters_are_refused() {
        let default = LedbatParams::default;
        assert!(default().validate().is_ok());
        assert!(LedbatParams { gain: 1.1, ..default() }.validate().is_err());
        assert!(LedbatParams { base_history: 0, ..default() }.validate().is_err());
        assert!(LedbatParams { noise_filter: 0, ..default() }.validate().is_err());
    }
}
