//! Queues that share memory against their Markov chain: Poisson arrivals, exponential sizes, a cell
//! per packet.

use tailroom_engine::link::LinkSpec;
use tailroom_engine::network::{FlowSpec, GroupSpec, Network};
use tailroom_engine::pool::policy::PolicyConfig;
use tailroom_engine::pool::policy::complete_partitioning::CompletePartitioningParams;
use tailroom_engine::pool::policy::complete_sharing::CompleteSharingParams;
use tailroom_engine::pool::policy::dynamic_threshold::DynamicThresholdParams;
use tailroom_engine::pool::policy::longest_queue_drop::LongestQueueDropParams;
use tailroom_engine::pool::{PoolMember, PoolSpec};
use tailroom_engine::quantity::limit::Limit;
use tailroom_engine::results::Summary;
use tailroom_engine::traffic::poisson::{PacketSizes, PoissonSpec};
use tailroom_engine::units::{Rate, Time};

use crate::support::poisson::{run, seconds};
use crate::support::shared_memory_chain::{Rule, solve};
use crate::support::{networks, transport};

/// Places, arrival rates, policy, loss of the first and of the last queue, mean occupancy.
type Vector = (usize, &'static [f64], Rule, [f64; 2], Option<f64>);

/// Solved with sparse matrices, outside this repository, to ten digits.
#[expect(clippy::unreadable_literal, reason = "digits as they are published")]
const EXACT: &[Vector] = &[
    (20, &[0.8, 0.8], Rule::CompleteSharing, [1.017242579e-2, 1.017242579e-2], None),
    (40, &[0.9, 0.9], Rule::CompleteSharing, [6.501233322e-3, 6.501233322e-3], None),
    (20, &[0.9, 0.9, 0.9], Rule::CompleteSharing, [6.882654208e-2, 6.882654208e-2], None),
    (20, &[0.9, 0.9], DT(0.5), [1.007733160e-1, 1.007733160e-1], Some(5.255733)),
    (20, &[0.9, 0.9], DT(1.0), [6.664430752e-2, 6.664430752e-2], Some(6.919986)),
    (20, &[0.9, 0.9], DT(2.0), [4.803485724e-2, 4.803485724e-2], Some(8.343730)),
    (20, &[0.9, 0.9], DT(8.0), [3.556324353e-2, 3.556324353e-2], Some(9.819794)),
    (20, &[2.0, 0.5], DT(0.5), [5.024634101e-1, 1.342759932e-2], Some(6.715760)),
    (20, &[2.0, 0.5], DT(1.0), [5.003366160e-1, 5.036116130e-3], Some(9.674068)),
    (20, &[2.0, 0.5], DT(2.0), [5.000371620e-1, 4.143021845e-3], Some(13.182326)),
    (20, &[2.0, 0.5], DT(8.0), [5.000022436e-1, 2.898726220e-2], Some(17.143245)),
    (40, &[1.2, 0.5], DT(1.0), [1.706983130e-1, 3.683287140e-5], Some(16.096486)),
    (40, &[1.2, 0.5], DT(2.0), [1.678813117e-1, 1.396695722e-5], Some(22.344492)),
    (40, &[1.2, 0.5], DT(8.0), [1.669224226e-1, 7.185243396e-4], Some(30.810258)),
];

use Rule::{DynamicThreshold as DT, LongestQueueDrop as LQD};

/// The product form of complete sharing (Kamoun and Kleinrock 1980), for equal loads.
fn loss_of_complete_sharing(places: usize, queues: usize, load: f64) -> f64 {
    let states = |packets: usize| {
        (1..queues).fold(1.0, |product, one| product * (packets + one) as f64 / one as f64)
    };
    let weight = |packets: usize| states(packets) * load.powf(packets as f64);
    weight(places) / (0..=places).map(weight).sum::<f64>()
}

#[test]
fn the_chain_gives_the_published_digits_and_closed_forms() {
    let is_near = |found: f64, expected: f64, digits: f64| (found / expected - 1.0).abs() < digits;
    for &(places, rates, rule, [first, last], occupied) in EXACT {
        let found = solve(places, rates, rule);
        let case = format!("{rule:?}, {places} places, {rates:?}: {found:?}");
        assert!(is_near(found.loss[0], first, 1e-8), "{case}");
        assert!(is_near(found.loss[rates.len() - 1], last, 1e-8), "{case}");
        assert!(occupied.is_none_or(|places| is_near(found.occupied, places, 1e-6)), "{case}");
    }
    for (places, queues, load) in [(10, 2, 0.7), (12, 3, 1.3), (30, 2, 0.95)] {
        let found = solve(places, &vec![load; queues], Rule::CompleteSharing).loss[0];
        let expected = loss_of_complete_sharing(places, queues, load);
        assert!(is_near(found, expected, 1e-9), "{found}, {expected}");
    }
    // Two M/M/1/K.
    let blocked = |load: f64, k: i32| (1.0 - load) * load.powi(k) / (1.0 - load.powi(k + 1));
    let found = solve(20, &[0.8, 1.2], Rule::CompletePartitioning).loss;
    assert!(is_near(found[0], blocked(0.8, 10), 1e-9), "{found:?}");
    assert!(is_near(found[1], blocked(1.2, 10), 1e-9), "{found:?}");
}

/// Links that share memory for `places` packets; the mean packet takes 1 ms. Rounding up to whole
/// bytes adds a part in 10,000 to the sizes.
fn network(places: usize, rates: &[f64], rule: Rule, seed: u64, duration: Time) -> Network {
    let (bytes, rate_bps, cell_bytes) = (5_000_u32, 40_000_000_u64, 65_536_u32);
    let policy = match rule {
        Rule::CompleteSharing => PolicyConfig::CompleteSharing(CompleteSharingParams::default()),
        Rule::CompletePartitioning => {
            PolicyConfig::CompletePartitioning(CompletePartitioningParams::default())
        }
        DT(alpha) => PolicyConfig::DynamicThreshold(with!(
            DynamicThresholdParams::default(),
            DynamicThresholdParams { alpha }
        )),
        Rule::LongestQueueDrop => PolicyConfig::LongestQueueDrop(LongestQueueDropParams::default()),
    };
    let is_acted_on = policy.parameters().pushes_out();
    let pool = PoolSpec::new(places as u64 * u64::from(cell_bytes), policy);
    let links = (0..rates.len()).map(|index| {
        let link =
            networks::link(&format!("{index}"), rate_bps, Time::ZERO, Limit::Packets(1_000_000));
        with!(link, LinkSpec { pool: Some(PoolMember::new(0)), is_acted_on })
    });
    let groups = rates.iter().enumerate().map(|(index, load)| {
        let rate = Rate::from_bits_per_second((load * rate_bps as f64) as u64);
        with!(
            networks::bulk(&format!("{index}"), transport::reno()),
            GroupSpec {
                path: vec![index],
                source: PoissonSpec::new(rate, PacketSizes::Exponential).into(),
                packet_size: bytes,
                tcp: None
            }
        )
    });
    let flows = (0..rates.len()).map(|group| FlowSpec::new(group, Time::ZERO)).collect();
    with!(
        Network::new(duration, links.collect(), groups.collect(), flows),
        Network {
            measure_from: seconds(5.0),
            seed,
            pools: vec![with!(pool, PoolSpec { cell_bytes })],
        }
    )
}

/// The mean of ten independent runs lies within four of its standard deviations of what is expected.
fn assert_mean(samples: &[f64], expected: f64, quantity: &str) {
    let count = samples.len() as f64;
    let mean = samples.iter().sum::<f64>() / count;
    let squares: f64 = samples.iter().map(|sample| (sample - mean).powi(2)).sum();
    let deviation = (squares / (count - 1.0) / count).sqrt();
    let found = format!("{quantity}: {mean} +- {deviation}, expected {expected}");
    assert!((mean - expected).abs() <= 4.0 * deviation, "{found}");
    assert!(deviation > 0.0, "{found}");
}

fn assert_matches_its_chain(places: usize, rates: &[f64], rule: Rule, duration_s: f64) {
    // Half a byte more than 5,000 on average.
    let loads: Vec<f64> = rates.iter().map(|rate| rate * 1.0001).collect();
    let exact = solve(places, &loads, rule);
    let runs: Vec<Summary> =
        (0..10).map(|seed| run(&network(places, rates, rule, seed, seconds(duration_s)))).collect();
    let case = format!("{rule:?}, {places} places, {rates:?}");
    for (queue, loss) in exact.loss.iter().enumerate() {
        let lost = |run: &Summary| run.links.0[queue].1.loss_fraction.expect("packets arrived");
        let samples: Vec<f64> = runs.iter().map(lost).collect();
        // Losses that are too rare have no normal mean.
        if loss * duration_s * 1e3 * rates[queue] > 100.0 {
            assert_mean(&samples, *loss, &format!("loss of queue {queue}, {case}"));
        }
    }
    let occupied = |run: &Summary| run.pools.0[0].1.memory_bytes_mean / 65_536.0;
    let samples: Vec<f64> = runs.iter().map(occupied).collect();
    assert_mean(&samples, exact.occupied, &format!("occupied places, {case}"));
}

/// So long that the rarest loss that is compared, that of the quiet queue at alpha 1, happens 126 times.
#[test]
fn queues_lose_what_their_chain_says() {
    for &(places, rates, rule, ..) in EXACT {
        assert_matches_its_chain(places, rates, rule, 50.0);
    }
    for (rates, rule) in
        [(&[2.0, 0.5], Rule::CompleteSharing), (&[0.9, 0.9], LQD), (&[2.0, 0.5], LQD)]
    {
        assert_matches_its_chain(20, rates, rule, 60.0);
    }
}

/// Packets of loss priority 0 find room with fewer than `high` packets in the memory of one link, those of
/// 1 with fewer than `low`: a chain of births and deaths, in which both arrive up to `low`.
#[test]
fn loss_priorities_of_a_queue_lose_what_their_chain_says() {
    let (places, alphas, rates, duration) = (20.0, [2.0, 0.5], [0.8, 0.6], 60.0);
    let full = |alpha: f64| (alpha * places / (1.0 + alpha)).ceil() as usize;
    let [high, low] = alphas.map(full);
    let mut shares = vec![1.0];
    for state in 0..high {
        let rate: f64 = rates.iter().take(if state < low { 2 } else { 1 }).sum();
        shares.push(shares[state] * rate * 1.0001);
    }
    let all: f64 = shares.iter().sum();
    let expected = [high, low].map(|from| shares[from..].iter().sum::<f64>() / all);
    let runs: Vec<Summary> = (0..10)
        .map(|seed| {
            let mut network = network(20, &rates[..1], DT(alphas[0]), seed, seconds(duration));
            let rate = Rate::from_bits_per_second((rates[1] * 40e6) as u64);
            let source = PoissonSpec::new(rate, PacketSizes::Exponential).into();
            let lower = with!(
                network.groups[0].clone(),
                GroupSpec { name: "lower".to_owned(), source, loss_priority: 1 }
            );
            network.groups.push(lower);
            network.flows.push(FlowSpec::new(1, Time::ZERO));
            network.pools[0].policy = PolicyConfig::DynamicThreshold(with!(
                DynamicThresholdParams::default(),
                DynamicThresholdParams { alpha: alphas[0], lower_alphas: vec![alphas[1]] }
            ));
            run(&network)
        })
        .collect();
    for (priority, expected) in expected.into_iter().enumerate() {
        let lost = |run: &Summary| run.groups.0[priority].1.loss_fraction.expect("packets arrived");
        let samples: Vec<f64> = runs.iter().map(lost).collect();
        assert_mean(&samples, expected, &format!("loss of priority {priority}"));
    }
}

#[test]
#[ignore = "slow: about a hundred million packets"]
fn queues_lose_what_their_chain_says_under_every_policy() {
    for &(places, rates, rule, ..) in EXACT {
        assert_matches_its_chain(places, rates, rule, 400.0);
    }
    for rule in [Rule::CompletePartitioning, Rule::LongestQueueDrop, DT(0.25)] {
        for (places, rates) in [(12, &[0.9, 0.9][..]), (9, &[1.5, 0.6, 0.3]), (30, &[1.1, 0.8])] {
            assert_matches_its_chain(places, rates, rule, 400.0);
        }
    }
}
