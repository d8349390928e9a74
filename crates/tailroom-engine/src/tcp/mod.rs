//! A TCP connection: sender, receiver, and the order in which they act when a packet or an ACK
//! leaves the last shared link.

pub mod receiver;
pub mod sender;

use crate::packet::{Ack, Packet};
use crate::private_path::{Entrance, Wiring};
use crate::probe::flow::Marks;
use crate::traffic::objects::Objects;
use crate::units::Time;
use receiver::Receiver;
pub use sender::spec::TcpSpec;
use sender::{Demand, Outlet, Sender};

/// Sends a TCP sender's packets through the access link to the entrance.
struct Access<'a, E> {
    wiring: &'a mut Wiring,
    entrance: &'a mut E,
}

impl<E: Entrance> Outlet for Access<'_, E> {
    #[expect(
        clippy::inline_always,
        reason = "called once per packet: the event stays in registers"
    )]
    #[inline(always)]
    fn send(&mut self, packet: Packet) {
        let left = self.wiring.leave_sender(packet.sent);
        let time = self.wiring.enter(left, packet.bytes);
        self.entrance.packet(time, &packet);
    }
}

/// A TCP connection: both ends and the private path between them.
#[derive(Debug)]
pub struct Connection {
    /// The sending end.
    pub sender: Sender,
    /// The receiving end.
    pub receiver: Receiver,
    /// The private path between the two ends.
    pub wiring: Wiring,
}

impl Connection {
    /// A connection before its first packet. `objects` is the source of the data, if the
    /// application does not have all of it from the beginning.
    pub fn new(
        tcp: &TcpSpec,
        demand: Demand,
        objects: Option<Objects>,
        wiring: Wiring,
        seed: u64,
        marks: Marks,
    ) -> Self {
        let receiver = Receiver::new(tcp.delayed_ack, tcp.ecn.is_accurate(), demand.packets);
        let mut sender = Sender::new(tcp, demand, seed, marks);
        if let Some(objects) = objects {
            sender.send_objects(objects);
        }
        Connection { sender, receiver, wiring }
    }

    /// Delivers a data packet that leaves the last shared link at `time`.
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

    /// Sends the delayed ACK when its timer expires.
    #[cold]
    fn send_delayed_ack(&mut self, entrance: &mut impl Entrance) {
        let Connection { sender, receiver, wiring } = self;
        let deadline = receiver.deadline();
        answer(sender, wiring, deadline, receiver.on_deadline(), entrance);
    }

    /// Delivers an ACK that leaves the last link of the reverse path at `time`.
    #[cold]
    pub fn deliver_ack(&mut self, time: Time, ack: Ack<'_>, entrance: &mut impl Entrance) {
        let now = self.wiring.reach_sender(time);
        acknowledge(&mut self.sender, &mut self.wiring, now, ack, entrance);
    }

    /// Fires the timers that are due before `end`, although their packets reach no link before
    /// `end`.
    pub fn run_out(&mut self, end: Time, entrance: &mut impl Entrance) {
        let last = Time::from_picoseconds(end.picoseconds() - 1);
        self.wake(last + self.wiring.to_first_link(), entrance);
    }

    /// When a packet sent by the flow's next timer can reach a shared link: the time of the
    /// wake-up.
    #[inline]
    pub fn next_wake(&self) -> Time {
        self.receiver_wake().min(self.sender_wake())
    }

    fn sender_wake(&self) -> Time {
        self.sender.deadline().saturating_add(self.wiring.to_first_link())
    }

    #[inline]
    fn receiver_wake(&self) -> Time {
        let deadline = self.receiver.deadline();
        if deadline == Time::NEVER { deadline } else { self.delayed_ack_wake(deadline) }
    }

    /// When a delayed ACK that leaves at `deadline` can reach a shared link.
    #[inline(never)]
    fn delayed_ack_wake(&self, deadline: Time) -> Time {
        let arrival = self.wiring.leave_receiver(deadline);
        if self.wiring.has_reverse_path() {
            arrival
        } else {
            arrival.saturating_add(self.wiring.to_first_link())
        }
    }

    /// Fires the timers whose packets can reach a shared link by `time`, in the order of the
    /// sender's time. An ACK at the time of a deadline comes before the timer.
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

/// Sends an ACK that leaves the receiver at `time`.
#[inline]
fn answer(
    sender: &mut Sender,
    wiring: &mut Wiring,
    time: Time,
    ack: Ack<'_>,
    entrance: &mut impl Entrance,
) {
    let arrival = wiring.leave_receiver(time);
    if wiring.has_reverse_path() {
        entrance.ack(arrival, ack);
    } else {
        acknowledge(sender, wiring, arrival, ack, entrance);
    }
}

/// Delivers an ACK to the sender at `now`, after the timers that are due before.
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
