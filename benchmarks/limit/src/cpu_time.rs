//! The CPU time of the run, in chunks of events.

use std::time::Duration;

const CHUNK: u64 = 1 << 18;

/// The end of a chunk: CPU time, and counts of packets so far.
struct End {
    ns: f64,
    packet_hops: u64,
    drops: u64,
}

/// The ends of all chunks.
#[derive(Default)]
pub struct Chunks {
    ends: Vec<End>,
}

impl Chunks {
    /// Whether a chunk ends with this event.
    #[inline(always)]
    pub fn end_at(events: u64) -> bool {
        events.is_multiple_of(CHUNK)
    }

    #[cold]
    #[inline(never)]
    pub fn record(&mut self, packet_hops: u64, drops: u64) {
        self.ends.push(End { ns: cpu_time().as_nanos() as f64, packet_hops, drops });
    }

    /// Returns the ns per packet-hop of each chunk in the last 70 % of the run, in ascending order.
    pub fn steady(&self) -> Vec<f64> {
        let mut figures: Vec<f64> = self.steady_ends().windows(2).map(ns_per_hop).collect();
        figures.sort_by(f64::total_cmp);
        figures
    }

    /// Returns the ns per packet-hop over the last 70 % of the run.
    pub fn steady_mean(&self) -> f64 {
        ns_per_hop(self.steady_ends())
    }

    /// Returns the share of packets that the links drop over the last 70 % of the run.
    pub fn steady_loss(&self) -> f64 {
        let [first, .., last] = self.steady_ends() else { return f64::NAN };
        let drops = (last.drops - first.drops) as f64;
        drops / (drops + (last.packet_hops - first.packet_hops) as f64)
    }

    fn steady_ends(&self) -> &[End] {
        &self.ends[self.ends.len() * 3 / 10..]
    }
}

/// From the first of these ends to the last one.
fn ns_per_hop(ends: &[End]) -> f64 {
    let [first, .., last] = ends else { return f64::NAN };
    (last.ns - first.ns) / (last.packet_hops - first.packet_hops).max(1) as f64
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
