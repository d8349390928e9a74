//! The search: where it adds runs, and when it ends.

use std::collections::BTreeMap;

use super::buffers::{Buffer, Buffers};
use super::fit::{Doubt, Fitted, SAME, WINDOW};
use super::question::{Question, Stage, Step};
use super::search::Search;
use crate::statistics::inverse_regression::{Crossing, FittedMean, VARIATES};

/// Confidence of the verdict on the answer.
const CONFIDENCE: f64 = 0.95;
/// Factor from the crossing to the buffers that show slope and bend.
const FLANKS: f64 = 1.3;
/// Runs at each flank, relative to those at the crossing, where they tell most about it.
const FLANK_SHARE: f64 = 0.2;
/// The same for a flank, whose place matters less.
const SAME_FLANK: f64 = 1.15;
/// Runs of each buffer in the scan.
const FIRST_RUNS: usize = 3;
/// The same, if the means are not monotone.
const RUNS_IN_DOUBT: usize = 4;
/// Runs at the crossing and at each flank before the first fit.
const FIRST_AT_EACH: usize = 3;
/// Minimum number of runs in a fit that ends the search: fewer estimate the scatter badly.
const FEWEST_FITTED: usize = 18;
/// The same where the interval is narrower than wanted by this factor, so that a scatter that is
/// underestimated does not end the search too early.
const FEWEST_IF_NARROW: usize = 12;
const CLEARLY_NARROW: f64 = 0.5;
/// Number of runs in a fit up to which an interval of less than a packet is narrowed further.
const RUNS_FOR_A_PACKET: usize = 80;
/// Runs of the answer, which must not contradict the fit, and show what the answer costs.
const RUNS_AT_ANSWER: usize = 6;
/// The fit may take the runs of this many buffers with the maximum number of seeds.
const BUFFERS_WORTH: usize = 6;
/// Further runs where a kink is likely, relative to those that there are: a few more often show
/// that there is none.
const SHARE_IN_DOUBT: f64 = 0.25;
/// Factor by which the scan goes beyond an end of the tested buffers.
const WIDER: u64 = 4;
/// Number of times that the scan does so at most.
const MOST_WIDENINGS: u32 = 4;

/// Why a search stops.
enum Stop {
    /// Some limits lack runs; how many each must have.
    Missing(BTreeMap<u64, usize>),
    /// The regression cannot answer.
    Refused(String),
}

/// Where the targets cross their bounds, together and each, and the answer.
struct Found {
    interval: Crossing,
    answer: u64,
    crossings: Vec<Option<Crossing>>,
    fitted: Vec<BTreeMap<u64, FittedMean>>,
}

/// A limit that should get more runs, the factor within which a tested one stands for it, and the
/// number of runs.
type Wish = (f64, f64, usize);

/// The [next step](next_step) of a question in JSON, as JSON.
///
/// # Errors
/// The text is no such question.
pub fn next_step_json(question: &str) -> Result<String, String> {
    let question = serde_json::from_str(question).map_err(|error| error.to_string())?;
    serde_json::to_string(&next_step(&question)?).map_err(|error| error.to_string())
}

/// The next runs of a search, given the runs that there are; or its answer, or why it has none.
///
/// # Errors
/// A limit has runs that do not give one value per target and run, or the same variates as others.
pub fn next_step(question: &Question) -> Result<Step, String> {
    let targets = question.targets.len();
    let variates = question.variates.values().next().map_or(0, Vec::len);
    for (limit, values) in &question.runs {
        let even = values.windows(2).all(|pair| pair[0].len() == pair[1].len());
        if values.len() != targets || !even {
            return Err(format!("the runs of limit {limit} do not have one value per target"));
        }
        let runs = values.first().map_or(0, Vec::len);
        let given = question.variates.get(limit).map_or(&[][..], |given| given);
        let is_complete = given.iter().all(|one| one.len() == runs);
        if given.len() != variates || variates > VARIATES || !is_complete {
            return Err(format!("the runs of limit {limit} lack variates"));
        }
    }
    let mut search = Search {
        question,
        buffers: Buffers::new(question),
        stage: Stage::Search,
        runs_left: FIRST_RUNS * (question.limits.len() + 2),
    };
    let ended = search.run();
    let mut step = Step {
        stage: search.stage,
        wanted: BTreeMap::new(),
        runs_left: search.runs_left,
        used: search.buffers.used(),
        interval: None,
        answer: None,
        crossings: Vec::new(),
        fitted: Vec::new(),
        refused: None,
    };
    match ended {
        Ok(Found { interval, answer, crossings, fitted }) => {
            (step.interval, step.answer) = (Some(interval), Some(answer));
            (step.crossings, step.fitted) = (crossings, fitted);
        }
        Err(Stop::Missing(wanted)) => step.wanted = wanted,
        Err(Stop::Refused(why)) => step.refused = Some(why),
    }
    Ok(step)
}

impl Search<'_> {
    fn run(&mut self) -> Result<Found, Stop> {
        self.add(self.question.known.clone())?;
        self.scan()?;
        let mut fits: Vec<Option<Fitted>> = self.targets().map(|_| None).collect();
        let mut binding = self.binding()?;
        binding.sort_by(|(_, one), (_, other)| other.total_cmp(one));
        let mut low = 0.0_f64;
        for (target, place) in binding {
            if !self.is_met_up_from(target, low) {
                let fitted = self.cross(target, place)?;
                low = low.max(fitted.crossing.low);
                fits[target] = Some(fitted);
            }
        }
        self.finish(&fits)
    }

    /// Whether a target is clearly met below a limit, and not clearly missed from there on: where
    /// another target decides on the answer, it needs no fit of its own.
    fn is_met_up_from(&self, target: usize, limit: f64) -> bool {
        let Some(met) = self.clear(target, true).next().filter(|&met| met <= limit) else {
            return false;
        };
        !self.clear(target, false).any(|missed| missed >= met)
    }

    /// Uses few runs of each buffer, and of further ones until all targets are met.
    fn scan(&mut self) -> Result<(), Stop> {
        self.add(self.question.limits.iter().map(|&limit| (limit, FIRST_RUNS)).collect())?;
        for _ in 0..MOST_WIDENINGS {
            if self.targets().any(|target| !self.is_monotone(target)) {
                self.add(
                    self.buffers.used().into_keys().map(|one| (one, RUNS_IN_DOUBT)).collect(),
                )?;
            }
            for target in self.targets() {
                self.check_shape(target)?;
            }
            let Some(beyond) = self.beyond() else { return Ok(()) };
            self.add(BTreeMap::from([(beyond, FIRST_RUNS)]))?;
        }
        refused("the answer is not within the tested values")
    }

    fn targets(&self) -> std::ops::Range<usize> {
        0..self.question.targets.len()
    }

    /// A limit beyond the tested ones, if these do not enclose the answer by their means.
    fn beyond(&self) -> Option<u64> {
        let buffers = self.buffers.sorted();
        let (small, large) = (buffers.first()?, buffers.last()?);
        for target in self.targets() {
            if buffers.iter().all(|one| one.margin(target) < 0.0) {
                let is_rising = large.margin(target) > small.margin(target);
                return Some(if is_rising { WIDER * large.limit } else { small.limit / WIDER });
            }
        }
        let is_met = self.targets().all(|target| small.margin(target) >= 0.0);
        is_met.then_some(small.limit / WIDER)
    }

    /// Whether the means of the buffers begin to meet a target, or to miss it, at most once.
    fn is_monotone(&self, target: usize) -> bool {
        let buffers = self.buffers.sorted();
        let is_met = |one: &Buffer<'_>| one.margin(target) >= 0.0;
        buffers.windows(2).filter(|pair| is_met(&pair[0]) != is_met(&pair[1])).count() <= 1
    }

    /// Checks that a target has a crossing that a fit can find.
    fn check_shape(&self, target: usize) -> Result<(), Stop> {
        let asked = &self.question.targets[target];
        if self.bound(target) <= 0.0 {
            return refused(format!("{} allows no deviation", asked.text));
        }
        let verdicts = self.buffers.verdicts(target);
        if verdicts.windows(2).filter(|pair| pair[0] != pair[1]).count() > 1 {
            return refused(format!("{} is not monotone", asked.text));
        }
        Ok(())
    }

    /// The bound of a target on the scale of the fit.
    pub(super) fn bound(&self, target: usize) -> f64 {
        let asked = &self.question.targets[target];
        asked.on_scale(asked.bound)
    }

    /// The targets that may decide on the answer, with about the limit that each needs.
    fn binding(&self) -> Result<Vec<(usize, f64)>, Stop> {
        let crossings = self.targets().filter_map(|target| Some((target, self.rises(target)?)));
        let places: Vec<(usize, f64)> = crossings.collect();
        if places.is_empty() {
            return refused("no target begins to be met within the tested values");
        }
        let largest = places.iter().map(|(_, place)| *place).fold(0.0, f64::max);
        for target in self.targets() {
            if self.falls(target).is_some_and(|most| WINDOW * most < largest) {
                let text = &self.question.targets[target].text;
                return refused(format!("{text} is met by smaller values only"));
            }
        }
        let binding: Vec<(usize, f64)> =
            places.into_iter().filter(|(_, place)| place * WINDOW >= largest).collect();
        for &(target, _) in &binding {
            if self.buffers.sorted().iter().all(|one| one.is_constant(target)) {
                let metric = &self.question.targets[target].metric;
                return refused(format!("{metric} is the same in runs with different seeds"));
            }
        }
        Ok(binding)
    }

    /// About the smallest limit that meets a target; `None` if no smaller mean misses it.
    fn rises(&self, target: usize) -> Option<f64> {
        let buffers = self.buffers.sorted();
        let mut pairs = buffers.windows(2).rev();
        let is_met = |one: &Buffer<'_>| one.margin(target) >= 0.0;
        pairs
            .find(|pair| !is_met(&pair[0]) && is_met(&pair[1]))
            .map(|pair| between(&pair[0], &pair[1], target))
    }

    /// About the largest limit that meets a target; `None` if no larger mean misses it.
    fn falls(&self, target: usize) -> Option<f64> {
        let buffers = self.buffers.sorted();
        let mut pairs = buffers.windows(2);
        let is_met = |one: &Buffer<'_>| one.margin(target) >= 0.0;
        pairs
            .find(|pair| is_met(&pair[0]) && !is_met(&pair[1]))
            .map(|pair| between(&pair[0], &pair[1], target))
    }

    /// Adds runs around a target's crossing until its interval is narrow.
    fn cross(&mut self, target: usize, place: f64) -> Result<Fitted, Stop> {
        let mut place = place;
        // A parabola needs four buffers.
        let step = libm::cbrt(FLANKS);
        let mut wishes: Vec<Wish> =
            [-3, -1, 1, 3].map(|at| (place * step.powi(at), SAME, FIRST_AT_EACH)).into();
        loop {
            let is_added = self.add_near(&wishes)?;
            let near = self.near(target, place);
            let runs: usize = near.iter().map(|one| one.runs).sum();
            let fitted = self.crossing(target, &near);
            if let Ok(found) = &fitted
                && self.is_narrow(&found.crossing, runs)
            {
                return fitted.map_err(|doubt| self.without_crossing(target, doubt));
            }
            let most = if matches!(fitted, Err(Doubt::Misfit)) { 2 } else { BUFFERS_WORTH };
            if !is_added || runs >= self.question.max_seeds * most {
                return fitted.map_err(|doubt| self.without_crossing(target, doubt));
            }
            let found = fitted.as_ref().ok();
            let estimate = found.map(|one| one.crossing.estimate);
            place = estimate.or_else(|| self.rises(target)).unwrap_or(place);
            let more = self.runs_wanted(found, runs);
            self.runs_left = more + RUNS_AT_ANSWER;
            // Without a crossing the flanks tell as much as its middle.
            let share = if found.is_some() { FLANK_SHARE } else { 1.0 };
            let share = more as f64 * share / (1.0 + 2.0 * share);
            let flank = (share.round_ties_even() as usize).max(1);
            wishes = vec![
                (place / FLANKS, SAME_FLANK, flank),
                (place, SAME, more - 2 * flank),
                (place * FLANKS, SAME_FLANK, flank),
            ];
        }
    }

    /// The refusal of a target whose fit gives no crossing.
    fn without_crossing(&self, target: usize, doubt: Doubt) -> Stop {
        let metric = &self.question.targets[target].metric;
        Stop::Refused(match doubt {
            Doubt::Misfit => format!("{metric} departs from the fitted curve"),
            Doubt::Open => format!("the runs do not say where {metric} crosses its bound"),
        })
    }

    /// Number of further runs that should make the interval narrow, at most as many again.
    fn runs_wanted(&self, found: Option<&Fitted>, runs: usize) -> usize {
        let Some(&Fitted { crossing, is_kinked, .. }) = found else { return 3 * FIRST_AT_EACH };
        let ratio = crossing.half_width() / self.question.precision;
        let narrower = (runs as f64 * (ratio * ratio - 1.0)).ceil().max(0.0) as usize;
        let mut wanted = narrower.max(FEWEST_FITTED.saturating_sub(runs));
        if crossing.high - crossing.low < 1.0 {
            wanted = wanted.max(runs / 2);
        }
        let most = if is_kinked { (runs as f64 * SHARE_IN_DOUBT) as usize } else { runs };
        wanted.min(most).max(2 * FIRST_AT_EACH).min(runs)
    }

    /// Whether an interval is as narrow as wanted, or leaves only one number of packets. An interval
    /// of less than a packet that leaves two gets some more runs.
    fn is_narrow(&self, crossing: &Crossing, runs: usize) -> bool {
        if crossing.low.ceil() >= crossing.high.ceil() {
            return runs >= FEWEST_FITTED;
        }
        let is_within_a_packet = crossing.high - crossing.low < 1.0;
        let part = crossing.half_width() / self.question.precision;
        let enough = match part {
            _ if is_within_a_packet => RUNS_FOR_A_PACKET,
            _ if part <= CLEARLY_NARROW => FEWEST_IF_NARROW,
            _ => FEWEST_FITTED,
        };
        part <= 1.0 && runs >= enough
    }

    /// Repeats the answer, whose runs must not contradict the fits.
    fn finish(&mut self, fits: &[Option<Fitted>]) -> Result<Found, Stop> {
        let crossings: Vec<Option<Crossing>> =
            fits.iter().map(|fit| fit.as_ref().map(|one| one.crossing)).collect();
        let largest =
            |of: fn(&Crossing) -> f64| crossings.iter().flatten().map(of).fold(0.0, f64::max);
        let interval = Crossing {
            estimate: largest(|one| one.estimate),
            low: largest(|one| one.low),
            high: largest(|one| one.high),
        };
        let answer = self.rounded_up(interval.high);
        if answer > self.question.largest {
            return refused("the answer is beyond the largest value in question");
        }
        (self.stage, self.runs_left) = (Stage::Confirm, RUNS_AT_ANSWER);
        for target in self.targets() {
            self.check_answer(answer, target, crossings[target].is_some())?;
        }
        self.runs_left = 0;
        let fitted = self.targets().map(|target| self.means(target, fits[target].as_ref()));
        let fitted = fitted.collect();
        Ok(Found { interval, answer, crossings, fitted })
    }

    /// The next value that may be an answer: a whole number, else one of three digits.
    fn rounded_up(&self, value: f64) -> u64 {
        let mut unit = 1.0;
        while !self.question.is_whole && value >= 1000.0 * unit {
            unit *= 10.0;
        }
        ((value / unit).ceil() * unit) as u64
    }

    /// Checks that the runs of the answer do not contradict a fit, or show what has none.
    fn check_answer(&mut self, answer: u64, target: usize, has_fit: bool) -> Result<(), Stop> {
        let most = self.question.max_seeds;
        for runs in [RUNS_AT_ANSWER.min(most), most] {
            self.add(BTreeMap::from([(answer, runs)]))?;
            let runs = self.buffers.runs(answer);
            let buffer = Buffer::new(self.question, answer, runs);
            match buffer.verdict(target, CONFIDENCE) {
                Some(true) => return Ok(()),
                None if has_fit => return Ok(()),
                _ => {}
            }
        }
        let text = &self.question.targets[target].text;
        refused(format!("its own runs do not show that the answer meets {text}"))
    }

    /// Adds runs at or near limits; returns whether any buffer had room.
    fn add_near(&mut self, wishes: &[Wish]) -> Result<bool, Stop> {
        let mut totals = BTreeMap::new();
        for &(place, same, more) in wishes {
            if let Some(limit) = self.with_room(place, same) {
                let total = totals.entry(limit).or_insert(0_usize);
                *total =
                    ((*total).max(self.buffers.runs(limit)) + more).min(self.question.max_seeds);
            }
        }
        let is_added = !totals.is_empty();
        self.add(totals)?;
        Ok(is_added)
    }

    /// A limit near a place that may still get runs, if possible a tested one.
    fn with_room(&self, place: f64, same: f64) -> Option<u64> {
        let distance = |limit: u64| libm::log(limit as f64 / place).abs();
        let is_allowed = |limit: u64| {
            let range = self.question.smallest..=self.question.largest;
            range.contains(&limit) && !self.buffers.is_full(limit)
        };
        let tested = self.buffers.sorted().into_iter().map(|one| one.limit);
        let near = tested
            .filter(|&limit| (place / same..=place * same).contains(&(limit as f64)))
            .filter(|&limit| is_allowed(limit))
            .min_by(|&one, &other| distance(one).total_cmp(&distance(other)));
        // No tested limit near the place has room, so that a limit with room is a new one.
        let below =
            ((place / SAME).floor() as u64..=place as u64).rev().find(|&one| is_allowed(one));
        let above = (place as u64 + 1..=(place * SAME).ceil() as u64).find(|&one| is_allowed(one));
        near.or(match (below, above) {
            (Some(below), Some(above)) if distance(above) < distance(below) => Some(above),
            (below, above) => below.or(above),
        })
    }

    /// Uses runs of buffers until each has a number of them.
    fn add(&mut self, totals: BTreeMap<u64, usize>) -> Result<(), Stop> {
        let (smallest, largest) = (self.question.smallest, self.question.largest);
        let allowed =
            totals.into_iter().map(|(limit, runs)| (limit.max(smallest).min(largest), runs));
        self.buffers.add(&allowed.collect()).map_err(Stop::Missing)
    }
}

fn refused<T>(why: impl Into<String>) -> Result<T, Stop> {
    Err(Stop::Refused(why.into()))
}

/// The limit at which the line between two means, over the logarithm, meets the bound.
fn between(small: &Buffer<'_>, large: &Buffer<'_>, target: usize) -> f64 {
    let (low, high) = (small.limit as f64, large.limit as f64);
    let part = small.margin(target) / (small.margin(target) - large.margin(target));
    low * libm::pow(high / low, part)
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use super::super::question::{Question, Step, Target};
    use super::next_step;

    const ROOT: f64 = 1_234_000.0;

    /// What is missing falls by the power 1.5 of the value; every fourth run is at the mean plus or
    /// minus a tenth or a fifth of it.
    fn utilization(value: u64, seed: usize) -> f64 {
        let scatter = [0.1, -0.2, 0.2, -0.1][seed % 4];
        1.0 - 0.02 * (value as f64 / ROOT).powf(-1.5) * (1.0 + scatter)
    }

    fn question() -> Question {
        Question {
            targets: vec![Target {
                text: "utilization >= 98%".to_owned(),
                metric: "utilization".to_owned(),
                at_least: true,
                bound: 0.98,
                highest: Some(1.0),
            }],
            precision: 0.06,
            smallest: 1,
            largest: 1_000_000_000,
            max_seeds: 32,
            is_whole: false,
            limits: vec![500_000, 1_000_000, 2_000_000],
            known: BTreeMap::new(),
            runs: BTreeMap::new(),
            variates: BTreeMap::new(),
        }
    }

    /// Performs the runs that the search wants until it ends.
    fn searched(question: &mut Question) -> Step {
        loop {
            let step = next_step(question).expect("a question");
            if step.wanted.is_empty() {
                return step;
            }
            for (&value, &runs) in &step.wanted {
                let all = (0..runs).map(|seed| utilization(value, seed)).collect();
                question.runs.insert(value, vec![all]);
            }
        }
    }

    #[test]
    fn the_answer_is_the_next_value_of_three_digits_above_the_interval() {
        let step = searched(&mut question());
        let (interval, answer) = (step.interval.expect("an interval"), step.answer.expect("one"));
        assert!(interval.low < ROOT && ROOT < interval.high, "{interval:?}");
        assert_eq!(answer % 10_000, 0);
        assert!((0.0..10_000.0).contains(&(answer as f64 - interval.high)));
    }

    #[test]
    fn the_interval_of_a_fitted_mean_holds_the_bound_where_that_of_the_crossing_holds_the_value() {
        let mut asked = question();
        let step = searched(&mut asked);
        let crossing = step.crossings[0].expect("a crossing");
        assert!(step.fitted[0].len() >= 4);
        for (&value, mean) in &step.fitted[0] {
            let value = value as f64;
            assert_eq!(value >= crossing.high, mean.low >= 0.98, "{value} {mean:?}");
            assert_eq!(value <= crossing.low, mean.high <= 0.98, "{value} {mean:?}");
            let truth = 1.0 - 0.02 * (value / ROOT).powf(-1.5);
            assert!((mean.mean - truth).abs() < 0.002, "{value} {mean:?}");
        }
    }

    /// The loss is at its bound at two thirds of the root, which runs near the root show.
    #[test]
    fn a_target_that_is_met_from_below_the_interval_on_gets_no_runs_of_its_own() {
        let alone = searched(&mut question());
        let mut both = question();
        both.targets.push(Target {
            text: "loss_fraction <= 1%".to_owned(),
            metric: "loss_fraction".to_owned(),
            at_least: false,
            bound: 0.01,
            highest: None,
        });
        let step = loop {
            let step = next_step(&both).expect("a question");
            if step.wanted.is_empty() {
                break step;
            }
            for (&value, &runs) in &step.wanted {
                let of = |seed| utilization(value, seed);
                let lost = |seed| (1.0 - of(seed)) / 2.0 * (2.0_f64 / 3.0).powf(1.5);
                let all = [(0..runs).map(of).collect(), (0..runs).map(lost).collect()];
                both.runs.insert(value, all.into());
            }
        };
        assert_eq!((step.answer, step.used), (alone.answer, alone.used));
        assert_eq!(step.crossings, [alone.crossings[0], None]);
    }

    #[test]
    fn other_runs_than_those_that_it_wants_do_not_change_the_answer() {
        let mut asked = question();
        let step = searched(&mut asked);
        for values in asked.runs.values_mut() {
            values[0].extend([0.1; 5]);
        }
        asked.runs.insert(1_300_000, vec![vec![0.1; 40]]);
        assert_eq!(next_step(&asked).expect("a question"), step);
    }

    #[test]
    fn runs_without_a_value_per_target_are_refused() {
        let mut asked = question();
        asked.runs.insert(500_000, vec![vec![0.9; 4], vec![0.1; 3]]);
        assert!(next_step(&asked).is_err());
    }

    #[test]
    fn variates_that_some_runs_lack_are_refused() {
        let mut asked = question();
        asked.runs.insert(500_000, vec![vec![0.9; 3]]);
        asked.variates.insert(500_000, vec![vec![0.0; 3]; 2]);
        assert!(next_step(&asked).is_ok());
        asked.runs.insert(1_000_000, vec![vec![0.9; 3]]);
        assert!(next_step(&asked).is_err(), "none of a limit");
        asked.variates.insert(1_000_000, vec![vec![0.0; 3], vec![0.0; 2]]);
        assert!(next_step(&asked).is_err(), "too few of a variate");
        let three = [500_000, 1_000_000].map(|limit| (limit, vec![vec![0.0; 3]; 3]));
        asked.variates = three.into();
        assert!(next_step(&asked).is_err(), "too many variates");
    }
}
