//! The steps that one event takes, over time or over records. An event after hours of silence takes as few as any
//! other: what would take more waits for another event, so that a caller can stop the run in between.

/// The steps that a component takes at once; what is left waits for another event of its flow or link.
pub(crate) const MOST_STEPS: u32 = 1 << 16;

/// How many steps what has a clock of its own may be behind at an event; the run loop sees to it.
pub(crate) const MOST_BEHIND: u32 = 1 << 5;

#[cfg(debug_assertions)]
thread_local! {
    /// Of the simulation that runs in this thread, since its last event began.
    static STEPS: std::cell::Cell<u64> = const { std::cell::Cell::new(0) };
}

/// A step is taken. Builds for tests count it; no result depends on the count.
#[inline]
pub(crate) fn count_step() {
    #[cfg(debug_assertions)]
    STEPS.set(STEPS.get() + 1);
}

/// The steps since the last event began.
#[cfg(debug_assertions)]
pub(crate) fn steps() -> u64 {
    STEPS.get()
}

/// The same; an event begins.
#[cfg(debug_assertions)]
pub(crate) fn take_steps() -> u64 {
    STEPS.take()
}
