//! What the application of a flow that lasts writes, from time to time.

use std::io;
use std::os::fd::OwnedFd;

use serde::Serialize;
use tailroom_engine::units::Time;

use crate::clock::VirtualClock;
use crate::connection::send_some;
use crate::plan::Request;
use crate::statistics::{microseconds, microseconds_from};

/// The writes of a flow.
#[derive(Debug)]
pub struct Writes<'a> {
    requests: &'a [Request],
    /// When each was handed over, since the origin by the monotonic clock.
    handed_over: Vec<Time>,
    /// Payload that is due and that the socket has not taken.
    left_bytes: u64,
}

/// The writes of a run, a column for each quantity.
#[derive(Clone, Debug, Default, Serialize)]
pub struct WritesRecord {
    /// When the scenario lets the application write.
    pub start_s: Vec<f64>,
    /// Payload of each write.
    pub size_bytes: Vec<u64>,
    /// From the write until the ACK of its last byte at the sender, both by the link's clock; `None` if it
    /// did not come.
    pub completion_us: Vec<Option<u64>>,
}

impl<'a> Writes<'a> {
    /// Writes of a flow that has not begun, in order of time.
    pub fn new(writes: &'a [Request]) -> Self {
        Writes { requests: writes, handed_over: Vec::with_capacity(writes.len()), left_bytes: 0 }
    }

    /// When the application writes next; [`Time::NEVER`] if it does not.
    pub fn next_due(&self) -> Time {
        self.requests.get(self.handed_over.len()).map_or(Time::NEVER, |write| write.start)
    }

    /// The application writes what is due.
    pub fn take_due(&mut self, now: Time) {
        while self.next_due() <= now {
            self.left_bytes += self.requests[self.handed_over.len()].bytes;
            self.handed_over.push(now);
        }
    }

    /// Payload that is due and that the socket has not taken.
    pub fn left_bytes(&self) -> u64 {
        self.left_bytes
    }

    /// Hands over to the socket what it takes of what is due.
    pub fn send(&mut self, socket: &OwnedFd) -> io::Result<()> {
        send_some(socket, &mut self.left_bytes)
    }

    /// The writes, `acknowledged` at these times of the link's clock, as far as they were.
    pub fn record(&self, acknowledged: &[Time], clock: &VirtualClock) -> WritesRecord {
        let ends = acknowledged.iter().copied().map(Some).chain(std::iter::repeat(None));
        let written = self.handed_over.iter().map(|at| clock.shown_at(*at));
        let completion = written.zip(ends).map(|(from, to)| Some(microseconds_from(from, to?)));
        let completion = completion.chain(std::iter::repeat(None));
        WritesRecord {
            start_s: self.requests.iter().map(|write| microseconds(write.start)).collect(),
            size_bytes: self.requests.iter().map(|write| write.bytes).collect(),
            completion_us: completion.take(self.requests.len()).collect(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MS: u64 = 1_000_000;

    #[test]
    fn what_is_due_is_handed_over_and_timed_by_the_links_clock() {
        let ms = Time::from_milliseconds;
        let written = [(10, 1_000), (10, 500), (30, 2_000), (50, 7)];
        let written = written.map(|(start, bytes)| Request { start: ms(start), bytes });
        let mut writes = Writes::new(&written);
        writes.take_due(ms(9));
        assert_eq!((writes.next_due(), writes.left_bytes()), (ms(10), 0));
        writes.take_due(ms(12));
        assert_eq!((writes.next_due(), writes.left_bytes()), (ms(30), 1_500));
        writes.take_due(ms(30));
        let mut clock = VirtualClock::new(0, Time::from_seconds(500e-6));
        clock.observe(27 * MS, ms(20)); // a stall of 7 ms
        let record = writes.record(&[ms(40), ms(41)], &clock);
        assert_eq!(record.start_s, [0.01, 0.01, 0.03, 0.05]);
        assert_eq!(record.size_bytes, [1_000, 500, 2_000, 7]);
        assert_eq!(record.completion_us, [Some(28_000), Some(29_000), None, None]);
    }
}
