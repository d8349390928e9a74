//! The TCP sender: what may leave now. Loss recovery, timeout, pacing and slow start exist here once,
//! for every congestion control.
//!
//! Sans I/O: each call gets the time at the sender and hands packets to a [`PacketSink`]. The sender
//! never reads a clock and never sees the schedule; it names the time of its next
//! [`deadline`](Sender::deadline), and whoever drives it calls [`Sender::on_deadline`] then, unless an
//! ACK at or before that time comes first.

pub mod counted_pipe;
pub mod ecn;
pub mod pacer;
pub mod prr;
pub mod rate_sample;
pub mod recovery;
pub mod rtt;
pub mod scoreboard;
pub mod slow_start;
pub mod spec;
pub mod steered;

use super::TcpSpec;
use crate::congestion::custom::ControlFault;
use crate::congestion::rate_based::Beginning;
use crate::congestion::{
    AckEvent, Congestion, CongestionControl, CongestionEvent, CongestionKind, MAX_WINDOW_PACKETS,
};
use crate::packet::{Ack, Packet};
use crate::probe::flow::{Checkpoints, FlowCounters, FlowProbe, FlowState};
use crate::traffic::objects::Objects;
use crate::units::{Time, float};
use ecn::EcnState;
use pacer::Pacer;
use recovery::{Recovery, RepairRule};
use rtt::{RttEstimator, RttSamples};
use scoreboard::Scoreboard;
use slow_start::{SlowStart, SlowStartEvent};
use steered::Steered;

/// Where a sender's packets go.
pub trait PacketSink {
    /// Takes a packet at the time in `packet.sent`.
    fn send(&mut self, packet: Packet);
}

/// What the application wants to send.
#[derive(Clone, Copy, Debug)]
pub struct Demand {
    /// When it starts.
    pub start: Time,
    /// From when on it offers nothing new.
    pub stop: Time,
    /// How many packets it has handed over so far; `u64::MAX` without bound.
    pub packets: u64,
    /// Size of a packet on the wire.
    pub packet_bytes: u32,
    /// Size of the last packet on the wire, when `packets` is bounded.
    pub last_packet_bytes: u32,
    /// Part of a packet that is header.
    pub header_bytes: u32,
}

/// Where a sender stands between losses.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Phase {
    /// Nothing is being repaired.
    Open,
    /// Fast recovery, until `recovery_point` is acknowledged.
    Recovery,
    /// After a timeout, until `recovery_point` is acknowledged.
    Timeout,
}

/// Smallest ssthresh, in packets (RFC 5681 sec. 3.1).
const MIN_SSTHRESH: f64 = 2.0;

/// A TCP sender.
#[derive(Debug)]
#[expect(clippy::struct_excessive_bools, reason = "independent facts; the states are in `Phase`")]
pub struct Sender {
    una: u64,
    next: u64,
    cwnd: f64,
    ssthresh: f64,
    rto_deadline: Time,
    /// When the last packet in flight was acknowledged.
    quiet_since: Time,
    /// When pacing or the start lets the next packet leave.
    release_at: Time,
    phase: Phase,
    is_window_limited: bool,
    is_sack: bool,
    max_window: f64,
    scoreboard: Scoreboard,
    rtt: RttEstimator,
    congestion: Congestion,
    /// Only with a control that models the path.
    steered: Option<Box<Steered>>,
    slow_start: SlowStart,
    pacer: Pacer,
    demand: Demand,
    /// Where more of it comes from.
    objects: Option<Box<Objects>>,
    /// When a packet was sent last.
    last_sent: Time,
    recovery_point: u64,
    duplicates: u64,
    /// `NewReno`'s inflation of the window by duplicate ACKs, less its deflation by partial ones.
    inflation: i64,
    is_rescue_spent: bool,
    /// The cumulative ACK from which on a rescue is allowed.
    rescue_from: u64,
    /// `NewReno`: no partial ACK has come yet in this episode.
    is_first_partial: bool,
    /// How the fast recovery under way decides what it sends.
    repair_rule: RepairRule,
    ecn: EcnState,
    options: Options,
    /// What is measured here.
    pub probe: FlowProbe,
}

/// Switches that stay as they were set.
#[derive(Clone, Copy, Debug)]
#[expect(clippy::struct_excessive_bools, reason = "each is a key of the scenario file")]
struct Options {
    uses_karn: bool,
    uses_prr: bool,
    counts_lost_in_pipe: bool,
    restart_at_retransmission: bool,
    forget_sack_at_timeout: bool,
    /// The window to start from after an idle time, if there is one (RFC 5681 sec. 4.1).
    restart_window: Option<f64>,
    send_burst: u64,
    control_has_slow_start: bool,
    /// In blocks, or at a rate that the control sets.
    control_paces: bool,
    control_watches: bool,
    answers_loss_after_mark: bool,
}

impl Sender {
    /// A sender that will start at `demand.start`; `seed` is for its control's random choices.
    pub fn new(spec: &TcpSpec, demand: Demand, seed: u64, marks: Checkpoints) -> Self {
        let max_window =
            spec.max_window.map_or(MAX_WINDOW_PACKETS, |packets| packets.min(MAX_WINDOW_PACKETS))
                as f64;
        let cwnd = f64::from(spec.initial_window).min(max_window);
        let mut congestion = Congestion::new(&spec.congestion);
        let steering = congestion.begin(&Beginning {
            now: demand.start,
            seed,
            cwnd_packets: cwnd,
            packet_bytes: demand.packet_bytes,
            has_sack: spec.recovery == Recovery::Sack,
        });
        let control_has_slow_start = congestion.has_own_slow_start();
        let control_paces = steering.is_some() || congestion.blocks(Time::ZERO).is_some();
        let control_watches = congestion.watches_every_ack();
        // A control that models the path has neither slow start nor bursts but its own.
        let initial_ssthresh = spec.initial_ssthresh.filter(|_| steering.is_none());
        let send_burst = if steering.is_some() { 1 } else { u64::from(spec.send_burst) };
        // A control that models the path knows itself what to do after an idle time.
        let restarts = spec.slow_start_after_idle && steering.is_none();
        let restart_window = restarts.then_some(cwnd);
        let answers_loss_after_mark = congestion.answers_loss_after_mark();
        Sender {
            una: 0,
            next: 0,
            cwnd,
            ssthresh: initial_ssthresh.map_or(f64::INFINITY, f64::from),
            rto_deadline: Time::NEVER,
            quiet_since: Time::NEVER,
            release_at: demand.start,
            phase: Phase::Open,
            is_window_limited: true,
            is_sack: spec.recovery == Recovery::Sack,
            max_window,
            scoreboard: Scoreboard::default(),
            rtt: RttEstimator::new(spec.min_rto.time(), spec.timer_granularity()),
            congestion,
            steered: steering.map(|steering| Box::new(Steered::new(steering))),
            slow_start: SlowStart::new(spec.slow_start, spec.pacing),
            pacer: Pacer::new(spec.pacing),
            demand,
            objects: None,
            last_sent: Time::ZERO,
            recovery_point: 0,
            duplicates: 0,
            inflation: 0,
            is_rescue_spent: false,
            rescue_from: 0,
            is_first_partial: false,
            repair_rule: RepairRule::Pipe,
            ecn: EcnState::new(spec.ecn),
            options: Options {
                uses_karn: spec.rtt_samples == RttSamples::Karn,
                uses_prr: spec.prr,
                counts_lost_in_pipe: spec.count_lost_in_pipe,
                restart_at_retransmission: spec.restart_rto_at_retransmission,
                forget_sack_at_timeout: spec.forget_sack_at_timeout,
                restart_window,
                send_burst,
                control_has_slow_start,
                control_paces,
                control_watches,
                answers_loss_after_mark,
            },
            probe: FlowProbe::new(marks),
        }
    }

    /// Takes what it sends from `objects` from now on, instead of having it from the start.
    pub fn send_objects(&mut self, objects: Objects) {
        self.demand.packets = 0;
        self.objects = Some(Box::new(objects));
    }

    /// When the sender must be woken; [`Time::NEVER`] if only an ACK can move it.
    #[inline]
    pub fn deadline(&self) -> Time {
        self.rto_deadline.min(self.release_at)
    }

    /// The window in packets.
    pub fn cwnd_packets(&self) -> f64 {
        self.cwnd
    }

    /// The slow-start threshold in packets.
    pub fn ssthresh_packets(&self) -> f64 {
        self.ssthresh
    }

    /// What stopped the congestion control, if it has failed.
    #[inline]
    pub fn control_fault(&self) -> Option<&ControlFault> {
        self.congestion.fault()
    }

    /// The control, for tests that look inside.
    #[cfg(test)]
    pub(crate) fn control(&self) -> &Congestion {
        &self.congestion
    }

    /// Memory that it takes for packets in flight.
    pub fn memory_bytes(&self) -> u64 {
        let records = self.steered.as_ref().map_or(0, |steered| steered.memory_bytes());
        records + self.scoreboard.memory_bytes()
    }

    /// The rate at which packets leave, in packets/s, if the control sets one.
    pub fn pacing_rate(&self) -> Option<f64> {
        self.steered.as_ref().map(|steered| steered.pacing_rate())
    }

    /// Packets acknowledged in sequence.
    pub fn delivered(&self) -> u64 {
        self.una
    }

    /// Whether everything the application had is acknowledged.
    pub fn is_complete(&self) -> bool {
        self.una == self.demand.packets && self.objects.is_none()
    }

    /// Counts inside the measured window; up to now, where it is not over.
    pub fn window(&self) -> FlowCounters {
        self.probe.window(&self.state())
    }

    /// Whether nothing is in flight.
    #[inline]
    pub fn is_quiet(&self) -> bool {
        self.rto_deadline == Time::NEVER
    }

    /// When the last byte was acknowledged, if it was.
    pub fn completed_at(&self) -> Option<Time> {
        self.is_complete().then_some(self.quiet_since)
    }

    /// Whether that was so at the end of the run, which the sender may have passed.
    pub fn is_complete_at_end(&self) -> bool {
        let after = self.probe.record().after;
        let has_all = after.is_some_and(|counters| counters.delivered == self.demand.packets);
        has_all && self.objects.is_none()
    }

    /// An ACK arrives.
    #[inline]
    pub fn on_ack(&mut self, now: Time, ack: Ack<'_>, out: &mut impl PacketSink) {
        self.record_until(now);
        let acked = ack.cumulative.saturating_sub(self.una);
        let rtt = if acked > 0 { self.sample_rtt(now, ack) } else { None };
        if self.steered.is_some() {
            self.on_ack_steered(now, ack, out);
            return;
        }
        let is_plain = self.phase == Phase::Open
            && acked > 0
            && ack.blocks.is_empty()
            && self.scoreboard.is_clear()
            && !self.ecn.is_news(ack);
        if is_plain {
            self.scoreboard.advance_clear(ack.cumulative);
            self.una = ack.cumulative;
            self.duplicates = 0;
            self.show_to_control(now, acked, rtt);
            self.grow(now, acked, rtt);
            self.restart_timer(now);
            self.send_new(now, out);
        } else {
            self.on_unusual_ack(now, ack, rtt, out);
        }
    }

    /// A timer or a paced release is due at `now`.
    #[inline(never)]
    pub fn on_deadline(&mut self, now: Time, out: &mut impl PacketSink) {
        self.record_until(now);
        if self.rto_deadline <= now {
            self.on_timeout(now, out);
        }
        if self.release_at <= now {
            self.release_at = Time::NEVER;
            self.restart_after_idle(now);
            self.send_allowed(now, out);
        }
    }

    /// Records the state as of every mark up to `now`.
    #[inline]
    pub fn record_until(&mut self, now: Time) {
        if self.probe.is_checkpoint_due(now) {
            self.record_marks(now);
        }
    }

    #[cold]
    fn record_marks(&mut self, now: Time) {
        let state = self.state();
        self.probe.record_until(now, &state);
    }

    fn state(&self) -> FlowState {
        let demand = &self.demand;
        let payload = u64::from(demand.packet_bytes - demand.header_bytes);
        let short = if self.is_complete() {
            u64::from(demand.packet_bytes - demand.last_packet_bytes)
        } else {
            0
        };
        FlowState {
            cwnd_packets: self.cwnd,
            ssthresh_packets: self.ssthresh,
            srtt: self.rtt.srtt(),
            delivered: self.una,
            delivered_bytes: self.una * payload - short,
        }
    }

    #[inline]
    fn sample_rtt(&mut self, now: Time, ack: Ack<'_>) -> Option<Time> {
        if self.options.uses_karn && ack.echoes_retransmission {
            return None;
        }
        let sample = now.since(ack.echo);
        self.rtt.on_sample(sample);
        self.probe.on_rtt(sample);
        Some(sample)
    }

    /// Lets the window grow after `acked` new packets. A window that did not limit the flow says
    /// nothing about the path and stays as it is (RFC 7661 sec. 4.2 calls it not validated).
    #[inline]
    fn grow(&mut self, now: Time, acked: u64, rtt: Option<Time>) {
        if !self.is_window_limited {
            return;
        }
        self.probe.on_window(now, self.cwnd);
        if self.cwnd < self.ssthresh {
            self.grow_in_slow_start(now, acked, rtt);
        } else {
            let event = self.ack_event(now, acked, rtt);
            self.cwnd = self.congestion.on_ack(self.cwnd, &event);
            // A control that shrinks the window by itself does not thereby begin a slow start.
            if self.cwnd < self.ssthresh {
                self.ssthresh = self.cwnd.max(MIN_SSTHRESH);
            }
        }
        self.cwnd = self.cwnd.min(self.max_window);
    }

    #[inline]
    fn ack_event(&self, now: Time, acked: u64, rtt: Option<Time>) -> AckEvent {
        AckEvent {
            now,
            acked_packets: acked,
            rtt,
            srtt: self.rtt.srtt(),
            min_rtt: self.rtt.min(),
            delivered_packets: self.una,
            marked_packets: self.ecn.reported(),
            next: self.next,
            is_slow_start: self.cwnd < self.ssthresh,
        }
    }

    /// Lets a control that watches every ACK see one of new data.
    #[inline]
    fn show_to_control(&mut self, now: Time, acked: u64, rtt: Option<Time>) {
        if self.options.control_watches {
            self.let_control_watch(now, acked, rtt);
        }
    }

    #[inline(never)]
    fn let_control_watch(&mut self, now: Time, acked: u64, rtt: Option<Time>) {
        let event = self.ack_event(now, acked, rtt);
        self.congestion.watch(&event);
    }

    /// The slow start that the scenario names, or the control's own.
    #[inline(never)]
    fn grow_in_slow_start(&mut self, now: Time, acked: u64, rtt: Option<Time>) {
        let is_over = if self.options.control_has_slow_start {
            let event = self.ack_event(now, acked, rtt);
            let cwnd = self.congestion.on_ack(self.cwnd, &event);
            self.cwnd = cwnd.min(self.ssthresh); // no single step leaps over it
            self.congestion.ends_slow_start()
        } else {
            let event =
                SlowStartEvent { acked_packets: acked, rtt, una: self.una, next: self.next };
            let (growth, is_over) = self.slow_start.on_ack(self.cwnd, &event);
            self.cwnd += growth;
            is_over
        };
        if is_over {
            self.ssthresh = self.cwnd.max(MIN_SSTHRESH);
        }
    }

    /// RFC 6298 sec. 5.2 and 5.3: off when nothing is in flight, restarted by new data acknowledged.
    #[inline]
    fn restart_timer(&mut self, now: Time) {
        if self.una == self.next {
            (self.rto_deadline, self.quiet_since) = (Time::NEVER, now);
        } else {
            self.rto_deadline = now.saturating_add(self.rtt.rto());
        }
    }

    /// Sets the window to what the congestion control answers to congestion.
    fn reduce(&mut self, now: Time, kind: CongestionKind) {
        self.probe.on_window(now, self.cwnd);
        self.probe.on_reduction(now, kind == CongestionKind::Timeout);
        let is_repeated = kind == CongestionKind::Timeout && self.rtt.is_backed_off();
        // RFC 5681 sec. 3.1: ssthresh is held when the timer expires again for the same packet.
        if !is_repeated {
            let is_slow_start = self.cwnd < self.ssthresh;
            let cwnd_packets = self.congested_window();
            let event = CongestionEvent { now, kind, cwnd_packets, is_slow_start };
            let target = self.congestion.on_congestion(&event);
            if self.steered.is_none() {
                self.ssthresh = target.max(MIN_SSTHRESH);
            }
        }
        self.ecn.on_reduction();
        self.pacer.restart_block();
    }

    /// The window that was in use when congestion struck, which ssthresh comes from.
    ///
    /// RFC 5681 Eq. 4 takes the flight size. Linux and ns-2 take cwnd, which is the same thing while
    /// the window limits the sender; so does tailroom, whose cwnd does not grow otherwise (as RFC
    /// 9438 sec. 4.6 asks of those who take cwnd). Where it is not the same thing:
    /// * an application that pauses leaves a window behind that says nothing about the path now;
    /// * proportional rate reduction makes cwnd follow the pipe, and ssthresh is what it leads to.
    fn congested_window(&self) -> f64 {
        let is_reducing = matches!(self.repair_rule, RepairRule::Prr(_));
        let window = if is_reducing { self.ssthresh } else { self.cwnd };
        let is_limited_by_application = self.objects.is_some() && !self.is_window_limited;
        if is_limited_by_application { window.min(float(self.next - self.una)) } else { window }
    }

    /// Sends what the phase allows.
    fn send_allowed(&mut self, now: Time, out: &mut impl PacketSink) {
        match self.phase {
            Phase::Open => self.send_new(now, out),
            Phase::Recovery | Phase::Timeout => self.send_in_recovery(now, out),
        }
    }

    /// Sends new data while the window has room, outside recovery.
    #[inline]
    fn send_new(&mut self, now: Time, out: &mut impl PacketSink) {
        let mut in_flight = self.next - self.una - self.scoreboard.sacked();
        // One comparison of floats a packet; converting the window to an integer costs more.
        let window = self.cwnd + self.limited_transmit() as f64;
        let fits = |in_flight: u64| float(in_flight + 1) <= window;
        self.is_window_limited = true;
        if self.options.send_burst > 1 && !fits(in_flight + self.burst(in_flight) - 1) {
            return;
        }
        while fits(in_flight) {
            if !self.has_new_data(now) {
                self.is_window_limited = false;
                return;
            }
            if !self.may_leave(now) {
                return;
            }
            let packet = self.next;
            self.next += 1;
            in_flight += 1;
            self.transmit(now, packet, false, out);
        }
    }

    /// How many packets must fit before a host with segmentation offload sends: its burst, but at
    /// most a third of the window (Linux `tcp_tso_win_divisor`), and one when nothing is in flight.
    fn burst(&self, in_flight: u64) -> u64 {
        if self.options.send_burst <= 1 || in_flight == 0 {
            return 1;
        }
        self.options.send_burst.min(self.cwnd as u64 / 3).max(1)
    }

    /// RFC 3042: the first two duplicate ACKs let one new packet out each. With SACK they already
    /// shrink what counts as in flight.
    #[inline]
    fn limited_transmit(&self) -> u64 {
        if self.is_sack { 0 } else { self.duplicates.min(2) }
    }

    #[inline]
    fn has_new_data(&mut self, now: Time) -> bool {
        (self.next < self.demand.packets || self.take_objects(now)) && now < self.demand.stop
    }

    /// Takes the objects that have arrived by `now`; if there are none, sleeps until one comes.
    #[inline(never)]
    fn take_objects(&mut self, now: Time) -> bool {
        let Some(objects) = &mut self.objects else { return false };
        let packets = objects.take(now);
        self.demand.packets += packets;
        if packets == 0 {
            self.release_at = self.release_at.min(objects.next_arrival());
        }
        packets > 0
    }

    /// RFC 5681 sec. 4.1: whoever has sent nothing for longer than the retransmission timeout has no
    /// ACKs to clock what it sends, and starts again from the restart window, min(IW, cwnd).
    fn restart_after_idle(&mut self, now: Time) {
        let is_idle = self.is_quiet() && now.since(self.last_sent) > self.rtt.rto();
        if let Some(restart_window) = self.options.restart_window
            && is_idle
            && restart_window < self.cwnd
        {
            self.probe.on_window(now, self.cwnd);
            self.cwnd = restart_window;
        }
    }

    /// Whether pacing lets a packet leave now; if not, the release is set.
    #[inline]
    fn may_leave(&mut self, now: Time) -> bool {
        if let Some(release) = self.pacer.wait(now) {
            self.release_at = release;
            return false;
        }
        true
    }

    /// The control has its window sent in blocks, or at a rate; a slow start is too short to be cut.
    #[cold]
    fn note_paced(&mut self, now: Time, sequence: u64, is_retransmission: bool) {
        if self.steered.is_some() {
            self.note_departure(now, sequence, is_retransmission);
            return;
        }
        let srtt = self.rtt.srtt();
        if let Some(blocks) = self.congestion.blocks(srtt).filter(|_| self.cwnd >= self.ssthresh) {
            self.pacer.on_sent_in_block(now, self.cwnd, blocks, srtt);
        }
    }

    #[inline(never)]
    fn transmit(
        &mut self,
        now: Time,
        sequence: u64,
        is_retransmission: bool,
        out: &mut impl PacketSink,
    ) {
        self.last_sent = now;
        let is_last = sequence + 1 == self.demand.packets;
        let bytes = if is_last { self.demand.last_packet_bytes } else { self.demand.packet_bytes };
        self.probe.on_sent(bytes, is_retransmission);
        if self.options.control_paces {
            self.note_paced(now, sequence, is_retransmission);
        } else {
            self.pacer.on_sent(now, self.cwnd, self.cwnd < self.ssthresh, self.rtt.srtt());
        }
        if self.rto_deadline == Time::NEVER {
            self.rto_deadline = now.saturating_add(self.rtt.rto()); // RFC 6298 sec. 5.1
        }
        let (ecn, is_cwr) = self.ecn.on_sent(is_retransmission);
        out.send(Packet { sequence, bytes, sent: now, is_retransmission, ecn, is_cwr });
    }
}
