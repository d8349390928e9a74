//! LEDBAT (RFC 6817): the window grows while the queueing delay is below a target and shrinks
//! above it, so that the flow yields to flows that fill the queue. It never grows faster than
//! Reno.

use super::{AckEvent, CongestionEvent, ControlParameters, SteadyState, WindowLaw};
use crate::derives::{Deserialize, JsonSchema, Ranges, Serialize};
use crate::quantity::PositiveDuration;
use crate::units::Time;

/// Parameters of LEDBAT; defaults as in RFC 6817 sec. 2.5.
///
/// The RFC measures the one-way delay; here the delay is the RTT, which includes queues on the
/// reverse path and delayed ACKs. Slow start is that of the group; set `initial_ssthresh = 2` to
/// switch it off, as in the RFC's pseudo-code.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema, Ranges)]
#[serde(default, deny_unknown_fields)]
#[non_exhaustive]
pub struct LedbatParams {
    /// Target of the queueing delay (RFC 6817: at most 100 ms, the default).
    pub target: PositiveDuration,
    /// Growth of the window without queueing delay, in packets per round trip (RFC 6817: at most
    /// 1, the default).
    #[schemars(range(max = 1.0), extend("exclusiveMinimum" = 0.0))]
    pub gain: f64,
    /// Time over which the smallest delay is taken, in minutes (RFC 6817: 10). A path that has
    /// become longer is recognised after this time.
    #[schemars(range(min = 1, max = 1440))]
    pub base_history: u32,
    /// Number of RTT samples whose minimum is the current delay (ns-3: 4; RFC 6817: at least 1).
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
    fn steady_state(&self) -> SteadyState {
        SteadyState::MaySettle
    }
}

/// The state of LEDBAT for one flow.
#[derive(Clone, Debug)]
pub struct Ledbat {
    target: f64,
    gain: f64,
    /// The smallest delay in each of the last minutes, as a ring buffer.
    minutes: Box<[Time]>,
    minute: usize,
    minute_end: Time,
    /// The minimum of `minutes`.
    base: Time,
    /// The last samples, as a ring buffer.
    recent: Box<[Time]>,
    last: usize,
}

const MIN_WINDOW: f64 = 2.0; // RFC 6817 sec. 2.5, MIN_CWND
const MINUTE: Time = Time::from_milliseconds(60_000);

impl Ledbat {
    /// Creates the control in its initial state.
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

    /// Adds a delay to the history of minima (RFC 6817 sec. 2.4.2, `update_base_delay`).
    fn update_base(&mut self, now: Time, delay: Time) {
        if now >= self.minute_end {
            // Minutes start at multiples of 60 s, as with the RFC's round_to_minute.
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

    /// Adds a sample and returns the queueing delay.
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
            // The RTTs of slow start include some without queueing delay.
            self.update_base(event.now, event.min_rtt);
        }
        let queueing_delay = self.queueing_delay(event.now, rtt).picoseconds() as f64;
        let off_target = 1.0 - queueing_delay / self.target;
        // RFC 6817 sec. 2.4.2. The sender applies the RFC's bound by the packets in flight: it
        // calls this method only if the window limits the flow.
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

    /// A control whose smallest RTT is 50 ms and whose last four samples are `rtt`.
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
        // At a window of 100, an ACK adds (100 ms - queueing delay) / 100 ms / 100.
        for (rtt_ms, change) in
            [(50.0, 0.01), (75.0, 0.0075), (150.0, 0.0), (200.0, -0.005), (350.0, -0.02)]
        {
            let (mut ledbat, mut script) = settled(ms(rtt_ms));
            assert_close(script.ack(&mut ledbat, 100.0, ms(rtt_ms)), 100.0 + change);
        }
    }

    #[test]
    fn the_window_is_at_least_two_packets() {
        let (mut ledbat, mut script) = settled(ms(2_000.0));
        // Without the bound: 3 - 18.5 / 3.
        assert_close(script.ack(&mut ledbat, 3.0, ms(2_000.0)), 2.0);
    }

    #[test]
    fn the_delay_is_the_smallest_of_four_samples() {
        let (mut ledbat, mut script) = settled(ms(100.0));
        for _ in 0..3 {
            // The minimum of three samples of 400 ms and one of 100 ms is 100 ms: half of the
            // target, so half a packet per round trip.
            assert_close(script.ack(&mut ledbat, 100.0, ms(400.0)), 100.005);
        }
        assert_close(script.ack(&mut ledbat, 100.0, ms(400.0)), 100.0 - 0.025);
    }

    #[test]
    fn the_smallest_delay_expires_after_ten_minutes() {
        let (mut ledbat, mut script) = settled(ms(150.0));
        for minute in 1..10 {
            script.event.now = Time::from_milliseconds(60_000 * minute);
            assert_close(script.ack(&mut ledbat, 100.0, ms(150.0)), 100.0);
        }
        // In the eleventh minute, the queueing delay of 100 ms is taken for a longer path with an
        // empty queue.
        script.event.now = Time::from_milliseconds(600_000);
        assert_close(script.ack(&mut ledbat, 100.0, ms(150.0)), 100.01);
    }

    #[test]
    fn the_smallest_delay_includes_the_rtts_of_slow_start() {
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
}
