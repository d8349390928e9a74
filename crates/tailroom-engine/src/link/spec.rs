//! A shared link as a scenario describes it, and the keys of its admission control.

use super::ingress_pool::IngressMember;
use super::jitter::JitterSpec;
use super::line::LineSpec;
use super::pause::PauseSpec;
use super::policer::PolicerSpec;
use super::reorder::ReorderSpec;
use super::serializer::{RateChange, Serializer};
use super::shaper::ShaperSpec;
use super::wire_loss::LossSpec;
use crate::derives::{Deserialize, JsonSchema, Ranges, Serialize};
use crate::observe::recorder::ArrivalLogSpec;
use crate::pool::PoolMember;
use crate::quantity::limit::{Limit, QueueLimit};
use crate::quantity::{BitRate, PositiveDuration};
use crate::queue::QueueConfig;
use crate::queue::drop_tail::DropTailParams;
use crate::queue::fq_codel::FqCodelParams;
use crate::units::{Rate, Time};

/// A shared link: a queue, a rate, a propagation delay, random loss.
///
/// The fields that a scenario names as they are here are its keys, and their doc comments the user's
/// documentation; the others follow from it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[non_exhaustive]
pub struct LinkSpec {
    /// Key in the scenario's `[links]` table.
    #[serde(skip)]
    pub name: String,
    /// Rate until the first change.
    #[serde(skip, default = "no_rate")]
    pub rate: Rate,
    /// One-way propagation delay until the first change.
    #[serde(skip)]
    pub delay: Time,
    /// Queue discipline, and the limit of its buffer. A link with a pool may leave the limit out: the
    /// pool is the limit then.
    #[cfg_attr(feature = "scenario", serde(deserialize_with = "crate::kind_or_name::read"))]
    #[schemars(
        schema_with = "crate::kind_or_name::schema_with_code::<QueueConfig>",
        example = serde_json::json!({ "kind": "drop_tail", "limit": "100 packets" })
    )]
    pub queue: QueueConfig,
    /// Random loss on the wire, after the packet has used the link.
    #[cfg_attr(
        feature = "scenario",
        serde(default, deserialize_with = "crate::kind_or_name::read")
    )]
    #[schemars(schema_with = "crate::kind_or_name::schema::<LossSpec>")]
    pub loss: LossSpec,
    /// Changes of rate, sorted by time.
    #[serde(skip)]
    pub rate_changes: Vec<RateChange>,
    /// The period with which the rate changes repeat, if they do.
    #[serde(skip)]
    pub rate_period: Option<Time>,
    /// Changes of delay, sorted by time. Packets stay in order.
    #[serde(skip)]
    pub delay_changes: Vec<DelayChange>,
    /// A further delay that varies at random, if there is one. Packets stay in order.
    #[serde(skip)]
    pub jitter: Option<JitterSpec>,
    /// Shaper: a token bucket for which packets wait in the queue. Off unless given.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(example = serde_json::json!({ "rate": "50 Mbit/s", "burst": "32 kB" }))]
    pub shaper: Option<ShaperSpec>,
    /// Policer: a token bucket that drops arriving packets before the queue. Off unless given.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(example = serde_json::json!({ "rate": "50 Mbit/s", "burst": "250 kB" }))]
    pub policer: Option<PolicerSpec>,
    /// The line that the link shares with others, each of which is then the queue of a traffic class: one
    /// of them sends at a time, and each may be paused alone. Off unless given.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(example = serde_json::json!({ "name": "up", "priority": 3 }))]
    pub line: Option<LineSpec>,
    /// Pause frames from the switch at the far end, which make the link lossless: the switch counts
    /// what arrived over the link and waits for the next links. Off unless given.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(example = serde_json::json!({ "xoff": "60 kB", "xon": "50 kB", "headroom": "30 kB" }))]
    pub pause: Option<PauseSpec>,
    /// Index of the link in the other direction, over which these frames travel: each waits for the packet
    /// that it is sending, or that another link of its line is. Without it they wait for none.
    #[serde(skip)]
    pub pause_frames_over: Option<usize>,
    /// The memory that the ingress of the link shares with those of others, if it does.
    #[serde(skip)]
    pub ingress: Option<IngressMember>,
    /// The memory that the link shares with others, if it does.
    #[serde(skip)]
    pub pool: Option<PoolMember>,
    /// Reordering: hold some packets back after their transmission, so that those behind overtake
    /// them. Off unless given.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(example = serde_json::json!({ "kind": "periodic", "every": 100, "extra_delay": "5 ms" }))]
    pub reorder: Option<ReorderSpec>,
    /// Number of arrivals, departures, drops and marks at this link that the packet log keeps, from
    /// the start of the run, such as 10000; 0 keeps none.
    #[serde(default)]
    #[schemars(range(max = 1_000_000_000))]
    pub packet_log: u64,
    /// Measure the burstiness of arrivals: the index of dispersion of the number of packets that
    /// arrive in intervals of this length, of twice this length, and so on. Off unless given.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(example = "10 us")]
    pub arrival_dispersion: Option<PositiveDuration>,
    /// Record each packet that arrives in a span of time: its flow and size, the length of the
    /// queue at its arrival, and whether it is accepted, marked or dropped. Off unless given.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(example = serde_json::json!({ "from": "60 s", "to": "62 s" }))]
    pub arrival_log: Option<ArrivalLogSpec>,
    /// Admission control: while the link is congested, it refuses new flows of the groups whose
    /// flows arrive and depart. Off unless given.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub admission: Option<FlowAdmissionSpec>,
    /// Whether something other than the discipline acts on packets that wait, so that no departure can
    /// be known before it happens. The results of a link on which nothing acts do not depend on it.
    #[serde(skip)]
    pub is_acted_on: bool,
    /// Bandwidth-delay product in bytes: the [carried rate](LinkSpec::carried_rate) times the
    /// mean propagation RTT of the long flows that cross the link, else of the other flows under
    /// congestion control; 0 without any.
    #[serde(skip)]
    pub bdp_bytes: f64,
    /// Size of the packets in which a buffer in bytes is counted: the mean of the long flows, else
    /// of the other data, else of the ACKs.
    #[serde(skip)]
    pub packet_bytes: f64,
}

#[cfg(feature = "scenario")]
fn no_rate() -> Rate {
    Rate::from_bits_per_second(0)
}

/// The rate of a policer, if it is below the sustained rate and every other one of the link.
pub(crate) fn policed_rate(
    policer: Option<PolicerSpec>,
    sustained: Rate,
    changes: &[RateChange],
) -> Option<Rate> {
    let slowest = changes.iter().map(|change| change.rate).fold(sustained, Ord::min);
    policer.map(|policer| policer.rate.rate()).filter(|&rate| rate < slowest)
}

impl LinkSpec {
    /// Whether packets wait in a buffer until the link serves them. Otherwise the departure of each
    /// packet is known when it arrives, which is faster.
    pub fn is_served(&self) -> bool {
        // A shaper or a pause leaves the line idle while packets wait, and other links may use it, which a
        // known departure does not tell.
        let lets_wait = self.shaper.is_some() || self.pause.is_some() || self.line.is_some();
        self.is_acted_on || lets_wait || self.queue.needs_service()
    }

    /// Whether the far end of the link is a switch that counts what arrived over the link and waits there:
    /// for pause frames, or because ingresses share memory.
    pub fn counts_in_switch(&self) -> bool {
        self.pause.is_some() || self.ingress.is_some()
    }

    /// Turns the sizes of packets into times, at the rates that the link has over time.
    pub(crate) fn serializer(&self) -> Serializer {
        Serializer::new(self.rate, &self.rate_changes, self.rate_period)
    }

    /// The rate at `time`, or when the link sends next.
    pub(crate) fn sending_rate(&self, time: Time) -> Rate {
        if self.rate_changes.is_empty() { self.rate } else { self.serializer().sending_rate(time) }
    }

    /// The rate at which packets leave the shaper, or that of the link until its first change: limits in
    /// time are measured by it.
    pub fn sustained_rate(&self) -> Rate {
        self.shaper.map_or(self.rate, |shaper| shaper.packet_rate(self.packet_bytes))
    }

    /// The rate of the policer, if it is below that of the shaper, or below every rate of the link: what
    /// the link carries in the long run, and so the reference of utilization and bdp.
    pub fn policed_rate(&self) -> Option<Rate> {
        policed_rate(self.policer, self.sustained_rate(), &self.rate_changes)
    }

    /// What the link carries in the long run: the policed rate, or else the sustained one.
    pub fn carried_rate(&self) -> Rate {
        self.policed_rate().unwrap_or_else(|| self.sustained_rate())
    }

    /// A link named `link` at a constant rate and one-way delay, without loss and logs. Amounts of its
    /// discipline must be in packets, bytes or time, as its bandwidth-delay product is 0.
    pub fn new(rate: Rate, delay: Time, queue: QueueConfig) -> Self {
        LinkSpec {
            name: "link".to_owned(),
            rate,
            delay,
            queue,
            loss: LossSpec::None,
            rate_changes: Vec::new(),
            rate_period: None,
            delay_changes: Vec::new(),
            jitter: None,
            reorder: None,
            shaper: None,
            policer: None,
            line: None,
            pause: None,
            pause_frames_over: None,
            ingress: None,
            pool: None,
            packet_log: 0,
            arrival_dispersion: None,
            is_acted_on: false,
            arrival_log: None,
            admission: None,
            bdp_bytes: 0.0,
            packet_bytes: 1_500.0,
        }
    }

    /// The same with a FIFO that has room for `limit`, not counting the packet in transmission.
    pub fn drop_tail(rate: Rate, delay: Time, limit: QueueLimit) -> Self {
        LinkSpec::new(rate, delay, QueueConfig::DropTail(DropTailParams::new(limit)))
    }

    /// The same with FQ-CoDel and the defaults of Linux.
    pub fn fq_codel(rate: Rate, delay: Time) -> Self {
        LinkSpec::new(rate, delay, QueueConfig::FqCodel(FqCodelParams::default()))
    }

    /// Whether the delay differs from packet to packet.
    pub fn varies_in_delay(&self) -> bool {
        !self.delay_changes.is_empty() || self.jitter.is_some() || self.reorder.is_some()
    }

    /// The shortest time from the departure of a packet to its arrival.
    pub(crate) fn least_delay(&self) -> Time {
        self.delay_changes.iter().map(|change| change.delay).fold(self.delay, Time::min)
    }

    /// An amount of the link's discipline, in packets or bytes.
    pub fn limit(&self, amount: QueueLimit) -> Limit {
        amount.at_link(self.sustained_rate(), self.bdp_bytes)
    }
}

/// From `at` on the link's propagation delay is `delay`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct DelayChange {
    /// Time of the change, since the start of the run.
    pub at: Time,
    /// The new one-way delay.
    pub delay: Time,
}

impl DelayChange {
    /// The change to `delay` at `at`.
    pub fn new(at: Time, delay: Time) -> Self {
        DelayChange { at, delay }
    }
}

/// Admission control of new flows.
///
/// As in Benameur, Ben Fredj, Oueslati, Roberts (2002) and Kortebi, Oueslati, Roberts (2004): a
/// flow that arrives while the link's fair rate is below a threshold, or its priority load above
/// another threshold, is counted and does not begin. Permanent flows and unresponsive flows always
/// begin.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema, Ranges)]
#[serde(deny_unknown_fields)]
#[schemars(rename = "AdmissionConfig")]
#[non_exhaustive]
pub struct FlowAdmissionSpec {
    /// Refuse new flows while a flow that always has packets waiting would get less than this rate.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(example = "1 Mbit/s")]
    pub min_fair_rate: Option<BitRate>,
    /// Refuse new flows while the packets with priority, those of flows that do not wait, take more
    /// than this share of the link.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(extend("exclusiveMinimum" = 0.0), range(max = 1.0))]
    pub max_priority_load: Option<f64>,
    /// Interval over which the fair rate and the priority load are measured; at least 1 ms. A
    /// decision uses the intervals that have ended.
    #[serde(default = "tenth_of_a_second")]
    pub interval: PositiveDuration,
}

impl Default for FlowAdmissionSpec {
    /// Admission control that refuses no flow, with intervals of 100 ms.
    fn default() -> Self {
        let interval = tenth_of_a_second();
        FlowAdmissionSpec { min_fair_rate: None, max_priority_load: None, interval }
    }
}

fn tenth_of_a_second() -> PositiveDuration {
    PositiveDuration::from_milliseconds(100)
}
