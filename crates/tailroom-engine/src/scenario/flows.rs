//! The scenario file: what a user writes about a group of flows. The doc comments are the user's
//! documentation; they reach the schema, the command line and the editor.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::distribution::{DistributionFile, ValueFile};
use super::hosts::HostConfig;
use super::web::WebFile;
use crate::congestion::CongestionConfig;
use crate::kind_or_name;
use crate::quantity::{BitRate, Duration, PositiveDuration, Size};
use crate::tcp::TcpSpec;

/// A group of flows on one path.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[schemars(deny_unknown_fields)] // serde cannot refuse them beside `flatten`; the schema check does
pub(super) struct FlowsFile {
    /// How many flows.
    #[serde(default = "one")]
    #[schemars(range(min = 1, max = 16_777_215))]
    pub(super) count: u32,
    /// Names of the shared links on the way to the receiver, in order. Needed, here or in
    /// `[defaults]`.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(length(min = 1, max = 250), example = vec!["bottleneck"])]
    pub(super) path: Vec<String>,
    /// The profile of a host, which sets keys of the transport that the group does not give
    /// itself: `"linux"` is a Linux host of today. It comes before the keys of `[defaults]` and
    /// sets nothing where a key means nothing; `tailroom list host` shows what it sets, and why.
    /// `"plain"` switches a host of `[defaults]` off.
    #[serde(default, skip_serializing)]
    pub(super) host: Option<HostConfig>,
    /// What the application wants to send.
    #[serde(default, deserialize_with = "kind_or_name::read")]
    #[schemars(schema_with = "kind_or_name::schema::<SourceFile>")]
    pub(super) source: SourceFile,
    /// Size of a data packet on the wire, headers included; at most 65,535 bytes.
    #[serde(default = "ethernet_packet")]
    pub(super) packet_size: Size,
    /// How much of a packet is header.
    #[serde(default = "small_packet")]
    pub(super) header_size: Size,
    /// Two-way propagation delay of the whole path, shared links included: one value,
    /// `{ from, to }` to spread it evenly (flow i of n, from 0, gets
    /// `from + (to - from) * i / (n - 1)`), or `{ uniform = [a, b] }` or another distribution to draw
    /// it. Left out, the path's own: its shared links there and back.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) rtt: Option<Spread<PositiveDuration>>,
    /// Rate of each flow's own access link, its exogenous peak rate: one value, or a distribution to
    /// draw it from. Left out, the access link takes no time.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) access_rate: Option<ValueFile<BitRate>>,
    /// The fraction of the private propagation delay (what `rtt` has beyond the shared links) that lies
    /// on the sender's side of the shared links, half of it on the way of the data and half on that of
    /// the ACKs; the rest lies on the receiver's side. Left out, 0.5: a quarter before the first link, a
    /// quarter after the last one, and the same on the way back. 1 is the layout of many ns-2 scripts.
    /// It decides results where data of other flows cross the links of `reverse_path`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 0.0, max = 1.0))]
    pub(super) sender_side: Option<f64>,
    /// Before a packet leaves its sender it is processed for a random time, drawn uniformly from 0 to
    /// this; what is sent meanwhile leaves with it, so that no packet overtakes another. `"auto"` is
    /// the time that one packet of the group takes on the slowest link of its path at the start of
    /// the run, which breaks the phases that flows without any randomness keep (Floyd and Jacobson,
    /// "On Traffic Phase Effects in Packet-Switched Gateways", 1992), and nothing for sources without
    /// congestion control. `"none"` switches it off. ns-2's `overhead_` is the same.
    #[serde(default)]
    pub(super) send_jitter: SendJitterFile,
    /// When a flow starts: one value, `{ from, to }` to spread the starts evenly (flow i of n, from
    /// 0, starts at `from + (to - from) * i / n`: 10 flows over 10 s start at 0, 1, ... 9 s), or
    /// `{ uniform = [a, b] }` or another distribution to draw them. Of flows that come and go, when
    /// the first may arrive.
    #[serde(default = "at_once")]
    pub(super) start: Spread<Duration>,
    /// When the application stops offering data; of flows that come and go, from when on none
    /// arrives. Left out, it does not.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) stop: Option<PositiveDuration>,
    /// The transport; a group whose source is not under congestion control has none of its keys.
    #[serde(flatten, skip_serializing_if = "TransportFile::is_absent")]
    pub(super) tcp: TransportFile,
}

fn one() -> u32 {
    1
}

fn ethernet_packet() -> Size {
    Size::new(1500)
}

fn small_packet() -> Size {
    Size::new(40)
}

fn at_once() -> Spread<Duration> {
    Spread::Fixed(Duration::new(0))
}

/// Random processing time of senders.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(untagged)]
pub(super) enum SendJitterFile {
    /// By rule, or none.
    Named(SendJitterName),
    /// At most this.
    Most(PositiveDuration),
}

impl Default for SendJitterFile {
    fn default() -> Self {
        SendJitterFile::Named(SendJitterName::Auto)
    }
}

/// Processing times of senders that need no number.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub(super) enum SendJitterName {
    /// Up to the transmission time of a packet on the slowest link, under congestion control.
    Auto,
    /// Packets leave at once.
    None,
}

/// One value for all flows of a group, or one for each.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(untagged, deny_unknown_fields)]
pub(super) enum Spread<T> {
    /// The same for all.
    Fixed(T),
    /// Evenly spread.
    Even {
        /// The first flow's.
        from: T,
        /// The far end.
        to: T,
    },
    /// Drawn, independently for each flow.
    Uniform {
        /// Lower and upper bound.
        uniform: [T; 2],
    },
    /// Drawn from another distribution, independently for each flow.
    Drawn(DistributionFile<T>),
}

/// What an application wants to send.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "kind", rename_all = "snake_case", deny_unknown_fields)]
pub(super) enum SourceFile {
    /// As much as the congestion control allows.
    Bulk {
        /// Payload to send in all. Left out, the flow is permanent.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        bytes: Option<Size>,
    },
    /// Objects for a connection that lasts. They arrive as a Poisson process, whatever has become of
    /// those before, and wait for their turn in one queue; `slow_start_after_idle` says what happens
    /// after a silence.
    Objects {
        /// Payload of an object. Each begins with a packet of its own, and its last packet is full:
        /// what is sent are whole packets.
        #[schemars(example = serde_json::json!({ "kind": "pareto", "shape": 1.2, "mean": "12 kB" }))]
        size: ValueFile<Size>,
        /// Objects a second for each flow, on average.
        #[schemars(extend("exclusiveMinimum" = 0.0), range(max = 1e9), example = 1.0)]
        arrivals_per_second: f64,
    },
    /// Flows that come and go. Each is a connection that begins with slow start, sends what it has and
    /// leaves; `rtt` and `access_rate` are drawn for each. One of `load`, `arrivals_per_second` and
    /// `arrivals` says when they arrive.
    FiniteFlows {
        /// Payload of a flow.
        #[schemars(example = serde_json::json!({ "kind": "exponential", "mean": "1 MB" }))]
        size: ValueFile<Size>,
        /// Poisson arrivals that offer this share of the rate of `load_of`, headers included and
        /// retransmissions not.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        #[schemars(extend("exclusiveMinimum" = 0.0), range(max = 1_000.0))]
        load: Option<f64>,
        /// The link that `load` refers to. Left out, the slowest on the path.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        load_of: Option<String>,
        /// Poisson arrivals, so many a second on average.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        #[schemars(extend("exclusiveMinimum" = 0.0), range(max = 1e9))]
        arrivals_per_second: Option<f64>,
        /// Arrivals at these times.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        arrivals: Option<Vec<Duration>>,
        /// How many completed flows to record one by one, the first to complete.
        #[serde(default)]
        #[schemars(range(max = 100_000_000))]
        flow_log: u32,
    },
    /// Flows of a list, such as `tailroom import` makes from a capture. Each is a connection that
    /// begins with slow start; `start` shifts them all, and from `stop` on none arrives.
    Trace {
        /// A CSV or Parquet file, its path relative to the scenario file. Its columns, by the names
        /// in the first line: `start_s` (ascending), `bytes` (payload), and, each of which may be
        /// empty or missing, `rate_bps` and `rtt_s`; others are ignored. Flows without a rate or
        /// a round trip have `access_rate` and `rtt`; no round trip is shorter than the path's own.
        #[schemars(length(min = 1), example = "flows.csv")]
        file: String,
        /// How many completed flows to record one by one, the first to complete.
        #[serde(default)]
        #[schemars(range(max = 100_000_000))]
        flow_log: u32,
    },
    /// Media flows that come and go, without congestion control. Each sends equally spaced packets of
    /// `packet_size` at a constant rate for as long as it lasts; `rtt` is drawn for each. One of `load`,
    /// `arrivals_per_second` and `arrivals` says when they arrive.
    Streaming {
        /// Rate of a flow, headers included.
        #[schemars(example = "1 Mbit/s")]
        rate: ValueFile<BitRate>,
        /// How long a flow lasts.
        #[schemars(example = serde_json::json!({ "kind": "exponential", "mean": "60 s" }))]
        duration: ValueFile<PositiveDuration>,
        /// Poisson arrivals that offer this share of the rate of `load_of`, headers included.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        #[schemars(extend("exclusiveMinimum" = 0.0), range(max = 1_000.0))]
        load: Option<f64>,
        /// The link that `load` refers to. Left out, the slowest on the path.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        load_of: Option<String>,
        /// Poisson arrivals, so many a second on average.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        #[schemars(extend("exclusiveMinimum" = 0.0), range(max = 1e9))]
        arrivals_per_second: Option<f64>,
        /// Arrivals at these times.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        arrivals: Option<Vec<Duration>>,
        /// How many completed flows to record one by one, the first to complete.
        #[serde(default)]
        #[schemars(range(max = 100_000_000))]
        flow_log: u32,
    },
    /// Web sessions that come and go. A session is a number of pages with think times between them; a
    /// page is a main object and, when that is there and parsed, the objects embedded in it,
    /// `parallel` at a time. Each object is a connection of its own that begins with slow start, a
    /// round trip after what it waits for is complete. `rtt` and `access_rate` are drawn for each
    /// session. One of `load`, `arrivals_per_second` and `arrivals` says when sessions begin.
    Web(Box<WebFile>),
    /// A Poisson stream of packets without congestion control.
    Poisson {
        /// Mean rate of each flow, headers included.
        #[schemars(example = "1 Mbit/s")]
        rate: BitRate,
        /// Sizes of packets: all `packet_size`, exponential with that mean, or drawn from a
        /// distribution in which none is larger. The mean rate is `rate` in each case.
        #[serde(default)]
        sizes: SizesFile,
    },
    /// Equally spaced packets without congestion control.
    Cbr {
        /// Rate of each flow, headers included.
        #[schemars(example = "1 Mbit/s")]
        rate: BitRate,
    },
    /// Equally spaced packets in on periods, silence in off periods, no congestion control.
    /// The mean rate is `rate` times mean on over mean on plus mean off. A flow starts as if it had
    /// always been going on and off: in either, by their shares of time, and somewhere within it.
    OnOff {
        /// Rate of each flow in an on period, headers included.
        #[schemars(example = "1 Mbit/s")]
        rate: BitRate,
        /// How long an on period lasts. What is left of the gap between two packets at its end goes
        /// on in the next one.
        #[schemars(example = serde_json::json!({ "kind": "exponential", "mean": "500 ms" }))]
        on: ValueFile<PositiveDuration>,
        /// How long an off period lasts.
        #[schemars(example = serde_json::json!({ "kind": "exponential", "mean": "500 ms" }))]
        off: ValueFile<PositiveDuration>,
    },
}

impl Default for SourceFile {
    fn default() -> Self {
        SourceFile::Bulk { bytes: None }
    }
}

/// Sizes of packets.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(untagged)]
pub(super) enum SizesFile {
    /// By `packet_size`.
    Named(SizesName),
    /// Drawn, to the nearest byte.
    Drawn(DistributionFile<Size>),
}

impl Default for SizesFile {
    fn default() -> Self {
        SizesFile::Named(SizesName::Fixed)
    }
}

/// Sizes of packets that `packet_size` alone determines.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub(super) enum SizesName {
    /// All the same.
    Fixed,
    /// Exponential, rounded up to whole bytes, at most 65,535.
    Exponential,
}

/// The transport of a group under congestion control.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub(super) struct TransportFile {
    /// How large the window is. Needed by a bulk source.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) congestion: Option<ControlFile>,
    /// The other keys.
    #[serde(flatten)]
    pub(super) keys: TcpSpec,
}

impl TransportFile {
    /// Whether the group has no transport; a group under congestion control names its kind.
    fn is_absent(&self) -> bool {
        self.congestion.is_none()
    }
}

/// A congestion control: a table with its `kind` and parameters, or only its name. A name is a kind,
/// or one of your own controls, as `"mymodule:MyControl"`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(untagged)]
pub(super) enum ControlFile {
    /// Its name.
    Named(String),
    /// With parameters.
    Table(CongestionConfig),
}
