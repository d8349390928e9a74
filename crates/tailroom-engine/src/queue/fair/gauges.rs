//! What a fair queue measures of itself.

use crate::probe::histogram::Histogram;
use crate::queue::Gauge;
use crate::units::{PICOSECONDS_PER_SECOND, Rate, Time};

/// Time-weighted counts of flows, and the measures of Kortebi, Oueslati and Roberts, over a window.
#[derive(Clone, Debug)]
pub(super) struct Gauges {
    rate: Rate,
    window_start: Time,
    /// Up to when `active` and `backlogged` have been counted.
    counted: Time,
    active: u64,
    backlogged: u64,
    active_time: u128,
    backlogged_time: u128,
    active_histogram: Histogram<9>,
    active_max: u64,
    /// When the last packet has left, where no other waits.
    free_at: Time,
    idle: Time,
    priority_bytes: u64,
}

impl Gauges {
    pub(super) fn new(rate: Rate) -> Self {
        Gauges {
            rate,
            window_start: Time::ZERO,
            counted: Time::ZERO,
            active: 0,
            backlogged: 0,
            active_time: 0,
            backlogged_time: 0,
            active_histogram: Histogram::default(),
            active_max: 0,
            free_at: Time::ZERO,
            idle: Time::ZERO,
            priority_bytes: 0,
        }
    }

    /// From `now` on so many flows are active and wait.
    #[inline]
    pub(super) fn update(&mut self, now: Time, active: u64, backlogged: u64) {
        if active != self.active || backlogged != self.backlogged {
            self.count(now);
            (self.active, self.backlogged) = (active, backlogged);
            self.active_max = self.active_max.max(active);
        }
    }

    fn count(&mut self, now: Time) {
        let span = now.since(self.counted).picoseconds();
        self.counted = self.counted.max(now);
        self.active_time += u128::from(self.active) * u128::from(span);
        self.backlogged_time += u128::from(self.backlogged) * u128::from(span);
        self.active_histogram.add(self.active, span);
    }

    pub(super) fn add_priority(&mut self, bytes: u32) {
        self.priority_bytes += u64::from(bytes);
    }

    /// The last packet of the buffer begins transmission at `now`. The link's rate may have
    /// changed; the end is then wrong by less than the difference, which only the idle time feels.
    pub(super) fn on_empty(&mut self, now: Time, bytes: u32) {
        let seconds = 8.0 * f64::from(bytes) / self.rate.bits_per_second().max(1) as f64;
        let span = Time::from_picoseconds((seconds * PICOSECONDS_PER_SECOND as f64) as u64);
        self.free_at = now.saturating_add(span);
    }

    /// The link has been idle since the last packet left, until `now`.
    pub(super) fn end_idle(&mut self, now: Time) {
        self.update(self.free_at.min(now), 0, 0);
        self.idle += now.since(self.free_at.max(self.window_start));
    }

    pub(super) fn restart(&mut self, now: Time) {
        self.count(now);
        self.window_start = now;
        (self.active_time, self.backlogged_time) = (0, 0);
        self.active_histogram.clear();
        self.active_max = self.active;
        (self.idle, self.priority_bytes) = (Time::ZERO, 0);
    }

    /// Names and values at `now`, of the window since [`Gauges::restart`], in which the virtual
    /// time went on by `virtual_bytes`.
    pub(super) fn report(&self, now: Time, virtual_bytes: f64) -> Vec<Gauge> {
        let mut whole = self.clone();
        if self.backlogged == 0 && self.free_at <= now {
            whole.end_idle(now);
        }
        whole.count(now);
        let span = now.since(self.window_start);
        // An empty window has no means.
        let mean = |sum: f64| if span == Time::ZERO { 0.0 } else { sum / span.seconds() };
        let flows = |time: u128| mean(time as f64 / PICOSECONDS_PER_SECOND as f64);
        let capacity = self.rate.bits_per_second() as f64;
        let served = (whole.idle.seconds() * capacity).max(virtual_bytes * 8.0);
        // Turns in which little is sent would give more than the link has.
        let served = served.min(span.seconds() * capacity);
        let priority_bits = whole.priority_bytes as f64 * 8.0;
        let priority = if capacity > 0.0 { priority_bits / capacity } else { 0.0 };
        vec![
            ("active_flows", whole.active as f64),
            ("active_flows_mean", flows(whole.active_time)),
            ("active_flows_p99", whole.active_histogram.quantile(0.99).unwrap_or(0.0)),
            ("active_flows_max", whole.active_max as f64),
            ("backlogged_flows_mean", flows(whole.backlogged_time)),
            ("fair_rate_bps", mean(served)),
            ("priority_load", mean(priority)),
        ]
    }
}
