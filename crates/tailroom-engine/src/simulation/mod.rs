//! A run: takes the arrivals at shared links in order of time, and carries out what follows from
//! each.
//!
//! `at_links` has what follows for a packet at a link, `dynamic_flows` the arrival and departure
//! of flows, `checkpoints` the times at which links record their state.

mod agenda;
mod arrived_flows;
mod at_links;
mod checkpoints;
mod conservation;
mod dynamic_flows;
pub mod error;
mod far_ends;
mod fast_paths;
mod flow;
mod limits;
mod out_of_order;
mod pending;
mod plain_events;
mod queue_delays;
mod records;
mod sizing;
pub mod stepping;
mod timestamps;
mod waits;

use crate::custom::CustomFault;
use crate::flow::Endpoints;
use crate::network::error::NetworkError;
use crate::network::{GroupSpec, Network};
use crate::observe::link::LinkEvent;
use crate::packet::ties::TieOrder;
use crate::packet::transit::{Stage, Transit};
use crate::probe::delays::Delays;
use crate::probe::flow::FlowAccount;
use crate::probe::group::GroupProbe;
use crate::results::{self, Results, SharedLinks, TimeSeries};
use crate::switch::Switch;
use crate::units::Time;
#[cfg(debug_assertions)]
use crate::work;
use agenda::Agenda;
use at_links::Decided;
use checkpoints::LinkCheckpoints;
use dynamic_flows::DynamicFlows;
use error::RunError;
use far_ends::FarEnds;
use fast_paths::FastPaths;
use flow::Flow;
use limits::EVENTS_BETWEEN_MEMORY_CHECKS;
use pending::Pending;
use stepping::Steps;

/// A run in progress.
#[derive(Debug)]
pub struct Simulation {
    network: Network,
    pending: Pending,
    switch: Switch,
    link_checkpoints: LinkCheckpoints,
    /// The permanent flows, and behind them the dynamic flows.
    flows: Vec<Flow>,
    fast_paths: FastPaths,
    dynamic: DynamicFlows,
    /// By group.
    groups: Vec<GroupProbe>,
    events: u64,
    /// The run pauses when it has handled this many events.
    pause_at: u64,
    is_measuring: bool,
    /// Whether somebody observes which packet it is, at a link or at the ends of flows. No flow is then on its
    /// fast path: the receiver's state tells the whole sequence number of a packet.
    observes: bool,
    /// Whether that is so, or a link reorders.
    observes_or_reorders: bool,
    custom: CustomCode,
    /// Of a run in steps.
    steps: Option<Box<Steps>>,
    /// Why the run cannot go on, if there is a reason.
    fault: Option<RunError>,
    #[cfg(debug_assertions)]
    most_steps: u64,
}

/// Whether the run has code of the caller's, which may fail; that of the registries does not.
#[derive(Clone, Copy, Debug)]
struct CustomCode {
    /// Controls, or sources.
    flows: bool,
    disciplines: bool,
    /// Whether flows have acted outside an event since all of them were checked.
    unchecked: bool,
}

impl Simulation {
    /// A run of `network`, at time 0.
    ///
    /// # Errors
    /// Those of [`Network::validate`].
    pub fn new(network: &Network) -> Result<Self, NetworkError> {
        network.validate()?;
        let checkpoints = network.checkpoints();
        let flows = (0..network.flows.len()).map(|index| {
            let group = network.flows[index].group;
            let endpoints = Endpoints::new(network, index, checkpoints);
            Flow::new(network, endpoints, &network.groups[group], network.flows[index].route)
        });
        let facts = network.link_facts();
        let logs_ends = network.groups.iter().any(GroupSpec::logs_ends);
        let observes = logs_ends || network.links.iter().any(|link| link.arrival_log.is_some());
        let far_ends = FarEnds::new(&network.links);
        let switch = Switch::new(network, &facts, logs_ends);
        let mut simulation = Simulation {
            pending: Pending::new(sizing::agenda(network).with_memory(network.memory_limit_bytes)),
            dynamic: DynamicFlows::new(network, &switch.links),
            link_checkpoints: LinkCheckpoints::new(checkpoints, switch.behind_at()),
            switch,
            flows: flows.collect(),
            fast_paths: FastPaths::new(network.flows.len()),
            groups: vec![GroupProbe::new(network.measured()); network.groups.len()],
            events: 0,
            pause_at: 0,
            is_measuring: false,
            observes,
            observes_or_reorders: observes || far_ends.is_some(),
            custom: CustomCode {
                flows: network.has_custom_controls() || network.has_custom_sources(),
                disciplines: network.links.iter().any(|link| link.queue.custom().is_some()),
                unchecked: true,
            },
            steps: network.step_interval.map(|every| Box::new(Steps::new(network, every, facts))),
            fault: None,
            network: network.clone(),
            #[cfg(debug_assertions)]
            most_steps: 0,
        };
        #[cfg(debug_assertions)]
        work::take_steps();
        simulation.pending.far_ends = far_ends;
        if observes {
            simulation.fast_paths.turn_off();
            simulation.pending.timestamps = Some(Box::default());
        }
        simulation.pending.ends = records::of_ends(network);
        simulation.start_flows();
        Ok(simulation)
    }

    /// A run in the same state, which goes on with the same random draws; neither changes the other.
    /// `None` if the run has controls, disciplines or sources of the caller's: only the caller could
    /// copy them.
    pub fn copy(&self) -> Option<Self> {
        if self.custom.flows || self.custom.disciplines {
            return None;
        }
        Some(Simulation {
            network: self.network.clone(),
            pending: self.pending.clone(),
            switch: self.switch.clone(),
            link_checkpoints: self.link_checkpoints.clone(),
            flows: self.flows.clone(),
            fast_paths: self.fast_paths.clone(),
            dynamic: self.dynamic.clone(),
            groups: self.groups.clone(),
            events: self.events,
            pause_at: self.pause_at,
            is_measuring: self.is_measuring,
            observes: self.observes,
            observes_or_reorders: self.observes_or_reorders,
            custom: self.custom,
            steps: self.steps.clone(),
            fault: self.fault.clone(),
            #[cfg(debug_assertions)]
            most_steps: self.most_steps,
        })
    }

    /// What has been done since the last call was done at once.
    #[inline]
    fn note_steps(&mut self) {
        #[cfg(debug_assertions)]
        {
            self.most_steps = self.most_steps.max(work::take_steps());
        }
    }

    /// The most steps over time or records that one event has taken so far.
    #[cfg(debug_assertions)]
    #[doc(hidden)]
    pub fn most_steps_per_event(&self) -> u64 {
        self.most_steps.max(work::steps())
    }

    fn start_flows(&mut self) {
        let Simulation { flows, pending, .. } = self;
        for (index, flow) in flows.iter_mut().enumerate() {
            let (endpoints, mut injector) = flow.endpoints_and_injector(index as u32, pending);
            endpoints.emit_next(&mut injector);
            flow.arm(index as u32, &mut pending.agenda);
        }
    }

    /// The number of packets offered to links so far, summed over the links.
    pub fn packet_hops(&self) -> u64 {
        self.switch.links.iter().map(|link| link.probe.account().0).sum()
    }

    /// Runs until `time` or the end of the run, whichever is earlier; handles every event before
    /// it.
    ///
    /// # Errors
    /// [`RunError::Memory`] as soon as pending packets or flows need more memory than the network
    /// allows; [`RunError::PacketLog`] and [`RunError::Flows`] if there are too many arrivals to record
    /// or flows in progress; [`RunError::Control`] and [`RunError::Discipline`] as soon as
    /// a congestion control or a queue discipline fails. A run that has failed fails again.
    pub fn run_until(&mut self, time: Time) -> Result<(), RunError> {
        while !self.run_some(time, u64::MAX)? {}
        Ok(())
    }

    /// Runs as [`Simulation::run_until`] does, but returns after at most `most_events` events, while
    /// a flow fills a window of millions of packets, and while links record hours without an event, so that
    /// the caller can check for an interrupt: an hour of simulated time may hold one event or billions. Returns whether the run has reached `time`.
    /// A run in [steps](Simulation::step_some) goes on without them.
    ///
    /// # Errors
    /// Those of [`Simulation::run_until`].
    pub fn run_some(&mut self, time: Time, most_events: u64) -> Result<bool, RunError> {
        self.end_steps();
        self.take_some(time, most_events)
    }

    fn take_some(&mut self, time: Time, most_events: u64) -> Result<bool, RunError> {
        self.note_steps();
        self.pause_at = self.events.saturating_add(most_events.max(1));
        let done = match &self.fault {
            None => self.take_events(time.min(self.network.duration)),
            Some(fault) => Err(fault.clone()),
        };
        if let Err(fault) = &done {
            self.fault = Some(fault.clone());
        }
        done
    }

    /// The time up to which all events are handled, at least.
    pub fn now(&self) -> Time {
        self.pending.agenda.now()
    }

    /// Returns whether every event before `until` is handled.
    fn take_events(&mut self, until: Time) -> Result<bool, RunError> {
        if std::mem::take(&mut self.custom.unchecked) {
            self.check_flows()?;
        }
        self.check_flow_sources()?;
        self.check_disciplines(self.now())?;
        while self.events < self.pause_at {
            if let Some(flow) = self.run_plain_events(until.min(self.dynamic.next_arrival())) {
                self.check_event(flow)?;
            }
            // At equal times a departure frees its place before an arrival takes one.
            let service = self.switch.next_service();
            let other = service.min(self.dynamic.next_arrival());
            let checkpoint = self.link_checkpoints.next;
            let before = until.min(other).min(checkpoint);
            let decided = if let Some(event) = self.pending.agenda.pop_before(before) {
                self.begin_event(event.time())?;
                match event.stage() {
                    Stage::Arrival(position) => {
                        let decided = self.arrive(event, position);
                        if self.custom.disciplines {
                            let link = self.switch.routes.hop(event.flow(), position).link;
                            self.check_discipline(link as usize, event.time())?;
                        }
                        let Some(decided) = decided else { continue };
                        decided
                    }
                    Stage::Wake => {
                        self.on_wake(event);
                        self.check_event(event.flow())?;
                        continue;
                    }
                }
            } else if self.pending.agenda.is_overfull() {
                return Err(self.memory_error(self.pending.agenda.now()));
            } else if checkpoint <= until.min(other) {
                let end = until.min(other);
                let next = self.pending.agenda.next_before(end).unwrap_or(end);
                if !self.record_links_until(next) {
                    return Ok(false);
                }
                continue;
            } else if other >= until {
                return if until < self.network.duration {
                    Ok(true)
                } else {
                    self.run_sources_out()
                };
            } else if other < service {
                self.begin_event(other)?;
                self.begin_flow()?;
                if self.custom.flows || self.dynamic.stands_still() {
                    self.check_flow_sources()?;
                }
                continue;
            } else {
                self.begin_event(service)?;
                let link = self.switch.next_link();
                let decided = self.serve();
                if self.custom.disciplines
                    && let Some(link) = link
                {
                    self.check_discipline(link, service)?;
                }
                let Some(decided) = decided else { continue };
                decided
            };
            let Decided { packet, outcome, exit, clocks_source } = decided;
            let [time, size, place] = packet.words();
            self.follow_by_words(time, size, place, outcome, exit, clocks_source);
            self.check_event(packet.flow())?;
        }
        Ok(false)
    }

    /// Fails in the event in which code of the caller's fails or memory is used up, so that a run fails at the
    /// same event each time.
    #[inline]
    fn check_event(&self, flow: u32) -> Result<(), RunError> {
        if self.pending.agenda.is_overfull() {
            return Err(self.memory_error(self.pending.agenda.now()));
        }
        self.check_flow(flow as usize)
    }

    #[inline]
    fn check_flow(&self, flow: usize) -> Result<(), RunError> {
        if self.custom.flows { self.flow_result(flow) } else { Ok(()) }
    }

    fn check_flows(&self) -> Result<(), RunError> {
        (0..self.flows.len()).try_for_each(|flow| self.check_flow(flow))
    }

    #[cold]
    fn check_flow_sources(&self) -> Result<(), RunError> {
        let Some((group, fault)) = self.dynamic.source_fault() else { return Ok(()) };
        Err(source_error(&self.network.groups[group], &fault))
    }

    #[inline(never)]
    fn flow_result(&self, flow: usize) -> Result<(), RunError> {
        // A source may fail when a flow is complete.
        self.check_flow_sources()?;
        let connection = match &self.flows[flow].endpoints {
            Endpoints::Tcp(connection) => connection,
            Endpoints::Unresponsive(unresponsive) => {
                let fault = unresponsive.source.fault();
                return fault.map_or(Ok(()), |fault| Err(source_error(self.group_of(flow), fault)));
            }
        };
        let Some(fault) = connection.sender.control_fault() else { return Ok(()) };
        let group = self.group_of(flow);
        let control = group.tcp.as_ref().map_or("", |tcp| tcp.congestion.name());
        Err(RunError::Control {
            group: group.name.clone(),
            control: control.to_owned(),
            flow: self.name_of(flow),
            fault: fault.clone(),
        })
    }

    fn check_disciplines(&mut self, now: Time) -> Result<(), RunError> {
        (0..self.switch.links.len()).try_for_each(|link| self.check_discipline(link, now))
    }

    #[inline(never)]
    fn check_discipline(&mut self, link: usize, now: Time) -> Result<(), RunError> {
        let Some(fault) = self.switch.links[link].fault(now) else { return Ok(()) };
        let spec = &self.network.links[link];
        Err(RunError::Discipline {
            link: spec.name.clone(),
            discipline: spec.queue.name().to_owned(),
            fault: fault.clone(),
        })
    }

    /// Does what is due before an event at `time`, which is before the next checkpoint: checks of
    /// memory and of balances.
    #[inline]
    fn begin_event(&mut self, time: Time) -> Result<(), RunError> {
        self.events += 1;
        if self.events.is_multiple_of(EVENTS_BETWEEN_MEMORY_CHECKS) {
            self.check_records()?;
            self.check_balances()?;
            if self.events.is_multiple_of(self.events_between_memory_checks()) {
                self.check_memory(time)?;
            }
        }
        debug_assert!(time < self.link_checkpoints.next, "links have recorded what came before");
        self.note_steps();
        Ok(())
    }

    fn check_records(&self) -> Result<(), RunError> {
        let mut links = self.switch.links.iter().zip(&self.network.links);
        let at_link = links.find_map(|(link, spec)| {
            let (_, limit) = link.probe.record()?.overfull()?;
            Some((format!("links.{}.arrival_log", spec.name), limit))
        });
        let at_ends = || {
            let (group, limit) = self.pending.ends.as_ref()?.record.overfull()?;
            Some((format!("flows.{}.endpoint_log", self.network.groups[group].name), limit))
        };
        match at_link.or_else(at_ends) {
            Some((key, limit)) => Err(RunError::PacketLog { key, limit }),
            None => Ok(()),
        }
    }

    fn on_wake(&mut self, event: Transit) {
        let flow = &mut self.flows[event.flow() as usize];
        if event.time() != flow.wake_at {
            return; // an earlier wake-up has taken its place
        }
        flow.wake_at = Time::NEVER;
        self.fast_paths.leave(event.flow(), flow);
        let (endpoints, mut injector) =
            flow.endpoints_and_injector(event.flow(), &mut self.pending);
        let is_asked_again = match endpoints {
            Endpoints::Tcp(connection) => {
                connection.wake(event.time(), &mut injector);
                false
            }
            Endpoints::Unresponsive(source) => {
                if source.asks_at <= event.time() {
                    source.emit(&mut injector);
                }
                source.asks_at < Time::NEVER
            }
        };
        let is_quiet = flow.arm(event.flow(), &mut self.pending.agenda);
        // A window that takes long to fill, or a packet that takes long to find.
        if flow.wake_at <= event.time() || is_asked_again {
            self.pause_at = self.events;
        }
        if is_quiet {
            self.dynamic.release_if_done(event.flow(), &mut self.flows);
        } else {
            self.fast_paths.enter(event.flow(), flow, event.time());
        }
    }

    /// As [`Simulation::finish`]; also returns the queueing delays of the packets at each link.
    ///
    /// # Errors
    /// Those of [`Simulation::finish`].
    pub fn finish_with_delays(mut self) -> Result<(Results, Vec<Delays>), RunError> {
        let end = self.network.duration;
        self.run_until(end)?;
        self.reach_far_ends();
        self.leave_fast_paths();
        self.run_timers_out(end);
        self.check_flows()?;
        if self.pending.agenda.is_overfull() {
            return Err(self.memory_error(end));
        }
        self.check_records()?;
        let blocked = self.switch.end_measuring(end);
        for flow in &mut self.flows {
            match &mut flow.endpoints {
                Endpoints::Tcp(connection) => connection.sender.record_until(end),
                Endpoints::Unresponsive(source) => source.record_until(end),
            }
        }
        self.dynamic.pass(end, &mut self.switch.links);
        self.dynamic.end_measuring(&self.flows);
        self.check_conservation()?;
        self.record_sent_on_the_way();
        self.check_records()?;
        let mut ends = self.pending.ends.take();
        if let Some(ends) = &mut ends {
            ends.record.sort();
        }
        self.free_events();
        let endpoints = self.permanent_endpoints();
        let accounts: Vec<FlowAccount> = self.permanent().map(|flow| flow.account).collect();
        let dynamic = self.dynamic.results();
        let Simulation { network, switch, groups, events, .. } = &self;
        let waiting = switch.waiting_in_switches();
        let shared = SharedLinks {
            links: &switch.links,
            pools: switch.pools(),
            waiting: &waiting,
            blocked: &blocked,
            lossless_drops: switch.lossless_drops(),
            ends: ends.as_deref().map(|ends| &ends.record),
        };
        let results =
            results::collect(network, shared, &endpoints, &accounts, groups, dynamic, *events);
        // The results ask for gauges, in which a discipline may fail.
        self.check_disciplines(end)?;
        let delays = self.switch.links.iter_mut().map(|link| std::mem::take(&mut link.probe.waits));
        Ok((results, delays.collect()))
    }

    /// Frees what the results do not need, so that with them the run takes little more memory than
    /// before.
    fn free_events(&mut self) {
        let ties = TieOrder::new(self.network.ties, self.network.seed);
        self.pending = Pending::new(Agenda::new(ties, 0.0, Time::ZERO, Time::ZERO));
        self.fast_paths = FastPaths::new(0);
    }

    /// The time series recorded so far; `None` if the network has none. A flow records a sample with
    /// its first event after the sample's time, so a flow that waits is behind.
    pub fn series_so_far(&self) -> Option<TimeSeries> {
        let endpoints = self.permanent_endpoints();
        results::series_so_far(&self.network, &self.switch.links, self.switch.pools(), &endpoints)
    }

    /// Takes what the packet log of a link holds so far, in no particular order, and empties it. A
    /// departure is in it once it is known, which may be before its time.
    pub fn take_packet_log(&mut self, link: usize) -> Vec<LinkEvent> {
        let observer = self.switch.links[link].probe.observer.as_mut();
        observer.map(|observer| std::mem::take(&mut observer.log)).unwrap_or_default()
    }

    /// The number of the group of a flow of the packet log.
    pub fn group_number(&self, flow: u32) -> usize {
        self.switch.routes.group_of(flow)
    }

    fn permanent(&self) -> impl Iterator<Item = &Flow> {
        self.flows.iter().take(self.network.flows.len())
    }

    fn permanent_endpoints(&self) -> Vec<&Endpoints> {
        self.permanent().map(|flow| &flow.endpoints).collect()
    }

    fn leave_fast_paths(&mut self) {
        for (number, flow) in self.flows.iter_mut().enumerate() {
            self.fast_paths.leave(number as u32, flow);
        }
    }

    /// Fires the timers that are due before `end` although their packets reach no link by then. No event does
    /// so, and the counts of the flows would stop before the end of the window.
    fn run_timers_out(&mut self, end: Time) {
        let Simulation { flows, pending, .. } = self;
        for (index, flow) in flows.iter_mut().enumerate() {
            let (endpoints, mut injector) = flow.endpoints_and_injector(index as u32, pending);
            if let Endpoints::Tcp(connection) = endpoints {
                connection.run_out(end, &mut injector);
            }
        }
    }

    /// The same for packets of flows without control, of which there may be billions: false if some are left
    /// when there were as many as the caller allows events.
    #[cold]
    fn run_sources_out(&mut self) -> Result<bool, RunError> {
        let end = self.network.duration;
        let mut left = self.pause_at.saturating_sub(self.events);
        let mut index = 0;
        while index < self.flows.len() && left > 0 {
            let (endpoints, mut injector) =
                self.flows[index].endpoints_and_injector(index as u32, &mut self.pending);
            let has_sent = match endpoints {
                Endpoints::Unresponsive(source) => source.run_out(&mut injector),
                Endpoints::Tcp(_) => false,
            };
            self.note_steps();
            if self.pending.agenda.is_overfull() {
                return Err(self.memory_error(end));
            }
            if has_sent && left.is_multiple_of(EVENTS_BETWEEN_MEMORY_CHECKS) {
                self.check_memory(end)?;
            }
            left -= u64::from(has_sent);
            index += usize::from(!has_sent);
        }
        Ok(left > 0)
    }
}

/// The error of a source of the caller's.
fn source_error(group: &GroupSpec, fault: &CustomFault) -> RunError {
    let source = group.source.custom().unwrap_or_else(|| group.source.name());
    RunError::Source { group: group.name.clone(), source: source.to_owned(), fault: fault.clone() }
}
