//! When the links record their state: the edges of the measured window, the samples of the time
//! series, and the intervals in which links are asked which flows they hold back.

use super::Simulation;
use crate::dynamic_flows::bottlenecked::INTERVAL;
use crate::probe::flow::Marks;
use crate::units::Time;

/// The times at which the links record their state.
#[derive(Debug)]
pub(super) struct LinkMarks {
    pub(super) next: Time,
    next_sample: Time,
    pub(super) marks: Marks,
}

impl LinkMarks {
    /// The first times at which links record.
    pub(super) fn new(marks: Marks) -> Self {
        LinkMarks {
            next: marks.measure_from.min(marks.series_interval).min(INTERVAL),
            next_sample: marks.series_interval,
            marks,
        }
    }
}

impl Simulation {
    /// Lets every link record its state at each mark up to `now`.
    #[cold]
    pub(super) fn pass_link_marks(&mut self, now: Time) {
        let marks = self.link_marks.marks;
        while self.link_marks.next <= now {
            let mark = self.link_marks.next;
            let is_edge = !self.is_measuring && mark >= marks.measure_from;
            if is_edge || mark >= self.dynamic.next_mark() {
                self.dynamic.pass(mark, &mut self.links);
            }
            if mark == self.link_marks.next_sample {
                self.links.iter_mut().for_each(|link| link.sample(mark));
                self.link_marks.next_sample = mark.saturating_add(marks.series_interval);
            }
            if is_edge {
                self.links.iter_mut().for_each(|link| link.begin_measuring(mark));
                self.dynamic.begin_measuring();
                self.groups.iter_mut().for_each(|group| group.waits.clear());
                self.is_measuring = true;
            }
            let edge = if self.is_measuring { Time::NEVER } else { marks.measure_from };
            let dynamic = self.dynamic.next_mark();
            self.link_marks.next = self.link_marks.next_sample.min(edge).min(dynamic);
        }
    }
}
