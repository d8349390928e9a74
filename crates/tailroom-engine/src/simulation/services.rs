//! When the schedulers of the links send their next packets.

use crate::link::Link;
use crate::units::Time;

/// The next service of each link with a scheduler.
#[derive(Debug)]
pub(super) struct Services {
    /// By link; [`Time::NEVER`] if no packet waits for a scheduler.
    times: Vec<Time>,
    /// The earliest of these times.
    pub(super) next: Time,
    /// The index of the link with that time.
    pub(super) first: usize,
    has_schedulers: bool,
}

impl Services {
    /// The services of `links`, none of which has a packet.
    pub(super) fn new(links: &[Link]) -> Self {
        Services {
            times: vec![Time::NEVER; links.len()],
            next: Time::NEVER,
            first: 0,
            has_schedulers: links.iter().any(|link| link.scheduled().is_some()),
        }
    }

    /// Whether any link has a scheduler.
    #[inline]
    pub(super) fn has_schedulers(&self) -> bool {
        self.has_schedulers
    }

    /// The next service of `link` is at `time`.
    #[inline]
    pub(super) fn set(&mut self, link: usize, time: Time) {
        if time == self.times[link] {
            return;
        }
        self.times[link] = time;
        if time < self.next {
            (self.next, self.first) = (time, link);
        } else if link == self.first {
            // There are few links: a scan costs less than a heap.
            let earliest = self.times.iter().enumerate().min_by_key(|(_, time)| **time);
            (self.first, self.next) = earliest.map_or((0, Time::NEVER), |(at, time)| (at, *time));
        }
    }
}
