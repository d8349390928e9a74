//! The parsed scenario text with the line of every key and with the overrides applied.

use std::collections::{HashMap, HashSet};

use serde_json::Value as Json;
use toml::de::{DeTable, DeValue};
use toml::{Spanned, Value};

use super::check::bare_numbers;
use super::error::{Fault, Path, Place, Problem, ScenarioError, Step, suggestion};
use crate::kind_or_name;
use crate::quoting::quoted;

/// Longest scenario text; far longer than any scenario written by hand.
const MAX_BYTES: usize = 4 << 20;
/// Most steps of a dotted key; far more than any key of a scenario has.
const MAX_STEPS: usize = 32;

/// The keys that groups inherit, as (group, key).
#[derive(Clone, Debug, Default)]
pub(in crate::scenario) struct Inherited {
    /// Keys that `[defaults]` gives.
    pub(in crate::scenario) defaults: HashSet<(String, String)>,
    /// Keys that the profile of a host gives.
    pub(in crate::scenario) host: HashSet<(String, String)>,
}

/// A parsed scenario text with its overrides.
#[derive(Clone, Debug)]
pub(in crate::scenario) struct Document {
    /// The text with the overrides applied.
    pub(in crate::scenario) table: toml::Table,
    /// Line of each key and list item of the text, by dotted path.
    lines: HashMap<String, usize>,
    overridden: Vec<Path>,
    has_seed_option: bool,
    inherited: Inherited,
}

/// Keys whose value may be the name of a kind instead of a table.
const KINDS: [&str; 7] =
    ["queue", "nic_queue", "source", "slow_start", "loss", "congestion", "policy"];

/// Tables whose entries have names.
const NAMED: [&str; 6] = ["links", "pools", "ingress_pools", "switches", "fabrics", "flows"];

impl Document {
    /// Parses the text.
    pub(in crate::scenario) fn parse(text: &str) -> Result<Self, ScenarioError> {
        if text.len() > MAX_BYTES {
            return Err(ScenarioError::from(Problem {
                place: Place::Text,
                key: String::new(),
                used_by: None,
                problem: format!("the scenario has {} bytes, more than {MAX_BYTES}", text.len()),
                remedy: "check that this is a scenario file".into(),
            }));
        }
        let syntax = |error: &toml::de::Error| Problem {
            place: Place::Line(
                error.span().map_or(1, |span| LineIndex::new(text).line(span.start)),
            ),
            key: String::new(),
            used_by: None,
            problem: format!("not valid TOML: {}", error.message().replace('\n', " ")),
            remedy: "see https://toml.io for the format".into(),
        };
        let spans = DeTable::parse(text).map_err(|error| syntax(&error))?;
        let table = toml::from_str(text).map_err(|error| syntax(&error))?;
        let mut index = LineIndex::new(text);
        index.add_table(&Path::default(), spans.get_ref());
        Ok(Document {
            table,
            lines: index.lines,
            overridden: Vec::new(),
            has_seed_option: false,
            inherited: Inherited::default(),
        })
    }

    /// Sets a dotted key; the value is TOML if it parses as a TOML value, otherwise a string.
    pub(in crate::scenario) fn set(&mut self, key: &str, text: &str) -> Result<(), Problem> {
        let refuse = |problem: String, remedy: String| Problem {
            place: Place::Option("--set"),
            key: quoted(key),
            used_by: None,
            problem,
            remedy,
        };
        let steps = split_key(key).ok_or_else(|| {
            let remedy = "write it as in links.bottleneck.queue.limit";
            refuse("is not a dotted key".into(), remedy.into())
        })?;
        if steps.len() > MAX_STEPS {
            let problem = format!("has {} steps, more than {MAX_STEPS}", steps.len());
            return Err(refuse(problem, "write it as in links.bottleneck.queue.limit".into()));
        }
        let (last, parents) = steps.split_last().unwrap_or((&key, &[]));
        // Setting a key does not create a link, a pool, a switch, a fabric or a group of flows.
        if let [kind, name, rest @ ..] = &steps[..]
            && NAMED.contains(kind)
            && !rest.is_empty()
        {
            let given = self.table.get(*kind);
            let table = given.and_then(Value::as_table);
            let is_there = table.is_some_and(|table| table.contains_key(*name));
            if !is_there && given.is_none_or(Value::is_table) {
                let names = table.into_iter().flat_map(toml::Table::keys).map(String::as_str);
                let remedy = self.elsewhere(name, rest);
                let remedy = remedy.unwrap_or_else(|| suggestion(name, names));
                return Err(refuse(format!("there is no `{kind}.{}`", quoted(name)), remedy));
            }
        }
        let mut table = &mut self.table;
        for (depth, parent) in parents.iter().enumerate() {
            let entry = table.entry(*parent).or_insert_with(|| toml::Table::new().into());
            // `queue = "codel"` has parameters too; until now all of them have their defaults.
            if let Some(name) = entry.as_str().filter(|_| KINDS.contains(parent)) {
                *entry = kind_or_name::table_of(parent, name).into();
            }
            table = entry.as_table_mut().ok_or_else(|| {
                let whole = quoted(parents[..=depth].join("."));
                refuse(format!("`{whole}` is not a table"), format!("set `{whole}` as a whole"))
            })?;
        }
        table.insert((*last).to_owned(), override_value(text));
        self.overridden.push(Path::of(&steps));
        Ok(())
    }

    /// The remedy for the key of a table that does not exist, if a table of another kind has its name:
    /// `switches.tor.pool.size` for `pools.tor.size`.
    fn elsewhere(&self, name: &str, rest: &[&str]) -> Option<String> {
        let (kind, owner) = NAMED.into_iter().find_map(|kind| {
            let owner = self.table.get(kind)?.get(name)?.as_table()?;
            Some((kind, owner))
        })?;
        let rest = quoted(rest.join("."));
        let holds = |value: &Value| value.as_table().is_some_and(|table| table.contains_key(&rest));
        let inner = owner.iter().find(|(_, value)| holds(value));
        let inner = inner.map_or_else(String::new, |(key, _)| format!("{key}."));
        Some(format!("did you mean `{kind}.{name}.{inner}{rest}`?"))
    }

    /// Adds to the numbers below `keys` the units that `root` gives such numbers; returns the places
    /// and the units.
    pub(in crate::scenario) fn add_units(
        &mut self,
        root: &Json,
        keys: &[String],
    ) -> Vec<(String, &'static str)> {
        if keys.is_empty() {
            return Vec::new();
        }
        let keys = keys.iter().map(|key| Path::of(&split_key(key).unwrap_or_default()));
        let keys: Vec<Path> = keys.collect();
        let mut found = bare_numbers(root, &self.table);
        found.retain(|(path, _)| keys.iter().any(|key| path.starts_with(key)));
        for (path, unit) in &found {
            if let Some(value) = value_at(&mut self.table, path) {
                *value = format!("{value} {unit}").into();
            }
        }
        found.into_iter().map(|(path, unit)| (path.to_string(), unit)).collect()
    }

    /// Sets the seed.
    pub(in crate::scenario) fn set_seed(&mut self, seed: u64) -> Result<(), Problem> {
        let value = i64::try_from(seed).map_err(|_| Problem {
            place: Place::Option("--seed"),
            key: String::new(),
            used_by: None,
            problem: format!("{seed} is too large"),
            remedy: format!("use at most {}", i64::MAX),
        })?;
        self.table.insert("seed".into(), value.into());
        self.has_seed_option = true;
        Ok(())
    }

    /// Whether the text or an override gives the key.
    pub(in crate::scenario) fn contains(&self, keys: &[&str]) -> bool {
        let mut tables = Some(&self.table);
        keys.iter().all(|key| {
            let value = tables.and_then(|table| table.get(*key));
            tables = value.and_then(Value::as_table);
            value.is_some()
        })
    }

    /// What the text or an override gives for a dotted key.
    pub(in crate::scenario) fn get(&self, key: &str) -> Option<&Value> {
        let (first, rest) =
            key.split_once('.').map_or((key, None), |(key, rest)| (key, Some(rest)));
        let value = self.table.get(first)?;
        rest.into_iter()
            .flat_map(|rest| rest.split('.'))
            .try_fold(value, |value, key| value.get(key))
    }

    /// Notes which keys of groups were copied there from `[defaults]` and from hosts.
    pub(in crate::scenario) fn inherit(&mut self, inherited: Inherited) {
        self.inherited = inherited;
    }

    /// Whether a fault concerns a key that its group inherits and that is checked at its origin as
    /// well.
    pub(in crate::scenario) fn is_inherited(&self, fault: &Fault) -> bool {
        let Inherited { defaults, host } = &self.inherited;
        group_key(&fault.path).is_some_and(|key| defaults.contains(&key) || host.contains(&key))
    }

    /// Adds the places to faults.
    pub(in crate::scenario) fn locate(&self, faults: Vec<Fault>) -> ScenarioError {
        ScenarioError::of(faults.into_iter().map(|fault| self.place(fault)).collect())
    }

    /// Adds the place to a fault: the place in `[defaults]` if the group inherits the key from
    /// there.
    pub(in crate::scenario) fn place(&self, fault: Fault) -> Problem {
        let inherited = group_key(&fault.path).filter(|key| self.inherited.defaults.contains(key));
        let (path, used_by) = match inherited {
            Some((group, _)) => {
                let below = fault.path.0[2..].iter().cloned();
                let path = std::iter::once(Step::Key("defaults".into())).chain(below).collect();
                (Path(path), Some(format!("flows.{}", quoted(group))))
            }
            None => (fault.path, None),
        };
        let is_written = self.lines.contains_key(&path.to_string());
        // A fault of a table that an override created belongs to that override.
        let is_override =
            |set: &Path| path.starts_with(set) || (!is_written && set.starts_with(&path));
        let place = if self.overridden.iter().any(is_override) {
            Place::Option("--set")
        } else if self.has_seed_option && is_override(&Path::of(&["seed"])) {
            Place::Option("--seed")
        } else {
            self.line(&path)
        };
        let key = path.shown();
        Problem { place, key, used_by, problem: fault.problem, remedy: fault.remedy }
    }

    /// The line of the key; of the innermost table that contains it if the text does not give the
    /// key.
    fn line(&self, path: &Path) -> Place {
        let ancestors = (1..=path.0.len()).rev().map(|depth| Path(path.0[..depth].to_vec()));
        let mut keys = ancestors.map(|ancestor| ancestor.to_string());
        let line = keys.find_map(|key| self.lines.get(&key));
        line.map_or(Place::Text, |line| Place::Line(*line))
    }
}

/// The value at a path.
fn value_at<'a>(table: &'a mut toml::Table, path: &Path) -> Option<&'a mut Value> {
    let (first, rest) = path.0.split_first()?;
    let Step::Key(key) = first else { return None };
    rest.iter().try_fold(table.get_mut(key)?, |value, step| match step {
        Step::Key(key) => value.get_mut(key),
        Step::Index(index) => value.get_mut(*index),
    })
}

/// The group and the key of that group on a path, if the path leads into a group.
fn group_key(path: &Path) -> Option<(String, String)> {
    match path.0.as_slice() {
        [Step::Key(flows), Step::Key(group), Step::Key(key), ..] if flows == "flows" => {
            Some((group.clone(), key.clone()))
        }
        _ => None,
    }
}

/// Collects the line of each key.
struct LineIndex {
    /// Offset of the end of each line.
    ends: Vec<usize>,
    lines: HashMap<String, usize>,
}

impl LineIndex {
    fn new(text: &str) -> Self {
        let ends = text.match_indices('\n').map(|(offset, _)| offset).collect();
        LineIndex { ends, lines: HashMap::new() }
    }

    fn add_table(&mut self, path: &Path, table: &DeTable<'_>) {
        for (key, value) in table {
            let path = path.key(key.get_ref());
            self.add(&path, key.span().start);
            self.add_value(&path, value);
        }
    }

    fn add_value(&mut self, path: &Path, value: &Spanned<DeValue<'_>>) {
        match value.get_ref() {
            DeValue::Table(table) => self.add_table(path, table),
            DeValue::Array(items) => {
                for (index, item) in items.iter().enumerate() {
                    let path = path.index(index);
                    self.add(&path, item.span().start);
                    self.add_value(&path, item);
                }
            }
            _ => {}
        }
    }

    fn add(&mut self, path: &Path, offset: usize) {
        let line = self.line(offset);
        self.lines.insert(path.to_string(), line);
    }

    fn line(&self, offset: usize) -> usize {
        self.ends.partition_point(|end| *end < offset) + 1
    }
}

/// Splits a dotted key that consists of bare words.
fn split_key(key: &str) -> Option<Vec<&str>> {
    let is_bare = |step: &&str| {
        let is_word = |letter: char| letter.is_ascii_alphanumeric() || "_-".contains(letter);
        !step.is_empty() && step.chars().all(is_word)
    };
    let steps: Vec<&str> = key.split('.').map(str::trim).collect();
    steps.iter().all(is_bare).then_some(steps)
}

fn override_value(text: &str) -> Value {
    let parsed = toml::from_str::<toml::Table>(&format!("value = {text}"));
    let only = parsed.ok().filter(|table| table.len() == 1);
    only.and_then(|mut table| table.remove("value")).unwrap_or_else(|| text.into())
}
