//! The dynamic flows of a run in steps that a caller may act on: those under the stepped control.
//!
//! A flow is seen up to the end of the step in which the ACK of its last byte arrives. The engine knows that
//! ACK beforehand, and may then give the number of the flow to another one. A copy of the flow, which has
//! nothing left to do, stands for it until the ACK arrives.

use std::collections::BTreeMap;

use super::flow::Flow;
use crate::flow::Endpoints;
use crate::probe::flow::FlowStep;
use crate::tcp::Connection;
use crate::units::Time;

/// The group of a flow, and the number of such flows of the group that arrived before it.
pub(super) type Name = (usize, u64);

/// The flows that were seen at the end of the last step, and those that have arrived since.
#[derive(Clone, Debug, Default)]
pub(super) struct ArrivedFlows {
    flows: BTreeMap<Name, Arrived>,
    /// By number, the flow that had it last.
    names: BTreeMap<u32, Name>,
    /// By group, the flows that have arrived.
    arrivals: BTreeMap<usize, u64>,
}

/// A flow that was seen, or is to be seen at the end of the present step.
#[derive(Clone, Debug)]
pub(super) struct Arrived {
    place: Place,
    /// Its counts at the end of the last step, and the packets lost by then.
    before: (FlowStep, u64),
}

#[derive(Clone, Debug)]
enum Place {
    /// The flow has this number.
    Number(u32),
    /// Its number belongs to another flow.
    Departed(Box<Flow>),
    /// The ACK of its last byte has arrived.
    Complete,
}

impl ArrivedFlows {
    /// Takes in a flow that arrives in a step that ends at `end`, if it is under the stepped control.
    /// `departed` had its number before.
    pub(super) fn admit(
        &mut self,
        (number, group): (u32, usize),
        (end, interval): (Time, Time),
        flow: &mut Flow,
        departed: Option<&Flow>,
    ) {
        let Endpoints::Tcp(connection) = &mut flow.endpoints else { return };
        if connection.sender.held().is_none() {
            return;
        }
        connection.sender.begin_step(end);
        connection.sender.probe.begin_steps(end, interval);
        let arrivals = self.arrivals.entry(group).or_default();
        let name = (group, *arrivals);
        *arrivals += 1;
        let before = self.names.insert(number, name).and_then(|name| self.flows.get_mut(&name));
        if let (Some(Arrived { place, .. }), Some(departed)) = (before, departed)
            && matches!(place, Place::Number(_))
        {
            *place = Place::Departed(Box::new(departed.clone()));
        }
        let before = (FlowStep::default(), 0);
        self.flows.insert(name, Arrived { place: Place::Number(number), before });
    }

    /// A flow by its name.
    pub(super) fn get(&self, name: Name) -> Option<&Arrived> {
        self.flows.get(&name)
    }

    /// Numbers of the flows that have something left to do.
    pub(super) fn numbers(&self) -> impl Iterator<Item = u32> {
        self.flows.values().filter_map(Arrived::number)
    }

    /// Looks at each flow at the end of a step. `look` returns what it sees, and whether the flow is complete:
    /// then this was the last look.
    pub(super) fn see<S>(
        &mut self,
        flows: &mut [Flow],
        mut look: impl FnMut(Name, &mut Flow, &mut (FlowStep, u64)) -> Option<(S, bool)>,
    ) -> Vec<S> {
        self.flows.retain(|_, flow| !matches!(flow.place, Place::Complete));
        let mut seen = Vec::with_capacity(self.flows.len());
        for (&name, Arrived { place, before }) in &mut self.flows {
            let flow = match place {
                Place::Number(number) => &mut flows[*number as usize],
                Place::Departed(flow) => flow,
                Place::Complete => continue,
            };
            let Some((look, is_complete)) = look(name, flow, before) else { continue };
            seen.push(look);
            if is_complete {
                *place = Place::Complete;
            }
        }
        seen
    }
}

impl Arrived {
    /// The number of the flow; `None` if it has nothing left to do.
    pub(super) fn number(&self) -> Option<u32> {
        if let Place::Number(number) = self.place { Some(number) } else { None }
    }
}

/// What a connection records at `end`, the end of a step, and whether it is complete by then.
pub(super) fn record(connection: &mut Connection, end: Time) -> (FlowStep, bool) {
    let recorded = |connection: &mut Connection| {
        connection.sender.record_until(end);
        let step = connection.sender.probe.take_step().unwrap_or_default();
        (step, connection.sender.completed_at().is_some_and(|at| at < end))
    };
    if connection.sender.probe.next_step() <= end && connection.is_due_before(end) {
        let mut ahead = connection.at_step_end(end);
        connection.sender.probe.skip_step();
        return recorded(&mut ahead);
    }
    recorded(connection)
}
