//! ABM (Addanki, Apostolaki, Ghobadi, Schmid and Vanbever 2022, "ABM: Active Buffer Management in
//! Datacenters", SIGCOMM): `T = alpha / n * mu / b * (B - Q)`.
//!
//! n is the number of congested queues of the same priority, those that hold at least 0.9 of their
//! threshold, and mu / b the share of the port's rate at which the queue drains. Both are found anew
//! after each interval. The share is that of the cells which the queues of the port have freed since
//! then, and at least an equal one: a queue that has waited for others is not starved of memory too.

use super::{Parameters, Policy, PoolInfo, QueueInfo, QueueState, Request};
use crate::derives::{Deserialize, JsonSchema, Ranges, Serialize};
use crate::quantity::PositiveDuration;
use crate::units::{Time, float};

/// Part of its threshold from which on a queue is congested.
const CONGESTED: f64 = 0.9;

/// Parameters of ABM.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema, Ranges)]
#[serde(deny_unknown_fields)]
#[non_exhaustive]
pub struct AbmParams {
    /// What the queues of a priority may hold together, as a multiple of the shared memory that is free,
    /// if each has its port to itself. A link may have an `alpha` of its own, the same for all links of
    /// its priority.
    #[serde(default = "half")]
    #[schemars(extend("exclusiveMinimum" = 0.0), range(max = 1_000_000.0))]
    pub alpha: f64,
    /// How often congested queues and drain rates are found anew, such as every round-trip time.
    #[schemars(example = "80 us")]
    pub interval: PositiveDuration,
    /// Alpha of the packets of a flow's first window, those numbered below `initial_window`, which are
    /// sent before the first feedback; 1024 in the scripts. Default: that of the queue.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(extend("exclusiveMinimum" = 0.0), range(max = 1_000_000.0))]
    pub first_window_alpha: Option<f64>,
}

fn half() -> f64 {
    0.5 // the scripts of the paper's simulations
}

impl AbmParams {
    /// This alpha and interval.
    pub fn new(alpha: f64, interval: Time) -> Self {
        let interval = PositiveDuration::new(interval.picoseconds());
        AbmParams { alpha, interval, first_window_alpha: None }
    }
}

impl Parameters for AbmParams {
    fn alpha(&self) -> Option<f64> {
        Some(self.alpha)
    }

    fn favoured_alpha(&self) -> Option<f64> {
        self.first_window_alpha
    }

    fn has_ports(&self) -> bool {
        true
    }

    fn look_interval(&self) -> Option<Time> {
        Some(self.interval.time())
    }
}

/// ABM.
#[derive(Clone, Debug)]
pub struct Abm {
    queues: Vec<Queue>,
    /// By priority, the congested queues of the last look, and those of the present one.
    congested: Vec<[f64; 2]>,
    /// By port, what its queues have freed.
    freed: Vec<u64>,
}

#[derive(Clone, Debug)]
struct Queue {
    alpha: f64,
    /// Indices of its port and priority.
    port: usize,
    priority: usize,
    least_share: f64,
    share: f64,
    /// Its share divided by the number of congested queues.
    factor: f64,
}

impl Abm {
    /// The policy in `pool`, without congested queues.
    pub fn new(_params: &AbmParams, pool: &PoolInfo) -> Self {
        let mut priorities: Vec<u32> = pool.queues.iter().map(|queue| queue.priority).collect();
        priorities.sort_unstable();
        priorities.dedup();
        let queues = pool.queues.iter().map(|queue| Queue::new(queue, pool, &priorities));
        Abm {
            queues: queues.collect(),
            congested: vec![[1.0; 2]; priorities.len()],
            freed: vec![0; pool.queues.len()],
        }
    }
}

impl Queue {
    fn new(queue: &QueueInfo, pool: &PoolInfo, priorities: &[u32]) -> Self {
        let of_port = pool.queues.iter().filter(|other| other.port == queue.port).count();
        Queue {
            alpha: queue.alpha,
            port: queue.port,
            priority: priorities.partition_point(|priority| *priority < queue.priority),
            least_share: 1.0 / of_port as f64,
            share: 1.0,
            factor: 1.0,
        }
    }
}

impl Policy for Abm {
    #[inline]
    fn admits(&self, request: &Request) -> bool {
        let free = float(request.size - request.occupied);
        float(request.queue) < request.alpha * self.queues[request.member].factor * free
    }

    fn look(&mut self, queues: &[QueueState], free: u64) -> bool {
        let Abm { queues: own, congested, freed } = self;
        freed.fill(0);
        for (queue, state) in own.iter().zip(queues) {
            freed[queue.port] += state.freed;
        }
        for [_, present] in &mut *congested {
            *present = 0.0;
        }
        for (queue, state) in own.iter_mut().zip(queues) {
            let of_port = float(freed[queue.port].max(1));
            queue.share = (float(state.freed) / of_port).max(queue.least_share);
            let [last, present] = &mut congested[queue.priority];
            let threshold = queue.alpha * queue.share / *last * float(free);
            if state.held > 0 && float(state.held) >= CONGESTED * threshold {
                *present += 1.0;
            }
        }
        // More congested queues lower the thresholds, so that the count only rises, or only falls, while
        // the queues stay the same.
        let mut changes = false;
        for [last, present] in &mut *congested {
            let before = std::mem::replace(last, present.max(1.0));
            changes |= before.to_bits() != last.to_bits();
        }
        for queue in own {
            queue.factor = queue.share / congested[queue.priority][0];
        }
        changes
    }
}
