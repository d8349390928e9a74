//! The account of packets at the end of a run, which shows that no packet appeared or vanished.

use super::Simulation;
use super::error::RunError;
use crate::flow::Endpoints;
use crate::link::Link;
use crate::packet::transit::{Stage, Transit};

impl Simulation {
    /// Sent = received + lost + on the way, for each flow and for the ACKs; received = new +
    /// duplicates + discarded, for each receiver; arrived = dropped + taken in, for each link, and its queue was
    /// accounted for at every instant; occupied = waiting + in transmission, for each pool.
    pub(super) fn check_conservation(&mut self) -> Result<(), RunError> {
        let mut on_the_way = vec![0_u64; self.flows.len()];
        let (mut acks_on_the_way, mut kept_packets) = (0, 0);
        for event in self.pending.agenda.events().chain(self.links.iter().flat_map(Link::held)) {
            let Stage::Arrival(hop) = event.stage() else { continue };
            if self.has_reached_far_end(&event) {
                continue;
            }
            if hop < self.flows[event.flow() as usize].forward_hops {
                on_the_way[event.flow() as usize] += 1;
                kept_packets += usize::from(event.is_kept());
            } else {
                acks_on_the_way += 1;
            }
        }
        for (index, flow) in self.flows.iter().enumerate() {
            let sent = match &flow.endpoints {
                Endpoints::Tcp(connection) => connection.sender.probe.counters.sent,
                Endpoints::Unresponsive(source) => source.sent.counters.sent,
            };
            let found = flow.account.received + flow.account.lost + on_the_way[index];
            if sent != found {
                let place = format!("flow {}", self.name_of(index));
                return Err(RunError::Conservation { place, expected: sent, found });
            }
            let Endpoints::Tcp(connection) = &flow.endpoints else { continue };
            let (expected, found) = (flow.account.received, connection.receiver.arrived());
            if expected != found {
                let place = format!("the receiver of flow {}", self.name_of(index));
                return Err(RunError::Conservation { place, expected, found });
            }
        }
        debug_assert_eq!(self.pending.kept_packets.held(), kept_packets, "kept packets");
        if self.pending.acks.held() != acks_on_the_way {
            let (expected, found) = (self.pending.acks.held() as u64, acks_on_the_way as u64);
            return Err(RunError::Conservation { place: "the ACK paths".into(), expected, found });
        }
        debug_assert!(
            self.ingress_pools.is_balanced(|link| self.links[link].occupied_in_switch()),
            "memory of ingresses"
        );
        let held = |link: usize| self.links[link].held().map(Transit::bytes).collect();
        if let Some((pool, expected, found)) = self.pools.unbalanced(held) {
            let place = format!("pool {}", self.network.pools[pool].name);
            return Err(RunError::Conservation { place, expected, found });
        }
        let window = self.network.duration.since(self.network.measure_from).picoseconds();
        for (link, spec) in self.links.iter().zip(&self.network.links) {
            let (arrivals, drops, accepted) = link.probe.account();
            let place = format!("link {}", spec.name);
            let held = link.held().count() as u64;
            if arrivals != drops + accepted + held {
                let found = drops + accepted + held;
                return Err(RunError::Conservation { place, expected: arrivals, found });
            }
            let found = link.probe.queue_lengths.over_time().total() as u64;
            if found != window {
                return Err(RunError::Conservation { place, expected: window, found });
            }
        }
        Ok(())
    }
}
