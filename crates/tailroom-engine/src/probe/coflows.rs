//! Completion times of coflows.

use super::histogram::Histogram;
use super::window::Window;
use crate::units::Time;

/// The coflows of a group that began in the measured window.
#[derive(Clone, Debug, Default)]
pub struct CoflowProbe {
    window: Window,
    /// Coflows that completed before the end of the run.
    pub completed: u64,
    /// Coflows that did not.
    pub unfinished: u64,
    /// In picoseconds: an integer, so that the mean does not depend on the order of the
    /// completions.
    duration_sum: u128,
    /// Completion times in picoseconds.
    pub duration: Histogram<9>,
}

impl CoflowProbe {
    /// A probe that measures in this window.
    pub fn new(window: Window) -> Self {
        CoflowProbe { window, ..CoflowProbe::default() }
    }

    /// Records a coflow that has completed at `end`, or has not when the run ends.
    pub fn on_end(&mut self, start: Time, end: Option<Time>) {
        if !(self.window.from..self.window.to).contains(&start) {
            return;
        }
        // Flows are ahead of the links' clock.
        let Some(end) = end.filter(|&end| end < self.window.to) else {
            self.unfinished += 1;
            return;
        };
        let duration = end.since(start).picoseconds();
        self.completed += 1;
        self.duration_sum += u128::from(duration);
        self.duration.add(duration, 1);
    }

    /// Returns the mean completion time, in seconds; `None` if no coflow has completed.
    pub fn mean_duration_s(&self) -> Option<f64> {
        (self.completed > 0).then(|| 1e-12 * self.duration_sum as f64 / self.completed as f64)
    }
}
