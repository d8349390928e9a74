//! The time of one packet at the bottleneck, which decides the phase between a sender and a queue
//! (Floyd and Jacobson, "On Traffic Phase Effects in Packet-Switched Gateways", 1992): how much
//! randomness breaks it, and by how much RTTs are shifted to see whether it matters.

use crate::link::serializer::Serializer;
use crate::network::Network;
use crate::quantity::PositiveDuration;
use crate::random;
use crate::scenario::format::flows::{SendJitterConfig, SendJitterName};
use crate::units::{Rate, Time};

impl SendJitterConfig {
    /// The longest delay of a group whose path has links of these initial rates.
    pub(in crate::scenario) fn resolve(
        self,
        rates: impl Iterator<Item = Rate>,
        packet_bytes: u32,
        is_controlled: bool,
    ) -> Option<Time> {
        match self {
            SendJitterConfig::Named(SendJitterName::None) => None,
            SendJitterConfig::Named(SendJitterName::Auto) => {
                packet_time(rates, packet_bytes).filter(|_| is_controlled)
            }
            SendJitterConfig::Most(most) => Some(PositiveDuration::time(most)),
        }
    }
}

/// Transmission time of a packet on the slowest of some links, rounded down to picoseconds.
fn packet_time(rates: impl Iterator<Item = Rate>, packet_bytes: u32) -> Option<Time> {
    rates.min().map(|rate| Serializer::constant(rate).nominal_time(packet_bytes))
}

/// Lengthens the RTT of each permanent flow under congestion control, or delays the start of another
/// permanent flow, by a fraction of its packet's time that `shift` draws; seeds leave it alone, and so
/// do limits in bandwidth-delay products.
pub(in crate::scenario) fn shift_phases(network: &mut Network, shift: u32) {
    if shift == 0 {
        return;
    }
    for index in 0..network.groups.len() {
        let members = network.members(index);
        let Network { links, groups, flows, .. } = &mut *network;
        let group = &groups[index];
        let rates = group.path.iter().map(|&link| links[link].sustained_rate());
        let Some(span) = packet_time(rates, group.packet_size) else { continue };
        let component = format!("phase of flows.{}", group.name);
        let mut stream = random::stream(u64::from(shift), &component);
        for flow in &mut flows[members.start as usize..members.end as usize] {
            let part = Time::from_picoseconds(random::below(&mut stream, span.picoseconds()));
            // No ACKs clock out the packets of a flow without congestion control.
            *(if group.tcp.is_some() { &mut flow.rtt } else { &mut flow.start }) += part;
        }
    }
}
