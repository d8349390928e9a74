//! What the link layer adds to a packet, as Linux's CAKE counts it (`cake_calc_overhead` in `sch_cake.c`).

use crate::derives::{Deserialize, JsonSchema, Ranges, Serialize};

/// The most bytes of the link layer per packet, and the largest minimum of a packet on the line.
pub(crate) const MOST_OVERHEAD_BYTES: u64 = 256;

/// Cells of a link layer.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema, Ranges)]
#[serde(rename_all = "snake_case")]
pub enum Cells {
    /// ADSL: 48 bytes of data in each cell of 53 bytes, the last one padded.
    Atm,
    /// VDSL2: a byte for every 64 bytes or part of them.
    Ptm,
}

/// Overhead, smallest packet and cells of a link layer.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Framing {
    /// Bytes beyond those of the packet, at most 256.
    pub overhead: u32,
    /// Fewest bytes of a packet with its overhead, at most 256.
    pub mpu: u32,
    /// Its cells, if it has any.
    pub cells: Option<Cells>,
}

impl Framing {
    /// The bytes that a packet takes on the line.
    #[inline]
    pub fn framed(self, packet_bytes: u32) -> u32 {
        let bytes = (packet_bytes + self.overhead).max(self.mpu);
        match self.cells {
            None => bytes,
            Some(Cells::Atm) => bytes.div_ceil(48) * 53,
            Some(Cells::Ptm) => bytes + bytes.div_ceil(64),
        }
    }
}
