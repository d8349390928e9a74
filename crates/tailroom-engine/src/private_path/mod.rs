//! The parts of a path that are private to a flow: its access link, and the propagation between its
//! endpoints and the shared links. Packets stay in order there, so that their times are computed
//! when a packet leaves the last shared link, ahead of the links' clock, without an event.

pub mod delays;

use rand_core::SeedableRng;
use rand_xoshiro::SplitMix64;

use crate::link::serializer::FixedRate;
use crate::packet::{Ack, Packet};
use crate::random;
use crate::units::{Rate, Time};
use delays::{PrivateDelays, SenderSide};

/// What the private path of a flow depends on besides its RTT and access link.
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
    send_jitter: SendJitter,
    access: Option<FixedRate>,
    access_free_at: Time,
    to_first_link: Time,
    to_receiver: Time,
    /// From the receiver to the sender, or to the first link of the reverse path.
    from_receiver: Time,
    /// From the last link of the reverse path to the sender; zero for a private ACK path.
    to_sender: Time,
    has_reverse_path: bool,
    aggregation: Time,
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
        let (from_receiver, to_sender) = if has_reverse_path {
            (from_receiver, to_sender)
        } else {
            (from_receiver.saturating_add(backward).saturating_add(to_sender), Time::ZERO)
        };
        PrivatePath {
            send_jitter: SendJitter::none(),
            access: access_rate.map(FixedRate::new),
            access_free_at: Time::ZERO,
            to_first_link,
            to_receiver,
            from_receiver,
            to_sender,
            has_reverse_path,
            aggregation: path.ack_aggregation.unwrap_or(Time::ZERO),
        }
    }

    /// Adds random processing times of up to `longest` before packets leave their sender.
    #[must_use]
    pub fn with_send_jitter(self, longest: Option<Time>, seed: u64) -> Self {
        PrivatePath { send_jitter: SendJitter::new(longest, seed), ..self }
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

    /// When a packet that leaves the last shared link at `time` reaches the receiver.
    #[inline]
    pub fn reach_receiver(&self, time: Time) -> Time {
        time + self.to_receiver
    }

    /// When an ACK that leaves the receiver at `time` reaches the sender (or, on a reverse path,
    /// its first link).
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

    /// Propagation from the access link to the first shared link.
    #[inline]
    pub fn to_first_link(&self) -> Time {
        self.to_first_link
    }

    /// Whether ACKs cross shared links.
    #[inline]
    pub fn has_reverse_path(&self) -> bool {
        self.has_reverse_path
    }

    /// The shortest time from leaving the last forward link to a reaction at the first.
    pub fn shortest_reaction(&self) -> Time {
        let there = self.to_receiver.saturating_add(self.to_first_link);
        there.saturating_add(self.from_receiver).saturating_add(self.to_sender)
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
    random: SplitMix64,
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

/// Takes the packets and ACKs of a flow at their first shared links.
pub trait NetworkSink {
    /// A packet reaches the first shared link at `time`.
    fn packet(&mut self, time: Time, packet: &Packet);
    /// An ACK reaches the first link of the reverse path at `time`.
    fn ack(&mut self, time: Time, ack: Ack<'_>);
}
