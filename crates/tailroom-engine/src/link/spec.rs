//! A shared link as a scenario describes it, and the keys of its admission control.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::arrivals::ArrivalLogSpec;
use super::serializer::RateChange;
use super::wire_loss::LossSpec;
use crate::quantity::limit::{Limit, QueueLimit};
use crate::quantity::{BitRate, PositiveDuration};
use crate::queue::QueueConfig;
use crate::units::{Rate, Time};

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

/// From `at` on the link's propagation delay is `delay`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DelayChange {
    /// When, since the start of the run.
    pub at: Time,
    /// The new one-way delay.
    pub delay: Time,
}

/// Admission control of new flows.
///
/// As in Benameur, Ben Fredj, Oueslati, Roberts (2002) and Kortebi, Oueslati, Roberts (2004): a flow
/// that comes while the link's fair rate is below a threshold, or its priority load above another one,
/// is counted and does not begin. Permanent flows, and those that nothing controls, always begin.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(rename = "AdmissionFile")]
pub struct FlowAdmissionSpec {
    /// Refuse while a flow that always waits would get less than this.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(example = "1 Mbit/s")]
    pub min_fair_rate: Option<BitRate>,
    /// Refuse while what comes with priority, the packets of flows that do not wait, takes more than
    /// this share of the link.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(extend("exclusiveMinimum" = 0.0), range(max = 1.0))]
    pub max_priority_load: Option<f64>,
    /// Time over which both are measured; a decision goes by the intervals that have ended. At least
    /// 1 ms.
    #[serde(default = "tenth_of_a_second")]
    pub interval: PositiveDuration,
}

fn tenth_of_a_second() -> PositiveDuration {
    PositiveDuration::from_milliseconds(100)
}
