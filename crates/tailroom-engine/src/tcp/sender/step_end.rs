//! The end of a step, and what a sender keeps for the next one.

use std::collections::VecDeque;

use crate::packet::StoredAck;
use crate::units::Time;

/// The ACKs that arrive after the end of a step, in order.
#[derive(Clone, Debug)]
pub(super) struct StepEnd {
    pub(super) at: Time,
    pub(super) later: VecDeque<(Time, StoredAck)>,
}

impl Default for StepEnd {
    /// A step without an end.
    fn default() -> Self {
        StepEnd { at: Time::NEVER, later: VecDeque::new() }
    }
}
