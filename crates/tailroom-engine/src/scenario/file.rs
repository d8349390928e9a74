//! The scenario file: what a user writes about the run and its links. The doc comments are the
//! user's documentation; they reach the schema, the command line and the editor.

use std::collections::BTreeMap;

use indexmap::IndexMap;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use toml::Table;

use super::defaults_config::DefaultsConfig;
use super::flows::FlowsFile;
use crate::kind_or_name;
use crate::link::arrivals::ArrivalLogSpec;
use crate::link::spec::FlowAdmissionSpec;
use crate::link::wire_loss::LossSpec;
use crate::quantity::{BitRate, BitRateOrZero, Duration, PositiveDuration, Size};
use crate::queue::QueueConfig;

/// A tailroom scenario: links, flows, and what is measured.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(title = "tailroom scenario")]
pub(super) struct ScenarioFile {
    /// What the scenario shows, in one line.
    #[serde(default)]
    pub(super) title: String,
    /// How long the run lasts, in simulated time.
    #[schemars(example = "60 s")]
    pub(super) duration: PositiveDuration,
    /// Statistics cover `[measure_from, duration]`; before it the flows settle.
    #[serde(default = "from_the_start")]
    pub(super) measure_from: Duration,
    /// Root of every random stream of the run.
    #[serde(default = "first_seed")]
    #[schemars(range(min = 0, max = 9_223_372_036_854_775_807_u64))]
    pub(super) seed: u64,
    /// Lengthens the RTT of each permanent flow under congestion control by less than the transmission
    /// time of one of its packets on the slowest link of its path: 0 by nothing, another number by a
    /// fraction that it draws for each flow. `--phase-check` compares several.
    #[serde(default)]
    pub(super) phase_shift: u32,
    /// The run is refused when it may need more memory than this, estimated before it starts.
    #[serde(default = "four_gigabytes")]
    pub(super) memory_limit: Size,
    /// Time series of every link and of every flow under congestion control; off without this table.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) series: Option<SeriesConfig>,
    /// Shared links by name: every queue that two flows may meet in.
    #[serde(default)]
    pub(super) links: IndexMap<String, LinkConfig>,
    /// Keys that groups of flows share. A group has them unless it gives them itself, or its `host`
    /// does. The keys of a transport go to groups under congestion control, `count` to those whose
    /// flows do not come and go.
    #[serde(default, skip_serializing)]
    pub(super) defaults: Option<DefaultsConfig>,
    /// Flow groups by name; the flows of a group differ only in RTT and start.
    #[serde(default)]
    pub(super) flows: IndexMap<String, FlowsFile>,
    /// What `tailroom sweep` varies; a single run leaves it aside.
    #[serde(default, skip_serializing)]
    pub(super) sweep: Option<SweepConfig>,
}

/// What a sweep varies and how often it repeats each point.
///
/// A key is dotted, as in `links.bottleneck.queue.limit`. Its values are a list, or a range such as
/// `{ from = "10 packets", to = "1000 packets", points = 9, scale = "log" }`, whose scale is linear
/// if left out.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct SweepConfig {
    /// Keys with their values; every combination of them is a point.
    #[serde(default)]
    #[schemars(with = "BTreeMap<String, serde_json::Value>")]
    pub(super) grid: Table,
    /// Keys whose values go together, the first of one with the first of the others; each row is
    /// combined with every point of the grid.
    #[serde(default)]
    #[schemars(with = "BTreeMap<String, serde_json::Value>")]
    pub(super) together: Table,
    /// Runs of each point, with the scenario's seed, the next one, and so on.
    #[serde(default = "five_seeds")]
    #[schemars(range(min = 1, max = 1_000_000))]
    pub(super) seeds: u64,
    /// Instead of a fixed number of seeds: as many as make a metric precise.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) until: Option<UntilConfig>,
    /// Repeat each point with RTTs shifted by fractions of a packet's transmission time, as often as
    /// with seeds, to see whether traffic phase effects decide its results.
    #[serde(default)]
    pub(super) phase_check: bool,
}

/// Repeat each point until the confidence interval of a metric is narrow.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct UntilConfig {
    /// Its name in the output of `tailroom run --json`, with the link's or group's name in front where
    /// there are several: `utilization`, `bottleneck.queue_delay_s_p99`, `reno.jain_index`.
    #[schemars(length(min = 1))]
    pub(super) metric: String,
    /// Largest half-width of the 95 % confidence interval of its mean.
    #[schemars(range(min = 0.0))]
    pub(super) half_width: f64,
    /// Runs of a point before the interval is first looked at.
    #[serde(default = "ten_seeds")]
    #[schemars(range(min = 2, max = 1_000_000))]
    pub(super) at_least: u64,
    /// Runs of a point after which it is given up.
    #[serde(default = "hundred_seeds")]
    #[schemars(range(min = 2, max = 1_000_000))]
    pub(super) at_most: u64,
}

fn five_seeds() -> u64 {
    5
}

fn ten_seeds() -> u64 {
    10
}

fn hundred_seeds() -> u64 {
    100
}

fn from_the_start() -> Duration {
    Duration::new(0)
}

fn first_seed() -> u64 {
    1
}

fn four_gigabytes() -> Size {
    Size::new(4_000_000_000)
}

/// Time series.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct SeriesConfig {
    /// Time between two samples.
    #[serde(default = "tenth_of_a_second")]
    pub(super) interval: PositiveDuration,
}

fn tenth_of_a_second() -> PositiveDuration {
    PositiveDuration::new(100_000_000_000)
}

/// A shared link: a queue, a rate, a propagation delay, and what may go wrong on the way.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct LinkConfig {
    /// Rate at which packets leave. Left out when `trace` gives the rate.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) rate: Option<BitRate>,
    /// Propagation delay, one way.
    pub(super) delay: Duration,
    /// The buffer in front of the link and the rule that guards it.
    #[serde(deserialize_with = "kind_or_name::read")]
    #[schemars(
        schema_with = "kind_or_name::schema::<QueueConfig>",
        example = serde_json::json!({ "kind": "drop_tail", "limit": "100 packets" })
    )]
    pub(super) queue: QueueConfig,
    /// Random loss on the wire, after the packet has used the link.
    #[serde(default, deserialize_with = "kind_or_name::read")]
    #[schemars(schema_with = "kind_or_name::schema::<LossSpec>")]
    pub(super) loss: LossSpec,
    /// Changes of rate or delay while the run goes on, in order of time. Packets never overtake one
    /// another, whatever the delay does.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(super) changes: Vec<ChangeConfig>,
    /// File of delivery opportunities in the format of Mahimahi: one millisecond timestamp a line,
    /// in order, each an opportunity for 1500 bytes; the file repeats after its last timestamp.
    /// This is its fluid reading: in each millisecond the link runs at the rate that its
    /// opportunities add up to, so a packet of any size takes its share and no opportunity is lost
    /// on an empty queue. The path is relative to the scenario file; `rate` is then left out, and
    /// bdp and limits in milliseconds go by the mean rate of the trace.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(length(min = 1))]
    pub(super) trace: Option<String>,
    /// Keep a log of the first so many arrivals, departures and drops at this link; 0 keeps none.
    #[serde(default)]
    #[schemars(range(max = 1_000_000_000))]
    pub(super) packet_log: u64,
    /// Measure how bursty arrivals are: the index of dispersion of the packets that arrive in intervals
    /// of this length, of twice this length, and so on. Off unless written.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(example = "10 us")]
    pub(super) arrival_dispersion: Option<PositiveDuration>,
    /// Record every packet that arrives in a span of time: its flow and size, the queue that it finds and
    /// what becomes of it. Off unless written.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(example = serde_json::json!({ "from": "60 s", "to": "62 s" }))]
    pub(super) arrival_log: Option<ArrivalLogSpec>,
    /// Admission control: flows that come and go are refused while the link is congested. Off unless
    /// written.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) admission: Option<FlowAdmissionSpec>,
}

/// A change of a link while the run goes on.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct ChangeConfig {
    /// When, since the start of the run.
    pub(super) at: Duration,
    /// The new rate; "0 bit/s" stops the link.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) rate: Option<BitRateOrZero>,
    /// The new propagation delay, one way.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) delay: Option<Duration>,
}
