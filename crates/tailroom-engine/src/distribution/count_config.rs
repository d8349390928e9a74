//! Distributions of whole numbers as a scenario writes them.

use super::{Count, Distribution, Empirical};
use crate::derives::{Deserialize, JsonSchema, Serialize};
use crate::parameters::BadParameter;

/// A number for each of many: always the same, or drawn.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(untagged)]
pub enum CountConfig {
    /// Always the same.
    Fixed(#[schemars(range(min = 0, max = 1_000_000))] u32),
    /// Drawn.
    Drawn(CountDistributionConfig),
}

/// A distribution of whole numbers.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "kind", rename_all = "snake_case", deny_unknown_fields)]
pub enum CountDistributionConfig {
    /// Geometric. Each number comes up less often than the one before it, by the same factor; from
    /// 1 page or 0 objects on.
    Geometric {
        /// Mean.
        #[schemars(extend("exclusiveMinimum" = 0.0), range(max = super::ranges::MOST_COUNT))]
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

impl CountConfig {
    /// The distribution; `key` is the parameter that the configuration stands at, and `least` the
    /// smallest number that the parameter allows.
    ///
    /// # Errors
    /// A number below `least`, and a mix without a share for each number.
    pub fn resolve(&self, least: u32, key: &str) -> Result<Count, BadParameter> {
        let too_small = |what: String| {
            let remedy = format!("write at least {least}");
            Err(BadParameter::new(key, format!("{what} is below {least}"), remedy))
        };
        match self {
            CountConfig::Fixed(value) if *value < least => too_small(value.to_string()),
            CountConfig::Fixed(value) => Ok(Count::Rounded(Distribution::Fixed(f64::from(*value)))),
            CountConfig::Drawn(CountDistributionConfig::Geometric { mean }) => {
                if *mean < f64::from(least) {
                    return too_small(format!("a mean of {mean}"));
                }
                Ok(Count::Geometric { least: least.into(), mean: *mean })
            }
            CountConfig::Drawn(CountDistributionConfig::Mix { values, weights }) => {
                if values.first().is_some_and(|first| *first < least) {
                    return too_small(format!("{}", values[0]));
                }
                mix(values, weights, key)
            }
        }
    }
}

fn mix(values: &[u32], weights: &[f64], key: &str) -> Result<Count, BadParameter> {
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
    if !values.is_sorted_by(|one, next| one < next) {
        let remedy = "write the values in ascending order";
        return Err(BadParameter::new(format!("{key}.values"), "the values do not ascend", remedy));
    }
    let values: Vec<f64> = values.iter().map(|value| f64::from(*value)).collect();
    Ok(Count::Rounded(Distribution::Empirical(Empirical::mix(&values, weights))))
}
