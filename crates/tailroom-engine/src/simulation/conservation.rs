//! The account of packets at the end of a run, which shows that no packet appeared or vanished.

use super::Simulation;
use super::error::RunError;
use crate::flow::Endpoints;
use crate::link::Link;
use crate::link::served::ServedQueue;
use crate::packet::transit::{Stage, Transit};
use crate::units::Time;

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
        if self.pending.kept_packets.held() != kept_packets {
            let (expected, found) = (self.pending.kept_packets.held() as u64, kept_packets as u64);
            return Err(RunError::Conservation { place: "kept packets".into(), expected, found });
        }
        if self.pending.acks.held() != acks_on_the_way {
            let (expected, found) = (self.pending.acks.held() as u64, acks_on_the_way as u64);
            return Err(RunError::Conservation { place: "the ACK paths".into(), expected, found });
        }
        self.check_balances()?;
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

    /// Checks what links share: the memory of pools and ingresses and the time of lines; and that no discipline
    /// has left packets behind.
    pub(super) fn check_balances(&self) -> Result<(), RunError> {
        if let Some((pool, expected, found)) = self.pools.miscounted() {
            let place = format!("pool {}", self.network.pools[pool].name);
            return Err(RunError::Conservation { place, expected, found });
        }
        let occupied = |link: usize| self.links[link].occupied_in_switch();
        if let Some((pool, expected, found)) = self.ingress_pools.unbalanced(occupied) {
            let place = format!("ingress pool {pool}");
            return Err(RunError::Conservation { place, expected, found });
        }
        if let Some((link, [expected, found])) = self.lines.unbalanced(&self.links) {
            let place = format!("the line of link {}", self.network.links[link].name);
            let [expected, found] = [expected, found].map(Time::picoseconds);
            return Err(RunError::Conservation { place, expected, found });
        }
        for (link, spec) in self.links.iter().zip(&self.network.links) {
            if let Some(at) = link.served().and_then(ServedQueue::stalled_at) {
                let link = spec.name.clone();
                return Err(RunError::Stall { link, discipline: spec.queue.name().to_owned(), at });
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::super::limits::EVENTS_BETWEEN_MEMORY_CHECKS;
    use super::*;
    use crate::link::LinkSpec;
    use crate::link::ingress_pool::{IngressMember, IngressMemory, Occupied};
    use crate::link::line::LineSpec;
    use crate::network::{FlowSpec, GroupSpec, Network};
    use crate::pool::policy::PolicyConfig;
    use crate::pool::policy::complete_sharing::CompleteSharingParams;
    use crate::pool::{PoolMember, PoolSpec};
    use crate::quantity::Size;
    use crate::quantity::limit::Limit;
    use crate::queue::QueueConfig;
    use crate::queue::drop_tail::DropTailParams;
    use crate::traffic::cbr::CbrParams;
    use crate::units::Rate;

    /// A stream over a link to a switch, whose memory it takes there.
    fn through_a_switch() -> Network {
        let rate = Rate::from_bits_per_second(8_000_000);
        let queue = || QueueConfig::DropTail(DropTailParams::new(Limit::Packets(10).into()));
        let mut links = vec![LinkSpec::new(rate, Time::ZERO, queue()); 2];
        links[1].name = "second".into();
        links[1].is_acted_on = true;
        links[0].ingress = Some(IngressMember { pool: 0, alpha: 1.0, xon_offset: 0 });
        let stream = GroupSpec::new("stream", vec![0, 1], CbrParams::at_once(rate));
        let flow = FlowSpec::new(0, Time::from_milliseconds(1));
        let duration = Time::from_milliseconds(100);
        let mut network = Network::new(duration, links, vec![stream], vec![flow]);
        network.ingress_pools = vec![IngressMemory::new(Size::new(100_000))];
        network
    }

    /// The account of which an error tells once it is broken, and what is missing. The run checks its accounts at
    /// the event that a million others come before.
    fn noticed(network: &Network, breaks: impl FnOnce(&mut Simulation)) -> (String, u64) {
        let mut run = Simulation::new(network).expect("the network is valid");
        run.run_until(Time::from_milliseconds(10)).expect("all balances");
        run.events = EVENTS_BETWEEN_MEMORY_CHECKS - 5;
        run.run_until(Time::from_milliseconds(20)).expect("all balances");
        breaks(&mut run);
        run.events = EVENTS_BETWEEN_MEMORY_CHECKS - 1;
        let error = run.run_until(Time::from_milliseconds(30)).expect_err("an account is broken");
        assert!(error.to_string().contains("bug in tailroom, please report it"), "{error}");
        let RunError::Conservation { place, expected, found } = error else { panic!("{error}") };
        (place, expected.abs_diff(found))
    }

    #[test]
    fn a_run_whose_ingresses_do_not_balance_ends_before_its_end() {
        let more = Occupied { shared: 7, ..Occupied::default() };
        let found = noticed(&through_a_switch(), |run| {
            run.ingress_pools.replace(0, Occupied::default(), more);
        });
        assert_eq!(found, ("ingress pool 0".to_owned(), 7));
    }

    #[test]
    fn a_run_whose_pool_does_not_balance_ends_before_its_end() {
        let mut network = through_a_switch();
        let policy = PolicyConfig::CompleteSharing(CompleteSharingParams::default());
        network.pools = vec![PoolSpec::new(100_000, policy)];
        network.links.iter_mut().for_each(|link| link.pool = Some(PoolMember::new(0)));
        let found = noticed(&network, |run| run.pools.miscount(0, 7));
        assert_eq!(found, ("pool pool".to_owned(), 7));
    }

    #[test]
    fn a_run_whose_line_does_not_balance_ends_before_its_end() {
        let mut network = through_a_switch();
        network.links[0].name = "first".into();
        network.links[0].ingress = None;
        network.ingress_pools.clear();
        network.links.iter_mut().for_each(|link| link.line = Some(LineSpec::new("port")));
        let found = noticed(&network, |run| {
            let free_at = run.links[0].sends_until() + Time::from_picoseconds(7);
            run.links[1].wait_for_line(free_at);
        });
        assert_eq!(found, ("the line of link second".to_owned(), 7));
    }
}
