//! What a link's buffer is measured in: its bandwidth-delay product and its packet.

use crate::network::{FlowSpec, GroupSpec};
use crate::traffic::context::Group;
use crate::traffic::{DataSpec, SourceSpec};
use crate::units::{PICOSECONDS_PER_SECOND, Rate, Time};

/// Size of a packet at a link that no flow crosses.
const PACKET_BYTES: f64 = 1500.0;

/// The flows that cross a link.
#[derive(Clone, Debug, Default)]
pub(in crate::scenario) struct Load {
    long: Responsive,
    short: Responsive,
    long_packets: Packets,
    other_packets: Packets,
    acks: Packets,
    pub(super) largest_packet: u64,
}

/// Flows under congestion control.
#[derive(Clone, Copy, Debug, Default)]
struct Responsive {
    flows: u128,
    /// Sum of their propagation RTTs, in picoseconds.
    round_trips: u128,
}

/// A weighted sum of packet sizes.
#[derive(Clone, Copy, Debug, Default)]
struct Packets {
    weight: f64,
    bytes: f64,
}

impl Packets {
    fn add(&mut self, weight: f64, size: f64) {
        self.weight += weight;
        self.bytes += weight * size;
    }

    fn mean(self) -> Option<f64> {
        (self.weight > 0.0).then(|| self.bytes / self.weight)
    }
}

impl Load {
    /// The load of each of `count` links in a run of this duration.
    pub(in crate::scenario) fn of_links(
        count: usize,
        groups: &[GroupSpec],
        flows: &[FlowSpec],
        duration: Time,
    ) -> Vec<Load> {
        let mut permanent = vec![Responsive::default(); groups.len()];
        for flow in flows {
            permanent[flow.group].flows += 1;
            permanent[flow.group].round_trips += u128::from(flow.rtt.picoseconds());
        }
        let mut loads = vec![Load::default(); count];
        for (group, flows) in groups.iter().zip(permanent) {
            let offered_bps = offered_bps(group, flows, duration);
            for &link in &group.path {
                loads[link].add(group, flows, offered_bps);
            }
            let Some(acks) = group.ack_sizes() else { continue };
            for &link in &group.reverse_path {
                loads[link].acks.add(flows.flows.max(1) as f64, f64::from(acks.least));
            }
        }
        loads
    }

    fn add(&mut self, group: &GroupSpec, permanent: Responsive, offered_bps: f64) {
        let size = f64::from(group.packet_size);
        self.largest_packet = self.largest_packet.max(group.packet_size.into());
        let is_long = matches!(group.source, SourceSpec::Data(DataSpec::Bulk(_)));
        if is_long {
            self.long_packets.add(permanent.flows as f64, size);
        } else {
            // At equal rates, small packets outnumber large packets.
            self.other_packets.add(offered_bps / size, size);
        }
        if group.tcp.is_none() {
            return;
        }
        // A group whose flows arrive and depart counts as one flow with their mean RTT.
        let arriving = group.source.dynamic_rtt();
        let arriving = arriving.map(|rtt| Responsive { flows: 1, round_trips: rtt as u128 });
        let counted = arriving.unwrap_or(permanent);
        let sum = if is_long { &mut self.long } else { &mut self.short };
        sum.flows += counted.flows;
        sum.round_trips += counted.round_trips;
    }

    /// Bandwidth-delay product in bytes, as a fraction: of the long flows, else of the other flows
    /// under congestion control, if there are any.
    pub(super) fn bdp(&self, rate: Rate) -> Option<(u128, u128)> {
        let counted = if self.long.flows > 0 { self.long } else { self.short };
        let bits_per_byte = 8;
        let divisor = counted.flows * bits_per_byte * u128::from(PICOSECONDS_PER_SECOND);
        let product = u128::from(rate.bits_per_second()).checked_mul(counted.round_trips)?;
        (divisor > 0).then_some((product, divisor))
    }

    /// Size of the packets in which a buffer in bytes is counted: the mean of the long flows, else
    /// of the other data, else of the ACKs.
    pub(super) fn packet_bytes(&self) -> f64 {
        let sizes = [self.long_packets, self.other_packets, self.acks];
        sizes.into_iter().find_map(Packets::mean).unwrap_or(PACKET_BYTES)
    }
}

/// Mean rate on the wire of all flows of a group, whatever becomes of them.
fn offered_bps(group: &GroupSpec, permanent: Responsive, duration: Time) -> f64 {
    let SourceSpec::Flows(flows) = &group.source else {
        return permanent.flows as f64 * group.source.offered_rate_bps().unwrap_or(0.0);
    };
    // The seed only matters to the sizes that are drawn.
    let of = Group {
        name: &group.name,
        seed: 0,
        packet_bytes: group.packet_size,
        header_bytes: group.header_size,
        hosts: group.hosts.as_ref(),
    };
    let statistics = flows.offered().statistics(&of, duration.seconds(), 1);
    8.0 * statistics.arrivals_per_s * statistics.wire_bytes_mean
}
