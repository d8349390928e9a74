//! The network as the engine sees it: what a scenario resolves to, every quantity in engine units.
//!
//! Who is wired to whom: a flow has an access link of its own, a forward path through shared links,
//! a receiver, and an ACK path that is either private (the default) or a reverse path through shared
//! links. Everything between two shared links is private to the flow and in order.

use std::ops::Range;
use std::sync::Arc;

use crate::congestion::CongestionConfig;
use crate::distribution::{Count, Distribution};
use crate::flow::Wiring;
use crate::flow_admission::FlowAdmissionSpec;
use crate::packet::Ecn;
use crate::private_delay::SenderSide;
use crate::probe::arrivals::ArrivalLogSpec;
use crate::probe::flow::Marks;
use crate::quantity::limit::{Limit, QueueLimit};
use crate::queue::{LinkFacts, QueueConfig};
use crate::schedule::{Schedule, TieBreak};
use crate::units::{Rate, Time};

/// Flows that a run can tell apart: 24 bits in a packet.
pub const MAX_FLOWS: usize = 16_777_215;

/// One run, fully resolved: nothing here needs a file, a default or a unit any more.
#[derive(Clone, Debug)]
pub struct Network {
    /// The run covers `[0, duration]`.
    pub duration: Time,
    /// Statistics cover `[measure_from, duration]`.
    pub measure_from: Time,
    /// Root of every random stream.
    pub seed: u64,
    /// Shared links, in the order of the scenario file.
    pub links: Vec<LinkSpec>,
    /// Flow groups, in the order of the scenario file.
    pub groups: Vec<GroupSpec>,
    /// All flows; those of one group are adjacent and in order.
    pub flows: Vec<FlowSpec>,
    /// Interval of the time series, if any are recorded.
    pub series_interval: Option<Time>,
    /// The run ends with an error when its pending packets need more than this.
    pub memory_limit_bytes: u64,
}

/// A shared link: a queue, a rate, a propagation delay, and what may go wrong on the way.
#[derive(Clone, Debug)]
pub struct LinkSpec {
    /// Key in the scenario's `[links]` table.
    pub name: String,
    /// Rate until the first change.
    pub rate: Rate,
    /// One-way propagation delay until the first change.
    pub delay: Time,
    /// The queue discipline that guards the buffer.
    pub queue: QueueConfig,
    /// Random loss on the wire, after serialization.
    pub loss: LossSpec,
    /// Changes of rate, sorted by time.
    pub rate_changes: Vec<RateChange>,
    /// If set, the rate changes repeat from the start each time this span has passed.
    pub rate_period: Option<Time>,
    /// Changes of delay, sorted by time. Packets never overtake one another.
    pub delay_changes: Vec<DelayChange>,
    /// How many entries the packet log of this link may hold; 0 switches it off.
    pub packet_log: usize,
    /// Shortest time scale at which arrivals are counted, if they are.
    pub arrival_dispersion: Option<Time>,
    /// Which arrivals are recorded one by one, if any.
    pub arrival_log: Option<ArrivalLogSpec>,
    /// When new flows are refused, if ever.
    pub admission: Option<FlowAdmissionSpec>,
    /// Bandwidth-delay product in bytes: rate times the mean propagation RTT of the
    /// congestion-controlled flows that cross the link (0 when none does).
    pub bdp_bytes: f64,
}

impl LinkSpec {
    /// What an amount of the link's discipline comes to in packets or bytes.
    pub fn limit(&self, amount: QueueLimit) -> Limit {
        amount.at_link(self.rate, self.bdp_bytes)
    }
}

/// From `at` on the link runs at `rate`; 0 bit/s means that it stands still.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RateChange {
    /// When, since the start of the run (or of the period).
    pub at: Time,
    /// The new rate; zero is allowed here.
    pub rate: Rate,
}

/// From `at` on the link's propagation delay is `delay`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DelayChange {
    /// When, since the start of the run.
    pub at: Time,
    /// The new one-way delay.
    pub delay: Time,
}

/// Random loss on a wire.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub enum LossSpec {
    /// No loss.
    #[default]
    None,
    /// Each packet is lost with this probability, independently.
    Bernoulli {
        /// In (0, 1).
        probability: f64,
    },
    /// Every `every`-th packet is lost.
    Periodic {
        /// At least 2.
        every: u64,
    },
    /// Two-state Markov loss (Gilbert 1960, Elliott 1963), one step a packet.
    GilbertElliott {
        /// Probability to go from the good to the bad state, a packet.
        good_to_bad: f64,
        /// Probability to return from the bad to the good state, a packet.
        bad_to_good: f64,
        /// Loss probability in the good state.
        loss_good: f64,
        /// Loss probability in the bad state.
        loss_bad: f64,
    },
}

/// A group of flows that differ only in RTT, access link and start.
#[derive(Clone, Debug)]
pub struct GroupSpec {
    /// Key in the scenario's `[flows]` table.
    pub name: String,
    /// Indices of the shared links on the way to the receiver; never empty, never twice the same.
    pub path: Vec<usize>,
    /// Indices of the shared links that the ACKs cross; empty for a private ACK path.
    pub reverse_path: Vec<usize>,
    /// What the application wants to send.
    pub source: SourceSpec,
    /// When the application stops offering data.
    pub stop: Option<Time>,
    /// Size of a data packet on the wire, header included, in bytes.
    pub packet_size: u32,
    /// Part of `packet_size` that is header, in bytes.
    pub header_size: u32,
    /// Where the private propagation of its flows lies; `None` if the scenario leaves it open, which
    /// means [`SenderSide::HALF`].
    pub sender_side: Option<SenderSide>,
    /// Longest random processing time before a packet leaves its sender, if there is one.
    pub send_jitter: Option<Time>,
    /// The transport, for sources under congestion control.
    pub tcp: Option<TcpSpec>,
}

impl GroupSpec {
    /// The one link on the path, if no ACKs of the group cross it: what the group waits there is the
    /// queueing delay of its packets. `None` if there are several links, or ACKs among the packets.
    pub fn only_queue(&self) -> Option<usize> {
        match self.path[..] {
            [link] if !self.reverse_path.contains(&link) => Some(link),
            _ => None,
        }
    }
}

/// One flow of a group.
#[derive(Clone, Copy, Debug)]
pub struct FlowSpec {
    /// Index into [`Network::groups`].
    pub group: usize,
    /// Two-way propagation delay of the whole path, at the links' initial delays.
    pub rtt: Time,
    /// When the flow starts.
    pub start: Time,
    /// Rate of its own access link; `None` for one that takes no time.
    pub access_rate: Option<Rate>,
}

/// What an application wants to send.
#[derive(Clone, Debug, PartialEq)]
pub enum SourceSpec {
    /// As much as the window allows, up to `bytes` of payload if given.
    Bulk {
        /// Payload bytes to send; `None` for a permanent flow.
        bytes: Option<u64>,
    },
    /// Objects that arrive at a connection that lasts.
    Objects(Box<ObjectsSpec>),
    /// Flows that come and go. The group has no entry in [`Network::flows`].
    FiniteFlows(Box<FiniteFlowsSpec>),
    /// Flows of a list, which come and go.
    Trace(Box<TraceSpec>),
    /// Media flows, which come and go and which nothing controls.
    Streaming(Box<StreamingSpec>),
    /// Web sessions, whose objects are flows that come and go.
    Web(Box<WebSpec>),
    /// A Poisson stream of packets that nothing controls.
    Poisson {
        /// Mean rate on the wire, a flow.
        rate: Rate,
        /// How large they are.
        sizes: PacketSizes,
    },
    /// Equally spaced packets that nothing controls.
    Cbr {
        /// Rate on the wire, a flow.
        rate: Rate,
    },
    /// Equally spaced packets in on periods, nothing in off periods, and no control.
    OnOff {
        /// Rate on the wire in on periods, a flow.
        rate: Rate,
        /// Length of on periods, in picoseconds.
        on: Distribution,
        /// Length of off periods, in picoseconds.
        off: Distribution,
    },
}

/// Sizes of the packets of an uncontrolled stream.
#[derive(Clone, Debug, PartialEq)]
pub enum PacketSizes {
    /// All `packet_size`.
    Fixed,
    /// Exponential with mean `packet_size`, rounded up, at most 65,535 bytes.
    Exponential,
    /// Drawn and rounded to the nearest byte; none is larger than `packet_size`.
    Drawn(Distribution),
}

impl SourceSpec {
    /// Mean round trip of flows that come and go, in picoseconds; `None` for permanent ones.
    pub fn passing_rtt(&self) -> Option<f64> {
        match self {
            SourceSpec::FiniteFlows(spec) => Some(spec.rtt.mean()),
            SourceSpec::Trace(spec) => Some(spec.mean_rtt()),
            SourceSpec::Streaming(spec) => Some(spec.rtt.mean()),
            SourceSpec::Web(spec) => Some(spec.rtt.mean()),
            SourceSpec::Bulk { .. }
            | SourceSpec::Objects(_)
            | SourceSpec::Poisson { .. }
            | SourceSpec::Cbr { .. }
            | SourceSpec::OnOff { .. } => None,
        }
    }

    /// How many completed flows are kept one by one.
    pub fn flow_log(&self) -> usize {
        match self {
            SourceSpec::FiniteFlows(spec) => spec.flow_log,
            SourceSpec::Trace(spec) => spec.flow_log,
            SourceSpec::Streaming(spec) => spec.flow_log,
            SourceSpec::Web(spec) => spec.flow_log,
            _ => 0,
        }
    }

    /// Mean rate on the wire that a permanent flow offers whatever becomes of it, in bit/s; flows that
    /// come and go count by themselves.
    pub fn offered_rate_bps(&self) -> Option<f64> {
        match self {
            SourceSpec::Bulk { .. }
            | SourceSpec::FiniteFlows(_)
            | SourceSpec::Trace(_)
            | SourceSpec::Streaming(_)
            | SourceSpec::Web(_) => None,
            SourceSpec::Objects(spec) => Some(spec.rate_bps),
            SourceSpec::Poisson { rate, .. } | SourceSpec::Cbr { rate } => {
                Some(rate.bits_per_second() as f64)
            }
            SourceSpec::OnOff { rate, on, off } => {
                let duty_cycle = on.mean() / (on.mean() + off.mean());
                Some(rate.bits_per_second() as f64 * duty_cycle)
            }
        }
    }
}

/// Objects that arrive at a connection that lasts, as a Poisson process.
#[derive(Clone, Debug, PartialEq)]
pub struct ObjectsSpec {
    /// Payload of an object, in bytes.
    pub size: Distribution,
    /// Mean number of objects a second, for each connection.
    pub per_second: f64,
    /// What they come to on the wire on average, in bit/s.
    pub rate_bps: f64,
}

/// Flows that come and go, each a connection of its own.
#[derive(Clone, Debug, PartialEq)]
pub struct FiniteFlowsSpec {
    /// When they arrive.
    pub arrivals: FlowArrivals,
    /// Payload of a flow, in bytes.
    pub size: Distribution,
    /// Two-way propagation delay, in picoseconds.
    pub rtt: Distribution,
    /// Rate of a flow's own access link, in bit/s; `None` for one that takes no time.
    pub peak_rate: Option<Distribution>,
    /// How many completed flows are kept one by one.
    pub flow_log: usize,
}

/// Flows of a list, each a connection of its own.
#[derive(Clone, Debug, PartialEq)]
pub struct TraceSpec {
    /// In order of their start.
    pub flows: Arc<[TraceFlow]>,
    /// Two-way propagation delay where the list has none, in picoseconds.
    pub rtt: Distribution,
    /// Rate of the access link where the list has none, in bit/s; `None` for one that takes no time.
    pub peak_rate: Option<Distribution>,
    /// How many completed flows are kept one by one.
    pub flow_log: usize,
}

impl TraceSpec {
    /// Mean time that flows take at their own rates.
    fn mean_transfer_s(&self) -> f64 {
        let drawn = self.peak_rate.as_ref().map_or(f64::INFINITY, Distribution::mean);
        let seconds = |flow: &TraceFlow| {
            let rate = flow.rate.map_or(drawn, |rate| rate.bits_per_second() as f64);
            8.0 * flow.bytes as f64 / rate
        };
        self.flows.iter().map(seconds).sum::<f64>() / self.flows.len().max(1) as f64
    }

    /// Mean round trip of its flows, in picoseconds.
    pub fn mean_rtt(&self) -> f64 {
        let drawn = self.rtt.mean();
        let listed = |flow: &TraceFlow| flow.rtt.map_or(drawn, |rtt| rtt.picoseconds() as f64);
        self.flows.iter().map(listed).sum::<f64>() / self.flows.len().max(1) as f64
    }
}

/// A flow of a list.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TraceFlow {
    /// When it starts.
    pub start: Time,
    /// Its payload, at least 1.
    pub bytes: u64,
    /// The rate that it cannot exceed, if it is known.
    pub rate: Option<Rate>,
    /// Its round trip, if it is known.
    pub rtt: Option<Time>,
}

/// Media flows: a constant rate each, and no congestion control.
#[derive(Clone, Debug, PartialEq)]
pub struct StreamingSpec {
    /// When they arrive.
    pub arrivals: FlowArrivals,
    /// How long a flow lasts, in picoseconds.
    pub duration: Distribution,
    /// Rate of a flow on the wire, in bit/s.
    pub rate: Distribution,
    /// Two-way propagation delay, in picoseconds.
    pub rtt: Distribution,
    /// How many completed flows are kept one by one.
    pub flow_log: usize,
}

/// Web sessions; every object is a connection of its own.
#[derive(Clone, Debug, PartialEq)]
pub struct WebSpec {
    /// When sessions begin.
    pub arrivals: FlowArrivals,
    /// Pages of a session; 0 counts as 1.
    pub pages: Count,
    /// From the end of a page to the request for the next one, in picoseconds.
    pub think_time: Distribution,
    /// Payload of the object that comes first, in bytes.
    pub main_object: Distribution,
    /// From its end to the requests for what it embeds, in picoseconds.
    pub parsing_time: Distribution,
    /// Number of the others.
    pub embedded_objects: Count,
    /// Their payload, in bytes.
    pub embedded_object: Distribution,
    /// How many of them are fetched at a time.
    pub parallel: u32,
    /// Two-way propagation delay, in picoseconds; the same for all of a session.
    pub rtt: Distribution,
    /// Rate of the access link of each connection, in bit/s, the same for all of a session; `None`
    /// for one that takes no time.
    pub peak_rate: Option<Distribution>,
    /// How many completed flows are kept one by one.
    pub flow_log: usize,
}

/// When flows or sessions arrive.
#[derive(Clone, Debug, PartialEq)]
pub enum FlowArrivals {
    /// As a Poisson process.
    Poisson {
        /// Mean number a second.
        per_second: f64,
        /// When the process begins.
        start: Time,
        /// When it ends; [`Time::NEVER`] if it does not.
        stop: Time,
    },
    /// At these times, in order.
    Given(Vec<Time>),
}

/// How the transport of a group behaves; the congestion control is one part of it.
#[derive(Clone, Debug)]
#[expect(clippy::struct_excessive_bools, reason = "each is a key of the scenario file")]
pub struct TcpSpec {
    /// How large the window is.
    pub congestion: CongestionConfig,
    /// How losses are found and repaired.
    pub recovery: Recovery,
    /// Proportional rate reduction (RFC 9937) during recovery; needs [`Recovery::Sack`].
    pub prr: bool,
    /// Count lost packets in the pipe until their retransmissions are acknowledged (ns-2), instead
    /// of leaving them out (RFC 6675 sec. 4, Linux); needs [`Recovery::Sack`], and no `prr`.
    pub count_lost_in_pipe: bool,
    /// Delayed ACKs (RFC 5681 sec. 4.2); `None` acknowledges every packet.
    pub delayed_ack: Option<DelayedAck>,
    /// The ACK path releases ACKs only at multiples of this interval, as cable and wireless
    /// links do.
    pub ack_aggregation: Option<Time>,
    /// Initial window in packets (RFC 6928: 10).
    pub initial_window: u32,
    /// Initial slow-start threshold in packets; `None` for no bound.
    pub initial_ssthresh: Option<u32>,
    /// Lower bound of the retransmission timeout (RFC 6298: 1 s; Linux and ns-2: 200 ms).
    pub min_rto: Time,
    /// Clock granularity G of RFC 6298 sec. 2.3; Linux in effect takes its minimum here.
    pub rto_granularity: Time,
    /// Restart the timer when SACK recovery sends the first packet in flight again (as Linux and
    /// ns-2 do), not only when new data are acknowledged (RFC 6298 sec. 5.3).
    pub restart_rto_at_retransmission: bool,
    /// Which packets give RTT samples.
    pub rtt_samples: RttSamples,
    /// Upper bound of the window in packets.
    pub max_window: Option<u64>,
    /// How the window grows below ssthresh.
    pub slow_start: SlowStartSpec,
    /// After an idle time, start again from at most the initial window (RFC 5681 sec. 4.1).
    pub slow_start_after_idle: bool,
    /// Spread packets over the round trip instead of sending them when an ACK allows it.
    pub pacing: bool,
    /// A host with segmentation offload waits until it may send this many packets at once.
    pub send_burst: u32,
    /// Forget the SACK scoreboard at a timeout (RFC 2018 sec. 5, ns-2) instead of keeping it
    /// (RFC 6675 sec. 5.1, Linux).
    pub forget_sack_at_timeout: bool,
    /// Explicit congestion notification.
    pub ecn: EcnMode,
    /// Size of a pure ACK on the wire, in bytes; it matters on a reverse path.
    pub ack_size: u32,
}

/// What a connection makes of explicit congestion notification.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum EcnMode {
    /// Packets are not ECN-capable.
    Off,
    /// RFC 3168: ECT(0), echoed until the sender has answered.
    Classic,
    /// ECT(0), every mark counted (RFC 9768).
    Accurate,
    /// ECT(1), every mark counted: what RFC 9331 asks of a scalable control.
    L4s,
}

impl EcnMode {
    /// Whether the receiver reports how many packets came marked.
    pub fn is_accurate(self) -> bool {
        matches!(self, EcnMode::Accurate | EcnMode::L4s)
    }

    /// What new data packets carry.
    pub fn codepoint(self) -> Ecn {
        match self {
            EcnMode::Off => Ecn::NotEct,
            EcnMode::Classic | EcnMode::Accurate => Ecn::Ect0,
            EcnMode::L4s => Ecn::Ect1,
        }
    }
}

/// Delayed acknowledgement.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DelayedAck {
    /// An ACK at the latest after this many in-order packets.
    pub packets: u32,
    /// An ACK at the latest this long after the first unacknowledged packet.
    pub timeout: Time,
}

/// Loss recovery.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Recovery {
    /// RFC 6582: cumulative ACKs only.
    NewReno,
    /// RFC 6675: selective ACKs, pipe and `NextSeg`.
    Sack,
}

/// Which packets give RTT samples (RFC 6298 sec. 3).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RttSamples {
    /// Timestamps (RFC 7323): every ACK of new data, retransmissions included.
    Timestamps,
    /// Karn's rule: no sample from a retransmitted packet.
    Karn,
}

/// Growth below ssthresh.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum SlowStartSpec {
    /// RFC 5681: one packet per acknowledged packet.
    Standard,
    /// RFC 3742: at most `max_ssthresh / 2` packets a round trip above `max_ssthresh`.
    Limited {
        /// In packets (RFC 3742 recommends 100).
        max_ssthresh: u32,
    },
    /// RFC 9406: leave slow start when the round trip time grows.
    HystartPlusPlus,
}

impl Network {
    /// When links and flows record their state.
    pub fn marks(&self) -> Marks {
        // Enough points to see a convergence, bounded where there are many flows.
        let intervals = (1_000_000 / self.flows.len().max(1) as u64).clamp(20, 400);
        Marks {
            measure_from: self.measure_from,
            duration: self.duration,
            series_interval: self.series_interval.unwrap_or(Time::NEVER),
            progress_interval: Time::from_picoseconds(
                (self.duration.picoseconds() / intervals).max(1),
            ),
            reductions_kept: (1_000_000 / self.flows.len().max(1)).max(16),
        }
    }

    /// An empty schedule whose buckets fit this network's packet rate and delays.
    pub(crate) fn schedule(&self, tie_break: TieBreak) -> Schedule {
        let mut smallest = vec![u32::MAX; self.links.len()];
        for group in &self.groups {
            for &link in &group.path {
                smallest[link] = smallest[link].min(group.packet_size);
            }
        }
        let rates = self.links.iter().zip(&smallest).filter(|(_, bytes)| **bytes < u32::MAX);
        let packets_per_second: f64 = rates
            .map(|(link, &bytes)| link.rate.bits_per_second() as f64 / (8.0 * f64::from(bytes)))
            .sum();
        let longest = self.longest_rtt();
        // Twice the longest round trip leaves room for the queues.
        let horizon = longest.saturating_add(longest).saturating_add(self.longest_access_queue());
        Schedule::new(packets_per_second, self.lookahead(), horizon, tie_break)
    }

    /// Group, two-way propagation and access rate of every permanent flow, and of a typical one of
    /// those that come and go.
    fn round_trips(&self) -> impl Iterator<Item = (usize, Time, Option<Rate>)> + '_ {
        let permanent = self.flows.iter().map(|flow| (flow.group, flow.rtt, flow.access_rate));
        let passing = self.groups.iter().enumerate().filter_map(|(index, group)| {
            let rtt = group.source.passing_rtt()?;
            Some((index, Time::from_picoseconds(rtt as u64), None))
        });
        permanent.chain(passing)
    }

    /// The longest two-way propagation of a flow, a typical one of those that come and go.
    pub fn longest_rtt(&self) -> Time {
        self.round_trips().map(|(_, rtt, _)| rtt).max().unwrap_or(Time::ZERO)
    }

    /// How far ahead slow start sends packets into the access link of a flow that comes and goes: a
    /// flow that its peak rate limits sees no loss, and its window grows until it ends.
    fn longest_access_queue(&self) -> Time {
        let mean = |size: &Distribution, peak_rate: &Option<Distribution>| {
            Some(8.0 * size.mean() / peak_rate.as_ref()?.mean())
        };
        let spans = self.groups.iter().filter_map(|group| match &group.source {
            SourceSpec::FiniteFlows(spec) => mean(&spec.size, &spec.peak_rate),
            SourceSpec::Web(spec) => mean(&spec.main_object, &spec.peak_rate),
            SourceSpec::Trace(spec) => Some(spec.mean_transfer_s()),
            _ => None,
        });
        let spans = spans.map(|seconds| Time::from_seconds(seconds.min(60.0)));
        spans.max().unwrap_or(Time::ZERO)
    }

    /// The shortest time in which a departure from a shared link usually causes an arrival at one.
    fn lookahead(&self) -> Time {
        let reactions = self.round_trips().map(|(group, rtt, access_rate)| {
            let group = &self.groups[group];
            let last = group.path.last().map_or(Time::ZERO, |&link| self.links[link].delay);
            let wiring = Wiring::new(self, group, rtt, access_rate);
            let reaction = wiring.shortest_reaction().saturating_add(last);
            let hops = group.path.len() + group.reverse_path.len();
            let passages = group.path.iter().chain(&group.reverse_path).take(hops - 1);
            passages.map(|&link| self.links[link].delay).fold(reaction, Time::min)
        });
        reactions.min().unwrap_or(Time::ZERO)
    }

    /// Propagation of a group's shared links, there and back; ACKs with a private path need as long as
    /// the data.
    pub fn propagation(&self, group: &GroupSpec) -> (Time, Time) {
        let sum = |path: &[usize]| {
            let delays = path.iter().map(|&link| self.links[link].delay);
            delays.fold(Time::ZERO, Time::saturating_add)
        };
        let forward = sum(&group.path);
        let has_reverse_path = !group.reverse_path.is_empty();
        (forward, if has_reverse_path { sum(&group.reverse_path) } else { forward })
    }

    /// The longest private propagation of a group's flows: what an RTT has beyond the shared links. Of
    /// flows that come and go, that of the mean RTT.
    pub fn private_propagation(&self, group: usize) -> Time {
        let round_trips = self.round_trips().filter(|(index, ..)| *index == group);
        let longest = round_trips.map(|(_, rtt, _)| rtt).max().unwrap_or(Time::ZERO);
        let (forward, backward) = self.propagation(&self.groups[group]);
        longest.since(forward + backward)
    }

    /// Whether data of each of two groups share a link with ACKs of the other.
    pub fn is_two_way(&self, one: &GroupSpec, other: &GroupSpec) -> bool {
        let meet = |data: &GroupSpec, acks: &GroupSpec| {
            data.path.iter().any(|link| acks.reverse_path.contains(link))
        };
        meet(one, other) && meet(other, one)
    }

    /// What the queue discipline of link `index` may know about it.
    pub fn link_facts(&self, index: usize) -> LinkFacts {
        let data = || self.groups.iter().filter(|group| group.path.contains(&index));
        let largest = data().map(|group| group.packet_size).max();
        let acks = self.groups.iter().filter(|group| group.reverse_path.contains(&index));
        let largest_ack = acks.filter_map(|group| group.tcp.as_ref()).map(|tcp| tcp.ack_size).max();
        let groups = self.crossing(index).into_iter();
        LinkFacts {
            name: self.links[index].name.clone(),
            seed: self.seed,
            rate: self.links[index].rate,
            bdp_bytes: self.links[index].bdp_bytes,
            packet_bytes: largest.or(largest_ack).unwrap_or(1_500),
            groups: groups.map(|at| (self.groups[at].name.clone(), self.members(at))).collect(),
        }
    }

    /// The groups whose packets or ACKs cross a link, in order: its classes of traffic.
    pub fn crossing(&self, link: usize) -> Vec<usize> {
        let crosses = |at: &usize| {
            let group = &self.groups[*at];
            group.path.contains(&link) || group.reverse_path.contains(&link)
        };
        (0..self.groups.len()).filter(crosses).collect()
    }

    /// The flows of a group.
    pub fn members(&self, group: usize) -> Range<u32> {
        let first = self.flows.partition_point(|flow| flow.group < group);
        let last = self.flows.partition_point(|flow| flow.group <= group);
        first as u32..last as u32
    }

    /// Whether a group's control is one that the registry does not hold.
    pub fn has_custom_controls(&self) -> bool {
        let mut transports = self.groups.iter().filter_map(|group| group.tcp.as_ref());
        transports.any(|tcp| matches!(tcp.congestion, CongestionConfig::Custom(_)))
    }

    /// Name of flow `index`: its group's name, and its place in the group where there are several.
    pub fn flow_name(&self, index: usize) -> String {
        let group = self.flows[index].group;
        let members = self.members(group);
        if members.len() == 1 {
            self.groups[group].name.clone()
        } else {
            format!("{}.{}", self.groups[group].name, index - members.start as usize)
        }
    }
}
