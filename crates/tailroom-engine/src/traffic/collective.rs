//! Collective operations of a training job: steps in which hosts send to one another, each of which
//! begins when the step before is complete.

use super::coflows::Coflows;
use super::context::{Group, GroupContext};
use super::draws::Draws;
use super::{FlowRequest, FlowSource, FlowStatistics, OfferedFlows, Parameters, seconds};
use crate::derives::{Deserialize, JsonSchema, Ranges, Serialize};
use crate::distribution::Distribution;
use crate::fabric::{HostPairs, OUTSIDE, Route};
use crate::parameters::BadParameter;
use crate::quantity::{Duration, Size};
use crate::random::{Random, Stream, below};
use crate::units::Time;

/// Parameters of collective operations.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[non_exhaustive]
pub struct CollectiveParams {
    /// What the hosts do together.
    #[schemars(example = &"ring_all_reduce")]
    pub operation: Operation,
    /// Payload that each host contributes to an operation.
    #[schemars(example = "1 MB")]
    pub size: Size,
    /// From the completion of an operation to the beginning of the next one.
    #[serde(default = "no_time")]
    pub compute_time: Duration,
    /// How many completed flows to record one by one, the first to complete.
    #[serde(default)]
    #[schemars(range(max = 100_000_000))]
    pub flow_log: u32,
}

fn no_time() -> Duration {
    Duration::new(0)
}

/// Collective operations of n hosts.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema, Ranges)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum Operation {
    /// 2 (n - 1) steps. In each of them every host sends 1/n of its data to the next host, in the
    /// order in which `from` names them; the first half of the steps reduces, the second
    /// distributes.
    RingAllReduce,
    /// One step, in which every host sends 1/n of its data to each other host.
    AllToAll,
    /// One step, in which every host sends its data to one other host and receives that of one,
    /// drawn anew for each operation.
    Permutation,
}

impl Parameters for CollectiveParams {
    type Spec = CollectiveSpec;

    fn resolve(&self, context: &GroupContext<'_>) -> Result<CollectiveSpec, BadParameter> {
        let spec = CollectiveSpec {
            operation: self.operation,
            bytes: self.size.bytes(),
            compute_time: self.compute_time.time(),
            start: context.flows.start,
            stop: context.flows.stop,
            rtt: context.flows.rtt.clone(),
            peak_rate: context.flows.access_rate.clone(),
            flow_log: self.flow_log as usize,
        };
        spec.check_hosts(context.group.hosts)?;
        Ok(spec)
    }
}

/// Collective operations, one after the other.
#[derive(Clone, Debug, PartialEq, Ranges)]
#[non_exhaustive]
pub struct CollectiveSpec {
    /// What the hosts do together.
    pub operation: Operation,
    /// Payload that each host contributes to an operation.
    pub bytes: u64,
    /// From the completion of an operation to the beginning of the next one.
    pub compute_time: Time,
    /// When the first operation begins.
    pub start: Time,
    /// From when on no step begins; [`Time::NEVER`] if there is no such time.
    pub stop: Time,
    /// Two-way propagation delay, in picoseconds.
    pub rtt: Distribution,
    /// Rate of the access link of each flow, in bit/s; `None` for one that takes no time.
    pub peak_rate: Option<Distribution>,
    /// How many completed flows are kept one by one.
    #[schemars(range(max = 100_000_000))]
    pub flow_log: usize,
}

impl CollectiveSpec {
    /// Operations from the start of the run until its end, without pauses between them, over access
    /// links that take no time, no flow recorded.
    pub fn new(operation: Operation, bytes: u64, rtt: Distribution) -> Self {
        CollectiveSpec {
            operation,
            bytes,
            compute_time: Time::ZERO,
            start: Time::ZERO,
            stop: Time::NEVER,
            rtt,
            peak_rate: None,
            flow_log: 0,
        }
    }
}

impl Operation {
    /// Number of steps, among this many hosts.
    fn steps(self, hosts: u64) -> u64 {
        match self {
            Operation::RingAllReduce => 2 * (hosts - 1),
            Operation::AllToAll | Operation::Permutation => 1,
        }
    }

    /// Number of flows of a step.
    fn flows(self, hosts: u64) -> u64 {
        match self {
            Operation::RingAllReduce | Operation::Permutation => hosts,
            Operation::AllToAll => hosts * (hosts - 1),
        }
    }

    /// Payload of a flow if each host contributes `bytes`.
    fn flow_bytes(self, hosts: u64, bytes: u64) -> u64 {
        let parts = if self == Operation::Permutation { 1 } else { hosts };
        bytes.div_ceil(parts).max(1)
    }
}

impl OfferedFlows for CollectiveSpec {
    fn mean_rtt_ps(&self) -> f64 {
        self.rtt.mean()
    }

    fn flow_log(&self) -> usize {
        self.flow_log
    }

    /// At most.
    fn mean_transfer_s(&self) -> Option<f64> {
        Some(8.0 * self.bytes as f64 / self.peak_rate.as_ref()?.mean())
    }

    fn is_closed_loop(&self) -> bool {
        true
    }

    /// Refuses a path, and hosts that do not both send and receive.
    fn check_hosts(&self, hosts: Option<&HostPairs>) -> Result<(), BadParameter> {
        let Some(hosts) = hosts else {
            let problem = "needs hosts, and the group has a path";
            return Err(BadParameter::new("kind", problem, "write `from` instead of `path`"));
        };
        let is_same = hosts.to.len() == hosts.from.len()
            && hosts.to.iter().all(|host| hosts.from.contains(host));
        if is_same && !hosts.is_one_to_one && !hosts.from.contains(&OUTSIDE) {
            return Ok(());
        }
        let problem = "every host of a switch or fabric that takes part sends and receives";
        let remedy = "name them in `from`, and remove `to` and `pairs`";
        Err(BadParameter::new("kind", problem, remedy))
    }

    /// Only the first step counts: the others come as fast as the network lets them.
    fn statistics(&self, group: &Group<'_>, duration_s: f64, _draws: usize) -> FlowStatistics {
        let hosts = group.hosts.map_or(2, |hosts| hosts.from.len() as u64);
        let size = Distribution::Fixed(self.operation.flow_bytes(hosts, self.bytes) as f64);
        FlowStatistics {
            arrivals_per_s: self.operation.flows(hosts) as f64 / duration_s,
            is_poisson: false,
            size_bytes_mean: size.mean(),
            wire_bytes_mean: group.mean_wire_bytes(&size),
            sizes_bytes: vec![size.mean()],
            rtt_s: seconds(self.rtt.mean()),
            peak_rate_bps: self.peak_rate.as_ref().map(Distribution::mean),
        }
    }
}

/// Collective operations in progress.
#[derive(Clone, Debug)]
pub struct Collective {
    spec: CollectiveSpec,
    /// The hosts that take part, at least two.
    hosts: Vec<u32>,
    /// When the next or current step begins; [`Time::NEVER`] until that is known.
    start: Time,
    /// Number of the step within its operation.
    step: u64,
    /// Flows of the step that have begun.
    begun: u64,
    coflow: u32,
    /// By host, whom it sends to in a permutation.
    partners: Vec<u32>,
    partner_draws: Stream,
    /// Seed of the routes between hosts, which stay the same.
    routes: u64,
    draws: Draws,
    coflows: Coflows,
}

impl Collective {
    /// Starts the source of a group.
    pub fn new(spec: &CollectiveSpec, group: &Group<'_>, shortest_rtt: Time) -> Self {
        let hosts = group.hosts.map_or_else(Vec::new, |hosts| hosts.from.to_vec());
        Collective {
            spec: spec.clone(),
            start: if spec.start < spec.stop { spec.start } else { Time::NEVER },
            step: 0,
            begun: 0,
            coflow: 0,
            partners: Vec::new(),
            hosts,
            partner_draws: group.stream("partners"),
            routes: group.stream("routes").next_u64(),
            draws: Draws::new(&spec.rtt, spec.peak_rate.as_ref(), group, shortest_rtt),
            coflows: Coflows::default(),
        }
    }

    /// Number of flows of a step.
    fn flows(&self) -> u64 {
        self.spec.operation.flows(self.hosts.len() as u64)
    }

    fn begin_step(&mut self) {
        self.coflow = self.coflows.begin(self.start, self.flows() as u32);
        if self.spec.operation == Operation::Permutation {
            // Sattolo's algorithm: a cycle of all hosts, so that none sends to itself.
            self.partners = (0..self.hosts.len() as u32).collect();
            for place in (1..self.partners.len()).rev() {
                self.partners.swap(place, below(&mut self.partner_draws, place as u64) as usize);
            }
        }
    }

    /// Sender and receiver of flow `number` of the step, as places among the hosts.
    fn pair(&self, number: u64) -> (usize, usize) {
        let members = self.hosts.len() as u64;
        let sender = number % members;
        let receiver = match self.spec.operation {
            Operation::RingAllReduce => (sender + 1) % members,
            // All hosts begin with the neighbour, so that not all send to the same host at once.
            Operation::AllToAll => (sender + 1 + number / members) % members,
            Operation::Permutation => u64::from(self.partners[sender as usize]),
        };
        (sender as usize, receiver as usize)
    }
}

impl FlowSource for Collective {
    fn next_arrival(&self) -> Time {
        self.start
    }

    fn next_flow(&mut self) -> Option<FlowRequest> {
        let start = self.start;
        if start == Time::NEVER {
            return None;
        }
        if self.begun == 0 {
            self.begin_step();
        }
        let (sender, receiver) = self.pair(self.begun);
        self.begun += 1;
        if self.begun == self.flows() {
            self.begun = 0;
            self.start = Time::NEVER;
        }
        let CollectiveSpec { operation, bytes, .. } = self.spec;
        let (from, to) = (self.hosts[sender], self.hosts[receiver]);
        let pair = (u64::from(from) << 20) ^ u64::from(to);
        Some(FlowRequest {
            start,
            bytes: Some(operation.flow_bytes(self.hosts.len() as u64, bytes)),
            rtt: self.draws.rtt(),
            access_rate: self.draws.access_rate(),
            seed: self.draws.seed(),
            media: None,
            route: Some(Route::of_flow(from, to, self.routes ^ pair)),
            tag: self.coflow,
        })
    }

    fn on_completion(&mut self, tag: u32, at: Time) {
        let Some(end) = self.coflows.on_completion(tag, at) else { return };
        self.step = (self.step + 1) % self.spec.operation.steps(self.hosts.len() as u64);
        let pause = if self.step == 0 { self.spec.compute_time } else { Time::ZERO };
        let next = end.saturating_add(pause);
        self.start = if next < self.spec.stop { next } else { Time::NEVER };
    }

    fn coflows(&mut self) -> Option<&mut Coflows> {
        Some(&mut self.coflows)
    }
}
