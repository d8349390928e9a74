//! The queue of a link in a pool.

use std::collections::VecDeque;

use super::policy::{QueueInfo, QuickRule};
use super::{Cells, Grant};
use crate::units::Time;

/// The queue of a link in a pool.
#[derive(Clone, Debug)]
pub(super) struct Member {
    pub(super) occupied: u64,
    pub(super) reserved: u64,
    pub(super) alpha: f64,
    /// A packet that fits finds room if the queue occupies less than this multiple of the memory that is
    /// free; otherwise, and always if it is 0, the policy decides.
    pub(super) quick_alpha: f64,
    /// What the packets of each loss priority occupy; empty unless the policy counts them apart.
    pub(super) by_priority: Vec<u64>,
    /// What it has freed since the policy looked last.
    pub(super) freed: u64,
    /// Index of its port.
    pub(super) port: usize,
    /// What is freed when, in order of time.
    pub(super) releases: VecDeque<(Time, Grant)>,
    /// Cells times the time at which they are or will be freed, where it is known, less cells taken
    /// times the time, since the start of the run.
    pub(super) weighted_times: i128,
    /// Cells times picoseconds before the measured window.
    pub(super) before_window: i128,
}

impl Member {
    /// An empty queue; its packets are counted by this many loss priorities, and admitted by the policy
    /// as `quick` says.
    pub(super) fn new(
        reserved: u64,
        place: &QueueInfo,
        (priorities, quick): (usize, QuickRule),
    ) -> Self {
        let quick_alpha = match quick {
            QuickRule::Fits if reserved == 0 => f64::INFINITY,
            QuickRule::DynamicThreshold if reserved == 0 => place.alpha,
            _ => 0.0,
        };
        Member {
            quick_alpha,
            occupied: 0,
            reserved,
            alpha: place.alpha,
            by_priority: vec![0; priorities],
            freed: 0,
            port: place.port,
            releases: VecDeque::new(),
            weighted_times: 0,
            before_window: 0,
        }
    }

    /// A packet will free these cells at `at`, no earlier than the packets before it. `next_release`
    /// is when the first of them does.
    #[inline]
    pub(super) fn release_at(&mut self, at: Time, grant: Grant, next_release: &mut Time) {
        if self.releases.is_empty() {
            *next_release = at;
        }
        self.releases.push_back((at, grant));
    }

    /// The part of what it occupies that is shared memory.
    #[inline]
    pub(super) fn shared(&self) -> u64 {
        self.occupied.saturating_sub(self.reserved)
    }

    /// What it has occupied until `now`, to which the pool has caught up, in cells times picoseconds.
    pub(super) fn integral(&self, now: Time) -> i128 {
        let ahead =
            self.releases.iter().map(|(at, grant)| weighted(grant.cells, *at)).sum::<i128>();
        let occupied = i128::from(self.occupied) * i128::from(now.picoseconds());
        self.weighted_times + occupied - ahead
    }

    /// Adds to what it occupies; returns how much of that is shared memory.
    #[inline]
    pub(super) fn take(&mut self, grant: Grant) -> u64 {
        let before = self.shared();
        self.occupied += u64::from(grant.cells);
        if let Some(own) = self.by_priority.get_mut(grant.priority as usize) {
            *own += u64::from(grant.cells);
        }
        self.shared() - before
    }

    /// Takes from what it occupies; returns how much of that was shared memory.
    #[inline]
    pub(super) fn give(&mut self, cells: u64) -> u64 {
        let before = self.shared();
        self.occupied -= cells;
        before - self.shared()
    }

    /// Takes from what the packets of a loss priority occupy.
    #[inline]
    pub(super) fn give_of_priority(&mut self, grant: Grant) {
        if let Some(own) = self.by_priority.get_mut(grant.priority as usize) {
            *own -= u64::from(grant.cells);
        }
    }
}

/// Cells times a time.
#[inline]
pub(super) fn weighted(cells: Cells, time: Time) -> i128 {
    i128::from(cells) * i128::from(time.picoseconds())
}
