//! Distribution functions in the text files of traffic generators.

use super::{CdfPoint, Empirical};
use crate::quantity::{Kind, Quantity};

/// How far the mean that a list begins with may lie from that of its points: the lists round it.
const MEAN_TOLERANCE: f64 = 1e-3;

/// Reads a distribution function, whose bare values count `unit` base units if it is given; says what
/// is wrong with the file, by line.
///
/// Three forms are read: a value and a probability a line, ns-2's three columns (value, count,
/// probability; `EmpiricalRandomVariable` does not use the second), and a list that begins with its
/// mean (Homa's). That mean tells whether its author drew the listed values alone or those between
/// them, too.
pub(super) fn read<K: Kind>(text: &str, unit: Option<u64>) -> Result<Empirical, String> {
    let mut points: Vec<CdfPoint> = Vec::new();
    let mut mean = None;
    let lines = (1..).zip(text.lines().map(str::trim));
    for (number, line) in lines.filter(|(_, line)| !line.is_empty() && !line.starts_with('#')) {
        let is_first = points.is_empty() && mean.is_none();
        if let Some(stated) = line.parse::<f64>().ok().filter(|_| is_first) {
            mean = Some((number, stated));
            continue;
        }
        let point =
            read_point::<K>(line, unit).map_err(|reason| format!("line {number}: {reason}"))?;
        check_order::<K>(points.last(), point).map_err(|it| format!("line {number}: {it}"))?;
        points.push(point);
    }
    let scale = match points.last().map(|last| last.probability) {
        None => return Err("holds no point".into()),
        Some(1.0) => 1.0,
        Some(100.0) => 100.0,
        Some(last) => return Err(format!("ends at probability {last}, not at 1 or 100 %")),
    };
    let points = points.into_iter().map(|p| CdfPoint { probability: p.probability / scale, ..p });
    let Some((number, stated)) = mean else { return Ok(Empirical::new(points.collect())) };
    let bare = unit.unwrap_or_else(|| K::DIMENSION.bare_base_units()) as f64;
    with_mean(points.collect(), stated * bare).map_err(|[lines, values]| {
        format!(
            "line {number}: {stated} is not the mean of the list, which is {} with straight lines \
             between the points, and {} with the listed values alone",
            lines / bare,
            values / bare
        )
    })
}

fn check_order<K: Kind>(before: Option<&CdfPoint>, point: CdfPoint) -> Result<(), String> {
    if let Some(before) = before {
        if point.value < before.value {
            return Err("the value is below that of the line before".into());
        }
        if point.probability < before.probability {
            let (now, before) = (point.probability, before.probability);
            return Err(format!("the probability falls from {before} to {now}"));
        }
    }
    if point.value == 0.0 && point.probability > 0.0 && !K::ALLOWS_ZERO {
        return Err("the value 0 must not have a probability".into());
    }
    Ok(())
}

/// The distribution of `points` that has the mean `stated`: with straight lines between them, or of their
/// values alone; both means where neither is it.
fn with_mean(points: Vec<CdfPoint>, stated: f64) -> Result<Empirical, [f64; 2]> {
    let values: Vec<f64> = points.iter().map(|point| point.value).collect();
    let below = std::iter::once(0.0).chain(points.iter().map(|point| point.probability));
    let weights: Vec<f64> =
        points.iter().zip(below).map(|(point, below)| point.probability - below).collect();
    let steps = Empirical::mix(&values, &weights);
    let lines = Empirical::new(points);
    let means = [lines.mean(), steps.mean()];
    let is_meant = |mean: f64| (stated / mean - 1.0).abs() < MEAN_TOLERANCE;
    match means.map(is_meant) {
        [true, _] => Ok(lines),
        [_, true] => Ok(steps),
        _ => Err(means),
    }
}

/// A line of the file; its probability may be a percentage.
fn read_point<K: Kind>(line: &str, unit: Option<u64>) -> Result<CdfPoint, String> {
    let fields = if line.contains(',') {
        line.split_once(',').filter(|(_, probability)| !probability.contains(','))
    } else {
        line.rsplit_once(char::is_whitespace)
    };
    // The file may be any file of this machine, so the messages do not quote it.
    let (value, probability) = fields.ok_or("it is not a value, a comma and a probability")?;
    let probability =
        probability.trim().parse().ok().filter(|probability| (0.0..=100.0).contains(probability));
    let probability =
        probability.ok_or("the probability is not between 0 and 1, nor 0 and 100 %")?;
    let value = read_value::<K>(without_count(value.trim()), unit)
        .ok_or("the value before the probability is not a quantity of this kind")?;
    Ok(CdfPoint { value, probability })
}

/// The first of two numbers: ns-2's lists have a count between value and probability.
fn without_count(text: &str) -> &str {
    let numbers = text.split_once(char::is_whitespace).filter(|(value, count)| {
        [value, count].into_iter().all(|word| word.trim().parse::<f64>().is_ok())
    });
    numbers.map_or(text, |(value, _)| value)
}

fn read_value<K: Kind>(text: &str, unit: Option<u64>) -> Option<f64> {
    let Some((unit, count)) = unit.zip(text.parse::<f64>().ok()) else {
        return Quantity::<K>::read_in_table(text).ok().map(|value| value.base_units() as f64);
    };
    let value = count * unit as f64;
    (0.0..=K::DIMENSION.maximum() as f64).contains(&value).then_some(value)
}
