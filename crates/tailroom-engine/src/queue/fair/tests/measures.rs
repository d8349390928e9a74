//! The gauges of a fair queue, and the state that it retains.

use super::*;

fn assert_gauges(bench: &Bench, at: u64, expected: &[(&str, f64)]) {
    for &(name, value) in expected {
        let reported = bench.gauge(name, at);
        assert!((reported - value).abs() <= value * 1e-9, "{name} is {reported}, expected {value}");
    }
}

/// Flow 0 sends 1,000 bytes at 0 us, flow 1 at 0.5 us; the link is idle from 2 us to 10 us.
fn two_packets(scheduler: FairScheduler) -> Bench {
    let arrivals =
        [Arrival { at: 0, flow: 0, bytes: 1_000 }, Arrival { at: 500, flow: 1, bytes: 1_000 }];
    run(&params(scheduler, 100), &arrivals)
}

#[test]
fn flow_counts_fair_rate_and_priority_load_follow_their_definitions() {
    for scheduler in [FairScheduler::StartTime, FairScheduler::PriorityFair] {
        let bench = two_packets(scheduler);
        // Active: one flow for 0.5 us, then two until 2 us (the finish tag of flow 0 is 1,000, the
        // virtual time 0), then none. Backlogged: flow 1 from 0.5 us to 1 us.
        let mut expected = vec![
            ("active_flows", 0.0),
            ("active_flows_mean", 0.35),
            ("active_flows_p99", 2.0),
            ("active_flows_max", 2.0),
            ("backlogged_flows_mean", 0.05),
            // The link is idle for 8 us of 10 us at 8 Gbit/s.
            ("fair_rate_bps", 6.4e9),
            // Both packets found their flow not active: 16,000 bits of 80,000.
            ("priority_load", 0.2),
        ];
        assert_gauges(&bench, 10_000, &expected);
        expected[0].1 = 2.0;
        assert_gauges(&bench, 1_999, &expected[..1]);
    }
}

#[test]
fn under_round_robin_the_backlogged_flows_are_active() {
    let bench = two_packets(FairScheduler::DeficitRoundRobin);
    let expected = [
        ("active_flows", 0.0),
        ("active_flows_mean", 0.05),
        ("active_flows_max", 1.0),
        ("backlogged_flows_mean", 0.05),
        ("fair_rate_bps", 6.4e9),
        ("priority_load", 0.2),
    ];
    assert_gauges(&bench, 10_000, &expected);
}

/// Four flows are always backlogged: the fair rate is a quarter of the link.
#[test]
fn the_fair_rate_of_a_busy_link_is_the_advance_of_the_virtual_time() {
    for scheduler in SCHEDULERS {
        let mut bench = Bench::new(&params(scheduler, 100_000));
        for number in 0..800 {
            bench.arrive(Arrival { at: 0, flow: number % 4, bytes: 1_000 });
        }
        // 400 packets have begun transmission, the last one at 399 us with start tag 99,000 bytes.
        // Rounds with a quantum of 1,000 bytes: 100 have begun, the first one without a turn for
        // the others.
        bench.serve_until(399_500);
        let rate = bench.gauge("fair_rate_bps", 400_000);
        let expected = if scheduler == FairScheduler::DeficitRoundRobin { 2e9 } else { 1.98e9 };
        assert!((rate - expected).abs() < 1.0, "{scheduler:?}: {rate}");
        assert_gauges(&bench, 400_000, &[("active_flows", 4.0), ("active_flows_max", 4.0)]);
        // Another 80 packets follow: 20 rounds in 80 us.
        bench.queue.restart_gauges(nanoseconds(400_000));
        assert_gauges(&bench, 400_000, &[("fair_rate_bps", 0.0)]);
        bench.serve_until(479_500);
        assert_gauges(&bench, 480_000, &[("fair_rate_bps", 2e9), ("priority_load", 0.0)]);
        assert_gauges(&bench, 480_000, &[("active_flows_mean", 4.0), ("active_flows_p99", 4.0)]);
    }
}

/// Single packets of 40 bytes, 80 ns apart: the link is idle half of the time, whatever the
/// quantum.
#[test]
fn the_fair_rate_of_a_link_without_backlog_is_its_idle_part() {
    let arrivals: Vec<Arrival> = (0..1_000)
        .map(|round| Arrival { at: round * 80, flow: (round % 3) as u32, bytes: 40 })
        .collect();
    for scheduler in SCHEDULERS {
        let bench = run(&params(scheduler, 100), &arrivals);
        assert_gauges(&bench, 80_000, &[("fair_rate_bps", 4e9), ("priority_load", 0.5)]);
        let active = if scheduler == FairScheduler::DeficitRoundRobin { 0.0 } else { 0.5 };
        assert_gauges(&bench, 80_000, &[("active_flows_mean", active)]);
    }
}

/// Packets with priority count at their arrival: the first packets of a flow, up to 1,000 bytes.
#[test]
fn the_priority_load_counts_the_credit_of_each_flow() {
    let mut bench = Bench::new(&params(FairScheduler::PriorityFair, 1_000));
    for number in 0..40 {
        bench.arrive(Arrival { at: number, flow: (number % 4) as u32, bytes: 500 });
    }
    // Of 20,000 bytes in 20 us, each of four flows sends two packets with priority: 4,000 bytes.
    assert_gauges(&bench, 20_000, &[("priority_load", 0.2)]);
}

#[test]
fn a_hundred_thousand_flows_that_have_ended_leave_no_state() {
    for scheduler in SCHEDULERS {
        let mut bench = Bench::new(&params(scheduler, 1_000_000));
        for flow in 0..100_000 {
            bench.arrive(Arrival { at: 0, flow, bytes: 100 });
        }
        // One packet is in transmission: its flow is active only by its finish tag.
        let waiting = if scheduler == FairScheduler::DeficitRoundRobin { 99_999 } else { 100_000 };
        assert_eq!(bench.queue.flows.len(), waiting);
        bench.drain();
        assert_eq!(bench.sent.len(), 100_000);
        assert_gauges(&bench, bench.free_at, &[("active_flows", 0.0)]);
        // The next packet finds the link idle: its flow is the only known one.
        bench.arrive(Arrival { at: bench.free_at + 5, flow: 7, bytes: 100 });
        let last = usize::from(scheduler != FairScheduler::DeficitRoundRobin);
        assert_eq!(bench.queue.flows.len(), last);
        let slots = bench.queue.flows.slots().len();
        // Slots are reused: the same flows need no more slots.
        for flow in 0..100_000 {
            bench.arrive(Arrival { at: bench.free_at, flow, bytes: 100 });
        }
        assert!(bench.queue.flows.slots().len() <= slots + 1);
    }
}

/// A flow is forgotten as soon as the virtual time reaches its finish tag, not only when the link
/// is idle.
#[test]
fn flows_are_forgotten_while_others_are_backlogged() {
    let mut arrivals = vec![Arrival { at: 0, flow: 0, bytes: 1_000 }; 2_000];
    arrivals.extend((1..1_000).map(|flow| Arrival {
        at: u64::from(flow) * 1_500,
        flow,
        bytes: 100,
    }));
    for scheduler in SCHEDULERS {
        let mut bench = Bench::new(&params(scheduler, 1_000_000));
        for &arrival in &arrivals {
            bench.arrive(arrival);
            assert!(bench.queue.flows.len() <= 4, "{}", bench.queue.flows.len());
        }
    }
}
