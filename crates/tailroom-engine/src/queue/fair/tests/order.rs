//! Who is served when: bounds from the papers, and scripts worked out by hand.

use super::*;

/// Flows 0 and 1 always wait; bytes over weight that flow 0 is ahead of flow 1, after each packet.
fn lead(fair: &FairParams, weights: [f64; 2], sizes: u64) -> Vec<f64> {
    let mut random = random::stream(sizes, "sizes");
    let mut bench = Bench::new(fair);
    for _ in 0..6_000 {
        for flow in 0..2 {
            // Flow 1 has small packets with the odd large one.
            let least = if flow == 0 { 900 } else { 40 };
            let bytes = least + random::below(&mut random, 1_001 - u64::from(least)) as u32;
            bench.arrive(Arrival { at: 0, flow, bytes });
        }
    }
    let (mut waiting, mut ahead) = ([6_000; 2], 0.0);
    let mut leads = Vec::new();
    bench.drain();
    for sent in &bench.sent {
        waiting[sent.flow as usize] -= 1;
        if waiting.contains(&0) {
            break;
        }
        let sign = if sent.flow == 0 { 1.0 } else { -1.0 };
        ahead += sign * f64::from(sent.bytes) / weights[sent.flow as usize];
        leads.push(ahead);
    }
    leads
}

/// The largest difference of service in any interval: the range of the lead.
fn range(leads: &[f64]) -> f64 {
    let least = leads.iter().copied().fold(0.0, f64::min);
    leads.iter().copied().fold(0.0, f64::max) - least
}

/// Goyal, Vin, Cheng (1996), theorem 1: at most `L_i / r_i + L_j / r_j` in every interval.
#[test]
fn start_time_service_differs_by_at_most_a_packet_of_each() {
    let mut nearest: f64 = 0.0;
    for (seed, weights) in [[1.0, 1.0], [1.0, 3.0], [5.0, 2.0], [0.01, 0.07]].iter().enumerate() {
        let mut fair = params(FairScheduler::StartTime, 100_000);
        for (flow, &weight) in weights.iter().enumerate() {
            fair.weights.insert(format!("group{flow}"), weight);
        }
        let leads = lead(&fair, *weights, seed as u64);
        assert!(leads.len() > 4_000);
        let bound = 1_000.0 / weights[0] + 1_000.0 / weights[1];
        let range = range(&leads);
        // The weights in fixed point are right to 2^-32, which 6,000 packets may add up.
        assert!(range <= bound * (1.0 + 1e-5), "{range} of {bound} at weights {weights:?}");
        nearest = nearest.max(range / bound);
    }
    // The bound is tight.
    assert!(nearest > 0.99, "{nearest}");
}

/// Shreedhar, Varghese (1996), theorem 2: at most the smallest quantum and two largest packets, the
/// service of a flow divided by its quantum over the smallest.
#[test]
fn round_robin_service_differs_by_at_most_a_quantum_and_two_packets() {
    let mut nearest: f64 = 0.0;
    for (seed, (weights, quantum)) in
        [([1.0, 1.0], 1_000), ([1.0, 3.0], 1_000), ([2.0, 1.0], 4_000)].into_iter().enumerate()
    {
        let mut fair = params(FairScheduler::DeficitRoundRobin, 100_000);
        fair.quantum = Some(crate::quantity::Size::new(quantum));
        for (flow, &weight) in weights.iter().enumerate() {
            fair.weights.insert(format!("group{flow}"), weight);
        }
        let bound = quantum as f64 + 2_000.0;
        let range = range(&lead(&fair, weights, seed as u64));
        assert!(range <= bound, "{range} of {bound} at weights {weights:?}");
        // In a turn a flow sends no less than its quantum less a packet.
        assert!(range >= quantum as f64 - 1_000.0);
        nearest = nearest.max(range / bound);
    }
    assert!(nearest > 0.5, "{nearest}");
}

#[test]
fn weights_of_one_and_three_share_one_to_three() {
    for scheduler in SCHEDULERS {
        let mut fair = params(scheduler, 100_000);
        fair.weights.insert("group1".into(), 3.0);
        let mut bench = Bench::new(&fair);
        for _ in 0..4_000 {
            bench.arrive(Arrival { at: 0, flow: 0, bytes: 500 });
            bench.arrive(Arrival { at: 0, flow: 1, bytes: 500 });
        }
        bench.drain();
        let of_flow_1 = bench.sent[..4_000].iter().filter(|sent| sent.flow == 1).count();
        // A quantum of three packets for flow 1 is 6 packets at most.
        assert!((2_994..=3_006).contains(&of_flow_1), "{scheduler:?}: {of_flow_1}");
    }
}

#[test]
fn a_flow_that_returns_before_its_finish_tag_gains_nothing() {
    let mut arrivals = vec![Arrival { at: 0, flow: 0, bytes: 100 }; 20];
    arrivals.push(Arrival { at: 1, flow: 1, bytes: 1_000 });
    // Flow 0 has start tags 0, 100, .., flow 1 has 0 and finishes at 1,000. It is sent from 100 to
    // 1,100 ns and comes back when the virtual time is 100 (from 1,100 to 1,200 ns).
    arrivals.push(Arrival { at: 1_150, flow: 1, bytes: 1_000 });
    let bench = run(&params(FairScheduler::StartTime, 100), &arrivals);
    let order: Vec<u32> = bench.sent.iter().map(|sent| sent.flow).collect();
    // Its tag 1,000 is that of packet 10 of flow 0 too, but set when packet 9 left, from 1,900 ns on.
    let mut expected = vec![0; 22];
    (expected[1], expected[11]) = (1, 1);
    assert_eq!(order, expected);
}

#[test]
fn a_flow_that_returns_after_its_finish_tag_is_not_punished() {
    let mut arrivals = vec![Arrival { at: 0, flow: 0, bytes: 100 }; 20];
    arrivals.push(Arrival { at: 1, flow: 1, bytes: 200 });
    // Flow 1 is sent from 100 to 300 ns and finishes at tag 200; packet 5 of flow 0 has tag 500 and
    // is sent from 700 ns on: what comes then has tag 500 and goes before packet 6.
    arrivals.push(Arrival { at: 750, flow: 1, bytes: 200 });
    let bench = run(&params(FairScheduler::StartTime, 100), &arrivals);
    let order: Vec<u32> = bench.sent.iter().map(|sent| sent.flow).collect();
    let mut expected = vec![0; 22];
    (expected[1], expected[7]) = (1, 1);
    assert_eq!(order, expected);
}

/// Flows 1 to 5 always wait; flow 0 sends 100 bytes every 10 us, 1 % of the link, and its fair rate
/// is a sixth. Returns how long its packets wait at most, in ns.
fn longest_wait(scheduler: FairScheduler) -> u64 {
    let mut arrivals = Vec::new();
    for _ in 0..200 {
        arrivals.extend((1..6).map(|flow| Arrival { at: 0, flow, bytes: 1_000 }));
    }
    let slow = (1..90).map(|round| Arrival { at: round * 10_037, flow: 0, bytes: 100 });
    arrivals.extend(slow);
    let bench = run(&params(scheduler, 100_000), &arrivals);
    let of_slow = bench.sent.iter().filter(|sent| sent.flow == 0);
    of_slow.map(|sent| sent.at - arrivals[sent.number].at).max().expect("it sends")
}

#[test]
fn a_flow_below_the_fair_rate_waits_for_one_packet_under_priority() {
    // What is in transmission: at most 1,000 bytes.
    let with_priority = longest_wait(FairScheduler::PriorityFair);
    assert!((500..=1_000).contains(&with_priority), "{with_priority} ns");
    // Without, up to the packets of the five others.
    let without = longest_wait(FairScheduler::StartTime);
    assert!((3_000..=5_000).contains(&without), "{without} ns");
}

#[test]
fn priority_is_first_come_first_served_and_ends_with_a_packet_of_credit() {
    let arrivals = [
        Arrival { at: 0, flow: 0, bytes: 1_000 }, // 0: at once
        Arrival { at: 1, flow: 0, bytes: 1_000 }, // 1: credit used up: tag 1,000
        Arrival { at: 2, flow: 2, bytes: 500 },   // 2: priority
        Arrival { at: 3, flow: 1, bytes: 900 },   // 3: priority
        Arrival { at: 4, flow: 2, bytes: 500 },   // 4: priority, credit 500 of 1,000
        Arrival { at: 5, flow: 2, bytes: 500 },   // 5: credit used up: tag 1,000, after number 1
        Arrival { at: 6, flow: 1, bytes: 900 },   // 6: priority, credit 900 of 1,000
        Arrival { at: 7, flow: 1, bytes: 100 },   // 7: tag 1,800
        Arrival { at: 8, flow: 2, bytes: 500 },   // 8: tag 1,500
    ];
    let bench = run(&params(FairScheduler::PriorityFair, 100), &arrivals);
    let order: Vec<usize> = bench.sent.iter().map(|sent| sent.number).collect();
    assert_eq!(order, [0, 2, 3, 4, 6, 1, 5, 8, 7]);
}

#[test]
fn deficits_carry_over_as_in_the_paper() {
    // Quantum 1,000. Round 1: flow 0 sends 600 and keeps 400, flow 1 sends 400 and 500 and keeps
    // 100. Round 2: flow 0 has 1,400 and sends 600 and 600, flow 1 has 1,100 and sends 900.
    let packets = [(0, 600), (1, 400), (0, 600), (1, 500), (0, 600), (1, 900)];
    let arrivals = packets.map(|(flow, bytes)| Arrival { at: 1, flow, bytes });
    let mut all = vec![Arrival { at: 0, flow: 9, bytes: 10 }];
    all.extend(arrivals);
    let bench = run(&params(FairScheduler::DeficitRoundRobin, 100), &all);
    let order: Vec<usize> = bench.sent.iter().map(|sent| sent.number).collect();
    assert_eq!(order, [0, 1, 2, 4, 3, 5, 6]);
}

#[test]
fn flows_in_one_bucket_share_its_part() {
    for scheduler in SCHEDULERS {
        let fair = FairParams { buckets: Some(2), ..params(scheduler, 100_000) };
        let buckets = Bench::new(&fair).queue.buckets.expect("two");
        let of = |bucket| (0..1_000).filter(move |&flow| buckets.of(flow) == bucket);
        let [first, second]: [Vec<u32>; 2] = [of(0).collect(), of(1).collect()];
        // Binomial: mean 500, standard deviation 16.
        assert!((420..580).contains(&first.len()), "{}", first.len());
        // One flow in the first bucket, three in the second.
        let flows = [first[0], second[0], second[1], second[2]];
        let mut bench = Bench::new(&fair);
        for _ in 0..1_000 {
            for flow in flows {
                bench.arrive(Arrival { at: 0, flow, bytes: 500 });
            }
        }
        bench.drain();
        let share = |flow| bench.sent[..1_200].iter().filter(|sent| sent.flow == flow).count();
        let shares = flows.map(share);
        assert!((597..=603).contains(&shares[0]), "{shares:?}");
        assert!(shares[1..].iter().all(|share| (198..=202).contains(share)), "{shares:?}");
    }
}

#[test]
fn the_seed_salts_the_buckets() {
    let fair = FairParams { buckets: Some(1_000), ..params(FairScheduler::StartTime, 10) };
    let bucket = |seed| {
        let info = LinkInfo { seed, ..link() };
        Fair::new(&fair, &info).buckets.expect("so many").of(7)
    };
    assert_eq!(bucket(1), bucket(1));
    assert!((2..6).any(|seed| bucket(seed) != bucket(1)));
}
