//! The TCP sender: decides which packets may leave now. Loss recovery, timeout, pacing and slow
//! start are implemented here, once for all congestion controls.
//!
//! The sender does no I/O: each method takes the time at the sender and hands packets to a
//! [`PacketSink`]. The sender never reads a clock and never sees the schedule. It reports the time
//! of its next [`deadline`](Sender::deadline), and the caller calls [`Sender::on_deadline`] at that
//! time, unless an ACK arrives no later.

mod ack_news;
#[doc(hidden)]
pub mod blocks;
#[doc(hidden)]
pub mod burst;
#[doc(hidden)]
pub mod counted_pipe;
mod departures;
#[doc(hidden)]
pub mod ecn;
mod fast_path;
mod flight;
#[doc(hidden)]
pub mod handshake;
#[doc(hidden)]
pub mod hystart;
pub mod info;
mod loss_detection;
#[doc(hidden)]
pub mod pacer;
#[doc(hidden)]
pub mod prr;
#[doc(hidden)]
pub mod rack;
#[doc(hidden)]
pub mod rate_based;
#[doc(hidden)]
pub mod rate_sample;
mod recorded;
#[doc(hidden)]
pub mod recovery;
#[doc(hidden)]
pub mod rtt;
#[doc(hidden)]
pub mod scoreboard;
#[doc(hidden)]
pub mod slow_start;
#[doc(hidden)]
pub mod spec;
mod step_end;
mod stepped;
mod suspects;
mod undo;
mod window;
mod window_use;
mod writes;

use super::TcpSpec;
#[cfg(test)]
use crate::congestion::AnyRateBasedControl;
use crate::congestion::rate_based::BeginEvent;
use crate::congestion::{AnyWindowLaw, Congestion, MAX_WINDOW_PACKETS, WindowLaw};
use crate::custom::CustomFault;
use crate::packet::{Ack, Packet};
use crate::probe::flow::{Checkpoints, FlowCounters, FlowProbe, FlowState};
use crate::quantity::PositiveDuration;
use crate::traffic::objects::Objects;
use crate::units::{Rate, Time};
use blocks::BlockPacer;
use burst::SendBurst;
use ecn::EcnState;
pub(super) use fast_path::{FastSender, PlainAck};
use handshake::Handshake;
use pacer::Pacer;
use rack::Rack;
use rate_based::RateBasedSender;
use recovery::{Recovery, RepairRule};
use rtt::{RttEstimator, RttSamples};
use scoreboard::Scoreboard;
use slow_start::SlowStart;
use undo::Undo;
use window_use::WindowUse;

/// Takes the packets of a sender.
pub trait PacketSink {
    /// Takes a packet that leaves at `packet.sent`.
    fn send(&mut self, packet: Packet);
}

/// The data that the application has handed over to send.
#[derive(Clone, Copy, Debug)]
pub struct SendQueue {
    /// When the application starts.
    pub start: Time,
    /// From this time on the application offers no new data.
    pub stop: Time,
    /// Packets that the application has handed over so far; `u64::MAX` without bound.
    pub packets: u64,
    /// Size of a packet on the wire.
    pub packet_bytes: u32,
    /// Size of the last packet on the wire, when `packets` is bounded.
    pub last_packet_bytes: u32,
    /// Size of the headers in a packet.
    pub header_bytes: u32,
    /// Rate at which the host sends: that of the access link, or of the first shared link if there
    /// is no access link.
    pub line_rate: Rate,
    /// Number of shared links on the path.
    pub hops: u32,
}

/// The state of loss recovery.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Phase {
    /// The connection is being opened.
    Opening,
    /// No recovery.
    Open,
    /// Fast recovery, until `recovery_point` is acknowledged.
    Recovery,
    /// After a timeout, until `recovery_point` is acknowledged.
    Timeout,
}

/// The congestion control of a sender.
#[derive(Clone, Debug)]
enum CongestionControl {
    /// Sets the window; the sender adds slow start, ssthresh and proportional rate reduction.
    WindowLaw(AnyWindowLaw),
    /// Sets window and pacing rate. In a box, since most flows have a window law.
    RateBased(Box<RateBasedSender>),
}

/// A TCP sender.
#[derive(Clone, Debug)]
#[expect(clippy::struct_excessive_bools, reason = "independent facts; the states are in `Phase`")]
pub struct Sender {
    una: u64,
    next: u64,
    cwnd: f64,
    ssthresh: f64,
    rto_deadline: Time,
    /// When the last packet in flight was acknowledged.
    quiet_since: Time,
    /// When pacing, or the start of the flow, allows the next packet to leave.
    release_at: Time,
    phase: Phase,
    /// Number of times that the first packet of the handshake has left.
    openings: u32,
    is_window_limited: bool,
    is_sack: bool,
    max_window: f64,
    scoreboard: Scoreboard,
    /// Finds losses by time. In a box, since it is one of several ways to find them.
    rack: Option<Box<Rack>>,
    /// When the reordering window has passed or a probe is due, of a sender that finds losses by
    /// time.
    rack_deadline: Time,
    rtt: RttEstimator,
    congestion_control: CongestionControl,
    slow_start: SlowStart,
    pacer: Pacer,
    /// Divides the window into blocks. In a box, since most controls do not.
    blocks: Option<Box<BlockPacer>>,
    send_queue: SendQueue,
    /// The source of more data.
    objects: Option<Box<Objects>>,
    /// Of a sender whose data arrive over time.
    window_use: Option<Box<WindowUse>>,
    /// When the last packet was sent.
    last_sent: Time,
    recovery_point: u64,
    /// The first packet in flight at the last timeout; [`u64::MAX`] before the first one.
    timed_out: u64,
    duplicates: u64,
    /// `NewReno`'s inflation of the window by duplicate ACKs, less its deflation by partial ones.
    inflation: i64,
    is_rescue_spent: bool,
    /// A rescue retransmission is allowed from this cumulative ACK on.
    rescue_from: u64,
    /// `NewReno`: no partial ACK has come yet in this episode.
    is_first_partial: bool,
    /// The rule by which the current fast recovery decides what it sends.
    repair_rule: RepairRule,
    /// Of a host that takes reductions back. In a box, since only recoveries read it.
    undo: Option<Box<Undo>>,
    ecn: EcnState,
    options: Options,
    /// The measurements of this flow.
    pub probe: FlowProbe,
}

/// Options that do not change during a run.
#[derive(Clone, Copy, Debug)]
#[expect(clippy::struct_excessive_bools, reason = "each is a key of the scenario file")]
struct Options {
    uses_karn: bool,
    uses_prr: bool,
    counts_lost_in_pipe: bool,
    restart_at_retransmission: bool,
    forget_sack_at_timeout: bool,
    /// What has arrived is known even after a timeout: by selective ACKs, or by duplicate ones.
    keeps_arrivals: bool,
    /// Without selective ACKs, a duplicate ACK counts as a packet that has arrived behind a gap.
    counts_duplicates: bool,
    /// The window after an idle time, if the sender restarts then (RFC 5681 sec. 4.1).
    restart_window: Option<f64>,
    /// The window of an application that pauses follows Linux.
    validates_window: bool,
    send_burst: SendBurst,
    timestamp_tick: Option<Time>,
    has_own_slow_start: bool,
    /// The control divides the window into blocks or sets the pacing rate.
    is_paced_by_control: bool,
    sees_every_ack: bool,
    answers_loss_after_mark: bool,
}

impl Sender {
    /// A sender that starts at `send_queue.start`; `seed` is for the random choices of its control.
    pub fn new(spec: &TcpSpec, send_queue: SendQueue, seed: u64, checkpoints: Checkpoints) -> Self {
        let max_window =
            spec.max_window.map_or(MAX_WINDOW_PACKETS, |packets| packets.min(MAX_WINDOW_PACKETS))
                as f64;
        let cwnd = f64::from(spec.initial_window).min(max_window);
        let congestion_control = match Congestion::new(&spec.congestion) {
            Congestion::WindowLaw(law) => CongestionControl::WindowLaw(law),
            Congestion::RateBased(control) => {
                CongestionControl::RateBased(Box::new(RateBasedSender::new(control, seed)))
            }
        };
        let is_rack = spec.recovery == Recovery::Rack;
        let timer_margin = spec.rack_timer_margin.map_or(Time::ZERO, PositiveDuration::time);
        // A rate-based control decides alone about slow start, bursts and restarts after idle
        // times.
        let is_rate_based = matches!(congestion_control, CongestionControl::RateBased(_));
        let initial_ssthresh = spec.initial_ssthresh.filter(|_| !is_rate_based);
        let law = match &congestion_control {
            CongestionControl::WindowLaw(law) => Some(law),
            CongestionControl::RateBased(_) => None,
        };
        let counts_duplicates = spec.send_burst == SendBurst::AUTO && !spec.recovery.has_sack();
        let mut sender = Sender {
            una: 0,
            next: 0,
            cwnd,
            ssthresh: initial_ssthresh.map_or(f64::INFINITY, f64::from),
            rto_deadline: Time::NEVER,
            quiet_since: Time::NEVER,
            release_at: send_queue.start,
            phase: if spec.handshake == Handshake::BY_FLOW { Phase::Opening } else { Phase::Open },
            openings: 0,
            is_window_limited: true,
            is_sack: spec.recovery.has_sack(),
            max_window,
            scoreboard: Scoreboard::new(is_rack),
            rack: is_rack.then(|| Box::new(Rack::new(timer_margin))),
            rack_deadline: Time::NEVER,
            rtt: RttEstimator::new(spec.min_rto.time(), spec.timer_granularity())
                .with_initial_rto(spec.first_rto()),
            slow_start: SlowStart::new(spec.slow_start, spec.pacing),
            pacer: Pacer::new(spec.pacing),
            blocks: law
                .filter(|law| law.blocks(Time::ZERO).is_some())
                .map(|law| Box::new(BlockPacer::new(law.block_rules()))),
            send_queue,
            objects: None,
            window_use: None,
            last_sent: Time::ZERO,
            recovery_point: 0,
            timed_out: u64::MAX,
            duplicates: 0,
            inflation: 0,
            is_rescue_spent: false,
            rescue_from: 0,
            is_first_partial: false,
            repair_rule: RepairRule::Pipe,
            undo: Undo::new(spec),
            ecn: EcnState::new(spec.ecn, spec.congestion.parameters().needs_marks()),
            options: Options {
                uses_karn: spec.rtt_samples == RttSamples::Karn,
                uses_prr: spec.prr && spec.recovery.has_sack() && !is_rate_based,
                counts_lost_in_pipe: spec.count_lost_in_pipe,
                restart_at_retransmission: spec.restart_rto_at_retransmission,
                forget_sack_at_timeout: spec.forget_sack_at_timeout,
                keeps_arrivals: is_rack
                    || counts_duplicates
                    || spec.recovery.has_sack() && !spec.forget_sack_at_timeout,
                counts_duplicates,
                restart_window: (spec.slow_start_after_idle && !is_rate_based).then_some(cwnd),
                validates_window: spec.window_validation && !is_rate_based,
                send_burst: spec.send_burst,
                timestamp_tick: spec.timestamp_tick.map(PositiveDuration::time),
                has_own_slow_start: law.is_some_and(WindowLaw::has_own_slow_start),
                is_paced_by_control: is_rate_based
                    || law.is_some_and(|law| law.blocks(Time::ZERO).is_some()),
                sees_every_ack: law.is_some_and(WindowLaw::sees_every_ack),
                answers_loss_after_mark: law.is_some_and(WindowLaw::answers_loss_after_mark),
            },
            congestion_control,
            probe: FlowProbe::new(checkpoints),
        };
        if spec.handshake == Handshake::NONE {
            sender.begin_control(sender.send_queue.start);
        }
        sender
    }

    /// Asks a rate-based control how to send the first data, at `now`.
    fn begin_control(&mut self, now: Time) {
        let (cwnd_packets, srtt) = (self.cwnd, self.rtt.srtt());
        let SendQueue { packet_bytes, line_rate, hops, .. } = self.send_queue;
        if let CongestionControl::RateBased(rate_based) = &mut self.congestion_control {
            rate_based.begin(&BeginEvent {
                now,
                seed: rate_based.seed(),
                cwnd_packets,
                packet_bytes,
                line_rate: line_rate.bits_per_second() as f64 / (8.0 * f64::from(packet_bytes)),
                hops,
                has_sack: self.is_sack,
                srtt,
            });
        }
    }

    /// The host sends at another rate from `now` on, which a control takes note of when it begins.
    pub(crate) fn set_line_rate(&mut self, now: Time, rate: Rate) {
        self.send_queue.line_rate = rate;
        if self.phase == Phase::Open && self.send_queue.start >= now {
            self.begin_control(self.send_queue.start);
        }
    }

    /// Takes the data to send from `objects`, instead of having all of it from the start.
    pub fn send_objects(&mut self, objects: Objects) {
        self.send_queue.packets = 0;
        self.objects = Some(Box::new(objects));
        if !self.is_rate_based() {
            self.window_use = Some(Box::new(WindowUse::new(self.send_queue.start)));
        }
    }

    /// The number of the packet behind the object that reaches a receiver which has `received` packets in order;
    /// `None` if the data are no objects.
    #[inline]
    pub fn end_of_object(&mut self, received: u64) -> Option<u64> {
        self.objects.as_mut().map(|objects| objects.end_after(received))
    }

    /// When the sender must be woken; [`Time::NEVER`] if only an ACK can make it send.
    #[inline]
    pub fn deadline(&self) -> Time {
        self.rto_deadline.min(self.release_at).min(self.rack_deadline)
    }

    /// The window in packets.
    pub fn cwnd_packets(&self) -> f64 {
        self.cwnd
    }

    /// The slow-start threshold in packets.
    pub fn ssthresh_packets(&self) -> f64 {
        self.ssthresh
    }

    /// Why the congestion control stopped the run, if it has failed.
    #[inline]
    pub fn control_fault(&self) -> Option<&CustomFault> {
        match &self.congestion_control {
            CongestionControl::WindowLaw(law) => law.fault(),
            CongestionControl::RateBased(rate_based) => rate_based.control().fault(),
        }
    }

    /// The rate-based control, for tests that look inside.
    #[cfg(test)]
    pub(crate) fn rate_based_control(&self) -> Option<&AnyRateBasedControl> {
        self.rate_based_sender().map(RateBasedSender::control)
    }

    fn rate_based_sender(&self) -> Option<&RateBasedSender> {
        match &self.congestion_control {
            CongestionControl::WindowLaw(_) => None,
            CongestionControl::RateBased(rate_based) => Some(rate_based),
        }
    }

    /// Memory behind the sender, in bytes: of packets in flight, and of what not every flow has.
    pub fn memory_bytes(&self) -> u64 {
        let rate_based = self.rate_based_sender().map_or(0, RateBasedSender::memory_bytes);
        let blocks = self.blocks.as_ref().map_or(0, |blocks| size_of_val(&**blocks) as u64);
        let objects = self.objects.as_ref().map_or(0, |objects| objects.memory_bytes());
        let usage = self.window_use.as_ref().map_or(0, |usage| size_of_val(&**usage) as u64);
        let rack =
            self.rack.as_ref().map_or(0, |rack| size_of::<Rack>() as u64 + rack.memory_bytes());
        let undo = self.undo.as_ref().map_or(0, |undo| size_of_val(&**undo) as u64);
        let own = self.probe.memory_bytes() + self.scoreboard.memory_bytes();
        own + rate_based + blocks + objects + usage + rack + undo
    }

    /// Rate at which packets leave, in packets/s, if the control sets one.
    pub fn pacing_rate(&self) -> Option<f64> {
        self.rate_based_sender().map(RateBasedSender::pacing_rate)
    }

    /// Packets acknowledged in sequence.
    pub fn delivered(&self) -> u64 {
        self.una
    }

    /// Whether all data of the application is acknowledged.
    pub fn is_complete(&self) -> bool {
        self.una == self.send_queue.packets && self.objects.is_none()
    }

    /// Counts inside the measured window, or up to now if the window is not over.
    pub fn window(&self) -> FlowCounters {
        self.probe.window(&self.state())
    }

    /// Whether no packet is in flight.
    #[inline]
    pub fn is_quiet(&self) -> bool {
        self.rto_deadline == Time::NEVER
    }

    /// The smoothed RTT; zero before the first sample.
    pub fn srtt(&self) -> Time {
        self.rtt.srtt()
    }

    /// When the last byte was acknowledged; `None` if it is not acknowledged yet.
    pub fn completed_at(&self) -> Option<Time> {
        self.is_complete().then_some(self.quiet_since)
    }

    /// Whether all data was acknowledged at the end of the run. The sender's own time may be past
    /// the end.
    pub fn is_complete_at_end(&self) -> bool {
        let after = self.probe.record().after;
        let has_all = after.is_some_and(|counters| counters.delivered == self.send_queue.packets);
        has_all && self.objects.is_none()
    }

    /// Takes in an ACK that arrives at `now`.
    #[inline]
    pub fn on_ack(&mut self, now: Time, ack: Ack<'_>, out: &mut impl PacketSink) {
        self.record_until(now);
        if self.phase == Phase::Opening {
            self.on_opened(now, ack, out);
            return;
        }
        let acked = ack.cumulative.saturating_sub(self.una);
        let rtt = if acked > 0 { self.sample_rtt(now, ack) } else { None };
        if self.is_rate_based() {
            self.on_ack_rate_based(now, ack, out);
            return;
        }
        let is_plain = self.phase == Phase::Open
            && !self.is_reducing()
            && acked > 0
            && self.duplicates == 0
            && ack.blocks.is_empty()
            && self.scoreboard.is_clear()
            && !self.is_probe_news(ack)
            && !self.ecn.is_news(ack);
        if is_plain {
            self.scoreboard.advance_clear(ack.cumulative);
            self.advance_rack(now, ack.cumulative);
            self.una = ack.cumulative;
            self.duplicates = 0;
            self.show_to_control(now, acked, rtt);
            self.watch_in_order(now, rtt);
            self.grow(now, acked, rtt);
            self.restart_timer(now);
            self.send_new(now, out);
        } else {
            self.on_ack_slow_path(now, ack, rtt, out);
        }
    }

    /// Fires the timer or the paced release that is due at `now`.
    #[inline(never)]
    pub fn on_deadline(&mut self, now: Time, out: &mut impl PacketSink) {
        self.record_until(now);
        if self.rack_deadline <= now {
            self.on_rack_deadline(now, out);
        }
        if self.rto_deadline <= now {
            self.on_timeout(now, out);
        }
        if self.release_at <= now {
            self.release_at = Time::NEVER;
            if self.blocks.is_some() {
                self.release_held(now, out);
            }
            self.restart_after_idle(now);
            self.change_rate(now);
            self.send_allowed(now, out);
        }
    }

    /// Records the state as of every checkpoint up to `now`.
    #[inline]
    pub fn record_until(&mut self, now: Time) {
        if self.probe.is_checkpoint_due(now) {
            self.record_checkpoints(now);
        }
    }

    #[cold]
    fn record_checkpoints(&mut self, now: Time) {
        let state = self.state();
        self.probe.record_until(now, &state);
    }

    fn state(&self) -> FlowState {
        let send_queue = &self.send_queue;
        let payload = u64::from(send_queue.packet_bytes - send_queue.header_bytes);
        let short = if self.is_complete() {
            u64::from(send_queue.packet_bytes - send_queue.last_packet_bytes)
        } else {
            0
        };
        FlowState {
            cwnd_packets: self.cwnd,
            ssthresh_packets: self.ssthresh,
            srtt: self.rtt.srtt(),
            delivered: self.una,
            delivered_bytes: self.una * payload - short,
            acknowledged: self.una + self.scoreboard.sacked(),
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

    /// RFC 6298 sec. 5.2 and 5.3: the timer is off if no packet is in flight, and restarts when new
    /// data is acknowledged.
    #[inline]
    fn restart_timer(&mut self, now: Time) {
        if self.una == self.next {
            (self.rto_deadline, self.quiet_since) = (Time::NEVER, now);
            self.rack_deadline = Time::NEVER;
        } else {
            self.rto_deadline = now.saturating_add(self.rtt.rto());
            self.schedule_probe(now);
        }
    }
}
