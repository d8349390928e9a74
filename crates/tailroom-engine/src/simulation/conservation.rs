//! The account of packets at the end of a run, which shows that no packet appeared or vanished.

use super::Simulation;
use super::error::RunError;
use super::pending::Pending;
use crate::flow::Endpoints;
use crate::link::Link;
use crate::link::served::ServedQueue;
use crate::packet::transit::Stage;
use crate::switch::balances::balance;

impl Simulation {
    /// Sent = received + lost + on the way, for each flow and for the ACKs; received = new +
    /// duplicates + discarded, for each receiver; arrived = dropped + taken in, for each link, and its queue was
    /// accounted for at every instant; occupied = waiting + in transmission, for each pool.
    pub(super) fn check_conservation(&mut self) -> Result<(), RunError> {
        let mut on_the_way = vec![0_u64; self.flows.len()];
        let (mut acks_on_the_way, mut kept_packets) = (0, 0);
        let held = self.switch.links.iter().flat_map(Link::held);
        for event in self.pending.agenda.events().chain(held) {
            let Stage::Arrival(hop) = event.stage() else { continue };
            if self.has_reached_far_end(&event) {
                continue;
            }
            if hop < self.flows[event.flow() as usize].forward_hops {
                on_the_way[event.flow() as usize] += 1;
                kept_packets += u64::from(event.is_kept());
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
            balance(|| format!("flow {}", self.name_of(index)), sent, found)?;
            let Endpoints::Tcp(connection) = &flow.endpoints else { continue };
            let (expected, found) = (flow.account.received, connection.receiver.arrived());
            balance(|| format!("the receiver of flow {}", self.name_of(index)), expected, found)?;
        }
        let Pending { kept_packets: kept, acks, .. } = &self.pending;
        balance(|| "kept packets".into(), kept.held() as u64, kept_packets)?;
        balance(|| "the ACK paths".into(), acks.held() as u64, acks_on_the_way)?;
        self.check_balances()?;
        self.switch.check_accounts(&self.network)?;
        Ok(())
    }

    /// Checks what links share, and that no discipline has left packets behind.
    pub(super) fn check_balances(&self) -> Result<(), RunError> {
        self.switch.check_shares(&self.network)?;
        for (link, spec) in self.switch.links.iter().zip(&self.network.links) {
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
    use crate::units::{Rate, Time};

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
            run.switch.miscount_ingress(0, more);
        });
        assert_eq!(found, ("ingress pool 0".to_owned(), 7));
    }

    #[test]
    fn a_run_whose_pool_does_not_balance_ends_before_its_end() {
        let mut network = through_a_switch();
        let policy = PolicyConfig::CompleteSharing(CompleteSharingParams::default());
        network.pools = vec![PoolSpec::new(100_000, policy)];
        network.links.iter_mut().for_each(|link| link.pool = Some(PoolMember::new(0)));
        let found = noticed(&network, |run| run.switch.miscount(0, 7));
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
            let free_at = run.switch.links[0].sends_until() + Time::from_picoseconds(7);
            run.switch.links[1].wait_for_line(free_at);
        });
        assert_eq!(found, ("the line of link second".to_owned(), 7));
    }
}
