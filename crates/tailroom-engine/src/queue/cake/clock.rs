//! CAKE's shaper: a virtual clock in place of a bucket. Idle time earns nothing, and what is late while
//! packets wait is caught up.

use crate::units::{PICOSECONDS_PER_SECOND, Rate, Time};

/// Time that a rate takes for a number of bytes.
#[inline]
pub(super) fn duration(rate: Rate, bytes: u32) -> Time {
    let bits = u64::from(bytes) * 8 * PICOSECONDS_PER_SECOND; // of 2 MB at most
    Time::from_picoseconds(bits / rate.bits_per_second().max(1))
}

/// When the shaper lets the next packet leave.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct ShaperClock {
    next: Time,
    /// A second clock, charged one and a half times and only for packets that are sent, so that drops which
    /// are charged, too, do not starve the link.
    failsafe: Time,
}

impl ShaperClock {
    /// From when on a packet may leave.
    #[inline]
    pub(super) fn opens_at(&self) -> Time {
        self.next.min(self.failsafe)
    }

    /// A packet arrives where none waits: time that has passed is lost.
    #[inline]
    pub(super) fn wake(&mut self, now: Time) {
        if self.next < now {
            (self.next, self.failsafe) = (now, now);
        }
    }

    /// Charges a packet that takes this long.
    #[inline]
    pub(super) fn charge(&mut self, duration: Time, is_sent: bool) {
        self.next = self.next.saturating_add(duration);
        if is_sent {
            let longer = duration.picoseconds() + duration.picoseconds() / 2;
            self.failsafe = self.failsafe.saturating_add(Time::from_picoseconds(longer));
        }
    }
}

/// The clock of a tin at its threshold, which decides on priority.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct TinClock {
    /// When the tin has priority again.
    pub(super) next: Time,
}

impl TinClock {
    /// A packet arrives where none of the tin waits.
    #[inline]
    pub(super) fn wake(&mut self, now: Time) {
        self.next = self.next.max(now);
    }

    /// Charges a packet that takes this long. A clock that is late stays late by as much; one that is ahead is
    /// ahead by this packet at most, unless it was by more.
    #[inline]
    pub(super) fn charge(&mut self, now: Time, duration: Time) {
        let ahead = now.saturating_add(duration);
        if self.next < now {
            self.next = self.next.saturating_add(duration);
        } else if self.next < ahead {
            self.next = ahead;
        }
    }
}
