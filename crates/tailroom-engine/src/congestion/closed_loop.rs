//! A sender, a bottleneck and a receiver in a closed loop, for tests that inspect the state of a
//! control during a run.

use std::collections::VecDeque;

use super::{AnyRateBasedControl, CongestionConfig};
use crate::packet::{Packet, StoredAck};
use crate::probe::flow::Checkpoints;
use crate::quantity::PositiveDuration;
use crate::tcp::TcpSpec;
use crate::tcp::receiver::{DelayedAck, Receiver};
use crate::tcp::sender::burst::SendBurst;
use crate::tcp::sender::ecn::EcnMode;
use crate::tcp::sender::handshake::Handshake;
use crate::tcp::sender::recovery::Recovery;
use crate::tcp::sender::rtt::RttSamples;
use crate::tcp::sender::slow_start::SlowStartSpec;
use crate::tcp::sender::{PacketSink, SendQueue, Sender};
use crate::units::{Rate, Time};

/// A token bucket that drops a packet if less than one token is left.
#[derive(Debug)]
pub(super) struct Policer {
    pub(super) rate: f64,
    pub(super) burst: f64,
    pub(super) tokens: f64,
    pub(super) filled_at: Time,
}

/// The network between sender and receiver.
#[derive(Debug)]
pub(super) struct Network {
    /// Capacity of the bottleneck, in packets/s.
    pub(super) rate: f64,
    /// Round-trip propagation delay.
    pub(super) rtt: Time,
    /// Largest number of packets queued or in transmission.
    pub(super) buffer: usize,
    /// Every packet whose number is a multiple of `lose_every` is lost; 0 switches losses off.
    pub(super) lose_every: u64,
    /// ACKs are released only at multiples of this time; zero switches aggregation off.
    pub(super) aggregation: Time,
    pub(super) policer: Option<Policer>,
    pub(super) sent: u64,
    pub(super) dropped: u64,
    departures: VecDeque<Time>,
    free_at: Time,
    receiver: Receiver,
    acks: VecDeque<(Time, StoredAck)>,
}

impl Network {
    fn is_dropped(&mut self, now: Time) -> bool {
        if self.lose_every > 0 && self.sent.is_multiple_of(self.lose_every) {
            return true;
        }
        if let Some(policer) = &mut self.policer {
            let filled = policer.rate * now.since(policer.filled_at).seconds();
            policer.tokens = (policer.tokens + filled).min(policer.burst);
            policer.filled_at = now;
            if policer.tokens < 1.0 {
                return true;
            }
            policer.tokens -= 1.0;
        }
        while self.departures.front().is_some_and(|departure| *departure <= now) {
            self.departures.pop_front();
        }
        self.departures.len() >= self.buffer
    }
}

impl PacketSink for Network {
    fn send(&mut self, packet: Packet) {
        self.sent += 1;
        if self.is_dropped(packet.sent) {
            self.dropped += 1;
            return;
        }
        self.free_at = self.free_at.max(packet.sent) + Time::from_seconds(1.0 / self.rate);
        self.departures.push_back(self.free_at);
        let mut at = self.free_at + self.rtt;
        let interval = self.aggregation.picoseconds();
        if interval > 0 {
            let multiple = at.picoseconds().div_ceil(interval) * interval;
            at = Time::from_picoseconds(multiple);
        }
        if let Some(ack) = self.receiver.on_packet(at, packet) {
            // Of the ACKs released at the same time, only the last one is sent.
            if interval > 0 && self.acks.back().is_some_and(|(last, _)| *last == at) {
                self.acks.pop_back();
            }
            self.acks.push_back((at, ack.into()));
        }
    }
}

/// A sender and the network that its packets and ACKs cross.
pub(super) struct ClosedLoop {
    pub(super) sender: Sender,
    pub(super) network: Network,
    pub(super) now: Time,
}

impl ClosedLoop {
    /// A flow of 1500 B packets that starts at time zero, over a bottleneck of `rate` packets/s.
    pub(super) fn new(congestion: CongestionConfig, rate: f64, rtt: Time, buffer: usize) -> Self {
        let send_queue = SendQueue {
            start: Time::ZERO,
            stop: Time::NEVER,
            packets: u64::MAX,
            packet_bytes: 1_500,
            last_packet_bytes: 1_500,
            header_bytes: 40,
            line_rate: Rate::from_bits_per_second(10_000_000_000),
            hops: 1,
        };
        let checkpoints = Checkpoints {
            measure_from: Time::ZERO,
            duration: Time::NEVER,
            series_interval: Time::NEVER,
            step_interval: Time::NEVER,
            progress_interval: Time::NEVER,
            reductions_kept: 0,
        };
        let network = Network {
            rate,
            rtt,
            buffer,
            lose_every: 0,
            aggregation: Time::ZERO,
            policer: None,
            sent: 0,
            dropped: 0,
            departures: VecDeque::new(),
            free_at: Time::ZERO,
            receiver: Receiver::new(DelayedAck::OFF, false, u64::MAX),
            acks: VecDeque::new(),
        };
        let sender = Sender::new(&tcp(congestion), send_queue, 1, checkpoints);
        ClosedLoop { sender, network, now: Time::ZERO }
    }

    /// Handles the next ACK or timer.
    pub(super) fn step(&mut self) {
        let deadline = self.sender.deadline();
        match self.network.acks.front() {
            Some(&(at, ref ack)) if at <= deadline => {
                let ack = *ack;
                self.network.acks.pop_front();
                self.now = at;
                self.sender.on_ack(at, ack.ack(), &mut self.network);
            }
            _ => {
                assert!(deadline != Time::NEVER, "neither an ACK nor a timer is pending");
                self.now = deadline;
                self.sender.on_deadline(deadline, &mut self.network);
            }
        }
    }

    /// Handles all ACKs and timers up to `end`.
    pub(super) fn run_until(&mut self, end: Time) {
        while self.now < end {
            self.step();
        }
    }

    /// The sender's congestion control.
    pub(super) fn control(&self) -> &AnyRateBasedControl {
        self.sender.rate_based_control().expect("the control is a rate-based one")
    }
}

fn tcp(congestion: CongestionConfig) -> TcpSpec {
    TcpSpec {
        congestion,
        recovery: Recovery::Sack,
        prr: false,
        count_lost_in_pipe: false,
        delayed_ack: DelayedAck::OFF,
        ack_aggregation: None,
        initial_window: 10,
        initial_ssthresh: None,
        min_rto: PositiveDuration::from_milliseconds(200),
        rto_granularity: Some(PositiveDuration::from_milliseconds(200)),
        restart_rto_at_retransmission: true,
        rtt_samples: RttSamples::Timestamps,
        max_window: None,
        slow_start: SlowStartSpec::Standard,
        slow_start_after_idle: true,
        pacing: false,
        send_burst: SendBurst::SINGLE,
        quick_acks: 0,
        sack_compression: false,
        window_validation: false,
        handshake: Handshake::NONE,
        initial_rto: None,
        timestamp_tick: None,
        rack_timer_margin: None,
        forget_sack_at_timeout: false,
        undo: false,
        frto: false,
        ecn: EcnMode::Off,
        endpoint_log: None,
        reverse_path: Vec::new(),
        ack_size: None,
    }
}
