//! Flows that come and go, in a run: each becomes a connection when it arrives, and is forgotten when
//! all it sent has been accounted for.

use super::{Flow, Simulation};
use crate::error::RunError;
use crate::flow::{Connection, Ends};
use crate::link::Link;
use crate::population::{Population, Populations};
use crate::probe::flow::Marks;
use crate::probe::population::Departure;
use crate::probe::sharing::Sharing;
use crate::topology::{MAX_FLOWS, Network, SourceSpec};
use crate::units::{Rate, Time};

/// Who comes and goes, and who shares the links.
#[derive(Debug)]
pub(super) struct PassingFlows {
    populations: Populations,
    /// By link.
    sharing: Vec<Sharing>,
    /// By group, its forward path.
    paths: Vec<Vec<usize>>,
    /// Of the permanent flows, their group and peak rate.
    permanent: Vec<(u32, Option<Rate>)>,
}

/// What is known of passing flows at the end of a run.
#[derive(Debug)]
pub struct PassingResults<'a> {
    /// The groups whose flows come and go.
    pub populations: &'a [Population],
    /// By link.
    pub sharing: &'a [Sharing],
}

impl PassingFlows {
    pub(super) fn new(network: &Network, links: &[Link]) -> Self {
        let mut sharing = sharing(network, links);
        let mut permanent = Vec::with_capacity(network.flows.len());
        for flow in &network.flows {
            let group = &network.groups[flow.group];
            permanent.push((flow.group as u32, group.access_rate));
            if group.tcp.is_some() {
                for &link in &group.path {
                    sharing[link].begin(flow.start, group.access_rate);
                    // A flow with a last byte says itself when that is acknowledged.
                    let is_permanent = group.source == SourceSpec::Bulk { bytes: None };
                    if let Some(stop) = group.stop.filter(|_| is_permanent) {
                        sharing[link].end(stop, group.access_rate);
                    }
                }
            }
        }
        PassingFlows {
            populations: Populations::new(network),
            sharing,
            paths: network.groups.iter().map(|group| group.path.clone()).collect(),
            permanent,
        }
    }

    /// When the next flow arrives; [`Time::NEVER`] if none does.
    #[inline]
    pub(super) fn next_arrival(&self) -> Time {
        self.populations.next_arrival()
    }

    /// No timer of a flow runs, or it has lost a packet: if it has sent everything, it is not in
    /// progress any more; if nothing of it is on the way, its number is free.
    #[cold]
    pub(super) fn let_go(&mut self, number: u32, flows: &mut [Flow]) {
        let flow = &mut flows[number as usize];
        let Ends::Tcp(connection) = &flow.ends else { return };
        let sender = &connection.sender;
        let Some(completed_at) = sender.completed_at() else { return };
        let visitor = self.populations.visitor(number);
        if flow.is_in_progress {
            flow.is_in_progress = false;
            self.end(number, completed_at);
        }
        let Some(visitor) = visitor else { return };
        if flow.is_accounted_for(sender.probe.counters.sent) {
            let probe = self.populations.probe(visitor.population);
            probe.on_departure(&visitor.visit, &departure(flow));
            // A wake-up that is still pending is for nobody.
            flow.wake_at = Time::NEVER;
            self.populations.release(number);
        }
    }

    fn end(&mut self, number: u32, completed_at: Time) {
        let (group, peak_rate) = match self.populations.visitor(number) {
            Some(visitor) => (self.populations.group(visitor.population), visitor.peak_rate),
            None => {
                let (group, peak_rate) = self.permanent[number as usize];
                (group as usize, peak_rate)
            }
        };
        for &link in &self.paths[group] {
            self.sharing[link].end(completed_at, peak_rate);
        }
    }

    pub(super) fn begin_measuring(&mut self, now: Time) {
        self.sharing.iter_mut().for_each(|link| link.restart(now));
    }

    /// Closes the statistics at the end of the run; every flow has passed its last mark.
    pub(super) fn end_measuring(&mut self, now: Time, flows: &[Flow]) {
        self.sharing.iter_mut().for_each(|link| link.finish(now));
        for number in self.populations.present() {
            let Some(visitor) = self.populations.visitor(number) else { continue };
            let departure = departure(&flows[number as usize]);
            self.populations.probe(visitor.population).on_departure(&visitor.visit, &departure);
        }
    }

    pub(super) fn results(&self) -> PassingResults<'_> {
        PassingResults { populations: self.populations.all(), sharing: &self.sharing }
    }
}

fn departure(flow: &Flow) -> Departure {
    let (completed_at, window) = match &flow.ends {
        Ends::Tcp(connection) => (connection.sender.completed_at(), connection.sender.window()),
        Ends::Unresponsive(_) => unreachable!("passing flows are connections"),
    };
    let (lost, marked) = (flow.account.lost_measured, flow.account.marked_measured);
    Departure { completed_at, window, lost, marked }
}

/// How every link is shared, before the first flow.
fn sharing(network: &Network, links: &[Link]) -> Vec<Sharing> {
    let mut capacities: Vec<f64> = links
        .iter()
        .map(|link| {
            link.capacity_bits(Time::ZERO, network.duration) / network.duration.seconds()
        })
        .collect();
    for (index, group) in network.groups.iter().enumerate() {
        let rate = group.source.uncontrolled_rate_bps().unwrap_or(0.0);
        let flows = network.members(index).len() as f64;
        group.path.iter().for_each(|&link| capacities[link] -= flows * rate);
    }
    capacities.into_iter().map(Sharing::new).collect()
}

impl Simulation {
    /// A flow arrives and gets a number.
    #[cold]
    pub(super) fn begin_flow(&mut self) -> Result<(), RunError> {
        let Simulation { network, passing, flows, schedule, .. } = self;
        let time = passing.next_arrival();
        let Some((number, index, plan)) = passing.populations.admit(network) else {
            return Ok(());
        };
        if number as usize >= MAX_FLOWS {
            return Err(RunError::Flows { time, limit: MAX_FLOWS });
        }
        let group = &network.groups[index];
        let Some(tcp) = &group.tcp else { return Ok(()) };
        for &link in &group.path {
            passing.sharing[link].begin(plan.start, plan.access_rate);
            passing.sharing[link].pass(time);
        }
        // Such flows have no series of their own.
        let marks = Marks {
            series_interval: Time::NEVER,
            progress_interval: Time::NEVER,
            reductions_kept: 0,
            ..self.link_marks.marks
        };
        let ends = Ends::Tcp(Connection::new(network, group, tcp, &plan, marks));
        let mut flow = Flow::new(ends, group, self.circuit_starts[index]);
        flow.arm(number, schedule);
        match flows.get_mut(number as usize) {
            Some(place) => *place = flow,
            None => flows.push(flow),
        }
        Ok(())
    }
}
