//! RED against its closed form: with Poisson arrivals and exponential sizes, a weight of 1 and
//! independent drops, the number of packets at the link is a birth-death process whose births are
//! thinned (Bonald, May, Bolot 2000, "Analytic evaluation of RED performance").

use tailroom_engine::quantity::limit::QueueLimit;
use tailroom_engine::queue::QueueConfig;
use tailroom_engine::queue::red::{RedMode, RedParams};
use tailroom_engine::traffic::poisson::PacketSizes;

use crate::support::poisson::{estimate, poisson, replicate};

const LIMIT: u64 = 25;

/// Load and parameters; thresholds in packets.
struct Case {
    load: f64,
    min: f64,
    max: f64,
    max_p: f64,
    gentle: bool,
}

impl Case {
    fn red(&self) -> QueueConfig {
        let mean_bytes = 5_000.0; // of the source
        QueueConfig::Red(RedParams {
            limit: QueueLimit::packets(LIMIT),
            min_threshold: Some(QueueLimit::bytes((self.min * mean_bytes) as u64)),
            max_threshold: Some(QueueLimit::bytes((self.max * mean_bytes) as u64)),
            max_p: self.max_p,
            weight: Some(1.0),
            mean_packet_size: None,
            mode: RedMode::Packets,
            gentle: self.gentle,
            uniform: false,
            wait: false,
        })
    }

    /// Probability that a packet is dropped that finds `waiting` packets: as the weight is 1, they
    /// are the average too.
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

    /// Loss, mean number that waits and utilization, by the stationary distribution of the number n
    /// at the link: pi(n + 1) = rho (1 - p(n)) pi(n). The one in transmission does not wait, so
    /// p(n) is the probability with n - 1 waiting.
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

#[test]
fn red_loses_and_queues_as_its_thinned_birth_death_process() {
    let usual = Case { load: 1.1, min: 5.0, max: 15.0, max_p: 0.1, gentle: true };
    let cases = [
        Case { load: 0.9, ..usual },
        Case { gentle: false, ..usual },
        // The one packet that waits is above min_th here, and yet nothing is dropped.
        Case { load: 0.8, min: 0.5, max: 4.0, max_p: 0.5, gentle: true },
        usual,
    ];
    for case in cases {
        let load = case.load;
        let rho = load * 1.0001; // sizes are rounded up by half a byte in 5,000
        let (dropped, waiting, busy) = case.thinned_chain(rho);
        let runs = replicate(|seed| poisson(load, PacketSizes::Exponential, case.red(), seed));
        let what = format!("at load {load}, min {}, gentle {}", case.min, case.gentle);
        let loss = estimate(&runs, |link| link.loss_fraction.expect("packets came"));
        loss.assert_is(dropped, 0.04, &format!("loss {what}"));
        let queue = estimate(&runs, |link| link.queue_packets_mean);
        queue.assert_is(waiting, 0.03, &format!("queue {what}"));
        let utilization = estimate(&runs, |link| link.utilization);
        utilization.assert_is(busy, 0.01, &format!("utilization {what}"));
    }
}
