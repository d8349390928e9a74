//! Errors of a scenario: the place, the problem and the remedy.

use std::collections::HashSet;
use std::error::Error;
use std::fmt;

use crate::parameters::BadParameter;
use crate::quoting::{quoted, shown};
use crate::spelling;

/// The origin of a problem.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Place {
    /// A line of the scenario text, counted from 1.
    Line(usize),
    /// A command-line option that set the key: `--set` or `--seed`.
    Option(&'static str),
    /// The text as a whole.
    Text,
}

impl Place {
    /// Sort key: first the text as a whole, then its lines, then the options.
    fn rank(&self) -> (usize, usize) {
        match self {
            Place::Text => (0, 0),
            Place::Line(line) => (1, *line),
            Place::Option(_) => (2, 0),
        }
    }
}

/// A scenario that cannot be run, with all problems that were found, in the order of its lines.
///
/// It displays as one line per problem, for the first [`MOST_SHOWN`] problems.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ScenarioError {
    problems: Vec<Problem>,
}

/// Number of problems that are shown; the others are counted, since users correct the first ones
/// first.
pub const MOST_SHOWN: usize = 10;
/// Number of faults after which the check of a scenario stops.
pub(in crate::scenario) const MOST_FAULTS: usize = 100;

impl ScenarioError {
    /// Sorts one or more problems and removes duplicates.
    pub(in crate::scenario) fn of(mut problems: Vec<Problem>) -> Self {
        problems.sort_by_key(|problem| problem.place.rank());
        let mut seen = HashSet::new();
        problems.retain(|problem| seen.insert(problem.once()));
        ScenarioError { problems }
    }

    /// The problems in the order of the lines; problems of command-line options come last.
    pub fn problems(&self) -> &[Problem] {
        &self.problems
    }
}

impl Error for ScenarioError {}

impl From<Problem> for ScenarioError {
    fn from(problem: Problem) -> Self {
        ScenarioError::of(vec![problem])
    }
}

impl fmt::Display for ScenarioError {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (index, problem) in self.problems.iter().take(MOST_SHOWN).enumerate() {
            let line_break = if index == 0 { "" } else { "\n" };
            write!(formatter, "{line_break}{}", shown(&problem.to_string()))?;
        }
        match self.problems.len().saturating_sub(MOST_SHOWN) {
            0 => Ok(()),
            1 => write!(formatter, "\nand 1 more problem; correct these first"),
            more if self.problems.len() >= MOST_FAULTS => {
                write!(formatter, "\nand at least {more} more problems; correct these first")
            }
            more => write!(formatter, "\nand {more} more problems; correct these first"),
        }
    }
}

/// A problem of a scenario.
///
/// It displays as `line 12, flows.hstcp.rtt: what is wrong; the remedy`, and as
/// `--set flows.hstcp.rtt: ...` when an override caused it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Problem {
    /// Where the problem is.
    pub place: Place,
    /// The dotted key; empty if the problem does not belong to a key.
    pub key: String,
    /// The group, as `flows.hstcp`, that inherits the key from `[defaults]` and has the problem.
    pub used_by: Option<String>,
    /// The problem, as a predicate or a sentence.
    pub problem: String,
    /// The remedy, as an instruction.
    pub remedy: String,
}

impl Problem {
    /// Equal for problems that are reported once: those of a default that several groups inherit.
    fn once(&self) -> (String, String) {
        (format!("{:?} {}", self.place, self.key), self.problem.clone())
    }
}

impl fmt::Display for Problem {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let key = match &self.used_by {
            Some(group) => format!("{} (used by {group})", self.key),
            None => self.key.clone(),
        };
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

/// A problem before its place is known.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(in crate::scenario) struct Fault {
    pub(in crate::scenario) path: Path,
    pub(in crate::scenario) problem: String,
    pub(in crate::scenario) remedy: String,
}

impl Fault {
    pub(in crate::scenario) fn new(
        path: &Path,
        problem: impl Into<String>,
        remedy: impl Into<String>,
    ) -> Self {
        Fault { path: path.clone(), problem: problem.into(), remedy: remedy.into() }
    }
}

/// The fault of a parameter of the component at `at`.
pub(in crate::scenario) fn bad_parameter(at: &Path, bad: BadParameter) -> Fault {
    Fault { path: at.join(&bad.key), problem: bad.problem, remedy: bad.remedy }
}

/// The keys and indices that lead from the root of the document to a value.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(in crate::scenario) struct Path(pub(in crate::scenario) Vec<Step>);

/// A step of a [`Path`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub(in crate::scenario) enum Step {
    Key(String),
    Index(usize),
}

impl Path {
    pub(in crate::scenario) fn of(keys: &[&str]) -> Self {
        Path(keys.iter().map(|&key| Step::Key(key.to_owned())).collect())
    }

    pub(in crate::scenario) fn key(&self, key: &str) -> Self {
        self.with(Step::Key(key.to_owned()))
    }

    pub(in crate::scenario) fn index(&self, index: usize) -> Self {
        self.with(Step::Index(index))
    }

    /// The path of a dotted key below this one, list indices in brackets: `size.values[2]`.
    pub(in crate::scenario) fn join(&self, dotted: &str) -> Self {
        let words = dotted.split(['.', '[', ']']).filter(|word| !word.is_empty());
        words.fold(self.clone(), |path, word| match word.parse() {
            Ok(index) => path.index(index),
            Err(_) => path.key(word),
        })
    }

    fn with(&self, step: Step) -> Self {
        let mut steps = self.0.clone();
        steps.push(step);
        Path(steps)
    }

    /// The last step, if it is a key.
    pub(in crate::scenario) fn last_key(&self) -> Option<&str> {
        match self.0.last()? {
            Step::Key(key) => Some(key),
            Step::Index(_) => None,
        }
    }

    /// The path for a message.
    pub(in crate::scenario) fn shown(&self) -> String {
        let steps = self.0.iter().map(|step| match step {
            Step::Key(key) => Step::Key(quoted(key)),
            Step::Index(index) => Step::Index(*index),
        });
        Path(steps.collect()).to_string()
    }

    pub(in crate::scenario) fn starts_with(&self, start: &Path) -> bool {
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

/// The candidate that a misspelled name probably means, if there is one.
pub(in crate::scenario) fn nearest<'a>(
    name: &str,
    candidates: impl Iterator<Item = &'a str>,
) -> Option<&'a str> {
    let candidates: Vec<&str> = candidates.collect();
    spelling::meant(name, &candidates).first().copied()
}

/// Suggests the candidate that a misspelled name probably means, or lists a few candidates.
pub(in crate::scenario) fn suggestion<'a>(
    name: &str,
    candidates: impl Iterator<Item = &'a str>,
) -> String {
    let candidates: Vec<&str> = candidates.collect();
    let Some(meant) = nearest(name, candidates.iter().copied()) else {
        return match few(name, &candidates) {
            names if names.is_empty() => "there is none to choose from".to_owned(),
            names => format!("use one of {names}"),
        };
    };
    let quote = quoted(meant);
    match spelling::remark(name, meant) {
        Some(remark) => format!("did you mean `{quote}`? {remark}"),
        None => format!("did you mean `{quote}`?"),
    }
}

/// A few of the candidates, those that resemble a name most first, and the number of the others.
pub(in crate::scenario) fn few(name: &str, candidates: &[&str]) -> String {
    let (listed, others) = spelling::few(name, candidates);
    let others = if others > 0 { format!(" and {others} more") } else { String::new() };
    let listed: Vec<String> = listed.iter().map(quoted).collect();
    format!("{}{others}", listed.join(", "))
}

/// As [`suggestion`], for the name of a kind; `code` is what the caller may supply under such a name.
pub(in crate::scenario) fn suggestion_of_kinds(
    name: &str,
    kinds: &[&str],
    code: Option<&str>,
) -> String {
    let remedy = suggestion(name, kinds.iter().copied());
    let Some(code) = code else { return remedy };
    match name.rsplit_once('.') {
        Some((module, class)) if !module.is_empty() && !class.is_empty() => {
            format!("for a {code} of your own write \"{}\"", quoted(format!("{module}:{class}")))
        }
        _ if name.contains(':') || nearest(name, kinds.iter().copied()).is_some() => remedy,
        _ => {
            let registry = match code {
                "control" => "congestion",
                "discipline" => "queue",
                other => other,
            };
            format!(
                "{remedy} (`tailroom list {registry}`), or \"module:Class\" for a {code} of your own"
            )
        }
    }
}
