//! Which packet is dropped when the buffer is full.

use super::*;
use crate::queue::Parameters;

/// Returns the drops among `packets`, which arrive 1 ns apart while a packet of flow 9 is in
/// transmission for a second.
fn drops_of(fair: &FairParams, packets: &[(u32, u32)]) -> Vec<(u32, usize)> {
    let mut bench = Bench::new(fair);
    bench.arrive(Arrival { at: 0, flow: 9, bytes: 1 });
    bench.free_at = 1_000_000_000;
    for (at, &(flow, bytes)) in (1..).zip(packets) {
        bench.arrive(Arrival { at, flow, bytes });
    }
    bench.dropped
}

fn for_each_scheduler(check: impl Fn(FairParams)) {
    for scheduler in SCHEDULERS {
        check(params(scheduler, 4));
    }
}

#[test]
fn the_longest_queue_by_bytes_loses_its_front_or_tail_packet() {
    for_each_scheduler(|fair| {
        // Flow 0 has 3 packets with 300 bytes, flow 1 one packet with 900 bytes; packet 5 does not
        // fit.
        let script = [(0, 100), (1, 900), (0, 100), (0, 100), (2, 50)];
        assert_eq!(drops_of(&fair, &script), [(1, 2)]);
        // Flow 0 has 300 bytes in three packets, flow 1 has 200 in one.
        let script = [(0, 100), (1, 200), (0, 100), (0, 100), (2, 50)];
        assert_eq!(drops_of(&fair, &script), [(0, 1)]);
        let tail = FairParams { drop_from: DropFrom::Tail, ..fair };
        assert_eq!(drops_of(&tail, &script), [(0, 4)]);
    });
}

#[test]
fn the_longest_queue_by_packets_loses_a_packet() {
    for_each_scheduler(|fair| {
        let script = [(0, 100), (1, 900), (0, 100), (0, 100), (2, 50)];
        let fair = FairParams { longest: Length::Packets, ..fair };
        assert_eq!(drops_of(&fair, &script), [(0, 1)]);
        let tail = FairParams { drop_from: DropFrom::Tail, ..fair };
        assert_eq!(drops_of(&tail, &script), [(0, 4)]);
    });
}

#[test]
fn the_arriving_packet_may_be_dropped() {
    for_each_scheduler(|fair| {
        // The packet of flow 2 makes the longest queue, of one packet: front and tail are the same.
        let script = [(0, 100), (1, 100), (0, 100), (1, 100), (2, 900)];
        assert_eq!(drops_of(&fair, &script), [(2, 5)]);
        // Flow 0 grows to three packets: its tail is the packet that has just arrived.
        let script = [(0, 100), (1, 100), (0, 100), (1, 100), (0, 100)];
        let tail = FairParams { drop_from: DropFrom::Tail, ..fair.clone() };
        assert_eq!(drops_of(&tail, &script), [(0, 5)]);
        assert_eq!(drops_of(&fair, &script), [(0, 1)]);
    });
}

#[test]
fn in_a_tie_the_queue_of_the_arriving_packet_loses_a_packet_or_any() {
    for_each_scheduler(|fair| {
        let tail = FairParams { drop_from: DropFrom::Tail, ..fair };
        // Flows 3 and 1 have 200 bytes each; flow 2 arrives with 200 bytes, then with 100.
        let script = [(3, 100), (1, 100), (3, 100), (1, 100), (2, 200)];
        assert_eq!(drops_of(&tail, &script), [(2, 5)]);
        let script = [(3, 100), (1, 100), (3, 100), (1, 100), (2, 100)];
        let dropped = drops_of(&tail, &script);
        assert!(dropped == [(3, 3)] || dropped == [(1, 4)], "{dropped:?}");
    });
}

#[test]
fn packets_are_dropped_until_a_large_packet_fits_the_limit_in_bytes() {
    for_each_scheduler(|fair| {
        let fair = FairParams { limit: QueueLimit::bytes(1_000), ..fair };
        // 200 + 300 + 400 bytes wait; 500 more make 1,400. Flow 0 has 500, flow 1 400, flow 2 500.
        // Flows 0 and 2 tie: flow 2 has the arriving packet, which is dropped.
        let script = [(0, 200), (0, 300), (1, 400), (2, 500)];
        assert_eq!(drops_of(&fair, &script), [(2, 4)]);
        // 300 bytes more of flow 1 make 1,200: it has 700 and loses the 400.
        let script = [(0, 200), (0, 300), (1, 400), (1, 300)];
        assert_eq!(drops_of(&fair, &script), [(1, 3)]);
        // 1,500 bytes: flow 1 has 1,000 and loses 400; of the remaining 1,100 it has 600, and loses
        // these.
        let script = [(0, 200), (0, 300), (1, 400), (1, 600)];
        assert_eq!(drops_of(&fair, &script), [(1, 3), (1, 4)]);
    });
}

/// Compares the drops with queue lengths that the test counts from arrivals, departures and drops.
fn check_victims(fair: &FairParams, arrivals: &[Arrival]) {
    let mut bench = Bench::new(fair);
    let mut queues = std::collections::BTreeMap::<u32, Vec<usize>>::new();
    let length = |queue: &Vec<usize>| match fair.longest {
        Length::Packets => queue.len() as u64,
        Length::Bytes => queue.iter().map(|&number| u64::from(arrivals[number].bytes)).sum(),
    };
    let mut drops = 0;
    for (number, &arrival) in arrivals.iter().enumerate() {
        bench.serve_until(arrival.at);
        for sent in bench.sent.drain(..) {
            // The first packet of a flow always leaves first.
            assert_eq!(
                queues.get_mut(&sent.flow).expect("the flow is known").remove(0),
                sent.number
            );
        }
        queues.entry(arrival.flow).or_default().push(number);
        bench.arrive(arrival);
        for (flow, victim) in bench.dropped.drain(..) {
            drops += 1;
            let longest = queues.values().map(length).max().expect("one packet waits");
            assert_eq!(length(&queues[&flow]), longest, "{fair:?}");
            let is_tie = length(&queues[&arrival.flow]) == longest;
            assert!(flow == arrival.flow || !is_tie, "{fair:?}");
            let queue = queues.get_mut(&flow).expect("the flow is known");
            let at = if fair.drop_from == DropFrom::Front { 0 } else { queue.len() - 1 };
            assert_eq!(queue.remove(at), victim);
        }
    }
    bench.drain();
    for sent in &bench.sent {
        assert_eq!(queues.get_mut(&sent.flow).expect("the flow is known").remove(0), sent.number);
    }
    assert!(queues.values().all(Vec::is_empty), "every packet has left or been dropped");
    assert!(drops > 100, "{drops} drops");
}

#[test]
fn the_longest_queue_loses_packets_and_flows_keep_their_order_in_random_traffic() {
    for (at, scheduler) in SCHEDULERS.into_iter().enumerate() {
        for longest in [Length::Packets, Length::Bytes] {
            for drop_from in [DropFrom::Front, DropFrom::Tail] {
                let fair = FairParams { longest, drop_from, ..params(scheduler, 15) };
                check_victims(&fair, &traffic(at as u64, 3_000, 30, 1.3));
                let limit = QueueLimit::bytes(4_000);
                check_victims(
                    &FairParams { limit, ..fair },
                    &traffic(100 + at as u64, 3_000, 8, 1.3),
                );
            }
        }
    }
}

#[test]
fn refuses_parameters_that_contradict_the_link_with_the_remedy() {
    let refusal = |change: fn(&mut FairParams), scheduler| {
        let mut fair = params(scheduler, 10);
        change(&mut fair);
        let bad = fair.validate(&link()).expect_err("the parameters are wrong");
        (bad.key, bad.remedy)
    };
    let round_robin = FairScheduler::DeficitRoundRobin;
    let quantum: fn(&mut FairParams) = |fair| fair.quantum = Some(crate::quantity::Size::new(999));
    assert_eq!(
        refusal(quantum, round_robin),
        ("quantum".into(), "write a size from \"1000 B\" to \"1 GB\"".into())
    );
    assert_eq!(refusal(quantum, FairScheduler::StartTime).0, "quantum");
    let unknown: fn(&mut FairParams) = |fair| _ = fair.weights.insert("voice".into(), 4.0);
    let names: Vec<String> = (0..10).map(|group| format!("group{group}")).collect();
    let remedy = format!("name one of {}", names.join(", "));
    assert_eq!(refusal(unknown, FairScheduler::StartTime), ("weights".into(), remedy));
    let changes: [fn(&mut FairParams); 4] = [
        |fair| _ = fair.weights.insert("group1".into(), 0.0),
        |fair| _ = fair.weights.insert("group1".into(), -1.0),
        |fair| _ = fair.weights.insert("group1".into(), f64::NAN),
        |fair| _ = fair.weights.insert("group1".into(), 1e6),
    ];
    for change in changes {
        let expected = ("weights".to_owned(), "write a weight from 0.001 to 1000".to_owned());
        assert_eq!(refusal(change, FairScheduler::StartTime), expected);
    }
    let both: fn(&mut FairParams) = |fair| {
        fair.weights.insert("group1".into(), 2.0);
        fair.buckets = Some(4);
    };
    assert_eq!(refusal(both, FairScheduler::StartTime).0, "weights");
    let mut fine = params(round_robin, 10);
    fine.quantum = Some(crate::quantity::Size::new(1_000));
    fine.weights.insert("group1".into(), 0.25);
    assert_eq!(fine.validate(&link()), Ok(()));
}
