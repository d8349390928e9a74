//! What the page asks: a scenario text, values that replace some of its values, and a seed.

use std::fmt::Write;

use indexmap::IndexMap;
use serde_json::{Map, Value};
use sha2::{Digest, Sha256};
use tailroom_engine::scenario::{self, FileLoader, Scenario, ScenarioError};

use crate::failure::Failure;

/// A scenario that the page asks about.
#[derive(Debug)]
pub(crate) struct Question {
    text: String,
    set: Vec<(String, String)>,
    seed: Option<u64>,
}

impl Question {
    /// `set` is a JSON object of TOML values by dotted key, in the order in which they apply.
    pub(crate) fn new(text: &str, set: &str, seed: Option<u64>) -> Result<Self, Failure> {
        let set: IndexMap<String, String> = serde_json::from_str(set)
            .map_err(|error| Failure::Page(format!("the values to replace: {error}")))?;
        Ok(Question { text: text.to_owned(), set: set.into_iter().collect(), seed })
    }

    pub(crate) fn read(&self) -> Result<Scenario, ScenarioError> {
        self.read_at(self.seed)
    }

    fn read_at(&self, seed: Option<u64>) -> Result<Scenario, ScenarioError> {
        scenario::parse(&self.text, &self.set, seed, &NoFiles)
    }

    /// The scenario with every default filled in, and its hash: the SHA-256 of the same at seed 0,
    /// as `tailroom run` computes it.
    pub(crate) fn identity(&self) -> Result<Map<String, Value>, Failure> {
        let scenario = self.read()?;
        scenario.resolve()?;
        let hash = sha256(&self.read_at(Some(0))?.to_toml());
        let entries = [("scenario", scenario.to_toml()), ("hash", hash)];
        Ok(entries.into_iter().map(|(key, text)| (key.to_owned(), text.into())).collect())
    }
}

/// What reads the files that a scenario names, in a page: nothing.
struct NoFiles;

impl FileLoader for NoFiles {
    fn load(&self, _path: &str, _most_bytes: u64) -> Result<Option<String>, String> {
        Err("a page reads no files; `tailroom explore FILE` does".to_owned())
    }
}

fn sha256(text: &str) -> String {
    Sha256::digest(text.as_bytes()).iter().fold(String::new(), |mut digits, byte| {
        // Writing to a string cannot fail.
        let _ = write!(digits, "{byte:02x}");
        digits
    })
}
