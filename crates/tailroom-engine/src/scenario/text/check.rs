//! Compares a scenario with the schema and reports every fault with its place.
//!
//! The schema is generated from the types that the document is read into. The range, unit and
//! documentation of a parameter are therefore written once, next to the parameter, and a new
//! component needs no change here.

use serde_json::Value as Json;
use toml::{Table, Value};

use super::error::{Fault, MOST_FAULTS, Path, few, nearest, suggestion, suggestion_of_kinds};
use crate::kind_or_name;
use crate::kind_or_name::alternatives::{alternatives, follow, kind_of};
use crate::parameters::{Range, short_number};
use crate::quantity;
use crate::quoting::quoted;
use crate::spelling;

/// Largest number of characters of a name: messages, tables and pictures repeat names whole.
const LONGEST_NAME: usize = 80;
/// Largest number of characters of a text, such as the title: programs in Python read a scenario
/// several times, and need a second for a text of a megabyte.
const LONGEST_TEXT: usize = 10_000;

/// Returns the faults of `table` according to the schema `root`, at most [`MOST_FAULTS`].
pub(in crate::scenario) fn check(root: &Json, table: &Table) -> Vec<Fault> {
    let mut checker = Checker { root, most: MOST_FAULTS, faults: Vec::new(), bare: Vec::new() };
    checker.table(root, table, &Path::default());
    checker.faults.truncate(MOST_FAULTS);
    checker.faults
}

/// Returns the place of every number that stands where `root` asks for a quantity, with the unit of
/// such a number.
pub(in crate::scenario) fn bare_numbers(root: &Json, table: &Table) -> Vec<(Path, &'static str)> {
    // Keys that groups inherit are missing in `table`, and must not end the search.
    let mut checker = Checker { root, most: usize::MAX, faults: Vec::new(), bare: Vec::new() };
    checker.table(root, table, &Path::default());
    checker.bare
}

struct Checker<'a> {
    root: &'a Json,
    /// Number of faults after which the check stops.
    most: usize,
    faults: Vec<Fault>,
    bare: Vec<(Path, &'static str)>,
}

impl<'a> Checker<'a> {
    fn note(&mut self, found: Result<(), Fault>) {
        self.faults.extend(found.err());
    }

    fn has_enough(&self) -> bool {
        self.faults.len() >= self.most
    }

    fn value(&mut self, schema: &'a Json, value: &Value, path: &Path) {
        if self.has_enough() {
            return;
        }
        let text = value.as_str().unwrap_or_default();
        if let Some(fault) = longer_than(LONGEST_TEXT, text, "text", path) {
            return self.faults.push(fault);
        }
        let target = follow(self.root, schema);
        if let Some(options) = alternatives(target) {
            return self.union(options, value, path);
        }
        if let Some(name) = target["x-quantity"].as_str() {
            if matches!(value, Value::Integer(_) | Value::Float(_)) {
                self.bare.push((path.clone(), quantity::bare_unit_of(name)));
            }
            return self.note(check_quantity(name, target, value, path));
        }
        match (target["type"].as_str(), value) {
            (Some("object"), Value::Table(table)) => self.table(target, table, path),
            (Some("array"), Value::Array(items)) => self.list(schema, items, path),
            (None, Value::Table(table)) => {
                for (key, item) in table {
                    self.value(schema, item, &path.key(key));
                }
            }
            (None, Value::Array(items)) => {
                for (index, item) in items.iter().enumerate() {
                    self.value(schema, item, &path.index(index));
                }
            }
            (Some("integer" | "number"), _) => self.note(check_number(schema, value, path)),
            (Some("string"), Value::String(text))
                if schema["minLength"] == 1 && text.is_empty() =>
            {
                self.faults.push(Fault::new(
                    path,
                    "is empty",
                    "write something, or leave the key out",
                ));
            }
            (Some("string"), Value::String(_))
            | (Some("boolean"), Value::Boolean(_))
            | (None, _) => {}
            (Some(expected), _) => {
                let list = || (expected == "array").then(|| "[\"a\", \"b\"]".to_owned());
                let expected = expectation(expected);
                let expected = match self.example(schema).or_else(list) {
                    Some(example) => format!("{expected}, as in {example}"),
                    None => expected,
                };
                self.faults.push(mismatch(value, &expected, path));
            }
        }
    }

    fn table(&mut self, schema: &'a Json, table: &Table, path: &Path) {
        let others = &schema["additionalProperties"];
        let property = |key: &str| schema["properties"].get(key);
        let known = || schema["properties"].as_object().into_iter().flatten();
        let names = || known().map(|(name, _)| name.as_str());
        let is_closed = *others == Json::Bool(false);
        let is_unknown = |key: &str| is_closed && property(key).is_none();
        let unknown = table.keys().filter(|key| is_unknown(key));
        let unknown: Vec<&String> = unknown.take(MOST_FAULTS).collect();
        for key in &unknown {
            let remedy = self.inside(schema, key).unwrap_or_else(|| suggestion(key, names()));
            self.faults.push(Fault::new(&path.key(key), "there is no such key here", remedy));
        }
        // A misspelled key is not reported as missing as well.
        let is_misspelled = |key: &str| {
            unknown.iter().any(|name| nearest(name, names()).is_none_or(|meant| meant == key))
        };
        let required = schema["required"].as_array().into_iter().flatten();
        for key in required.filter_map(Json::as_str) {
            if !table.contains_key(key) && !is_misspelled(key) {
                let remedy = match property(key).and_then(|schema| self.example(schema)) {
                    Some(example) => format!("add it, as in `{key} = {example}`"),
                    None => format!("add `{key}`"),
                };
                self.faults.push(Fault::new(&path.key(key), "is missing", remedy));
            }
        }
        for (key, value) in table.iter().filter(|(key, _)| !is_unknown(key)) {
            // A dotted key of `[sweep]` has names in it, and is no name.
            let name = if key.contains('.') { "" } else { key };
            if let Some(fault) = longer_than(LONGEST_NAME, name, "name", &path.key(key)) {
                self.faults.push(fault);
                continue;
            }
            self.value(property(key).unwrap_or(others), value, &path.key(key));
        }
    }

    /// The remedy for an unknown key that is a key of a table here: `policy.alpha` for `alpha`.
    fn inside(&self, schema: &'a Json, key: &str) -> Option<String> {
        let known = || schema["properties"].as_object().into_iter().flatten();
        let names: Vec<&str> = known().map(|(name, _)| name.as_str()).collect();
        if !spelling::known(key, &names).is_empty() {
            return None;
        }
        let has = |table: &'a Json| {
            let keys = table["properties"].as_object()?.keys().find(|one| *one == key)?;
            Some((keys, kind_of(table)))
        };
        known().find_map(|(name, inner)| {
            let (key, kind) = self.tables(inner).into_iter().find_map(has)?;
            let kind = kind.map_or_else(String::new, |kind| format!("kind = \"{kind}\", "));
            let as_in = format!("`{name} = {{ {kind}{key} = ... }}`");
            Some(format!("did you mean `{name}.{key}`, as in {as_in}?"))
        })
    }

    /// The tables that a value may be: the schema's own, or those of its alternatives.
    fn tables(&self, schema: &'a Json) -> Vec<&'a Json> {
        let target = follow(self.root, schema);
        alternatives(target).map_or_else(
            || vec![target],
            |options| options.iter().flat_map(|option| self.tables(option)).collect(),
        )
    }

    fn list(&mut self, schema: &'a Json, items: &[Value], path: &Path) {
        let count = items.len() as u64;
        let minimum = schema["minItems"].as_u64().unwrap_or(0);
        let maximum = schema["maxItems"].as_u64().unwrap_or(u64::MAX);
        if count < minimum || count > maximum {
            let range = match (minimum, maximum) {
                (minimum, maximum) if minimum == maximum => format!("{minimum}"),
                (minimum, u64::MAX) => format!("at least {minimum}"),
                (minimum, maximum) => format!("{minimum} to {maximum}"),
            };
            let problem = if count == 0 { "is empty".into() } else { format!("has {count} items") };
            self.faults.push(Fault::new(path, problem, format!("write {range}")));
            return;
        }
        for (index, item) in items.iter().enumerate() {
            self.value(&schema["items"], item, &path.index(index));
        }
    }

    fn union(&mut self, options: &'a [Json], value: &Value, path: &Path) {
        if options.iter().all(|option| option.get("const").is_some()) {
            return self.note(check_choice(options, value, path));
        }
        if options.iter().all(|option| kind_of(option).is_some()) {
            return self.tagged(options, value, path);
        }
        if let Some(kinds) = kind_or_name::kinds(self.root, options) {
            return match value {
                Value::String(name) => {
                    let found = self.check_name(kinds, name, path);
                    self.note(found);
                }
                _ => self.tagged(kinds, value, path),
            };
        }
        let root = self.root;
        let targets = || options.iter().map(|option| follow(root, option));
        let names = words(targets());
        let chosen = match value {
            // The `kind` of a table selects the alternative; without it, the alternative that
            // shares the most keys with the table is taken for the intended one.
            Value::Table(table) => {
                targets().filter(|target| is_of_type(target, "object")).max_by_key(|target| {
                    let has_kinds = alternatives(target).is_some();
                    let shared = table.keys().filter(|key| target["properties"].get(key).is_some());
                    (has_kinds == table.contains_key("kind"), shared.count())
                })
            }
            Value::Boolean(_) => targets().find(|target| is_of_type(target, "boolean")),
            Value::Array(_) if targets().any(|target| is_of_type(target, "array")) => {
                targets().find(|target| is_of_type(target, "array"))
            }
            Value::String(text) if names.contains(&text.as_str()) => return,
            // Where a quantity or one of a few words is allowed, the quantity was probably meant.
            Value::String(_) => {
                let is_text = |target: &&Json| is_of_type(target, "string");
                let is_quantity = |target: &&Json| target.get("x-quantity").is_some();
                targets().find(is_quantity).or_else(|| targets().find(is_text))
            }
            Value::Integer(_) | Value::Float(_) => targets()
                .find(|target| target.get("x-quantity").is_some() || is_of_type(target, "integer")),
            _ => targets().find(|target| target.get("x-quantity").is_some()),
        };
        let Some(chosen) = chosen else {
            let expected: Vec<String> = targets().map(alternative).collect();
            self.faults.push(mismatch(value, &expected.join(", or "), path));
            return;
        };
        let before = self.faults.len();
        self.value(chosen, value, path);
        if alternatives(chosen).is_none() && !value.is_table() && !names.is_empty() {
            for fault in &mut self.faults[before..] {
                fault.remedy =
                    format!("{}, or write {}", fault.remedy, in_quotes(&names).join(" or "));
            }
        }
    }

    fn tagged(&mut self, options: &'a [Json], value: &Value, path: &Path) {
        let kinds = || options.iter().filter_map(kind_of);
        let Value::Table(table) = value else {
            self.faults.push(mismatch(value, &tagged_expectation(options), path));
            return;
        };
        let Some(kind) = table.get("kind") else {
            let kinds: Vec<&str> = kinds().collect();
            let choices = few("", &kinds);
            let remedy = format!("add `kind = \"{}\"`, with one of the kinds {choices}", kinds[0]);
            self.faults.push(Fault::new(&path.key("kind"), "is missing", remedy));
            return;
        };
        let chosen = options.iter().find(|option| kind_of(option) == kind.as_str());
        match (chosen, kind) {
            (Some(chosen), _) => self.table(chosen, table, path),
            (None, Value::String(name)) => self.faults.push(Fault::new(
                &path.key("kind"),
                format!("\"{}\" is not a kind known here", quoted(name)),
                suggestion_of_kinds(name, &kinds().collect::<Vec<_>>(), code_at(path)),
            )),
            (None, other) => {
                self.faults.push(mismatch(other, &expectation("string"), &path.key("kind")));
            }
        }
    }

    /// Checks a kind that is given by its name alone: all its parameters must have defaults.
    fn check_name(&self, kinds: &'a [Json], name: &str, path: &Path) -> Result<(), Fault> {
        let Some(kind) = kinds.iter().find(|kind| kind_of(kind) == Some(name)) else {
            let problem = format!("\"{}\" is not a kind known here", quoted(name));
            let kinds: Vec<&str> = kinds.iter().filter_map(kind_of).collect();
            return Err(Fault::new(
                path,
                problem,
                suggestion_of_kinds(name, &kinds, code_at(path)),
            ));
        };
        let required: Vec<&str> = kind_or_name::required(kind).collect();
        if required.is_empty() {
            return Ok(());
        }
        let quoted: Vec<String> = required.iter().map(|key| format!("`{key}`")).collect();
        let have = if required.len() == 1 { "which has" } else { "which have" };
        let problem = format!("\"{name}\" needs {}, {have} no default", quoted.join(" and "));
        Err(Fault::new(path, problem, format!("write `{}`", self.written_out(kind, name, path))))
    }

    /// The table of a kind with an example for each required parameter.
    fn written_out(&self, kind: &'a Json, name: &str, path: &Path) -> String {
        let example =
            |key: &str| self.example(&kind["properties"][key]).unwrap_or_else(|| "...".to_owned());
        let pairs = kind_or_name::required(kind).map(|key| format!("{key} = {}", example(key)));
        let pairs: Vec<String> = pairs.collect();
        let key = path.last_key().unwrap_or_default();
        format!("{key} = {{ kind = \"{name}\", {} }}", pairs.join(", "))
    }

    /// The first example of a key, as a TOML value.
    fn example(&self, schema: &'a Json) -> Option<String> {
        let examples = schema.get("examples");
        let examples = examples.or_else(|| follow(self.root, schema).get("examples"));
        examples?.get(0).map(inline)
    }
}

/// The fault of a text or a name that is too long to be read and drawn in reasonable time.
fn longer_than(most: usize, text: &str, what: &str, path: &Path) -> Option<Fault> {
    let characters = if text.len() > most { text.chars().count() } else { 0 };
    let problem = || format!("the {what} has {characters} characters");
    (characters > most).then(|| Fault::new(path, problem(), format!("shorten it to {most}")))
}

/// The words that the alternatives of a union allow.
fn words<'a>(targets: impl Iterator<Item = &'a Json>) -> Vec<&'a str> {
    let choices = targets.filter_map(alternatives).flatten();
    choices.filter_map(|choice| choice["const"].as_str()).collect()
}

fn in_quotes(words: &[&str]) -> Vec<String> {
    words.iter().map(|word| format!("\"{word}\"")).collect()
}

/// Describes an alternative of a union.
fn alternative(target: &Json) -> String {
    if target.get("x-quantity").is_some() {
        return format!("a string with a unit, as in {}", inline(&target["examples"][0]));
    }
    if let Some(options) = alternatives(target) {
        if options.iter().all(|option| kind_of(option).is_some()) {
            return tagged_expectation(options);
        }
        let words: Vec<String> = options.iter().map(|word| inline(&word["const"])).collect();
        return words.join(" or ");
    }
    match target["type"].as_str() {
        Some("object") => {
            let keys = target["properties"].as_object().into_iter().flatten();
            let keys: Vec<&str> = keys.map(|(key, _)| key.as_str()).collect();
            format!("a table of {}", keys.join(" and "))
        }
        other => expectation(other.unwrap_or("value")),
    }
}

/// Whether a schema, or each of its alternatives, has this type.
fn is_of_type(schema: &Json, name: &str) -> bool {
    let is = |schema: &Json| schema["type"] == name;
    alternatives(schema).map_or_else(|| is(schema), |options| options.iter().all(is))
}

fn tagged_expectation(options: &[Json]) -> String {
    let kinds: Vec<&str> = options.iter().filter_map(kind_of).collect();
    let first = kinds.first().copied().unwrap_or_default();
    format!("{{ kind = \"{first}\" }}, with one of the kinds {}", few("", &kinds))
}

/// What a key may name that is code of the caller's, as in `"module:Class"`.
fn code_at(path: &Path) -> Option<&'static str> {
    match path.last_key() {
        Some("congestion") => Some("control"),
        Some("queue" | "nic_queue") => Some("discipline"),
        Some("source") => Some("source"),
        _ => None,
    }
}

fn check_quantity(name: &str, schema: &Json, value: &Value, path: &Path) -> Result<(), Fault> {
    let expected = || {
        let units = quantity::unit_names(&quantity::units_of(name));
        let example = inline(&schema["examples"][0]);
        format!("a string with one of the units {units}, as in {example}")
    };
    match value {
        Value::String(text) => {
            quantity::verify(name, text).map_err(|bad| Fault::new(path, bad.problem, bad.remedy))
        }
        Value::Integer(_) | Value::Float(_) => Err(Fault::new(
            path,
            format!("is the bare number {}, without a unit", quoted(value)),
            format!("write {}", expected()),
        )),
        other => Err(mismatch(other, &expected(), path)),
    }
}

fn check_choice(options: &[Json], value: &Value, path: &Path) -> Result<(), Fault> {
    let names: Vec<&str> = options.iter().filter_map(|option| option["const"].as_str()).collect();
    match value {
        Value::String(text) if names.contains(&text.as_str()) => Ok(()),
        Value::String(text) => {
            let problem = format!("\"{}\" is not one of the choices", quoted(text));
            Err(Fault::new(path, problem, suggestion(text, names.into_iter())))
        }
        other => Err(mismatch(other, &format!("one of {}", in_quotes(&names).join(", ")), path)),
    }
}

fn check_number(schema: &Json, value: &Value, path: &Path) -> Result<(), Fault> {
    let is_integer = schema["type"] == "integer";
    let number = match value {
        Value::Integer(number) => *number as f64,
        Value::Float(number) if !is_integer => *number,
        other => {
            let kind = if is_integer { "integer" } else { "number" };
            let expected = format!("{}{}", expectation(kind), meaning(schema));
            return Err(mismatch(other, &expected, path));
        }
    };
    let fits_type = schema["format"] != "uint32" || number <= f64::from(u32::MAX);
    let range = range(schema);
    if fits_type && range.holds(number) {
        return Ok(());
    }
    let problem = format!("{} is out of range", short_number(number, value));
    Err(Fault::new(path, problem, format!("write {range}")))
}

/// The range of a number.
fn range(schema: &Json) -> Range {
    let with = |range: Range, key: &str, bounded: fn(Range, f64) -> Range| {
        schema[key].as_f64().map_or(range, |bound| bounded(range, bound))
    };
    let range = with(Range::ANY, "minimum", Range::at_least);
    let range = with(range, "exclusiveMinimum", Range::more_than);
    let range = with(range, "maximum", Range::at_most);
    with(range, "exclusiveMaximum", Range::less_than)
}

/// What a number stands for: the first sentence of its description, behind a colon.
fn meaning(schema: &Json) -> String {
    let text = schema["description"].as_str().unwrap_or_default();
    let sentence = text.split(". ").next().unwrap_or_default().trim_end_matches('.');
    let mut characters = sentence.chars();
    match characters.next() {
        Some(first) => format!(": {}{}", first.to_lowercase(), characters.as_str()),
        None => String::new(),
    }
}

fn expectation(kind: &str) -> String {
    match kind {
        "object" => "a table".to_owned(),
        "array" => "a list".to_owned(),
        "integer" => "a whole number".to_owned(),
        "number" => "a number".to_owned(),
        "boolean" => "true or false".to_owned(),
        "string" => "a string in quotes".to_owned(),
        other => format!("a {other}"),
    }
}

fn mismatch(value: &Value, expected: &str, path: &Path) -> Fault {
    let found = match value {
        Value::String(text) => format!("the string \"{}\"", quoted(text)),
        Value::Integer(number) => format!("the number {number}"),
        Value::Float(number) => format!("the number {number}"),
        Value::Boolean(flag) => format!("{flag}"),
        Value::Datetime(date) => format!("the date {date}"),
        Value::Array(_) => "a list".to_owned(),
        Value::Table(_) => "a table".to_owned(),
    };
    Fault::new(path, format!("is {found}"), format!("write {expected}"))
}

/// Formats a value of the schema as inline TOML.
fn inline(value: &Json) -> String {
    match value {
        Json::Object(object) => {
            let pairs: Vec<String> =
                object.iter().map(|(key, value)| format!("{key} = {}", inline(value))).collect();
            format!("{{ {} }}", pairs.join(", "))
        }
        other => other.to_string(),
    }
}
