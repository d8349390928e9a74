//! Completion times of coflows.

use super::durations::Durations;
use super::window::Window;
use crate::units::Time;

/// The coflows of a group that began in the measured window.
#[derive(Clone, Debug, Default)]
pub struct CoflowProbe {
    window: Window,
    /// Completion times in picoseconds.
    pub durations: Durations,
}

impl CoflowProbe {
    /// A probe that measures in this window, which ends with the run.
    pub fn new(window: Window) -> Self {
        CoflowProbe { window, ..CoflowProbe::default() }
    }

    /// Records a coflow that has completed at `end`, or has not when the run ends.
    pub fn on_end(&mut self, start: Time, end: Option<Time>) {
        if !self.window.contains(start) {
            return;
        }
        // Flows are ahead of the links' clock.
        let end = end.filter(|&end| end < self.window.to);
        let duration = end.unwrap_or(self.window.to).since(start).picoseconds();
        self.durations.add(duration, duration.into(), end.is_some());
    }
}
