//! Amounts of data in a buffer, as a scenario writes them and as the engine counts them.

use std::fmt;

use super::decimal::Decimal;
use super::{BadQuantity, Dimension, Unit, split};
use crate::parameters::{BadParameter, Ranges, check};
use crate::quoting::quoted;
use crate::units::{Rate, Time};

/// An amount of data in a buffer, in packets, bytes, time at the link's rate, or bandwidth-delay
/// products.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct QueueLimit(Amount);

/// The amount of data that may wait in a buffer, excluding the packet in transmission.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Limit {
    /// At most this number of packets.
    Packets(u64),
    /// At most this number of bytes.
    Bytes(u64),
}

impl Limit {
    /// Returns whether `packets` with `bytes` in total may wait.
    #[inline]
    pub fn holds(self, packets: u64, bytes: u64) -> bool {
        match self {
            Limit::Packets(limit) => packets <= limit,
            Limit::Bytes(limit) => bytes <= limit,
        }
    }

    /// Returns the limit in bytes, for packets of this size.
    pub fn in_bytes(self, packet_bytes: u32) -> u64 {
        match self {
            Limit::Packets(packets) => packets.saturating_mul(u64::from(packet_bytes)),
            Limit::Bytes(bytes) => bytes,
        }
    }

    /// Returns the limit in packets of this size; a fraction if the limit is in bytes.
    pub fn in_packets(self, packet_bytes: u32) -> f64 {
        match self {
            Limit::Packets(packets) => packets as f64,
            Limit::Bytes(bytes) => bytes as f64 / f64::from(packet_bytes),
        }
    }
}

impl From<Limit> for QueueLimit {
    fn from(limit: Limit) -> Self {
        match limit {
            Limit::Packets(packets) => QueueLimit::packets(packets),
            Limit::Bytes(bytes) => QueueLimit::bytes(bytes),
        }
    }
}

/// The amount of a [`QueueLimit`] in its own unit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Amount {
    Packets(u64),
    Bytes(u64),
    /// Time at the link's rate.
    Span(Time),
    /// Bandwidth-delay products.
    Bdp(Decimal),
}

/// The unit in which an amount is written, in whole steps.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LimitUnit {
    /// A step is a packet.
    Packets,
    /// A step is a byte.
    Bytes,
    /// A step is a nanosecond at the link's rate.
    Time,
    /// A step is a millionth of a bandwidth-delay product.
    Bdp,
}

const PICOSECONDS_PER_STEP: u64 = 1_000;
const STEPS_PER_BDP: u64 = 1_000_000;

impl LimitUnit {
    /// Every unit.
    pub const ALL: [LimitUnit; 4] =
        [LimitUnit::Packets, LimitUnit::Bytes, LimitUnit::Time, LimitUnit::Bdp];

    /// Returns the unit of a step, or of 10^6 steps of a bandwidth-delay product.
    pub const fn name(self) -> &'static str {
        match self {
            LimitUnit::Packets => "packets",
            LimitUnit::Bytes => "B",
            LimitUnit::Time => "ns",
            LimitUnit::Bdp => "bdp",
        }
    }

    /// Returns the bytes of a step at a link with this rate (in bit/s) and bandwidth-delay product,
    /// whose packets have this size.
    pub fn bytes_per_step(self, rate_bps: f64, bdp_bytes: f64, packet_bytes: f64) -> f64 {
        match self {
            LimitUnit::Packets => packet_bytes,
            LimitUnit::Bytes => 1.0,
            LimitUnit::Time => rate_bps / 8e9,
            LimitUnit::Bdp => bdp_bytes / STEPS_PER_BDP as f64,
        }
    }
}

const PACKETS: &[Unit] = &[("packets", 1), ("packet", 1)];
/// Unit of a number without a unit.
pub(super) const BARE: &str = PACKETS[0].0;
const BDP: Unit = ("bdp", 1);
pub(super) const EXAMPLES: &[&str] = &["1249 packets", "1.25 MB", "20 ms", "0.1 bdp"];
/// Fractions of a byte in which a bandwidth-delay product is counted before the multiplication.
const BDP_PARTS: u128 = 1 << 20;
/// More packets than fit in any memory.
const MAX_PACKETS: u64 = 1_000_000_000_000;

pub(super) fn units() -> Vec<Unit> {
    [PACKETS, Dimension::size().units(), Dimension::time().units(), &[BDP]].concat()
}

impl QueueLimit {
    /// Creates an amount in packets.
    pub const fn packets(packets: u64) -> Self {
        QueueLimit(Amount::Packets(packets))
    }

    /// Creates an amount in bytes.
    pub const fn bytes(bytes: u64) -> Self {
        QueueLimit(Amount::Bytes(bytes))
    }

    /// Creates the amount that the link sends in `span`.
    pub const fn span(span: Time) -> Self {
        QueueLimit(Amount::Span(span))
    }

    /// Returns the amount at a link with this rate and bandwidth-delay product, rounded down. The
    /// scenario has already converted bandwidth-delay products to exact bytes; at a link whose
    /// product is 0, they are 0 bytes.
    pub fn at_link(self, rate: Rate, bdp_bytes: f64) -> Limit {
        match self.0 {
            Amount::Packets(packets) => Limit::Packets(packets),
            Amount::Bytes(bytes) => Limit::Bytes(bytes),
            Amount::Span(span) => Limit::Bytes(rate.bytes_in(span)),
            Amount::Bdp(factor) => {
                let product = (bdp_bytes * BDP_PARTS as f64) as u128;
                let bytes = factor.times_ratio(product, BDP_PARTS);
                let bytes = bytes.and_then(|bytes| u64::try_from(bytes.floor).ok());
                Limit::Bytes(bytes.unwrap_or(u64::MAX))
            }
        }
    }

    /// Reads a number with a unit.
    ///
    /// # Errors
    /// Returns what is wrong and which units are accepted. Zero is refused: a limit counts the
    /// waiting packets, and a link without waiting room drops every packet that finds it busy.
    pub fn read(text: &str) -> Result<Self, BadQuantity> {
        let (number, unit) = split(text, &units(), EXAMPLES[0], false)?;
        if number.is_zero() {
            return Err(BadQuantity {
                problem: format!("\"{}\" is zero, so that no packet could wait", quoted(text)),
                remedy: "write at least \"1 packet\" (the packet in transmission does not count)"
                    .into(),
            });
        }
        let amount = if unit == BDP {
            Amount::Bdp(number)
        } else if PACKETS.contains(&unit) {
            Amount::Packets(packets(text, number)?)
        } else if Dimension::size().units().contains(&unit) {
            Amount::Bytes(Dimension::size().convert(text, number, unit, false)?)
        } else {
            let picoseconds = Dimension::time().convert(text, number, unit, false)?;
            Amount::Span(Time::from_picoseconds(picoseconds))
        };
        Ok(QueueLimit(amount))
    }

    pub(crate) const fn amount(self) -> Amount {
        self.0
    }

    /// Returns the unit in which the amount is written, and the number of its [steps](LimitUnit);
    /// `None` if the amount is no whole number of steps.
    pub fn steps(self) -> Option<(LimitUnit, u64)> {
        match self.0 {
            Amount::Packets(packets) => Some((LimitUnit::Packets, packets)),
            Amount::Bytes(bytes) => Some((LimitUnit::Bytes, bytes)),
            Amount::Span(span) => {
                let picoseconds = span.picoseconds();
                let is_whole = picoseconds.is_multiple_of(PICOSECONDS_PER_STEP);
                is_whole.then_some((LimitUnit::Time, picoseconds / PICOSECONDS_PER_STEP))
            }
            Amount::Bdp(number) => {
                let steps = number.times(STEPS_PER_BDP).filter(|steps| steps.is_exact)?;
                Some((LimitUnit::Bdp, u64::try_from(steps.floor).ok()?))
            }
        }
    }

    /// Creates an amount of whole steps.
    pub fn of_steps(unit: LimitUnit, steps: u64) -> Self {
        QueueLimit(match unit {
            LimitUnit::Packets => Amount::Packets(steps),
            LimitUnit::Bytes => Amount::Bytes(steps),
            LimitUnit::Time => {
                Amount::Span(Time::from_picoseconds(steps.saturating_mul(PICOSECONDS_PER_STEP)))
            }
            LimitUnit::Bdp => Amount::Bdp(Decimal::millionths(steps)),
        })
    }
}

fn packets(text: &str, number: Decimal) -> Result<u64, BadQuantity> {
    let count = number.times(1).filter(|count| count.floor <= u128::from(MAX_PACKETS));
    match count {
        Some(count) if count.is_exact => Ok(count.floor as u64),
        Some(_) => Err(BadQuantity {
            problem: format!("\"{}\" is not a whole number of packets", quoted(text)),
            remedy: format!("write whole packets, as in \"{}\"", EXAMPLES[0]),
        }),
        None => Err(BadQuantity {
            problem: format!("\"{}\" is too large", quoted(text)),
            remedy: format!("write at most \"{MAX_PACKETS} packets\""),
        }),
    }
}

impl fmt::Display for QueueLimit {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0 {
            Amount::Packets(1) => write!(formatter, "1 packet"),
            Amount::Packets(count) => write!(formatter, "{count} packets"),
            Amount::Bytes(bytes) => formatter.write_str(&Dimension::size().print(bytes)),
            Amount::Span(span) => formatter.write_str(&Dimension::time().print(span.picoseconds())),
            Amount::Bdp(number) => write!(formatter, "{number} bdp"),
        }
    }
}

impl Ranges for QueueLimit {
    fn check_ranges(&self) -> Result<(), BadParameter> {
        let is_zero = match self.0 {
            Amount::Packets(amount) | Amount::Bytes(amount) => amount == 0,
            Amount::Span(span) => span == Time::ZERO,
            Amount::Bdp(number) => number.is_zero(),
        };
        let allowed = "at least \"1 packet\" (the packet in transmission does not count)";
        check("", self, !is_zero, allowed)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn an_amount_keeps_the_unit_that_is_written() {
        let amount = |text: &str| QueueLimit::read(text).unwrap().amount();
        assert_eq!(amount("1249 packets"), Amount::Packets(1249));
        assert_eq!(amount("1 packet"), Amount::Packets(1));
        assert_eq!(amount("1.25 MB"), Amount::Bytes(1_250_000));
        assert_eq!(amount("20 ms"), Amount::Span(Time::from_milliseconds(20)));
        assert!(matches!(amount("0.1 bdp"), Amount::Bdp(_)));
        assert_eq!(amount("0.1 BDP"), amount("0.1bdp"));
        assert_eq!(amount("20 Packets"), Amount::Packets(20));
    }

    /// The product of 1 Gbit/s and 100 ms is 12.5 MB.
    #[test]
    fn a_limit_in_bdp_is_a_multiple_of_the_links_product() {
        let at_link = |text: &str, bdp_bytes: f64| {
            QueueLimit::read(text).unwrap().at_link(Rate::from_bits_per_second(1), bdp_bytes)
        };
        assert_eq!(at_link("0.1 bdp", 12.5e6), Limit::Bytes(1_250_000));
        assert_eq!(at_link("2.5 bdp", 1_000.5), Limit::Bytes(2_501));
        assert_eq!(at_link("1 bdp", 0.0), Limit::Bytes(0));
        assert_eq!(at_link("1000000 bdp", 1e300), Limit::Bytes(u64::MAX));
    }

    /// 100 Mbit/s send 12,500 B in 1 ms; the product with 40 ms is 500 kB.
    #[test]
    fn an_amount_is_a_number_of_steps_of_its_own_unit() {
        for (text, unit, steps, bytes) in [
            ("166 packets", LimitUnit::Packets, 166, 166.0 * 1_500.0),
            ("64 kB", LimitUnit::Bytes, 64_000, 64_000.0),
            ("1.5 ms", LimitUnit::Time, 1_500_000, 18_750.0),
            ("0.25 bdp", LimitUnit::Bdp, 250_000, 125_000.0),
        ] {
            let limit = QueueLimit::read(text).unwrap();
            assert_eq!(limit.steps(), Some((unit, steps)), "{text}");
            let again = QueueLimit::of_steps(unit, steps);
            assert_eq!(QueueLimit::read(&again.to_string()).unwrap().steps(), limit.steps());
            let step = unit.bytes_per_step(1e8, 500_000.0, 1_500.0);
            assert!((step * steps as f64 - bytes).abs() < 1e-6, "{text}");
        }
        for text in ["1 ps", "0.3333333 bdp"] {
            assert_eq!(QueueLimit::read(text).unwrap().steps(), None, "{text}");
        }
    }

    #[test]
    fn refuses_limits_of_zero() {
        for text in ["0 packets", "0 B", "0 s", "0.0 bdp"] {
            let bad = QueueLimit::read(text).unwrap_err();
            assert!(bad.problem.contains(text) && bad.remedy.contains("1 packet"), "{bad}");
        }
    }

    proptest! {
        #[test]
        fn every_limit_reads_back_as_printed(
            number in "(0|[1-9][0-9]{0,5})(\\.[0-9]{1,6})?(e-?[0-9])?",
            unit in prop::sample::select(vec!["packets", "B", "MB", "KiB", "ms", "s", "bdp"]),
        ) {
            if let Ok(limit) = QueueLimit::read(&format!("{number} {unit}")) {
                let again = QueueLimit::read(&limit.to_string()).unwrap();
                let value = |limit: QueueLimit| match limit.amount() {
                    // 1.0 and 1 are equal numbers.
                    Amount::Bdp(number) => number.times(1_000_000_000_000_000),
                    _ => None,
                };
                prop_assert_eq!(value(again), value(limit));
                prop_assert_eq!(again.to_string(), limit.to_string());
            }
        }
    }
}
