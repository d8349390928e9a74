//! Coflows: flows that serve one purpose, which is reached when the last of them is complete
//! (Chowdhury and Stoica, "Coflow: a networking abstraction for cluster applications", `HotNets`
//! 2012), as the answers to a query or a step of a collective operation.

use crate::units::Time;

/// The coflows of a source: those in progress, and those that have completed and are not taken yet.
#[derive(Clone, Debug, Default)]
pub struct Coflows {
    in_progress: Vec<InProgress>,
    free: Vec<u32>,
    completed: Vec<Coflow>,
}

#[derive(Clone, Copy, Debug)]
struct InProgress {
    start: Time,
    /// Flows that are not complete; 0 if the place is free.
    left: u32,
    /// The last completion so far.
    end: Time,
}

/// A coflow, from its start to the completion of its last flow.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Coflow {
    /// When it began.
    pub start: Time,
    /// When the last byte of its last flow was acknowledged; `None` if that has not happened.
    pub end: Option<Time>,
}

impl Coflows {
    /// Begins a coflow of this many flows, at least one; returns its number, which is free again
    /// when it is complete.
    pub fn begin(&mut self, start: Time, flows: u32) -> u32 {
        let coflow = InProgress { start, left: flows, end: start };
        if let Some(number) = self.free.pop() {
            self.in_progress[number as usize] = coflow;
            return number;
        }
        self.in_progress.push(coflow);
        self.in_progress.len() as u32 - 1
    }

    /// A flow of a coflow is complete at `at`. Flows may be named in another order than that of
    /// their completions. Returns when the coflow is complete, if this flow was its last.
    pub fn on_completion(&mut self, number: u32, at: Time) -> Option<Time> {
        let coflow = &mut self.in_progress[number as usize];
        coflow.left -= 1;
        coflow.end = coflow.end.max(at);
        let InProgress { start, left, end } = *coflow;
        (left == 0).then(|| {
            self.free.push(number);
            self.completed.push(Coflow { start, end: Some(end) });
            end
        })
    }

    /// Takes the coflows that have completed since the last call.
    pub fn take_completed(&mut self) -> impl Iterator<Item = Coflow> + '_ {
        self.completed.drain(..)
    }

    /// The coflows in progress.
    pub fn unfinished(&self) -> impl Iterator<Item = Coflow> + '_ {
        let present = self.in_progress.iter().filter(|coflow| coflow.left > 0);
        present.map(|coflow| Coflow { start: coflow.start, end: None })
    }

    /// Memory of the coflows in progress, in bytes.
    pub fn memory_bytes(&self) -> u64 {
        (self.in_progress.len() * size_of::<InProgress>()) as u64
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MS: fn(u64) -> Time = Time::from_milliseconds;

    #[test]
    fn a_coflow_is_complete_with_the_latest_of_its_flows_whatever_their_order() {
        let mut coflows = Coflows::default();
        let first = coflows.begin(MS(1), 3);
        let second = coflows.begin(MS(2), 1);
        assert_eq!(coflows.on_completion(first, MS(9)), None);
        assert_eq!(coflows.on_completion(first, MS(4)), None);
        assert_eq!(coflows.on_completion(second, MS(5)), Some(MS(5)));
        assert_eq!(coflows.unfinished().collect::<Vec<_>>(), [Coflow { start: MS(1), end: None }]);
        assert_eq!(coflows.on_completion(first, MS(6)), Some(MS(9)));
        let completed: Vec<Coflow> = coflows.take_completed().collect();
        assert_eq!(completed[1], Coflow { start: MS(1), end: Some(MS(9)) });
        assert_eq!((coflows.take_completed().count(), coflows.unfinished().count()), (0, 0));
        assert_eq!(coflows.begin(MS(7), 1), first);
    }
}
