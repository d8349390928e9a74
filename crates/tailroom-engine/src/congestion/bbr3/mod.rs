//! BBR, version 3 (draft-ietf-ccwg-bbr-06, as of its repository's commit
//! 4ce5e87d5f58c34c8fae283367b41913d110b73a of 3 August 2026): paces at the measured delivery rate
//! of the path, and limits the packets in flight to the number that the path was measured to hold
//! with less than 2 % loss.
//!
//! Names are the draft's, and the comment of each function names the draft's function. Data is
//! counted in packets. The parts that are specific to QUIC are not implemented.

mod control;
mod loss;
mod probe_bandwidth;
mod probe_rtt;
#[cfg(test)]
mod tests;
mod undo;

use super::filter::{DeliveryRounds, Plateau, WindowedMax, WindowedMin};
use super::rate_based::{
    BeginEvent, ControlOutput, LostPacketEvent, RateBasedControl, RateSample, RateSampleEvent,
    Repair, RestartEvent, UndoEvent,
};
use super::{CongestionEvent, CongestionKind, ControlParameters};
use crate::derives::{Deserialize, JsonSchema, Ranges, Serialize};
use crate::random::Stream;
use crate::units::{Time, smaller};
use undo::Undo;

/// BBR, version 3, has no parameters; it is the BBR of draft-ietf-ccwg-bbr-06 (repository
/// ietf-wg-ccwg/draft-ietf-ccwg-bbr, commit 4ce5e87). A round trip with ECN marks counts as a round
/// trip with losses; the draft requires a response to marks and does not specify it. Its
/// measurements need `recovery = "sack"`. Like a host with segmentation offload it sends the
/// packets of up to a millisecond together, at least two and at most 64 KB.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema, Ranges)]
#[serde(default, deny_unknown_fields)]
#[non_exhaustive]
pub struct Bbr3Params {}

impl ControlParameters for Bbr3Params {
    fn drain_interval(&self) -> Option<Time> {
        Some(probe_rtt::PROBE_RTT_INTERVAL)
    }
}

/// `BBR.state` (sec. "State Machine").
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum State {
    Startup,
    Drain,
    Down,
    Cruise,
    Refill,
    Up,
    ProbeRtt,
}

impl State {
    /// Gains for rate and window (table of sec. "Summary of Control Behavior in the State
    /// Machine").
    fn gains(self) -> (f64, f64) {
        match self {
            State::Startup => (2.77, 2.0),
            State::Drain => (0.5, 2.0),
            State::Down => (0.90, 2.0),
            State::Cruise | State::Refill => (1.0, 2.0),
            State::Up => (1.25, 2.25),
            State::ProbeRtt => (1.0, 0.5),
        }
    }

    /// `IsInAProbeBWState`
    fn is_probe_bandwidth(self) -> bool {
        matches!(self, State::Down | State::Cruise | State::Refill | State::Up)
    }
}

/// `BBR.ack_phase`: the phase of bandwidth probing to which the current ACKs belong.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum AckPhase {
    Init,
    Refilling,
    ProbeStarting,
    ProbeFeedback,
    ProbeStopping,
}

/// A running BBR.
#[derive(Clone, Debug)]
pub struct Bbr3 {
    model: Model,
}

#[derive(Clone, Debug)]
#[expect(clippy::struct_excessive_bools, reason = "the draft's; the states are in `State`")]
struct Model {
    state: State,
    has_sack: bool,
    initial_cwnd: f64,
    packet_bytes: f64,
    random: Stream,

    // The output of the control.
    cwnd: f64,
    pacing_rate: f64,
    send_quantum: u64,
    /// The rate for which the quantum was computed.
    quantum_rate: f64,
    has_rtt: bool,
    is_app_limited: bool,
    prior_cwnd: f64,
    repair: Repair,
    is_idle_restart: bool,

    // Round trips.
    rounds: DeliveryRounds,
    is_round_start: bool,
    rounds_since_probe_up: u64,
    drain_start_round: u64,

    // The model of the path: long-term, and short-term where its names say so.
    max_bw: WindowedMax,
    cycle_count: u64,
    bw: f64,
    bw_shortterm: f64,
    min_rtt: WindowedMin,
    inflight_longterm: f64,
    inflight_shortterm: f64,
    extra_acked: WindowedMax,
    extra_acked_start: Time,
    extra_acked_delivered: f64,

    // Whether the pipe is full.
    full_bw_reached: bool,
    full_bw: Plateau,

    // Losses.
    bw_latest: f64,
    inflight_latest: f64,
    is_loss_in_round: bool,
    /// Packets acknowledged as of the last event.
    delivered: u64,
    loss_round_delivered: u64,
    is_loss_round_start: bool,
    lost_ranges_in_round: u32,
    last_lost: Option<u64>,
    undo: Undo,

    // Probing for bandwidth.
    ack_phase: AckPhase,
    is_bw_probe_sample: bool,
    prev_probe_too_high: bool,
    prev_probe_precautionary: bool,
    cycle_stamp: Time,
    bw_probe_wait: Time,
    bw_probe_up_rounds: u32,
    bw_probe_up_acked: f64,
    probe_up_acked_per_inc: f64,

    // Probing for the RTT.
    probe_rtt_min: WindowedMin,
    is_probe_rtt_expired: bool,
    probe_rtt_done: Option<Time>,
    is_probe_rtt_round_done: bool,
}

/// The sample of an ACK that acknowledges no new packet.
const NO_SAMPLE: RateSample = RateSample {
    delivered: 0,
    prior_delivered: 0,
    delivery_rate: None,
    tx_in_flight: 0,
    lost: 0,
    is_app_limited: false,
};

const FULL_LOSS_COUNT: u32 = 6; // BBRStartupFullLossCnt
const MAX_BW_CYCLES: usize = 2; // BBR.MaxBwFilterLen
const DRAIN_ROUNDS: u64 = 3; // sec. "Drain"

impl Bbr3 {
    /// Starts the control.
    pub fn new(_params: &Bbr3Params) -> Self {
        Bbr3 { model: Model::new(&BeginEvent::default()) }
    }
}

impl RateBasedControl for Bbr3 {
    fn begin(&mut self, event: &BeginEvent) -> ControlOutput {
        self.model = Model::new(event);
        self.model.pace_initial_window(event.srtt);
        self.model.output()
    }

    fn on_rate_sample(&mut self, event: &RateSampleEvent) -> ControlOutput {
        self.model.update(event);
        self.model.output()
    }

    fn on_congestion(&mut self, event: &CongestionEvent) {
        match event.kind {
            // OnEnterFastRecovery
            CongestionKind::Loss => self.model.save_state_upon_loss(event.cwnd_packets),
            // OnEnterRTO; the sender sets its window to one packet.
            CongestionKind::Timeout => {
                self.model.save_state_upon_loss(event.cwnd_packets);
                self.model.repair = Repair::Timeout;
            }
            CongestionKind::Mark => self.model.note_loss(event.cwnd_packets),
        }
    }

    fn on_lost(&mut self, packet: &LostPacketEvent) {
        self.model.handle_lost_packet(packet);
    }

    fn on_undo(&mut self, event: &UndoEvent) -> f64 {
        self.model.handle_spurious_loss_detection(event)
    }

    fn on_restart(&mut self, event: &RestartEvent) -> Option<ControlOutput> {
        self.model.cwnd = event.cwnd_packets;
        self.model.handle_restart_from_idle(event.now);
        Some(self.model.output())
    }
}

impl Model {
    /// `OnInit`
    fn new(event: &BeginEvent) -> Self {
        let now = event.now;
        let min_rtt = WindowedMin::new(event.srtt, now);
        Model {
            state: State::Startup,
            has_sack: event.has_sack,
            initial_cwnd: event.cwnd_packets,
            packet_bytes: f64::from(event.packet_bytes),
            random: Stream::seeded(event.seed),
            cwnd: event.cwnd_packets,
            // InitPacingRate: 1 ms stands for the RTT before the first sample.
            pacing_rate: State::Startup.gains().0 * event.cwnd_packets / 1e-3,
            send_quantum: 2,
            quantum_rate: 0.0,
            has_rtt: false,
            is_app_limited: false,
            prior_cwnd: 0.0,
            repair: Repair::None,
            is_idle_restart: false,
            rounds: DeliveryRounds::default(),
            is_round_start: false,
            rounds_since_probe_up: 0,
            drain_start_round: 0,
            max_bw: WindowedMax::default(),
            cycle_count: 0,
            bw: 0.0,
            bw_shortterm: f64::INFINITY,
            min_rtt,
            inflight_longterm: f64::INFINITY,
            inflight_shortterm: f64::INFINITY,
            extra_acked: WindowedMax::default(),
            extra_acked_start: now,
            extra_acked_delivered: 0.0,
            full_bw_reached: false,
            full_bw: Plateau::default(),
            bw_latest: 0.0,
            inflight_latest: 0.0,
            is_loss_in_round: false,
            delivered: 0,
            loss_round_delivered: 0,
            is_loss_round_start: false,
            lost_ranges_in_round: 0,
            last_lost: None,
            undo: Undo::default(),
            ack_phase: AckPhase::Init,
            is_bw_probe_sample: false,
            prev_probe_too_high: false,
            prev_probe_precautionary: false,
            cycle_stamp: Time::ZERO,
            bw_probe_wait: Time::ZERO,
            bw_probe_up_rounds: 0,
            bw_probe_up_acked: 0.0,
            probe_up_acked_per_inc: f64::INFINITY,
            // As `bbr_init` of Linux does; the draft sets the other one alone.
            probe_rtt_min: min_rtt,
            is_probe_rtt_expired: false,
            probe_rtt_done: None,
            is_probe_rtt_round_done: false,
        }
    }

    fn output(&self) -> ControlOutput {
        ControlOutput {
            cwnd_packets: self.cwnd,
            pacing_rate: self.pacing_rate,
            send_quantum: self.send_quantum,
            is_app_limited: self.is_app_limited,
        }
    }

    /// `UpdateOnACK`
    fn update(&mut self, event: &RateSampleEvent) {
        self.cwnd = event.cwnd_packets;
        self.is_app_limited = false;
        self.note_end_of_repair(event);
        let sample = event.rate.unwrap_or(NO_SAMPLE);
        self.update_latest_delivery_signals(event);
        self.update_congestion_signals(event);
        self.update_ack_aggregation(event);
        self.check_full_bw_reached(event);
        self.check_startup_done(event, &sample);
        self.check_drain_done(event);
        self.update_probe_bw_cycle_phase(event, &sample);
        self.update_min_rtt(event);
        self.check_probe_rtt(event, &sample);
        self.advance_latest_delivery_signals(&sample);
        self.bw = smaller(self.max_bw.get(), self.bw_shortterm); // BoundBWForModel
        self.update_control_parameters(event);
    }

    /// `UpdateMaxBw` and `UpdateRound`
    fn update_max_bw(&mut self, event: &RateSampleEvent) {
        self.is_round_start = false;
        let Some(sample) = &event.rate else { return };
        self.is_round_start = self.rounds.is_over(sample, event.delivered);
        self.rounds_since_probe_up += u64::from(self.is_round_start);
        let Some(delivery_rate) = sample.delivery_rate else { return };
        if delivery_rate >= self.max_bw.get() || !sample.is_app_limited {
            self.max_bw.update(delivery_rate, self.cycle_count, MAX_BW_CYCLES);
        }
    }

    /// `CheckFullBWReached`
    fn check_full_bw_reached(&mut self, event: &RateSampleEvent) {
        let Some(sample) = event.rate.filter(|sample| !sample.is_app_limited) else { return };
        if let Some(delivery_rate) = sample.delivery_rate
            && self.is_round_start
        {
            self.full_bw.on_round(delivery_rate);
            self.full_bw_reached |= self.full_bw.is_reached;
        }
    }

    /// `CheckStartupDone`
    fn check_startup_done(&mut self, event: &RateSampleEvent, sample: &RateSample) {
        self.check_startup_high_loss(event, sample);
        if self.state == State::Startup && self.full_bw_reached {
            self.state = State::Drain;
            self.drain_start_round = self.rounds.count;
        }
    }

    /// `CheckStartupHighLoss`, in the draft's sec. "Exiting Startup Based on Packet Loss". The
    /// round trip of losses begins with the first loss, so the recovery has lasted a round trip at
    /// its end.
    fn check_startup_high_loss(&mut self, event: &RateSampleEvent, sample: &RateSample) {
        let is_recovering = event.repair == Repair::FastRecovery;
        let is_high = if self.has_sack {
            self.is_loss_round_start
                && self.lost_ranges_in_round >= FULL_LOSS_COUNT
                && self.is_inflight_too_high(sample.lost, sample.tx_in_flight)
        } else {
            event.newly_lost > 0
        };
        if self.state == State::Startup && is_recovering && is_high {
            self.undo.state = Some(State::Startup);
            self.full_bw_reached = true;
            self.full_bw.is_reached = true;
            self.inflight_longterm = self.bdp(self.bw).max(self.inflight_latest);
        }
        if self.is_loss_round_start {
            self.lost_ranges_in_round = 0;
            self.last_lost = None;
        }
    }

    /// `CheckDrainDone`
    fn check_drain_done(&mut self, event: &RateSampleEvent) {
        if self.state != State::Drain {
            return;
        }
        let is_drained = event.in_flight as f64 <= self.inflight(self.bw, 1.0);
        let is_too_long = self.rounds.count > self.drain_start_round + DRAIN_ROUNDS;
        if is_drained || is_too_long {
            self.start_probe_bw_down(event.now, event.delivered);
        }
    }
}
