//! BBR, version 1, of Linux: `net/ipv4/tcp_bbr.c` of Linux 6.19 (2026), whose functions the
//! comments name. It paces at 1 % below the measured delivery rate and has at most twice the
//! bandwidth-delay product in flight. Published as Cardwell, Cheng, Gunn, Yeganeh, Jacobson 2016
//! and draft-cardwell-iccrg-bbr-congestion-control-00 (July 2017); the comments name sections of
//! the draft where it agrees with Linux.
//!
//! Linux differs from the draft in the pacing margin of 1 % and the flight at the next departure
//! (since 4.20), the window's allowance for aggregated ACKs (since 5.1), two more packets in the
//! phase that probes, an even window, and an RTT equal to the smallest one, which does not renew
//! it. Linux also estimates the rate of a policer, which the draft does not.
//!
//! This implementation differs from Linux in these points: windows and rates have fractions; time
//! is exact, not in microseconds and jiffies; the bandwidth filter keeps the maximum of each round
//! trip, not three maxima (`minmax_running_max`).

mod aggregation;
mod policer;
#[cfg(test)]
mod tests;

use self::aggregation::Aggregation;
use self::policer::{Policer, Sample};
use super::filter::{DeliveryRounds, Plateau, WindowedMax, WindowedMin};
use super::rate_based::{
    BeginEvent, ControlOutput, LostPacketEvent, RateBasedControl, RateSampleEvent, Repair,
    RestartEvent, UndoEvent,
};
use super::{CongestionEvent, CongestionKind, ControlParameters};
use crate::derives::{Deserialize, JsonSchema, Ranges, Serialize};
use crate::random;
use crate::random::Stream;
use crate::units::{Time, float, smaller};

/// BBR, version 1, has no parameters; it is the BBR of Linux 6.19 (`net/ipv4/tcp_bbr.c`). It
/// ignores ECN marks, and its measurements need `recovery = "sack"`. Like a host with segmentation
/// offload it sends the packets of up to a millisecond together, at least two above 1.2 Mbit/s and
/// at most 64 KB.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema, Ranges)]
#[serde(default, deny_unknown_fields)]
#[non_exhaustive]
pub struct Bbr1Params {}

impl ControlParameters for Bbr1Params {
    fn drain_interval(&self) -> Option<Time> {
        Some(MIN_RTT_WINDOW)
    }
}

/// `bbr_high_gain`: 2/ln 2 in 256ths, the least gain with which the rate can double per round trip
/// (sec. 4.3.2.1).
const HIGH_GAIN: f64 = 739.0 / 256.0;
const DRAIN_GAIN: f64 = 88.0 / 256.0; // bbr_drain_gain: its inverse
/// Pacing gains of `ProbeBW` (`bbr_pacing_gain`; sec. 4.3.4.1).
const CYCLE: [f64; 8] = [1.25, 0.75, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0];
/// `bbr_pacing_margin_percent`: the average rate stays below the estimate, so that queues drain.
const PACING_MARGIN: f64 = 0.01;
const PROBE_BANDWIDTH_CWND_GAIN: f64 = 2.0; // bbr_cwnd_gain; sec. 4.3.4.3
const BANDWIDTH_ROUNDS: usize = 10; // bbr_bw_rtts; sec. 4.1.1.3
const MIN_RTT_WINDOW: Time = Time::from_milliseconds(10_000); // bbr_min_rtt_win_sec; sec. 4.1.2.2
const PROBE_RTT_DURATION: Time = Time::from_milliseconds(200); // bbr_probe_rtt_mode_ms; sec. 4.3.5
const MIN_PIPE_CWND: f64 = 4.0; // bbr_cwnd_min_target; sec. 4.2.3.3
const MIN_TSO_RATE: f64 = 1.2e6 / 8.0; // bbr_min_tso_rate, in bytes/s
const QUANTA_PER_SECOND: f64 = 1024.0; // sk_pacing_shift: 10
/// `GSO_LEGACY_MAX_SIZE - 1 - MAX_TCP_HEADER`, the latter as on x86-64.
const MAX_QUANTUM_BYTES: f64 = 65_536.0 - 1.0 - 320.0;
const MAX_QUANTUM_PACKETS: f64 = 127.0; // bbr_tso_segs_goal

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum State {
    Startup,
    Drain,
    ProbeBandwidth,
    ProbeRtt,
}

/// A running BBR.
#[derive(Clone, Debug)]
pub struct Bbr1 {
    model: Model,
}

#[derive(Clone, Debug)]
#[expect(clippy::struct_excessive_bools, reason = "Linux's; the states are in `State`")]
struct Model {
    state: State,
    pacing_gain: f64,
    cwnd_gain: f64,
    initial_cwnd: f64,
    cwnd: f64,
    packet_bytes: f64,
    pacing_rate: f64,
    /// Number of packets that leave together (`bbr_tso_segs_goal`).
    send_quantum: u64,
    has_rtt: bool,
    bandwidth: WindowedMax,
    policer: Policer,
    aggregation: Aggregation,
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
    delivered: u64,
    lost: u64,
    random: Stream,
}

impl Bbr1 {
    /// Starts the control.
    pub fn new(_params: &Bbr1Params) -> Self {
        Bbr1 { model: Model::new(&BeginEvent::default()) }
    }
}

impl RateBasedControl for Bbr1 {
    fn begin(&mut self, event: &BeginEvent) -> ControlOutput {
        self.model = Model::new(event);
        self.model.output()
    }

    fn on_rate_sample(&mut self, event: &RateSampleEvent) -> ControlOutput {
        self.model.update(event);
        self.model.output()
    }

    fn on_congestion(&mut self, event: &CongestionEvent) {
        if event.kind == CongestionKind::Timeout {
            self.model.on_timeout(event);
        }
    }

    fn on_lost(&mut self, _packet: &LostPacketEvent) {
        self.model.lost += 1;
    }

    fn on_undo(&mut self, event: &UndoEvent) -> f64 {
        self.model.undo(event);
        event.cwnd_packets
    }

    /// `bbr_cwnd_event_tx_start`; sec. 4.3.4.4.
    fn on_restart(&mut self, event: &RestartEvent) -> Option<ControlOutput> {
        let model = &mut self.model;
        model.cwnd = event.cwnd_packets;
        model.is_idle_restart = true;
        model.aggregation.restart(event.now);
        match model.state {
            State::ProbeBandwidth => model.set_pacing_rate(1.0),
            State::ProbeRtt => model.check_probe_rtt_done(event.now),
            State::Startup | State::Drain => {}
        }
        Some(model.output())
    }
}

/// The integer part of a number of packets. A cast takes fewer instructions than `libm::floor`.
fn rounded_down(packets: f64) -> f64 {
    (packets as i64) as f64
}

/// The smallest integer that is at least this number of packets.
fn rounded_up(packets: f64) -> f64 {
    let whole = rounded_down(packets);
    if whole < packets { whole + 1.0 } else { whole }
}

impl Model {
    fn new(event: &BeginEvent) -> Self {
        let mut model = Model {
            state: State::Startup,
            pacing_gain: HIGH_GAIN,
            cwnd_gain: HIGH_GAIN,
            initial_cwnd: event.cwnd_packets,
            cwnd: event.cwnd_packets,
            packet_bytes: f64::from(event.packet_bytes),
            pacing_rate: 0.0,
            send_quantum: 1,
            has_rtt: false,
            bandwidth: WindowedMax::default(),
            policer: Policer::default(),
            aggregation: Aggregation::new(event.now),
            min_rtt: WindowedMin::new(event.srtt, event.now),
            is_min_rtt_expired: false,
            rounds: DeliveryRounds::default(),
            is_round_start: false,
            plateau: Plateau::default(),
            cycle_index: 0,
            cycle_start: event.now,
            probe_rtt_end: None,
            is_probe_rtt_round_done: false,
            is_idle_restart: false,
            repair: Repair::None,
            conserves_packets: false,
            prior_cwnd: 0.0,
            delivered: 0,
            lost: 0,
            random: Stream::seeded(event.seed),
        };
        // Sec. 4.2.1: 1 ms stands for the RTT before the first sample.
        model.has_rtt = event.srtt > Time::ZERO;
        let rtt = if model.has_rtt { event.srtt } else { Time::from_milliseconds(1) };
        model.pace_initial_window(rtt);
        model
    }

    fn output(&self) -> ControlOutput {
        ControlOutput {
            cwnd_packets: self.cwnd,
            pacing_rate: self.pacing_rate,
            send_quantum: self.send_quantum,
            // Sec. 4.3.5: the low delivery rates of ProbeRTT are not those of the path.
            is_app_limited: self.state == State::ProbeRtt,
        }
    }

    /// `bbr_main`
    fn update(&mut self, event: &RateSampleEvent) {
        self.cwnd = event.cwnd_packets;
        self.delivered = event.delivered;
        self.update_bandwidth(event);
        if self.state == State::ProbeBandwidth && self.is_next_phase(event) {
            self.advance_phase(event.now);
        }
        self.check_full_pipe(event);
        self.check_drain(event);
        self.update_min_rtt(event);
        self.check_probe_rtt(event);
        self.update_gains();
        if !self.has_rtt && event.srtt > Time::ZERO {
            self.has_rtt = true;
            self.pace_initial_window(event.srtt);
        }
        self.set_pacing_rate(self.pacing_gain);
        self.set_cwnd(event);
    }

    /// `bbr_bw`, in packets/s.
    fn bandwidth(&self) -> f64 {
        self.policer.rate().unwrap_or(self.bandwidth.get())
    }

    /// `bbr_update_bw`, `bbr_update_ack_aggregation`; sec. 4.1.1.
    fn update_bandwidth(&mut self, event: &RateSampleEvent) {
        self.is_round_start = false;
        let Some(rate) = &event.rate else { return };
        let Some(delivery_rate) = rate.delivery_rate else { return };
        self.is_round_start = self.rounds.is_over(rate, event.delivered);
        if self.is_round_start {
            self.conserves_packets = false;
        }
        self.look_for_policer(event.now, event.newly_lost > 0, rate.is_app_limited);
        if delivery_rate >= self.bandwidth.get() || !rate.is_app_limited {
            self.bandwidth.update(delivery_rate, self.rounds.count, BANDWIDTH_ROUNDS);
        }
        let (acked, bandwidth) = (event.newly_delivered, self.bandwidth());
        self.aggregation.on_ack(event.now, acked, bandwidth, self.cwnd, self.is_round_start);
    }

    /// `bbr_undo_cwnd`: the window returns at the end of the recovery in any case.
    fn undo(&mut self, event: &UndoEvent) {
        self.plateau.compare_anew();
        self.delivered = event.delivered;
        let sample = self.policer_sample(event.now, false, false);
        self.policer.reset(&sample);
    }

    /// `bbr_lt_bw_sampling`
    fn look_for_policer(&mut self, now: Time, has_loss: bool, is_app_limited: bool) {
        let sample = self.policer_sample(now, has_loss, is_app_limited);
        if self.policer.on_sample(&sample, self.packet_bytes) {
            self.enter_probe_bandwidth(now);
        }
    }

    fn policer_sample(&self, now: Time, has_loss: bool, is_app_limited: bool) -> Sample {
        Sample {
            now,
            delivered: self.delivered,
            lost: self.lost,
            has_loss,
            is_app_limited,
            is_round_start: self.is_round_start,
            is_probing_bandwidth: self.state == State::ProbeBandwidth,
        }
    }

    /// `bbr_ssthresh` and `bbr_set_state` at a timeout, which ends the round trip.
    fn on_timeout(&mut self, event: &CongestionEvent) {
        self.save_cwnd(event.cwnd_packets);
        self.repair = Repair::Timeout;
        if !self.plateau.is_reached {
            self.plateau.forget_rate();
        }
        self.is_round_start = true;
        self.look_for_policer(event.now, true, false);
    }

    /// `bbr_check_full_bw_reached`; sec. 4.3.2.2.
    fn check_full_pipe(&mut self, event: &RateSampleEvent) {
        let is_app_limited = event.rate.is_none_or(|rate| rate.is_app_limited);
        if self.is_round_start && !is_app_limited {
            self.plateau.on_round(self.bandwidth.get());
        }
    }

    /// `bbr_check_drain`; sec. 4.3.3.
    fn check_drain(&mut self, event: &RateSampleEvent) {
        if self.state == State::Startup && self.plateau.is_reached {
            self.state = State::Drain;
        }
        if self.state == State::Drain
            && self.at_next_departure(event, event.in_flight) <= self.inflight(1.0)
        {
            self.enter_probe_bandwidth(event.now);
        }
    }

    /// `bbr_update_gains`
    fn update_gains(&mut self) {
        (self.pacing_gain, self.cwnd_gain) = match self.state {
            State::Startup => (HIGH_GAIN, HIGH_GAIN),
            State::Drain => (DRAIN_GAIN, HIGH_GAIN),
            State::ProbeBandwidth if self.policer.rate().is_some() => {
                (1.0, PROBE_BANDWIDTH_CWND_GAIN)
            }
            State::ProbeBandwidth => (CYCLE[self.cycle_index], PROBE_BANDWIDTH_CWND_GAIN),
            State::ProbeRtt => (1.0, 1.0),
        };
    }

    /// `bbr_reset_probe_bw_mode`; sec. 4.3.4.3: begins with a random phase other than that of gain
    /// 3/4.
    fn enter_probe_bandwidth(&mut self, now: Time) {
        self.state = State::ProbeBandwidth;
        let last = CYCLE.len() - 1;
        self.cycle_index = last - random::below(&mut self.random, last as u64) as usize;
        self.advance_phase(now);
    }

    fn advance_phase(&mut self, now: Time) {
        self.cycle_start = now;
        self.cycle_index = (self.cycle_index + 1) % CYCLE.len();
    }

    /// `bbr_is_next_cycle_phase`; sec. 4.3.4.3.
    fn is_next_phase(&self, event: &RateSampleEvent) -> bool {
        let is_full_length = event.now.since(self.cycle_start) > self.min_rtt.value();
        let in_flight = || self.at_next_departure(event, event.prior_in_flight);
        if self.pacing_gain > 1.0 {
            is_full_length
                && (event.newly_lost > 0 || in_flight() >= self.inflight(self.pacing_gain))
        } else if self.pacing_gain < 1.0 {
            is_full_length || in_flight() <= self.inflight(1.0)
        } else {
            is_full_length
        }
    }

    /// Number of the packets in flight now that will still be in flight when the pacer lets the
    /// next packet leave (`bbr_packets_in_net_at_edt`).
    fn at_next_departure(&self, event: &RateSampleEvent, in_flight: u64) -> f64 {
        let wait = event.next_departure.since(event.now).seconds();
        let delivered = rounded_down(self.bandwidth() * wait);
        let departing = if self.pacing_gain > 1.0 { self.send_quantum } else { 0 };
        (float(in_flight + departing) - delivered).max(0.0)
    }

    /// `bbr_update_min_rtt`; sec. 4.1.2.3, but a sample as small as the smallest does not renew it.
    fn update_min_rtt(&mut self, event: &RateSampleEvent) {
        self.is_min_rtt_expired = self.min_rtt.is_expired(event.now, MIN_RTT_WINDOW);
        if let Some(rtt) = event.rtt
            && (rtt < self.min_rtt.value() || self.is_min_rtt_expired)
        {
            self.min_rtt.set(rtt, event.now);
        }
    }

    /// `bbr_update_min_rtt`; sec. 4.3.5.
    fn check_probe_rtt(&mut self, event: &RateSampleEvent) {
        let is_due = self.is_min_rtt_expired && !self.is_idle_restart;
        if self.state != State::ProbeRtt && is_due {
            self.state = State::ProbeRtt;
            self.save_cwnd(self.cwnd);
            self.probe_rtt_end = None;
        }
        if self.state == State::ProbeRtt {
            self.handle_probe_rtt(event);
        }
        if event.rate.is_some() {
            self.is_idle_restart = false;
        }
    }

    fn handle_probe_rtt(&mut self, event: &RateSampleEvent) {
        if self.probe_rtt_end.is_none() {
            if event.in_flight as f64 <= MIN_PIPE_CWND {
                self.probe_rtt_end = Some(event.now + PROBE_RTT_DURATION);
                self.is_probe_rtt_round_done = false;
                self.rounds.restart(event.delivered);
            }
            return;
        }
        self.is_probe_rtt_round_done |= self.is_round_start;
        if self.is_probe_rtt_round_done {
            self.check_probe_rtt_done(event.now);
        }
    }

    /// `bbr_check_probe_rtt_done`
    fn check_probe_rtt_done(&mut self, now: Time) {
        if self.probe_rtt_end.is_none_or(|end| now <= end) {
            return;
        }
        self.min_rtt.stamp = now;
        self.cwnd = self.cwnd.max(self.prior_cwnd);
        if self.plateau.is_reached {
            self.enter_probe_bandwidth(now);
        } else {
            self.state = State::Startup;
        }
    }

    /// `bbr_init_pacing_rate_from_rtt`
    fn pace_initial_window(&mut self, rtt: Time) {
        self.pacing_rate = (1.0 - PACING_MARGIN) * HIGH_GAIN * self.cwnd / rtt.seconds();
        self.set_send_quantum();
    }

    /// `bbr_set_pacing_rate`; sec. 4.2.1: the rate never falls before the pipe is full.
    fn set_pacing_rate(&mut self, gain: f64) {
        let rate = (1.0 - PACING_MARGIN) * gain * self.bandwidth();
        let may_fall = rate > 0.0 && self.plateau.is_reached;
        if rate > self.pacing_rate || rate < self.pacing_rate && may_fall {
            self.pacing_rate = rate;
            self.set_send_quantum();
        }
    }

    /// `bbr_tso_segs_goal`; sec. 4.2.2.
    fn set_send_quantum(&mut self) {
        let bytes_per_second = self.pacing_rate * self.packet_bytes;
        let least = if bytes_per_second < MIN_TSO_RATE { 1.0 } else { 2.0 };
        let bytes = (bytes_per_second / QUANTA_PER_SECOND).min(MAX_QUANTUM_BYTES);
        let packets = rounded_down(bytes / self.packet_bytes);
        self.send_quantum = packets.max(least).min(MAX_QUANTUM_PACKETS) as u64;
    }

    /// `bbr_bdp`
    fn flight(&self, bandwidth: f64, gain: f64) -> f64 {
        if self.min_rtt.value() == Time::NEVER {
            return self.initial_cwnd;
        }
        rounded_up(gain * bandwidth * self.min_rtt.seconds())
    }

    /// `bbr_quantization_budget`: adds three quanta, rounds up to an even number, and adds two
    /// packets while probing.
    fn with_quanta(&self, flight: f64) -> f64 {
        let budget = flight + 3.0 * float(self.send_quantum);
        let even = 2.0 * rounded_up(0.5 * budget);
        let probes = self.state == State::ProbeBandwidth && self.cycle_index == 0;
        if probes { even + 2.0 } else { even }
    }

    /// `bbr_inflight`; sec. 4.2.3.2.
    fn inflight(&self, gain: f64) -> f64 {
        self.with_quanta(self.flight(self.bandwidth.get(), gain))
    }

    /// `bbr_set_cwnd`; sec. 4.2.3.6.
    fn set_cwnd(&mut self, event: &RateSampleEvent) {
        if event.newly_delivered > 0 && !self.conserve_or_restore(event) {
            let bandwidth = self.bandwidth();
            let mut target = self.flight(bandwidth, self.cwnd_gain);
            if self.plateau.is_reached {
                target += self.aggregation.allowance(bandwidth);
            }
            let target = self.with_quanta(target);
            let grown = self.cwnd + float(event.newly_delivered);
            if self.plateau.is_reached {
                self.cwnd = smaller(grown, target);
            } else if self.cwnd < target || (event.delivered as f64) < self.initial_cwnd {
                self.cwnd = grown;
            }
            self.cwnd = self.cwnd.max(MIN_PIPE_CWND);
        }
        if self.state == State::ProbeRtt {
            self.cwnd = self.cwnd.min(MIN_PIPE_CWND);
        }
    }

    /// `bbr_set_cwnd_to_recover_or_restore`; sec. 4.2.3.4: in the first round trip of a fast
    /// recovery as many packets leave as arrive. Returns whether this rule sets the window.
    fn conserve_or_restore(&mut self, event: &RateSampleEvent) -> bool {
        let before = std::mem::replace(&mut self.repair, event.repair);
        if event.newly_lost > 0 {
            self.cwnd = (self.cwnd - float(event.newly_lost)).max(1.0);
        }
        if event.repair == Repair::FastRecovery && before != Repair::FastRecovery {
            // Linux saves the window before it enters the recovery.
            self.repair = before;
            self.save_cwnd(event.cwnd_packets);
            self.repair = event.repair;
            self.conserves_packets = true;
            self.rounds.restart(event.delivered);
            self.cwnd = float(event.in_flight + event.newly_delivered);
        } else if event.repair == Repair::None && before != Repair::None {
            self.cwnd = self.cwnd.max(self.prior_cwnd);
            self.conserves_packets = false;
        }
        if self.conserves_packets {
            self.cwnd = self.cwnd.max(float(event.in_flight + event.newly_delivered));
        }
        self.conserves_packets
    }

    /// `bbr_save_cwnd`
    fn save_cwnd(&mut self, cwnd: f64) {
        let is_modulated = self.repair != Repair::None || self.state == State::ProbeRtt;
        self.prior_cwnd = if is_modulated { self.prior_cwnd.max(cwnd) } else { cwnd };
    }
}
