//! When the links record their state: the edges of the measured window, the samples of the time
//! series, and the intervals in which links report which flows they bottleneck.

use super::Simulation;
use crate::dynamic_flows::bottlenecked::INTERVAL;
use crate::probe::flow::Checkpoints;
use crate::units::Time;

/// The times at which the links record their state.
#[derive(Clone, Debug)]
pub(super) struct LinkCheckpoints {
    pub(super) next: Time,
    next_sample: Time,
    pub(super) checkpoints: Checkpoints,
}

impl LinkCheckpoints {
    /// The first times at which links record.
    pub(super) fn new(checkpoints: Checkpoints) -> Self {
        LinkCheckpoints {
            next: checkpoints.measure_from.min(checkpoints.series_interval).min(INTERVAL),
            next_sample: checkpoints.series_interval,
            checkpoints,
        }
    }
}

impl Simulation {
    /// Lets every link record its state at each checkpoint up to `now`.
    #[cold]
    pub(super) fn record_links_until(&mut self, now: Time) {
        let checkpoints = self.link_checkpoints.checkpoints;
        while self.link_checkpoints.next <= now {
            let checkpoint = self.link_checkpoints.next;
            let is_edge = !self.is_measuring && checkpoint >= checkpoints.measure_from;
            if is_edge || checkpoint >= self.dynamic.next_checkpoint() {
                self.dynamic.pass(checkpoint, &mut self.links);
            }
            if checkpoint == self.link_checkpoints.next_sample {
                self.links.iter_mut().for_each(|link| link.sample(checkpoint));
                self.pools.sample(checkpoint);
                self.link_checkpoints.next_sample =
                    checkpoint.saturating_add(checkpoints.series_interval);
            }
            if is_edge {
                self.links.iter_mut().for_each(|link| link.begin_measuring(checkpoint));
                self.pools.begin_measuring(checkpoint);
                self.begin_measuring_blocked(checkpoint);
                self.dynamic.begin_measuring();
                self.is_measuring = true;
            }
            let edge = if self.is_measuring { Time::NEVER } else { checkpoints.measure_from };
            let dynamic = self.dynamic.next_checkpoint();
            self.link_checkpoints.next = self.link_checkpoints.next_sample.min(edge).min(dynamic);
        }
    }
}
