//! Dynamic flows in a run. A flow becomes a connection when it arrives, and is released when all
//! its packets are accounted for.

use super::Simulation;
use super::error::RunError;
use super::flow::Flow;
use super::limits::FLOWS_BETWEEN_MEMORY_CHECKS;
use crate::custom::CustomFault;
use crate::dynamic_flows::bottlenecked::{BottleneckedFlows, INTERVAL};
use crate::dynamic_flows::{Admitted, FlowGenerators};
use crate::fabric::{Fabric, Route, path_of};
use crate::flow::Endpoints;
use crate::link::Link;
use crate::network::{FlowSpec, GroupSpec, MAX_FLOWS, Network};
use crate::probe::dynamic_flows::Departure;
use crate::probe::flow::{Checkpoints, FlowAccount, FlowCounters, FlowProbe, FlowState};
use crate::results::DynamicFlowRecords;
use crate::tcp::Connection;
use crate::tcp::sender::Sender;
use crate::units::{Rate, Time};

/// The dynamic flows of a run, and the flows that its links bottleneck.
#[derive(Clone, Debug)]
pub(super) struct DynamicFlows {
    generators: FlowGenerators,
    /// By link, and what unresponsive flows take of each, in bit/s.
    sharing: Vec<BottleneckedFlows>,
    unresponsive_bps: Vec<f64>,
    /// Whether a flow may be in progress at a link.
    counts: bool,
    /// The time up to which `sharing` has counted, and the bytes that had left each link by then.
    passed: Time,
    departed_bytes: Vec<u64>,
    /// The forward path of each group, and the fabric of its hosts.
    paths: Vec<(Vec<usize>, Option<Fabric>)>,
    /// The permanent flows.
    permanent: Vec<FlowSpec>,
}

impl DynamicFlows {
    pub(super) fn new(network: &Network, links: &[Link]) -> Self {
        let paths = network.groups.iter().map(|group| {
            let fabric = group.hosts.as_ref().map(|hosts| hosts.fabric);
            (group.path.clone(), fabric)
        });
        let (sharing, unresponsive_bps) = sharing(network, links);
        DynamicFlows {
            generators: FlowGenerators::new(network),
            sharing,
            unresponsive_bps,
            counts: network
                .groups
                .iter()
                .any(|group| group.source.bulk().is_some() || group.source.flows().is_some()),
            passed: Time::ZERO,
            departed_bytes: vec![0; links.len()],
            paths: paths.collect(),
            permanent: network.flows.clone(),
        }
    }

    /// Memory in addition to the state of the flows themselves, in bytes.
    pub(super) fn memory_bytes(&self) -> u64 {
        let pending_bytes: u64 = self.sharing.iter().map(BottleneckedFlows::memory_bytes).sum();
        pending_bytes + self.generators.memory_bytes()
    }

    /// The group of which most dynamic flows are in the network or planned, and how many these are.
    pub(super) fn most_in_progress(&self) -> (usize, usize) {
        let mut flows = vec![0; self.paths.len()];
        self.generators.planned().for_each(|(group, planned)| flows[group] += planned);
        for number in self.generators.present() {
            self.generators.group_of(number).into_iter().for_each(|group| flows[group] += 1);
        }
        flows.into_iter().enumerate().max_by_key(|(_, flows)| *flows).unwrap_or((0, 0))
    }

    /// See [`FlowGenerators::source_fault`].
    pub(super) fn source_fault(&self) -> Option<(usize, CustomFault)> {
        self.generators.source_fault()
    }

    /// Whether a source lets no time pass.
    pub(super) fn stands_still(&self) -> bool {
        self.generators.stands_still
    }

    /// Time of the next arrival; [`Time::NEVER`] if there is none.
    #[inline]
    pub(super) fn next_arrival(&self) -> Time {
        self.generators.next_arrival()
    }

    /// When a dynamic flow began; 0 for a permanent flow.
    pub(super) fn start_of(&self, number: u32) -> Time {
        self.generators.active_flow(number).map_or(Time::ZERO, |flow| flow.flow_start.start)
    }

    /// Looks at a flow that has nothing in flight, or has lost a packet. A flow that has sent
    /// everything is no longer in progress; if none of its packets is in the network, its number is
    /// free.
    #[cold]
    pub(super) fn release_if_done(&mut self, number: u32, flows: &mut [Flow]) {
        let flow = &mut flows[number as usize];
        let (completed_at, srtt, sent) = match &flow.endpoints {
            Endpoints::Tcp(Connection { sender, .. }) => {
                (sender.completed_at(), sender.srtt(), sender.probe.counters.sent)
            }
            Endpoints::Unresponsive(media) => {
                let stopped = media.has_stopped.then_some(media.stop);
                (stopped, Time::ZERO, media.sent.counters.sent)
            }
        };
        let Some(completed_at) = completed_at else { return };
        let active_flow = self.generators.active_flow(number);
        if flow.is_in_progress {
            flow.is_in_progress = false;
            self.end(number, completed_at);
            self.generators.complete(number, completed_at, srtt);
        }
        let Some(active_flow) = active_flow else { return };
        if flow.is_accounted_for(sent) {
            let probe = self.generators.probe(active_flow.generator);
            probe.on_departure(
                &active_flow.flow_start,
                &departure_of(&flow.endpoints, &flow.account),
            );
            // A wake-up that is still pending wakes nothing.
            flow.wake_at = Time::NEVER;
            self.generators.release(number);
        }
    }

    fn end(&mut self, number: u32, completed_at: Time) {
        let (group, peak_rate, route) = self.found(number);
        let (path, fabric) = &self.paths[group];
        for &link in &*path_of(fabric.as_ref(), path, route) {
            self.sharing[link].end(completed_at, peak_rate);
        }
    }

    /// The group of a flow, the rate that it cannot exceed, and its route between hosts.
    fn found(&self, number: u32) -> (usize, Option<Rate>, Option<Route>) {
        if let Some(flow) = self.generators.active_flow(number) {
            (self.generators.group(flow.generator), flow.peak_rate, flow.route)
        } else {
            let flow = self.permanent[number as usize];
            (flow.group, flow.access_rate, flow.route)
        }
    }

    /// Whether a flow's host sends at the rate of `link`: the first on the path of a flow without an access link.
    pub(super) fn sends_at_rate_of(&self, link: usize, number: u32) -> bool {
        let (group, peak_rate, route) = self.found(number);
        let (path, fabric) = &self.paths[group];
        peak_rate.is_none() && path_of(fabric.as_ref(), path, route).first() == Some(&link)
    }

    /// When the shares of the links are to be looked at next; [`Time::NEVER`] without flows to count.
    pub(super) fn next_checkpoint(&self) -> Time {
        if self.counts { self.passed.saturating_add(INTERVAL) } else { Time::NEVER }
    }

    /// Counts the flows in progress and the bottlenecked flows of each link up to `now`.
    pub(super) fn pass(&mut self, now: Time, links: &mut [Link]) {
        self.pass_intervals((self.passed, now), now, links);
    }

    /// The same for intervals that are all like the `first`.
    fn pass_intervals(&mut self, first: (Time, Time), now: Time, links: &mut [Link]) {
        for (index, link) in links.iter_mut().enumerate() {
            let sharing = &mut self.sharing[index];
            if link.varies() && first.0 < first.1 {
                let carried = link.mean_rate(first.0, first.1);
                sharing.set_capacity(carried - self.unresponsive_bps[index]);
            }
            sharing.pass(now, spare(link, first, now, &mut self.departed_bytes[index]));
        }
        self.passed = now;
    }

    /// Counts at once all intervals that end before `until` and are alike at every link; no event comes
    /// before.
    pub(super) fn pass_silence(&mut self, until: Time, links: &mut [Link]) {
        let least = self.next_checkpoint().saturating_add(INTERVAL);
        if until <= least {
            return;
        }
        let mut still_until = until;
        for (link, sharing) in links.iter_mut().zip(&self.sharing) {
            still_until = still_until.min(sharing.next_change());
            // What a link has to spare matters only to flows in progress.
            if sharing.in_progress() > 0 {
                still_until = still_until.min(link.is_still_until(self.passed));
            }
            if still_until <= least {
                return;
            }
        }
        let interval = INTERVAL.picoseconds();
        let intervals = (still_until.since(self.passed).picoseconds() - 1) / interval;
        let first = (self.passed, self.passed + INTERVAL);
        let end = self.passed + Time::from_picoseconds(intervals * interval);
        self.pass_intervals(first, end, links);
    }

    pub(super) fn begin_measuring(&mut self) {
        self.sharing.iter_mut().for_each(BottleneckedFlows::restart);
    }

    /// Closes the statistics of the flows at the end of the run; they have passed their last
    /// checkpoint.
    pub(super) fn end_measuring(&mut self, flows: &[Flow]) {
        self.generators.end_coflows();
        for number in self.generators.present() {
            let Some(active_flow) = self.generators.active_flow(number) else { continue };
            let flow = &flows[number as usize];
            let departure = departure_of(&flow.endpoints, &flow.account);
            self.generators
                .probe(active_flow.generator)
                .on_departure(&active_flow.flow_start, &departure);
        }
    }

    pub(super) fn results(&self) -> DynamicFlowRecords<'_> {
        DynamicFlowRecords { generators: &self.generators, sharing: &self.sharing }
    }
}

/// The spare rate of a link in `[from, to)`, in bit/s; nothing has left from `to` until `now`.
/// `departed_bytes` is the count up to `from`, and becomes the count up to `now`.
fn spare(link: &mut Link, (from, to): (Time, Time), now: Time, departed_bytes: &mut u64) -> f64 {
    let departed = link.departed_bytes(now);
    let sent_bits = 8.0 * (departed - std::mem::replace(departed_bytes, departed)) as f64;
    let span = to.since(from).seconds();
    if span > 0.0 { link.mean_rate(from, to) - sent_bits / span } else { 0.0 }
}

fn departure_of(endpoints: &Endpoints, account: &FlowAccount) -> Departure {
    match endpoints {
        Endpoints::Tcp(connection) => departure(&connection.sender, account),
        Endpoints::Unresponsive(media) => {
            let received = media.received.window(&media.delivered);
            media_departure(media.stop, &media.sent, received, account)
        }
    }
}

/// The departure of a media flow that ends at `end`.
fn media_departure(
    end: Time,
    sent: &FlowProbe,
    received: FlowCounters,
    account: &FlowAccount,
) -> Departure {
    Departure {
        completed_at: Some(end),
        window: FlowCounters {
            delivered: received.delivered,
            delivered_bytes: received.delivered_bytes,
            rtt_sum: received.rtt_sum,
            rtt_count: received.rtt_count,
            ..sent.window(&FlowState::default())
        },
        lost: account.lost_measured,
        marked: account.marked_measured,
    }
}

/// The departure of a connection, or its state at the end of the run.
fn departure(sender: &Sender, account: &FlowAccount) -> Departure {
    Departure {
        completed_at: sender.completed_at(),
        window: sender.window(),
        lost: account.lost_measured,
        marked: account.marked_measured,
    }
}

/// The flows of every link before the first arrival, the permanent flows; and what unresponsive flows take of
/// each, in bit/s.
fn sharing(network: &Network, links: &[Link]) -> (Vec<BottleneckedFlows>, Vec<f64>) {
    let mut capacities: Vec<f64> =
        links.iter().map(|link| link.mean_rate(Time::ZERO, network.duration)).collect();
    let mut flows = vec![0.0; capacities.len()];
    let mut unresponsive = flows.clone();
    for (index, group) in network.groups.iter().enumerate() {
        let Some(rate) = group.source.offered_rate_bps() else { continue };
        for flow in network.members(index) {
            let path = group.path_of(network.flows[flow as usize].route);
            path.iter().for_each(|&link| flows[link] += 1.0);
        }
        // The path holds the links of every route.
        for &link in &group.path {
            let taken = std::mem::take(&mut flows[link]) * rate;
            capacities[link] -= taken;
            unresponsive[link] += taken;
        }
    }
    let mut sharing: Vec<BottleneckedFlows> =
        capacities.into_iter().map(BottleneckedFlows::new).collect();
    for flow in &network.flows {
        let group = &network.groups[flow.group];
        // A flow with a last byte says itself when that is acknowledged.
        let Some(bulk) = group.source.bulk() else { continue };
        let stop = group.stop.filter(|_| bulk.bytes.is_none());
        // In a network built by hand, a flow may begin after its group has stopped: it never does.
        if stop.is_some_and(|stop| stop <= flow.start) {
            continue;
        }
        for &link in &*group.path_of(flow.route) {
            sharing[link].begin(flow.start, flow.access_rate);
            if let Some(stop) = stop {
                sharing[link].end(stop, flow.access_rate);
            }
        }
    }
    (sharing, unresponsive)
}

impl Simulation {
    /// See [`FlowGenerators::keep_numbers`].
    pub fn keep_numbers(&mut self) {
        self.dynamic.generators.keep_numbers();
    }

    /// Flows that there is room for: the permanent ones, and the most that were in progress at
    /// once.
    pub fn flow_places(&self) -> usize {
        self.flows.len()
    }

    /// The group of a flow, permanent or dynamic.
    pub(super) fn group_of(&self, number: usize) -> &GroupSpec {
        let group = self.dynamic.generators.group_of(number as u32);
        &self.network.groups[group.unwrap_or_else(|| self.network.flows[number].group)]
    }

    /// The name of a flow in messages; a dynamic flow has the name of its group.
    pub(super) fn name_of(&self, number: usize) -> String {
        let is_permanent = number < self.network.flows.len();
        if is_permanent {
            self.network.flow_name(number)
        } else {
            self.group_of(number).name.clone()
        }
    }

    /// Begins or refuses the flow that arrives next.
    #[cold]
    pub(super) fn begin_flow(&mut self) -> Result<(), RunError> {
        let Simulation { network, dynamic, flows, switch, pending, fast_paths, .. } = self;
        let time = dynamic.next_arrival();
        let (links, refuses) = switch.links_and_admission(time);
        let Some(admitted) = dynamic.generators.admit(network, links, refuses) else {
            // The flow is refused, or the source has planned others.
            let is_overfull = dynamic.memory_bytes() > network.memory_limit_bytes;
            return if is_overfull { Err(self.memory_error(time)) } else { Ok(()) };
        };
        let Admitted { number, group: index, request: plan, wait } = admitted;
        if number as usize >= MAX_FLOWS {
            return Err(RunError::Flows { time, limit: MAX_FLOWS });
        }
        let group = &network.groups[index];
        let peak_rate =
            dynamic.generators.active_flow(number).and_then(|active_flow| active_flow.peak_rate);
        for &link in &*group.path_of(plan.route) {
            dynamic.sharing[link].begin(plan.start, peak_rate);
            if let Some(media) = plan.media {
                dynamic.sharing[link].end(media.end, peak_rate);
            }
        }
        // Such flows have no series of their own.
        let checkpoints = Checkpoints {
            series_interval: Time::NEVER,
            step_interval: Time::NEVER,
            progress_interval: Time::NEVER,
            reductions_kept: 0,
            ..self.link_checkpoints.checkpoints
        };
        let first = &switch.links[group.path_of(plan.route)[0]];
        let host_rate = plan.access_rate.unwrap_or_else(|| first.sending_rate(plan.start));
        let endpoints = Endpoints::of_request(network, group, &plan, wait, host_rate, checkpoints);
        if let Some(clocks) = &mut pending.timestamps {
            clocks.begin(number);
            if let Some(ends) = &mut pending.ends {
                ends.begin(number, index, plan.start);
            }
        }
        let mut flow = Flow::new(network, endpoints, group, plan.route);
        if let Some(steps) = &mut self.steps {
            steps.admit(number, index, &mut flow, flows.get(number as usize));
        }
        let (endpoints, mut injector) = flow.endpoints_and_injector(number, pending);
        endpoints.emit_next(&mut injector);
        flow.arm(number, &mut pending.agenda);
        switch.routes.assign(number, index, group, plan.route);
        fast_paths.add(number);
        match flows.get_mut(number as usize) {
            Some(place) => *place = flow,
            None => flows.push(flow),
        }
        let is_due = (number as usize + 1).is_multiple_of(FLOWS_BETWEEN_MEMORY_CHECKS);
        if is_due || self.pending.agenda.is_overfull() { self.check_memory(time) } else { Ok(()) }
    }
}
