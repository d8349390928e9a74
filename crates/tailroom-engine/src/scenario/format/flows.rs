//! The scenario file: what a user writes about a group of flows. The doc comments are the user's
//! documentation; they reach the schema, the command line and the editor.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::fabrics::{HostsConfig, PairsConfig};
use super::hosts::HostConfig;
use crate::congestion::CongestionConfig;
use crate::distribution::config::{DistributionConfig, ValueConfig};
use crate::kind_or_name;
use crate::packet::addresses::FlowHosts;
use crate::packet::dscp::Dscp;
use crate::quantity::{BitRate, Duration, PositiveDuration, Size};
use crate::tcp::TcpSpec;
use crate::traffic::SourceConfig;

/// A group of flows, on one path or between hosts.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[schemars(deny_unknown_fields)] // serde cannot refuse them with `flatten`; the schema check does
pub(in crate::scenario) struct FlowsConfig {
    /// How many flows; between hosts, how many for each pair.
    #[serde(default = "one")]
    #[schemars(range(min = 1, max = 16_777_215))]
    pub(in crate::scenario) count: u32,
    /// Names of the shared links on the way to the receiver, in order. Needed, here or in
    /// `[defaults]`, unless `from` names hosts.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(length(min = 1, max = 250), example = vec!["bottleneck"])]
    pub(in crate::scenario) path: Vec<String>,
    /// Hosts that send, instead of a path: `"dc.h3"` is host 3 of the switch or fabric `dc`, `"dc"` all
    /// its hosts, `"dc.leaf1"` those of a leaf, `"tor.outside"` those that the uplinks of a switch lead
    /// to; one name or a list. Each flow takes the shortest path; among several, a hash chooses.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(example = &"dc")]
    pub(in crate::scenario) from: Option<HostsConfig>,
    /// Hosts that receive, as in `from`. Default: those of `from`. No host sends to itself.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(example = &"dc.h0")]
    pub(in crate::scenario) to: Option<HostsConfig>,
    /// Which of the hosts send to which. Each pair has `count` permanent flows; of flows that arrive
    /// and depart, each draws one of the pairs, all of which are as likely.
    #[serde(default, skip_serializing_if = "is_all_pairs")]
    pub(in crate::scenario) pairs: PairsConfig,
    /// The profile of the group's hosts, which sets the keys of the transport that neither the
    /// group nor `[defaults]` gives, where they mean something: `"linux"` is a Linux host of today,
    /// `"plain"` no profile; `tailroom list host` shows what each sets, and why. Default:
    /// `"linux"`, under congestion control.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(in crate::scenario) host: Option<HostConfig>,
    /// What the application wants to send.
    #[serde(default, deserialize_with = "kind_or_name::read")]
    #[schemars(schema_with = "kind_or_name::schema::<SourceConfig>")]
    pub(in crate::scenario) source: SourceConfig,
    /// Size of a data packet on the wire, headers included; at most 65,535 bytes.
    #[serde(default = "ethernet_packet")]
    pub(in crate::scenario) packet_size: Size,
    /// How much of a packet is header.
    #[serde(default = "small_packet")]
    pub(in crate::scenario) header_size: Size,
    /// Two-way propagation delay of the whole path, shared links included: one value, `{ from, to
    /// }` to spread it evenly (flow i of n, from 0, gets `from + (to - from) * i / (n - 1)`), or `{
    /// uniform = [a, b] }` or another distribution to draw it. Left out, the path's own: its shared
    /// links there and back.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(in crate::scenario) rtt: Option<PerFlow<PositiveDuration>>,
    /// Rate of each flow's own access link, its exogenous peak rate: one value, or a distribution
    /// to draw it from. Left out, the access link takes no time.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(in crate::scenario) access_rate: Option<ValueConfig<BitRate>>,
    /// The fraction of the private propagation delay (what `rtt` has beyond the shared links) that
    /// lies on the sender's side of the shared links, half of it on the way of the data and half on
    /// that of the ACKs; the rest lies on the receiver's side. Left out, 0.5: a quarter before the
    /// first link, a quarter after the last one, and the same on the way back. 1 is the layout of
    /// many ns-2 scripts. It decides results where data of other flows cross the links of
    /// `reverse_path`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 0.0, max = 1.0))]
    pub(in crate::scenario) sender_side: Option<f64>,
    /// Before a packet leaves its sender it is processed for a random time, drawn uniformly from 0
    /// to this; what is sent meanwhile leaves with it, so that no packet overtakes another.
    /// `"auto"` is the time that one packet of the group takes on the slowest link of its path at
    /// the start of the run, which breaks the phases that flows without any randomness keep (Floyd
    /// and Jacobson, "On Traffic Phase Effects in Packet-Switched Gateways", 1992), and nothing for
    /// sources without congestion control. `"none"` switches it off. ns-2's `overhead_` is the
    /// same.
    #[serde(default)]
    pub(in crate::scenario) send_jitter: SendJitterConfig,
    /// When a flow starts: one value, `{ from, to }` to spread the starts evenly (flow i of n, from
    /// 0, starts at `from + (to - from) * i / n`: 10 flows over 10 s start at 0, 1, ... 9 s), or `{
    /// uniform = [a, b] }` or another distribution to draw them. Of flows that arrive and depart,
    /// when the first may arrive.
    #[serde(default = "at_once")]
    pub(in crate::scenario) start: PerFlow<Duration>,
    /// When the application stops offering data; of flows that arrive and depart, from when on
    /// none arrives. Left out, it does not.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(in crate::scenario) stop: Option<PositiveDuration>,
    /// Loss priority of the group's packets where a pool has alphas for several (`lower_alphas`):
    /// those with 0 are lost last.
    #[serde(default)]
    #[schemars(range(max = 7))]
    pub(in crate::scenario) loss_priority: u32,
    /// Code point of the group's packets and ACKs, by which CAKE sorts them into tins.
    #[serde(default, skip_serializing_if = "is_best_effort")]
    pub(in crate::scenario) dscp: Dscp,
    /// The hosts between which the flows run, for queues that tell hosts apart, as CAKE does:
    /// `{ sources = 3, destinations = ["server"] }`. Left out, each flow has hosts of its own.
    #[serde(default, skip_serializing_if = "has_own_hosts")]
    #[schemars(example = serde_json::json!({ "sources": 3, "destinations": ["server"] }))]
    pub(in crate::scenario) hosts: FlowHosts,
    /// The transport; a group whose source is not under congestion control has none of its keys.
    #[serde(flatten, skip_serializing_if = "TransportConfig::is_absent")]
    pub(in crate::scenario) tcp: TransportConfig,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "the signature that serde calls")]
fn is_all_pairs(pairs: &PairsConfig) -> bool {
    *pairs == PairsConfig::All
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "the signature that serde calls")]
fn is_best_effort(dscp: &Dscp) -> bool {
    *dscp == Dscp::Be
}

fn has_own_hosts(hosts: &FlowHosts) -> bool {
    *hosts == FlowHosts::default()
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

fn at_once() -> PerFlow<Duration> {
    PerFlow::Fixed(Duration::new(0))
}

/// Random processing time of senders.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(untagged)]
pub(in crate::scenario) enum SendJitterConfig {
    /// By rule, or none.
    Named(SendJitterName),
    /// At most this.
    Most(PositiveDuration),
}

impl Default for SendJitterConfig {
    fn default() -> Self {
        SendJitterConfig::Named(SendJitterName::Auto)
    }
}

/// Processing times of senders that need no number.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub(in crate::scenario) enum SendJitterName {
    /// Up to the transmission time of a packet on the slowest link, under congestion control.
    Auto,
    /// Packets leave at once.
    None,
}

/// One value for all flows of a group, or one for each.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(untagged, deny_unknown_fields)]
pub(in crate::scenario) enum PerFlow<T> {
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
    Drawn(DistributionConfig<T>),
}

/// The transport of a group under congestion control.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub(in crate::scenario) struct TransportConfig {
    /// How large the window is. Needed by a bulk source.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(in crate::scenario) congestion: Option<ControlConfig>,
    /// The other keys.
    #[serde(flatten)]
    pub(in crate::scenario) keys: TcpSpec,
}

impl TransportConfig {
    /// Whether the group has no transport; a group under congestion control names its kind.
    fn is_absent(&self) -> bool {
        self.congestion.is_none()
    }
}

/// A congestion control: a table with its `kind` and parameters, or only its name. A name is a
/// kind, or one of your own controls, as `"mymodule:MyControl"`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(untagged)]
pub(in crate::scenario) enum ControlConfig {
    /// Its name.
    Named(String),
    /// With parameters.
    Table(CongestionConfig),
}
