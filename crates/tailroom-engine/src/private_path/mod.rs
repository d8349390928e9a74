//! The parts of a path that are private to a flow: its access link, and the propagation between its
//! endpoints and the shared links. Packets stay in order there, so that their times are computed
//! when a packet leaves the last shared link, ahead of the links' clock, without an event.

pub mod delays;

use crate::link::serializer::FixedRate;
use crate::packet::{Ack, Packet};
use crate::random;
use crate::random::SmallStream;
use crate::units::{Rate, Time};
use delays::{PrivateDelays, SenderSide};

/// What the private path of a flow depends on apart from its RTT and access link.
#[derive(Clone, Copy, Debug)]
pub struct SharedPath {
    /// Propagation of the shared links from the sender to the receiver.
    pub forward: Time,
    /// Propagation of the shared links that ACKs cross. A private ACK path counts as much
    /// propagation as the forward path.
    pub backward: Time,
    /// Whether ACKs cross shared links.
    pub has_reverse_path: bool,
    /// Where the private propagation lies; `None` means [`SenderSide::HALF`].
    pub sender_side: Option<SenderSide>,
    /// Interval at whose multiples ACKs reach the sender.
    pub ack_aggregation: Option<Time>,
}

/// Private delays of a flow. The propagation that the shared links do not account for is divided as
/// [`SharedPath::sender_side`] says among sender to first link, last link to receiver, and the same
/// on the way back.
#[derive(Clone, Debug)]
pub struct PrivatePath {
    round_trip: PrivateRoundTrip,
    /// From the last link of the reverse path to the sender; `None` for a private ACK path.
    to_sender: Option<Time>,
}

/// The private path of a flow whose ACKs cross no shared link, which is all that its fast path needs.
#[derive(Clone, Debug)]
pub struct PrivateRoundTrip {
    to_receiver: Time,
    /// From the receiver to the sender, or to the first link of the reverse path.
    from_receiver: Time,
    /// Interval at whose multiples ACKs reach the sender; zero for any time.
    aggregation: Time,
    to_first_link: Time,
    send_jitter: SendJitter,
    access: Option<FixedRate>,
    access_free_at: Time,
}

impl PrivatePath {
    /// The private path of a flow along `path` with this two-way propagation and access link,
    /// without random delays.
    pub fn new(path: &SharedPath, rtt: Time, access_rate: Option<Rate>) -> Self {
        let &SharedPath { forward, backward, has_reverse_path, .. } = path;
        let private = rtt.since(forward.saturating_add(backward));
        let side = path.sender_side.unwrap_or(SenderSide::HALF);
        let PrivateDelays { to_first_link, to_receiver, from_receiver, to_sender } =
            PrivateDelays::new(private, side);
        let from_receiver = if has_reverse_path {
            from_receiver
        } else {
            from_receiver.saturating_add(backward).saturating_add(to_sender)
        };
        PrivatePath {
            round_trip: PrivateRoundTrip {
                to_receiver,
                from_receiver,
                aggregation: path.ack_aggregation.unwrap_or(Time::ZERO),
                to_first_link,
                send_jitter: SendJitter::none(),
                access: access_rate.map(FixedRate::new),
                access_free_at: Time::ZERO,
            },
            to_sender: has_reverse_path.then_some(to_sender),
        }
    }

    /// Adds random processing times of up to `longest` before packets leave their sender.
    #[must_use]
    pub fn with_send_jitter(mut self, longest: Option<Time>, seed: u64) -> Self {
        self.round_trip.send_jitter = SendJitter::new(longest, seed);
        self
    }

    /// The path without a reverse path; `None` if ACKs cross shared links.
    #[inline]
    pub fn round_trip(&self) -> Option<&PrivateRoundTrip> {
        if self.has_reverse_path() { None } else { Some(&self.round_trip) }
    }

    /// Takes over the state of `round_trip`, by which more packets have left.
    #[inline]
    pub fn resume(&mut self, round_trip: PrivateRoundTrip) {
        self.round_trip = round_trip;
    }

    /// When a packet that the sender sends at `sent` reaches its access link.
    #[inline]
    pub fn leave_sender(&mut self, sent: Time) -> Time {
        self.round_trip.leave_sender(sent)
    }

    /// When a packet that reaches the access link at `time` reaches the first shared link.
    #[inline]
    pub fn enter(&mut self, time: Time, bytes: u32) -> Time {
        self.round_trip.enter(time, bytes)
    }

    /// When a packet that leaves the last shared link at `time` reaches the receiver.
    #[inline]
    pub fn reach_receiver(&self, time: Time) -> Time {
        self.round_trip.reach_receiver(time)
    }

    /// When an ACK that leaves the receiver at `time` reaches the sender (or, on a reverse path,
    /// its first link).
    #[inline]
    pub fn leave_receiver(&self, time: Time) -> Time {
        if self.has_reverse_path() {
            time.saturating_add(self.round_trip.from_receiver)
        } else {
            self.round_trip.return_from_receiver(time)
        }
    }

    /// When an ACK that leaves the reverse path's last link at `time` reaches the sender.
    pub fn reach_sender(&self, time: Time) -> Time {
        let to_sender = self.to_sender.unwrap_or(Time::ZERO);
        self.round_trip.aggregate(time.saturating_add(to_sender))
    }

    /// Propagation from the access link to the first shared link.
    #[inline]
    pub fn to_first_link(&self) -> Time {
        self.round_trip.to_first_link
    }

    /// Whether ACKs cross shared links.
    #[inline]
    pub fn has_reverse_path(&self) -> bool {
        self.to_sender.is_some()
    }

    /// The shortest time from leaving the last forward link to a reaction at the first.
    pub fn shortest_reaction(&self) -> Time {
        let PrivateRoundTrip { to_receiver, from_receiver, to_first_link, .. } = self.round_trip;
        let there = to_receiver.saturating_add(to_first_link);
        there.saturating_add(from_receiver).saturating_add(self.to_sender.unwrap_or(Time::ZERO))
    }
}

impl PrivateRoundTrip {
    /// As [`PrivatePath::leave_sender`].
    #[inline]
    pub fn leave_sender(&mut self, sent: Time) -> Time {
        self.send_jitter.delay(sent)
    }

    /// As [`PrivatePath::enter`].
    #[inline]
    pub fn enter(&mut self, time: Time, bytes: u32) -> Time {
        let departure = match &mut self.access {
            None => time,
            Some(access) => {
                let start = time.max(self.access_free_at);
                self.access_free_at = if start < Time::AFTER_ALL_RUNS {
                    access.finish(start, bytes)
                } else {
                    Time::NEVER
                };
                self.access_free_at
            }
        };
        departure.saturating_add(self.to_first_link)
    }

    /// As [`PrivatePath::reach_receiver`].
    #[inline]
    pub fn reach_receiver(&self, time: Time) -> Time {
        time + self.to_receiver
    }

    /// When an ACK that leaves the receiver at `time` reaches the sender.
    #[inline]
    pub fn return_from_receiver(&self, time: Time) -> Time {
        self.aggregate(time.saturating_add(self.from_receiver))
    }

    /// As [`PrivatePath::to_first_link`].
    #[inline]
    pub fn to_first_link(&self) -> Time {
        self.to_first_link
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
}

/// Random processing time before packets leave their sender. Packets that are sent meanwhile leave
/// with the packet that is being processed (as in ns-2), so that packets stay in order.
///
/// The state is inline in the flow, with the small generator of [`random::small_stream`]: with
/// 100,000 flows, another cache line per packet would cost more than the rest of the computation.
#[derive(Clone, Debug)]
struct SendJitter {
    /// Delays are drawn from the whole numbers of picoseconds below this bound; 0 for no delay.
    bound: u64,
    /// When the previous packet leaves.
    last: Time,
    random: SmallStream,
}

impl SendJitter {
    fn none() -> Self {
        SendJitter::new(None, 0)
    }

    /// Delays of at most `most`, or none.
    fn new(most: Option<Time>, seed: u64) -> Self {
        SendJitter {
            bound: most.map_or(0, |most| most.picoseconds() + 1),
            last: Time::ZERO,
            random: match most {
                None => SmallStream::seeded(0), // never drawn from
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

/// Takes the packets and ACKs of a flow at their first shared links.
pub trait NetworkSink {
    /// A packet reaches the first shared link at `time`.
    fn packet(&mut self, time: Time, packet: &Packet);
    /// An ACK that was sent at `sent` reaches the first link of the reverse path at `time`.
    fn ack(&mut self, sent: Time, time: Time, ack: Ack<'_>);
    /// An ACK that was sent at `sent` reaches the sender at `time` by a private path.
    fn private_ack(&mut self, _sent: Time, _time: Time, _ack: &Ack<'_>) {}
}
