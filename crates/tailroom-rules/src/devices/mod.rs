//! Configuration of a port's buffer, and of WRED with ECN, on switches and routers.
//!
//! Each file names the manual or model that its lines follow; no line was tried on a device.
//! `PORT`, `QUEUE`, `POOL`, `POLICY` and `CLASS` stand for names of the device, `tailroom` for new
//! profiles. Amounts are rounded down to the step of the device.

mod eos;
mod ios_xr;
mod junos;
pub mod openconfig;
pub mod sonic;
mod sr_os;
mod wred;

use crate::bottleneck::Bottleneck;
use crate::other_tools::{Equivalent, line, none};
use wred::Wred;

/// A system of switches or routers.
pub struct Device {
    /// Its short name, such as `sonic`.
    pub key: &'static str,
    /// Its name, and the form of its configuration.
    title: &'static str,
    write: fn(&Queue) -> Result<Lines, String>,
    /// For the memory that ports share; `None` if no source says how the system configures it.
    share: Option<fn(&Pool) -> Lines>,
}

/// The systems in whose words a buffer is written.
pub const DEVICES: [Device; 6] =
    [sonic::DEVICE, openconfig::DEVICE, ios_xr::DEVICE, junos::DEVICE, eos::DEVICE, sr_os::DEVICE];

impl Device {
    /// The configuration of a link's queue discipline with this limit in waiting packets, or a
    /// sentence that says why the system has none.
    pub fn equivalent(&self, link: &Bottleneck, limit: u64) -> Equivalent {
        match Queue::of(link, limit).and_then(|queue| (self.write)(&queue)) {
            Ok(lines) => self.lines(lines),
            Err(reason) => none(self.title, &reason),
        }
    }

    /// The configuration of memory that queues share, each of which takes up to `alpha` times what is
    /// free, or a sentence that says why the system has none.
    pub fn pool(&self, bytes: u64, alpha: f64) -> Equivalent {
        let Some(share) = self.share else {
            return none(
                self.title,
                "tailroom has no source for its configuration of memory that ports share",
            );
        };
        let Some(exponent) = alpha_exponent(alpha) else {
            return none(self.title, "alpha is not a power of two from 2^-128 to 2^127");
        };
        self.lines(share(&Pool { bytes, exponent }))
    }

    fn lines(&self, Lines { purpose, text }: Lines) -> Equivalent {
        line(self.title, format!("not tried on a device; {purpose}"), text)
    }
}

/// What is written for a system.
struct Lines {
    /// What else the lines need or do.
    purpose: String,
    text: String,
}

/// Memory that queues share.
struct Pool {
    bytes: u64,
    /// n of alpha = 2^n, which SAI has as an `int8`.
    exponent: i8,
}

/// n of alpha = 2^n.
fn alpha_exponent(alpha: f64) -> Option<i8> {
    (i8::MIN..=i8::MAX).find(|&n| alpha.total_cmp(&2_f64.powi(n.into())).is_eq())
}

/// The queue of a port.
struct Queue {
    /// Its limit.
    bytes: u64,
    rate_bps: u64,
    /// None behind a tail drop.
    wred: Option<Wred>,
}

impl Queue {
    fn of(link: &Bottleneck, limit: u64) -> Result<Self, String> {
        Ok(Queue {
            bytes: whole(limit as f64 * link.packet_bytes),
            rate_bps: link.rate_bps as u64,
            wred: Wred::of(link)?,
        })
    }

    /// The time in which the link sends the limit, in whole microseconds; none if they are so few
    /// that one of them is more than 1 %.
    fn microseconds(&self) -> Option<u64> {
        let us = u128::from(self.bytes) * 8_000_000 / u128::from(self.rate_bps.max(1));
        (us >= 100).then_some(us as u64)
    }

    /// An amount in whole percent of the limit.
    fn percent(&self, bytes: u64) -> u64 {
        (u128::from(bytes) * 100 / u128::from(self.bytes.max(1))) as u64
    }
}

/// Rounds down what was computed to a few units in the last place: an amount that was read in bytes
/// has been divided by the size of a packet.
fn whole(amount: f64) -> u64 {
    (amount * (1.0 + 4.0 * f64::EPSILON)).floor() as u64
}

/// Commands, one a line.
fn commands(lines: &[String]) -> String {
    lines.join("\n")
}

#[cfg(test)]
mod tests {
    use super::{DEVICES, Queue, alpha_exponent, whole};

    /// A queue behind a tail drop.
    fn queue(bytes: u64, rate_bps: u64) -> Queue {
        Queue { bytes, rate_bps, wred: None }
    }

    #[test]
    fn a_limit_in_microseconds_is_the_largest_whole_number_that_does_not_exceed_it() {
        for rate_bps in [7_000, 1_000_000_000, 400_000_000_000] {
            for bytes in [1, 1499, 1500, 502_500, 16_000_000_000] {
                let bits = |us: u128| us * u128::from(rate_bps);
                let exact = u128::from(bytes) * 8 * 1_000_000;
                match queue(bytes, rate_bps).microseconds().map(u128::from) {
                    Some(us) => assert!(bits(us) <= exact && exact < bits(us + 1)),
                    None => assert!(exact < bits(100)),
                }
            }
        }
        assert_eq!(queue(502_500, 1_000_000_000).microseconds(), Some(4020));
    }

    #[test]
    fn bytes_survive_the_way_over_packets() {
        for packet_bytes in [40.0, 576.0, 1048.0, 1499.5, 1500.0, 9000.0] {
            for bytes in (1..2_000_000).step_by(997).chain([16_000_000, 1 << 40]) {
                assert_eq!(whole(bytes as f64 / packet_bytes * packet_bytes), bytes);
            }
        }
        assert_eq!((1..=100).map(|n| whole(100.0 * (f64::from(n) / 100.0))).sum::<u64>(), 5050);
    }

    #[test]
    fn alpha_is_2_to_the_n() {
        for n in i8::MIN..=i8::MAX {
            assert_eq!(alpha_exponent(2_f64.powi(n.into())), Some(n));
        }
        assert_eq!([0.0, 3.0, -1.0, f64::NAN, f64::INFINITY].map(alpha_exponent), [None; 5]);
        for device in DEVICES {
            assert!(device.pool(1, 3.0).text.starts_with("no exact equivalent: "));
        }
    }

    #[test]
    fn percent_are_of_the_limit_and_rounded_down() {
        assert_eq!(queue(25_500, 1).percent(15_000), 58); // 58.8
        assert_eq!(queue(25_500, 1).percent(25_500), 100);
    }
}
