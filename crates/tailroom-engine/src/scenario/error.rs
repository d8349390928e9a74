//! What a wrong scenario is answered with: where, what is wrong, what to do.

use std::fmt;

/// Where the fault was written.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Place {
    /// A line of the scenario text, counted from 1.
    Line(usize),
    /// A command-line option that set the key: `--set` or `--seed`.
    Option(&'static str),
    /// The text as a whole.
    Text,
}

/// A scenario that cannot be run.
///
/// It displays as `line 12, flows.hstcp.rtt: what is wrong; the remedy`, and as
/// `--set flows.hstcp.rtt: ...` when an override caused it.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub struct ScenarioError {
    /// Where the fault was written.
    pub place: Place,
    /// The dotted key; empty when the fault belongs to none.
    pub key: String,
    /// What is wrong.
    pub problem: String,
    /// What to do.
    pub remedy: String,
}

impl fmt::Display for ScenarioError {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let key = &self.key;
        match (&self.place, key.is_empty()) {
            (Place::Line(line), true) => write!(formatter, "line {line}: ")?,
            (Place::Line(line), false) => write!(formatter, "line {line}, {key}: ")?,
            (Place::Option(option), true) => write!(formatter, "{option}: ")?,
            (Place::Option(option), false) => write!(formatter, "{option} {key}: ")?,
            (Place::Text, true) => {}
            (Place::Text, false) => write!(formatter, "{key}: ")?,
        }
        write!(formatter, "{}; {}", self.problem, self.remedy)
    }
}

/// A fault before its place is known.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Fault {
    pub(super) path: Path,
    pub(super) problem: String,
    pub(super) remedy: String,
}

impl Fault {
    pub(super) fn new(path: &Path, problem: impl Into<String>, remedy: impl Into<String>) -> Self {
        Fault { path: path.clone(), problem: problem.into(), remedy: remedy.into() }
    }
}

/// The way from the root of the document to a value.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Path(pub(super) Vec<Step>);

/// One step of a [`Path`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Step {
    Key(String),
    Index(usize),
}

impl Path {
    pub(super) fn of(keys: &[&str]) -> Self {
        Path(keys.iter().map(|&key| Step::Key(key.to_owned())).collect())
    }

    pub(super) fn key(&self, key: &str) -> Self {
        self.with(Step::Key(key.to_owned()))
    }

    pub(super) fn index(&self, index: usize) -> Self {
        self.with(Step::Index(index))
    }

    fn with(&self, step: Step) -> Self {
        let mut steps = self.0.clone();
        steps.push(step);
        Path(steps)
    }

    pub(super) fn starts_with(&self, start: &Path) -> bool {
        self.0.starts_with(&start.0)
    }
}

impl fmt::Display for Path {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (position, step) in self.0.iter().enumerate() {
            match step {
                Step::Key(key) if position == 0 => write!(formatter, "{key}")?,
                Step::Key(key) => write!(formatter, ".{key}")?,
                Step::Index(index) => write!(formatter, "[{index}]")?,
            }
        }
        Ok(())
    }
}

/// Names the candidate nearest to a misspelled name, or lists them all when none is near.
pub(super) fn suggestion<'a>(name: &str, candidates: impl Iterator<Item = &'a str>) -> String {
    let candidates: Vec<&str> = candidates.collect();
    let nearest = candidates
        .iter()
        .map(|candidate| (strsim::jaro_winkler(name, candidate), candidate))
        .filter(|(similarity, _)| *similarity >= NEAR)
        .max_by(|one, other| one.0.total_cmp(&other.0));
    match nearest {
        Some((_, candidate)) => format!("did you mean `{candidate}`?"),
        None if candidates.is_empty() => "there is nothing to choose from".to_owned(),
        None => format!("use one of {}", candidates.join(", ")),
    }
}

/// Jaro-Winkler similarity from which a name passes for a misspelling of another.
const NEAR: f64 = 0.8;
