//! Building blocks of the scripts in the tests of the disciplines.

use super::buffer::{Buffer, DropReason};
use super::{LinkInfo, Scheduler};
use crate::packet::transit::Transit;
use crate::packet::{Ecn, Packet};
use crate::units::{Rate, Time};

/// A link with the given rate that is crossed by packets of 1,000 bytes.
pub(super) fn link(bits_per_second: u64) -> LinkInfo {
    let rate = Rate::from_bits_per_second(bits_per_second);
    let groups = vec![("flows".into(), 0..1_000)];
    LinkInfo { seed: 1, groups, ..LinkInfo::new("link", rate, 1_000) }
}

/// Packet number `sequence` of `flow`, which arrives at `now`.
pub(super) fn packet(now: Time, flow: u32, sequence: u64, bytes: u32, ecn: Ecn) -> Transit {
    let packet = Packet { sequence, bytes, sent: now, ecn, ..Packet::default() };
    Transit::arrival(now, flow, 0, &packet)
}

/// Removes and returns the packet that `queue` sends at `now`.
pub(super) fn sent(queue: &mut impl Scheduler, now: Time, buffer: &mut Buffer) -> Option<Transit> {
    queue.dequeue(now, buffer).map(|packet| buffer.take(packet))
}

/// Returns flow, sequence number and reason of each packet dropped since the last call.
pub(super) fn dropped(buffer: &mut Buffer) -> Vec<(u32, u64, DropReason)> {
    let dropped = buffer.drain_dropped();
    dropped.map(|drop| (drop.packet.flow(), drop.packet.packet(0).sequence, drop.reason)).collect()
}
