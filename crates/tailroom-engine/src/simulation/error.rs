//! What can go wrong in a run.

use crate::congestion::custom::ControlFault;
use crate::network::error::NetworkError;
use crate::units::Time;

/// A run that cannot be trusted.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum RunError {
    /// Packets (or time) appeared or vanished: a bug of the engine, never of the scenario.
    #[error(
        "the account of {place} does not balance: {found} found where {expected} are expected; \
         this is a bug in tailroom, please report it with the scenario and the seed"
    )]
    Conservation {
        /// The flow, link or path whose account does not balance.
        place: String,
        /// What the account should show.
        expected: u64,
        /// What it shows.
        found: u64,
    },
    /// The network cannot run.
    #[error(transparent)]
    Network(#[from] NetworkError),
    /// Packets pile up without bound, although the estimate before the run was within the limit.
    #[error(
        "at {time} the packets under way need at least {needed_bytes} bytes, more than memory_limit \
         ({limit_bytes} bytes); a flow whose access_rate is not above its bottleneck's rate never \
         sees a loss and lets its window grow: raise access_rate, or set max_window; a window may be \
         larger than any path needs: lower initial_window, or the window of the congestion control; \
         dynamic flows may arrive faster than the link can serve them: lower their load"
    )]
    Memory {
        /// When.
        time: Time,
        /// Memory of the packets and flows in progress; just above the limit if there was no memory
        /// for one more event.
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
        /// The most arrivals that the log may hold.
        limit: u64,
    },
    /// Flows arrive faster than they depart.
    #[error(
        "at {time} more than {limit} flows are in progress; they arrive faster than the link can serve \
         them: lower their load, or shorten duration"
    )]
    Flows {
        /// When.
        time: Time,
        /// The most flows that a run can tell apart.
        limit: usize,
    },
    /// A control from outside the registry failed, or returned a value that is not allowed.
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
