//! The propagation delay that is private to a flow: what the shared links on its path leave of its
//! RTT, and how it is divided among the four ways between an end of the flow and a shared link.

use crate::units::Time;

/// The fraction of a flow's private propagation that lies between its sender and the shared links;
/// the rest lies between the shared links and its receiver. In billionths, so that a decimal
/// fraction of a scenario divides a delay exactly.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct SenderSide {
    billionths: u32,
}

const BILLION: u32 = 1_000_000_000;

impl SenderSide {
    /// Half on each side, so that each of the four ways has a quarter.
    pub const HALF: SenderSide = SenderSide { billionths: BILLION / 2 };

    /// The fraction nearest to `fraction`, which is taken as 0 below 0 and as 1 above 1.
    pub fn new(fraction: f64) -> Self {
        // Every machine rounds a product of doubles in the same way.
        let billionths = (fraction.clamp(0.0, 1.0) * f64::from(BILLION)).round();
        SenderSide { billionths: billionths as u32 }
    }

    /// This fraction of `time`, rounded down to a picosecond.
    fn of(self, time: Time) -> Time {
        let product = u128::from(time.picoseconds()) * u128::from(self.billionths);
        Time::from_picoseconds((product / u128::from(BILLION)) as u64)
    }
}

/// The private propagation delay of a flow, way by way.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct PrivateDelays {
    /// Sender to the first link of the path.
    pub(crate) to_first_link: Time,
    /// Last link of the path to the receiver.
    pub(crate) to_receiver: Time,
    /// Receiver to the first link of the ACKs' way.
    pub(crate) from_receiver: Time,
    /// Last link of the ACKs' way to the sender.
    pub(crate) to_sender: Time,
}

impl PrivateDelays {
    /// Divides `private`, the sum of the four. Data and ACKs have half of it each, and each half is
    /// divided in the same proportion: with q = private / 4, rounded down, and s = `side` of 2 q,
    /// rounded down, the ways have s, 2 q - s, 2 q - s, and what is left, 0 to 3 ps more than s.
    pub(crate) fn new(private: Time, side: SenderSide) -> Self {
        let half = Time::from_picoseconds(private.picoseconds() / 4 * 2);
        let to_first_link = side.of(half);
        let to_receiver = half - to_first_link;
        PrivateDelays {
            to_first_link,
            to_receiver,
            from_receiver: to_receiver,
            to_sender: private - half - to_receiver,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn split(private: u64, fraction: f64) -> [u64; 4] {
        let private = Time::from_picoseconds(private);
        let delays = PrivateDelays::new(private, SenderSide::new(fraction));
        let PrivateDelays { to_first_link, to_receiver, from_receiver, to_sender } = delays;
        [to_first_link, to_receiver, from_receiver, to_sender].map(Time::picoseconds)
    }

    #[test]
    fn half_on_each_side_is_a_quarter_on_each_way() {
        // Quarters rounded down, and the rest on the ACKs' way to the sender.
        for private in (0..1_000).chain([100_000_000_001, 999_999_999_999, 3_599_999_999_999_999]) {
            let quarter = private / 4;
            assert_eq!(split(private, 0.5), [quarter, quarter, quarter, private - 3 * quarter]);
        }
        assert_eq!(SenderSide::new(0.5), SenderSide::HALF);
    }

    #[test]
    fn all_on_one_side_leaves_nothing_on_the_other() {
        assert_eq!(split(52_000_000_000, 1.0), [26_000_000_000, 0, 0, 26_000_000_000]);
        assert_eq!(split(52_000_000_000, 0.0), [0, 26_000_000_000, 26_000_000_000, 0]);
        // The remainder of the division by four lies on the ACKs' way to the sender.
        assert_eq!(split(52_000_000_003, 1.0), [26_000_000_000, 0, 0, 26_000_000_003]);
        assert_eq!(split(52_000_000_003, 0.0), [0, 26_000_000_000, 26_000_000_000, 3]);
    }

    #[test]
    fn decimal_fractions_divide_exactly() {
        // 0.29 * 100 ms is 28.999999999999996 in double precision.
        for percent in 0..=100 {
            let ms = |hundredths: u64| hundredths * 1_000_000_000;
            let [first, receiver, back, sender] = split(ms(200), percent as f64 / 100.0);
            assert_eq!([first, sender], [ms(percent); 2]);
            assert_eq!([receiver, back], [ms(100 - percent); 2]);
        }
    }

    #[test]
    fn the_four_ways_add_up_to_the_private_delay_at_any_fraction() {
        for private in [0, 1, 2, 3, 5, 7, 999, 1_000_000_007, 18_000_000_000_000_003] {
            for fraction in [0.0, 1e-9, 0.1, 1.0 / 3.0, 0.5, 0.7, 0.999_999_999, 1.0] {
                let ways = split(private, fraction);
                assert_eq!(ways.iter().sum::<u64>(), private, "{ways:?}");
                assert!(ways[3] >= ways[0] && ways[3] - ways[0] <= 3, "{ways:?}");
            }
        }
    }

    #[test]
    fn what_is_no_fraction_is_taken_as_the_nearest() {
        assert_eq!(SenderSide::new(-1.0), SenderSide::new(0.0));
        assert_eq!(SenderSide::new(2.0), SenderSide::new(1.0));
    }
}
