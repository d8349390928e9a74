//! The run: takes arrivals at shared links in order of time and lets each packet cause what it causes.

mod circuits;
mod conservation;
pub mod error;
mod limits;
pub mod passing_flows;
pub mod schedule;
mod sizing;
mod stores;
mod waits;

use crate::dynamic_flows::admission::FlowAdmissions;
use crate::dynamic_flows::bottlenecked::INTERVAL;
use crate::flow::Ends;
use crate::link::{Fate, Link};
use crate::network::{GroupSpec, Network};
use crate::packet::in_network::{Event, Stage};
use crate::packet::{Ack, Ecn, Packet};
use crate::private_path::Entrance;
use crate::probe::flow::{FlowAccount, Marks};
use crate::probe::group::GroupProbe;
use crate::results;
use crate::results::Results;
use crate::tcp::TcpSpec;
use crate::units::Time;
use circuits::{Circuits, Exit};
use error::RunError;
use limits::EVENTS_BETWEEN_MEMORY_CHECKS;
use passing_flows::PassingFlows;
use schedule::{Schedule, TieBreak};
use stores::Stores;

/// A run in progress.
#[derive(Debug)]
pub struct Simulation {
    network: Network,
    schedule: Schedule,
    links: Vec<Link>,
    admissions: FlowAdmissions,
    services: Services,
    link_marks: LinkMarks,
    /// The permanent flows, and behind them those that come and go.
    flows: Vec<Flow>,
    passing: PassingFlows,
    circuits: Circuits,
    /// What the groups measure.
    groups: Vec<GroupProbe>,
    stores: Stores,
    events: u64,
    is_measuring: bool,
    /// Whether a control may fail: those of the registry do not.
    has_custom_controls: bool,
    /// What the network has too much of, if anything.
    fault: Option<RunError>,
}

/// A flow, and where it stands in the simulation.
#[derive(Debug)]
struct Flow {
    ends: Ends,
    forward_hops: u8,
    ack_bytes: u32,
    /// The wake-up that is pending; [`Time::NEVER`] for none.
    wake_at: Time,
    /// Whether its last byte is not yet acknowledged, as far as is known; of what nothing controls
    /// the end is known beforehand.
    is_in_progress: bool,
    account: FlowAccount,
}

/// A packet at a link, and what becomes of it.
#[derive(Clone, Copy, Debug)]
struct Step {
    packet: Event,
    fate: Fate,
    /// What lies behind the link.
    exit: Exit,
    /// Whether it has just arrived there and lets its source emit the next one.
    clocks_source: bool,
}

/// When the links whose discipline holds the packets send next.
#[derive(Debug)]
struct Services {
    /// By link; [`Time::NEVER`] where nothing waits or nothing is held.
    times: Vec<Time>,
    /// The earliest of them, and whose it is.
    next: Time,
    first: usize,
}

impl Services {
    fn new(links: usize) -> Self {
        Services { times: vec![Time::NEVER; links], next: Time::NEVER, first: 0 }
    }

    fn set(&mut self, link: usize, time: Time) {
        self.times[link] = time;
        if time < self.next {
            (self.next, self.first) = (time, link);
        } else if link == self.first {
            // Few links: a scan costs less than a heap.
            let earliest = self.times.iter().enumerate().min_by_key(|(_, time)| **time);
            (self.first, self.next) = earliest.map_or((0, Time::NEVER), |(at, time)| (at, *time));
        }
    }
}

/// When the links record.
#[derive(Debug)]
struct LinkMarks {
    next: Time,
    next_sample: Time,
    marks: Marks,
}

/// Puts what a flow sends into the schedule.
struct Door<'a> {
    schedule: &'a mut Schedule,
    stores: &'a mut Stores,
    flow: u32,
    forward_hops: u8,
    ack_bytes: u32,
    acks_on_the_way: &'a mut u64,
}

impl Entrance for Door<'_> {
    #[expect(clippy::inline_always, reason = "one caller a packet: the event stays in registers")]
    #[inline(always)]
    fn packet(&mut self, time: Time, packet: &Packet) {
        let mut event = Event::arrival(time, self.flow, 0, packet);
        if event.is_kept() {
            event = self.stores.kept_packets.keep(event, packet.sent, self.schedule);
        }
        self.schedule.push(event);
    }

    fn ack(&mut self, time: Time, ack: Ack<'_>) {
        let slot = self.stores.acks.put(ack);
        *self.acks_on_the_way += 1;
        let event = Event::ack_arrival(time, self.flow, self.forward_hops, self.ack_bytes, slot);
        self.schedule.push(event);
    }
}

impl Flow {
    fn new(ends: Ends, group: &GroupSpec) -> Self {
        let is_in_progress = matches!(ends, Ends::Tcp(_));
        debug_assert_eq!(is_in_progress, group.tcp.is_some(), "a transport controls");
        Flow {
            ends,
            forward_hops: group.path.len() as u8,
            ack_bytes: group.tcp.as_ref().map_or(0, TcpSpec::ack_bytes),
            wake_at: Time::NEVER,
            is_in_progress,
            account: FlowAccount::default(),
        }
    }

    /// The flow's ends, and the door through which they send.
    #[inline]
    fn ends_and_door<'a>(
        &'a mut self,
        flow: u32,
        schedule: &'a mut Schedule,
        stores: &'a mut Stores,
    ) -> (&'a mut Ends, Door<'a>) {
        let Flow { ends, forward_hops, ack_bytes, account, .. } = self;
        let door = Door {
            schedule,
            stores,
            flow,
            forward_hops: *forward_hops,
            ack_bytes: *ack_bytes,
            acks_on_the_way: &mut account.acks_on_the_way,
        };
        (ends, door)
    }

    /// Sees to it that a wake-up is pending when the flow's next timer needs one. A pending one that
    /// comes too early does no harm: it looks again and goes back to sleep. Says whether nothing is
    /// in flight, as after the last byte.
    #[inline]
    fn arm(&mut self, flow: u32, schedule: &mut Schedule) -> bool {
        let connection = match &self.ends {
            Ends::Tcp(connection) => connection,
            Ends::Unresponsive(source) => return source.has_stopped,
        };
        let (wake, is_quiet) = (connection.next_wake(), connection.sender.is_quiet());
        if wake < self.wake_at {
            self.set_wake(wake, flow, schedule);
        }
        is_quiet
    }

    /// Memory that it takes.
    fn memory_bytes(&self) -> u64 {
        size_of::<Flow>() as u64 + self.ends.memory_bytes()
    }

    /// Whether all that it sent has been received or lost, and all ACKs have come back.
    fn is_accounted_for(&self, sent: u64) -> bool {
        let account = &self.account;
        sent == account.received + account.lost && account.acks_on_the_way == 0
    }

    #[cold]
    fn set_wake(&mut self, wake: Time, flow: u32, schedule: &mut Schedule) {
        self.wake_at = wake;
        schedule.push(Event::wake(wake, flow));
    }
}

impl Simulation {
    /// A run of `network`, at time 0.
    pub fn new(network: &Network) -> Self {
        Simulation::with_tie_break(network, TieBreak::Flow)
    }

    /// The same with a rule for events of one instant; every rule but [`TieBreak::Flow`] is wrong and
    /// exists for the tests.
    pub fn with_tie_break(network: &Network, tie_break: TieBreak) -> Self {
        let marks = network.marks();
        let flows = (0..network.flows.len()).map(|index| {
            let group = network.flows[index].group;
            let ends = Ends::new(network, index, marks);
            Flow::new(ends, &network.groups[group])
        });
        let links = network.links.iter().enumerate();
        let links = links.map(|(index, spec)| Link::new(spec, &network.link_facts(index)));
        let links: Vec<Link> = links.collect();
        let mut simulation = Simulation {
            schedule: sizing::schedule(network, tie_break).with_memory(network.memory_limit_bytes),
            passing: PassingFlows::new(network, &links),
            links,
            admissions: FlowAdmissions::new(network),
            services: Services::new(network.links.len()),
            link_marks: LinkMarks {
                next: marks.measure_from.min(marks.series_interval).min(INTERVAL),
                next_sample: marks.series_interval,
                marks,
            },
            flows: flows.collect(),
            circuits: Circuits::new(network),
            groups: vec![GroupProbe::default(); network.groups.len()],
            stores: Stores::default(),
            events: 0,
            is_measuring: false,
            has_custom_controls: network.has_custom_controls(),
            fault: limits::check(network).err(),
            network: network.clone(),
        };
        simulation.start_flows();
        simulation
    }

    fn start_flows(&mut self) {
        let Simulation { flows, schedule, stores, .. } = self;
        for (index, flow) in flows.iter_mut().enumerate() {
            let (ends, mut door) = flow.ends_and_door(index as u32, schedule, stores);
            ends.emit_next(&mut door);
            flow.arm(index as u32, schedule);
        }
    }

    /// Packets that have been offered to a link so far, links added up.
    pub fn packet_hops(&self) -> u64 {
        self.links.iter().map(|link| link.probe.account().0).sum()
    }

    /// Runs until `time` or the end of the run: every event before it is done.
    ///
    /// # Errors
    /// [`RunError::Network`] if the network has more of something than a run can hold;
    /// [`RunError::Memory`] when pending packets need more than the network's limit, as soon as an
    /// event needs more for the packets that it sends; [`RunError::Control`] as soon as a congestion
    /// control fails. A run that has failed fails again.
    pub fn run_until(&mut self, time: Time) -> Result<(), RunError> {
        let done = match &self.fault {
            None => self.take_events(time.min(self.network.duration)),
            Some(fault) => Err(fault.clone()),
        };
        if let Err(fault) = &done {
            self.fault = Some(fault.clone());
        }
        done
    }

    fn take_events(&mut self, until: Time) -> Result<(), RunError> {
        self.check_controls()?;
        loop {
            // At equal times a departure frees its place before an arrival takes one.
            let service = self.services.next;
            let other = service.min(self.passing.next_arrival());
            let step = if let Some(event) = self.schedule.pop_before(until.min(other)) {
                self.begin_event(event.time())?;
                match event.stage() {
                    Stage::Arrival(position) => {
                        let Some(step) = self.arrive(event, position) else { continue };
                        step
                    }
                    Stage::Wake => {
                        self.on_wake(event);
                        self.check_event(event.flow())?;
                        continue;
                    }
                }
            } else if self.schedule.is_overfull() {
                return Err(self.memory_error(self.schedule.now()));
            } else if other >= until {
                return Ok(());
            } else if other < service {
                self.begin_event(other)?;
                self.begin_flow()?;
                continue;
            } else {
                self.begin_event(service)?;
                let Some(step) = self.serve(self.services.first) else { continue };
                step
            };
            self.follow(step);
            self.check_event(step.packet.flow())?;
        }
    }

    /// Ends the run with the event in which a control fails, or memory is used up, so that it ends the
    /// same way each time.
    #[inline]
    fn check_event(&self, flow: u32) -> Result<(), RunError> {
        if self.schedule.is_overfull() {
            return Err(self.memory_error(self.schedule.now()));
        }
        self.check_control(flow as usize)
    }

    #[inline]
    fn check_control(&self, flow: usize) -> Result<(), RunError> {
        if self.has_custom_controls { self.control_result(flow) } else { Ok(()) }
    }

    fn check_controls(&self) -> Result<(), RunError> {
        (0..self.flows.len()).try_for_each(|flow| self.check_control(flow))
    }

    #[inline(never)]
    fn control_result(&self, flow: usize) -> Result<(), RunError> {
        let Ends::Tcp(connection) = &self.flows[flow].ends else { return Ok(()) };
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

    /// What must be done before anything happens at `time`.
    #[inline]
    fn begin_event(&mut self, time: Time) -> Result<(), RunError> {
        self.events += 1;
        if self.events.is_multiple_of(EVENTS_BETWEEN_MEMORY_CHECKS) {
            self.check_arrival_logs()?;
            self.check_memory(time)?;
        }
        if time >= self.link_marks.next {
            self.pass_link_marks(time);
        }
        Ok(())
    }

    fn check_arrival_logs(&self) -> Result<(), RunError> {
        for (link, spec) in self.links.iter().zip(&self.network.links) {
            let is_overfull = link.probe.arrivals.as_ref().is_some_and(|log| log.is_overfull);
            if let Some(log) = spec.arrival_log.filter(|_| is_overfull) {
                let link = spec.name.clone();
                return Err(RunError::ArrivalLog { link, limit: log.most_packets });
            }
        }
        Ok(())
    }

    /// A packet reaches a link; `None` if a scheduler takes it in and nothing follows from that.
    #[inline]
    fn arrive(&mut self, mut packet: Event, position: u8) -> Option<Step> {
        let hop = self.circuits.hop(packet.flow(), position);
        let link = hop.link as usize;
        if !self.links[link].is_scheduled() {
            // The packet will reach its flow's ends at once: this fetches them meanwhile.
            std::hint::black_box(self.flows[packet.flow() as usize].forward_hops);
        }
        self.admissions.on_arrival(link, &packet);
        let fate = self.links[link].arrive(&mut packet, hop.class);
        if hop.adds_wait {
            packet = self.add_wait(packet, fate, hop);
        }
        if fate == Fate::Held {
            self.after_scheduler(link, packet.time());
            if !hop.clocks_source {
                return None;
            }
        }
        Some(Step { packet, fate, exit: hop.exit, clocks_source: hop.clocks_source })
    }

    /// A link's scheduler sends its next packet, if it has not dropped all of them.
    #[inline(never)]
    fn serve(&mut self, link: usize) -> Option<Step> {
        let now = self.services.next;
        let Simulation { links, circuits, .. } = self;
        let served = links[link].serve(|packet| circuits.class_of(packet));
        self.after_scheduler(link, now);
        let (packet, fate) = served?;
        let Stage::Arrival(position) = packet.stage() else { return None };
        let hop = self.circuits.hop(packet.flow(), position);
        let packet = if hop.adds_wait { self.add_wait(packet, fate, hop) } else { packet };
        Some(Step { packet, fate, exit: hop.exit, clocks_source: false })
    }

    /// Notes what a link's scheduler has dropped, and when the link sends next.
    #[inline]
    fn after_scheduler(&mut self, link: usize, now: Time) {
        let next = self.links[link].next_service();
        if next != self.services.times[link] {
            self.services.set(link, next);
        }
        if self.links[link].has_dropped() {
            self.take_dropped(link, now);
        }
    }

    #[inline(never)]
    fn take_dropped(&mut self, link: usize, now: Time) {
        let measure_from = self.link_marks.marks.measure_from;
        let Simulation { flows, links, circuits, stores, passing, .. } = self;
        links[link].drain_dropped(now, |dropped| {
            let packet = dropped.packet;
            lose(flows, stores, packet, measure_from);
            passing.let_go(packet.flow(), flows);
            circuits.class_of(packet)
        });
    }

    /// Lets a packet that a link has sent, or not, cause what it causes.
    #[inline]
    fn follow(&mut self, step: Step) {
        let Step { packet: event, fate, exit, clocks_source } = step;
        let Simulation { flows, schedule, stores, passing, link_marks, circuits, groups, .. } =
            self;
        let measure_from = link_marks.marks.measure_from;
        let index = event.flow();
        match fate {
            // The link stands still for good, or the run is over by then: the packet stays there.
            Fate::Delivered(at) if at >= Time::AFTER_ALL_RUNS => schedule.push(event.never()),
            Fate::Delivered(at) if exit == Exit::Receiver => {
                let (event, sent) = sent_at(event, stores);
                let flow = &mut flows[index as usize];
                flow.account.received += 1;
                if event.ecn() == Ecn::Ce {
                    flow.account.marked_measured += u64::from(sent >= measure_from);
                }
                let (ends, mut door) = flow.ends_and_door(index, schedule, stores);
                match ends {
                    Ends::Tcp(connection) => {
                        let packet = event.packet(connection.receiver.next());
                        connection.deliver(at, Packet { sent, ..packet }, &mut door);
                    }
                    Ends::Unresponsive(source) => {
                        let group = circuits.group_of(index);
                        source.deliver(at, sent, event.bytes(), &mut groups[group]);
                    }
                }
                if flow.arm(index, schedule) {
                    passing.let_go(index, flows);
                }
            }
            Fate::Delivered(at) if exit == Exit::Sender => {
                let flow = &mut flows[index as usize];
                let ack = stores.acks.take(event.slot());
                flow.account.acks_on_the_way -= 1;
                let (ends, mut door) = flow.ends_and_door(index, schedule, stores);
                ends.deliver_ack(at, ack.ack(), &mut door);
                if flow.arm(index, schedule) {
                    passing.let_go(index, flows);
                }
            }
            // All that the event cannot say of a packet is kept by now; the age of an ACK is never read.
            Fate::Delivered(at) => schedule.push(event.at_next_link(at)),
            Fate::Dropped | Fate::Lost => {
                lose(flows, stores, event, measure_from);
                passing.let_go(index, flows);
            }
            Fate::Held => {}
        }
        // A source's next packet is known once this one is out; it cannot arrive earlier.
        if clocks_source {
            let (ends, mut door) = flows[index as usize].ends_and_door(index, schedule, stores);
            if ends.emit_next(&mut door) {
                passing.let_go(index, flows);
            }
        }
    }

    fn on_wake(&mut self, event: Event) {
        let flow = &mut self.flows[event.flow() as usize];
        if event.time() != flow.wake_at {
            return; // an earlier one has taken its place
        }
        flow.wake_at = Time::NEVER;
        let (ends, mut door) =
            flow.ends_and_door(event.flow(), &mut self.schedule, &mut self.stores);
        if let Ends::Tcp(connection) = ends {
            connection.wake(event.time(), &mut door);
        }
        if flow.arm(event.flow(), &mut self.schedule) {
            self.passing.let_go(event.flow(), &mut self.flows);
        }
    }

    /// Lets every link record its state as of the marks up to `now`.
    #[cold]
    fn pass_link_marks(&mut self, now: Time) {
        let marks = self.link_marks.marks;
        while self.link_marks.next <= now {
            let mark = self.link_marks.next;
            let is_edge = !self.is_measuring && mark >= marks.measure_from;
            if is_edge || mark >= self.passing.next_mark() {
                self.passing.pass(mark, &mut self.links);
            }
            if mark == self.link_marks.next_sample {
                self.links.iter_mut().for_each(|link| link.sample(mark));
                self.link_marks.next_sample = mark.saturating_add(marks.series_interval);
            }
            if is_edge {
                self.links.iter_mut().for_each(|link| link.begin_measuring(mark));
                self.passing.begin_measuring();
                self.groups.iter_mut().for_each(|group| group.waits.clear());
                self.is_measuring = true;
            }
            let edge = if self.is_measuring { Time::NEVER } else { marks.measure_from };
            let passing = self.passing.next_mark();
            self.link_marks.next = self.link_marks.next_sample.min(edge).min(passing);
        }
    }

    /// Runs to the end, closes the statistics, and checks that no packet appeared or vanished.
    ///
    /// # Errors
    /// As [`Simulation::run_until`]; [`RunError::Conservation`] when the account of
    /// packets does not balance, which is a bug of the engine.
    pub fn finish(mut self) -> Result<Results, RunError> {
        let end = self.network.duration;
        self.run_until(end)?;
        self.run_flows_out(end);
        self.check_controls()?;
        if self.schedule.is_overfull() {
            return Err(self.memory_error(end));
        }
        self.check_arrival_logs()?;
        self.pass_link_marks(end);
        self.links.iter_mut().for_each(|link| link.end_measuring(end));
        for flow in &mut self.flows {
            match &mut flow.ends {
                Ends::Tcp(connection) => connection.sender.pass_marks(end),
                Ends::Unresponsive(source) => source.pass_marks(end),
            }
        }
        self.passing.pass(end, &mut self.links);
        self.passing.end_measuring(&self.flows);
        self.check_conservation()?;
        let permanent = || self.flows.iter().take(self.network.flows.len());
        let ends: Vec<&Ends> = permanent().map(|flow| &flow.ends).collect();
        let accounts: Vec<FlowAccount> = permanent().map(|flow| flow.account).collect();
        let passing = self.passing.results();
        let Simulation { network, links, groups, events, .. } = &self;
        Ok(results::collect(network, links, &ends, &accounts, groups, passing, *events))
    }

    /// Lets flows do what is due before `end` but sends nothing that reaches a link by then: no
    /// event calls for it, and their counts would stop short of the window.
    fn run_flows_out(&mut self, end: Time) {
        let Simulation { flows, schedule, stores, .. } = self;
        for (index, flow) in flows.iter_mut().enumerate() {
            let (ends, mut door) = flow.ends_and_door(index as u32, schedule, stores);
            match ends {
                Ends::Tcp(connection) => connection.run_out(end, &mut door),
                Ends::Unresponsive(source) => source.run_out(&mut door),
            }
        }
    }
}

/// When a packet was sent that has come to the end of its way, and its event with its sequence number.
#[inline]
fn sent_at(event: Event, stores: &mut Stores) -> (Event, Time) {
    if event.is_kept() { stores.kept_packets.take(event) } else { (event, event.sent()) }
}

/// A packet or an ACK was dropped by a queue or lost on a wire.
fn lose(flows: &mut [Flow], stores: &mut Stores, event: Event, measure_from: Time) {
    let flow = &mut flows[event.flow() as usize];
    if matches!(event.stage(), Stage::Arrival(hop) if hop < flow.forward_hops) {
        let (_, sent) = sent_at(event, stores);
        flow.account.lost += 1;
        flow.account.lost_measured += u64::from(sent >= measure_from);
    } else {
        flow.account.acks_on_the_way -= 1;
        let _ = stores.acks.take(event.slot());
    }
}
