//! A scenario, its run and what is expected of it, with a line for each link, group and number:
//!
//! ```ignore
//! case("3 s from 1 s")
//!     .link("near", "80 Mbit/s, 1 ms, 100 packets")
//!     .link("far", "4 Mbit/s, 1 ms, codel 20 packets, packet_log = 100")
//!     .stream("call", "near far", "cbr 8 Mbit/s, 1000 B, source.phase = '0 s'")
//!     .flows("web", "far", "congestion = 'reno', rtt = '40 ms', count = 2")
//!     .run()
//!     .expect("groups.call.loss_fraction", near(0.5, 1e-3))
//!     .expect("links.near.drops_packets", 0);
//! ```
//!
//! A line begins with what nearly every link or stream has, and goes on with keys as a scenario file has
//! them. The case writes such a file, which the engine reads. A failure prints it.

use std::cell::OnceCell;
use std::fmt;
use std::ops::{Bound, Deref, RangeBounds};

use serde_json::Value;
use tailroom_engine::network::Network;
use tailroom_engine::results::{GroupSummary, LinkSummary, Results, Warning, WarningKind};
use tailroom_engine::scenario::{self, FindCode, Scenario, ScenarioError};

use super::scenario_run::{finish, plain_hosts};
use super::scenario_text::FILES;

/// A scenario in the making.
#[derive(Clone, Debug)]
pub(crate) struct Case {
    pub(crate) text: String,
    overrides: Vec<(String, String)>,
    seed: u64,
}

/// A scenario of this duration, as in "3 s", that is measured from the start that is the default, or from
/// another, as in "3 s from 1 s". Its seed is 1.
pub(crate) fn case(duration: &str) -> Case {
    let case = Case { text: String::new(), overrides: Vec::new(), seed: 1 };
    match duration.split_once(" from ") {
        None => case.toml(format!("duration = '{duration}'")),
        Some((duration, from)) => {
            case.toml(format!("duration = '{duration}'\nmeasure_from = '{from}'"))
        }
    }
}

impl Case {
    pub(crate) fn seed(mut self, seed: u64) -> Self {
        self.seed = seed;
        self
    }

    /// Lines of the file.
    pub(crate) fn toml(mut self, lines: impl AsRef<str>) -> Self {
        self.text += lines.as_ref();
        self.text += "\n";
        self
    }

    /// A table with these keys, separated by commas.
    pub(crate) fn table(self, name: impl AsRef<str>, keys: impl AsRef<str>) -> Self {
        self.toml(format!(
            "{} = {{ {} }}",
            name.as_ref(),
            keys.as_ref().trim_end_matches([',', ' '])
        ))
    }

    /// A link: its rate and its delay, then its queue, as in "codel 20 packets" or, with tail drop, "20
    /// packets", unless it is among the other keys.
    pub(crate) fn link(self, name: impl AsRef<str>, keys: impl AsRef<str>) -> Self {
        let (rate, keys) = first(keys.as_ref());
        let (delay, keys) = first(keys);
        let (queue, others) = first(keys);
        let keys = if queue.contains('=') {
            keys.to_owned()
        } else {
            let is_kind = queue.starts_with(|letter: char| letter.is_ascii_alphabetic());
            let (kind, limit) =
                queue.split_once(' ').filter(|_| is_kind).unwrap_or(("drop_tail", queue));
            format!("queue = {{ kind = '{kind}', limit = '{limit}' }}, {others}")
        };
        let name = format!("links.{}", name.as_ref());
        self.table(name, format!("rate = '{rate}', delay = '{delay}', {keys}"))
    }

    /// A group of flows over these links, as in "near far".
    pub(crate) fn flows(
        self,
        name: impl AsRef<str>,
        path: impl AsRef<str>,
        keys: impl AsRef<str>,
    ) -> Self {
        let path: Vec<&str> = path.as_ref().split_whitespace().collect();
        self.table(
            format!("flows.{}", name.as_ref()),
            format!("path = {path:?}, {}", keys.as_ref()),
        )
    }

    /// A group without congestion control: its source, as in "cbr 8 Mbit/s", and the size of its packets.
    pub(crate) fn stream(
        self,
        name: impl AsRef<str>,
        path: impl AsRef<str>,
        keys: impl AsRef<str>,
    ) -> Self {
        let (source, keys) = first(keys.as_ref());
        let (size, keys) = first(keys);
        let (kind, rate) = source.split_once(' ').expect("a stream has a kind and a rate");
        let source = format!("source.kind = '{kind}', source.rate = '{rate}'");
        self.flows(name, path, format!("packet_size = '{size}', {source}, {keys}"))
    }

    /// Adds something for each of some items.
    pub(crate) fn each<T>(
        self,
        items: impl IntoIterator<Item = T>,
        add: impl FnMut(Self, T) -> Self,
    ) -> Self {
        items.into_iter().fold(self, add)
    }

    /// Without a table.
    pub(crate) fn without(&self, name: &str) -> Self {
        let begin = format!("{name} = ");
        let lines = self.text.split_inclusive('\n').filter(|line| !line.starts_with(&begin));
        Case { text: lines.collect(), ..self.clone() }
    }

    /// With a part of the text replaced everywhere.
    #[track_caller]
    pub(crate) fn replaced(&self, from: &str, to: &str) -> Self {
        assert!(self.text.contains(from), "no {from} in\n{}", self.text);
        Case { text: self.text.replace(from, to), ..self.clone() }
    }

    /// Overrides a key, as `--set` does.
    pub(crate) fn set(mut self, key: impl AsRef<str>, value: impl fmt::Display) -> Self {
        self.overrides.push((key.as_ref().to_owned(), value.to_string()));
        self
    }

    fn parse(&self, overrides: &[(String, String)]) -> Result<Scenario, ScenarioError> {
        scenario::parse(&self.text, overrides, Some(self.seed), &FILES)
    }

    /// The network with controls, disciplines and sources of a caller.
    pub(crate) fn with_code(&self, code: &dyn FindCode) -> Result<Network, ScenarioError> {
        let overrides = [plain_hosts(&self.text), self.overrides.clone()].concat();
        self.parse(&overrides)?.with_code(code)?.resolve()
    }

    /// The network, under [`plain_hosts`].
    #[track_caller]
    pub(crate) fn network(&self) -> Network {
        let overrides = [plain_hosts(&self.text), self.overrides.clone()].concat();
        let resolved = self.parse(&overrides).and_then(|scenario| scenario.resolve());
        resolved.unwrap_or_else(|error| panic!("{error}\n{}", self.text))
    }

    #[track_caller]
    pub(crate) fn run(&self) -> Run {
        Run { results: finish(&self.network()), case: self.clone(), json: OnceCell::new() }
    }

    /// The message with which the scenario is refused.
    #[track_caller]
    pub(crate) fn refusal(&self) -> String {
        let resolved = self.parse(&self.overrides).and_then(|scenario| scenario.resolve());
        resolved.expect_err("the scenario is wrong").to_string()
    }
}

/// What precedes the first comma, and the rest.
fn first(keys: &str) -> (&str, &str) {
    let (first, rest) = keys.split_once(',').unwrap_or((keys, ""));
    (first.trim(), rest.trim())
}

/// The results of a case.
pub(crate) struct Run {
    pub(crate) results: Results,
    case: Case,
    json: OnceCell<Value>,
}

impl Deref for Run {
    type Target = Results;

    fn deref(&self) -> &Results {
        &self.results
    }
}

impl Run {
    /// Checks a number of the summary, which its place in the JSON names, as in `links.far.utilization`.
    #[track_caller]
    pub(crate) fn expect(&self, place: &str, expected: impl Into<Expected>) -> &Self {
        let (found, expected) = (self.find(place), expected.into());
        assert!(
            expected.holds(found),
            "{place} is {found:?}, expected {expected}\n{:?}\n{}",
            self.case.overrides,
            self.case.text
        );
        self
    }

    /// A number of the summary; zero is a number, null is none.
    #[track_caller]
    pub(crate) fn get(&self, place: &str) -> f64 {
        self.find(place).unwrap_or_else(|| panic!("{place} is null\n{}", self.case.text))
    }

    #[track_caller]
    fn find(&self, place: &str) -> Option<f64> {
        let mut at = self.json.get_or_init(|| serde_json::to_value(&self.summary).expect("JSON"));
        for key in place.split('.') {
            let next = key.parse().map_or_else(|_| at.get(key), |index: usize| at.get(index));
            at = next.unwrap_or_else(|| panic!("{place}: no {key} in {at}"));
        }
        if let Some(is_so) = at.as_bool() {
            return Some(f64::from(u8::from(is_so)));
        }
        assert!(at.is_number() || at.is_null(), "{place} is no number: {at}");
        at.as_f64()
    }

    #[track_caller]
    pub(crate) fn link(&self, name: &str) -> &LinkSummary {
        super::summaries::link(&self.results.summary, name)
    }

    #[track_caller]
    pub(crate) fn group(&self, name: &str) -> &GroupSummary {
        super::summaries::group(&self.results.summary, name)
    }

    /// The only warning of this kind, if there is one.
    #[track_caller]
    pub(crate) fn warning(&self, kind: WarningKind) -> Option<&Warning> {
        let mut of_kind = self.summary.warnings.iter().filter(|warning| warning.kind == kind);
        let first = of_kind.next();
        assert_eq!(of_kind.next(), None, "two warnings of one kind");
        first
    }
}

/// What a number has to be.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Expected {
    Null,
    Near(f64, f64),
    Close(f64, f64),
    Within(Bound<f64>, Bound<f64>),
}

/// There was nothing to measure.
pub(crate) const NULL: Expected = Expected::Null;

/// Less than `tolerance` from `value`.
pub(crate) fn near(value: f64, tolerance: f64) -> Expected {
    Expected::Near(value, tolerance)
}

/// Less than this share of `value` from it.
pub(crate) fn close(value: f64, share: f64) -> Expected {
    Expected::Close(value, share)
}

pub(crate) fn above(value: f64) -> Expected {
    Expected::Within(Bound::Excluded(value), Bound::Unbounded)
}

pub(crate) fn below(value: f64) -> Expected {
    Expected::Within(Bound::Unbounded, Bound::Excluded(value))
}

pub(crate) fn within(range: impl RangeBounds<f64>) -> Expected {
    Expected::Within(range.start_bound().cloned(), range.end_bound().cloned())
}

/// Checks a number that is not in the summary.
#[track_caller]
pub(crate) fn check(what: impl fmt::Display, found: f64, expected: impl Into<Expected>) {
    let expected = expected.into();
    assert!(expected.holds(Some(found)), "{what}: {found}, expected {expected}");
}

impl Expected {
    fn holds(self, found: Option<f64>) -> bool {
        match (self, found) {
            (Expected::Null, found) => found.is_none(),
            (_, None) => false,
            (Expected::Near(value, tolerance), Some(found)) => (found - value).abs() < tolerance,
            (Expected::Close(value, share), Some(found)) => (found / value - 1.0).abs() < share,
            (Expected::Within(least, most), Some(found)) => (least, most).contains(&found),
        }
    }
}

impl fmt::Display for Expected {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Expected::Null => write!(formatter, "null"),
            Expected::Near(value, tolerance) => write!(formatter, "{value} +- {tolerance}"),
            Expected::Close(value, share) => write!(formatter, "{value} +- {} %", 100.0 * share),
            Expected::Within(least, most) => write!(formatter, "{least:?} to {most:?}"),
        }
    }
}

impl From<f64> for Expected {
    fn from(value: f64) -> Self {
        within(value..=value)
    }
}

impl From<i32> for Expected {
    fn from(value: i32) -> Self {
        f64::from(value).into()
    }
}

impl From<bool> for Expected {
    fn from(value: bool) -> Self {
        i32::from(value).into()
    }
}

impl From<u64> for Expected {
    fn from(value: u64) -> Self {
        (value as f64).into()
    }
}

impl<T: Into<Expected>> From<Option<T>> for Expected {
    fn from(value: Option<T>) -> Self {
        value.map_or(NULL, Into::into)
    }
}
