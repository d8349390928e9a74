//! What can go wrong in a run.

use std::error::Error;
use std::fmt;

use crate::custom::CustomFault;
use crate::network::error::NetworkError;
use crate::switch::balances::Imbalance;
use crate::units::Time;

/// A run that cannot be trusted.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum RunError {
    /// Packets (or time) appeared or vanished: a bug of the engine, never of the scenario.
    Conservation {
        /// The flow, link or path whose account does not balance.
        place: String,
        /// What the account should show.
        expected: u64,
        /// What it shows.
        found: u64,
    },
    /// A discipline of the registry returned no packet although some waited: a bug of the engine.
    Stall {
        /// The link.
        link: String,
        /// The discipline.
        discipline: String,
        /// When.
        at: Time,
    },
    /// The network cannot run.
    Network(NetworkError),
    /// Packets pile up without bound, although the estimate before the run was within the limit.
    Memory {
        /// When.
        time: Time,
        /// Memory of the packets and flows in progress; just above the limit if there was no memory
        /// for one more event.
        needed_bytes: u64,
        /// What the scenario allows.
        limit_bytes: u64,
        /// The group whose flows are most of what is in progress, and how many of them are.
        flows: Option<(String, usize)>,
    },
    /// More packets arrive at a link, or leave and reach the ends of a group's flows, in the span of a log
    /// than that may hold.
    PacketLog {
        /// The key of the log.
        key: String,
        /// The most packets that the log may hold.
        limit: u64,
    },
    /// Flows arrive faster than they depart.
    Flows {
        /// When.
        time: Time,
        /// The most flows that a run can tell apart.
        limit: usize,
    },
    /// A control from outside the registry failed, or returned a value that is not allowed.
    Control {
        /// The group of flows that names the control.
        group: String,
        /// The control.
        control: String,
        /// The flow.
        flow: String,
        /// What the control did.
        fault: CustomFault,
    },
    /// A queue discipline from outside the registry failed, or returned a verdict that is not allowed.
    Discipline {
        /// The link.
        link: String,
        /// The discipline.
        discipline: String,
        /// What the discipline did.
        fault: CustomFault,
    },
    /// A source from outside the registry failed, or returned a packet or a flow that is not allowed; or a
    /// source lets no time pass.
    Source {
        /// The group of flows that names the source.
        group: String,
        /// The source.
        source: String,
        /// What the source did.
        fault: CustomFault,
    },
}

impl Error for RunError {}

impl From<Imbalance> for RunError {
    fn from(Imbalance { place, expected, found }: Imbalance) -> Self {
        RunError::Conservation { place, expected, found }
    }
}

impl From<NetworkError> for RunError {
    fn from(error: NetworkError) -> Self {
        RunError::Network(error)
    }
}

impl fmt::Display for RunError {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            RunError::Conservation { place, expected, found } => write!(
                formatter,
                "the account of {place} does not balance: {found} found where {expected} are \
                 expected; this is a bug in tailroom, please report it with the scenario and the seed"
            ),
            RunError::Stall { link, discipline, at } => write!(
                formatter,
                "links.{link}.queue: {discipline} sent no packet at {at} although some waited; this is a \
                 bug in tailroom, please report it with the scenario and the seed"
            ),
            RunError::Network(error) => error.fmt(formatter),
            RunError::Memory { time, needed_bytes, limit_bytes, flows: Some((group, flows)) } => {
                write!(
                    formatter,
                    "at {time} {flows} flows of flows.{group} are in progress or planned, and all flows need at \
                     least {needed_bytes} bytes, more than memory_limit ({limit_bytes} bytes); lower \
                     the load of the group or lengthen the time between its flows, so that they do not \
                     arrive faster than they depart"
                )
            }
            RunError::Memory { time, needed_bytes, limit_bytes, flows: None } => write!(
                formatter,
                "at {time} the packets under way need at least {needed_bytes} bytes, more than \
                 memory_limit ({limit_bytes} bytes); a flow whose access_rate is not above its \
                 bottleneck's rate never sees a loss and lets its window grow: raise access_rate, or \
                 set max_window; a window may be larger than any path needs: lower initial_window, or \
                 the window of the congestion control"
            ),
            RunError::PacketLog { key, limit } => write!(
                formatter,
                "{key}: more than {limit} packets; shorten the span, or raise most_packets"
            ),
            RunError::Flows { time, limit } => write!(
                formatter,
                "at {time} more than {limit} flows are in progress; they arrive faster than the link \
                 can serve them: lower their load, or shorten duration"
            ),
            RunError::Control { group, control, flow, fault } => write!(
                formatter,
                "flows.{group}.congestion: {control}, flow {flow}, at {}: {}",
                fault.time, fault.problem
            ),
            RunError::Discipline { link, discipline, fault } => write!(
                formatter,
                "links.{link}.queue: {discipline}, at {}: {}",
                fault.time, fault.problem
            ),
            RunError::Source { group, source, fault } => write!(
                formatter,
                "flows.{group}.source: {source}, at {}: {}",
                fault.time, fault.problem
            ),
        }
    }
}
