//! The dimensions of a network's agenda, from its packet rate and its delays.

use super::agenda::Agenda;
use crate::network::Network;
use crate::packet::ties::TieOrder;
use crate::private_path::PrivatePath;
use crate::tcp::TcpSpec;
use crate::traffic::OfferedFlows;
use crate::units::Time;

/// An empty agenda whose buckets fit a network's packet rate and delays.
pub(super) fn agenda(network: &Network) -> Agenda {
    let mut smallest = vec![u32::MAX; network.links.len()];
    for group in &network.groups {
        for &link in &group.path {
            smallest[link] = smallest[link].min(group.packet_size);
        }
    }
    let rates = network.links.iter().zip(&smallest).filter(|(_, bytes)| **bytes < u32::MAX);
    let packets_per_second: f64 = rates
        .map(|(link, &bytes)| link.rate.bits_per_second() as f64 / (8.0 * f64::from(bytes)))
        .sum();
    let longest = network.longest_rtt();
    // Twice the longest round trip leaves room for the queues.
    let horizon = longest.saturating_add(longest).saturating_add(longest_access_queue(network));
    let horizon = horizon.max(longest.saturating_add(longest_timer(network)));
    let ties = TieOrder::new(network.ties, network.seed);
    Agenda::new(ties, packets_per_second, lookahead(network), horizon)
}

/// The largest of the groups' smallest retransmission timeouts and of those before the first RTT
/// sample. Timers wake their flows through the wheel too: in the heap of distant events, those of
/// 10,000 flows cost a cache miss per level.
fn longest_timer(network: &Network) -> Time {
    let transports = network.groups.iter().filter_map(|group| group.tcp.as_ref());
    transports.map(TcpSpec::first_rto).max().unwrap_or(Time::ZERO)
}

/// How far ahead slow start sends packets into the access link of a dynamic flow. A flow that is
/// limited by its peak rate sees no loss, and its window grows until the flow ends.
fn longest_access_queue(network: &Network) -> Time {
    let sources = network.groups.iter().filter_map(|group| group.source.flows());
    let spans = sources.filter_map(OfferedFlows::mean_transfer_s);
    let spans = spans.map(|seconds| Time::from_seconds(seconds.min(60.0)));
    spans.max().unwrap_or(Time::ZERO)
}

/// The shortest time in which a departure from a shared link usually causes an arrival at one.
fn lookahead(network: &Network) -> Time {
    let reactions = network.round_trips().map(|(group, rtt, access_rate)| {
        let group = &network.groups[group];
        let last = group.path.last().map_or(Time::ZERO, |&link| network.links[link].delay);
        let private_path = PrivatePath::new(&network.shared_path(group, None), rtt, access_rate);
        let reaction = private_path.shortest_reaction().saturating_add(last);
        let hops = group.path.len() + group.reverse_path.len();
        let passages = group.path.iter().chain(&group.reverse_path).take(hops - 1);
        passages.map(|&link| network.links[link].delay).fold(reaction, Time::min)
    });
    reactions.min().unwrap_or(Time::ZERO)
}
