//! The input of a rule: one link of a scenario and the traffic that crosses it.
//!
//! Python's `tailroom.models.bottleneck` describes the same fields to its users.

use std::collections::{BTreeMap, BTreeSet};

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use tailroom_engine::quantity::limit::QueueLimit;

/// Parameters of a component as the scenario gives them; a quantity with a unit is a text.
pub type Parameters = Map<String, Value>;

/// Why a rule does not apply to a link.
#[derive(Clone, Debug)]
pub struct NotApplicable(pub String);

/// The keys of a port with their values.
///
/// A key is that of the scenario below `links.NAME`, as in `shaper.rate`; keys of a pool and of an ingress
/// pool are below `pool` and `ingress.pool`. Quantities are texts with their unit; amounts of the queue are
/// in packets or bytes, as the discipline counts them. A key that is absent shapes nothing.
#[derive(Clone, Debug, Default, Deserialize, Serialize)]
#[serde(transparent)]
pub struct PortSetting(pub Parameters);

/// Identical permanent flows under congestion control.
#[derive(Clone, Debug, Deserialize, Serialize)]
pub struct FlowClass {
    /// Name of their group.
    pub group: String,
    /// Number of flows.
    pub count: u64,
    /// Two-way propagation delay.
    pub rtt_s: f64,
    /// Name of the congestion control.
    pub congestion: String,
    /// Its parameters.
    pub parameters: Parameters,
    /// Size of a data packet, headers included.
    pub packet_bytes: f64,
    /// Rate of the access link of a flow.
    #[serde(with = "unbounded")]
    pub access_rate_bps: f64,
    /// Largest window, in packets.
    #[serde(with = "unbounded")]
    pub max_window: f64,
    /// Number of packets that an ACK acknowledges: 2 with delayed ACKs.
    pub packets_per_ack: u32,
    /// Whether packets leave at a pacing rate.
    pub pacing: bool,
    /// Packets that segmentation offload sends together.
    pub send_burst: u32,
    /// Whether packets are ECN-capable.
    pub ecn: bool,
}

impl FlowClass {
    /// A parameter of the congestion control that is a number.
    pub(crate) fn number(&self, name: &str) -> Result<f64, NotApplicable> {
        self.parameters.get(name).and_then(Value::as_f64).ok_or_else(|| {
            let (group, control) = (&self.group, &self.congestion);
            NotApplicable(format!("group {group}: the parameters of {control} have no {name}"))
        })
    }

    /// Whether a parameter is true.
    pub(crate) fn has(&self, name: &str) -> bool {
        self.parameters.get(name).and_then(Value::as_bool).unwrap_or(false)
    }

    /// Number of flows, for formulas.
    pub(crate) fn flows(&self) -> f64 {
        self.count as f64
    }
}

/// Unresponsive permanent flows.
#[derive(Clone, Debug, Deserialize, Serialize)]
pub struct Stream {
    /// Name of their group.
    pub group: String,
    /// Kind of the source.
    pub process: String,
    /// Number of flows.
    pub count: u64,
    /// Mean rate of all these flows, on the wire.
    pub rate_bps: f64,
    /// Mean size of a packet.
    pub packet_bytes: f64,
    /// Whether all packets have that size.
    pub fixed_size: bool,
}

/// Flows that arrive and depart.
#[derive(Clone, Debug, Deserialize, Serialize)]
pub struct DynamicFlows {
    /// Name of their group.
    pub group: String,
    /// Kind of the source.
    pub process: String,
    /// Name of the congestion control; none for media flows.
    pub congestion: Option<String>,
    /// Its parameters; empty for media flows.
    pub parameters: Parameters,
    /// Mean number of arrivals per second.
    pub arrivals_per_s: f64,
    /// Whether the arrivals are a Poisson process.
    pub poisson: bool,
    /// Mean payload; for media flows, mean bytes on the wire.
    pub size_bytes_mean: f64,
    /// Mean size of a flow on the wire, headers included.
    pub wire_bytes_mean: f64,
    /// A sample of flow sizes.
    #[serde(default)]
    pub sizes_bytes: Vec<f64>,
    /// Mean two-way propagation delay.
    pub rtt_s: f64,
    /// Mean peak rate of a flow, on the wire.
    #[serde(with = "unbounded")]
    pub peak_rate_bps: f64,
    /// Size of a data packet, headers included.
    pub packet_bytes: f64,
    /// Size of the headers of a packet.
    pub header_bytes: f64,
    /// Window at the start of a flow, in packets.
    pub initial_window: u32,
    /// Largest window, in packets.
    #[serde(with = "unbounded")]
    pub max_window: f64,
}

/// One link of a scenario and the traffic that crosses it.
#[derive(Clone, Debug, Deserialize, Serialize)]
pub struct Bottleneck {
    /// Name of the link.
    pub name: String,
    /// Rate of the link; the first rate if it changes.
    pub rate_bps: f64,
    /// Kind of the queue discipline.
    pub discipline: String,
    /// Its parameters.
    pub parameters: Parameters,
    /// Parameters that are amounts in the buffer (`limit`, thresholds), in waiting packets.
    pub amounts_packets: BTreeMap<String, f64>,
    /// Size of the packets in which the buffer is counted.
    pub packet_bytes: f64,
    /// Permanent flows under congestion control, by RTT and access rate.
    pub classes: Vec<FlowClass>,
    /// Unresponsive flows.
    pub streams: Vec<Stream>,
    /// Flows that arrive and depart.
    pub dynamic: Vec<DynamicFlows>,
    /// Mean random loss of the link, as a fraction of packets.
    pub random_loss_fraction: f64,
    /// Names of the other links that its flows cross, in either direction; sorted.
    pub other_links: Vec<String>,
    /// Whether the rate or the delay of the link changes during a run.
    pub changes: bool,
    /// Whether the link has a shaper or a policer.
    pub has_token_bucket: bool,
    /// Keys of the parameters that decide on the queue before its limit is reached; empty if the limit
    /// alone decides.
    #[serde(default)]
    pub binding: Vec<String>,
    /// Every size of data packets.
    pub packet_sizes_bytes: BTreeSet<u32>,
    /// Whether packets of several sizes may wait, ACKs and the last packets of flows among them, but not
    /// those that open a connection: a limit in bytes is then no number of packets.
    #[serde(default)]
    pub packets_differ: bool,
    /// Mean propagation RTT of the other flows under congestion control, where no long flow crosses
    /// the link; else 0.
    pub short_rtt_s: f64,
    /// All that shapes the packets of its port.
    #[serde(default)]
    pub port: PortSetting,
}

impl Bottleneck {
    /// The same link with another queue limit, in waiting packets.
    #[must_use]
    pub fn with_limit(mut self, packets: u64) -> Self {
        self.amounts_packets.insert("limit".to_owned(), packets as f64);
        let text = QueueLimit::packets(packets).to_string();
        self.port.0.insert("queue.limit".to_owned(), text.into());
        self
    }

    /// The link with another limit, in bytes.
    #[must_use]
    pub fn with_limit_bytes(mut self, bytes: u64) -> Self {
        self.amounts_packets.insert("limit".to_owned(), bytes as f64 / self.packet_bytes);
        self.port.0.insert("queue.limit".to_owned(), format!("{bytes} B").into());
        self
    }

    /// Largest number of waiting packets, without the packet in transmission.
    pub fn limit_packets(&self) -> f64 {
        self.amount("limit")
    }

    /// An amount in the buffer, in packets; NaN if the discipline has no such parameter.
    pub(crate) fn amount(&self, name: &str) -> f64 {
        self.amounts_packets.get(name).copied().unwrap_or(f64::NAN)
    }

    /// Largest number of packets with the packet in transmission.
    pub(crate) fn system_packets(&self) -> f64 {
        self.limit_packets() + 1.0
    }

    /// Capacity in packets per second.
    pub fn capacity_pps(&self) -> f64 {
        self.rate_bps / (8.0 * self.packet_bytes)
    }

    /// Number of permanent flows under congestion control.
    pub fn flow_count(&self) -> u64 {
        self.classes.iter().map(|flows| flows.count).sum()
    }

    /// The same number, for formulas.
    pub(crate) fn flows(&self) -> f64 {
        self.flow_count() as f64
    }

    /// Mean propagation RTT of the long flows, else of the other flows with a control; 0 if none.
    pub fn mean_rtt_s(&self) -> f64 {
        if self.classes.is_empty() {
            return self.short_rtt_s;
        }
        let total: f64 = self.classes.iter().map(|flows| flows.flows() * flows.rtt_s).sum();
        total / self.flows()
    }

    /// Capacity times the mean propagation RTT.
    pub fn bdp_packets(&self) -> f64 {
        self.capacity_pps() * self.mean_rtt_s()
    }

    /// Load of the unresponsive streams, as a fraction of the link's rate.
    pub(crate) fn stream_load(&self) -> f64 {
        self.streams.iter().map(|stream| stream.rate_bps).sum::<f64>() / self.rate_bps
    }

    /// Offered load of the dynamic flows, as a fraction of the link's rate.
    pub(crate) fn dynamic_load(&self) -> f64 {
        let rates =
            self.dynamic.iter().map(|flows| 8.0 * flows.arrivals_per_s * flows.wire_bytes_mean);
        rates.sum::<f64>() / self.rate_bps
    }

    /// The distinct round trip times of the classes, ascending.
    pub(crate) fn round_trips_s(&self) -> Vec<f64> {
        let mut trips: Vec<f64> = self.classes.iter().map(|flows| flows.rtt_s).collect();
        trips.sort_by(f64::total_cmp);
        trips.dedup();
        trips
    }

    /// Names of the controls of the classes, sorted.
    pub(crate) fn controls(&self) -> BTreeSet<&str> {
        self.classes.iter().map(|flows| flows.congestion.as_str()).collect()
    }
}

/// A quantity without bound is infinite here, and null in JSON.
mod unbounded {
    use serde::{Deserialize, Deserializer, Serialize, Serializer};

    #[expect(clippy::trivially_copy_pass_by_ref, reason = "the signature that serde calls")]
    pub(super) fn serialize<S: Serializer>(value: &f64, to: S) -> Result<S::Ok, S::Error> {
        value.is_finite().then_some(*value).serialize(to)
    }

    pub(super) fn deserialize<'a, D: Deserializer<'a>>(from: D) -> Result<f64, D::Error> {
        Ok(Option::deserialize(from)?.unwrap_or(f64::INFINITY))
    }
}
