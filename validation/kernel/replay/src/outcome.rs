//! What a comparison has found.

use serde::Serialize;

use crate::trace::{Callback, Kind};

/// The callbacks of a replay: how many gave the kernel's window.
#[derive(Clone, Debug, Default, Serialize)]
pub struct Outcome {
    /// Callbacks whose window, or answer to congestion, was compared.
    pub compared: u64,
    /// Congestions of the recording. A rate-based control is told of them and answers with nothing.
    pub congestions: u64,
    /// Callbacks with the kernel's number of whole packets.
    pub equal: u64,
    /// Callbacks with another number.
    pub different: u64,
    /// Largest difference, in packets.
    pub largest_packets: f64,
    /// The same from one congestion to the next.
    pub largest_by_epoch_packets: Vec<f64>,
    /// How often the kernel's sender set the window itself, to another value than ssthresh, as it
    /// does in recovery; the replay takes such a window over.
    pub taken_over: u64,
    /// The differences.
    pub differences: Vec<Difference>,
}

/// A callback with another window than the kernel's.
#[derive(Clone, Debug, Serialize)]
pub struct Difference {
    /// Its number, from 0.
    pub callback: usize,
    /// When, in seconds since the first callback.
    pub at_s: f64,
    /// Whether it was congestion.
    pub is_congestion: bool,
    /// The kernel's window, in packets.
    pub kernel: f64,
    /// tailroom's.
    pub tailroom: f64,
}

impl Outcome {
    /// Compares the windows after a callback. They are equal if they differ by less than `room`.
    pub fn compare(&mut self, at: usize, callback: &Callback, sides: [f64; 2], room: f64) {
        let [kernel, tailroom] = sides;
        let distance = (kernel - tailroom).abs();
        let is_congestion = callback.kind == Kind::Congestion;
        self.compared += 1;
        self.congestions += u64::from(is_congestion);
        self.largest_packets = self.largest_packets.max(distance);
        if is_congestion || self.largest_by_epoch_packets.is_empty() {
            self.largest_by_epoch_packets.push(0.0);
        }
        if let Some(largest) = self.largest_by_epoch_packets.last_mut() {
            *largest = largest.max(distance);
        }
        if distance < room {
            self.equal += 1;
            return;
        }
        self.different += 1;
        let at_s = callback.now.seconds();
        self.differences.push(Difference { callback: at, at_s, is_congestion, kernel, tailroom });
    }
}
