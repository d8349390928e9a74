//! In Linux quantum and packets both count the header of the link layer, 1514 B on Ethernet, so that a new
//! flow sends one full packet before a sparse one; whatever a scenario's packets count, that holds.

use super::buffer::Buffer;
use super::cake::{Cake, CakeParams};
use super::fair::{Fair, FairParams, FairScheduler};
use super::fq_codel::{FqCodel, FqCodelParams};
use super::fq_pie::{FqPie, FqPieParams};
use super::{LinkInfo, Scheduler, script};
use crate::packet::Ecn;
use crate::packet::transit::Transit;
use crate::quantity::BitRate;
use crate::quantity::limit::QueueLimit;
use crate::units::Time;

/// The flows in the order in which `queue` serves flow 0, which has waited, flow 1, which is new and has two
/// full packets, and flow 2, which is sparse.
fn order(mut queue: impl Scheduler, full: u32) -> Vec<u32> {
    let (mut buffer, mut now) = (Buffer::default(), Time::ZERO);
    let mut sent = |queue: &mut _, buffer: &mut _| {
        // At 8 Mbit/s, a full packet has left by then.
        now += Time::from_milliseconds(20);
        script::sent(queue, now, buffer).map(Transit::flow)
    };
    let arrive = |queue: &mut _, buffer: &mut _, flow, packets, bytes| {
        for sequence in 0..packets {
            let packet = script::packet(Time::ZERO, flow, sequence, bytes, Ecn::NotEct);
            Scheduler::enqueue(queue, packet, buffer);
        }
    };
    arrive(&mut queue, &mut buffer, 0, 3, full);
    let first = sent(&mut queue, &mut buffer);
    assert_eq!(first, Some(0));
    arrive(&mut queue, &mut buffer, 1, 2, full);
    arrive(&mut queue, &mut buffer, 2, 1, 90);
    (0..3).filter_map(|_| sent(&mut queue, &mut buffer)).collect()
}

#[test]
fn a_new_flow_sends_one_full_packet_before_a_sparse_one() {
    for (largest, full) in [(1_500, 1_500), (1_514, 1_514), (9_000, 9_000), (52, 1_500)] {
        let link = LinkInfo { packet_bytes: largest, ..script::link(8_000_000) };
        let fair = |scheduler| {
            let limit = QueueLimit::packets(100);
            let link = LinkInfo { packet_bytes: full, ..link.clone() };
            Fair::new(&FairParams { scheduler, ..FairParams::new(limit) }, &link)
        };
        let shaped = |rate| CakeParams { rate: Some(BitRate::new(rate)), ..CakeParams::default() };
        let orders = [
            order(FqCodel::new(&FqCodelParams::default(), &link), full),
            order(FqPie::new(&FqPieParams::default(), &link), full),
            order(Cake::new(&CakeParams::default(), &link), full),
            order(Cake::new(&shaped(100_000_000), &link), full),
            order(fair(FairScheduler::PriorityFair), full),
            order(fair(FairScheduler::DeficitRoundRobin), full),
        ];
        assert_eq!(orders, [(); 6].map(|()| vec![1, 2, 0]), "packets of {largest} B");
    }
}
