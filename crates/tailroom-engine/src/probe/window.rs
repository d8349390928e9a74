//! A part of the run's time.

use crate::units::Time;

/// The times from `from` on and before `to`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Window {
    /// First time.
    pub from: Time,
    /// End, which is no part of the window.
    pub to: Time,
}

impl Default for Window {
    fn default() -> Self {
        Window { from: Time::ZERO, to: Time::NEVER }
    }
}

impl Window {
    /// Whether `time` is in the window.
    #[inline]
    pub fn contains(self, time: Time) -> bool {
        self.from <= time && time < self.to
    }
}
