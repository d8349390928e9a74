//! A TCP connection: both endpoints, and the handling of packets and ACKs that leave the last
//! shared link.

#[doc(hidden)]
pub mod fast_path;
#[doc(hidden)]
pub mod ranges;
#[doc(hidden)]
pub mod receiver;
#[doc(hidden)]
pub mod sack_compression;
pub mod sender;

use crate::congestion::stepped::SteppedParams;
use crate::packet::{Ack, Packet};
use crate::private_path::{NetworkSink, PrivatePath};
use crate::probe::flow::Checkpoints;
use crate::traffic::objects::Objects;
use crate::units::Time;
use receiver::{Habits, Receiver};
pub use sender::spec::TcpSpec;
// The values of its keys.
pub use receiver::DelayedAck;
pub use sender::burst::{Automatic, SendBurst};
pub use sender::ecn::EcnMode;
pub use sender::handshake::Handshake;
pub use sender::recovery::Recovery;
pub use sender::rtt::RttSamples;
pub use sender::slow_start::SlowStartSpec;
use sender::{PacketSink, SendQueue, Sender};

/// Sends the packets of a TCP sender through its access link to the first shared link.
struct AccessLink<'a, E> {
    private_path: &'a mut PrivatePath,
    sink: &'a mut E,
}

impl<E: NetworkSink> PacketSink for AccessLink<'_, E> {
    #[expect(
        clippy::inline_always,
        reason = "called once per packet: the event stays in registers"
    )]
    #[inline(always)]
    fn send(&mut self, packet: Packet) {
        let left = self.private_path.leave_sender(packet.sent);
        let time = self.private_path.enter(left, packet.bytes);
        self.sink.packet(time, &packet);
    }
}

/// Takes the packets of a connection that nobody else sees.
struct Nowhere;

impl NetworkSink for Nowhere {
    fn packet(&mut self, _time: Time, _packet: &Packet) {}

    fn ack(&mut self, _sent: Time, _time: Time, _ack: Ack<'_>) {}
}

/// The RTT of a path.
#[derive(Clone, Copy, Debug)]
pub struct PathRtt {
    /// The RTT if nothing waits.
    pub without_queues: Time,
    /// How long packets wait, as far as a connection in use knows.
    pub wait: Time,
}

impl PathRtt {
    /// A path on which nothing waits.
    pub fn without_queues(rtt: Time) -> Self {
        PathRtt { without_queues: rtt, wait: Time::ZERO }
    }
}

/// A TCP connection: both endpoints and the private paths between them.
#[derive(Clone, Debug)]
pub struct Connection {
    /// The sender.
    pub sender: Sender,
    /// The receiver.
    pub receiver: Receiver,
    /// The private paths between the endpoints.
    pub private_path: PrivatePath,
}

impl Connection {
    /// Creates a connection before its first packet, over a path with this `rtt`. `objects`
    /// generates the data to send if they arrive over time; `None` if all data are available from the
    /// start.
    pub fn new(
        tcp: &TcpSpec,
        send_queue: SendQueue,
        objects: Option<Objects>,
        private_path: PrivatePath,
        rtt: PathRtt,
        seed: u64,
        checkpoints: Checkpoints,
    ) -> Self {
        let receiver = receiver(tcp, &send_queue, rtt.without_queues);
        let mut sender = Sender::new(tcp, send_queue, seed, checkpoints);
        if tcp.handshake == Handshake::DONE {
            sender.know_rtt(rtt);
        }
        if let Some(objects) = objects {
            sender.send_objects(objects);
        }
        Connection { sender, receiver, private_path }
    }

    /// Handles a data packet that leaves the last shared link at `time`.
    #[inline]
    pub fn deliver(&mut self, time: Time, packet: Packet, sink: &mut impl NetworkSink) {
        let now = self.private_path.reach_receiver(time);
        while self.receiver.deadline() < now {
            self.send_delayed_ack(sink);
        }
        let Connection { sender, receiver, private_path } = self;
        if let Some(end) = sender.end_of_object(receiver.next()) {
            receiver.expect_end(end);
        }
        if let Some(ack) = receiver.on_packet(now, packet) {
            answer(sender, private_path, now, ack, sink);
        }
    }

    /// Sends what the window allows at `now`, after the fast path has reached the end of the data.
    #[inline(never)]
    pub fn send_more(&mut self, now: Time, sink: &mut impl NetworkSink) {
        let Connection { sender, private_path, .. } = self;
        sender.send_more(now, &mut AccessLink { private_path, sink });
    }

    /// Sends the ACK whose timer has expired.
    #[cold]
    fn send_delayed_ack(&mut self, sink: &mut impl NetworkSink) {
        let Connection { sender, receiver, private_path } = self;
        let deadline = receiver.deadline();
        answer(sender, private_path, deadline, receiver.on_deadline(), sink);
    }

    /// Handles an ACK that leaves the last link of the reverse path at `time`.
    #[cold]
    pub fn deliver_ack(&mut self, time: Time, ack: Ack<'_>, sink: &mut impl NetworkSink) {
        let now = self.private_path.reach_sender(time);
        acknowledge(&mut self.sender, &mut self.private_path, now, ack, sink);
    }

    /// Fires all timers that change the sender before `end`, even if the packets that they send reach
    /// a link only after it. Called at the end of a step and of the run. The timer of an ACK that
    /// crosses a shared link waits for the data that may reach the receiver before it.
    pub fn run_out(&mut self, end: Time, sink: &mut impl NetworkSink) {
        while self.is_due_before(end) {
            let [acks_until, by_link] = self.due_until(end);
            self.fire(acks_until, by_link, sink);
        }
    }

    /// Whether [`run_out`](Self::run_out) would fire a timer.
    pub fn is_due_before(&self, end: Time) -> bool {
        let [acks_until, by_link] = self.due_until(end);
        self.receiver_wake() <= acks_until || self.sender_wake() <= by_link
    }

    /// When the ACKs and the packets of timers before `end` reach a link at the latest.
    fn due_until(&self, end: Time) -> [Time; 2] {
        let last = Time::from_picoseconds(end.picoseconds() - 1);
        let by_link = last + self.private_path.to_first_link();
        [if self.private_path.has_reverse_path() { last } else { by_link }, by_link]
    }

    /// The connection at `end`, after the timers that are due before, while this one stays as it is: its
    /// timers fire in their own events. The packets that the copy sends go nowhere.
    #[must_use]
    pub fn at_step_end(&self, end: Time) -> Connection {
        let mut ahead = self.clone();
        ahead.run_out(end, &mut Nowhere);
        ahead
    }

    /// Begins a step that ends at `end`: takes in the ACKs that have arrived for it.
    pub fn begin_step(&mut self, end: Time, sink: &mut impl NetworkSink) {
        self.sender.begin_step(end);
        take_in_kept(&mut self.sender, &mut self.private_path, sink);
    }

    /// Sets what a stepped control holds from `now` on, and sends what it allows.
    pub fn hold(&mut self, now: Time, params: SteppedParams, sink: &mut impl NetworkSink) {
        if now > Time::ZERO {
            self.run_out(now, sink);
        }
        let Connection { sender, private_path, .. } = self;
        sender.hold(now, params, &mut AccessLink { private_path, sink });
    }

    /// The earliest time at which a packet or ACK sent by a timer of this flow can reach a shared
    /// link. The simulation must call [`wake`](Connection::wake) at this time.
    #[inline]
    pub fn next_wake(&self) -> Time {
        self.receiver_wake().min(self.sender_wake())
    }

    fn sender_wake(&self) -> Time {
        self.sender.deadline().saturating_add(self.private_path.to_first_link())
    }

    #[inline]
    fn receiver_wake(&self) -> Time {
        let deadline = self.receiver.deadline();
        if deadline == Time::NEVER { deadline } else { self.delayed_ack_wake(deadline) }
    }

    /// The earliest time at which a delayed ACK sent at `deadline`, or a packet that it releases,
    /// can reach a shared link.
    #[inline(never)]
    fn delayed_ack_wake(&self, deadline: Time) -> Time {
        let arrival = self.private_path.leave_receiver(deadline);
        if self.private_path.has_reverse_path() {
            arrival
        } else {
            arrival.saturating_add(self.private_path.to_first_link())
        }
    }

    /// Fires the timers whose packets or ACKs can reach a shared link by `time`, in the order of
    /// the sender's time. At equal times an ACK precedes the sender's timer. A sender that has more to
    /// send than it hands over at once is left due at the same time.
    #[inline]
    pub fn wake(&mut self, time: Time, sink: &mut impl NetworkSink) {
        self.fire(time, time, sink);
    }

    /// Does what [`wake`](Connection::wake) does, with an end of its own for either endpoint.
    fn fire(&mut self, receiver_until: Time, sender_until: Time, sink: &mut impl NetworkSink) {
        loop {
            let (receiver_wake, sender_wake) = (self.receiver_wake(), self.sender_wake());
            let Connection { sender, private_path, .. } = self;
            let is_ack_due = receiver_wake <= receiver_until;
            if is_ack_due && (receiver_wake <= sender_wake || sender_wake > sender_until) {
                self.send_delayed_ack(sink);
            } else if sender_wake <= sender_until {
                let now = sender.deadline();
                sender.on_deadline(now, &mut AccessLink { private_path, sink });
                if sender.deadline() == now {
                    return;
                }
            } else {
                return;
            }
        }
    }
}

/// The receiver of a connection with these keys, these data and this RTT without queues.
pub fn receiver(tcp: &TcpSpec, send_queue: &SendQueue, rtt: Time) -> Receiver {
    let is_opened_by_flow = tcp.handshake == Handshake::BY_FLOW;
    Receiver::new(tcp.delayed_ack, tcp.ecn.is_accurate(), send_queue.packets).with_habits(Habits {
        opening_bytes: if is_opened_by_flow { send_queue.header_bytes } else { 0 },
        quick_acks: tcp.quick_acks,
        gap: (tcp.quick_acks > 0).then(|| longest_gap(rtt, tcp.min_rto.time())),
        compressed_rtt: tcp.sack_compression.then_some(rtt),
        reports_duplicates: tcp.recovery == Recovery::Rack,
        has_timestamps: tcp.has_timestamps(),
        timestamp_tick: tcp.timestamp_clock(),
    })
}

/// The retransmission timeout of a receiver that sends no data: that of the handshake (Linux
/// `tcp_rtt_estimator`).
fn longest_gap(rtt: Time, min_rto: Time) -> Time {
    rtt.saturating_add(rtt.saturating_add(rtt).max(min_rto))
}

/// Sends an ACK from the receiver at `time`.
#[inline]
fn answer(
    sender: &mut Sender,
    private_path: &mut PrivatePath,
    time: Time,
    ack: Ack<'_>,
    sink: &mut impl NetworkSink,
) {
    let arrival = private_path.leave_receiver(time);
    if private_path.has_reverse_path() {
        sink.ack(time, arrival, ack);
    } else {
        sink.private_ack(time, arrival, &ack);
        acknowledge(sender, private_path, arrival, ack, sink);
    }
}

/// Takes in the ACKs that a sender has kept for the present step.
#[cold]
fn take_in_kept(sender: &mut Sender, private_path: &mut PrivatePath, sink: &mut impl NetworkSink) {
    while let Some((now, ack)) = sender.take_kept() {
        acknowledge(sender, private_path, now, ack.ack(), sink);
    }
}

/// Handles an ACK that reaches the sender at `now`, after the timers that are due before.
#[inline(never)]
fn acknowledge(
    sender: &mut Sender,
    private_path: &mut PrivatePath,
    now: Time,
    ack: Ack<'_>,
    sink: &mut impl NetworkSink,
) {
    if sender.keeps(now, ack) {
        take_in_kept(sender, private_path, sink);
        return;
    }
    let mut access = AccessLink { private_path, sink };
    while sender.deadline() < now {
        sender.on_deadline(sender.deadline(), &mut access);
    }
    sender.on_ack(now, ack, &mut access);
}
