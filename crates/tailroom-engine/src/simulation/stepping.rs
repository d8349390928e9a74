//! A run in steps of equal length: what a caller sees at the end of a step, and what it may change
//! before the next one.
//!
//! A flow runs ahead of the links. It records its state at the end of each step when it passes it
//! ([`FlowProbe::take_step`](crate::probe::flow::FlowProbe::take_step)); a flow that may be set from
//! outside keeps the ACKs of later steps until the caller has decided
//! ([`stepped`](crate::tcp::sender)). A link whose rate is acted on is served; parameters of a discipline may
//! change at any link.
//!
//! A link loses half of its rate when its queue is long, and gets it back:
//!
//! ```
//! use tailroom_engine::congestion::CongestionConfig;
//! use tailroom_engine::congestion::reno::RenoParams;
//! use tailroom_engine::simulation::stepping::Action;
//! use tailroom_engine::{LinkSpec, Network, QueueLimit, Rate, Simulation, TcpSpec, Time};
//!
//! let [low, high] = [10_000_000, 20_000_000].map(Rate::from_bits_per_second);
//! let mut link = LinkSpec::drop_tail(high, Time::from_milliseconds(10), QueueLimit::packets(100));
//! link.is_acted_on = true;
//! let reno = TcpSpec::new(CongestionConfig::Reno(RenoParams::default()));
//! let (duration, rtt) = (Time::from_milliseconds(10_000), Time::from_milliseconds(40));
//! let mut network = Network::dumbbell(duration, link, reno, 2, rtt);
//! network.step_interval = Some(Time::from_milliseconds(100));
//! let mut run = Simulation::new(&network)?;
//! let mut slow_steps = 0;
//! while run.step_time() < duration {
//!     // A step may take several calls, so that a program can look for Ctrl-C in between.
//!     let Some(seen) = run.step_some(10_000)? else { continue };
//!     let is_long = seen.links[0].queue_packets > 50;
//!     slow_steps += u32::from(is_long);
//!     if seen.time < duration {
//!         run.act(Action::Rate { link: 0, rate: if is_long { low } else { high } })?;
//!     }
//! }
//! assert!(slow_steps > 0);
//! assert!(run.finish()?.summary.links.get("link").expect("its name").utilization > 0.5);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

use super::Simulation;
use super::arrived_flows::{Arrived, ArrivedFlows, record};
use super::error::RunError;
use super::flow::Flow;
use crate::congestion::ControlParameters;
use crate::congestion::stepped::SteppedParams;
use crate::flow::Endpoints;
use crate::link::Link;
use crate::link::probe::LinkCounts;
use crate::network::Network;
use crate::network::validate::link::check_rate;
use crate::parameters::BadParameter;
use crate::probe::flow::FlowStep;
use crate::queue::{LinkInfo, QueueConfig};
use crate::units::{Rate, Time};

/// The steps of a run.
#[derive(Clone, Debug)]
pub(super) struct Steps {
    /// When the present step began, or the last one ended.
    now: Time,
    /// When the present step ends; `None` between two steps.
    end: Option<Time>,
    /// The length of a step.
    interval: Time,
    /// By link, its counts at the end of the last step.
    links: Vec<LinkCounts>,
    /// By permanent flow, the same, and the packets lost by then.
    flows: Vec<(FlowStep, u64)>,
    /// By link, what its discipline may know, and the parameters that hold.
    disciplines: Vec<(LinkInfo, QueueConfig)>,
    /// The dynamic flows under the stepped control.
    arrived: ArrivedFlows,
}

impl Steps {
    /// The steps of a run of `network`, before the first.
    pub(super) fn new(network: &Network, interval: Time, facts: Vec<LinkInfo>) -> Self {
        let queues = network.links.iter().map(|link| link.queue.clone());
        Steps {
            now: Time::ZERO,
            end: None,
            interval,
            links: vec![LinkCounts::default(); network.links.len()],
            flows: vec![(FlowStep::default(), 0); network.flows.len()],
            disciplines: facts.into_iter().zip(queues).collect(),
            arrived: ArrivedFlows::default(),
        }
    }

    /// Takes in a dynamic flow that arrives in the present step; `departed` had its number before.
    pub(super) fn admit(
        &mut self,
        number: u32,
        group: usize,
        flow: &mut Flow,
        departed: Option<&Flow>,
    ) {
        if let Some(end) = self.end {
            self.arrived.admit((number, group), (end, self.interval), flow, departed);
        }
    }
}

/// What a caller sees of a run at the end of a step.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Seen {
    /// The end of the step.
    pub time: Time,
    /// The links, in the order of the network.
    pub links: Vec<SeenLink>,
    /// The permanent flows, in the order of the network.
    pub flows: Vec<SeenFlow>,
    /// The dynamic flows under the stepped control that were in progress in the step, by group in the order
    /// of their arrival.
    pub arrived: Vec<SeenArrived>,
}

/// A dynamic flow at the end of a step.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct SeenArrived {
    /// Its group: an index into [`Network::groups`].
    pub group: usize,
    /// The number of flows of the group that have arrived before.
    pub ordinal: u64,
    /// Its state.
    pub flow: SeenFlow,
}

/// A link at the end of a step. Counts, fractions and means are those of the step.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct SeenLink {
    /// Packets that wait, without the packet in transmission.
    pub queue_packets: u64,
    /// Bytes of these packets.
    pub queue_bytes: u64,
    /// The fraction of the capacity that was used.
    pub utilization: f64,
    /// The rate of the packets whose last bit left, in bit/s.
    pub throughput_bps: f64,
    /// Packets that reached the buffer.
    pub arrivals_packets: u64,
    /// Packets that were dropped.
    pub drops_packets: u64,
    /// Packets that were marked.
    pub marks_packets: u64,
    /// The mean wait of the packets whose transmission began, in seconds; `None` without any.
    pub queue_delay_s_mean: Option<f64>,
    /// The rate of transmissions that begin, in bit/s.
    pub rate_bps: u64,
}

/// A flow at the end of a step. Counts, rates and means are those of the step.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct SeenFlow {
    /// The window, in packets; 0 without congestion control.
    pub cwnd_packets: f64,
    /// The smoothed RTT in seconds; `None` before the first sample.
    pub srtt_s: Option<f64>,
    /// The mean of the RTT samples in seconds, without congestion control of the one-way delays;
    /// `None` without samples.
    pub rtt_s_mean: Option<f64>,
    /// Packets sent, retransmissions included.
    pub sent_packets: u64,
    /// Packets newly acknowledged, in sequence or selectively; without congestion control, received.
    pub delivered_packets: u64,
    /// Packets that a queue dropped or a wire lost.
    pub lost_packets: u64,
    /// Packets sent again.
    pub retransmissions: u64,
    /// The rate of the packets sent, in bit/s.
    pub send_rate_bps: f64,
    /// The rate of new data that were acknowledged in sequence, without headers, in bit/s.
    pub goodput_bps: f64,
}

/// What a caller changes between two steps.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum Action {
    /// Transmissions that begin at a link, by its index, run at this rate from now on.
    Rate {
        /// Index into [`Network::links`].
        link: usize,
        /// The rate.
        rate: Rate,
    },
    /// The discipline of a link follows other parameters of the same kind. Its
    /// [fixed keys](QueueConfig::fixed_keys) stay as they are.
    Queue {
        /// Index into [`Network::links`].
        link: usize,
        /// The discipline.
        queue: QueueConfig,
    },
    /// A flow under the stepped control holds these values from now on; a value that is left out stays.
    Flow {
        /// Index into [`Network::flows`].
        flow: usize,
        /// The values.
        hold: SteppedParams,
    },
    /// The same, of a dynamic flow that was seen at the end of the last step. Nothing changes if the ACK of
    /// its last byte is on the way or has arrived.
    ArrivedFlow {
        /// Index into [`Network::groups`].
        group: usize,
        /// Its [`SeenArrived::ordinal`].
        ordinal: u64,
        /// The values.
        hold: SteppedParams,
    },
}

impl Simulation {
    /// When the present step began, or the last one ended; zero without steps.
    pub fn step_time(&self) -> Time {
        self.steps.as_ref().map_or(Time::ZERO, |steps| steps.now)
    }

    /// Runs up to the end of the step, but for at most `most_events` events at a time. Returns what a
    /// caller sees there; `None` if more events remain, after the last step, and in a network without
    /// [`step_interval`](Network::step_interval).
    ///
    /// # Errors
    /// Those of [`Simulation::run_until`].
    pub fn step_some(&mut self, most_events: u64) -> Result<Option<Seen>, RunError> {
        let checkpoints = self.link_checkpoints.checkpoints;
        let Some(steps) = &mut self.steps else { return Ok(None) };
        let end = if let Some(end) = steps.end {
            end
        } else {
            let end = checkpoints.step_end_after(steps.now);
            if end == Time::NEVER {
                return Ok(None);
            }
            steps.end = Some(end);
            self.begin_step(end);
            end
        };
        if !self.take_some(end, most_events)? {
            return Ok(None);
        }
        let seen = self.see(end);
        self.check_flows()?;
        Ok(Some(seen))
    }

    /// Lets the flows take in what they have kept for a step that ends at `end`.
    fn begin_step(&mut self, end: Time) {
        self.custom.unchecked = true;
        let Simulation { flows, pending, network, steps, .. } = self;
        let arrived = steps.iter().flat_map(|steps| steps.arrived.numbers());
        for number in (0..network.flows.len() as u32).chain(arrived) {
            let flow = &mut flows[number as usize];
            let (endpoints, mut injector) = flow.endpoints_and_injector(number, pending);
            if let Endpoints::Tcp(connection) = endpoints
                && connection.sender.held().is_some()
                && !connection.sender.is_complete()
            {
                // No flow becomes complete here: none keeps the ACK of its last byte.
                connection.begin_step(end, &mut injector);
                flow.arm(number, &mut pending.agenda);
            }
        }
    }

    /// Ends the steps: the run goes on to its end.
    pub(super) fn end_steps(&mut self) {
        if self.steps.is_none() {
            return;
        }
        self.begin_step(Time::NEVER);
        self.steps = None;
        for flow in &mut self.flows {
            match &mut flow.endpoints {
                Endpoints::Tcp(connection) => connection.sender.probe.end_steps(),
                Endpoints::Unresponsive(source) => {
                    source.sent.end_steps();
                    source.received.end_steps();
                }
            }
        }
    }

    fn see(&mut self, end: Time) -> Seen {
        let Some(mut steps) = self.steps.take() else {
            return Seen { time: end, links: Vec::new(), flows: Vec::new(), arrived: Vec::new() };
        };
        let span = (steps.now, end);
        let flows = steps.flows.iter_mut().enumerate();
        let flows = flows.map(|(flow, before)| self.see_flow(flow as u32, before, span)).collect();
        let arrived = steps.arrived.see(&mut self.flows, |(group, ordinal), flow, before| {
            let Endpoints::Tcp(connection) = &mut flow.endpoints else { return None };
            let (step, is_complete) = record(connection, end);
            let flow = seen((step, flow.account.lost), before, span);
            Some((SeenArrived { group, ordinal, flow }, is_complete))
        });
        let links = steps.links.iter_mut().zip(&mut self.switch.links);
        let links = links.map(|(before, link)| {
            let now = link.look(end);
            let last = std::mem::replace(before, now);
            let (begun, waits) = (now.begun - last.begun, now.waits - last.waits);
            SeenLink {
                queue_packets: now.queue_packets,
                queue_bytes: now.queue_bytes,
                utilization: link.used_fraction(
                    span.0,
                    end,
                    now.idle_capacity - last.idle_capacity,
                ),
                throughput_bps: per_second(8 * (now.sent_bytes - last.sent_bytes), span),
                arrivals_packets: now.arrivals - last.arrivals,
                drops_packets: now.drops - last.drops,
                marks_packets: now.marks - last.marks,
                queue_delay_s_mean: (begun > 0).then(|| 1e-12 * waits as f64 / begun as f64),
                rate_bps: link.rate(end).bits_per_second(),
            }
        });
        let links = links.collect();
        (steps.now, steps.end) = (end, None);
        self.steps = Some(steps);
        Seen { time: end, links, flows, arrived }
    }

    fn see_flow(
        &mut self,
        number: u32,
        before: &mut (FlowStep, u64),
        span: (Time, Time),
    ) -> SeenFlow {
        let Simulation { flows, pending, fast_paths, .. } = self;
        let flow = &mut flows[number as usize];
        fast_paths.leave(number, flow);
        let (endpoints, mut injector) = flow.endpoints_and_injector(number, pending);
        let (step, received) = match endpoints {
            Endpoints::Tcp(connection) => {
                // A timer before the end of the step may send packets that reach a link only later.
                connection.run_out(span.1, &mut injector);
                connection.sender.record_until(span.1);
                (connection.sender.probe.take_step(), None)
            }
            Endpoints::Unresponsive(source) => {
                while source.sent.next_step() <= span.1 && source.emit(&mut injector) {
                    if injector.is_overfull() {
                        break; // the next step says so
                    }
                }
                source.record_until(span.1);
                (source.sent.take_step(), source.received.take_step())
            }
        };
        // A flow that is complete now says so in the event of its timer, as without steps.
        flow.arm(number, &mut pending.agenda);
        fast_paths.enter(number, flow, span.1);
        let mut step = step.unwrap_or_default();
        if let Some(received) = received {
            step.state = received.state;
            step.state.acknowledged = received.state.delivered;
            step.counters.rtt_sum = received.counters.rtt_sum;
            step.counters.rtt_count = received.counters.rtt_count;
        }
        seen((step, flow.account.lost), before, span)
    }

    /// The parameters of the discipline of a link that hold now; `None` in a run without steps, and if
    /// there is no such link.
    pub fn queue_config(&self, link: usize) -> Option<&QueueConfig> {
        self.steps.as_ref()?.disciplines.get(link).map(|(_, config)| config)
    }

    /// Whether [`act`](Self::act) can change the rate of a link; not if there is no such link.
    pub fn can_change_rate(&self, link: usize) -> bool {
        self.switch.links.get(link).is_some_and(Link::can_change_rate)
    }

    /// Changes a link or a flow between two steps.
    ///
    /// # Errors
    /// The place, the problem and the remedy, if the run has no step to come, the link or the flow
    /// cannot be acted on, or a value is out of range. Nothing has changed then.
    pub fn act(&mut self, action: Action) -> Result<(), BadParameter> {
        self.custom.unchecked = true;
        let now = self.step_time();
        let is_between = self.steps.as_ref().is_some_and(|steps| steps.end.is_none());
        if !is_between || now >= self.network.duration {
            let problem = format!("at {now} no step is to come");
            return Err(BadParameter::new("run", problem, "act before the last step, between two"));
        }
        match action {
            Action::Rate { link, rate } => self.set_rate(link, now, rate),
            Action::Queue { link, queue } => self.retune(link, queue),
            Action::Flow { flow, hold } => {
                let Some(spec) = self.network.flows.get(flow) else {
                    let remedy = format!("write less than {}", self.network.flows.len());
                    let problem = format!("there is no flow {flow}");
                    return Err(BadParameter::new("flows", problem, remedy));
                };
                self.hold(flow, spec.group, now, hold)
            }
            Action::ArrivedFlow { group, ordinal, hold } => {
                let number = self.number_of_arrived(group, ordinal)?;
                number.map_or(Ok(()), |number| self.hold(number as usize, group, now, hold))
            }
        }
    }

    /// The number of a dynamic flow; `None` if it has nothing left to decide.
    fn number_of_arrived(&self, group: usize, ordinal: u64) -> Result<Option<u32>, BadParameter> {
        let steps = self.steps.as_ref();
        let arrived = steps.and_then(|steps| steps.arrived.get((group, ordinal)));
        arrived.map(Arrived::number).ok_or_else(|| {
            let name = self.network.groups.get(group).map_or("?", |group| group.name.as_str());
            let problem =
                "no such flow under the stepped control was seen at the end of the last step";
            let remedy = "act on a flow that was seen there";
            BadParameter::new(format!("flows.{name}.{ordinal}"), problem, remedy)
        })
    }

    fn set_rate(&mut self, link: usize, now: Time, rate: Rate) -> Result<(), BadParameter> {
        let place = self.place_of(link)?;
        if !self.can_change_rate(link) {
            let problem = "the departure of each packet is known when it arrives";
            let remedy = "open the simulation with the link among those that are acted on";
            return Err(BadParameter::new(place, problem, remedy));
        }
        let refused = |bad: BadParameter| bad.below(&place);
        check_rate("rate", rate).map_err(refused)?;
        if !self.network.links[link].rate_changes.is_empty() {
            let problem = "the scenario changes the rate of the link";
            return Err(refused(BadParameter::new("rate", problem, "remove its changes")));
        }
        self.switch.set_rate(link, now, rate);
        for (number, flow) in self.flows.iter_mut().enumerate() {
            if let Endpoints::Tcp(connection) = &mut flow.endpoints
                && self.dynamic.sends_at_rate_of(link, number as u32)
            {
                connection.sender.set_line_rate(now, rate);
            }
        }
        Ok(())
    }

    fn retune(&mut self, link: usize, queue: QueueConfig) -> Result<(), BadParameter> {
        let place = format!("{}.queue", self.place_of(link)?);
        let Some(steps) = &mut self.steps else { return Ok(()) };
        let (info, config) = &mut steps.disciplines[link];
        queue.parameters().check(info).map_err(|bad| bad.below(&place))?;
        if !self.switch.links[link].retune(&queue, info) {
            let problem = format!("{} cannot become {}", config.name(), queue.name());
            let remedy = "act on the parameters of a built-in discipline, not on its kind";
            return Err(BadParameter::new(place, problem, remedy));
        }
        *config = queue;
        Ok(())
    }

    fn place_of(&self, link: usize) -> Result<String, BadParameter> {
        let Some(spec) = self.network.links.get(link) else {
            let remedy =
                format!("write less than {}, the number of links", self.switch.links.len());
            return Err(BadParameter::new("links", format!("there is no link {link}"), remedy));
        };
        Ok(format!("links.{}", spec.name))
    }

    fn hold(
        &mut self,
        number: usize,
        group: usize,
        now: Time,
        set: SteppedParams,
    ) -> Result<(), BadParameter> {
        let group = &self.network.groups[group];
        let place = format!("flows.{}.congestion", group.name);
        let Simulation { flows, pending, dynamic, .. } = self;
        let flow = &mut flows[number];
        let (endpoints, mut injector) = flow.endpoints_and_injector(number as u32, pending);
        let before = match endpoints {
            Endpoints::Tcp(connection) => connection.sender.held().copied(),
            Endpoints::Unresponsive(_) => None,
        };
        let (Some(before), Endpoints::Tcp(connection)) = (before, endpoints) else {
            let control = group.tcp.as_ref().map_or("no control", |tcp| tcp.congestion.name());
            let problem = format!("the flow is under {control}, which decides by itself");
            return Err(BadParameter::new(place, problem, "write congestion = \"stepped\""));
        };
        let params = SteppedParams {
            window: set.window.or(before.window),
            pacing_rate: set.pacing_rate.or(before.pacing_rate),
        };
        params.check().map_err(|bad| bad.below(&place))?;
        if connection.sender.is_complete() {
            return Ok(());
        }
        connection.hold(now, params, &mut injector);
        if flow.arm(number as u32, &mut pending.agenda) {
            dynamic.release_if_done(number as u32, flows);
        }
        Ok(())
    }
}

/// What a flow shows of a step: its counts at the end and the packets lost by then, and those `before`.
fn seen(
    (mut step, lost_packets): (FlowStep, u64),
    before: &mut (FlowStep, u64),
    span: (Time, Time),
) -> SeenFlow {
    // A sender may forget at a timeout what was acknowledged selectively.
    step.state.acknowledged = step.state.acknowledged.max(before.0.state.acknowledged);
    let (last, lost_before) = std::mem::replace(before, (step, lost_packets));
    let counts = step.counters.since(&last.counters);
    let rtt_s = 1e-12 * counts.rtt_sum as f64 / counts.rtt_count as f64;
    let delivered_bytes = step.state.delivered_bytes - last.state.delivered_bytes;
    let srtt = step.state.srtt;
    SeenFlow {
        cwnd_packets: step.state.cwnd_packets,
        srtt_s: (srtt > Time::ZERO).then(|| srtt.seconds()),
        rtt_s_mean: (counts.rtt_count > 0).then_some(rtt_s),
        sent_packets: counts.sent,
        delivered_packets: step.state.acknowledged - last.state.acknowledged,
        lost_packets: lost_packets - lost_before,
        retransmissions: counts.retransmissions,
        send_rate_bps: per_second(8 * counts.sent_bytes, span),
        goodput_bps: per_second(8 * delivered_bytes, span),
    }
}

/// The rate of `amount` between two times.
fn per_second(amount: u64, (from, to): (Time, Time)) -> f64 {
    amount as f64 / to.since(from).seconds()
}
