//! Flows that come and go, in a run: each becomes a connection when it arrives, and is forgotten when
//! all it sent has been accounted for.

use super::error::RunError;
use super::limits::FLOWS_BETWEEN_MEMORY_CHECKS;
use super::{Flow, Simulation};
use crate::dynamic_flows::Populations;
use crate::dynamic_flows::bottlenecked::{INTERVAL, Sharing};
use crate::flow::Ends;
use crate::link::Link;
use crate::network::{GroupSpec, MAX_FLOWS, Network};
use crate::probe::flow::{FlowAccount, FlowCounters, FlowProbe, FlowState, Marks};
use crate::probe::population::Departure;
use crate::results::DynamicFlowRecords;
use crate::tcp::Connection;
use crate::tcp::sender::Sender;
use crate::traffic::SourceSpec;
use crate::units::{Rate, Time};

/// Who comes and goes, and who shares the links.
#[derive(Debug)]
pub(super) struct PassingFlows {
    populations: Populations,
    /// By link.
    sharing: Vec<Sharing>,
    /// Up to when `sharing` has been told what the links had to spare, and what had left them.
    passed: Time,
    departed_bytes: Vec<u64>,
    /// By group, its forward path.
    paths: Vec<Vec<usize>>,
    /// Of the permanent flows, their group and peak rate.
    permanent: Vec<(usize, Option<Rate>)>,
}

impl PassingFlows {
    pub(super) fn new(network: &Network, links: &[Link]) -> Self {
        PassingFlows {
            populations: Populations::new(network),
            sharing: sharing(network, links),
            passed: Time::ZERO,
            departed_bytes: vec![0; links.len()],
            paths: network.groups.iter().map(|group| group.path.clone()).collect(),
            permanent: (network.flows.iter()).map(|flow| (flow.group, flow.access_rate)).collect(),
        }
    }

    /// When the next flow arrives; [`Time::NEVER`] if none does.
    #[inline]
    pub(super) fn next_arrival(&self) -> Time {
        self.populations.next_arrival()
    }

    /// A flow has nothing in flight, or has lost a packet: if it has sent everything, it is not in
    /// progress any more; if nothing of it is on the way, its number is free.
    #[cold]
    pub(super) fn let_go(&mut self, number: u32, flows: &mut [Flow]) {
        let flow = &mut flows[number as usize];
        let (completed_at, sent) = match &flow.ends {
            Ends::Tcp(Connection { sender, .. }) => {
                (sender.completed_at(), sender.probe.counters.sent)
            }
            Ends::Unresponsive(media) => {
                (media.has_stopped.then_some(media.stop), media.sent.counters.sent)
            }
        };
        let Some(completed_at) = completed_at else { return };
        let visitor = self.populations.visitor(number);
        if flow.is_in_progress {
            flow.is_in_progress = false;
            self.end(number, completed_at);
            self.populations.complete(number, completed_at);
        }
        let Some(visitor) = visitor else { return };
        if flow.is_accounted_for(sent) {
            let probe = self.populations.probe(visitor.population);
            probe.on_departure(&visitor.visit, &departure_of(&flow.ends, &flow.account));
            // A wake-up that is still pending is for nobody.
            flow.wake_at = Time::NEVER;
            self.populations.release(number);
        }
    }

    fn end(&mut self, number: u32, completed_at: Time) {
        let (group, peak_rate) = self.populations.visitor(number).map_or_else(
            || self.permanent[number as usize],
            |visitor| (self.populations.group(visitor.population), visitor.peak_rate),
        );
        for &link in &self.paths[group] {
            self.sharing[link].end(completed_at, peak_rate);
        }
    }

    /// When the shares of the links are to be looked at next.
    pub(super) fn next_mark(&self) -> Time {
        self.passed.saturating_add(INTERVAL)
    }

    /// Looks at who shared the links since the last time.
    pub(super) fn pass(&mut self, now: Time, links: &mut [Link]) {
        let departed = links.iter_mut().zip(&mut self.departed_bytes);
        for ((link, before), sharing) in departed.zip(&mut self.sharing) {
            sharing.pass(now, spare(link, self.passed, now, before));
        }
        self.passed = now;
    }

    pub(super) fn begin_measuring(&mut self) {
        self.sharing.iter_mut().for_each(Sharing::restart);
    }

    /// Closes the statistics of the flows at the end of the run; they have passed their last mark.
    pub(super) fn end_measuring(&mut self, flows: &[Flow]) {
        for number in self.populations.present() {
            let Some(visitor) = self.populations.visitor(number) else { continue };
            let flow = &flows[number as usize];
            let departure = departure_of(&flow.ends, &flow.account);
            self.populations.probe(visitor.population).on_departure(&visitor.visit, &departure);
        }
    }

    pub(super) fn results(&self) -> DynamicFlowRecords<'_> {
        DynamicFlowRecords { populations: &self.populations, sharing: &self.sharing }
    }
}

/// What a link had to spare in `[from, to)`, in bit/s; `departed_bytes` are those up to `from`, and then
/// those up to `to`.
pub fn spare(link: &mut Link, from: Time, to: Time, departed_bytes: &mut u64) -> f64 {
    let departed = link.departed_bytes(to);
    let sent_bits = 8.0 * (departed - std::mem::replace(departed_bytes, departed)) as f64;
    let span = to.since(from).seconds();
    if span > 0.0 { (link.capacity_bits(from, to) - sent_bits) / span } else { 0.0 }
}

fn departure_of(ends: &Ends, account: &FlowAccount) -> Departure {
    match ends {
        Ends::Tcp(connection) => departure(&connection.sender, account),
        Ends::Unresponsive(media) => {
            let received = media.received.window(&media.delivered);
            media_departure(media.stop, &media.sent, received, account)
        }
    }
}

/// What is known of a media flow that ends at `end`, or at the end of the run.
pub fn media_departure(
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

/// What is known of a connection that ends, or at the end of the run.
pub fn departure(sender: &Sender, account: &FlowAccount) -> Departure {
    Departure {
        completed_at: sender.completed_at(),
        window: sender.window(),
        lost: account.lost_measured,
        marked: account.marked_measured,
    }
}

/// How every link is shared before the first flow arrives; permanent flows are known already.
pub fn sharing(network: &Network, links: &[Link]) -> Vec<Sharing> {
    let mut capacities: Vec<f64> = links
        .iter()
        .map(|link| link.capacity_bits(Time::ZERO, network.duration) / network.duration.seconds())
        .collect();
    for (index, group) in network.groups.iter().enumerate() {
        let rate = group.source.offered_rate_bps().unwrap_or(0.0);
        let flows = network.members(index).len() as f64;
        group.path.iter().for_each(|&link| capacities[link] -= flows * rate);
    }
    let mut sharing: Vec<Sharing> = capacities.into_iter().map(Sharing::new).collect();
    for flow in &network.flows {
        let group = &network.groups[flow.group];
        // A flow with a last byte says itself when that is acknowledged.
        let SourceSpec::Bulk { bytes } = group.source else { continue };
        let stop = group.stop.filter(|_| bytes.is_none());
        for &link in &group.path {
            sharing[link].begin(flow.start, flow.access_rate);
            if let Some(stop) = stop {
                sharing[link].end(stop, flow.access_rate);
            }
        }
    }
    sharing
}

impl Simulation {
    /// See [`Populations::keep_numbers`].
    pub fn keep_numbers(&mut self) {
        self.passing.populations.keep_numbers();
    }

    /// Flows that there is room for: the permanent ones, and the most that were in progress at once.
    pub fn flow_places(&self) -> usize {
        self.flows.len()
    }

    /// The group of a flow, permanent or passing.
    pub(super) fn group_of(&self, number: usize) -> &GroupSpec {
        let group = self.passing.populations.group_of(number as u32);
        &self.network.groups[group.unwrap_or_else(|| self.network.flows[number].group)]
    }

    /// What messages call a flow; those that come and go have the name of their group.
    pub(super) fn name_of(&self, number: usize) -> String {
        let is_permanent = number < self.network.flows.len();
        if is_permanent {
            self.network.flow_name(number)
        } else {
            self.group_of(number).name.clone()
        }
    }

    /// A flow arrives and gets a number.
    #[cold]
    pub(super) fn begin_flow(&mut self) -> Result<(), RunError> {
        let Simulation { network, passing, flows, circuits, schedule, admissions, stores, .. } =
            self;
        let time = passing.next_arrival();
        let path = passing.populations.next_group().map(|group| &network.groups[group].path);
        if path.is_some_and(|path| admissions.refuse_flow(path, time)) {
            passing.populations.refuse(network);
            return Ok(());
        }
        let Some((number, index, plan)) = passing.populations.admit(network) else {
            return Ok(());
        };
        if number as usize >= MAX_FLOWS {
            return Err(RunError::Flows { time, limit: MAX_FLOWS });
        }
        let group = &network.groups[index];
        let peak_rate = passing.populations.visitor(number).and_then(|visitor| visitor.peak_rate);
        for &link in &group.path {
            passing.sharing[link].begin(plan.start, peak_rate);
            if let Some(media) = plan.media {
                passing.sharing[link].end(media.end, peak_rate);
            }
        }
        // Such flows have no series of their own.
        let marks = Marks {
            series_interval: Time::NEVER,
            progress_interval: Time::NEVER,
            reductions_kept: 0,
            ..self.link_marks.marks
        };
        let ends = Ends::of_plan(network, group, &plan, marks);
        let mut flow = Flow::new(ends, group);
        let (ends, mut door) = flow.ends_and_door(number, schedule, stores);
        ends.emit_next(&mut door);
        flow.arm(number, schedule);
        circuits.assign(number, index);
        match flows.get_mut(number as usize) {
            Some(place) => *place = flow,
            None => flows.push(flow),
        }
        let is_due = (number as usize + 1).is_multiple_of(FLOWS_BETWEEN_MEMORY_CHECKS);
        if is_due || self.schedule.is_overfull() { self.check_memory(time) } else { Ok(()) }
    }
}
