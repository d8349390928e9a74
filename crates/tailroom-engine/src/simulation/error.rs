//! What can go wrong in a run.

use crate::congestion::custom::ControlFault;
use crate::units::Time;

/// A run that cannot be trusted.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum RunError {
    /// Packets (or time) appeared or vanished: a bug of the engine, never of the scenario.
    #[error(
        "the account of {place} does not balance: {found} found where {expected} are expected; \
         this is a bug in tailroom, please report it with the scenario and the seed"
    )]
    Conservation {
        /// Whose account.
        place: String,
        /// What the account should show.
        expected: u64,
        /// What it shows.
        found: u64,
    },
    /// A network that no scenario describes has more of something than a run can hold.
    #[error("{place}: {problem}")]
    Network {
        /// Where.
        place: String,
        /// What is wrong, what is possible, what to do.
        problem: String,
    },
    /// Packets pile up without bound, although the estimate before the run was within the limit.
    #[error(
        "at {time} the packets under way need at least {needed_bytes} bytes, more than memory_limit \
         ({limit_bytes} bytes); a flow whose access_rate is not above its bottleneck's rate never \
         sees a loss and lets its window grow: raise access_rate, or set max_window; a window may be \
         larger than any path needs: lower initial_window, or what the congestion control asks for; \
         where flows come and go, they may come faster than the link can serve them: lower their load"
    )]
    Memory {
        /// When.
        time: Time,
        /// What the packets and flows under way take; just above the limit where there was no memory for
        /// one more event.
        needed_bytes: u64,
        /// What the scenario allows.
        limit_bytes: u64,
    },
    /// More packets arrive at a link in the span of its `arrival_log` than that may hold.
    #[error(
        "links.{link}.arrival_log: more than {limit} packets arrive; shorten the span, or raise \
         most_packets"
    )]
    ArrivalLog {
        /// The link.
        link: String,
        /// How many it may hold.
        limit: u64,
    },
    /// Flows come faster than they go.
    #[error(
        "at {time} more than {limit} flows are in progress; they come faster than the link can serve \
         them: lower their load, or shorten duration"
    )]
    Flows {
        /// When.
        time: Time,
        /// As many as a run can tell apart.
        limit: usize,
    },
    /// A control that is not in the registry did what no control may do.
    #[error(
        "flows.{group}.congestion: {control}, flow {flow}, at {}: {}",
        fault.time,
        fault.problem
    )]
    Control {
        /// The group of flows that names the control.
        group: String,
        /// The control.
        control: String,
        /// The flow.
        flow: String,
        /// What the control did.
        fault: ControlFault,
    },
}
