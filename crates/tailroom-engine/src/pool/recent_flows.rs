//! What flows have sent to a pool of late, for policies that favour short flows.

use super::policy::ShortFlows;
use crate::units::Time;

/// The packets of a flow in one direction: its data, or its ACKs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FlowPackets {
    /// Number of the flow, which may have been that of a flow before.
    pub flow: u32,
    /// When this flow began.
    pub began: Time,
    /// Whether they are ACKs.
    pub are_acks: bool,
}

/// The bytes of a flow since it was new.
#[derive(Clone, Copy, Debug, Default)]
struct Counted {
    bytes: u64,
    last: Time,
}

/// The bytes of each flow since it was new, in either direction. There are as many as flows that exist
/// at one time, since their numbers are used again.
#[derive(Clone, Debug)]
pub(super) struct RecentFlows {
    short: ShortFlows,
    counted: Vec<[Counted; 2]>,
}

impl RecentFlows {
    /// No flow has sent anything.
    pub(super) fn new(short: ShortFlows) -> Self {
        RecentFlows { short, counted: Vec::new() }
    }

    /// Counts a packet that arrives at `now`; returns whether its flow is short.
    pub(super) fn count(&mut self, packets: FlowPackets, now: Time, bytes: u32) -> bool {
        let number = packets.flow as usize;
        if number >= self.counted.len() {
            self.counted.resize(number + 1, [Counted::default(); 2]);
        }
        let counted = &mut self.counted[number][usize::from(packets.are_acks)];
        let is_new = counted.last < packets.began || now.since(counted.last) > self.short.window;
        let before = if is_new { 0 } else { counted.bytes };
        *counted = Counted { bytes: before + u64::from(bytes), last: now };
        counted.bytes < self.short.bytes
    }

    /// Memory of the counts, in bytes.
    pub(super) fn memory_bytes(&self) -> usize {
        self.counted.capacity() * size_of::<[Counted; 2]>()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MS: fn(u64) -> Time = Time::from_milliseconds;

    fn data(flow: u32, began: Time) -> FlowPackets {
        FlowPackets { flow, began, are_acks: false }
    }

    #[test]
    fn a_flow_is_short_until_its_bytes_reach_the_size_and_again_after_a_gap() {
        let mut flows = RecentFlows::new(ShortFlows { bytes: 3_000, window: MS(5) });
        let one = data(7, Time::ZERO);
        assert!(flows.count(one, MS(1), 1_500));
        assert!(!flows.count(one, MS(2), 1_500), "3000 B are not less than 3000 B");
        assert!(!flows.count(one, MS(7), 1_500), "5 ms are not a gap");
        let later = MS(12) + Time::from_picoseconds(1);
        assert!(flows.count(one, later, 1_500), "more than 5 ms are");
        assert!(flows.count(data(3, Time::ZERO), later, 2_999), "each flow has its own count");
        assert!(flows.count(FlowPackets { are_acks: true, ..one }, later, 40), "so have its ACKs");
        assert!(!flows.count(one, later, 1_500));
    }

    #[test]
    fn a_flow_with_the_number_of_an_earlier_one_is_new() {
        let mut flows = RecentFlows::new(ShortFlows { bytes: 3_000, window: MS(5) });
        assert!(!flows.count(data(0, MS(1)), MS(2), 3_000));
        assert!(flows.count(data(0, MS(3)), MS(3), 1_500));
        assert!(!flows.count(data(0, MS(3)), MS(3), 1_500), "its first two packets come at once");
    }
}
