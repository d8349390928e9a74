//! The gauges of a fair queue.

use crate::probe::over_time::OverTime;
use crate::queue::Gauge;
use crate::units::{PICOSECONDS_PER_SECOND, Rate, Time};

/// The measures of Kortebi, Oueslati and Roberts, over a window.
#[derive(Clone, Copy, Debug)]
pub struct Measured {
    /// The rate that a flow with packets to send all the time would get, in bit/s; infinite before anything is
    /// measured.
    pub fair_rate_bps: f64,
    /// The rate of packets with priority, as a fraction of the link's.
    pub priority_load: f64,
}

impl Default for Measured {
    fn default() -> Self {
        Measured { fair_rate_bps: f64::INFINITY, priority_load: 0.0 }
    }
}

/// Time-weighted counts of flows, and the measures of Kortebi, Oueslati and Roberts, over a window.
#[derive(Clone, Debug)]
pub(super) struct Gauges {
    rate: Rate,
    window_start: Time,
    /// Time up to which `active` has been counted.
    counted: Time,
    active: u64,
    active_over_time: OverTime<9>,
    active_max: u64,
    backlogged: u64,
    /// The time integral of `backlogged`, less `backlogged` times the current time: a change only
    /// adds or subtracts its instant, whatever the count is.
    backlogged_integral: i128,
    /// When the transmission of the last packet ends, if no other packet waits.
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
            active_over_time: OverTime::default(),
            active_max: 0,
            backlogged: 0,
            backlogged_integral: 0,
            free_at: Time::ZERO,
            idle: Time::ZERO,
            priority_bytes: 0,
        }
    }

    /// Records that a flow becomes backlogged at `now`.
    #[inline]
    pub(super) fn begin_backlog(&mut self, now: Time) {
        self.backlogged += 1;
        self.backlogged_integral -= i128::from(now.picoseconds());
    }

    /// Records that a flow is no longer backlogged from `now` on.
    #[inline]
    pub(super) fn end_backlog(&mut self, now: Time) {
        self.backlogged -= 1;
        self.backlogged_integral += i128::from(now.picoseconds());
    }

    /// Records that `active` flows are active from `now` on.
    #[inline]
    pub(super) fn set_active(&mut self, now: Time, active: u64) {
        if active != self.active {
            self.count(now);
            self.active = active;
            self.active_max = self.active_max.max(active);
        }
    }

    #[inline]
    fn count(&mut self, now: Time) {
        self.active_over_time.add(self.active, now.since(self.counted));
        self.counted = self.counted.max(now);
    }

    pub(super) fn add_priority(&mut self, bytes: u32) {
        self.priority_bytes += u64::from(bytes);
    }

    /// Records that the transmission of the buffer's last packet begins at `now`. If the link's
    /// rate has changed, the computed end of the transmission is inexact, which affects only the
    /// idle time.
    pub(super) fn on_empty(&mut self, now: Time, bytes: u32) {
        let seconds = 8.0 * f64::from(bytes) / self.rate.bits_per_second().max(1) as f64;
        let span = Time::from_picoseconds((seconds * PICOSECONDS_PER_SECOND as f64) as u64);
        self.free_at = now.saturating_add(span);
    }

    /// Records that the link has been idle from the end of the last transmission until `now`.
    pub(super) fn end_idle(&mut self, now: Time) {
        self.set_active(self.free_at.min(now), 0);
        self.idle += now.since(self.free_at.max(self.window_start));
    }

    pub(super) fn restart(&mut self, now: Time) {
        self.count(now);
        self.window_start = now;
        self.active_over_time.clear();
        self.active_max = self.active;
        self.backlogged_integral = -i128::from(self.backlogged) * i128::from(now.picoseconds());
        (self.idle, self.priority_bytes) = (Time::ZERO, 0);
    }

    /// The link sends at this rate now. Before [`Gauges::report`], it is the mean rate since the restart.
    pub(super) fn set_rate(&mut self, rate: Rate) {
        self.rate = rate;
    }

    /// The state at `now`. If `is_alone`, the only waiting packet may have found the link idle.
    fn at(&self, now: Time, is_alone: bool) -> Gauges {
        let mut whole = self.clone();
        if (self.backlogged == 0 || is_alone) && self.free_at <= now {
            whole.end_idle(now);
        }
        whole.count(now);
        whole
    }

    /// The mean over the window of what has this sum at `now`; 0 over an empty window.
    fn mean(&self, now: Time, sum: f64) -> f64 {
        let span = now.since(self.window_start);
        if span == Time::ZERO { 0.0 } else { sum / span.seconds() }
    }

    /// What is measured at `now`, over the window since [`Gauges::restart`], in which the virtual time advanced
    /// by `virtual_bytes`.
    pub(super) fn measured(&self, now: Time, virtual_bytes: f64, is_alone: bool) -> Measured {
        let whole = self.at(now, is_alone);
        let capacity = self.rate.bits_per_second() as f64;
        let served = (whole.idle.seconds() * capacity).max(virtual_bytes * 8.0);
        // Rounds in which little is sent would give more than the capacity.
        let served = served.min(now.since(self.window_start).seconds() * capacity);
        let priority_bits = whole.priority_bytes as f64 * 8.0;
        let priority = if capacity > 0.0 { priority_bits / capacity } else { 0.0 };
        Measured { fair_rate_bps: self.mean(now, served), priority_load: self.mean(now, priority) }
    }

    /// Names and values at `now` of what is `measured` over the window, and of counts of flows.
    pub(super) fn report(&self, now: Time, measured: Measured, is_alone: bool) -> Vec<Gauge> {
        let whole = self.at(now, is_alone);
        let flows = |time: u128| self.mean(now, time as f64 / PICOSECONDS_PER_SECOND as f64);
        let waiting = i128::from(self.backlogged) * i128::from(now.picoseconds());
        let backlogged_time = (self.backlogged_integral + waiting).cast_unsigned();
        vec![
            ("active_flows", whole.active as f64),
            ("active_flows_mean", flows(whole.active_over_time.integral())),
            ("active_flows_p99", whole.active_over_time.histogram().quantile(0.99).unwrap_or(0.0)),
            ("active_flows_max", whole.active_max as f64),
            ("backlogged_flows_mean", flows(backlogged_time)),
            ("fair_rate_bps", measured.fair_rate_bps),
            ("priority_load", measured.priority_load),
        ]
    }
}
