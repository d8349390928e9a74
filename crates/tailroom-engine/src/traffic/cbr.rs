//! Constant bit rate: equally spaced packets of one size.

use super::{Emission, TrafficSource};
use crate::link::serializer::Serializer;
use crate::units::{Rate, Time};

/// A constant-rate source; the spacing is exact, its fraction of a picosecond carried.
#[derive(Debug)]
pub struct Cbr {
    spacing: Serializer,
    bytes: u32,
    next: Time,
}

impl Cbr {
    /// Packets of `bytes` at `rate` from `start` on.
    pub fn new(rate: Rate, bytes: u32, start: Time) -> Self {
        Cbr { spacing: Serializer::constant(rate), bytes, next: start }
    }
}

impl TrafficSource for Cbr {
    fn next_emission(&mut self) -> Emission {
        let time = self.next;
        self.next = self.spacing.finish(time, self.bytes);
        Emission { time, bytes: self.bytes }
    }
}
