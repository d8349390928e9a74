//! The end of a run, and how long packets have waited at each link so far.

use super::Simulation;
use super::error::RunError;
use crate::probe::delays::Delays;
use crate::results::Results;

impl Simulation {
    /// Runs to the end, closes the statistics, and checks that no packet appeared or vanished.
    ///
    /// # Errors
    /// Those of [`Simulation::run_until`]; [`RunError::Conservation`] if the account of packets does
    /// not balance, which is a bug of the engine.
    pub fn finish(self) -> Result<Results, RunError> {
        Ok(self.finish_with_delays()?.0)
    }

    /// Queueing delays of the packets of the measured window at a link, as far as they are known.
    ///
    /// # Panics
    /// There is no link with this number.
    pub fn queue_delays(&self, link: usize) -> &Delays {
        &self.switch.links[link].probe.waits
    }
}
