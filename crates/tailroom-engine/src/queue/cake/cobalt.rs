//! COBALT: CoDel with a resumption of its own for senders that respond, and BLUE for those that do not.
//!
//! "Piece of CAKE" (arXiv 1804.07617) sec. III; rules and constants as `sch_cake.c` has them.

use super::clock::duration;
use crate::units::{Rate, Time};

/// Steps of the probability with which BLUE drops: what is added for an overflow, taken off when the queue is
/// found empty, and the probability 1.
const BLUE_UP: u16 = 16;
const BLUE_DOWN: u16 = 1;
pub(super) const BLUE_ONE: u16 = 4_096;

/// The parameters of COBALT that the queues of a tin share.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Settings {
    pub(super) target: Time,
    pub(super) interval: Time,
    /// Time that the tin's rate takes for the largest packet.
    pub(super) packet_time: Time,
}

impl Settings {
    /// The parameters at the rate of a tin, if it has one, for packets of at most `packet_bytes`.
    pub(super) fn new(rtt: Time, rate: Option<Rate>, packet_bytes: u32) -> Self {
        let span = |picoseconds: u64| Time::from_picoseconds(picoseconds);
        let wanted = span(rtt.picoseconds() / 20);
        let packet_time = rate.map_or(Time::ZERO, |rate| duration(rate, packet_bytes));
        let target = wanted.max(span(packet_time.picoseconds().saturating_mul(3) / 2));
        let twice = span(target.picoseconds().saturating_mul(2));
        let interval = rtt.saturating_add(target.since(wanted)).max(twice);
        Settings { target, interval, packet_time }
    }
}

/// What COBALT does with the packet at the head of a queue.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Signal {
    /// The packet is to be marked if it can be.
    pub(super) is_due: bool,
    /// The packet is to be dropped, unless it is the last one.
    pub(super) drops: bool,
}

/// The state of COBALT in one queue.
#[derive(Clone, Copy, Debug)]
pub(super) struct Cobalt {
    /// When the next signal is due; while `count` is 0, until when the queue is not at rest.
    drop_next: Time,
    /// When the probability of BLUE last changed.
    changed_at: Time,
    count: u32,
    /// Probability with which BLUE drops, of [`BLUE_ONE`].
    probability: u16,
    is_dropping: bool,
    /// A queue that has never counted has no interval before its first signal: the kernel's stored root is 0.
    is_fresh: bool,
}

impl Default for Cobalt {
    fn default() -> Self {
        Cobalt {
            drop_next: Time::ZERO,
            changed_at: Time::ZERO,
            count: 0,
            probability: 0,
            is_dropping: false,
            is_fresh: true,
        }
    }
}

impl Cobalt {
    /// The interval divided by the square root of the count, as last computed.
    fn spacing(&self, settings: &Settings) -> Time {
        match (self.is_fresh, self.count) {
            (true, _) => Time::ZERO,
            (false, 0 | 1) => settings.interval,
            (false, count) => {
                let interval = settings.interval.picoseconds() as f64;
                Time::from_picoseconds((interval / libm::sqrt(f64::from(count))) as u64)
            }
        }
    }

    /// Changes the count, and moves the next signal by the new spacing.
    fn count_to(&mut self, count: u32, settings: &Settings) {
        (self.count, self.is_fresh) = (count, false);
        self.drop_next = self.drop_next.saturating_add(self.spacing(settings));
    }

    /// Decides about a packet that has waited for `waited`. With `bulk_flows` flows that share an ingress, the
    /// queue is too long only beyond two packets of each. `draw` returns a number below [`BLUE_ONE`].
    #[inline]
    pub(super) fn on_dequeue(
        &mut self,
        settings: &Settings,
        now: Time,
        waited: Time,
        bulk_flows: u32,
        is_capable: bool,
        draw: impl FnOnce() -> u16,
    ) -> Signal {
        let packets = 4.max(2 * u64::from(bulk_flows));
        let standing = settings.packet_time.picoseconds().saturating_mul(packets);
        let is_over = waited > settings.target && waited.picoseconds() > standing;
        if !is_over && self.count == 0 && self.probability == 0 {
            // At rest, as nearly always.
            self.is_dropping = false;
            self.drop_next = now.saturating_add(settings.interval);
            return Signal { is_due: false, drops: false };
        }
        self.on_busy_dequeue(settings, now, is_over, is_capable, draw)
    }

    #[inline(never)]
    fn on_busy_dequeue(
        &mut self,
        settings: &Settings,
        now: Time,
        is_over: bool,
        is_capable: bool,
        draw: impl FnOnce() -> u16,
    ) -> Signal {
        let mut is_late = now > self.drop_next;
        let mut is_next_due = self.count > 0 && now >= self.drop_next;
        if is_over && !self.is_dropping {
            self.drop_next = now.saturating_add(self.spacing(settings));
        }
        self.is_dropping = is_over;
        if is_over {
            self.count = self.count.max(1);
        }
        let is_due = is_next_due && self.is_dropping;
        if is_due {
            self.count_to(self.count.saturating_add(1), settings);
            is_late = now > self.drop_next;
        }
        while is_next_due && !is_due {
            self.count_to(self.count - 1, settings);
            is_late = now > self.drop_next;
            is_next_due = self.count > 0 && now >= self.drop_next;
        }
        let blue = self.probability > 0 && draw() < self.probability;
        let drops = is_due && !is_capable || blue;
        if self.count == 0 {
            self.drop_next = now.saturating_add(settings.interval);
        } else if is_late && !drops {
            self.drop_next = now;
        }
        Signal { is_due, drops }
    }

    /// A packet of the queue was dropped because the buffer was full.
    pub(super) fn on_overflow(&mut self, settings: &Settings, now: Time) {
        if now.since(self.changed_at) > settings.target {
            self.probability = (self.probability + BLUE_UP).min(BLUE_ONE);
            self.changed_at = now;
        }
        self.is_dropping = true;
        self.drop_next = now;
        self.count = self.count.max(1);
    }

    /// The queue was found empty.
    #[inline]
    pub(super) fn on_empty(&mut self, settings: &Settings, now: Time) {
        if self.probability > 0 && now.since(self.changed_at) > settings.target {
            self.probability -= BLUE_DOWN;
            self.changed_at = now;
        }
        self.is_dropping = false;
        if self.count > 0 && now >= self.drop_next {
            self.count_to(self.count - 1, settings);
        }
    }

    /// Whether an empty queue remembers nothing that matters.
    #[inline]
    pub(super) fn is_at_rest(&self, now: Time) -> bool {
        self.probability == 0 && self.count == 0 && now >= self.drop_next
    }

    /// The probability with which BLUE drops, of [`BLUE_ONE`].
    #[cfg(test)]
    pub(super) fn probability(&self) -> u16 {
        self.probability
    }
}
