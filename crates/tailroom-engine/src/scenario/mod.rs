//! From the text of a scenario to a [`Network`]: units, defaults, names and ranges end here.
//!
//! The text passes three folders. `text/`: `document` (TOML, lines, overrides), `check` (the keys
//! and values that the schema allows), `error`. `format/`: `file` and `flows`, the
//! typed form, whose doc comments are the user's documentation; `hosts`, the profiles of hosts; the
//! schema, and the list of components. `resolve/`: `defaults` (keys that groups share), `files`,
//! `controls`, `disciplines`, `own_sources` and `mahimahi` (what the scenario names and the caller
//! supplies, see `code`), and the network itself with `memory`, which says whether the run fits.
//!
//! The typed form holds what a scenario writes differently from the network. The keys of a
//! component (a queue, a control, a source, a transport, random loss, admission control) are
//! declared on the component's own type. [`crate::quantity`] reads values with units, and
//! `crate::kind_or_name` reads `queue = "codel"`.
//!
//! A new congestion control, queue discipline, packet source or flow source needs nothing here:
//! schema, check and list follow the registries.
//!
//! ```
//! use tailroom_engine::Simulation;
//! use tailroom_engine::scenario::{NoFiles, parse};
//!
//! let text = r#"
//!     duration = "5 s"
//!     [links.access]
//!     rate = "20 Mbit/s"
//!     delay = "10 ms"
//!     queue = { kind = "drop_tail", limit = "50 packets" }
//!     [flows.downloads]
//!     count = 2
//!     path = ["access"]
//!     congestion = "cubic"
//!     rtt = "40 ms"
//! "#;
//! let set = [("links.access.queue.limit".to_owned(), "\"20 packets\"".to_owned())];
//! let network = parse(text, &set, Some(7), &NoFiles)?.resolve()?;
//! let summary = Simulation::new(&network)?.finish()?.summary;
//! assert_eq!(summary.links.get("access").expect("its name").limit_packets, 20.0);
//!
//! let error = parse(&text.replace("delay", "dealy"), &[], None, &NoFiles).expect_err("a misprint");
//! assert!(error.to_string().contains("did you mean"), "{error}");
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod code;
mod format;
mod resolve;
mod text;
mod variates;

use std::collections::BTreeMap;
use std::sync::Arc;

use serde::{Deserialize, Serialize};

use crate::congestion::CongestionConfig;
use crate::distribution::config::FileTexts;
use crate::network::Network;
use crate::quantity::Size;
use crate::quoting::quoted;
pub use code::{FindCode, OwnCode};
use format::components;
use format::file::ScenarioFile;
use format::flows::ControlConfig;
use format::{published_schema, schema};
use resolve::files::{BoundedFiles, load_files};
use resolve::inputs::{Inputs, MemoryLimit};
use resolve::mahimahi::Trace;
use resolve::{controls, defaults, disciplines, fabrics, names, own_sources, pools};
use text::check;
use text::document::Document;
use text::error::{Fault, Path};
pub use text::error::{MOST_SHOWN, Place, Problem, ScenarioError};
pub use variates::Variate;

/// The JSON Schema of a scenario, as JSON.
pub fn schema() -> String {
    published_schema::published().to_string()
}

/// Every kind of congestion control, queue discipline, source, slow start and random loss, and
/// every profile of a host, as JSON.
///
/// The result is `{"congestion": [{"kind", "doc", "parameters": [..]}], "queue": [..], ..}`; a
/// parameter has `name`, `doc`, `type`, and, where they apply, `default`, `minimum`, `maximum` and
/// `choices`. A host has no parameters; `sets` is a list of its settings with `name`, `value`,
/// `applies_to` and `doc` (the source).
pub fn components() -> String {
    components::components().to_string()
}

/// Reads the files that a scenario names, since the engine itself does no input or output.
pub trait FileLoader {
    /// The text of the file at `path`, which is relative to the scenario file; `None` if it has more
    /// than `most_bytes`. A loader reads no more than that: files come from anywhere, and a pipe
    /// has no end.
    ///
    /// # Errors
    /// The reason why the file cannot be read, as the end of a sentence.
    fn load(&self, path: &str, most_bytes: u64) -> Result<Option<String>, String>;
}

/// A loader for scenarios that name no files: it refuses each.
#[derive(Clone, Copy, Debug, Default)]
pub struct NoFiles;

impl FileLoader for NoFiles {
    fn load(&self, _path: &str, _most_bytes: u64) -> Result<Option<String>, String> {
        Err("the program that reads the scenario gives it no files".to_owned())
    }
}

/// A scenario in which every key is known and every value is in range.
#[derive(Clone, Debug)]
pub struct Scenario {
    document: Document,
    file: ScenarioFile,
    /// Rate traces by the name of their link.
    traces: Arc<BTreeMap<String, Trace>>,
    /// The files of distributions and sources, by their path.
    files: Arc<FileTexts>,
    bare_numbers: Vec<(String, &'static str)>,
}

/// Reads a scenario.
///
/// `overrides` are pairs of a dotted key and a value, applied in order; a value is TOML if it
/// parses as a TOML value, otherwise a string. `seed` overrides the seed.
///
/// # Errors
/// A fault of the syntax; otherwise every wrong override, key and value; otherwise every wrong file
/// that the scenario names.
pub fn parse(
    text: &str,
    overrides: &[(String, String)],
    seed: Option<u64>,
    files: &dyn FileLoader,
) -> Result<Scenario, ScenarioError> {
    parse_from_program(text, overrides, &[], seed, files)
}

/// Reads a scenario that a program wrote, or some values of which it wrote.
///
/// Below the dotted keys of `bare`, where an empty key stands for the whole scenario, a number
/// without a unit is in seconds, bit/s or bytes, and in packets if it is an amount of a queue.
/// People who read a scenario file do not know that, so its numbers have units.
///
/// # Errors
/// Those of [`parse`].
pub fn parse_from_program(
    text: &str,
    overrides: &[(String, String)],
    bare: &[String],
    seed: Option<u64>,
    files: &dyn FileLoader,
) -> Result<Scenario, ScenarioError> {
    let mut document = Document::parse(text)?;
    let refused = overrides.iter().filter_map(|(key, value)| document.set(key, value).err());
    let mut problems: Vec<Problem> = refused.collect();
    problems.extend(seed.and_then(|seed| document.set_seed(seed).err()));
    let bare_numbers = document.add_units(schema::schema(), bare);
    disciplines::write_out(&mut document.table);
    pools::write_out(&mut document.table);
    let inherited = defaults::write_out(&mut document.table);
    document.inherit(inherited);
    let mut faults = check::check(schema::schema(), &document.table);
    faults.retain(|fault| !document.is_inherited(fault));
    if !(faults.is_empty() && problems.is_empty()) {
        faults.extend(names::check(&document.table, &faults));
        problems.extend(faults.into_iter().map(|fault| document.place(fault)));
        return Err(ScenarioError::of(problems));
    }
    // `check` has found every fault that `serde` can find; this error means that the schema allows
    // too much.
    let mut file = ScenarioFile::deserialize(document.table.clone()).map_err(|error| {
        let problem = error.message().to_owned();
        document.place(Fault::new(&Path::default(), problem, "correct the value"))
    })?;
    controls::write_out(&mut file);
    let files = BoundedFiles::new(files, file.memory_limit);
    let (traces, mut faults) = load_traces(&file, &files);
    let (files, wrong) = load_files(&document.table, &files);
    faults.extend(wrong);
    if !faults.is_empty() {
        return Err(document.locate(faults));
    }
    Ok(Scenario { document, file, traces: traces.into(), files: files.into(), bare_numbers })
}

/// The rate traces of the links, and the faults of those that cannot be read.
fn load_traces(
    file: &ScenarioFile,
    files: &BoundedFiles<'_>,
) -> (BTreeMap<String, Trace>, Vec<Fault>) {
    let mut traces = BTreeMap::new();
    let mut faults = Vec::new();
    for (name, link) in &file.links {
        let Some(path) = &link.trace else { continue };
        match load_trace(path, &Path::of(&["links", name, "trace"]), files) {
            Ok(trace) => drop(traces.insert(name.clone(), trace)),
            Err(fault) => faults.push(fault),
        }
    }
    (traces, faults)
}

fn load_trace(path: &str, key: &Path, files: &BoundedFiles<'_>) -> Result<Trace, Fault> {
    let text = files.load(path, key)?;
    Trace::read(&text).map_err(|reason| {
        let remedy = "write one timestamp in milliseconds a line, in order, as Mahimahi does";
        Fault::new(key, format!("\"{}\" {reason}", quoted(path)), remedy)
    })
}

impl Scenario {
    /// The title of the scenario; may be empty.
    pub fn title(&self) -> &str {
        &self.file.title
    }

    /// The seed of all random streams.
    pub fn seed(&self) -> u64 {
        self.file.seed
    }

    /// The same scenario with another seed.
    ///
    /// # Errors
    /// The seed is larger than an integer of TOML.
    pub fn with_seed(&self, seed: u64) -> Result<Self, ScenarioError> {
        let mut other = self.clone();
        other.document.set_seed(seed)?;
        other.file.seed = seed;
        Ok(other)
    }

    /// The names of the groups under congestion control; the name of the only group, whose control
    /// may be missing.
    pub fn controlled_groups(&self) -> Vec<&str> {
        let groups = &self.file.flows;
        let named = groups.iter().filter(|(_, group)| group.tcp.congestion.is_some());
        let is_alone = groups.len() == 1;
        let named = named.filter(|_| !is_alone).chain(groups.iter().filter(|_| is_alone));
        named.map(|(name, _)| name.as_str()).collect()
    }

    /// The names of the controls that are not in the registry, one per group that has one.
    pub fn custom_controls(&self) -> Vec<&str> {
        let controls = self.file.flows.values().map(|group| &group.tcp.congestion);
        let custom = controls.filter_map(|control| match control {
            Some(ControlConfig::Table(CongestionConfig::Custom(params))) => Some(params),
            _ => None,
        });
        custom.map(|params| params.control.as_str()).collect()
    }

    /// The names of the queue disciplines that are not in the registry, one per place that names one.
    pub fn custom_disciplines(&self) -> Vec<&str> {
        disciplines::custom(&self.file).map(|(_, params)| params.discipline.as_str()).collect()
    }

    /// The names of the sources that are not in the registry, one per group that has one.
    pub fn custom_sources(&self) -> Vec<&str> {
        own_sources::custom(&self.file).map(|(_, name)| name).collect()
    }

    /// The paths of the files that the scenario names, as it writes them.
    pub fn files(&self) -> Vec<&str> {
        let traces = self.file.links.values().filter_map(|link| link.trace.as_deref());
        traces.chain(self.files.keys().map(String::as_str)).collect()
    }

    /// What the text and the overrides give for a dotted key, as a value of TOML; keys that groups
    /// inherit included.
    pub fn written(&self, key: &str) -> Option<String> {
        self.document.get(key).map(ToString::to_string)
    }

    /// The dotted keys of the numbers that a program gave without a unit, with their units.
    pub fn bare_numbers(&self) -> &[(String, &'static str)] {
        &self.bare_numbers
    }

    /// The same scenario with the code of the caller's that `code` finds.
    ///
    /// # Errors
    /// Everything that is not found, and every other fault of the scenario.
    pub fn with_code(mut self, code: &dyn FindCode) -> Result<Self, ScenarioError> {
        let mut faults = controls::find(&mut self.file, code);
        faults.extend(disciplines::find(&mut self.file, code));
        faults.extend(own_sources::find(&mut self.file, code));
        if faults.is_empty() {
            return Ok(self);
        }
        faults.extend(self.network(u64::MAX).err().into_iter().flatten());
        Err(self.document.locate(faults))
    }

    /// The network to simulate.
    ///
    /// # Errors
    /// Every contradiction, such as a path that names no link or an RTT below the propagation delay
    /// of its path; otherwise the first fault of the network as a whole, such as a limit below one
    /// packet or more memory than allowed.
    pub fn resolve(&self) -> Result<Network, ScenarioError> {
        self.resolve_within(u64::MAX)
    }

    /// The network to simulate where there are no more than `most_bytes` of memory, whatever the scenario allows.
    ///
    /// # Errors
    /// As of [`Scenario::resolve`].
    pub fn resolve_within(&self, most_bytes: u64) -> Result<Network, ScenarioError> {
        let mut lost = controls::check_found(&self.file);
        lost.extend(disciplines::check_found(&self.file));
        lost.extend(own_sources::check_found(&self.file));
        let faults = match self.network(most_bytes) {
            Ok(network) if lost.is_empty() => return Ok(network),
            Ok(_) => lost,
            Err(faults) => lost.into_iter().chain(faults).collect(),
        };
        Err(self.document.locate(faults))
    }

    fn network(&self, most_bytes: u64) -> Result<Network, Vec<Fault>> {
        let Scenario { file, document, traces, files, .. } = self;
        let (file, fabrics) = fabrics::expand(file)?;
        let asked = file.memory_limit;
        let is_asked_for = asked.bytes() <= most_bytes;
        let size = if is_asked_for { asked } else { Size::new(most_bytes) };
        let memory = MemoryLimit { size, is_asked_for };
        let inputs = Inputs { file: &file, fabrics: &fabrics, document, traces, files, memory };
        resolve::resolve(inputs)
            .map_err(|faults| faults.into_iter().map(|fault| fabrics.at_origin(fault)).collect())
    }

    /// The scenario as TOML with overrides applied and every default filled in; reading it again
    /// gives the same network.
    pub fn to_toml(&self) -> String {
        let mut file = self.file.clone();
        resolve::fill_in_round_trips(&mut file);
        // The buffer's own writing is linear in the number of tables; `toml::to_string_pretty` is not.
        let mut buffer = toml::ser::Buffer::new();
        // Cannot fail: strings, finite numbers and tables are TOML.
        let written = file.serialize(toml::Serializer::pretty(&mut buffer));
        written.map(|buffer| buffer.to_string()).unwrap_or_default()
    }
}
