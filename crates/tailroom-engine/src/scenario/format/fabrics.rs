//! The scenario file: switches and fabrics with their hosts, and the hosts of a group of flows. The
//! doc comments are the user's documentation.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::pools::{PoolConfig, SwitchIngressConfig};
use crate::kind_or_name;
use crate::link::line::LineSpec;
use crate::link::pause::PauseSpec;
use crate::quantity::limit::Limit;
use crate::quantity::{BitRate, Duration, Size};
use crate::queue::QueueConfig;
use crate::queue::drop_tail::DropTailParams;

/// A switch with its hosts. It is short for a link each way between each host and the switch, and
/// between the switch and the other end of each uplink.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[schemars(deny_unknown_fields)] // serde cannot refuse them with `flatten`; the schema check does
pub(in crate::scenario) struct SwitchConfig {
    /// Number of uplinks. Flows between hosts and `"NAME.outside"` spread over them by a hash.
    #[serde(default)]
    #[schemars(range(max = 1_024))]
    pub(in crate::scenario) uplinks: u32,
    /// The hosts and the ports.
    #[serde(flatten)]
    pub(in crate::scenario) ports: PortsConfig,
}

/// A leaf-spine fabric: leaves with hosts, each connected to every spine. It is short for a link each
/// way between each host and its leaf, and between each leaf and each spine.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[schemars(deny_unknown_fields)] // serde cannot refuse them with `flatten`; the schema check does
pub(in crate::scenario) struct FabricConfig {
    /// Number of leaves.
    #[schemars(range(min = 2, max = 1_024))]
    pub(in crate::scenario) leaves: u32,
    /// Number of spines. Flows between hosts of different leaves spread over them by a hash (ECMP).
    #[schemars(range(min = 1, max = 1_024))]
    pub(in crate::scenario) spines: u32,
    /// The hosts and the ports.
    #[serde(flatten)]
    pub(in crate::scenario) ports: PortsConfig,
}

/// The hosts of each switch, and the ports.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub(in crate::scenario) struct PortsConfig {
    /// Number of hosts of the switch, or of each leaf.
    #[schemars(range(min = 1, max = 4_096))]
    pub(in crate::scenario) hosts: u32,
    /// Rate of the links of hosts, each way.
    pub(in crate::scenario) rate: BitRate,
    /// One-way delay of the links of hosts: the cable, and the time in the switch and the host.
    pub(in crate::scenario) delay: Duration,
    /// Queue discipline of each port of a switch, and the limit of its buffer.
    #[serde(deserialize_with = "kind_or_name::read")]
    #[schemars(
        schema_with = "kind_or_name::schema_with_code::<QueueConfig>",
        example = serde_json::json!({ "kind": "drop_tail", "limit": "100 packets" })
    )]
    pub(in crate::scenario) queue: QueueConfig,
    /// Queue discipline of each host's interface, which the flows of the host share. Default, with
    /// room for 10,000 packets, more than windows hold, so that hosts lose nothing themselves unless a
    /// rate without a window goes on while the interface is paused: `fair`, which serves flows in
    /// turn, where groups whose `host` is `"linux"` or `"data_center"` send from this switch or fabric,
    /// and otherwise `drop_tail`, one FIFO for all flows.
    #[serde(default = "long_queue", deserialize_with = "kind_or_name::read")]
    #[schemars(schema_with = "kind_or_name::schema_with_code::<QueueConfig>")]
    pub(in crate::scenario) nic_queue: QueueConfig,
    /// Rate of uplinks, or of the links between leaves and spines, each way. Default: `rate`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(in crate::scenario) uplink_rate: Option<BitRate>,
    /// One-way delay of these links. Default: `delay`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(in crate::scenario) uplink_delay: Option<Duration>,
    /// Pause frames that each switch sends, with these thresholds for each link that leads to it, also to
    /// the interfaces of hosts. Off unless given.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(example = serde_json::json!({ "xoff": "60 kB", "xon": "50 kB", "headroom": "30 kB" }))]
    pub(in crate::scenario) pause: Option<PauseSpec>,
    /// Whether a pause frame waits for the packet that the switch is sending over the same cable.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub(in crate::scenario) pause_frames_wait: bool,
    /// Memory that the links which lead to a switch share there, each switch its own, and their thresholds,
    /// which move with it: of pause frames, or without `pause` those above which packets are dropped.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(example = serde_json::json!({ "pool": { "size": "33 MB" }, "alpha": 0.125 }))]
    pub(in crate::scenario) ingress: Option<SwitchIngressConfig>,
    /// The lines that the links share with those of other tables with the same line, which has as many
    /// hosts, uplinks, leaves and spines: each table is then a traffic class of the same ports. The
    /// link between two nodes shares the line `NAME-FROM-TO`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(example = serde_json::json!({ "name": "port", "weight": 15 }))]
    pub(in crate::scenario) line: Option<LineSpec>,
    /// Memory that the ports of each switch share, as a table of `[pools]`; a queue without a limit is
    /// limited by it alone. The far ends of uplinks and the interfaces of hosts have their queues to
    /// themselves. Without it, every port has the limit of its queue to itself.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(example = serde_json::json!({ "size": "16 MB", "policy": "complete_sharing" }))]
    pub(in crate::scenario) pool: Option<PoolConfig>,
    /// Another switch or fabric with as many hosts, uplinks, leaves and spines, whose `pool` and
    /// `ingress.pool` this one shares where it has none: traffic classes of the same switch.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(example = &"storage")]
    pub(in crate::scenario) memory_of: Option<String>,
    /// Number of ports, first those of hosts and then uplinks, that share memory of this size, where
    /// the memory of a chip is in slices. Default: all ports of the switch.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 1))]
    pub(in crate::scenario) ports_per_pool: Option<u32>,
    /// Memory of the pool that no other port may use, for each port.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(example = "18 kB")]
    pub(in crate::scenario) reserved: Option<Size>,
}

fn long_queue() -> QueueConfig {
    QueueConfig::DropTail(DropTailParams::new(Limit::Packets(10_000).into()))
}

/// Hosts: one name or several.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(untagged)]
pub(in crate::scenario) enum HostsConfig {
    /// One name.
    One(String),
    /// Several names.
    Several(#[schemars(length(min = 1))] Vec<String>),
}

impl HostsConfig {
    /// The names.
    pub(in crate::scenario) fn names(&self) -> &[String] {
        match self {
            HostsConfig::One(name) => std::slice::from_ref(name),
            HostsConfig::Several(names) => names,
        }
    }
}

/// Which hosts send to which.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub(in crate::scenario) enum PairsConfig {
    /// Each sender to each receiver but itself.
    #[default]
    All,
    /// Each sender to one receiver, and each receiver from one sender, drawn by the seed.
    Permutation,
}
