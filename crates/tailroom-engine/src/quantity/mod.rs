//! Quantities as a scenario writes them: a number and a unit in one string, read exactly.
//!
//! Decimals are never converted to floats: `"0.1 ms"` is 10^8 ps. Times and rates are rounded to
//! the nearest whole picosecond or bit/s; sizes must be whole bytes.

pub mod limit;
#[cfg(feature = "scenario")]
mod schema;
#[cfg(any(feature = "results", feature = "scenario"))]
mod serialize;

pub(crate) mod decimal;

use std::fmt;
use std::marker::PhantomData;

use crate::parameters::{BadParameter, Ranges, check};
use crate::quoting::quoted;
use crate::spelling;
use crate::units::{Rate, Time};
use decimal::Decimal;

/// An error about a quantity: the problem and the remedy.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BadQuantity {
    /// What is wrong.
    pub problem: String,
    /// What to do.
    pub remedy: String,
}

impl fmt::Display for BadQuantity {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{}; {}", self.problem, self.remedy)
    }
}

/// Name of a unit, and its size in base units.
pub type Unit = (&'static str, u64);

/// A dimension (time, rate or size) with its units and its range.
pub struct Dimension {
    /// Accepted units; the first is the base unit.
    units: &'static [Unit],
    /// Units used in output, largest first; each is a power of ten of the base unit.
    printed: &'static [Unit],
    example: &'static str,
    /// Unit of a number without a unit, in a table of numbers or from a program.
    bare: &'static str,
    maximum: u64,
    /// Whether a fraction of the base unit is an error instead of being rounded.
    is_whole: bool,
}

const TIME: Dimension = Dimension {
    units: &[
        ("ps", 1),
        ("ns", 1_000),
        ("us", 1_000_000),
        ("ms", 1_000_000_000),
        ("s", 1_000_000_000_000),
        ("min", 60_000_000_000_000),
        ("h", 3_600_000_000_000_000),
    ],
    printed: &[
        ("s", 1_000_000_000_000),
        ("ms", 1_000_000_000),
        ("us", 1_000_000),
        ("ns", 1_000),
        ("ps", 1),
    ],
    example: "100 ms",
    bare: "s",
    maximum: 30 * 24 * 3_600_000_000_000_000, // 30 days: sums of a few stay inside a u64
    is_whole: false,
};

const RATE: Dimension = Dimension {
    units: &[
        ("bit/s", 1),
        ("kbit/s", 1_000),
        ("Mbit/s", 1_000_000),
        ("Gbit/s", 1_000_000_000),
        ("Tbit/s", 1_000_000_000_000),
        ("bps", 1),
        ("Mbps", 1_000_000),
        ("Gbps", 1_000_000_000),
        ("Tbps", 1_000_000_000_000),
        // The units of tc.
        ("bit", 1),
        ("kbit", 1_000),
        ("Mbit", 1_000_000),
        ("Gbit", 1_000_000_000),
        ("Tbit", 1_000_000_000_000),
    ],
    printed: &[("Gbit/s", 1_000_000_000), ("Mbit/s", 1_000_000), ("kbit/s", 1_000), ("bit/s", 1)],
    example: "1 Gbit/s",
    bare: "bit/s",
    maximum: 100_000_000_000_000,
    is_whole: false,
};

const SIZE: Dimension = Dimension {
    units: &[
        ("B", 1),
        ("kB", 1_000),
        ("MB", 1_000_000),
        ("GB", 1_000_000_000),
        ("TB", 1_000_000_000_000),
        ("KiB", 1 << 10),
        ("MiB", 1 << 20),
        ("GiB", 1 << 30),
    ],
    printed: &[("GB", 1_000_000_000), ("MB", 1_000_000), ("B", 1)],
    example: "1500 B",
    bare: "B",
    maximum: 1_000_000_000_000_000,
    is_whole: true,
};

impl Dimension {
    pub(crate) const fn time() -> &'static Dimension {
        &TIME
    }

    pub(crate) const fn size() -> &'static Dimension {
        &SIZE
    }

    pub(crate) fn units(&self) -> &'static [Unit] {
        self.units
    }

    /// Base units of one, where a number has no unit in a table: a byte, a second or a bit/s.
    pub(crate) fn bare_base_units(&self) -> u64 {
        self.units.iter().find(|(name, _)| *name == self.bare).map_or(1, |(_, size)| *size)
    }

    /// The largest quantity, in base units.
    pub(crate) const fn maximum(&self) -> u64 {
        self.maximum
    }

    /// Converts `number` of `unit` to base units; `text` is for messages.
    pub(crate) fn convert(
        &self,
        text: &str,
        number: Decimal,
        unit: Unit,
        allows_zero: bool,
    ) -> Result<u64, BadQuantity> {
        let base = self.units[0].0;
        let bad = |problem: String, remedy: String| BadQuantity {
            problem: format!("\"{}\" {problem}", quoted(text)),
            remedy,
        };
        let too_large = || {
            let most = self.print(self.maximum);
            bad("is too large".into(), format!("write at most \"{most}\""))
        };
        let product = number.times(unit.1).ok_or_else(too_large)?;
        if self.is_whole && !product.is_exact {
            let remedy = format!("write whole {base}, as in \"{}\"", self.example);
            return Err(bad(format!("is not a whole number of {base}"), remedy));
        }
        let value = u64::try_from(product.nearest).map_err(|_| too_large())?;
        if value > self.maximum {
            return Err(too_large());
        }
        if value == 0 && !number.is_zero() {
            return Err(bad(
                format!("is less than 1 {base}"),
                format!("write at least \"1 {base}\""),
            ));
        }
        if value == 0 && !allows_zero {
            let remedy = format!("write a positive value, as in \"{}\"", self.example);
            return Err(bad("must not be zero".into(), remedy));
        }
        Ok(value)
    }

    /// Formats base units so that reading the text gives the same value.
    pub(crate) fn print(&self, value: u64) -> String {
        let fits = self.printed.iter().find(|(_, scale)| value >= *scale);
        // Zero is below every unit; print it in the largest one.
        let (unit, scale) = fits.copied().unwrap_or(self.printed[0]);
        let (whole, rest) = (value / scale, value % scale);
        if rest == 0 {
            return format!("{whole} {unit}");
        }
        let digits = scale.ilog10() as usize;
        let fraction = format!("{rest:0digits$}");
        format!("{whole}.{} {unit}", fraction.trim_end_matches('0'))
    }
}

/// Units that mean bytes per second to tc and bits per second elsewhere: the unit, its meaning to
/// tc, and the unit for bits.
const AMBIGUOUS: &[(&str, &str, &str)] = &[
    ("kbps", "kilobytes", "kbit/s"),
    ("mbps", "megabytes", "Mbit/s"),
    ("gbps", "gigabytes", "Gbit/s"),
    ("tbps", "terabytes", "Tbit/s"),
];

/// Returns whether a unit is case-insensitive: units of tc that end in "bit", which have no other
/// meaning in another case, and words.
fn is_case_insensitive(unit: &str) -> bool {
    let word = unit.strip_suffix("/s").unwrap_or(unit);
    word.ends_with("bit") || word.starts_with("packet") || word == "bdp"
}

/// Returns a list of units for a message; of rates, without those of tc and other short forms.
pub(crate) fn unit_names(units: &[Unit]) -> String {
    let is_rate = units.iter().any(|(name, _)| *name == "bit/s");
    let names = units.iter().map(|(name, _)| *name);
    let names: Vec<&str> = names.filter(|name| !is_rate || name.ends_with("/s")).collect();
    names.join(", ")
}

/// Splits a quantity into its number and its unit.
pub(crate) fn split<'a>(
    text: &'a str,
    units: &[Unit],
    example: &str,
    allows_zero: bool,
) -> Result<(Decimal, Unit), BadQuantity> {
    if text.trim().strip_prefix('-').is_some_and(|rest| Decimal::read(rest).is_some()) {
        let allowed = if allows_zero { "0 or more" } else { "more than 0" };
        let problem = format!("\"{}\" is negative", quoted(text));
        return Err(BadQuantity {
            problem,
            remedy: format!("write {allowed}, as in \"{example}\""),
        });
    }
    let accepted =
        || format!("write a number and one of {}, as in \"{example}\"", unit_names(units));
    let bad = |problem: String| BadQuantity { problem, remedy: accepted() };
    let (number, unit): (_, &'a str) = match Decimal::read(text.trim()) {
        Some(Ok((number, rest))) => (number, rest.trim_start()),
        Some(Err(problem)) => return Err(bad(format!("\"{}\" {problem}", quoted(text)))),
        None => return Err(bad(format!("\"{}\" is not a number with a unit", quoted(text)))),
    };
    if unit.is_empty() {
        return Err(bad(format!("\"{}\" has no unit", quoted(text))));
    }
    let is_meant =
        |name: &str| name == unit || (is_case_insensitive(name) && name.eq_ignore_ascii_case(unit));
    if let Some(known) = units.iter().find(|(name, _)| is_meant(name)) {
        return Ok((number, *known));
    }
    let is_rate = units.iter().any(|(name, _)| *name == "bit/s");
    let ambiguous = AMBIGUOUS.iter().find(|(name, ..)| is_rate && *name == unit);
    if let Some((_, bytes, bits)) = ambiguous {
        let problem = format!("\"{unit}\" is ambiguous: to tc it means {bytes} per second");
        let remedy = format!(
            "write \"{number} {bits}\" for bits per second, or 8 times the number for bytes per \
             second"
        );
        return Err(BadQuantity { problem, remedy });
    }
    let other = is_rate.then(|| of_another_rate(unit)).flatten();
    let remedy = other.or_else(|| {
        let names: Vec<&str> = units.iter().map(|(name, _)| *name).collect();
        let name = *spelling::known(unit, &names).first()?;
        Some(format!("did you mean \"{number} {name}\"?"))
    });
    let problem = format!("\"{}\" is not a known unit", quoted(unit));
    Err(BadQuantity { problem, remedy: remedy.unwrap_or_else(accepted) })
}

/// The remedy for what is written where a rate in bit/s stands: bytes per second, or the rates of two
/// directions.
fn of_another_rate(unit: &str) -> Option<String> {
    let other = unit.strip_prefix('/');
    if other.is_some_and(|other| Decimal::read(other.trim()).is_some()) {
        return Some(
            "write the rate of one direction, as in \"300 Mbit/s\"; the other direction is a link \
             of its own"
                .to_owned(),
        );
    }
    let prefix = unit.strip_suffix("B/s").or_else(|| unit.strip_suffix("Bps"))?;
    let bits = ["", "k", "M", "G", "T"].into_iter().find(|one| one.eq_ignore_ascii_case(prefix))?;
    Some(format!("for bytes per second write 8 times the number in {bits}bit/s"))
}

/// A kind of quantity: a [`Dimension`] with a name in the schema, with or without zero.
pub trait Kind {
    /// Name in the schema, which also selects the check of the kind.
    const NAME: &'static str;
    /// Description in the schema.
    const MEANING: &'static str;
    /// Whether zero is allowed.
    const ALLOWS_ZERO: bool;
    /// Units and range.
    const DIMENSION: &'static Dimension;
}

macro_rules! kinds {
    ($($(#[$doc:meta])* $kind:ident / $quantity:ident = $name:literal, $dimension:ident,
       zero: $zero:literal, $meaning:literal;)+) => {
        $(
            /// Marks the kind of a quantity.
            #[derive(Clone, Copy, Debug, PartialEq, Eq)]
            pub struct $kind;

            impl Kind for $kind {
                const NAME: &'static str = $name;
                const MEANING: &'static str = $meaning;
                const ALLOWS_ZERO: bool = $zero;
                const DIMENSION: &'static Dimension = &$dimension;
            }

            $(#[$doc])*
            pub type $quantity = Quantity<$kind>;
        )+

        /// Returns the units of the kind of quantity that the schema calls `name`.
        pub(crate) fn units_of(name: &str) -> Vec<Unit> {
            match name {
                $($name => <$kind>::DIMENSION.units.to_vec(),)+
                _ => limit::units(),
            }
        }

        /// Returns the unit of a number without a unit, where a program may give one.
        pub(crate) fn bare_unit_of(name: &str) -> &'static str {
            match name {
                $($name => <$kind>::DIMENSION.bare,)+
                _ => limit::BARE,
            }
        }

        /// Checks that `text` is a quantity of the kind that the schema calls `name`.
        pub(crate) fn verify(name: &str, text: &str) -> Result<(), BadQuantity> {
            match name {
                $($name => Quantity::<$kind>::read(text).map(drop),)+
                _ => limit::QueueLimit::read(text).map(drop),
            }
        }

        /// Reads `text` as a quantity of the kind that the schema calls `name`, in base units:
        /// picoseconds, bit/s or bytes. Returns `None` if there is no such kind.
        ///
        /// # Errors
        /// Returns what is wrong and which units are accepted.
        pub fn read_base_units(name: &str, text: &str) -> Option<Result<u64, BadQuantity>> {
            match name {
                $($name => Some(Quantity::<$kind>::read(text).map(Quantity::base_units)),)+
                _ => None,
            }
        }
    };
}

kinds! {
    /// A span of time that may be zero.
    DurationKind / Duration = "duration", TIME, zero: true,
        "Time with its unit: ps, ns, us, ms, s, min or h";
    /// A span of time above zero.
    PositiveDurationKind / PositiveDuration = "positive_duration", TIME, zero: false,
        "Time above zero with its unit: ps, ns, us, ms, s, min or h";
    /// A rate above zero.
    BitRateKind / BitRate = "rate", RATE, zero: false,
        "Rate above zero with its unit: bit/s, kbit/s, Mbit/s, Gbit/s, Tbit/s, or Mbps, or mbit as in tc";
    /// A rate that may be zero, for a link that is stopped.
    BitRateOrZeroKind / BitRateOrZero = "rate_or_zero", RATE, zero: true,
        "Rate with its unit: bit/s, kbit/s, Mbit/s, Gbit/s, Tbit/s, or Mbps, or mbit as in tc";
    /// A size in bytes above zero.
    SizeKind / Size = "size", SIZE, zero: false,
        "Size above zero with its unit: B, kB, MB, GB, TB (powers of 1000), KiB, MiB or GiB";
    /// A size in bytes that may be zero.
    SizeOrZeroKind / SizeOrZero = "size_or_zero", SIZE, zero: true,
        "Size with its unit: B, kB, MB, GB, TB (powers of 1000), KiB, MiB or GiB";
}

/// A quantity of kind `K` in base units: picoseconds, bit/s or bytes.
pub struct Quantity<K>(u64, PhantomData<K>);

impl<K: Kind> Quantity<K> {
    /// Creates a quantity from base units: picoseconds, bit/s or bytes.
    pub const fn new(base_units: u64) -> Self {
        Quantity(base_units, PhantomData)
    }

    /// Reads a number with a unit.
    ///
    /// # Errors
    /// Returns what is wrong and which units are accepted.
    pub(crate) fn read(text: &str) -> Result<Self, BadQuantity> {
        let (number, unit) = split(text, K::DIMENSION.units, K::DIMENSION.example, K::ALLOWS_ZERO)?;
        K::DIMENSION.convert(text, number, unit, K::ALLOWS_ZERO).map(Self::new)
    }

    /// Reads an entry of a table of numbers, which may be zero; without a unit it is in bytes,
    /// seconds or bit/s.
    pub(crate) fn read_in_table(text: &str) -> Result<Self, BadQuantity> {
        let is_bare = text.ends_with(|letter: char| letter.is_ascii_digit());
        let bare = if is_bare { K::DIMENSION.bare } else { "" };
        let text = format!("{text}{bare}");
        let (number, unit) = split(&text, K::DIMENSION.units, K::DIMENSION.example, true)?;
        K::DIMENSION.convert(&text, number, unit, true).map(Self::new)
    }

    /// Returns the quantity in base units: picoseconds, bit/s or bytes.
    pub const fn base_units(self) -> u64 {
        self.0
    }
}

impl Duration {
    /// Converts to the engine's time.
    pub const fn time(self) -> Time {
        Time::from_picoseconds(self.0)
    }
}

impl From<Time> for Duration {
    fn from(time: Time) -> Self {
        Self::new(time.picoseconds())
    }
}

impl PositiveDuration {
    /// Creates a duration from milliseconds.
    pub const fn from_milliseconds(milliseconds: u64) -> Self {
        Self::new(Time::from_milliseconds(milliseconds).picoseconds())
    }

    /// Converts to the engine's time.
    pub const fn time(self) -> Time {
        Time::from_picoseconds(self.0)
    }
}

impl BitRate {
    /// Converts to the engine's rate.
    pub const fn rate(self) -> Rate {
        Rate::from_bits_per_second(self.0)
    }
}

impl BitRateOrZero {
    /// Converts to the engine's rate.
    pub const fn rate(self) -> Rate {
        Rate::from_bits_per_second(self.0)
    }
}

impl Size {
    /// Returns the size in bytes.
    pub const fn bytes(self) -> u64 {
        self.0
    }
}

impl SizeOrZero {
    /// Returns the size in bytes.
    pub const fn bytes(self) -> u64 {
        self.0
    }
}

// Derived impls would require `K` to implement the traits too, although it is only a marker.
impl<K> Clone for Quantity<K> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<K> Copy for Quantity<K> {}

impl<K> PartialEq for Quantity<K> {
    fn eq(&self, other: &Self) -> bool {
        self.0 == other.0
    }
}

impl<K: Kind> fmt::Debug for Quantity<K> {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, formatter)
    }
}

impl<K: Kind> fmt::Display for Quantity<K> {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(&K::DIMENSION.print(self.0))
    }
}

impl<K: Kind> Ranges for Quantity<K> {
    fn check_ranges(&self) -> Result<(), BadParameter> {
        let (base, maximum) = (K::DIMENSION.units[0].0, K::DIMENSION.maximum);
        let most = K::DIMENSION.print(maximum);
        if self.0 == 0 && !K::ALLOWS_ZERO {
            let allowed = format!("at least \"1 {base}\" and at most \"{most}\"");
            return check("", format!("0 {base}"), false, &allowed);
        }
        check("", self, self.0 <= maximum, &format!("at most \"{most}\""))
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn problem<K: Kind>(text: &str) -> String {
        Quantity::<K>::read(text).unwrap_err().problem
    }

    #[test]
    fn decimals_are_read_exactly() {
        let picoseconds = |text: &str| Duration::read(text).unwrap().base_units();
        assert_eq!(picoseconds("0.1 ms"), 100_000_000);
        assert_eq!(picoseconds("115.5ms"), 115_500_000_000);
        assert_eq!(picoseconds(" 2 min "), 120_000_000_000_000);
        assert_eq!(picoseconds("1.5 h"), 5_400_000_000_000_000);
        assert_eq!(picoseconds("0 s"), 0);
        // The text of the float nearest to 0.3 is rounded to the nearest picosecond.
        assert_eq!(picoseconds("0.30000000000000004 s"), 300_000_000_000);
        assert_eq!(picoseconds("1e-05 s"), 10_000_000);
    }

    #[test]
    fn both_notations_of_a_rate_agree() {
        let rate = |text: &str| BitRate::read(text).unwrap().rate();
        assert_eq!(rate("2.5 Gbit/s"), rate("2500 Mbps"));
        assert_eq!(rate("64 kbit/s"), Rate::from_bits_per_second(64_000));
        assert_eq!(BitRateOrZero::read("0 bit/s").unwrap().rate(), Rate::from_bits_per_second(0));
    }

    /// The notation of tc (`rate 10mbit`), and rates without a space. Defect 12.
    #[test]
    fn rates_may_be_written_as_for_tc() {
        let rate = |text: &str| BitRate::read(text).unwrap().base_units();
        for text in ["10Mbit", "10mbit", "10MBIT", "10 Mbit", "10Mbit/s", "10mbit/s", "10Mbps"] {
            assert_eq!(rate(text), 10_000_000, "{text}");
        }
        assert_eq!(rate("5bit"), 5);
        assert_eq!(rate("64kbit"), 64_000);
        assert_eq!(rate("64Kbit"), 64_000);
        assert_eq!(rate("2.5gbit"), 2_500_000_000);
        assert_eq!(rate("1tbit"), 1_000_000_000_000);
    }

    #[test]
    fn a_rate_that_tc_reads_as_bytes_is_refused() {
        let bad = BitRate::read("10mbps").unwrap_err();
        assert_eq!(bad.problem, "\"mbps\" is ambiguous: to tc it means megabytes per second");
        assert_eq!(
            bad.remedy,
            "write \"10 Mbit/s\" for bits per second, or 8 times the number for bytes per second"
        );
        assert!(problem::<BitRateKind>("64 kbps").starts_with("\"kbps\" is ambiguous"));
        assert!(problem::<BitRateKind>("1gbps").starts_with("\"gbps\" is ambiguous"));
        assert_eq!(problem::<DurationKind>("1 mbps"), "\"mbps\" is not a known unit");
    }

    #[test]
    fn a_unit_that_people_write_otherwise_is_named() {
        let remedy = |bad: Result<u64, BadQuantity>| bad.unwrap_err().remedy;
        let rate = |text: &str| remedy(BitRate::read(text).map(Quantity::base_units));
        let size = |text: &str| remedy(Size::read(text).map(Quantity::base_units));
        let time = |text: &str| remedy(Duration::read(text).map(Quantity::base_units));
        assert_eq!(size("100KB"), "did you mean \"100 kB\"?");
        assert_eq!(size("5 bytes"), "did you mean \"5 B\"?");
        assert_eq!(time("10 S"), "did you mean \"10 s\"?");
        assert_eq!(time("2 seconds"), "did you mean \"2 s\"?");
        assert_eq!(rate("300M"), "did you mean \"300 Mbit/s\"?");
        assert_eq!(rate("300MB/s"), "for bytes per second write 8 times the number in Mbit/s");
        assert_eq!(rate("1 kBps"), "for bytes per second write 8 times the number in kbit/s");
        let two = "write the rate of one direction, as in \"300 Mbit/s\"; the other direction is a \
                   link of its own";
        assert_eq!(rate("300/100"), two);
        assert_eq!(rate("300 / 100"), two);
    }

    #[test]
    fn the_space_before_a_unit_is_optional() {
        assert_eq!(Duration::read("5ms").unwrap(), Duration::new(5_000_000_000));
        assert_eq!(Size::read("1500B").unwrap().bytes(), 1500);
        assert_eq!(Size::read("1.5KiB").unwrap().bytes(), 1536);
    }

    #[test]
    fn sizes_are_whole_bytes() {
        assert_eq!(Size::read("1.5 KiB").unwrap().bytes(), 1536);
        assert_eq!(Size::read("0.0015 MB").unwrap().bytes(), 1500);
        assert_eq!(problem::<SizeKind>("1.0001 kB"), "\"1.0001 kB\" is not a whole number of B");
    }

    #[test]
    fn refuses_zero_only_for_positive_kinds() {
        assert_eq!(problem::<PositiveDurationKind>("0 s"), "\"0 s\" must not be zero");
        assert_eq!(problem::<BitRateKind>("0 bps"), "\"0 bps\" must not be zero");
        assert!(Duration::read("0.000 s").is_ok());
    }

    #[test]
    fn refuses_text_that_is_not_a_number_with_a_unit_of_the_kind() {
        assert_eq!(problem::<DurationKind>("10"), "\"10\" has no unit");
        assert_eq!(problem::<DurationKind>("10 MB"), "\"MB\" is not a known unit");
        assert_eq!(problem::<DurationKind>("10 S"), "\"S\" is not a known unit");
        assert_eq!(problem::<DurationKind>("inf s"), "\"inf s\" is not a number with a unit");
        assert_eq!(problem::<DurationKind>("1e400 s"), "\"1e400 s\" is too large");
        assert_eq!(problem::<DurationKind>("31e6 s"), "\"31e6 s\" is too large");
    }

    #[test]
    fn refuses_negative_numbers_with_the_range_of_the_kind() {
        let message = |bad: BadQuantity| bad.to_string();
        let found = Duration::read("-3 s").map_err(message);
        assert_eq!(found, Err("\"-3 s\" is negative; write 0 or more, as in \"100 ms\"".into()));
        let found = Size::read("-3 B").map_err(message);
        assert_eq!(found, Err("\"-3 B\" is negative; write more than 0, as in \"1500 B\"".into()));
        assert_eq!(problem::<DurationKind>("-s"), "\"-s\" is not a number with a unit");
    }

    #[test]
    fn prints_in_the_largest_unit_that_fits() {
        let printed = |text: &str| Duration::read(text).unwrap().to_string();
        assert_eq!(printed("160000 ms"), "160 s");
        assert_eq!(printed("0.1155 s"), "115.5 ms");
        assert_eq!(printed("0 ms"), "0 s");
        assert_eq!(BitRate::read("2500 Mbps").unwrap().to_string(), "2.5 Gbit/s");
        assert_eq!(Size::read("1 kB").unwrap().to_string(), "1000 B");
        assert_eq!(Size::read("4 GB").unwrap().to_string(), "4 GB");
    }

    proptest! {
        #[test]
        fn every_quantity_reads_back_as_printed(value in 1..=TIME.maximum) {
            let duration = Duration::new(value);
            prop_assert_eq!(Duration::read(&duration.to_string()).unwrap(), duration);
            let rate = BitRate::new(value % RATE.maximum + 1);
            prop_assert_eq!(BitRate::read(&rate.to_string()).unwrap(), rate);
            let size = Size::new(value % SIZE.maximum + 1);
            prop_assert_eq!(Size::read(&size.to_string()).unwrap(), size);
        }

        #[test]
        fn no_text_makes_reading_panic(text in "[-+0-9.eE ]{0,40}[a-zA-Z/ ]{0,8}") {
            let _ = Duration::read(&text);
            let _ = BitRate::read(&text);
            let _ = Size::read(&text);
        }
    }
}
