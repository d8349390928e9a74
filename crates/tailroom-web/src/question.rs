//! What the page asks: a scenario text, values that replace some of its values, and a seed.

use std::fmt::Write;

use indexmap::IndexMap;
use serde_json::{Map, Value};
use sha2::{Digest, Sha256};
use tailroom_engine::network::Network;
use tailroom_engine::scenario::{self, Scenario, ScenarioError};

use crate::controls::NoCode;
use crate::failure::Failure;
use crate::files::{Files, Loading};

/// The bytes that a run may take: half of what a WebAssembly module can have, since the answer needs memory, too.
const MOST_MEMORY: u64 = 2_000_000_000;

/// A scenario that the page asks about.
#[derive(Debug)]
pub(crate) struct Question<'a> {
    text: String,
    set: Vec<(String, String)>,
    seed: Option<u64>,
    files: Loading<'a>,
}

impl<'a> Question<'a> {
    /// `set` is a JSON object of TOML values by dotted key, in the order in which they apply.
    pub(crate) fn new(
        text: &str,
        set: &str,
        seed: Option<u64>,
        files: &'a Files,
    ) -> Result<Self, Failure> {
        let set: IndexMap<String, String> = serde_json::from_str(set)
            .map_err(|error| Failure::Page(format!("the values to replace: {error}")))?;
        let set = set.into_iter().collect();
        Ok(Question { text: text.to_owned(), set, seed, files: Loading::of(files) })
    }

    pub(crate) fn read(&self) -> Result<Scenario, ScenarioError> {
        self.read_at(self.seed)
    }

    fn read_at(&self, seed: Option<u64>) -> Result<Scenario, ScenarioError> {
        scenario::parse(&self.text, &self.set, seed, &self.files)?.with_code(&NoCode)
    }

    /// The network to simulate, in the memory that a page has.
    pub(crate) fn network(&self) -> Result<Network, ScenarioError> {
        self.read()?.resolve_within(MOST_MEMORY)
    }

    /// The scenario with every default filled in, and its hash: the SHA-256 of the same at seed 0,
    /// as `tailroom run` computes it; null for a scenario that names files, whose hash depends on
    /// the layout that the Python package gives the text.
    pub(crate) fn identity(&self) -> Result<Map<String, Value>, Failure> {
        let scenario = self.read()?;
        scenario.resolve_within(MOST_MEMORY)?;
        let hash = if self.files.is_used.get() {
            Value::Null
        } else {
            sha256(&self.read_at(Some(0))?.to_toml()).into()
        };
        let entries = [("scenario", scenario.to_toml().into()), ("hash", hash)];
        Ok(entries.into_iter().map(|(key, value)| (key.to_owned(), value)).collect())
    }
}

fn sha256(text: &str) -> String {
    Sha256::digest(text.as_bytes()).iter().fold(String::new(), |mut digits, byte| {
        // Writing to a string cannot fail.
        let _ = write!(digits, "{byte:02x}");
        digits
    })
}
