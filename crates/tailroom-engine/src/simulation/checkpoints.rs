//! When the links record their state: the edges of the measured window, the samples of the time
//! series, and the intervals in which links report which flows they bottleneck. Between events, what has a clock of
//! its own catches up.

use super::Simulation;
use crate::dynamic_flows::bottlenecked::INTERVAL;
use crate::probe::flow::Checkpoints;
use crate::units::Time;
use crate::work::count_step;

/// About how many records of links, some milliseconds of work, come before the run loop is asked again.
const MOST_RECORDS: usize = 1 << 16;

/// The times at which the links record their state.
#[derive(Clone, Debug)]
pub(super) struct LinkCheckpoints {
    pub(super) next: Time,
    next_sample: Time,
    pub(super) checkpoints: Checkpoints,
}

impl LinkCheckpoints {
    /// The first times at which links record, or [catch up](crate::switch::Switch::behind_at).
    pub(super) fn new(checkpoints: Checkpoints, behind_at: Time) -> Self {
        let next = checkpoints.measure_from.min(checkpoints.series_interval).min(INTERVAL);
        LinkCheckpoints {
            next: next.min(behind_at),
            next_sample: checkpoints.series_interval,
            checkpoints,
        }
    }
}

impl Simulation {
    /// Lets every link record its state at each checkpoint up to `now`; no event comes before. Returns
    /// whether all are recorded: if there are many, the rest is left for the next call.
    #[cold]
    pub(super) fn record_links_until(&mut self, now: Time) -> bool {
        let checkpoints = self.link_checkpoints.checkpoints;
        let mut left = MOST_RECORDS;
        while self.link_checkpoints.next <= now {
            if left == 0 {
                return false;
            }
            left = left.saturating_sub(self.switch.links.len());
            count_step();
            let checkpoint = self.link_checkpoints.next;
            let is_edge = !self.is_measuring && checkpoint >= checkpoints.measure_from;
            if is_edge || checkpoint >= self.dynamic.next_checkpoint() {
                self.dynamic.pass(checkpoint, &mut self.switch.links);
            }
            if checkpoint == self.link_checkpoints.next_sample {
                self.switch.sample(checkpoint);
                self.link_checkpoints.next_sample =
                    checkpoint.saturating_add(checkpoints.series_interval);
            }
            if is_edge {
                self.switch.begin_measuring(checkpoint);
                self.dynamic.begin_measuring();
                self.is_measuring = true;
            }
            let edge = if self.is_measuring { Time::NEVER } else { checkpoints.measure_from };
            let other = self.link_checkpoints.next_sample.min(edge);
            self.dynamic.pass_silence(now.min(other), &mut self.switch.links);
            self.switch.catch_up(now.min(other));
            let behind_at = self.switch.behind_at();
            if behind_at <= now {
                // There is more to catch up with: it is work of its own.
                self.note_steps();
            }
            self.link_checkpoints.next = other.min(self.dynamic.next_checkpoint()).min(behind_at);
        }
        true
    }
}
