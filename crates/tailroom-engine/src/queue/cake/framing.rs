//! Words of tc-cake(8) for the framing of a line.

use crate::derives::{Deserialize, JsonSchema, Ranges, Serialize};
use crate::framing::{Cells, Framing};

macro_rules! keywords {
    ($($(#[$about:meta])* $keyword:ident = $overhead:literal, $mpu:literal, $cells:expr;)+) => {
        /// The framing of a kind of line, as tc-cake(8) names it.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema, Ranges)]
        #[serde(rename_all = "kebab-case")]
        pub enum FramingKeyword {
            $($(#[$about])* $keyword,)+
        }

        impl FramingKeyword {
            /// What it stands for.
            pub fn framing(self) -> Framing {
                match self {
                    $(FramingKeyword::$keyword => Framing {
                        overhead: $overhead, mpu: $mpu, cells: $cells,
                    },)+
                }
            }
        }
    };
}

keywords! {
    /// Nothing is added.
    Raw = 0, 0, None;
    /// 48 B in ATM cells: more than any line has.
    Conservative = 48, 0, Some(Cells::Atm);
    /// 10 B in ATM cells.
    PppoaVcmux = 10, 0, Some(Cells::Atm);
    /// 14 B in ATM cells.
    PppoaLlc = 14, 0, Some(Cells::Atm);
    /// 32 B in ATM cells.
    PppoeVcmux = 32, 0, Some(Cells::Atm);
    /// 40 B in ATM cells.
    PppoeLlcsnap = 40, 0, Some(Cells::Atm);
    /// 24 B in ATM cells.
    BridgedVcmux = 24, 0, Some(Cells::Atm);
    /// 32 B in ATM cells.
    BridgedLlcsnap = 32, 0, Some(Cells::Atm);
    /// 8 B in ATM cells.
    IpoaVcmux = 8, 0, Some(Cells::Atm);
    /// 16 B in ATM cells.
    IpoaLlcsnap = 16, 0, Some(Cells::Atm);
    /// 30 B in PTM.
    PppoePtm = 30, 0, Some(Cells::Ptm);
    /// 22 B in PTM.
    BridgedPtm = 22, 0, Some(Cells::Ptm);
    /// Cable: 18 B, at least 64 B.
    Docsis = 18, 64, None;
    /// Ethernet with preamble and gap: 38 B, at least 84 B.
    Ethernet = 38, 84, None;
}
