//! Distributions as a scenario writes them, of sizes, durations or rates.

use std::collections::BTreeMap;

use super::published::PublishedSizes;
use super::{Distribution, Empirical, list_file};
use crate::derives::{Deserialize, JsonSchema, Serialize};
use crate::parameters::BadParameter;
use crate::quantity::{Kind, Quantity, SizeKind};
use crate::quoting::quoted;

/// The text of each file that a scenario names for a distribution or a list of flows, by its path.
pub type FileTexts = BTreeMap<String, String>;

/// One value, or a distribution to draw from.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(untagged)]
#[schemars(rename = "{T}_or_distribution")]
pub enum ValueConfig<T> {
    /// Always the same.
    Fixed(T),
    /// Drawn.
    Drawn(DistributionConfig<T>),
}

/// A distribution to draw from.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "kind", rename_all = "snake_case", deny_unknown_fields)]
#[schemars(rename = "{T}_distribution")]
pub enum DistributionConfig<T> {
    /// Any value of a range is as likely.
    Uniform {
        /// Lower bound.
        from: T,
        /// Upper bound.
        to: T,
    },
    /// Exponential.
    Exponential {
        /// Mean.
        mean: T,
    },
    /// The logarithm is normally distributed.
    Lognormal {
        /// Mean, of the values and not of their logarithms.
        mean: T,
        /// Standard deviation of the natural logarithm.
        #[schemars(extend("exclusiveMinimum" = 0.0), range(max = super::ranges::MOST_SIGMA))]
        sigma: f64,
    },
    /// Pareto without an upper bound. P(X > x) = (m / x)^shape above m = mean (shape - 1) / shape.
    Pareto {
        /// Tail index; above 1, for there is no mean otherwise. The variance is infinite up to 2.
        #[schemars(extend("exclusiveMinimum" = 0.0), range(max = super::ranges::MOST_SHAPE))]
        shape: f64,
        /// Mean.
        mean: T,
    },
    /// A Pareto distribution, given that it stays below an upper bound.
    BoundedPareto {
        /// Tail index of the distribution without the bound.
        #[schemars(extend("exclusiveMinimum" = 0.0), range(max = super::ranges::MOST_SHAPE))]
        shape: f64,
        /// Smallest value.
        min: T,
        /// Largest value.
        max: T,
    },
    /// Weibull: P(X > x) = exp(-(x / s)^shape), s such that the mean is right.
    Weibull {
        /// 1 is exponential; the tail is heavier below.
        #[schemars(range(min = super::ranges::LEAST_WEIBULL_SHAPE, max = super::ranges::MOST_SHAPE))]
        shape: f64,
        /// Mean.
        mean: T,
    },
    /// A few values, each with its share.
    Mix {
        /// The values, in ascending order.
        #[schemars(length(min = 1))]
        values: Vec<T>,
        /// How often each comes up, in any proportion: 7, 4 and 1 are 7, 4 and 1 in 12.
        #[schemars(length(min = 1), inner(range(min = 0.0, max = 1e12)))]
        weights: Vec<f64>,
    },
    /// Published sizes of flows in data centres.
    Published {
        /// Which ones.
        name: PublishedSizes,
    },
    /// The distribution function of a file, straight lines between its points.
    Empirical {
        /// A text file, its path relative to the scenario file. Each line is a value, a comma or
        /// blanks, and the probability of this value or a smaller one, as in `1500 B, 0.75`; a value
        /// without a unit is in bytes, seconds or bit/s. Neither may fall from line to line. If the
        /// last probability is 100 instead of 1, all are percentages, as in the `size percent`
        /// tables of data-centre traffic generators (HPCC). The same value twice, or a first probability above 0, makes a step: a
        /// value with a probability of its own. Empty lines and lines that begin with # are
        /// skipped. Lists of ns-2 (value, count, probability) and Homa (the mean first, which tells
        /// whether values between the listed ones occur) are read, too.
        #[schemars(length(min = 1))]
        file: String,
        /// What a value without a unit counts: `1460 B` for a list in packets.
        #[serde(skip_serializing_if = "Option::is_none")]
        unit: Option<T>,
    },
}

impl<K: Kind> ValueConfig<Quantity<K>> {
    /// The distribution in base units; `key` is the parameter that the configuration stands at.
    ///
    /// # Errors
    /// Parameters that contradict one another, and a file that is no distribution function.
    pub fn resolve(&self, key: &str, texts: &FileTexts) -> Result<Distribution, BadParameter> {
        match self {
            ValueConfig::Fixed(value) => Ok(Distribution::Fixed(value.base_units() as f64)),
            ValueConfig::Drawn(distribution) => distribution.resolve(key, texts),
        }
    }
}

impl<K: Kind> DistributionConfig<Quantity<K>> {
    /// The distribution in base units; `key` is the parameter that the configuration stands at.
    ///
    /// # Errors
    /// Parameters that contradict one another, and a file that is no distribution function.
    pub fn resolve(&self, key: &str, texts: &FileTexts) -> Result<Distribution, BadParameter> {
        let base = |value: &Quantity<K>| value.base_units() as f64;
        Ok(match self {
            DistributionConfig::Uniform { from, to } => {
                if base(from) > base(to) {
                    let problem = format!("the lower bound {from} is above the upper bound {to}");
                    return Err(BadParameter::new(
                        format!("{key}.from"),
                        problem,
                        "swap the bounds",
                    ));
                }
                Distribution::Uniform { from: base(from), to: base(to) }
            }
            DistributionConfig::Exponential { mean } => {
                Distribution::Exponential { mean: base(mean) }
            }
            DistributionConfig::Lognormal { mean, sigma } => {
                Distribution::lognormal(base(mean), *sigma)
            }
            DistributionConfig::Pareto { shape, mean } => {
                if *shape <= 1.0 {
                    let problem = format!("a Pareto distribution of shape {shape} has no mean");
                    let remedy = "write more than 1, or bound it: \
                                  { kind = \"bounded_pareto\", shape = .., min = .., max = .. }";
                    return Err(BadParameter::new(format!("{key}.shape"), problem, remedy));
                }
                Distribution::pareto(*shape, base(mean))
            }
            DistributionConfig::BoundedPareto { shape, min, max } => {
                if base(min) <= 0.0 {
                    let problem = format!("{min} is no smallest value of a Pareto distribution");
                    let remedy = "write more than 0";
                    return Err(BadParameter::new(format!("{key}.min"), problem, remedy));
                }
                if base(min) >= base(max) {
                    let problem = format!("{max} is not above the smallest value, {min}");
                    return Err(BadParameter::new(
                        format!("{key}.max"),
                        problem,
                        "raise max or lower min",
                    ));
                }
                Distribution::BoundedPareto {
                    shape: *shape,
                    minimum: base(min),
                    maximum: base(max),
                }
            }
            DistributionConfig::Weibull { shape, mean } => {
                Distribution::weibull(*shape, base(mean))
            }
            DistributionConfig::Mix { values, weights } => mix(values, weights, key)?,
            DistributionConfig::Published { name } if K::NAME == SizeKind::NAME => {
                name.distribution()
            }
            DistributionConfig::Published { .. } => {
                let problem = format!("\"published\" gives sizes, and this is a {}", K::NAME);
                let remedy = "use another kind, such as \"exponential\"";
                return Err(BadParameter::new(format!("{key}.kind"), problem, remedy));
            }
            DistributionConfig::Empirical { file, unit } => {
                let text = texts.get(file).map_or("", String::as_str);
                let unit = unit.map(Quantity::base_units);
                if unit == Some(0) {
                    let remedy = "write what 1 in the file counts, such as \"1460 B\" or \"1 ms\"";
                    return Err(BadParameter::new(format!("{key}.unit"), "it is 0", remedy));
                }
                let read = list_file::read::<K>(text, unit).map_err(|reason| {
                    let remedy = "write a value and the probability of this or a smaller one a \
                                  line, as in `1500 B, 0.75`, ascending to 1, or to 100 in per cent";
                    let problem = format!("\"{}\" {reason}", quoted(file));
                    BadParameter::new(format!("{key}.file"), problem, remedy)
                })?;
                Distribution::Empirical(read)
            }
        })
    }
}

fn mix<K: Kind>(
    values: &[Quantity<K>],
    weights: &[f64],
    key: &str,
) -> Result<Distribution, BadParameter> {
    if values.len() != weights.len() {
        let problem = format!("there are {} values and {} weights", values.len(), weights.len());
        return Err(BadParameter::new(
            format!("{key}.weights"),
            problem,
            "write a weight for each value",
        ));
    }
    if weights.iter().sum::<f64>() <= 0.0 {
        let remedy = "write at least one weight above 0";
        return Err(BadParameter::new(format!("{key}.weights"), "no value has a share", remedy));
    }
    for (index, pair) in values.windows(2).enumerate() {
        if pair[0].base_units() >= pair[1].base_units() {
            let problem = format!("{} is not above the value before it, {}", pair[1], pair[0]);
            let remedy = "write the values in ascending order";
            return Err(BadParameter::new(format!("{key}.values[{}]", index + 1), problem, remedy));
        }
    }
    let values: Vec<f64> = values.iter().map(|value| value.base_units() as f64).collect();
    Ok(Distribution::Empirical(Empirical::mix(&values, weights)))
}
