//! What a run can hold: memory.

use super::Simulation;
use super::error::RunError;
use super::flow::Flow;
use crate::units::Time;

/// A power of two: a million events add at most some tens of MB.
pub(super) const EVENTS_BETWEEN_MEMORY_CHECKS: u64 = 1 << 20;
/// Flows in progress take about a kilobyte each.
pub(super) const FLOWS_BETWEEN_MEMORY_CHECKS: usize = 1 << 14;

impl Simulation {
    /// Number of events from one memory check to the next: a check visits every flow.
    pub(super) fn events_between_memory_checks(&self) -> u64 {
        let rounds = 1 + self.flows.len() / FLOWS_BETWEEN_MEMORY_CHECKS;
        EVENTS_BETWEEN_MEMORY_CHECKS * rounds as u64
    }

    /// Checks that everything in progress fits into the memory that the scenario allows.
    pub(super) fn check_memory(&self, time: Time) -> Result<(), RunError> {
        let (needed_bytes, limit_bytes) = (self.memory_bytes(), self.network.memory_limit_bytes);
        if needed_bytes > limit_bytes {
            return Err(self.memory_error(time));
        }
        Ok(())
    }

    /// The event at `time` needed more memory than the scenario allows.
    #[cold]
    pub(super) fn memory_error(&self, time: Time) -> RunError {
        let limit_bytes = self.network.memory_limit_bytes;
        // What did not fit is not known: at least one byte more than the limit.
        let needed_bytes = self.memory_bytes().max(limit_bytes.saturating_add(1));
        // Where windows grow, a flow has thousands of packets.
        let are_most = |flows: usize| {
            let bytes = (flows * size_of::<Flow>()) as u64 + self.dynamic.memory_bytes();
            flows > 0 && bytes >= needed_bytes / 4
        };
        let (group, flows) = self.dynamic.most_in_progress();
        let flows = are_most(flows).then(|| (self.network.groups[group].name.clone(), flows));
        RunError::Memory { time, needed_bytes, limit_bytes, flows }
    }

    fn memory_bytes(&self) -> u64 {
        let events = self.events_between_memory_checks();
        let held_bytes = self.switch.memory_bytes_within(events);
        let flow_bytes: u64 = self.flows.iter().map(Flow::memory_bytes).sum();
        let fast_path_bytes = self.fast_paths.memory_bytes();
        let dynamic_bytes = self.dynamic.memory_bytes();
        let pending_bytes = self.pending.memory_bytes();
        pending_bytes + held_bytes + flow_bytes + fast_path_bytes + dynamic_bytes
    }
}
