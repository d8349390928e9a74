//! A link with somebody else's packets in it: the queue disciplines of this crate for the tests of a
//! transport.
//!
//! The packets are values of a type of the caller. The caller hands over each packet when it arrives,
//! and learns what becomes of it: when it reaches the far end and with which ECN field, or why the link
//! dropped it. Time is the caller's; nothing here reads a clock.
//!
//! Two flows send 100 packets at once through FQ-CoDel at 10 Mbit/s:
//!
//! ```
//! use tailroom_engine::{Bottleneck, Ecn, Fate, Rate, Time};
//!
//! let rate = Rate::from_bits_per_second(10_000_000);
//! let mut link = Bottleneck::fq_codel(rate, Time::from_milliseconds(20)).expect("a link");
//! for number in 0..100 {
//!     let flow = number % 2;
//!     link.arrive(Time::ZERO, flow, 1_250, Ecn::Ect0, format!("packet {number}"));
//! }
//!
//! // A simulator of events would put the deliveries into its agenda. They come in order.
//! let mut on_the_way = Vec::new();
//! let mut now = Time::ZERO;
//! while now < Time::NEVER {
//!     while let Some(outcome) = link.poll(now) {
//!         if let Fate::Delivered { at, ecn, .. } = outcome.fate {
//!             on_the_way.push((at, ecn, outcome.packet));
//!         }
//!     }
//!     now = link.next_due();
//! }
//! // A packet takes 1 ms, and propagates for 20 ms.
//! assert_eq!(on_the_way[0], (Time::from_milliseconds(21), Ecn::Ect0, "packet 0".to_owned()));
//! assert_eq!(on_the_way[99].0, Time::from_milliseconds(120));
//! ```
//!
//! [`Bottleneck::new`] takes any link: another queue, a shaper, loss, a rate that varies. It carries the
//! packets of the caller alone: simulated flows cannot share the link, and the caller's packets cannot
//! enter a simulation.

use std::collections::VecDeque;

use crate::link::{Link, LinkOutcome, LinkSpec};
use crate::network::MAX_FLOWS;
use crate::network::validate::link::{check_link, check_queue};
use crate::network::validate::token_bucket::check_token_buckets;
use crate::packet::transit::{MAX_SLOTS, Transit};
use crate::packet::{Ecn, MAX_PACKET_BYTES, Packet};
use crate::parameters::BadParameter;
use crate::probe::window::Window;
use crate::quantity::limit::QueueLimit;
use crate::queue::LinkInfo;
use crate::queue::buffer::DropReason;
use crate::units::{Rate, Time};

/// What became of a packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Fate {
    /// The link sends the packet.
    Delivered {
        /// When it reaches the far end; [`Time::NEVER`] if the link stands still for good.
        at: Time,
        /// When its last bit leaves.
        departure: Time,
        /// How long it waited before its transmission.
        waited: Time,
        /// Its ECN field behind the queue.
        ecn: Ecn,
        /// Whether the queue has marked it.
        is_marked: bool,
    },
    /// The queue discipline dropped the packet, on arrival or later.
    Dropped {
        /// When.
        at: Time,
        /// Why.
        reason: DropReason,
    },
    /// The link sends the packet, and the wire loses it.
    Lost {
        /// When its last bit leaves.
        departure: Time,
        /// How long it waited before its transmission.
        waited: Time,
        /// Whether the queue has marked it.
        is_marked: bool,
    },
}

/// A packet whose fate is known.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Outcome<T> {
    /// The packet.
    pub packet: T,
    /// Its flow.
    pub flow: u32,
    /// Its size on the wire.
    pub bytes: u32,
    /// What became of it.
    pub fate: Fate,
}

/// A link with packets of type `T` in it.
///
/// The same specification, seed and arrivals give the same outcomes.
#[derive(Debug)]
pub struct Bottleneck<T> {
    link: Link,
    packets: Slots<T>,
    decided: VecDeque<Outcome<T>>,
    now: Time,
}

impl<T> Bottleneck<T> {
    /// A link of this rate and one-way delay behind FQ-CoDel with the defaults of Linux, empty, at time 0;
    /// its seed is 1.
    ///
    /// # Errors
    /// `rate` or `delay` is out of range.
    pub fn fq_codel(rate: Rate, delay: Time) -> Result<Self, BadParameter> {
        Bottleneck::new(&LinkSpec::fq_codel(rate, delay), 1)
    }

    /// A link of this rate and one-way delay behind a FIFO with room for `limit`, not counting the packet
    /// in transmission, empty, at time 0.
    ///
    /// # Errors
    /// `rate`, `delay` or `limit` is out of range.
    pub fn drop_tail(rate: Rate, delay: Time, limit: QueueLimit) -> Result<Self, BadParameter> {
        Bottleneck::new(&LinkSpec::drop_tail(rate, delay, limit), 1)
    }

    /// The link that `spec` describes, empty, at time 0. Its random draws depend on `seed`.
    ///
    /// # Errors
    /// The first value of `spec` that is out of range or contradicts another, or on which only a network
    /// can act.
    pub fn new(spec: &LinkSpec, seed: u64) -> Result<Self, BadParameter> {
        let mut info = LinkInfo::new(&spec.name, spec.sustained_rate(), spec.packet_bytes as u32);
        (info.seed, info.bdp_bytes) = (seed, spec.bdp_bytes);
        Bottleneck::with_info(spec, &info)
    }

    /// The same; `info` is what the queue discipline may know of the link.
    ///
    /// # Errors
    /// Those of [`Bottleneck::new`].
    pub fn with_info(spec: &LinkSpec, info: &LinkInfo) -> Result<Self, BadParameter> {
        check_link(spec, Time::AFTER_ALL_RUNS)?;
        check_alone(spec)?;
        check_queue(spec, info)?;
        check_token_buckets(spec, info)?;
        Ok(Bottleneck {
            link: Link::new(spec, info, Window::default()),
            packets: Slots::default(),
            decided: VecDeque::new(),
            now: Time::ZERO,
        })
    }

    /// A packet of `flow` with `bytes` on the wire arrives at `now`. Transmissions that begin at `now`
    /// or before begin first, so that they make room.
    ///
    /// # Panics
    /// Panics if `now` is before the time of an earlier call, if `flow` is not below [`MAX_FLOWS`], if
    /// `bytes` is 0 or above [`MAX_PACKET_BYTES`], and if 2^29 packets are inside.
    pub fn arrive(&mut self, now: Time, flow: u32, bytes: u32, ecn: Ecn, packet: T) {
        assert!((flow as usize) < MAX_FLOWS, "flow {flow} is not below {MAX_FLOWS}");
        assert!((1..=MAX_PACKET_BYTES).contains(&bytes), "no packet has {bytes} bytes");
        self.serve_until(now);
        let slot = self.packets.insert(packet, ecn);
        let header = Packet { sequence: slot.into(), bytes, sent: now, ecn, ..Packet::default() };
        let mut transit = Transit::arrival(now, flow, 0, &header);
        let outcome = self.link.arrive(&mut transit, 0);
        self.decide(transit, outcome);
        self.take_dropped(now);
    }

    /// When [`Bottleneck::poll`] returns a packet without another arrival: the time of the last call if
    /// a fate is known already, or else the time of the next transmission; [`Time::NEVER`] if the
    /// link is empty.
    pub fn next_due(&self) -> Time {
        if self.decided.is_empty() { self.link.next_service() } else { self.now }
    }

    /// The next packet whose fate is known at `now`, in the order in which the fates become known;
    /// `None` if there is none.
    ///
    /// The fate of a packet is known when its transmission begins, or when it is dropped, so the time
    /// of a delivery lies ahead. Deliveries come in order, unless the link
    /// [reorders](LinkSpec::reorder). Behind an arrival rule, such as tail drop or
    /// RED, a fate is known at the arrival.
    ///
    /// # Panics
    /// Panics if `now` is before the time of an earlier call.
    pub fn poll(&mut self, now: Time) -> Option<Outcome<T>> {
        self.serve_until(now);
        self.decided.pop_front()
    }

    /// Packets that wait at `now`, without the packet in transmission.
    ///
    /// # Panics
    /// Panics if `now` is before the time of an earlier call.
    pub fn queue_packets(&mut self, now: Time) -> u64 {
        self.serve_until(now);
        self.link.queue_packets(now)
    }

    /// The link: its capacity, and what the queue discipline reports of itself.
    pub fn link(&self) -> &Link {
        &self.link
    }

    /// Begins every transmission that is due by `now`.
    fn serve_until(&mut self, now: Time) {
        assert!(now >= self.now, "{now} is before {}, the time of an earlier call", self.now);
        self.now = now;
        let now = now.min(Time::AFTER_ALL_RUNS); // a service at Time::NEVER never comes
        while self.link.next_service() <= now {
            let start = self.link.next_service();
            let served = self.link.serve(|_| 0);
            self.take_dropped(start);
            if let Some((transit, outcome)) = served {
                self.decide(transit, outcome);
            }
        }
    }

    fn take_dropped(&mut self, now: Time) {
        let Bottleneck { link, packets, decided, .. } = self;
        link.drain_dropped(now, |dropped| {
            let (packet, _) = packets.remove(dropped.packet.slot());
            let fate = Fate::Dropped { at: now, reason: dropped.reason };
            let (flow, bytes) = (dropped.packet.flow(), dropped.packet.bytes());
            decided.push_back(Outcome { packet, flow, bytes, fate });
            0
        });
    }

    /// Notes the fate of a packet that has arrived or whose transmission has begun.
    fn decide(&mut self, transit: Transit, outcome: LinkOutcome) {
        let (departure, waited) = (self.link.busy_until(), self.link.last_wait());
        if outcome == LinkOutcome::Held {
            return;
        }
        let (packet, arrived_ecn) = self.packets.remove(transit.slot());
        let ecn = transit.ecn();
        let is_marked = ecn != arrived_ecn;
        let fate = match outcome {
            LinkOutcome::Delivered(at) => Fate::Delivered { at, departure, waited, ecn, is_marked },
            LinkOutcome::Dropped(reason) => Fate::Dropped { at: transit.time(), reason },
            LinkOutcome::Lost | LinkOutcome::Held => Fate::Lost { departure, waited, is_marked },
        };
        let (flow, bytes) = (transit.flow(), transit.bytes());
        self.decided.push_back(Outcome { packet, flow, bytes, fate });
    }
}

/// Refuses what only a network can act on, since it concerns other links too.
fn check_alone(spec: &LinkSpec) -> Result<(), BadParameter> {
    let shared = [
        ("pool", spec.pool.is_some(), "shares no memory"),
        ("ingress", spec.ingress.is_some(), "shares no memory"),
        ("line", spec.line.is_some(), "shares no line"),
        ("pause", spec.pause.is_some(), "leads to no switch that pauses it"),
    ];
    match shared.into_iter().find(|(_, is_there, _)| *is_there) {
        Some((key, _, lacks)) => {
            Err(BadParameter::new(key, format!("a link by itself {lacks}"), "remove it"))
        }
        None => Ok(()),
    }
}

/// The packets inside, with the ECN fields that they had on arrival. A packet of the link holds the
/// number of its slot in place of a sequence number.
#[derive(Debug)]
struct Slots<T> {
    packets: Vec<Option<(T, Ecn)>>,
    free: Vec<u32>,
}

impl<T> Default for Slots<T> {
    fn default() -> Self {
        Slots { packets: Vec::new(), free: Vec::new() }
    }
}

impl<T> Slots<T> {
    fn insert(&mut self, packet: T, ecn: Ecn) -> u32 {
        let slot = self.free.pop().unwrap_or_else(|| {
            assert!(self.packets.len() < MAX_SLOTS, "{MAX_SLOTS} packets are inside");
            self.packets.push(None);
            self.packets.len() as u32 - 1
        });
        self.packets[slot as usize] = Some((packet, ecn));
        slot
    }

    fn remove(&mut self, slot: u32) -> (T, Ecn) {
        self.free.push(slot);
        self.packets[slot as usize].take().expect("the link returns a packet once")
    }
}
