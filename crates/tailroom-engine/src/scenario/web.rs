//! Web sessions as a scenario writes them, and the published sets of their parameters.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::distribution::ValueFile;
use super::error::{Fault, Path};
use crate::distribution::{Count, Distribution, Empirical};
use crate::quantity::{Duration, Size};
use crate::units::PICOSECONDS_PER_SECOND;

/// Web sessions.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct WebFile {
    /// A published set of parameters; each that is written beside it replaces the set's. Left out,
    /// `think_time` and `main_object` are needed, and there are no embedded objects.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) model: Option<WebModel>,
    /// Pages of a session, at least 1.
    #[schemars(example = 5)]
    pub(super) pages: CountFile,
    /// From the completion of a page until the user asks for the next one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) think_time: Option<ValueFile<Duration>>,
    /// Payload of the object that a page begins with.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) main_object: Option<ValueFile<Size>>,
    /// From the completion of the main object until the client asks for the embedded ones.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) parsing_time: Option<ValueFile<Duration>>,
    /// Number of embedded objects of a page.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) embedded_objects: Option<CountFile>,
    /// Payload of an embedded object. Left out without a model, as `main_object`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) embedded_object: Option<ValueFile<Size>>,
    /// Connections of a client: how many embedded objects are fetched at a time.
    #[serde(default = "one")]
    #[schemars(range(min = 1, max = 1_000))]
    pub(super) parallel: u32,
    /// Poisson arrivals of sessions that offer this share of the rate of `load_of`, headers included
    /// and retransmissions not.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(extend("exclusiveMinimum" = 0.0), range(max = 1_000.0))]
    pub(super) load: Option<f64>,
    /// The link that `load` refers to. Left out, the slowest on the path.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) load_of: Option<String>,
    /// Poisson arrivals, so many sessions a second on average.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(extend("exclusiveMinimum" = 0.0), range(max = 1e9))]
    pub(super) arrivals_per_second: Option<f64>,
    /// Sessions begin at these times.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) arrivals: Option<Vec<Duration>>,
    /// How many completed flows, which are objects, to record one by one, the first to complete.
    #[serde(default)]
    #[schemars(range(max = 100_000_000))]
    pub(super) flow_log: u32,
}

fn one() -> u32 {
    1
}

/// A published set of parameters.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub(super) enum WebModel {
    /// The HTTP model by which 3GPP2 and IEEE 802.16m evaluate systems, as in IEEE 802.16m-08/004
    /// "Evaluation Methodology". Main objects: lognormal, mean 10,710 B and standard deviation
    /// 25,032 B before those below 100 B or above 2 MB are drawn again. Embedded objects: the same
    /// with 7,758 B, 126,168 B, 50 B and 2 MB; their number is a Pareto variable of shape 1.1 from 2
    /// on, cut at 55, less 2: 5.64 on average, 5.62 to the nearest whole number. Parsing and reading (think)
    /// times: exponential, 0.13 s and 30 s. The same values with all bounds are in Table 1 of EURASIP Journal
    /// on Wireless Communications and Networking 2012:287. `pages` is yours: that table has a lognormal
    /// number of them, mean 17 and standard deviation 22.
    Ieee80216m,
    /// The same model as ns-3 has it (`ThreeGppHttpVariables` and its defaults): all but the number of
    /// embedded objects is equal. A number beyond 55 is drawn again, not cut, and rounded down: 3.92
    /// objects on average.
    Ns3,
}

/// A number for each of many: always the same, or drawn.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(untagged)]
pub(super) enum CountFile {
    /// Always the same.
    Fixed(#[schemars(range(min = 0, max = 1_000_000))] u32),
    /// Drawn.
    Drawn(CountDistributionFile),
}

/// A distribution of whole numbers.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "kind", rename_all = "snake_case", deny_unknown_fields)]
pub(super) enum CountDistributionFile {
    /// Geometric. Each number comes up less often than the one before it, by the same factor; from 1
    /// page or 0 objects on.
    Geometric {
        /// Mean.
        #[schemars(extend("exclusiveMinimum" = 0.0), range(max = 1_000_000.0))]
        mean: f64,
    },
    /// A few numbers, each with its share.
    Mix {
        /// The numbers, in ascending order.
        #[schemars(length(min = 1), inner(range(min = 0, max = 1_000_000)))]
        values: Vec<u32>,
        /// How often each comes up, in any proportion.
        #[schemars(length(min = 1), inner(range(min = 0.0, max = 1e12)))]
        weights: Vec<f64>,
    },
}

impl CountFile {
    pub(super) fn resolve(&self, least: u32, at: &Path) -> Result<Count, Fault> {
        let too_small = |what: String| {
            let remedy = format!("write at least {least}");
            Err(Fault::new(at, format!("{what} is below {least}"), remedy))
        };
        match self {
            CountFile::Fixed(value) if *value < least => too_small(value.to_string()),
            CountFile::Fixed(value) => Ok(Count::Rounded(Distribution::Fixed(f64::from(*value)))),
            CountFile::Drawn(CountDistributionFile::Geometric { mean }) => {
                if *mean < f64::from(least) {
                    return too_small(format!("a mean of {mean}"));
                }
                Ok(Count::Geometric { least: least.into(), mean: *mean })
            }
            CountFile::Drawn(CountDistributionFile::Mix { values, weights }) => {
                if values.first().is_some_and(|first| *first < least) {
                    return too_small(format!("{}", values[0]));
                }
                mix(values, weights, at)
            }
        }
    }
}

fn mix(values: &[u32], weights: &[f64], at: &Path) -> Result<Count, Fault> {
    if values.len() != weights.len() {
        let problem = format!("there are {} values and {} weights", values.len(), weights.len());
        return Err(Fault::new(&at.key("weights"), problem, "write a weight for each value"));
    }
    if weights.iter().sum::<f64>() <= 0.0 {
        let remedy = "write at least one weight above 0";
        return Err(Fault::new(&at.key("weights"), "no value has a share", remedy));
    }
    if !values.is_sorted_by(|one, next| one < next) {
        let remedy = "write the values in ascending order";
        return Err(Fault::new(&at.key("values"), "the values do not ascend", remedy));
    }
    let values: Vec<f64> = values.iter().map(|value| f64::from(*value)).collect();
    Ok(Count::Rounded(Distribution::Empirical(Empirical::mix(&values, weights))))
}

/// The parameters of a model.
pub(super) struct Parameters {
    pub(super) think_time: Distribution,
    pub(super) main_object: Distribution,
    pub(super) parsing_time: Distribution,
    pub(super) embedded_objects: Count,
    pub(super) embedded_object: Distribution,
}

impl WebModel {
    pub(super) fn parameters(self) -> Parameters {
        let seconds = PICOSECONDS_PER_SECOND as f64;
        Parameters {
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

/// A Pareto variable from `least` on, drawn again where it is beyond `most`, rounded down, less `least`.
fn redrawn_pareto(shape: f64, least: f64, most: f64) -> Count {
    let exceeds = |value: f64| libm::pow(least / value, shape);
    let values: Vec<f64> = (0..(most - least) as u32).map(f64::from).collect();
    let weight = |value: &f64| exceeds(least + value) - exceeds(least + value + 1.0);
    let weights: Vec<f64> = values.iter().map(weight).collect();
    Count::Rounded(Distribution::Empirical(Empirical::mix(&values, &weights)))
}
