//! Distributions as a scenario writes them, of sizes, durations or rates.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::FileLoader;
use super::error::{Fault, Path};
use crate::distribution::{CdfPoint, Distribution, Empirical};
use crate::quantity::{Kind, Quantity};

/// One value, or a distribution to draw from.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(untagged)]
#[schemars(rename = "{T}_or_distribution")]
pub(super) enum ValueFile<T> {
    /// Always the same.
    Fixed(T),
    /// Drawn.
    Drawn(DistributionFile<T>),
}

/// A distribution to draw from.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "kind", rename_all = "snake_case", deny_unknown_fields)]
#[schemars(rename = "{T}_distribution")]
pub(super) enum DistributionFile<T> {
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
        #[schemars(extend("exclusiveMinimum" = 0.0), range(max = 10.0))]
        sigma: f64,
    },
    /// Pareto without an upper bound. P(X > x) = (m / x)^shape above m = mean (shape - 1) / shape.
    Pareto {
        /// Tail index; above 1, for there is no mean otherwise. The variance is infinite up to 2.
        #[schemars(extend("exclusiveMinimum" = 0.0), range(max = 1_000.0))]
        shape: f64,
        /// Mean.
        mean: T,
    },
    /// A Pareto distribution, given that it stays below an upper bound.
    BoundedPareto {
        /// Tail index of the distribution without the bound.
        #[schemars(extend("exclusiveMinimum" = 0.0), range(max = 1_000.0))]
        shape: f64,
        /// Smallest value.
        min: T,
        /// Largest value.
        max: T,
    },
    /// Weibull: P(X > x) = exp(-(x / s)^shape), s such that the mean is right.
    Weibull {
        /// 1 is exponential; the tail is heavier below.
        #[schemars(range(min = 0.1, max = 1_000.0))]
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
    /// The distribution function of a file, straight lines between its points.
    Empirical {
        /// A text file, its path relative to the scenario file. Each line is a value, a comma, and
        /// the probability of this value or a smaller one, as in `1500 B, 0.75`; a value without a
        /// unit is in bytes, seconds or bit/s. Neither may fall from line to line, and the last
        /// probability is 1. The same value twice, or a first probability above 0, makes a step: a
        /// value with a probability of its own. Empty lines and lines that begin with # are
        /// skipped.
        #[schemars(length(min = 1))]
        file: String,
    },
}

/// The text of each file that a distribution or a list of flows is in, by its path.
pub(super) type CdfTexts = BTreeMap<String, String>;

/// Loads the files of all distributions and lists of a scenario, wherever they stand, and says
/// which cannot be read.
pub(super) fn load_cdfs(table: &toml::Table, files: &dyn FileLoader) -> (CdfTexts, Vec<Fault>) {
    let mut loading = Loading { files, texts: CdfTexts::new(), faults: Vec::new() };
    loading.table(table, &Path::default());
    (loading.texts, loading.faults)
}

struct Loading<'a> {
    files: &'a dyn FileLoader,
    texts: CdfTexts,
    faults: Vec<Fault>,
}

impl Loading<'_> {
    fn table(&mut self, table: &toml::Table, at: &Path) {
        let kind = table.get("kind").and_then(toml::Value::as_str);
        let has_file = matches!(kind, Some("empirical" | "trace"));
        if let (true, Some(toml::Value::String(path))) = (has_file, table.get("file")) {
            self.file(path, &at.key("file"));
        }
        for (key, value) in table {
            match value {
                toml::Value::Table(inner) => self.table(inner, &at.key(key)),
                toml::Value::Array(items) => {
                    let tables = items.iter().enumerate();
                    for (index, inner) in tables.filter_map(|(at, one)| Some((at, one.as_table()?)))
                    {
                        self.table(inner, &at.key(key).index(index));
                    }
                }
                _ => {}
            }
        }
    }

    fn file(&mut self, path: &str, at: &Path) {
        match self.files.load(path) {
            Ok(text) => drop(self.texts.insert(path.to_owned(), text)),
            Err(reason) => {
                let problem = format!("cannot read \"{path}\": {reason}");
                let remedy = "give a readable file, relative to the scenario file";
                self.faults.push(Fault::new(at, problem, remedy));
            }
        }
    }
}

impl<K: Kind> ValueFile<Quantity<K>> {
    /// In base units.
    pub(super) fn resolve(&self, at: &Path, texts: &CdfTexts) -> Result<Distribution, Fault> {
        match self {
            ValueFile::Fixed(value) => Ok(Distribution::Fixed(value.base_units() as f64)),
            ValueFile::Drawn(distribution) => distribution.resolve(at, texts),
        }
    }
}

impl<K: Kind> DistributionFile<Quantity<K>> {
    /// In base units.
    pub(super) fn resolve(&self, at: &Path, texts: &CdfTexts) -> Result<Distribution, Fault> {
        let base = |value: &Quantity<K>| value.base_units() as f64;
        Ok(match self {
            DistributionFile::Uniform { from, to } => {
                if base(from) > base(to) {
                    let problem = format!("the lower bound {from} is above the upper bound {to}");
                    return Err(Fault::new(&at.key("from"), problem, "swap the bounds"));
                }
                Distribution::Uniform { from: base(from), to: base(to) }
            }
            DistributionFile::Exponential { mean } => {
                Distribution::Exponential { mean: base(mean) }
            }
            DistributionFile::Lognormal { mean, sigma } => {
                Distribution::lognormal(base(mean), *sigma)
            }
            DistributionFile::Pareto { shape, mean } => {
                if *shape <= 1.0 {
                    let problem = format!("a Pareto distribution of shape {shape} has no mean");
                    let remedy = "write more than 1, or bound it: \
                                  { kind = \"bounded_pareto\", shape = .., min = .., max = .. }";
                    return Err(Fault::new(&at.key("shape"), problem, remedy));
                }
                Distribution::pareto(*shape, base(mean))
            }
            DistributionFile::BoundedPareto { shape, min, max } => {
                if base(min) >= base(max) {
                    let problem = format!("{max} is not above the smallest value, {min}");
                    return Err(Fault::new(&at.key("max"), problem, "raise max or lower min"));
                }
                Distribution::BoundedPareto {
                    shape: *shape,
                    minimum: base(min),
                    maximum: base(max),
                }
            }
            DistributionFile::Weibull { shape, mean } => Distribution::weibull(*shape, base(mean)),
            DistributionFile::Mix { values, weights } => mix(values, weights, at)?,
            DistributionFile::Empirical { file } => {
                let text = texts.get(file).map_or("", String::as_str);
                let points = read_cdf::<K>(text).map_err(|reason| {
                    let remedy = "write a value and the probability of this or a smaller one a \
                                  line, as in `1500 B, 0.75`, ascending to probability 1";
                    Fault::new(&at.key("file"), format!("\"{file}\" {reason}"), remedy)
                })?;
                Distribution::Empirical(Empirical::new(points))
            }
        })
    }
}

fn mix<K: Kind>(values: &[Quantity<K>], weights: &[f64], at: &Path) -> Result<Distribution, Fault> {
    if values.len() != weights.len() {
        let problem = format!("there are {} values and {} weights", values.len(), weights.len());
        return Err(Fault::new(&at.key("weights"), problem, "write a weight for each value"));
    }
    if weights.iter().sum::<f64>() <= 0.0 {
        let remedy = "write at least one weight above 0";
        return Err(Fault::new(&at.key("weights"), "no value has a share", remedy));
    }
    for (index, pair) in values.windows(2).enumerate() {
        if pair[0].base_units() >= pair[1].base_units() {
            let problem = format!("{} is not above the value before it, {}", pair[1], pair[0]);
            let remedy = "write the values in ascending order";
            return Err(Fault::new(&at.key("values").index(index + 1), problem, remedy));
        }
    }
    let values: Vec<f64> = values.iter().map(|value| value.base_units() as f64).collect();
    Ok(Distribution::Empirical(Empirical::mix(&values, weights)))
}

/// Reads the points of a distribution function; says what is wrong with the file, by line.
fn read_cdf<K: Kind>(text: &str) -> Result<Vec<CdfPoint>, String> {
    let mut points: Vec<CdfPoint> = Vec::new();
    let lines = (1..).zip(text.lines().map(str::trim));
    for (number, line) in lines.filter(|(_, line)| !line.is_empty() && !line.starts_with('#')) {
        let point = read_point::<K>(line).map_err(|reason| format!("line {number}: {reason}"))?;
        if let Some(before) = points.last() {
            if point.value < before.value {
                return Err(format!("line {number}: the value is below that of the line before"));
            }
            if point.probability < before.probability {
                let (now, before) = (point.probability, before.probability);
                return Err(format!("line {number}: the probability falls from {before} to {now}"));
            }
        }
        if point.value == 0.0 && point.probability > 0.0 && !K::ALLOWS_ZERO {
            return Err(format!("line {number}: the value 0 must not have a probability"));
        }
        points.push(point);
    }
    match points.last() {
        None => Err("holds no point".into()),
        Some(last) if last.probability < 1.0 => {
            Err(format!("ends at probability {}, not at 1", last.probability))
        }
        Some(_) => Ok(points),
    }
}

fn read_point<K: Kind>(line: &str) -> Result<CdfPoint, String> {
    let mut fields = line.split(',');
    let (Some(value), Some(probability), None) = (fields.next(), fields.next(), fields.next())
    else {
        return Err(format!("\"{line}\" is not a value, a comma and a probability"));
    };
    let value = Quantity::<K>::read_in_table(value.trim()).map_err(|bad| bad.problem)?;
    let text = probability.trim();
    let probability = text.parse().ok().filter(|probability| (0.0..=1.0).contains(probability));
    let probability = probability.ok_or_else(|| format!("\"{text}\" is not between 0 and 1"))?;
    Ok(CdfPoint { value: value.base_units() as f64, probability })
}
