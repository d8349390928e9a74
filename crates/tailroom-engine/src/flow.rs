//! What is private to a flow: its access link, its ends, and the way between its last shared link and
//! its first. All of it is in order, so it is computed when a packet leaves the last shared link,
//! ahead of the links' clock; no event is needed.

use rand_core::{Rng, SeedableRng};
use rand_xoshiro::SplitMix64;

use crate::packet::{Ack, Packet};
use crate::private_delay::{PrivateDelays, SenderSide};
use crate::probe::flow::{FlowProbe, FlowState, Marks};
use crate::probe::group::GroupProbe;
use crate::random;
use crate::receiver::Receiver;
use crate::sender::{Demand, Outlet, Sender};
use crate::serializer::Serializer;
use crate::source::cbr::Cbr;
use crate::source::objects::Objects;
use crate::source::{Emission, FlowPlan, Source, SourceSpec, TrafficSource};
use crate::tcp_spec::TcpSpec;
use crate::topology::{GroupSpec, Network};
use crate::units::{Rate, Time};

/// Private delays of a flow. The propagation that the shared links do not account for is divided as
/// [`GroupSpec::sender_side`] says among sender to first link, last link to receiver, and the same on
/// the way back.
#[derive(Debug)]
pub struct Wiring {
    send_jitter: SendJitter,
    access: Option<Serializer>,
    access_free_at: Time,
    to_first_link: Time,
    to_receiver: Time,
    /// Receiver to sender, or to the first link of the reverse path.
    from_receiver: Time,
    /// Last link of the reverse path to sender; zero for a private ACK path.
    to_sender: Time,
    has_reverse_path: bool,
    aggregation: Time,
}

impl Wiring {
    /// The delays of a flow of `group` with this two-way propagation and access link.
    pub fn new(network: &Network, group: &GroupSpec, rtt: Time, access_rate: Option<Rate>) -> Self {
        let has_reverse_path = !group.reverse_path.is_empty();
        let (forward, backward) = network.propagation(group);
        let private = rtt.since(forward.saturating_add(backward));
        let side = group.sender_side.unwrap_or(SenderSide::HALF);
        let PrivateDelays { to_first_link, to_receiver, from_receiver, to_sender } =
            PrivateDelays::new(private, side);
        let (from_receiver, to_sender) = if has_reverse_path {
            (from_receiver, to_sender)
        } else {
            (from_receiver.saturating_add(backward).saturating_add(to_sender), Time::ZERO)
        };
        Wiring {
            send_jitter: SendJitter::none(),
            access: access_rate.map(Serializer::constant),
            access_free_at: Time::ZERO,
            to_first_link,
            to_receiver,
            from_receiver,
            to_sender,
            has_reverse_path,
            aggregation: group
                .tcp
                .as_ref()
                .and_then(|tcp| tcp.ack_aggregation)
                .unwrap_or(Time::ZERO),
        }
    }

    /// The wiring of a flow of `group` that `plan` describes, its random delays included.
    fn of_plan(network: &Network, group: &GroupSpec, plan: &FlowPlan) -> Self {
        let send_jitter = SendJitter::new(group.send_jitter, plan.seed);
        Wiring { send_jitter, ..Wiring::new(network, group, plan.rtt, plan.access_rate) }
    }

    /// When a packet that the sender sends at `sent` reaches its access link.
    #[inline]
    pub fn leave_sender(&mut self, sent: Time) -> Time {
        self.send_jitter.delay(sent)
    }

    /// When a packet that reaches the access link at `time` reaches the first shared link.
    #[inline]
    pub fn enter(&mut self, time: Time, bytes: u32) -> Time {
        let departure = match &mut self.access {
            None => time,
            Some(access) => {
                self.access_free_at = access.finish(time.max(self.access_free_at), bytes);
                self.access_free_at
            }
        };
        departure.saturating_add(self.to_first_link)
    }

    /// When a packet that leaves the last shared link at `time` reaches the receiver.
    #[inline]
    pub fn reach_receiver(&self, time: Time) -> Time {
        time + self.to_receiver
    }

    /// When an ACK that leaves the receiver at `time` reaches the sender (or, on a reverse path, its
    /// first link).
    #[inline]
    pub fn leave_receiver(&self, time: Time) -> Time {
        let arrival = time.saturating_add(self.from_receiver);
        if self.has_reverse_path { arrival } else { self.aggregate(arrival) }
    }

    /// When an ACK that leaves the reverse path's last link at `time` reaches the sender.
    pub fn reach_sender(&self, time: Time) -> Time {
        self.aggregate(time.saturating_add(self.to_sender))
    }

    /// The next multiple of the aggregation interval.
    #[inline]
    fn aggregate(&self, time: Time) -> Time {
        let interval = self.aggregation.picoseconds();
        if interval == 0 || time == Time::NEVER {
            return time;
        }
        Time::from_picoseconds(time.picoseconds().div_ceil(interval).saturating_mul(interval))
    }

    /// Whether ACKs cross shared links.
    pub fn has_reverse_path(&self) -> bool {
        self.has_reverse_path
    }

    /// The shortest time from leaving the last forward link to a reaction at the first.
    pub fn shortest_reaction(&self) -> Time {
        let there = self.to_receiver.saturating_add(self.to_first_link);
        there.saturating_add(self.from_receiver).saturating_add(self.to_sender)
    }
}

/// Random processing time before packets leave their sender. What is sent meanwhile leaves with the
/// packet that is being processed (as ns-2's senders do), so that none overtakes another.
///
/// It lies inline in its flow, with the small generator of [`random::small_stream`]: with 100,000
/// flows another cache line per packet would cost more than all the rest of it.
#[derive(Debug)]
struct SendJitter {
    /// Delays are drawn from the whole numbers of picoseconds below this; 0 for no delay at all.
    bound: u64,
    /// When the packet before left, or will.
    last: Time,
    random: SplitMix64,
}

impl SendJitter {
    fn none() -> Self {
        SendJitter::new(None, 0)
    }

    /// A delay of at most `most`, or none.
    fn new(most: Option<Time>, seed: u64) -> Self {
        SendJitter {
            bound: most.map_or(0, |most| most.picoseconds() + 1),
            last: Time::ZERO,
            random: match most {
                None => SplitMix64::seed_from_u64(0), // never drawn from
                Some(_) => random::small_stream(seed, "send jitter"),
            },
        }
    }

    #[inline]
    fn delay(&mut self, sent: Time) -> Time {
        if self.bound == 0 {
            return sent;
        }
        if sent > self.last {
            let delay = random::below(&mut self.random, self.bound);
            self.last = sent + Time::from_picoseconds(delay);
        }
        self.last
    }
}

/// Where a flow's packets and ACKs enter shared links.
pub trait Entrance {
    /// A packet reaches the first shared link at `time`.
    fn packet(&mut self, time: Time, packet: &Packet);
    /// An ACK reaches the first link of the reverse path at `time`.
    fn ack(&mut self, time: Time, ack: Ack<'_>);
}

/// Sends a TCP sender's packets through the access link to the entrance.
struct Access<'a, E> {
    wiring: &'a mut Wiring,
    entrance: &'a mut E,
}

impl<E: Entrance> Outlet for Access<'_, E> {
    #[expect(clippy::inline_always, reason = "one caller a packet: the event stays in registers")]
    #[inline(always)]
    fn send(&mut self, packet: Packet) {
        let left = self.wiring.leave_sender(packet.sent);
        let time = self.wiring.enter(left, packet.bytes);
        self.entrance.packet(time, &packet);
    }
}

/// A TCP connection: both ends and the private ways between them.
#[derive(Debug)]
pub struct Connection {
    /// The sending end.
    pub sender: Sender,
    /// The receiving end.
    pub receiver: Receiver,
    /// The ways between them.
    pub wiring: Wiring,
}

impl Connection {
    /// A connection of `group` for the flow that `plan` describes.
    pub fn new(
        network: &Network,
        group: &GroupSpec,
        tcp: &TcpSpec,
        plan: &FlowPlan,
        marks: Marks,
    ) -> Self {
        let demand = demand(group, plan);
        let receiver = Receiver::new(tcp.delayed_ack, tcp.ecn.is_accurate(), demand.packets);
        let mut sender = Sender::new(tcp, demand, plan.seed, marks);
        if let SourceSpec::Objects(spec) = &group.source {
            sender.send_objects(Objects::new(spec, group, plan));
        }
        Connection { sender, receiver, wiring: Wiring::of_plan(network, group, plan) }
    }

    /// A data packet leaves the last shared link at `time`.
    #[inline]
    pub fn deliver(&mut self, time: Time, packet: Packet, entrance: &mut impl Entrance) {
        let now = self.wiring.reach_receiver(time);
        while self.receiver.deadline() < now {
            self.send_delayed_ack(entrance);
        }
        let Connection { sender, receiver, wiring } = self;
        if let Some(ack) = receiver.on_packet(now, packet) {
            answer(sender, wiring, now, ack, entrance);
        }
    }

    /// The receiver's timer fires.
    #[cold]
    fn send_delayed_ack(&mut self, entrance: &mut impl Entrance) {
        let Connection { sender, receiver, wiring } = self;
        let deadline = receiver.deadline();
        answer(sender, wiring, deadline, receiver.on_deadline(), entrance);
    }

    /// An ACK leaves the last link of the reverse path at `time`.
    #[cold]
    pub fn deliver_ack(&mut self, time: Time, ack: Ack<'_>, entrance: &mut impl Entrance) {
        let now = self.wiring.reach_sender(time);
        acknowledge(&mut self.sender, &mut self.wiring, now, ack, entrance);
    }

    /// Fires the timers that are due before `end` though what they send reaches no link by then.
    pub fn run_out(&mut self, end: Time, entrance: &mut impl Entrance) {
        let last = Time::from_picoseconds(end.picoseconds() - 1);
        self.wake(last + self.wiring.to_first_link, entrance);
    }

    /// When the flow's next timer can touch a shared link: the wake-up must come then.
    #[inline]
    pub fn next_wake(&self) -> Time {
        self.receiver_wake().min(self.sender_wake())
    }

    fn sender_wake(&self) -> Time {
        self.sender.deadline().saturating_add(self.wiring.to_first_link)
    }

    #[inline]
    fn receiver_wake(&self) -> Time {
        let deadline = self.receiver.deadline();
        if deadline == Time::NEVER { deadline } else { self.delayed_ack_wake(deadline) }
    }

    /// When a delayed ACK that leaves at `deadline` can touch a shared link.
    #[inline(never)]
    fn delayed_ack_wake(&self, deadline: Time) -> Time {
        let arrival = self.wiring.leave_receiver(deadline);
        if self.wiring.has_reverse_path {
            arrival
        } else {
            arrival.saturating_add(self.wiring.to_first_link)
        }
    }

    /// Fires the timers that can touch a shared link at `time`, in the order of the sender's time;
    /// an ACK at the moment of a deadline comes first.
    pub fn wake(&mut self, time: Time, entrance: &mut impl Entrance) {
        loop {
            let (receiver_wake, sender_wake) = (self.receiver_wake(), self.sender_wake());
            let Connection { sender, wiring, .. } = self;
            if receiver_wake <= time && receiver_wake <= sender_wake {
                self.send_delayed_ack(entrance);
            } else if sender_wake <= time {
                sender.on_deadline(sender.deadline(), &mut Access { wiring, entrance });
            } else {
                return;
            }
        }
    }
}

/// An ACK leaves the receiver at `time`.
#[inline]
fn answer(
    sender: &mut Sender,
    wiring: &mut Wiring,
    time: Time,
    ack: Ack<'_>,
    entrance: &mut impl Entrance,
) {
    let arrival = wiring.leave_receiver(time);
    if wiring.has_reverse_path {
        entrance.ack(arrival, ack);
    } else {
        acknowledge(sender, wiring, arrival, ack, entrance);
    }
}

/// An ACK reaches the sender at `now`, after the timers that were due before.
#[inline(never)]
fn acknowledge(
    sender: &mut Sender,
    wiring: &mut Wiring,
    now: Time,
    ack: Ack<'_>,
    entrance: &mut impl Entrance,
) {
    let mut access = Access { wiring, entrance };
    while sender.deadline() < now {
        sender.on_deadline(sender.deadline(), &mut access);
    }
    sender.on_ack(now, ack, &mut access);
}

/// A flow that nothing controls: a source, an access link, a counter at the far end.
#[derive(Debug)]
pub struct Unresponsive {
    /// What it sends, and when.
    pub source: Source,
    /// From when on it sends nothing.
    pub stop: Time,
    /// Whether it has sent its last packet.
    pub has_stopped: bool,
    /// Part of a packet that is header.
    pub header_bytes: u32,
    /// The ways between its ends.
    pub wiring: Wiring,
    /// Packets sent, in the sender's time.
    pub sent: FlowProbe,
    /// Packets received, in the receiver's time.
    pub received: FlowProbe,
    /// What has arrived.
    pub delivered: FlowState,
    /// The one-way delay of the packet that arrived last.
    pub last_delay: Option<Time>,
}

impl Unresponsive {
    fn new(
        network: &Network,
        group: &GroupSpec,
        source: Source,
        stop: Time,
        plan: &FlowPlan,
        marks: Marks,
    ) -> Self {
        Unresponsive {
            source,
            stop,
            has_stopped: false,
            header_bytes: group.header_size,
            wiring: Wiring::of_plan(network, group, plan),
            sent: FlowProbe::new(marks),
            received: FlowProbe::new(marks),
            delivered: FlowState::default(),
            last_delay: None,
        }
    }

    /// Emits the next packet; false when the source has stopped.
    pub fn emit(&mut self, entrance: &mut impl Entrance) -> bool {
        let Emission { time, bytes } = self.source.next_emission();
        if time >= self.stop {
            self.has_stopped = true;
            return false;
        }
        if self.sent.is_mark_due(time) {
            self.sent.pass_marks(time, &FlowState::default());
        }
        let sequence = self.sent.on_sent(bytes, false);
        let packet = Packet { sequence, bytes, sent: time, ..Packet::default() };
        let left = self.wiring.leave_sender(time);
        entrance.packet(self.wiring.enter(left, bytes), &packet);
        true
    }

    /// Emits what is due before the end of the run though it reaches no link by then.
    pub fn run_out(&mut self, entrance: &mut impl Entrance) {
        while self.sent.is_open() && self.emit(entrance) {}
    }

    /// A packet that left its sender at `sent` leaves the last shared link at `time`; its group's probe
    /// is told how long it took.
    pub fn deliver(&mut self, time: Time, sent: Time, bytes: u32, group: &mut GroupProbe) {
        let now = self.wiring.reach_receiver(time);
        if self.received.is_mark_due(now) {
            self.received.pass_marks(now, &self.delivered);
        }
        let delay = now.since(sent);
        self.received.on_rtt(delay); // half a round trip: there is no way back
        let before = self.last_delay.replace(delay);
        if self.received.is_measuring() {
            group.on_arrival(delay, before);
        }
        self.delivered.delivered += 1;
        self.delivered.delivered_bytes += u64::from(bytes.saturating_sub(self.header_bytes));
    }

    /// Records the marks up to the end of the run.
    pub fn pass_marks(&mut self, now: Time) {
        self.sent.pass_marks(now, &FlowState::default());
        self.received.pass_marks(now, &self.delivered);
    }
}

/// The two kinds of flow; connections lie inline, one memory access less a packet.
#[derive(Debug)]
#[expect(clippy::large_enum_variant, reason = "almost all flows are connections")]
pub enum Ends {
    /// Under congestion control.
    Tcp(Connection),
    /// Under none.
    Unresponsive(Box<Unresponsive>),
}

impl Ends {
    /// The ends of flow `index` of `network`.
    pub fn new(network: &Network, index: usize, marks: Marks) -> Self {
        let flow = &network.flows[index];
        let group = &network.groups[flow.group];
        let name = network.flow_name(index);
        let bytes = match group.source {
            SourceSpec::Bulk { bytes } => bytes,
            _ => None,
        };
        let seed = random::stream(network.seed, &format!("control of {name}")).next_u64();
        let (start, rtt, access_rate) = (flow.start, flow.rtt, flow.access_rate);
        let plan = FlowPlan { start, bytes, rtt, access_rate, seed, media: None, tag: 0 };
        match Source::new(group, flow.start, network.seed, &name) {
            Some(source) => {
                let stop = group.stop.unwrap_or(Time::NEVER);
                let ends = Unresponsive::new(network, group, source, stop, &plan, marks);
                Ends::Unresponsive(Box::new(ends))
            }
            None => Ends::of_plan(network, group, &plan, marks),
        }
    }

    /// The ends of a flow of `group` that `plan` describes.
    pub fn of_plan(network: &Network, group: &GroupSpec, plan: &FlowPlan, marks: Marks) -> Self {
        match (&group.tcp, plan.media) {
            (_, Some(media)) => {
                let source = Source::Cbr(Cbr::new(media.rate, group.packet_size, plan.start));
                let ends = Unresponsive::new(network, group, source, media.end, plan, marks);
                Ends::Unresponsive(Box::new(ends))
            }
            (Some(tcp), None) => Ends::Tcp(Connection::new(network, group, tcp, plan, marks)),
            (None, None) => unreachable!("data to send come with a transport"),
        }
    }
}

impl Ends {
    /// Memory that a connection takes for its packets in flight, in bytes; 0 for an unresponsive flow.
    pub fn memory_bytes(&self) -> u64 {
        match self {
            Ends::Tcp(connection) => {
                connection.sender.memory_bytes() + connection.receiver.memory_bytes()
            }
            Ends::Unresponsive(_) => 0,
        }
    }

    /// An ACK leaves the last link of the reverse path at `time`.
    pub fn deliver_ack(&mut self, time: Time, ack: Ack<'_>, entrance: &mut impl Entrance) {
        if let Ends::Tcp(connection) = self {
            connection.deliver_ack(time, ack, entrance);
        }
    }

    /// An uncontrolled source emits its next packet; says whether there was none left.
    #[inline]
    pub fn emit_next(&mut self, entrance: &mut impl Entrance) -> bool {
        let Ends::Unresponsive(source) = self else { return false };
        !source.emit(entrance)
    }
}

/// What an application offers to its TCP sender.
fn demand(group: &GroupSpec, plan: &FlowPlan) -> Demand {
    let payload = u64::from(group.packet_size - group.header_size);
    let packets = plan.bytes.map_or(u64::MAX, |bytes| bytes.div_ceil(payload));
    let last_payload = plan.bytes.map_or(payload, |bytes| bytes - (packets - 1) * payload);
    // Flows that come and go: their group's stop ends arrivals, and who is there goes on.
    let stop = group.stop.filter(|_| group.source.passing_rtt().is_none());
    Demand {
        start: plan.start,
        stop: stop.unwrap_or(Time::NEVER),
        packets,
        packet_bytes: group.packet_size,
        last_packet_bytes: last_payload as u32 + group.header_size,
        header_bytes: group.header_size,
    }
}
