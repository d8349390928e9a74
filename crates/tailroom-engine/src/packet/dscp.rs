//! Differentiated services code points (RFC 2474), by the names of RFC 4594, 5865 and 8622.

use crate::derives::{Deserialize, JsonSchema, Ranges, Serialize};

macro_rules! code_points {
    ($($(#[$about:meta])* $variant:ident $name:literal = $value:literal,)+) => {
        /// The code point of a packet, which says how routers may treat it.
        #[derive(
            Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema, Ranges,
        )]
        #[repr(u8)]
        pub enum Dscp {
            $($(#[$about])* #[serde(rename = $name)] $variant = $value,)+
        }
    };
}

code_points! {
    /// Best effort: the default.
    #[default]
    Be "BE" = 0,
    /// Lower effort (RFC 8622).
    Le "LE" = 1,
    /// Class selector 1, background before RFC 8622.
    Cs1 "CS1" = 8,
    /// Assured forwarding.
    Af11 "AF11" = 10,
    /// Assured forwarding.
    Af12 "AF12" = 12,
    /// Assured forwarding.
    Af13 "AF13" = 14,
    /// Class selector 2.
    Cs2 "CS2" = 16,
    /// Assured forwarding.
    Af21 "AF21" = 18,
    /// Assured forwarding.
    Af22 "AF22" = 20,
    /// Assured forwarding.
    Af23 "AF23" = 22,
    /// Class selector 3.
    Cs3 "CS3" = 24,
    /// Assured forwarding.
    Af31 "AF31" = 26,
    /// Assured forwarding.
    Af32 "AF32" = 28,
    /// Assured forwarding.
    Af33 "AF33" = 30,
    /// Class selector 4.
    Cs4 "CS4" = 32,
    /// Assured forwarding.
    Af41 "AF41" = 34,
    /// Assured forwarding.
    Af42 "AF42" = 36,
    /// Assured forwarding.
    Af43 "AF43" = 38,
    /// Class selector 5.
    Cs5 "CS5" = 40,
    /// Admitted voice (RFC 5865).
    Va "VA" = 44,
    /// Expedited forwarding.
    Ef "EF" = 46,
    /// Class selector 6.
    Cs6 "CS6" = 48,
    /// Class selector 7.
    Cs7 "CS7" = 56,
}
