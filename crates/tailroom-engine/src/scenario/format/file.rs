//! The keys of the scenario file for the run and its links. The doc comments are the user's
//! documentation: the schema, the command line and editors show them.

use std::collections::BTreeMap;

use indexmap::IndexMap;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use toml::Table;

use super::defaults_config::DefaultsConfig;
use super::fabrics::{FabricConfig, SwitchConfig};
use super::flows::FlowsConfig;
use super::pools::{IngressConfig, PoolConfig};
use crate::link::LinkSpec;
use crate::link::ingress_pool::IngressMemory;
use crate::link::jitter::JitterConfig;
use crate::link::rate_variation::RateVariationConfig;
use crate::packet::ties::Ties;
use crate::quantity::{BitRate, BitRateOrZero, Duration, PositiveDuration, Size};
use crate::queue::QueueConfig;

/// A tailroom scenario: links, flows and measurements.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(title = "tailroom scenario")]
pub(in crate::scenario) struct ScenarioFile {
    /// Title: what the scenario shows, in one line.
    #[serde(default)]
    pub(in crate::scenario) title: String,
    /// Length of the run in simulated time.
    #[schemars(example = "60 s")]
    pub(in crate::scenario) duration: PositiveDuration,
    /// Statistics cover `[measure_from, duration]`; until `measure_from` the flows settle.
    #[serde(default = "from_the_start")]
    pub(in crate::scenario) measure_from: Duration,
    /// Seed of all random streams of the run.
    #[serde(default = "first_seed")]
    #[schemars(range(min = 0, max = 9_223_372_036_854_775_807_u64))]
    pub(in crate::scenario) seed: u64,
    /// Whose packet comes first when several arrive at a link at the same instant.
    #[serde(default, skip_serializing_if = "is_by_chance")]
    pub(in crate::scenario) ties: Ties,
    /// Lengthens the RTT of each permanent flow under congestion control, and delays the start of
    /// each other permanent flow, by a random fraction of the transmission time of one of its packets
    /// on the slowest link of its path. 0 shifts nothing; each other number draws other fractions.
    /// `--phase-check` compares several numbers.
    #[serde(default)]
    pub(in crate::scenario) phase_shift: u32,
    /// A run that may need more memory than this, as estimated before it starts, is refused.
    #[serde(default = "four_gigabytes")]
    pub(in crate::scenario) memory_limit: Size,
    /// Time series of each link and of each permanent flow under congestion control; off without
    /// this table.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(in crate::scenario) series: Option<SeriesConfig>,
    /// Shared links by name: each queue in which packets of several flows may meet.
    #[serde(default)]
    pub(in crate::scenario) links: IndexMap<String, LinkConfig>,
    /// Memory that links share, by name.
    #[serde(default, skip_serializing_if = "IndexMap::is_empty")]
    pub(in crate::scenario) pools: IndexMap<String, PoolConfig>,
    /// Memory that the ingresses of links share, by name.
    #[serde(default, skip_serializing_if = "IndexMap::is_empty")]
    pub(in crate::scenario) ingress_pools: IndexMap<String, IngressMemory>,
    /// Switches with hosts by name. Groups of flows name hosts in `from` and `to`.
    #[serde(default, skip_serializing_if = "IndexMap::is_empty")]
    pub(in crate::scenario) switches: IndexMap<String, SwitchConfig>,
    /// Leaf-spine fabrics by name. Groups of flows name hosts in `from` and `to`.
    #[serde(default, skip_serializing_if = "IndexMap::is_empty")]
    pub(in crate::scenario) fabrics: IndexMap<String, FabricConfig>,
    /// Keys that groups of flows share. A group has them unless it gives them itself. `host` and
    /// the keys of a transport apply to groups under congestion control, `count` to groups of
    /// permanent flows.
    #[serde(default, skip_serializing)]
    pub(in crate::scenario) defaults: Option<DefaultsConfig>,
    /// Groups of flows by name; the flows of a group differ only in RTT and start.
    #[serde(default)]
    pub(in crate::scenario) flows: IndexMap<String, FlowsConfig>,
    /// Keys that `tailroom sweep` varies; `tailroom run` ignores this table.
    #[serde(default, skip_serializing)]
    pub(in crate::scenario) sweep: Option<SweepConfig>,
}

/// Keys that a sweep varies, and how often it repeats each point.
///
/// A key is dotted, as in `links.bottleneck.queue.limit`. Its values are a list, or a range such as
/// `{ from = "10 packets", to = "1000 packets", points = 9, scale = "log" }`; without `scale` the
/// range is linear.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(in crate::scenario) struct SweepConfig {
    /// Keys with their values; each combination of values is a point.
    #[serde(default)]
    #[schemars(with = "BTreeMap<String, serde_json::Value>")]
    pub(in crate::scenario) grid: Table,
    /// Keys whose values are combined position by position, the first value of each key with the
    /// first values of the others; each such row is combined with every point of the grid.
    #[serde(default)]
    #[schemars(with = "BTreeMap<String, serde_json::Value>")]
    pub(in crate::scenario) together: Table,
    /// Number of runs of each point, with the seed of the scenario, the next seed, and so on.
    #[serde(default = "five_seeds")]
    #[schemars(range(min = 1, max = 1_000_000))]
    pub(in crate::scenario) seeds: u64,
    /// Instead of a fixed number of seeds: as many as are needed for a precise metric.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(in crate::scenario) until: Option<UntilConfig>,
    /// Repeat each point with RTTs that are shifted by fractions of a packet's transmission time,
    /// as many times as there are seeds, to see whether traffic phase effects decide the results.
    #[serde(default)]
    pub(in crate::scenario) phase_check: bool,
}

/// Repeat each point until the confidence interval of a metric is narrow.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(in crate::scenario) struct UntilConfig {
    /// Name of the metric in the output of `tailroom run --json`, with the name of the link or
    /// group in front if there are several: `utilization`, `bottleneck.queue_delay_s_p99`,
    /// `reno.jain_index`.
    #[schemars(length(min = 1))]
    pub(in crate::scenario) metric: String,
    /// Largest half-width of the 95 % confidence interval of the mean of the metric.
    #[schemars(range(min = 0.0))]
    pub(in crate::scenario) half_width: f64,
    /// Number of runs of a point after which the interval is first computed.
    #[serde(default = "ten_seeds")]
    #[schemars(range(min = 2, max = 1_000_000))]
    pub(in crate::scenario) at_least: u64,
    /// Number of runs after which a point is given up.
    #[serde(default = "hundred_seeds")]
    #[schemars(range(min = 2, max = 1_000_000))]
    pub(in crate::scenario) at_most: u64,
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

#[expect(clippy::trivially_copy_pass_by_ref, reason = "the signature that serde calls")]
fn is_by_chance(ties: &Ties) -> bool {
    *ties == Ties::ByChance
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
pub(in crate::scenario) struct SeriesConfig {
    /// Time between two samples.
    #[serde(default = "tenth_of_a_second")]
    pub(in crate::scenario) interval: PositiveDuration,
}

fn tenth_of_a_second() -> PositiveDuration {
    PositiveDuration::new(100_000_000_000)
}

/// A shared link: a queue, a rate, a propagation delay, and faults on the way.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[schemars(deny_unknown_fields)] // serde cannot refuse them with `flatten`; the schema check does
pub(in crate::scenario) struct LinkConfig {
    /// Rate at which the link sends. Left out if `trace` gives the rate.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(in crate::scenario) rate: Option<BitRate>,
    /// One-way propagation delay.
    pub(in crate::scenario) delay: Duration,
    /// Name of the memory of `[pools]` that the link shares with others; without it, the memory is the
    /// link's own, as large as the limit of its queue.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(length(min = 1))]
    pub(in crate::scenario) pool: Option<String>,
    /// Memory of the pool that no other link may use; it is counted in whole cells, rounded up.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(example = "18 kB")]
    pub(in crate::scenario) reserved: Option<Size>,
    /// Alpha of this link in its pool, instead of that of the policy.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(extend("exclusiveMinimum" = 0.0), range(max = 1_000_000.0), example = 0.5)]
    pub(in crate::scenario) alpha: Option<f64>,
    /// Name of the port to which the queue of this link belongs, for a policy to which ports matter:
    /// links with the same name are queues of one port. Default: the line of the link, or a port of its
    /// own.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(length(min = 1))]
    pub(in crate::scenario) port: Option<String>,
    /// Priority of this link's queue, for a policy that counts the congested queues of each. Default: 0.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(max = 1_000), example = 1)]
    pub(in crate::scenario) priority: Option<u32>,
    /// Name of the link in the other direction, over which these pause frames travel: each waits for the
    /// packet that it is sending, or that another link of its line is. Default: they wait for none, and
    /// `response_time` counts what delays them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(length(min = 1))]
    pub(in crate::scenario) pause_frames_over: Option<String>,
    /// File of delivery opportunities in the format of Mahimahi: one timestamp in milliseconds per
    /// line, in order, each an opportunity for 1500 bytes; the file repeats after its last
    /// timestamp. tailroom reads the file as a fluid: in each millisecond the rate of the link is
    /// the sum of its opportunities, so that packets of any size share the rate and an empty queue
    /// loses no opportunity. The path is relative to the scenario file. `rate` is then left out,
    /// and bdp and limits in milliseconds use the mean rate of the trace.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(length(min = 1))]
    pub(in crate::scenario) trace: Option<String>,
    /// What a link has as it is given.
    #[serde(flatten)]
    pub(in crate::scenario) keys: LinkSpec,
    /// Changes of rate or delay during the run, in order of time. Packets never overtake one
    /// another, even if the delay decreases; for that, there is `reorder`.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(in crate::scenario) changes: Vec<ChangeConfig>,
    /// Memory at the far end that the link shares with others: what waits there may take alpha times the
    /// memory that is free beyond `xoff`, so that the threshold moves. Without `pause`, packets above the
    /// threshold are dropped. Off unless given.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(in crate::scenario) ingress: Option<IngressConfig>,
    /// Let the rate vary at random. Off unless given.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(in crate::scenario) rate_variation: Option<RateVariationConfig>,
    /// Jitter: a further delay that varies at random, in which packets stay in order. Off unless
    /// given.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(in crate::scenario) jitter: Option<JitterConfig>,
}

impl LinkConfig {
    /// A link of which only these keys are given.
    pub(in crate::scenario) fn new(rate: BitRate, delay: Duration, queue: QueueConfig) -> Self {
        LinkConfig {
            rate: Some(rate),
            delay,
            pool: None,
            reserved: None,
            alpha: None,
            port: None,
            priority: None,
            pause_frames_over: None,
            trace: None,
            keys: LinkSpec::new(rate.rate(), delay.time(), queue),
            changes: Vec::new(),
            ingress: None,
            rate_variation: None,
            jitter: None,
        }
    }
}

/// A change of a link during the run.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(in crate::scenario) struct ChangeConfig {
    /// Time of the change, since the start of the run.
    pub(in crate::scenario) at: Duration,
    /// New rate; "0 bit/s" stops the link.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(in crate::scenario) rate: Option<BitRateOrZero>,
    /// New one-way propagation delay.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(in crate::scenario) delay: Option<Duration>,
}
