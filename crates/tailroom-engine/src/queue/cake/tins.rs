//! Tins: the classes of traffic of CAKE, the rate up to which each has priority, and its share beyond.

use crate::derives::{Deserialize, JsonSchema, Ranges, Serialize};
use crate::packet::dscp::Dscp;
use crate::units::Rate;

/// The most tins.
pub(super) const MOST_TINS: usize = 8;

/// How code points are sorted into tins.
#[derive(
    Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema, Ranges,
)]
#[serde(rename_all = "snake_case")]
pub enum Diffserv {
    /// One tin.
    Besteffort,
    /// Eight tins by the first three bits of the code point. Each has priority over those before it up to
    /// 7/8 of their rate.
    Precedence,
    /// Bulk (CS1, LE) up to 1/16 of the rate, Best Effort, and Voice (CS6, CS7, EF, VA) up to a quarter.
    #[default]
    Diffserv3,
    /// Bulk (CS1, LE) up to 1/16, Best Effort, Video (CS2, CS3, `AF2x` to `AF4x`) up to half of the rate, and
    /// Voice (CS4 to CS7, EF, VA) up to a quarter.
    Diffserv4,
    /// Eight tins, each up to 7/8 of the rate of the one before: LE; CS1 and `AF1x`; Best Effort; CS3, `AF3x` and
    /// `AF4x`; `AF2x`; CS2; CS4, CS5, VA and EF; CS6 and CS7.
    Diffserv8,
}

/// Part of the rate up to which a tin has priority, and its quantum where there is no rate.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Share {
    /// The threshold is this part of the rate.
    numerator: u64,
    denominator: u64,
    /// Bytes per round.
    pub(super) quantum: i32,
}

impl Share {
    const fn new(denominator: u64, quantum: i32) -> Self {
        Share { numerator: 1, denominator, quantum }
    }

    /// The threshold at this rate.
    pub(super) fn threshold(self, rate: Rate) -> Rate {
        let bits = u128::from(rate.bits_per_second()) * u128::from(self.numerator)
            / u128::from(self.denominator);
        Rate::from_bits_per_second((bits as u64).max(1))
    }
}

impl Diffserv {
    /// The tins in the kernel's order: of those below their threshold, the last one is served.
    pub(super) fn shares(self) -> Vec<Share> {
        match self {
            Diffserv::Besteffort => vec![Share::new(1, 65_535)],
            Diffserv::Diffserv3 => {
                vec![Share::new(1, 1_024), Share::new(16, 64), Share::new(4, 256)]
            }
            Diffserv::Diffserv4 => vec![
                Share::new(1, 1_024),
                Share::new(16, 64),
                Share::new(2, 512),
                Share::new(4, 256),
            ],
            Diffserv::Precedence | Diffserv::Diffserv8 => {
                let mut share = Share::new(1, 256);
                let next = |_| {
                    let this = share;
                    share.numerator *= 7;
                    share.denominator *= 8;
                    share.quantum = (share.quantum * 7 / 8).max(1);
                    this
                };
                (0..MOST_TINS).map(next).collect()
            }
        }
    }

    /// The tin of a code point (the tables of `sch_cake.c`).
    pub(super) fn tin(self, dscp: Dscp) -> usize {
        use Dscp::{
            Af11, Af12, Af13, Af21, Af22, Af23, Af31, Af32, Af33, Af41, Af42, Af43, Be, Cs1, Cs2,
            Cs3, Cs4, Cs5, Cs6, Cs7, Ef, Le, Va,
        };
        match self {
            Diffserv::Besteffort => 0,
            Diffserv::Precedence => dscp as usize >> 3,
            Diffserv::Diffserv3 => match dscp {
                Le | Cs1 => 1,
                Va | Ef | Cs6 | Cs7 => 2,
                _ => 0,
            },
            Diffserv::Diffserv4 => match dscp {
                Le | Cs1 => 1,
                Cs2 | Af21 | Af22 | Af23 | Cs3 | Af31 | Af32 | Af33 | Af41 | Af42 | Af43 => 2,
                Cs4 | Cs5 | Va | Ef | Cs6 | Cs7 => 3,
                Be | Af11 | Af12 | Af13 => 0,
            },
            Diffserv::Diffserv8 => match dscp {
                Le => 0,
                Cs1 | Af11 | Af12 | Af13 => 1,
                Be => 2,
                Cs3 | Af31 | Af32 | Af33 | Af41 | Af42 | Af43 => 3,
                Af21 | Af22 | Af23 => 4,
                Cs2 => 5,
                Cs4 | Cs5 | Va | Ef => 6,
                Cs6 | Cs7 => 7,
            },
        }
    }
}
