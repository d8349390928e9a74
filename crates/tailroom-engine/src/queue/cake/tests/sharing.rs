//! Shares of backlogged flows: of hosts, and of tins.

use super::{MS, cake, shaped};
use crate::packet::addresses::{FlowHosts, Headers};
use crate::packet::dscp::Dscp;
use crate::packet::{Ecn, addresses};
use crate::quantity::Size;
use crate::queue::buffer::{Buffer, DropReason};
use crate::queue::cake::isolation::Isolation;
use crate::queue::cake::tins::Diffserv;
use crate::queue::cake::{Cake, CakeParams};
use crate::queue::{LinkInfo, Scheduler, script};
use crate::units::Time;

/// Shares of packets of these flows, by class and number, that always wait; COBALT marks them, and drops
/// none.
fn shares(cake: &mut Cake, flows: &[(u32, u32)], packets: u64) -> Vec<f64> {
    let (mut buffer, mut now) = (Buffer::default(), Time::ZERO);
    let arrive = |cake: &mut Cake, buffer: &mut Buffer, now, (class, flow)| {
        buffer.set_arriving_class(class);
        cake.enqueue(script::packet(now, flow, 0, 1_000, Ecn::Ect0), buffer);
    };
    for &flow in flows.iter().chain(flows) {
        arrive(cake, &mut buffer, now, flow);
    }
    let mut sent = vec![0; flows.len()];
    for _ in 0..packets {
        now = now.max(cake.opens_at().unwrap_or(now));
        let packet = script::sent(cake, now, &mut buffer).expect("packets wait");
        assert!(!buffer.has_dropped());
        let place = flows.iter().position(|&(_, flow)| flow == packet.flow()).expect("it is known");
        sent[place] += 1;
        arrive(cake, &mut buffer, now, flows[place]);
    }
    sent.into_iter().map(|sent| f64::from(sent) / packets as f64).collect()
}

fn assert_near(found: &[f64], expected: &[f64], bound: f64, what: &str) {
    let is_near = found.iter().zip(expected).all(|(a, b)| (a - b).abs() <= bound);
    assert!(is_near && found.len() == expected.len(), "{what}: {found:?}, not {expected:?}");
}

/// Flows A-a, A-b, A-c, A-c, B-c, B-d ("Piece of CAKE", figure 3): each weight is one over the flows of the
/// hosts that are isolated.
#[test]
fn hosts_share_the_link_as_the_paper_says() {
    let hosts = FlowHosts::named(&["A", "A", "A", "A", "B", "B"], &["a", "b", "c", "c", "c", "d"]);
    let headers = vec![Headers::new(Dscp::Be, "flows", &hosts, 0, u8::MAX)];
    let link = LinkInfo { headers, ..script::link(1_000_000_000) };
    let (eighth, quarter, twelfth) = (1.0 / 8.0, 1.0 / 4.0, 1.0 / 12.0);
    let flows: Vec<(u32, u32)> = (0..6).map(|flow| (0, flow)).collect();
    for (isolation, expected) in [
        (Isolation::Flows, [1.0 / 6.0; 6]),
        (Isolation::DualSrchost, [eighth, eighth, eighth, eighth, quarter, quarter]),
        (Isolation::DualDsthost, [quarter, quarter, twelfth, twelfth, twelfth, quarter]),
        (
            Isolation::TripleIsolate,
            [3.0 / 22.0, 3.0 / 22.0, 3.0 / 22.0, 3.0 / 22.0, 2.0 / 11.0, 3.0 / 11.0],
        ),
    ] {
        let params = CakeParams { isolation, ..CakeParams::default() };
        let found = shares(&mut Cake::new(&params, &link), &flows, 20_000);
        assert_near(&found, &expected, 0.01, &format!("{isolation:?}"));
    }
    for (isolation, expected) in [
        (Isolation::Srchost, vec![0.5, 0.5]),
        (Isolation::Dsthost, vec![0.25; 4]),
        (Isolation::Hosts, vec![0.2; 5]),
        (Isolation::Flowblind, vec![1.0]),
    ] {
        let params = CakeParams { isolation, ..CakeParams::default() };
        let found = shares(&mut Cake::new(&params, &link), &flows, 20_000);
        let group = |flow: usize| match isolation {
            Isolation::Srchost => usize::from(flow > 3),
            Isolation::Dsthost => [0, 1, 2, 2, 2, 3][flow],
            Isolation::Hosts => [0, 1, 2, 2, 3, 4][flow],
            _ => 0,
        };
        let mut sums = vec![0.0; expected.len()];
        found.iter().enumerate().for_each(|(flow, share)| sums[group(flow)] += share);
        assert_near(&sums, &expected, 0.01, &format!("{isolation:?}"));
    }
}

/// A cake whose group g has this code point.
fn with_code_points(params: &CakeParams, code_points: &[Dscp]) -> Cake {
    let hosts = addresses::FlowHosts::default();
    let headers = code_points.iter().map(|&dscp| Headers::new(dscp, "", &hosts, 0, u8::MAX));
    Cake::new(params, &LinkInfo { headers: headers.collect(), ..script::link(1_000_000_000) })
}

/// In saturation the tins with a threshold get just that, and Best Effort the rest.
#[test]
fn tins_get_their_thresholds_and_best_effort_the_rest() {
    let flows: Vec<(u32, u32)> = (0..4).map(|flow| (flow, flow)).collect();
    let code_points = [Dscp::Cs1, Dscp::Be, Dscp::Af41, Dscp::Ef];
    let four = CakeParams { diffserv: Diffserv::Diffserv4, ..shaped(10_000_000) };
    let found = shares(&mut with_code_points(&four, &code_points), &flows, 20_000);
    assert_near(&found, &[1.0 / 16.0, 3.0 / 16.0, 1.0 / 2.0, 1.0 / 4.0], 0.002, "diffserv4");
    let three = shaped(10_000_000);
    let code_points = [Dscp::Cs1, Dscp::Be, Dscp::Be, Dscp::Ef];
    let found = shares(&mut with_code_points(&three, &code_points), &flows, 20_000);
    assert_near(&found, &[0.0625, 0.34375, 0.34375, 0.25], 0.002, "diffserv3");
}

/// Without a rate, tins have turns with 64, 1024 and 256 B.
#[test]
fn tins_without_a_rate_share_by_their_quanta() {
    let flows: Vec<(u32, u32)> = (0..3).map(|flow| (flow, flow)).collect();
    let code_points = [Dscp::Cs1, Dscp::Be, Dscp::Ef];
    let mut cake = with_code_points(&CakeParams::default(), &code_points);
    let sum = 64.0 + 1_024.0 + 256.0;
    let expected = [64.0 / sum, 1_024.0 / sum, 256.0 / sum];
    assert_near(&shares(&mut cake, &flows, 20_000), &expected, 0.002, "unlimited");
}

/// A packet of 1,000 B counts as 2,304 B. The head of the longest queue leaves, of whichever tin.
#[test]
fn a_full_buffer_drops_the_head_of_the_longest_queue() {
    let memory = 2_304 * 10;
    let memlimit = Some(Size::new(memory));
    let mut cake =
        with_code_points(&CakeParams { memlimit, ..shaped(1_000_000) }, &[Dscp::Cs1, Dscp::Ef]);
    let mut buffer = Buffer::default();
    for number in 0..10 {
        buffer.set_arriving_class(u32::from(number % 10 < 3));
        let flow = u32::from(number % 10 < 3);
        cake.enqueue(script::packet(Time::ZERO, flow, number, 1_000, Ecn::NotEct), &mut buffer);
    }
    assert!(!buffer.has_dropped());
    for number in 10..12 {
        buffer.set_arriving_class(1);
        cake.enqueue(script::packet(MS(1), 1, number, 1_000, Ecn::NotEct), &mut buffer);
    }
    let expected = [(0, 3, DropReason::Overflow), (0, 4, DropReason::Overflow)];
    assert_eq!(script::dropped(&mut buffer), expected);
}

/// A flow that sends less than its quantum at a time passes those with a backlog.
#[test]
fn a_sparse_flow_goes_first() {
    let (mut cake, mut buffer) = (cake(&shaped(10_000_000)), Buffer::default());
    for number in 0..10 {
        cake.enqueue(script::packet(Time::ZERO, 0, number, 1_000, Ecn::NotEct), &mut buffer);
    }
    let next = |cake: &mut Cake, buffer: &mut Buffer| {
        let now = cake.opens_at().expect("it shapes");
        (now, script::sent(cake, now, buffer).expect("packets wait").flow())
    };
    let flows: Vec<u32> = (0..3).map(|_| next(&mut cake, &mut buffer).1).collect();
    assert_eq!(flows, [0, 0, 0]);
    let now = cake.opens_at().expect("it shapes");
    cake.enqueue(script::packet(now, 1, 0, 200, Ecn::NotEct), &mut buffer);
    assert_eq!(next(&mut cake, &mut buffer).1, 1);
    let queues = cake.tins[0].queues.as_ref().expect("packets arrived");
    assert_eq!(queues.counts(), [1, 1], "one sparse flow, one bulk flow");
}
