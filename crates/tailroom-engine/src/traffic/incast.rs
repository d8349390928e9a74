//! Incast: a client asks many servers at once, and their answers meet at its port.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use super::arrivals::{Arrivals, ArrivalsConfig, FlowArrivals};
use super::coflows::Coflows;
use super::context::{Group, GroupContext};
use super::draws::Draws;
use super::{FlowRequest, FlowSource, FlowStatistics, OfferedFlows, Parameters, whole_bytes};
use crate::derives::{Deserialize, JsonSchema, Ranges, Serialize};
use crate::distribution::Distribution;
use crate::distribution::config::ValueConfig;
use crate::fabric::{HostPairs, OUTSIDE, Route};
use crate::parameters::BadParameter;
use crate::quantity::{Duration, Size};
use crate::random::{Random, Stream, below};
use crate::units::Time;
use crate::work::{MOST_STEPS, count_step};

/// Parameters of queries that many servers answer.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[schemars(
    example = serde_json::json!({ "fan_in": 8, "size": "32 kB", "arrivals_per_second": 100.0 })
)]
#[schemars(deny_unknown_fields)] // serde cannot refuse them with `flatten`; the schema check does
#[non_exhaustive]
pub struct IncastParams {
    /// Number of servers that answer a query: hosts of `from`, drawn for each query, other than the
    /// client, which is one of the hosts of `to`. On a path, number of answers.
    #[schemars(range(min = 1, max = 100_000), example = 8)]
    pub fan_in: u32,
    /// Payload of an answer.
    #[schemars(example = "32 kB")]
    pub size: ValueConfig<Size>,
    /// From the query until a server begins to send, drawn for each answer. The way of the query to
    /// the server is not part of it: it counts with the last ACK, which takes as long.
    #[serde(default = "no_time")]
    pub service_time: ValueConfig<Duration>,
    /// Instead of `load`, `arrivals_per_second`, `period` and `arrivals`: a query begins this long
    /// after the one before is complete, the first at the group's `start`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub think_time: Option<Duration>,
    /// When queries arrive.
    #[serde(flatten)]
    pub arrivals: ArrivalsConfig,
    /// How many completed flows, which are answers, to record one by one, the first to complete.
    #[serde(default)]
    #[schemars(range(max = 100_000_000))]
    pub flow_log: u32,
}

fn no_time() -> ValueConfig<Duration> {
    ValueConfig::Fixed(Duration::new(0))
}

impl Parameters for IncastParams {
    type Spec = IncastSpec;

    fn resolve(&self, context: &GroupContext<'_>) -> Result<IncastSpec, BadParameter> {
        let files = context.files;
        let size = self.size.resolve("size", files)?;
        let queries = match self.think_time {
            None => Queries::Arrive(self.arrivals.resolve(context, || {
                f64::from(self.fan_in) * context.group.estimated_wire_bytes(&size)
            })?),
            Some(think_time) if self.arrivals == ArrivalsConfig::default() => Queries::Follow {
                think_time: think_time.time(),
                start: context.flows.start,
                stop: context.flows.stop,
            },
            Some(_) => {
                let problem = "another key says when queries arrive";
                return Err(BadParameter::new("think_time", problem, "keep one of them"));
            }
        };
        let spec = IncastSpec {
            queries,
            fan_in: self.fan_in,
            size,
            service_time: self.service_time.resolve("service_time", files)?,
            rtt: context.flows.rtt.clone(),
            peak_rate: context.flows.access_rate.clone(),
            flow_log: self.flow_log as usize,
        };
        spec.check_hosts(context.group.hosts)?;
        Ok(spec)
    }
}

/// Queries that many servers answer at once, each answer a connection of its own.
#[derive(Clone, Debug, PartialEq, Ranges)]
#[non_exhaustive]
pub struct IncastSpec {
    /// When queries begin.
    pub queries: Queries,
    /// Number of answers to a query.
    #[schemars(range(min = 1, max = 100_000))]
    pub fan_in: u32,
    /// Payload of an answer, in bytes.
    pub size: Distribution,
    /// From the query until a server begins to send, in picoseconds.
    pub service_time: Distribution,
    /// Two-way propagation delay, in picoseconds.
    pub rtt: Distribution,
    /// Rate of the access link of each answer, in bit/s; `None` for one that takes no time.
    pub peak_rate: Option<Distribution>,
    /// How many completed flows are kept one by one.
    #[schemars(range(max = 100_000_000))]
    pub flow_log: usize,
}

impl IncastSpec {
    /// Answers that begin at once, over access links that take no time, none of them recorded.
    pub fn new(queries: Queries, fan_in: u32, size: Distribution, rtt: Distribution) -> Self {
        let service_time = Distribution::Fixed(0.0);
        IncastSpec { queries, fan_in, size, service_time, rtt, peak_rate: None, flow_log: 0 }
    }
}

/// When queries begin.
#[derive(Clone, Debug, PartialEq, Ranges)]
#[non_exhaustive]
pub enum Queries {
    /// Whatever has become of those before.
    Arrive(FlowArrivals),
    /// Each after the one before.
    Follow {
        /// From the completion of a query to the next one.
        think_time: Time,
        /// When the first one begins.
        start: Time,
        /// From when on none begins; [`Time::NEVER`] if there is no such time.
        stop: Time,
    },
}

impl OfferedFlows for IncastSpec {
    fn mean_rtt_ps(&self) -> f64 {
        self.rtt.mean()
    }

    fn flow_log(&self) -> usize {
        self.flow_log
    }

    fn mean_transfer_s(&self) -> Option<f64> {
        Some(8.0 * self.size.mean() / self.peak_rate.as_ref()?.mean())
    }

    fn is_closed_loop(&self) -> bool {
        matches!(self.queries, Queries::Follow { .. })
    }

    /// Refuses more servers than there are, and pairs of hosts that are not the source's choice.
    fn check_hosts(&self, hosts: Option<&HostPairs>) -> Result<(), BadParameter> {
        let Some(hosts) = hosts else { return Ok(()) };
        if hosts.is_one_to_one {
            let problem = "a query has many servers, and `pairs` gives a host one";
            return Err(BadParameter::new("kind", problem, "remove `pairs`"));
        }
        let is_client = |host: &u32| hosts.to.contains(host);
        let most = hosts.from.len() - usize::from(hosts.from.iter().any(is_client));
        if hosts.from.contains(&OUTSIDE) || self.fan_in as usize <= most {
            return Ok(());
        }
        let problem = format!(
            "{} servers answer, and `from` has {most} not counting the client",
            self.fan_in
        );
        let remedy = format!("write at most {most}, or name more hosts in `from`");
        Err(BadParameter::new("fan_in", problem, remedy))
    }

    /// Of queries that follow one another, only the first counts: the others come as fast as the
    /// network answers.
    fn statistics(&self, group: &Group<'_>, duration_s: f64, draws: usize) -> FlowStatistics {
        let queries_per_s = match &self.queries {
            Queries::Arrive(arrivals) => arrivals.per_second(duration_s),
            Queries::Follow { .. } => 1.0 / duration_s,
        };
        let answers_per_s = f64::from(self.fan_in) * queries_per_s;
        FlowStatistics::of_drawn(
            group,
            answers_per_s,
            &self.size,
            &self.rtt,
            self.peak_rate.as_ref(),
            draws,
        )
    }
}

/// Queries at given times, as a process, or one after the other.
#[derive(Clone, Debug)]
pub struct Incast {
    spec: IncastSpec,
    /// If queries arrive.
    arrivals: Option<Arrivals>,
    /// If queries follow one another, when the next one begins; [`Time::NEVER`] until that is
    /// known.
    follows: Time,
    /// The hosts that may be servers, in the order in which the last query left them; those that
    /// may be clients. Both are empty if the group has a path.
    servers: Vec<u32>,
    clients: Vec<u32>,
    hosts: Stream,
    /// Seed of the routes between hosts, which stay the same.
    routes: u64,
    sizes: Stream,
    service_times: Stream,
    draws: Draws,
    coflows: Coflows,
    /// Number of queries so far.
    begun: u64,
    /// Answers that have not begun, those of the next query included.
    pending: BinaryHeap<Reverse<Answer>>,
}

/// An answer, in the order of its start.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Answer {
    start: Time,
    query: u64,
    place: u32,
    coflow: u32,
    bytes: u64,
    hosts: Option<(u32, u32)>,
}

impl Incast {
    /// Starts the source of a group.
    pub fn new(spec: &IncastSpec, group: &Group<'_>, shortest_rtt: Time) -> Self {
        let (arrivals, follows) = match &spec.queries {
            Queries::Arrive(arrivals) => (Some(Arrivals::new(arrivals, group)), Time::NEVER),
            Queries::Follow { start, stop, .. } => {
                (None, if start < stop { *start } else { Time::NEVER })
            }
        };
        let mut incast = Incast {
            spec: spec.clone(),
            arrivals,
            follows,
            servers: group.hosts.map_or_else(Vec::new, |hosts| hosts.from.to_vec()),
            clients: group.hosts.map_or_else(Vec::new, |hosts| hosts.to.to_vec()),
            hosts: group.stream("hosts of queries"),
            routes: group.stream("routes").next_u64(),
            sizes: group.stream("sizes"),
            service_times: group.stream("service times"),
            draws: Draws::new(&spec.rtt, spec.peak_rate.as_ref(), group, shortest_rtt),
            coflows: Coflows::default(),
            begun: 0,
            pending: BinaryHeap::new(),
        };
        incast.plan();
        incast
    }

    /// Plans the queries that begin before the first pending answer, so that no answer of a query
    /// comes before that one. If these are many, the rest is planned at its own time.
    fn plan(&mut self) {
        let mut planned = 0;
        while let Some(query) = self.unplanned().filter(|_| planned < MOST_STEPS) {
            match &mut self.arrivals {
                Some(arrivals) => arrivals.advance(),
                None => self.follows = Time::NEVER,
            }
            self.begin_query(query);
            planned += self.spec.fan_in;
        }
    }

    fn next_query(&self) -> Time {
        self.arrivals.as_ref().map_or(self.follows, Arrivals::next)
    }

    fn next_answer(&self) -> Time {
        self.pending.peek().map_or(Time::NEVER, |next| next.0.start)
    }

    /// The next query, if an answer to it may come before those that are pending.
    fn unplanned(&self) -> Option<Time> {
        Some(self.next_query()).filter(|&query| query < Time::NEVER && query <= self.next_answer())
    }

    fn begin_query(&mut self, time: Time) {
        let coflow = self.coflows.begin(time, self.spec.fan_in);
        let client = self.draw_client();
        for place in 0..self.spec.fan_in {
            count_step();
            let service_time = self.spec.service_time.sample(&mut self.service_times);
            let service_time = Time::from_picoseconds(libm::round(service_time) as u64);
            let answer = Answer {
                start: time.saturating_add(service_time),
                query: self.begun,
                place,
                coflow,
                bytes: whole_bytes(self.spec.size.sample(&mut self.sizes)),
                hosts: client.map(|client| (self.draw_server(place as usize, client), client)),
            };
            self.pending.push(Reverse(answer));
        }
        self.begun += 1;
    }

    fn draw_client(&mut self) -> Option<u32> {
        let place = below(&mut self.hosts, self.clients.len() as u64) as usize;
        self.clients.get(place).copied()
    }

    /// Draws a server that is neither the client nor at a place before this one, and moves it
    /// there. The hosts outside are as many as are needed.
    fn draw_server(&mut self, place: usize, client: u32) -> u32 {
        loop {
            if place >= self.servers.len() {
                return OUTSIDE;
            }
            let left = (self.servers.len() - place) as u64;
            let drawn = place + below(&mut self.hosts, left) as usize;
            if self.servers[drawn] == OUTSIDE {
                return OUTSIDE;
            }
            if self.servers[drawn] != client {
                self.servers.swap(place, drawn);
                return self.servers[place];
            }
        }
    }

    /// The route of an answer: that of all answers of the server to this client.
    fn route(&self, answer: &Answer) -> Option<Route> {
        let (from, to) = answer.hosts?;
        let outside =
            if from == OUTSIDE || to == OUTSIDE { u64::from(answer.place) << 40 } else { 0 };
        let pair = (u64::from(from) << 20) ^ u64::from(to) ^ outside;
        Some(Route::of_flow(from, to, self.routes ^ pair))
    }
}

impl FlowSource for Incast {
    fn next_arrival(&self) -> Time {
        self.next_answer().min(self.next_query())
    }

    fn next_flow(&mut self) -> Option<FlowRequest> {
        if self.unplanned().is_some() {
            self.plan();
            return None;
        }
        let Reverse(answer) = self.pending.pop()?;
        self.plan();
        Some(FlowRequest {
            start: answer.start,
            bytes: Some(answer.bytes),
            rtt: self.draws.rtt(),
            access_rate: self.draws.access_rate(),
            seed: self.draws.seed(),
            media: None,
            route: self.route(&answer),
            tag: answer.coflow,
        })
    }

    fn on_completion(&mut self, tag: u32, at: Time) {
        let completed_at = self.coflows.on_completion(tag, at);
        if let (Some(end), Queries::Follow { think_time, stop, .. }) =
            (completed_at, &self.spec.queries)
        {
            let next = end.saturating_add(*think_time);
            self.follows = if next < *stop { next } else { Time::NEVER };
            self.plan();
        }
    }

    fn coflows(&mut self) -> Option<&mut Coflows> {
        Some(&mut self.coflows)
    }

    fn planned(&self) -> usize {
        self.pending.len()
    }

    fn memory_bytes(&self) -> u64 {
        let pending_bytes = self.pending.len() * size_of::<Reverse<Answer>>();
        pending_bytes as u64 + self.coflows.memory_bytes()
    }
}
