//! Published sets of parameters of web sessions.

use crate::derives::{Deserialize, JsonSchema, Serialize};
use crate::distribution::{Count, Distribution, Empirical};
use crate::units::PICOSECONDS_PER_SECOND;

/// A published set of parameters.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum WebModel {
    /// The HTTP model by which 3GPP2 and IEEE 802.16m evaluate systems, as in IEEE 802.16m-08/004
    /// "Evaluation Methodology". Main objects: lognormal, mean 10,710 B and standard deviation
    /// 25,032 B before those below 100 B or above 2 MB are drawn again. Embedded objects: the same
    /// with 7,758 B, 126,168 B, 50 B and 2 MB; their number is a Pareto variable of shape 1.1 from
    /// 2 on, cut at 55, less 2: 5.64 on average, 5.62 to the nearest whole number. Parsing and
    /// reading (think) times: exponential, 0.13 s and 30 s. The same values with all bounds are in
    /// Table 1 of EURASIP Journal on Wireless Communications and Networking 2012:287. `pages` is
    /// yours: that table has a lognormal number of them, mean 17 and standard deviation 22.
    Ieee80216m,
    /// The same model as ns-3 has it (`ThreeGppHttpVariables` and its defaults): all but the number
    /// of embedded objects is equal. A number beyond 55 is drawn again, not cut, and rounded down:
    /// 3.92 objects on average.
    Ns3,
}

/// The parameters of web sessions that a model gives.
#[derive(Clone, Debug)]
pub struct PublishedSet {
    /// From the end of a page to the request for the next one, in picoseconds.
    pub think_time: Distribution,
    /// Payload of the object that comes first, in bytes.
    pub main_object: Distribution,
    /// From its end to the requests for the embedded objects, in picoseconds.
    pub parsing_time: Distribution,
    /// Number of embedded objects of a page.
    pub embedded_objects: Count,
    /// Payload of an embedded object, in bytes.
    pub embedded_object: Distribution,
}

impl WebModel {
    /// The parameters of the set.
    pub fn parameters(self) -> PublishedSet {
        let seconds = PICOSECONDS_PER_SECOND as f64;
        PublishedSet {
            think_time: Distribution::Exponential { mean: 30.0 * seconds },
            main_object: bounded_lognormal(10_710.0, 25_032.0, 100.0, 2e6),
            parsing_time: Distribution::Exponential { mean: 0.13 * seconds },
            embedded_objects: match self {
                WebModel::Ieee80216m => cut_pareto(1.1, 2.0, 55.0),
                WebModel::Ns3 => redrawn_pareto(1.1, 2.0, 55.0),
            },
            embedded_object: bounded_lognormal(7_758.0, 126_168.0, 50.0, 2e6),
        }
    }
}

/// By the mean and the standard deviation before the bounds.
fn bounded_lognormal(mean: f64, deviation: f64, minimum: f64, maximum: f64) -> Distribution {
    // The squared coefficient of variation is exp(sigma^2) - 1.
    let variance = libm::log1p((deviation / mean) * (deviation / mean));
    Distribution::BoundedLognormal {
        log_mean: libm::log(mean) - variance / 2.0,
        sigma: libm::sqrt(variance),
        minimum,
        maximum,
    }
}

/// A Pareto variable from `least` on, `most` where it is beyond, less `least`, to the nearest whole
/// number.
fn cut_pareto(shape: f64, least: f64, most: f64) -> Count {
    let exceeds = |value: f64| if value >= most { 0.0 } else { libm::pow(least / value, shape) };
    let values: Vec<f64> = (0..=(most - least) as u32).map(f64::from).collect();
    let weights = values.iter().map(|value| {
        let lower = if *value > 0.0 { exceeds(least + value - 0.5) } else { 1.0 };
        // What lies beyond the cut comes to the last value.
        lower - if least + value >= most { 0.0 } else { exceeds(least + value + 0.5) }
    });
    let weights: Vec<f64> = weights.collect();
    Count::Rounded(Distribution::Empirical(Empirical::mix(&values, &weights)))
}

/// A Pareto variable from `least` on, drawn again where it is beyond `most`, rounded down, less
/// `least`.
fn redrawn_pareto(shape: f64, least: f64, most: f64) -> Count {
    let exceeds = |value: f64| libm::pow(least / value, shape);
    let values: Vec<f64> = (0..(most - least) as u32).map(f64::from).collect();
    let weight = |value: &f64| exceeds(least + value) - exceeds(least + value + 1.0);
    let weights: Vec<f64> = values.iter().map(weight).collect();
    Count::Rounded(Distribution::Empirical(Empirical::mix(&values, &weights)))
}
