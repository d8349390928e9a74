//! Links with Poisson arrivals against closed forms: M/D/1, M/M/1/K, and RED with a thinned
//! birth-death process.

use tailroom_engine::quantity::limit::{Limit, QueueLimit};
use tailroom_engine::queue::QueueConfig;
use tailroom_engine::queue::red::{AboveMax, RedMode, RedParams};
use tailroom_engine::traffic::poisson::PacketSizes;

use crate::support::networks;
use crate::support::poisson::{estimate, poisson, replicate};

fn tail_drop(packets: u64) -> QueueConfig {
    networks::drop_tail(Limit::Packets(packets))
}

/// Pollaczek and Khinchine: rho^2 / (2 (1 - rho)) packets wait in M/D/1.
#[test]
fn m_d_1_has_the_mean_queue_of_pollaczek_and_khinchine() {
    for load in [0.5, 0.8] {
        let runs = replicate(|seed| poisson(load, PacketSizes::Fixed, tail_drop(1_000_000), seed));
        let queue = estimate(&runs, |link| link.queue_packets_mean);
        queue.assert_is(load * load / (2.0 * (1.0 - load)), 0.03, "mean queue");
        // Little: mean wait = mean queue / arrival rate.
        let delay = estimate(&runs, |link| link.queue_delay_s_mean.expect("packets departed"));
        delay.assert_is(1e-3 * load / (2.0 * (1.0 - load)), 0.03, "mean wait");
        // Poisson arrivals see time averages.
        let seen = estimate(&runs, |link| link.queue_seen_packets_mean.expect("packets arrived"));
        seen.assert_is(load * load / (2.0 * (1.0 - load)), 0.03, "mean queue seen");
    }
}

/// M/M/1/K: the loss (1 - rho) rho^K / (1 - rho^(K+1)) and the mean number of waiting packets. K
/// counts the packet in transmission and the limit does not: the limit is K - 1.
#[test]
fn m_m_1_k_has_the_loss_queue_and_utilization_of_its_formulas() {
    for (load, places) in [(0.8, 5_u64), (0.95, 20), (1.2, 10)] {
        let rho = load * 1.0001; // rounding up adds half a byte to 5,000
        let runs =
            replicate(|seed| poisson(load, PacketSizes::Exponential, tail_drop(places - 1), seed));
        let shares: Vec<f64> = (0..=places as i32).map(|n| f64::powi(rho, n)).collect();
        let sum: f64 = shares.iter().sum();
        let blocked = shares[places as usize] / sum;
        let waiting: f64 =
            shares.iter().enumerate().skip(1).map(|(n, share)| (n - 1) as f64 * share / sum).sum();
        let case = format!("at load {load}, K = {places}");
        let loss = estimate(&runs, |link| link.loss_fraction.expect("packets arrived"));
        loss.assert_is(blocked, 0.04, &format!("loss {case}"));
        let queue = estimate(&runs, |link| link.queue_packets_mean);
        queue.assert_is(waiting, 0.03, &format!("queue {case}"));
        let utilization = estimate(&runs, |link| link.utilization);
        utilization.assert_is(rho * (1.0 - blocked), 0.01, &format!("utilization {case}"));
    }
}

/// Buffer of the links with RED, in packets.
const LIMIT: u64 = 25;

/// A load and parameters of RED; the thresholds are in packets.
struct Case {
    load: f64,
    min: f64,
    max: f64,
    max_p: f64,
    gentle: bool,
}

impl Case {
    fn red(&self) -> QueueConfig {
        let mean_bytes = 5_000.0; // mean packet size of the source
        QueueConfig::Red(with!(
            RedParams::new(QueueLimit::packets(LIMIT)),
            RedParams {
                min_threshold: Some(QueueLimit::bytes((self.min * mean_bytes) as u64)),
                max_threshold: Some(QueueLimit::bytes((self.max * mean_bytes) as u64)),
                max_p: self.max_p,
                weight: Some(1.0),
                mean_packet_size: None,
                mode: RedMode::Packets,
                gentle: self.gentle,
                uniform: false,
                wait: false,
                above_max: AboveMax::Mark
            }
        ))
    }

    /// Drop probability of a packet that finds `waiting` packets. With a weight of 1, the average
    /// queue is the current queue.
    fn drop_probability(&self, waiting: u64) -> f64 {
        let queue = waiting as f64;
        if waiting >= LIMIT {
            1.0
        } else if queue < self.min || waiting < 2 {
            0.0
        } else if queue < self.max {
            self.max_p * (queue - self.min) / (self.max - self.min)
        } else if self.gentle {
            (self.max_p + (1.0 - self.max_p) * (queue - self.max) / self.max).min(1.0)
        } else {
            1.0
        }
    }

    /// Loss, mean number of waiting packets and utilization, by the stationary distribution of the
    /// number n of packets at the link: pi(n + 1) = rho (1 - p(n)) pi(n). The packet in
    /// transmission does not wait, so p(n) is the drop probability with n - 1 waiting packets.
    fn thinned_chain(&self, rho: f64) -> (f64, f64, f64) {
        let waiting = |n: u64| n.saturating_sub(1);
        let mut shares = vec![1.0];
        for n in 0..=LIMIT {
            let born = rho * (1.0 - self.drop_probability(waiting(n)));
            shares.push(shares[n as usize] * born);
        }
        let sum: f64 = shares.iter().sum();
        let (mut loss, mut queue) = (0.0, 0.0);
        for (n, share) in (0..).zip(&shares) {
            // Poisson arrivals see time averages.
            loss += share / sum * self.drop_probability(waiting(n));
            queue += share / sum * waiting(n) as f64;
        }
        (loss, queue, 1.0 - shares[0] / sum)
    }
}

/// With Poisson arrivals and exponential sizes, a weight of 1 and independent drops, the number of
/// packets at the link is a birth-death process with thinned births (Bonald, May and Bolot 2000,
/// "Analytic evaluation of RED performance").
#[test]
fn red_has_the_loss_queue_and_utilization_of_its_thinned_birth_death_process() {
    let usual = Case { load: 1.1, min: 5.0, max: 15.0, max_p: 0.1, gentle: true };
    let cases = [
        Case { load: 0.9, ..usual },
        Case { gentle: false, ..usual },
        // The single waiting packet is above min_th, and yet no packet is dropped.
        Case { load: 0.8, min: 0.5, max: 4.0, max_p: 0.5, gentle: true },
        usual,
    ];
    for case in cases {
        let load = case.load;
        let rho = load * 1.0001; // rounding up adds half a byte to 5,000
        let (dropped, waiting, busy) = case.thinned_chain(rho);
        let runs = replicate(|seed| poisson(load, PacketSizes::Exponential, case.red(), seed));
        let label = format!("at load {load}, min {}, gentle {}", case.min, case.gentle);
        let loss = estimate(&runs, |link| link.loss_fraction.expect("packets arrived"));
        loss.assert_is(dropped, 0.04, &format!("loss {label}"));
        let queue = estimate(&runs, |link| link.queue_packets_mean);
        queue.assert_is(waiting, 0.03, &format!("queue {label}"));
        let utilization = estimate(&runs, |link| link.utilization);
        utilization.assert_is(busy, 0.01, &format!("utilization {label}"));
    }
}
