//! Random loss on a wire, drawn from the link's own random stream.

use libm::log;

use crate::derives::{Deserialize, JsonSchema, Ranges, Serialize};
use crate::random::{Random, Stream, stream, uniform};

/// Random loss on the wire.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema, Ranges)]
#[serde(tag = "kind", rename_all = "snake_case", deny_unknown_fields)]
#[schemars(rename = "LossConfig")]
#[non_exhaustive]
pub enum LossSpec {
    /// No loss.
    #[default]
    None,
    /// Each packet is lost with the same probability, independently of the others.
    Bernoulli {
        /// Probability that a packet is lost.
        #[schemars(extend("exclusiveMinimum" = 0.0, "exclusiveMaximum" = 1.0), example = 0.001)]
        probability: f64,
    },
    /// Every n-th packet is lost.
    Periodic {
        /// n: the number of packets from one loss to the next.
        #[schemars(range(min = 2, max = 1_000_000_000_000_u64), example = 1000)]
        every: u64,
    },
    /// Bursty loss: a good and a bad state (Gilbert 1960, Elliott 1963).
    GilbertElliott {
        /// Probability per packet of a change from the good to the bad state.
        #[schemars(extend("exclusiveMinimum" = 0.0), range(max = 1.0), example = 0.001)]
        good_to_bad: f64,
        /// Probability per packet of a return from the bad to the good state.
        #[schemars(extend("exclusiveMinimum" = 0.0), range(max = 1.0), example = 0.1)]
        bad_to_good: f64,
        /// Loss probability in the good state.
        #[serde(default)]
        #[schemars(range(min = 0.0, max = 1.0))]
        loss_good: f64,
        /// Loss probability in the bad state.
        #[serde(default = "certain")]
        #[schemars(range(min = 0.0, max = 1.0))]
        loss_bad: f64,
    },
}

fn certain() -> f64 {
    1.0
}

impl LossSpec {
    /// Mean share of the packets that are lost.
    pub fn mean(self) -> f64 {
        match self {
            LossSpec::None => 0.0,
            LossSpec::Bernoulli { probability } => probability,
            LossSpec::Periodic { every } => 1.0 / every as f64,
            LossSpec::GilbertElliott { good_to_bad, bad_to_good, loss_good, loss_bad } => {
                let bad = good_to_bad / (good_to_bad + bad_to_good);
                (1.0 - bad) * loss_good + bad * loss_bad
            }
        }
    }
}

/// Decides which packets a wire loses.
#[derive(Clone, Debug)]
pub struct LossProcess {
    kind: Kind,
    random: Stream,
}

#[derive(Clone, Debug)]
enum Kind {
    None,
    /// Counts the packets before the next loss: one logarithm per loss, none per packet.
    Bernoulli {
        probability: f64,
        passing: u64,
    },
    Periodic {
        every: u64,
        count: u64,
    },
    GilbertElliott {
        good_to_bad: f64,
        bad_to_good: f64,
        loss: [f64; 2],
        is_bad: bool,
    },
}

impl LossProcess {
    /// The process that `spec` describes for the link `name`.
    pub fn new(spec: LossSpec, seed: u64, name: &str) -> Self {
        LossProcess::of_stream(spec, seed, &format!("loss of {name}"))
    }

    /// The process that `spec` describes, which draws from this random stream.
    pub(super) fn of_stream(spec: LossSpec, seed: u64, name: &str) -> Self {
        let mut random = stream(seed, name);
        let kind = match spec {
            LossSpec::None => Kind::None,
            LossSpec::Bernoulli { probability } => {
                Kind::Bernoulli { probability, passing: run_length(probability, &mut random) }
            }
            LossSpec::Periodic { every } => Kind::Periodic { every, count: 0 },
            LossSpec::GilbertElliott { good_to_bad, bad_to_good, loss_good, loss_bad } => {
                let loss = [loss_good, loss_bad];
                Kind::GilbertElliott { good_to_bad, bad_to_good, loss, is_bad: false }
            }
        };
        LossProcess { kind, random }
    }

    /// Whether the wire loses the next packet. Without loss this costs a comparison and no call.
    #[inline]
    pub fn loses_next(&mut self) -> bool {
        !matches!(self.kind, Kind::None) && self.draw()
    }

    #[inline(never)]
    fn draw(&mut self) -> bool {
        match &mut self.kind {
            Kind::None => false,
            Kind::Bernoulli { probability, passing } => {
                if *passing > 0 {
                    *passing -= 1;
                    return false;
                }
                *passing = run_length(*probability, &mut self.random);
                true
            }
            Kind::Periodic { every, count } => {
                *count += 1;
                if *count == *every {
                    *count = 0;
                }
                *count == 0
            }
            Kind::GilbertElliott { good_to_bad, bad_to_good, loss, is_bad } => {
                let change = if *is_bad { *bad_to_good } else { *good_to_bad };
                *is_bad ^= uniform(&mut self.random) < change;
                uniform(&mut self.random) < loss[usize::from(*is_bad)]
            }
        }
    }
}

/// Number of packets before a loss: geometric with mean `(1 - p) / p`, by inversion.
fn run_length(probability: f64, random: &mut impl Random) -> u64 {
    // 1 - u lies in (0, 1], so the logarithm is finite.
    libm::floor(log(1.0 - uniform(random)) / libm::log1p(-probability)) as u64
}

#[cfg(test)]
mod tests {
    use super::*;

    fn losses(spec: LossSpec, packets: u64) -> u64 {
        let mut process = LossProcess::new(spec, 1, "wire");
        (0..packets).map(|_| u64::from(process.loses_next())).sum()
    }

    #[test]
    fn bernoulli_loses_its_share() {
        let expected = 1e7 * 1e-3;
        let lost = losses(LossSpec::Bernoulli { probability: 1e-3 }, 10_000_000) as f64;
        assert!((lost - expected).abs() < 5.0 * expected.sqrt(), "{lost} of {expected}");
    }

    #[test]
    fn periodic_loses_every_nth() {
        let mut process = LossProcess::new(LossSpec::Periodic { every: 4 }, 1, "wire");
        let pattern: Vec<bool> = (0..8).map(|_| process.loses_next()).collect();
        assert_eq!(pattern, [false, false, false, true, false, false, false, true]);
    }

    #[test]
    fn gilbert_elliott_loses_its_stationary_share() {
        let spec = LossSpec::GilbertElliott {
            good_to_bad: 0.01,
            bad_to_good: 0.1,
            loss_good: 0.0,
            loss_bad: 0.5,
        };
        // Stationary share of the bad state: 0.01 / 0.11; loss 0.5 of it = 0.04545.
        let share = losses(spec, 4_000_000) as f64 / 4e6;
        assert!((share - 0.5 * 0.01 / 0.11).abs() < 1e-3, "{share}");
    }
}
