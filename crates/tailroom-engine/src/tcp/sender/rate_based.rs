//! The part of the sender that serves a rate-based control: it measures delivery rates, shows the
//! control every ACK, and sends at the control's window and pacing rate. Slow start, ssthresh and
//! proportional rate reduction have no part in it. Which packets are lost, and which are sent
//! again, is decided as under a window law.

use super::ack_news::AckNews;
use super::burst::{self, SendBurst, UNPACED_PACKETS};
use super::rate_sample::RateSampler;
use super::scoreboard::DUPLICATE_THRESHOLD;
use super::step_end::StepEnd;
use super::{CongestionControl, PacketSink, Phase, Sender};
use crate::congestion::rate_based::{
    BeginEvent, ControlOutput, RateBasedControl, RateSampleEvent, Repair, RestartEvent, TimeEvent,
    UndoEvent,
};
use crate::congestion::stepped::SteppedParams;
use crate::congestion::{AnyRateBasedControl, CongestionEvent, CongestionKind};
use crate::packet::{Ack, Range};
use crate::units::{PICOSECONDS_PER_SECOND, Time, float};

/// A rate-based control and the state that the sender keeps for it.
#[derive(Clone, Debug)]
pub struct RateBasedSender {
    control: AnyRateBasedControl,
    sampler: RateSampler,
    /// Seed of the control's random choices.
    seed: u64,
    /// How the control wants the sender to send.
    output: ControlOutput,
    /// Time between two packets at the pacing rate.
    gap: Time,
    pub(super) step_end: StepEnd,
}

impl RateBasedSender {
    /// The state before the first packet. The control is asked when it may [`begin`](Self::begin).
    pub fn new(control: AnyRateBasedControl, seed: u64) -> Self {
        let output = ControlOutput {
            cwnd_packets: 1.0,
            pacing_rate: 1.0,
            send_quantum: 1,
            is_app_limited: false,
        };
        let sampler = RateSampler::default();
        let step_end = StepEnd::default();
        RateBasedSender { control, sampler, seed, output, gap: gap(output), step_end }
    }

    /// Asks the control how to send until the first ACK.
    pub fn begin(&mut self, event: &BeginEvent) {
        self.output = self.control.begin(event);
        self.gap = gap(self.output);
    }

    /// Sets what a stepped control holds. Returns how to send, once the flow has begun.
    pub(super) fn hold(&mut self, params: SteppedParams) -> Option<ControlOutput> {
        match &mut self.control {
            AnyRateBasedControl::Stepped(control) => control.hold(params),
            _ => None,
        }
    }

    /// Time between two packets at the pacing rate.
    pub(super) fn gap(&self) -> Time {
        self.gap
    }

    /// Seed of the control's random choices.
    pub fn seed(&self) -> u64 {
        self.seed
    }

    /// The control.
    #[inline]
    pub fn control(&self) -> &AnyRateBasedControl {
        &self.control
    }

    /// The sender has concluded that there is congestion.
    pub fn on_congestion(&mut self, event: &CongestionEvent) {
        self.control.on_congestion(event);
    }

    /// The last reduction was spurious. Returns the window.
    pub fn on_undo(&mut self, event: &UndoEvent) -> f64 {
        self.control.on_undo(event)
    }

    /// Packets acknowledged since the connection began.
    pub fn delivered(&self) -> u64 {
        self.sampler.delivered()
    }

    /// Packets that were taken for lost are in the network.
    pub fn unmark_lost(&mut self) {
        self.sampler.unmark_lost();
    }

    /// Takes in newly sacked packets.
    pub fn on_sacked(&mut self, now: Time, packets: Range) {
        self.sampler.on_sacked(now, packets);
    }

    /// Sends as `output` says from now on. A division only if the rate has changed.
    fn follow(&mut self, output: ControlOutput) {
        if output.pacing_rate.to_bits() != self.output.pacing_rate.to_bits() {
            self.gap = gap(output);
        }
        self.output = output;
    }

    /// Memory of the sender and of the records of its packets in flight, in bytes.
    pub fn memory_bytes(&self) -> u64 {
        size_of::<RateBasedSender>() as u64 + self.sampler.memory_bytes()
    }

    /// Rate at which packets leave, in packets/s.
    pub fn pacing_rate(&self) -> f64 {
        self.output.pacing_rate
    }
}

/// The state of a sender before an ACK.
#[derive(Clone, Copy, Debug)]
struct Prior {
    una: u64,
    in_flight: u64,
}

fn gap(output: ControlOutput) -> Time {
    Time::from_picoseconds((PICOSECONDS_PER_SECOND as f64 / output.pacing_rate) as u64)
}

impl CongestionControl {
    /// Shows a rate-based control that a retransmission is lost.
    pub(super) fn show_lost(&mut self, now: Time, sequence: u64, cwnd_packets: f64) {
        if let CongestionControl::RateBased(rate_based) = self {
            let RateBasedSender { control, sampler, .. } = &mut **rate_based;
            sampler.lose(now, sequence, cwnd_packets, &mut |packet| control.on_lost(packet));
        }
    }
}

impl Sender {
    /// Whether the control sets the pacing rate.
    #[inline]
    pub(super) fn is_rate_based(&self) -> bool {
        matches!(self.congestion_control, CongestionControl::RateBased(_))
    }

    /// Takes in an ACK: measures the delivery rate, detects losses, asks the control, and sends.
    #[inline]
    pub(super) fn on_ack_rate_based(&mut self, now: Time, ack: Ack<'_>, out: &mut impl PacketSink) {
        // Overtaken by a later ACK; its SACK blocks may still tell something (Linux `tcp_ack`).
        let is_overtaken = ack.cumulative < self.una;
        if is_overtaken && (ack.blocks.is_empty() || !self.is_sack) {
            return;
        }
        let prior_in_flight = self.scoreboard.pipe(self.next);
        let prior_una = self.una;
        self.note_app_limit(now);
        let is_marked = !is_overtaken && self.ecn.note(ack);
        if self.phase != Phase::Open || !self.scoreboard.is_clear() {
            self.note_echo(now, ack);
        }
        let (awaited, sacked) = (self.awaited_originals(), self.take_in(now, ack));
        if self.may_be_undone(ack) {
            let acked = self.una - prior_una;
            self.judge(now, ack, AckNews { acked, has_sacked: sacked > 0, is_marked, awaited });
        }
        let lost_again = self.detect_losses(now, ack);
        let newly_lost = self.show_losses(now) + lost_again;
        if is_marked {
            self.react_to_mark(now);
        }
        self.change_phase(now, lost_again > 0);
        if self.una > prior_una {
            self.restart_timer(now);
        }
        let timestamp_rtt = if self.una > prior_una { self.timestamp_rtt(now, ack) } else { None };
        let prior = Prior { una: prior_una, in_flight: prior_in_flight };
        self.ask_control(now, prior, newly_lost, timestamp_rtt);
        // Most ACKs arrive while the pacer holds the next packet back, whose release is set
        // already.
        let is_held_back = now < self.release_at && self.release_at != Time::NEVER;
        if !is_held_back {
            self.send_allowed(now, out);
        }
    }

    /// Marks the packets in flight as limited by the application if the window has room and there
    /// is no data to send (`CheckIfApplicationLimited`).
    #[inline]
    pub(super) fn note_app_limit(&mut self, now: Time) {
        if !self.has_new_data(now) {
            self.limit_by_application();
        }
    }

    #[inline(never)]
    fn limit_by_application(&mut self) {
        let in_flight = self.scoreboard.pipe(self.next);
        let has_room = (in_flight as f64) < self.cwnd && self.scoreboard.next_lost().is_none();
        if let CongestionControl::RateBased(rate_based) = &mut self.congestion_control
            && has_room
        {
            rate_based.sampler.mark_app_limited(in_flight);
        }
    }

    /// Takes in the packets that an ACK acknowledges; returns the number of newly sacked packets.
    fn take_in(&mut self, now: Time, ack: Ack<'_>) -> u64 {
        let CongestionControl::RateBased(rate_based) = &mut self.congestion_control else {
            return 0;
        };
        let acked = ack.cumulative.saturating_sub(self.una);
        if acked > 0 {
            rate_based.sampler.on_acked(now, ack.cumulative);
            self.advance_rack(now, ack.cumulative);
            self.scoreboard.advance(ack.cumulative);
            self.una = ack.cumulative;
            self.duplicates = 0;
        }
        if self.is_sack {
            return self.add_blocks(now, ack).0;
        }
        self.count_duplicates(acked);
        0
    }

    /// Detects losses without SACK, by RFC 6582, including its inflation of the window by duplicate
    /// ACKs.
    #[inline(never)]
    fn count_duplicates(&mut self, acked: u64) {
        match self.phase {
            Phase::Recovery if acked > 0 && self.una < self.recovery_point => {
                self.inflation -= acked.cast_signed() - 1;
                self.scoreboard.lose_first();
            }
            Phase::Recovery if acked == 0 => self.inflation += 1,
            Phase::Open if acked == 0 && self.next > self.una => {
                self.duplicates += 1;
                if self.duplicates == DUPLICATE_THRESHOLD && self.is_beyond_last_repair() {
                    self.inflation = DUPLICATE_THRESHOLD.cast_signed();
                    self.scoreboard.lose_first();
                }
            }
            _ => {}
        }
    }

    /// Shows the control each packet below the edge of the lost ones that it has not been shown;
    /// returns their number.
    pub(super) fn show_losses(&mut self, now: Time) -> u64 {
        let CongestionControl::RateBased(rate_based) = &mut self.congestion_control else {
            return 0;
        };
        let RateBasedSender { control, sampler, .. } = &mut **rate_based;
        let edge = self.scoreboard.lost_edge();
        sampler.lose_below(now, edge, self.cwnd, |packet| control.on_lost(packet))
    }

    /// Shows the control the packets that a timeout has declared lost.
    pub(super) fn show_timeout(&mut self, now: Time) {
        let CongestionControl::RateBased(rate_based) = &mut self.congestion_control else { return };
        let RateBasedSender { control, sampler, .. } = &mut **rate_based;
        sampler.lose_everything(now, self.cwnd, |packet| control.on_lost(packet));
    }

    /// Begins or ends a recovery. A timeout becomes a recovery when a retransmission `is_lost_again`.
    pub(super) fn change_phase(&mut self, now: Time, is_lost_again: bool) {
        if self.phase != Phase::Open && self.una >= self.recovery_point {
            self.phase = Phase::Open;
            self.inflation = 0;
            if let Some(rack) = &mut self.rack {
                rack.on_recovered();
            }
        }
        let has_failed = self.phase == Phase::Timeout && is_lost_again;
        if has_failed || self.phase == Phase::Open && self.must_repair() {
            self.reduce(now, CongestionKind::Loss);
            self.begin_recovery();
        }
    }

    /// The RTT in whole ticks of the clock that timestamps are taken from, at least one.
    pub(super) fn timestamp_rtt(&self, now: Time, ack: Ack<'_>) -> Option<Time> {
        let tick = self.options.timestamp_tick?.picoseconds();
        let ticks = now.picoseconds() / tick - ack.echo.picoseconds() / tick;
        Some(Time::from_picoseconds(ticks.max(1) * tick))
    }

    fn ask_control(
        &mut self,
        now: Time,
        prior: Prior,
        newly_lost: u64,
        timestamp_rtt: Option<Time>,
    ) {
        let CongestionControl::RateBased(rate_based) = &mut self.congestion_control else { return };
        let (newly_delivered, rtt, rate) = rate_based.sampler.finish(now, timestamp_rtt);
        let in_flight = self.scoreboard.pipe(self.next);
        let event = RateSampleEvent {
            now,
            cwnd_packets: self.cwnd,
            srtt: self.rtt.srtt(),
            prior_in_flight: prior.in_flight,
            in_flight,
            newly_delivered,
            newly_lost,
            delivered: rate_based.sampler.delivered(),
            marked: self.ecn.reported(),
            rtt,
            rate,
            is_cwnd_limited: rate_based.sampler.is_cwnd_limited(prior.una),
            repair: match self.phase {
                Phase::Open | Phase::Opening => Repair::None,
                Phase::Recovery => Repair::FastRecovery,
                Phase::Timeout => Repair::Timeout,
            },
            next_departure: self.pacer.next_departure(),
        };
        let output = rate_based.control.on_rate_sample(&event);
        if output.is_app_limited {
            rate_based.sampler.mark_app_limited(in_flight);
        }
        self.follow_with_what_waits(now, output);
    }

    /// Sends as `output` says from now on. The packet that waits for its time does so too, if the
    /// control times it: then nothing is held back until it is asked for again.
    fn follow_with_what_waits(&mut self, now: Time, output: ControlOutput) {
        let before = self.rate_based_sender().map_or(Time::ZERO, RateBasedSender::gap);
        self.follow(now, output);
        let Some(rate_based) = self.rate_based_sender() else { return };
        let after = rate_based.gap();
        if before != after && rate_based.control().paces_what_waits() {
            self.pacer.change_gap(now, self.last_sent, before, after);
            self.release_at = Time::NEVER;
        }
    }

    /// When the control changes the rate although no ACK comes.
    #[inline]
    pub(super) fn next_rate_change(&self) -> Time {
        self.rate_based_sender().map_or(Time::NEVER, |sender| sender.control().next_change())
    }

    /// Lets the control change the rate at which a packet waits, if the time for it has come.
    #[inline]
    pub(super) fn change_rate(&mut self, now: Time) {
        if self.next_rate_change() <= now {
            self.ask_at_time(now);
        }
    }

    #[inline(never)]
    fn ask_at_time(&mut self, now: Time) {
        let (srtt, in_flight) = (self.rtt.srtt(), self.scoreboard.pipe(self.next));
        let CongestionControl::RateBased(rate_based) = &mut self.congestion_control else { return };
        let delivered = rate_based.sampler.delivered();
        let event = TimeEvent { now, srtt, in_flight, delivered };
        if let Some(output) = rate_based.control.on_time(&event) {
            self.follow_with_what_waits(now, output);
        }
    }

    /// Sends as `output` says from now on.
    pub(super) fn follow(&mut self, now: Time, output: ControlOutput) {
        self.probe.on_window(now, self.cwnd);
        self.cwnd = output.cwnd_packets.max(1.0).min(self.max_window);
        if let CongestionControl::RateBased(rate_based) = &mut self.congestion_control {
            rate_based.follow(output);
        }
    }

    /// Asks the control how to send after an idle time.
    #[inline(never)]
    fn restart(&mut self, now: Time) {
        let restart = RestartEvent { now, cwnd_packets: self.cwnd };
        if let CongestionControl::RateBased(rate_based) = &mut self.congestion_control
            && rate_based.sampler.is_app_limited()
            && let Some(output) = rate_based.control.on_restart(&restart)
        {
            self.follow(now, output);
        }
    }

    /// Records a packet that leaves, and paces the next one.
    #[inline]
    pub(super) fn note_departure(&mut self, now: Time, sequence: u64, is_retransmission: bool) {
        let in_flight = self.scoreboard.pipe(self.next);
        if in_flight <= 1 {
            self.restart(now);
        }
        let send_burst = self.options.send_burst;
        let (payload, min_rtt) = (self.payload_bytes(), self.rtt.least());
        let CongestionControl::RateBased(rate_based) = &mut self.congestion_control else { return };
        let is_full = float(in_flight + 1) > self.cwnd;
        let quantum = match (send_burst, rate_based.output.send_quantum) {
            (SendBurst::SINGLE, quantum) => quantum,
            // Linux asks the pacer before each packet that it sends again
            // (`tcp_xmit_retransmit_queue`).
            _ if is_retransmission => 1,
            (SendBurst::AUTO, quantum) => burst::near_quantum(quantum, payload, min_rtt),
            (_, quantum) => quantum,
        };
        rate_based.sampler.on_sent(now, sequence, is_retransmission, in_flight, is_full);
        let is_paced = send_burst != SendBurst::AUTO || self.next >= UNPACED_PACKETS;
        let gap = if is_paced { rate_based.gap } else { Time::ZERO };
        self.pacer.on_sent_at_rate(now, gap, quantum);
    }
}
