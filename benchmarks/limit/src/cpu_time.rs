//! The CPU time of the run, in chunks of events.

use std::time::Duration;

const CHUNK: u64 = 1 << 18;

/// CPU time and packet-hops at the end of each chunk.
#[derive(Default)]
pub struct Chunks {
    ends: Vec<(f64, u64)>,
}

impl Chunks {
    /// Whether a chunk ends with this event.
    #[inline(always)]
    pub fn end_at(events: u64) -> bool {
        events.is_multiple_of(CHUNK)
    }

    #[cold]
    #[inline(never)]
    pub fn record(&mut self, packet_hops: u64) {
        self.ends.push((cpu_time().as_nanos() as f64, packet_hops));
    }

    /// Returns the ns per packet-hop of each chunk in the last 70 % of the run, in ascending order.
    pub fn steady(&self) -> Vec<f64> {
        let from = self.ends.len() * 3 / 10;
        let mut figures: Vec<f64> = self.ends[from..]
            .windows(2)
            .map(|pair| (pair[1].0 - pair[0].0) / (pair[1].1 - pair[0].1).max(1) as f64)
            .collect();
        figures.sort_by(f64::total_cmp);
        figures
    }

    /// Returns the ns per packet-hop over the last 70 % of the run.
    pub fn steady_mean(&self) -> f64 {
        let (Some(first), Some(last)) = (self.ends.get(self.ends.len() * 3 / 10), self.ends.last())
        else {
            return f64::NAN;
        };
        (last.0 - first.0) / (last.1 - first.1) as f64
    }
}

/// Returns the CPU time of this thread so far.
#[cfg(unix)]
pub fn cpu_time() -> Duration {
    #[cfg(target_os = "linux")]
    const CLOCK_THREAD_CPUTIME_ID: i32 = 3;
    #[cfg(not(target_os = "linux"))]
    const CLOCK_THREAD_CPUTIME_ID: i32 = 16; // macOS
    unsafe extern "C" {
        fn clock_gettime(clock: i32, time: *mut [i64; 2]) -> i32;
    }
    let mut time = [0; 2];
    // SAFETY: on 64-bit systems `timespec` is two 64-bit integers: seconds and nanoseconds.
    let status = unsafe { clock_gettime(CLOCK_THREAD_CPUTIME_ID, &raw mut time) };
    assert_eq!(status, 0, "this system has no clock for the CPU time of a thread");
    Duration::new(time[0] as u64, time[1] as u32)
}
