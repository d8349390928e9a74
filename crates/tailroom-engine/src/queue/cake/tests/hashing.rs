//! Set-associative hashing against its closed form, and against a plain search.

use crate::queue::cake::isolation::mixed;
use crate::queue::cake::queues::Queues;
use crate::queue::cake::ways::{SLOTS, Slot, find};
use crate::random::{Random, below, stream};

const WAYS: usize = 8;

/// Flows of `flows` that find their set full: 128 times the mean of what is beyond 8 of a binomial number.
fn expected(flows: u64) -> f64 {
    let share = WAYS as f64 / SLOTS as f64;
    let mut probability = libm::pow(1.0 - share, flows as f64);
    let mut beyond = 0.0;
    for number in 0..=flows {
        beyond += probability * number.saturating_sub(WAYS as u64) as f64;
        probability *= (flows - number) as f64 / (number + 1) as f64 * share / (1.0 - share);
    }
    beyond / share
}

/// Of 100, 200, 400 and 500 flows 0.00, 0.005, 0.85 and 3.6 share a queue.
#[test]
fn eight_ways_give_nearly_every_flow_a_queue_of_its_own() {
    let mut random = stream(1, "hashing");
    for (flows, printed, unit) in
        [(100, 0.0, 0.005), (200, 0.005, 0.0005), (400, 0.85, 0.005), (500, 3.6, 0.05)]
    {
        let mean = expected(flows);
        assert!((mean - printed).abs() <= unit, "{flows} flows: {mean}");
        let runs = 400;
        let mut shared = 0;
        for _ in 0..runs {
            let (salt, mut queues) = (random.next_u64(), Queues::new([false; 2]));
            for flow in 0..flows {
                let index = queues.assign(mixed(flow, salt), || unreachable!("no hosts"));
                queues.activate(index, 1_514, || 0);
            }
            shared += queues.collisions;
        }
        let found = shared as f64 / f64::from(runs);
        // The number is nearly Poisson in clusters of two at most: four standard errors.
        let bound = 4.0 * libm::sqrt((2.0 * mean + 0.001) / f64::from(runs));
        assert!((found - mean).abs() <= bound, "{flows} flows: {found}, not {mean}");
    }
}

/// The search once more, over tables of tags and of what is in use.
#[test]
fn the_slot_is_the_flows_own_then_a_free_one_then_a_shared_one() {
    let mut random = stream(2, "hashing");
    for _ in 0..20_000 {
        let hash = random.next_u64() as u32;
        let (set, way) = (hash as usize % SLOTS / WAYS, hash as usize % WAYS);
        let (mut tags, mut in_use) = (vec![0_u32; SLOTS], vec![true; SLOTS]);
        for offset in 0..WAYS {
            in_use[set * WAYS + offset] = below(&mut random, 4) > 0;
            tags[set * WAYS + offset] = if below(&mut random, 16) == 0 { hash } else { !hash };
        }
        let order = (way..WAYS).chain(0..way).map(|offset| set * WAYS + offset);
        let slots: Vec<usize> = order.collect();
        let own = slots.iter().copied().find(|&slot| tags[slot] == hash);
        let free = slots.iter().copied().find(|&slot| !in_use[slot]);
        let expected = match (own, free) {
            (Some(slot), _) => Slot::Own(slot),
            (None, Some(slot)) => Slot::Free(slot),
            (None, None) => Slot::Shared(slots[0]),
        };
        assert_eq!(find(hash, |slot| tags[slot] == hash, |slot| !in_use[slot]), expected);
    }
}
