//! BBR, version 1 (Cardwell, Cheng, Gunn, Yeganeh, Jacobson 2016;
//! draft-cardwell-iccrg-bbr-congestion- control-00 of July 2017, whose sections are named below):
//! paces at what the path was measured to deliver, and has at most twice the bandwidth-delay
//! product in flight.

use std::f64::consts::LN_2;

use rand_core::SeedableRng;
use rand_xoshiro::Xoshiro256PlusPlus;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::filter::{DeliveryRounds, Plateau, WindowedMax, WindowedMin};
use super::steering::{Beginning, PathEvent, Repair, Steering};
use super::{AckEvent, CongestionControl, CongestionEvent, CongestionKind, Parameters};
use crate::random;
use crate::units::{Time, float};

/// BBR, version 1, has no parameters. It takes no notice of ECN marks, and needs `recovery =
/// "sack"` to measure well. Like a host with segmentation offload it sends up to a millisecond's
/// worth of packets together, at most 64 KB.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Bbr1Params {}

impl Parameters for Bbr1Params {
    fn models_path(&self) -> bool {
        true
    }
}

/// `BBRHighGain`, the least gain with which the rate can double each round trip (sec. 4.3.2.1).
const HIGH_GAIN: f64 = 2.0 / LN_2;
/// Pacing gains of `ProbeBW` (sec. 4.3.4.1).
const CYCLE: [f64; 8] = [1.25, 0.75, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0];
const PROBE_BANDWIDTH_CWND_GAIN: f64 = 2.0; // sec. 4.3.4.3
const BANDWIDTH_ROUNDS: usize = 10; // BtlBwFilterLen, sec. 4.1.1.3
const MIN_RTT_WINDOW: Time = Time::from_milliseconds(10_000); // RTpropFilterLen, sec. 4.1.2.2
const PROBE_RTT_DURATION: Time = Time::from_milliseconds(200); // sec. 4.3.5
const MIN_PIPE_CWND: f64 = 4.0; // BBRMinPipeCwnd, sec. 4.2.3.3
const MAX_QUANTUM_BYTES: f64 = 65_536.0; // sec. 4.2.2

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum State {
    Startup,
    Drain,
    ProbeBandwidth,
    ProbeRtt,
}

/// A running BBR.
#[derive(Debug)]
pub struct Bbr1 {
    // Apart, so that the flows of other controls do not carry it.
    model: Box<Model>,
}

#[derive(Debug)]
#[expect(clippy::struct_excessive_bools, reason = "the draft's; the states are in `State`")]
struct Model {
    state: State,
    pacing_gain: f64,
    cwnd_gain: f64,
    initial_cwnd: f64,
    cwnd: f64,
    packet_bytes: f64,
    pacing_rate: f64,
    /// `BBR.send_quantum` in packets; a sender sends whole ones, at least one.
    send_quantum: f64,
    has_rtt: bool,
    bandwidth: WindowedMax,
    min_rtt: WindowedMin,
    is_min_rtt_expired: bool,
    rounds: DeliveryRounds,
    is_round_start: bool,
    plateau: Plateau,
    cycle_index: usize,
    cycle_start: Time,
    /// When `ProbeRTT` may end; `None` while too much is in flight.
    probe_rtt_end: Option<Time>,
    is_probe_rtt_round_done: bool,
    is_idle_restart: bool,
    repair: Repair,
    conserves_packets: bool,
    prior_cwnd: f64,
    random: Xoshiro256PlusPlus,
}

impl Bbr1 {
    /// Starts the control.
    pub fn new(_params: &Bbr1Params) -> Self {
        Bbr1 { model: Box::new(Model::new(&Beginning::default())) }
    }
}

impl CongestionControl for Bbr1 {
    fn on_ack(&mut self, cwnd_packets: f64, _event: &AckEvent) -> f64 {
        cwnd_packets
    }

    fn on_congestion(&mut self, event: &CongestionEvent) -> f64 {
        if event.kind == CongestionKind::Timeout {
            self.model.save_cwnd(event.cwnd_packets);
            self.model.repair = Repair::Timeout;
            self.model.conserves_packets = false;
        }
        event.cwnd_packets
    }

    fn begin(&mut self, beginning: &Beginning) -> Option<Steering> {
        *self.model = Model::new(beginning);
        Some(self.model.steering())
    }

    fn on_path(&mut self, event: &PathEvent) -> Steering {
        self.model.update(event);
        self.model.steering()
    }

    /// Sec. 4.3.4.4, `BBRHandleRestartFromIdle`.
    fn on_restart(&mut self, _now: Time, cwnd_packets: f64) -> Option<Steering> {
        let model = &mut self.model;
        model.cwnd = cwnd_packets;
        model.is_idle_restart = true;
        if model.state == State::ProbeBandwidth {
            model.set_pacing_rate(1.0);
        }
        Some(model.steering())
    }
}

impl Model {
    fn new(beginning: &Beginning) -> Self {
        // Sec. 4.2.1: a millisecond stands for the RTT before there is one.
        let pacing_rate = HIGH_GAIN * beginning.cwnd_packets / 1e-3;
        Model {
            state: State::Startup,
            pacing_gain: HIGH_GAIN,
            cwnd_gain: HIGH_GAIN,
            initial_cwnd: beginning.cwnd_packets,
            cwnd: beginning.cwnd_packets,
            packet_bytes: f64::from(beginning.packet_bytes),
            pacing_rate,
            send_quantum: 1.0,
            has_rtt: false,
            bandwidth: WindowedMax::default(),
            min_rtt: WindowedMin::new(beginning.now),
            is_min_rtt_expired: false,
            rounds: DeliveryRounds::default(),
            is_round_start: false,
            plateau: Plateau::default(),
            cycle_index: 0,
            cycle_start: beginning.now,
            probe_rtt_end: None,
            is_probe_rtt_round_done: false,
            is_idle_restart: false,
            repair: Repair::None,
            conserves_packets: false,
            prior_cwnd: 0.0,
            random: Xoshiro256PlusPlus::seed_from_u64(beginning.seed),
        }
    }

    fn steering(&self) -> Steering {
        Steering {
            cwnd_packets: self.cwnd,
            pacing_rate: self.pacing_rate,
            send_quantum: self.send_quantum as u64,
            // Sec. 4.3.5: the low rates of ProbeRTT are not the path's.
            holds_back: self.state == State::ProbeRtt,
        }
    }

    /// `BBRUpdateModelAndState` and `BBRUpdateControlParameters`.
    fn update(&mut self, event: &PathEvent) {
        self.cwnd = event.cwnd_packets;
        self.update_bandwidth(event);
        if self.state == State::ProbeBandwidth && self.is_next_phase(event) {
            self.advance_phase(event.now);
        }
        self.check_full_pipe(event);
        self.check_drain(event);
        self.update_min_rtt(event);
        self.check_probe_rtt(event);
        if !self.has_rtt && event.srtt > Time::ZERO {
            self.has_rtt = true;
            self.pacing_rate = HIGH_GAIN * self.initial_cwnd / event.srtt.seconds();
            self.set_send_quantum();
        }
        self.set_pacing_rate(self.pacing_gain);
        self.set_cwnd(event);
    }

    /// Sec. 4.1.1.
    fn update_bandwidth(&mut self, event: &PathEvent) {
        self.is_round_start = false;
        let Some(rate) = &event.rate else { return };
        self.is_round_start = self.rounds.is_over(rate, event.delivered);
        let Some(delivery_rate) = rate.delivery_rate else { return };
        if delivery_rate >= self.bandwidth.get() || !rate.is_app_limited {
            self.bandwidth.update(delivery_rate, self.rounds.count, BANDWIDTH_ROUNDS);
        }
    }

    /// Sec. 4.3.2.2.
    fn check_full_pipe(&mut self, event: &PathEvent) {
        let is_app_limited = event.rate.is_none_or(|rate| rate.is_app_limited);
        if self.is_round_start && !is_app_limited {
            self.plateau.on_round(self.bandwidth.get());
        }
    }

    /// Sec. 4.3.3.
    fn check_drain(&mut self, event: &PathEvent) {
        if self.state == State::Startup && self.plateau.is_reached {
            self.state = State::Drain;
            self.pacing_gain = 1.0 / HIGH_GAIN;
            self.cwnd_gain = HIGH_GAIN;
        }
        if self.state == State::Drain && event.in_flight as f64 <= self.inflight(1.0) {
            self.enter_probe_bandwidth(event.now);
        }
    }

    /// Sec. 4.3.4.3: any phase but the one of 3/4 may be the first.
    fn enter_probe_bandwidth(&mut self, now: Time) {
        self.state = State::ProbeBandwidth;
        self.cwnd_gain = PROBE_BANDWIDTH_CWND_GAIN;
        let last = CYCLE.len() - 1;
        self.cycle_index = last - random::below(&mut self.random, last as u64) as usize;
        self.advance_phase(now);
    }

    fn advance_phase(&mut self, now: Time) {
        self.cycle_start = now;
        self.cycle_index = (self.cycle_index + 1) % CYCLE.len();
        self.pacing_gain = CYCLE[self.cycle_index];
    }

    /// Sec. 4.3.4.3.
    fn is_next_phase(&self, event: &PathEvent) -> bool {
        let is_full_length = event.now.since(self.cycle_start) > self.min_rtt.value;
        let in_flight = float(event.prior_in_flight);
        if self.pacing_gain > 1.0 {
            let is_probed = in_flight >= self.inflight(self.pacing_gain) || event.newly_lost > 0;
            is_full_length && is_probed
        } else if self.pacing_gain < 1.0 {
            is_full_length || in_flight <= self.inflight(1.0)
        } else {
            is_full_length
        }
    }

    /// Sec. 4.1.2.3. A sample as small as the smallest renews it.
    fn update_min_rtt(&mut self, event: &PathEvent) {
        self.is_min_rtt_expired = self.min_rtt.is_expired(event.now, MIN_RTT_WINDOW);
        if let Some(rtt) = event.rtt
            && (rtt <= self.min_rtt.value || self.is_min_rtt_expired)
        {
            self.min_rtt.set(rtt, event.now);
        }
    }

    /// Sec. 4.3.5.
    fn check_probe_rtt(&mut self, event: &PathEvent) {
        let is_due = self.is_min_rtt_expired && !self.is_idle_restart;
        if self.state != State::ProbeRtt && is_due {
            self.save_cwnd(self.cwnd);
            self.state = State::ProbeRtt;
            self.pacing_gain = 1.0;
            self.cwnd_gain = 1.0;
            self.probe_rtt_end = None;
        }
        if self.state == State::ProbeRtt {
            self.handle_probe_rtt(event);
        }
        self.is_idle_restart = false;
    }

    fn handle_probe_rtt(&mut self, event: &PathEvent) {
        let Some(end) = self.probe_rtt_end else {
            if event.in_flight as f64 <= MIN_PIPE_CWND {
                self.probe_rtt_end = Some(event.now + PROBE_RTT_DURATION);
                self.is_probe_rtt_round_done = false;
                self.rounds.restart(event.delivered);
            }
            return;
        };
        self.is_probe_rtt_round_done |= self.is_round_start;
        if self.is_probe_rtt_round_done && event.now > end {
            self.min_rtt.stamp = event.now;
            self.restore_cwnd();
            if self.plateau.is_reached {
                self.enter_probe_bandwidth(event.now);
            } else {
                self.state = State::Startup;
                self.pacing_gain = HIGH_GAIN;
                self.cwnd_gain = HIGH_GAIN;
            }
        }
    }

    /// Sec. 4.2.1: a pipe that is not full yet never slows down.
    fn set_pacing_rate(&mut self, gain: f64) {
        let rate = gain * self.bandwidth.get();
        let may_fall = rate > 0.0 && self.plateau.is_reached;
        if rate > self.pacing_rate || rate < self.pacing_rate && may_fall {
            self.pacing_rate = rate;
            self.set_send_quantum();
        }
    }

    /// Sec. 4.2.2.
    fn set_send_quantum(&mut self) {
        let bytes_per_second = self.pacing_rate * self.packet_bytes;
        self.send_quantum = if bytes_per_second * 8.0 < 1.2e6 {
            1.0
        } else if bytes_per_second * 8.0 < 24e6 {
            2.0
        } else {
            ((bytes_per_second * 1e-3).min(MAX_QUANTUM_BYTES) / self.packet_bytes).max(1.0)
        };
    }

    /// Sec. 4.2.3.2.
    fn inflight(&self, gain: f64) -> f64 {
        if self.min_rtt.value == Time::NEVER {
            return self.initial_cwnd;
        }
        let bdp = self.bandwidth.get() * self.min_rtt.value.seconds();
        gain * bdp + 3.0 * self.send_quantum
    }

    /// Sec. 4.2.3.6.
    fn set_cwnd(&mut self, event: &PathEvent) {
        self.modulate_cwnd_for_recovery(event);
        if !self.conserves_packets {
            let target = self.inflight(self.cwnd_gain);
            let grown = self.cwnd + float(event.newly_delivered);
            if self.plateau.is_reached {
                self.cwnd = grown.min(target);
            } else if self.cwnd < target || (event.delivered as f64) < self.initial_cwnd {
                self.cwnd = grown;
            }
            self.cwnd = self.cwnd.max(MIN_PIPE_CWND);
        }
        if self.state == State::ProbeRtt {
            self.cwnd = self.cwnd.min(MIN_PIPE_CWND);
        }
    }

    /// Sec. 4.2.3.4: in the first round trip of a fast recovery as many packets leave as arrive.
    fn modulate_cwnd_for_recovery(&mut self, event: &PathEvent) {
        let before = self.repair;
        if event.repair == Repair::FastRecovery && before != Repair::FastRecovery {
            self.save_cwnd(event.cwnd_packets);
            self.conserves_packets = true;
            self.rounds.restart(event.delivered);
            self.cwnd = (event.in_flight + event.newly_delivered.max(1)) as f64;
        } else if event.repair != Repair::FastRecovery || self.is_round_start {
            self.conserves_packets = false;
        }
        if event.repair == Repair::None && before != Repair::None {
            self.restore_cwnd();
        }
        self.repair = event.repair;
        if event.repair == Repair::FastRecovery {
            if before == Repair::FastRecovery {
                self.cwnd = (self.cwnd - float(event.newly_lost)).max(1.0);
            }
            if self.conserves_packets {
                self.cwnd = self.cwnd.max(float(event.in_flight + event.newly_delivered));
            }
        }
    }

    fn save_cwnd(&mut self, cwnd: f64) {
        let is_modulated = self.repair != Repair::None || self.state == State::ProbeRtt;
        self.prior_cwnd = if is_modulated { self.prior_cwnd.max(cwnd) } else { cwnd };
    }

    fn restore_cwnd(&mut self) {
        self.cwnd = self.cwnd.max(self.prior_cwnd);
    }
}

#[cfg(test)]
mod tests {
    use super::super::script::{self, Path, assert_close, ms};
    use super::*;

    const RATE: f64 = 1_000.0;

    fn started(seed: u64) -> Bbr1 {
        let mut control = Bbr1::new(&Bbr1Params::default());
        control.begin(&script::beginning(seed)).expect("it models the path");
        control
    }

    /// A control that has just entered `ProbeBW` on a path of 1000 packets/s and 40 ms, a BDP of 40
    /// packets, with two BDP in flight from then on.
    fn probing(seed: u64) -> (Bbr1, Path) {
        let (mut control, mut path) = (started(seed), Path::new(10));
        while control.model.state != State::ProbeBandwidth {
            path.ack(&mut control, RATE, ms(40.0));
        }
        path.flight = 80;
        (control, path)
    }

    /// 10 packets in the millisecond that stands for the RTT, then in the first RTT, each times
    /// 2.885.
    #[test]
    fn paces_the_initial_window_over_a_millisecond_and_then_over_the_first_rtt() {
        let (mut control, mut path) = (started(1), Path::new(10));
        assert_close(control.model.pacing_rate, 28_853.900_817_779_27);
        let steering = path.ack(&mut control, 1.0, ms(100.0));
        assert_close(steering.pacing_rate, 288.539_008_177_792_7);
    }

    /// Sec. 4.3.2: gain 2.885 while the rate grows by a quarter a round trip; three round trips
    /// without that, and Drain with its inverse.
    #[test]
    fn startup_ends_after_three_round_trips_at_a_plateau() {
        let (mut control, mut path) = (started(1), Path::new(100));
        // The very first ACK ends the round trip in which nothing had been delivered.
        path.ack(&mut control, 250.0, ms(40.0));
        for (rate, state) in [
            (500.0, State::Startup),
            (1_000.0, State::Startup),
            (1_000.0, State::Startup),
            (1_010.0, State::Startup),
            (1_000.0, State::Drain),
        ] {
            path.round(&mut control, rate, ms(40.0));
            assert_eq!(control.model.state, state, "{rate}");
        }
        assert_close(control.model.pacing_rate, 1_010.0 / 2.885_390_081_777_927);
        // A BDP of 40.4 packets and three quanta of two: 46 are few enough, 47 are not.
        path.flight = 47;
        path.ack(&mut control, RATE, ms(40.0));
        assert_eq!(control.model.state, State::Drain);
        path.flight = 46;
        path.ack(&mut control, RATE, ms(40.0));
        assert_eq!(control.model.state, State::ProbeBandwidth);
    }

    /// Sec. 4.3.4: gains 5/4, 3/4 and six times 1, each for one RTT of 40 ms; an ACK comes every 1
    /// ms, and the phase ends with the first that is later than 40 ms.
    #[test]
    fn the_cycle_has_eight_phases_of_one_rtt() {
        let (mut control, mut path) = probing(1);
        let mut phases: Vec<(usize, u32)> = Vec::new();
        for _ in 0..41 * 20 {
            let gain = path.ack(&mut control, RATE, ms(40.0)).pacing_rate / RATE;
            let index = control.model.cycle_index;
            assert_close(gain, [1.25, 0.75, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0][index]);
            match phases.last_mut() {
                Some((at, acks)) if *at == index => *acks += 1,
                _ => phases.push((index, 1)),
            }
        }
        assert!(phases.len() >= 19, "{phases:?}");
        for pair in phases[1..phases.len() - 1].windows(2) {
            assert_eq!(pair[0].1, 41, "{phases:?}");
            assert_eq!((pair[0].0 + 1) % 8, pair[1].0);
        }
    }

    /// Sec. 4.3.4.1: 5/4 goes on until 1.25 BDP (50 packets and three quanta of two) are in flight
    /// or something is lost; 3/4 ends as soon as one BDP and the quanta are.
    #[test]
    fn the_first_phase_fills_and_the_second_drains() {
        let (mut control, mut path) = probing(1);
        while control.model.cycle_index != 0 {
            path.ack(&mut control, RATE, ms(40.0));
        }
        path.flight = 55;
        (0..200).for_each(|_| {
            path.ack(&mut control, RATE, ms(40.0));
        });
        assert_eq!(control.model.cycle_index, 0);
        path.flight = 56;
        path.ack(&mut control, RATE, ms(40.0));
        assert_eq!(control.model.cycle_index, 1);
        path.flight = 47;
        path.ack(&mut control, RATE, ms(40.0));
        assert_eq!(control.model.cycle_index, 1);
        path.flight = 46;
        path.ack(&mut control, RATE, ms(40.0));
        assert_eq!(control.model.cycle_index, 2);
    }

    /// Sec. 4.3.4.2.
    #[test]
    fn the_cycle_starts_anywhere_but_in_the_phase_that_drains() {
        let mut starts = [0; 8];
        (0..700).for_each(|seed| starts[probing(seed).0.model.cycle_index] += 1);
        assert_eq!(starts[1], 0);
        // 100 of 700 each, with a standard deviation of 9.3; four of them.
        let others = starts.iter().enumerate().filter(|(index, _)| *index != 1);
        others
            .for_each(|(index, count)| assert!((63..=137).contains(count), "{index}: {starts:?}"));
    }

    /// Sec. 4.3.4.3 and 4.2.3.2: 2 * 40 packets and three quanta of two.
    #[test]
    fn the_window_is_two_bdp_and_three_quanta() {
        let (mut control, mut path) = probing(1);
        let windows: Vec<f64> =
            (0..1_000).map(|_| path.ack(&mut control, RATE, ms(40.0)).cwnd_packets).collect();
        assert_close(windows[999], 86.0);
        assert!(windows.iter().all(|window| *window <= 86.0 + 1e-9));
    }

    /// Sec. 4.3.5: RTTs above the smallest for 10 s; four packets for 200 ms from when no more are
    /// in flight; and the window of before.
    #[test]
    fn probes_the_rtt_after_ten_seconds_with_four_packets_for_200_ms() {
        let (mut control, mut path) = probing(1);
        (0..200).for_each(|_| {
            path.ack(&mut control, RATE, ms(40.0));
        });
        let last_smallest = path.event.now;
        while control.model.state == State::ProbeBandwidth {
            path.ack(&mut control, RATE, ms(60.0));
        }
        assert_eq!(path.event.now.since(last_smallest), ms(10_001.0));
        (0..100).for_each(|_| {
            assert_close(path.ack(&mut control, RATE, ms(60.0)).cwnd_packets, 4.0);
        });
        path.flight = 4;
        let few_since = path.event.now + ms(1.0);
        while control.model.state == State::ProbeRtt {
            assert!(path.ack(&mut control, RATE, ms(30.0)).cwnd_packets <= 86.0);
        }
        assert_eq!(path.event.now.since(few_since), ms(201.0));
        assert_eq!(control.model.min_rtt.value, ms(30.0));
        // Of the 86 packets of before two BDP of now remain: 2 * 30 and three quanta.
        assert_close(path.event.cwnd_packets, 66.0);
    }

    /// Sec. 4.2.3.4: 50 in flight and one delivered at the entry; then one out for each one
    /// delivered, for a round trip; at the end the window of before.
    #[test]
    fn conserves_packets_in_the_first_round_trip_of_a_recovery() {
        let (mut control, mut path) = probing(1);
        (0..200).for_each(|_| {
            path.ack(&mut control, RATE, ms(40.0));
        });
        assert_close(path.event.cwnd_packets, 86.0);
        path.flight = 50;
        (path.event.repair, path.event.newly_lost) = (Repair::FastRecovery, 30);
        assert_close(path.ack(&mut control, RATE, ms(40.0)).cwnd_packets, 51.0);
        path.event.newly_lost = 0;
        for _ in 0..49 {
            assert_close(path.ack(&mut control, RATE, ms(40.0)).cwnd_packets, 51.0);
        }
        assert_close(path.ack(&mut control, RATE, ms(40.0)).cwnd_packets, 52.0);
        path.event.repair = Repair::None;
        assert_close(path.ack(&mut control, RATE, ms(40.0)).cwnd_packets, 86.0);
    }

    /// Sec. 4.2.3.4: a timeout leaves one packet, which the sender sees to; the window of before
    /// returns when the flight is repaired.
    #[test]
    fn a_timeout_gives_the_window_back_when_it_is_repaired() {
        let (mut control, mut path) = probing(1);
        (0..200).for_each(|_| {
            path.ack(&mut control, RATE, ms(40.0));
        });
        control.on_congestion(&script::congestion(CongestionKind::Timeout, 86.0));
        (path.event.repair, path.event.cwnd_packets, path.flight) = (Repair::Timeout, 1.0, 1);
        assert_close(path.ack(&mut control, RATE, ms(40.0)).cwnd_packets, 4.0);
        assert_close(path.ack(&mut control, RATE, ms(40.0)).cwnd_packets, 5.0);
        path.event.repair = Repair::None;
        assert_close(path.ack(&mut control, RATE, ms(40.0)).cwnd_packets, 86.0);
    }

    /// Sec. 4.2.2: 1 packet below 1.2 Mbit/s, 2 below 24 Mbit/s, then a millisecond's worth, and
    /// 64 KB (43 packets of 1500 B) at most.
    #[test]
    fn the_quantum_follows_the_rate() {
        let mut control = started(1);
        control.model.min_rtt.set(Time::from_milliseconds(10), Time::ZERO);
        // Whole packets leave together; the window has room for three quanta as they are in bytes.
        for (mbps, packets, bytes) in [
            (1.1, 1, 1_500.0),
            (1.3, 2, 3_000.0),
            (23.9, 2, 3_000.0),
            (24.1, 2, 3_012.5),
            (100.0, 8, 12_500.0),
            (500.0, 41, 62_500.0),
            (1e3, 43, 65_536.0),
            (1e5, 43, 65_536.0),
        ] {
            control.model.pacing_rate = mbps * 1e6 / (8.0 * 1_500.0);
            control.model.set_send_quantum();
            assert_eq!(control.model.steering().send_quantum, packets, "{mbps} Mbit/s");
            let room = control.model.inflight(0.0) * 1_500.0;
            assert!((room - 3.0 * bytes).abs() < 1e-6, "{room} bytes at {mbps} Mbit/s");
        }
    }
}
