//! From the text of a scenario to a [`Network`]: units, defaults, names and ranges end here.
//!
//! The text's journey, a file for each station: `document` (TOML, lines, overrides), `check` (the
//! schema says what is allowed where), `file` and `flows` (the typed form, whose doc comments are
//! the user's documentation; [`crate::quantity`] reads its values), `resolve` (names
//! to indices, groups to flows; with `buffer`, `distribution`, `finite_flows`, `flow_list`,
//! `spread`, `transport` and `web`), `memory` (whether the run fits). `components` lists what can be plugged in,
//! `controls` finds congestion controls of the caller's own, and `mahimahi` reads rate traces.
//!
//! A new congestion control needs nothing here: schema, check and list follow the registry. A new
//! queue discipline or source is a variant in `file` or `flows` and an arm where it is resolved.

mod buffer;
mod check;
mod components;
mod controls;
mod distribution;
mod document;
mod error;
mod file;
mod finite_flows;
mod flow_list;
mod flows;
mod mahimahi;
mod memory;
mod phases;
mod resolve;
mod schema;
mod spread;
mod transport;
mod web;

use std::collections::BTreeMap;

use serde::Deserialize;

pub use components::components;
pub use error::{Place, ScenarioError};
pub use schema::schema;

use distribution::{CdfTexts, load_cdfs};
use document::Document;
use error::{Fault, Path};
use file::ScenarioFile;
use mahimahi::Trace;

use crate::congestion::custom::FindControl;
use crate::topology::Network;

/// Reads the files that a scenario names; the engine itself does no input or output.
pub trait FileLoader {
    /// The text of the file at `path`, which is relative to the scenario file.
    ///
    /// # Errors
    /// Why it cannot be read, as the end of a sentence.
    fn load(&self, path: &str) -> Result<String, String>;
}

/// A scenario whose every key is known and every value in range.
#[derive(Clone, Debug)]
pub struct Scenario {
    document: Document,
    file: ScenarioFile,
    /// Rate traces by the name of their link.
    traces: BTreeMap<String, Trace>,
    cdfs: CdfTexts,
}

/// Reads a scenario.
///
/// `overrides` are pairs of a dotted key and a value, applied in order; a value is TOML if it
/// parses as a TOML value, otherwise a string. `seed` overrides the seed.
///
/// # Errors
/// The first thing that is wrong with the text, an override, or a file that it names.
pub fn parse(
    text: &str,
    overrides: &[(String, String)],
    seed: Option<u64>,
    files: &dyn FileLoader,
) -> Result<Scenario, ScenarioError> {
    let mut document = Document::parse(text)?;
    for (key, value) in overrides {
        document.set(key, value)?;
    }
    if let Some(seed) = seed {
        document.set_seed(seed)?;
    }
    let checked = check::check(&schema(), &document.table);
    checked.map_err(|fault| document.locate(fault))?;
    // The check covers all that reading refuses; this error is for a schema that says too little.
    let mut file = ScenarioFile::deserialize(document.table.clone()).map_err(|error| {
        let problem = error.message().to_owned();
        document.locate(Fault::new(&Path::default(), problem, "correct the value"))
    })?;
    controls::write_out(&mut file);
    let traces = load_traces(&file, files).map_err(|fault| document.locate(fault))?;
    let cdfs = load_cdfs(&document.table, files).map_err(|fault| document.locate(fault))?;
    Ok(Scenario { document, file, traces, cdfs })
}

fn load_traces(
    file: &ScenarioFile,
    files: &dyn FileLoader,
) -> Result<BTreeMap<String, Trace>, Fault> {
    let mut traces = BTreeMap::new();
    for (name, link) in &file.links {
        let Some(path) = &link.trace else { continue };
        let key = Path::of(&["links", name, "trace"]);
        let text = files.load(path).map_err(|reason| {
            let problem = format!("cannot read \"{path}\": {reason}");
            Fault::new(&key, problem, "give a readable file, relative to the scenario file")
        })?;
        let trace = Trace::read(&text).map_err(|reason| {
            let remedy = "write one timestamp in milliseconds a line, in order, as Mahimahi does";
            Fault::new(&key, format!("\"{path}\" {reason}"), remedy)
        })?;
        traces.insert(name.clone(), trace);
    }
    Ok(traces)
}

impl Scenario {
    /// What the scenario shows, in one line; may be empty.
    pub fn title(&self) -> &str {
        &self.file.title
    }

    /// The same scenario with its custom congestion controls, as `controls` finds them.
    ///
    /// # Errors
    /// The first control that is not found.
    pub fn with_controls(mut self, controls: &dyn FindControl) -> Result<Self, ScenarioError> {
        let found = controls::find(&mut self.file, controls);
        found.map_err(|fault| self.document.locate(fault))?;
        Ok(self)
    }

    /// The network to simulate.
    ///
    /// # Errors
    /// The first contradiction: a path that names no link, an RTT below the path's propagation, a
    /// limit below one packet, more memory than allowed, and so on.
    pub fn resolve(&self) -> Result<Network, ScenarioError> {
        let Scenario { file, document, traces, cdfs } = self;
        controls::check_found(file)
            .and_then(|()| resolve::resolve(resolve::Inputs { file, document, traces, cdfs }))
            .map_err(|fault| self.document.locate(fault))
    }

    /// The scenario as TOML with overrides applied and every default filled in; reading it again
    /// gives the same network.
    pub fn to_toml(&self) -> String {
        let mut file = self.file.clone();
        resolve::fill_in_round_trips(&mut file);
        // Strings, finite numbers and tables: all of it is TOML.
        toml::to_string_pretty(&file).unwrap_or_default()
    }
}
