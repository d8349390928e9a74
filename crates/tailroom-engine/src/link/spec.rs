//! A shared link as a scenario describes it, every quantity in engine units.

use super::arrivals::ArrivalLogSpec;
use super::serializer::RateChange;
use super::wire_loss::LossSpec;
use crate::quantity::limit::{Limit, QueueLimit};
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

/// When a link refuses new flows.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct FlowAdmissionSpec {
    /// Over so long both quantities are measured, again and again.
    pub interval: Time,
    /// Below this fair rate it does.
    pub min_fair_rate: Option<Rate>,
    /// Above this priority load it does.
    pub max_priority_load: Option<f64>,
}
