//! The four dumbbells, and what their flows begin with.

use crate::flow::Flow;
use crate::window_law::WindowLaw;

/// Permanent flows over one link, with RTTs that are uniform within 20 % of the mean.
pub struct Scenario {
    pub flows: usize,
    pub rate_bps: f64,
    pub packet_bytes: f64,
    pub rtt_s: f64,
    pub buffer_packets: u64,
    pub duration_s: f64,
    /// A bucket of the event queue lasts 2 to this power, in picoseconds: some hundred events.
    pub bucket_shift: u32,
}

impl Scenario {
    /// Returns scenario 1, 2, 3 or 4.
    pub fn numbered(number: usize) -> Option<Self> {
        let (flows, rate_bps, packet_bytes, rtt_s, buffer_packets, duration_s, bucket_shift) =
            match number {
                1 => (10, 1e9, 1000.0, 0.120, 1250, 300.0, 31),
                2 => (100, 10e9, 1500.0, 0.040, 8333, 60.0, 28),
                3 => (10_000, 100e9, 1500.0, 0.050, 41_667, 10.0, 26),
                4 => (100_000, 400e9, 1500.0, 0.050, 166_667, 10.0, 24),
                _ => return None,
            };
        Some(Self {
            flows,
            rate_bps,
            packet_bytes,
            rtt_s,
            buffer_packets,
            duration_s,
            bucket_shift,
        })
    }

    pub fn end_ps(&self) -> u64 {
        (self.duration_s * 1e12) as u64
    }

    /// Returns the flows and the times at which they start, which are uniform over two mean RTTs.
    pub fn draw_flows(&self, law: &WindowLaw) -> (Vec<Flow>, Vec<u64>) {
        let mut state = 12345;
        (0..self.flows)
            .map(|_| {
                let rtt_s = (0.8 + 0.4 * uniform(&mut state)) * self.rtt_s;
                let start_ps = (uniform(&mut state) * 2.0 * self.rtt_s * 1e12) as u64;
                (Flow::new((rtt_s * 1e12) as u64, law), start_ps)
            })
            .unzip()
    }
}

/// Draws from [0, 1) with Knuth's linear congruential generator (MMIX).
fn uniform(state: &mut u64) -> f64 {
    *state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
    (*state >> 11) as f64 / (1u64 << 53) as f64
}
