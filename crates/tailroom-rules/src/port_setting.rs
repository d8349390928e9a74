//! The bookkeeping that no part of what shapes the packets of a port is lost on the way to another tool.
//!
//! A writer of configuration *takes* keys from a [`PortSetting`](crate::bottleneck::PortSetting). Whatever it has not taken is
//! [left out](LeftOut), with a reason: a writer that does not know a key cannot forget it.

use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet};

use serde::Serialize;
use serde_json::Value;
use tailroom_engine::quantity::read_base_units;

use crate::bottleneck::Bottleneck;

/// A key that the configuration of a tool does not carry.
#[derive(Clone, Debug, Eq, Ord, PartialEq, PartialOrd, Serialize)]
pub struct LeftOut {
    /// The key of the port; of several ports, with the link's name if others do not have it.
    pub key: String,
    /// Why the tool does not have it.
    pub reason: String,
}

/// The configuration of a port, or of the ports of a switch, in another tool.
#[derive(Debug, Serialize)]
pub struct Equivalent {
    /// The tool.
    pub tool: String,
    /// Where the configuration belongs.
    pub purpose: String,
    /// The commands or statements; without an exact equivalent, a sentence that says why.
    pub text: String,
    /// What else the lines need or do, a sentence each.
    pub notes: Vec<String>,
    /// What was simulated and is not in the lines.
    pub left_out: Vec<LeftOut>,
}

impl Equivalent {
    /// A tool without an exact equivalent.
    pub(crate) fn none(tool: &str, reason: &str) -> Self {
        Equivalent {
            tool: tool.to_owned(),
            purpose: String::new(),
            text: format!("no exact equivalent: {reason}"),
            notes: Vec::new(),
            left_out: Vec::new(),
        }
    }
}

/// An amount in a buffer.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) enum Amount {
    Packets(u64),
    Bytes(u64),
}

/// A port whose keys a writer takes.
pub(crate) struct Taking<'a> {
    pub(crate) link: &'a Bottleneck,
    taken: RefCell<BTreeSet<String>>,
    left: RefCell<BTreeMap<String, String>>,
}

impl<'a> Taking<'a> {
    pub(crate) fn of(link: &'a Bottleneck) -> Self {
        Taking { link, taken: RefCell::default(), left: RefCell::default() }
    }

    /// Whether the port has a key, without taking it.
    pub(crate) fn has(&self, key: &str) -> bool {
        self.link.port.0.contains_key(key)
    }

    /// Takes a key.
    pub(crate) fn value(&self, key: &str) -> Option<&'a Value> {
        let value = self.link.port.0.get(key)?;
        self.taken.borrow_mut().insert(key.to_owned());
        Some(value)
    }

    pub(crate) fn text(&self, key: &str) -> Option<&'a str> {
        self.value(key)?.as_str()
    }

    /// NaN without the key.
    pub(crate) fn number(&self, key: &str) -> f64 {
        self.value(key).and_then(Value::as_f64).unwrap_or(f64::NAN)
    }

    pub(crate) fn whole(&self, key: &str) -> u64 {
        self.number(key) as u64
    }

    pub(crate) fn flag(&self, key: &str) -> bool {
        self.value(key).and_then(Value::as_bool).unwrap_or(false)
    }

    pub(crate) fn bytes(&self, key: &str) -> Option<u64> {
        read_base_units("size_or_zero", self.text(key)?)?.ok()
    }

    pub(crate) fn bits_per_second(&self, key: &str) -> Option<u64> {
        read_base_units("rate_or_zero", self.text(key)?)?.ok()
    }

    pub(crate) fn picoseconds(&self, key: &str) -> Option<u64> {
        read_base_units("duration", self.text(key)?)?.ok()
    }

    /// A duration; none if it is not a whole number of microseconds.
    pub(crate) fn microseconds(&self, key: &str) -> Option<u64> {
        let picoseconds = self.picoseconds(key)?;
        picoseconds.is_multiple_of(1_000_000).then_some(picoseconds / 1_000_000)
    }

    /// An amount of the queue, in the unit in which it is counted.
    pub(crate) fn amount(&self, key: &str) -> Option<Amount> {
        let text = self.text(key)?;
        match text.split_once(" packet") {
            Some((packets, _)) => packets.parse().ok().map(Amount::Packets),
            None => self.bytes(key).map(Amount::Bytes),
        }
    }

    /// An amount of the queue in bytes. Packets have the size in which the buffer is counted; where they
    /// differ in size, the key is also left out.
    pub(crate) fn amount_bytes(&self, key: &str) -> Option<u64> {
        match self.amount(key)? {
            Amount::Bytes(bytes) => Some(bytes),
            Amount::Packets(packets) => {
                let size = self.link.packet_bytes;
                if self.link.packet_sizes_bytes.len() > 1 {
                    let mean = size.round();
                    self.leave(
                        key,
                        &format!(
                            "{packets} packets were simulated, of several sizes; the lines have the \
                             bytes of so many packets of {mean} B"
                        ),
                    );
                }
                Some(whole(packets as f64 * size))
            }
        }
    }

    /// Takes a key that the tool has built in with this value.
    pub(crate) fn built_in(&self, key: &str, value: impl Into<Value>) {
        if self.link.port.0.get(key) == Some(&value.into()) {
            self.taken.borrow_mut().insert(key.to_owned());
        }
    }

    /// Leaves out a key, or all keys below it, whether or not it was taken.
    pub(crate) fn leave(&self, key: &str, reason: &str) {
        let below = format!("{key}.");
        for name in self.link.port.0.keys() {
            if name == key || name.starts_with(&below) {
                self.left.borrow_mut().insert(name.clone(), reason.to_owned());
            }
        }
    }

    /// What was not taken, and what was left.
    pub(crate) fn left_out(&self, tool: &str) -> Vec<LeftOut> {
        let (taken, left) = (self.taken.borrow(), self.left.borrow());
        let reason = |key: &str| {
            left.get(key).cloned().or_else(|| (!taken.contains(key)).then(|| reason_for(key, tool)))
        };
        let keys = self.link.port.0.keys();
        keys.filter_map(|key| Some(LeftOut { key: key.clone(), reason: reason(key)? })).collect()
    }
}

/// Why a tool does not have a key of which its writer says nothing.
fn reason_for(key: &str, tool: &str) -> String {
    match key.split('.').next().unwrap_or(key) {
        "changes" | "jitter" | "loss" | "reorder" => {
            "it happens on the line, and is no setting of its port".to_owned()
        }
        "admission" => "it refuses flows, which a queue does not see".to_owned(),
        _ => format!("these lines of {tool} have nothing for it"),
    }
}

/// Rounds down what was computed to a few units in the last place: an amount that was read in bytes
/// has been divided by the size of a packet.
pub(crate) fn whole(amount: f64) -> u64 {
    (amount * (1.0 + 4.0 * f64::EPSILON)).floor() as u64
}

#[cfg(test)]
mod tests {
    use super::whole;

    #[test]
    fn bytes_survive_the_way_over_packets() {
        for packet_bytes in [40.0, 576.0, 1048.0, 1499.5, 1500.0, 9000.0] {
            for bytes in (1..2_000_000).step_by(997).chain([16_000_000, 1 << 40]) {
                assert_eq!(whole(bytes as f64 / packet_bytes * packet_bytes), bytes);
            }
        }
        assert_eq!((1..=100).map(|n| whole(100.0 * (f64::from(n) / 100.0))).sum::<u64>(), 5050);
    }
}
