//! The files that a scenario names, as far as the page has them.

use std::cell::Cell;
use std::collections::BTreeMap;

use tailroom_engine::scenario::FileLoader;
use wasm_bindgen::prelude::*;

use crate::failure::Failure;

/// The texts of files by their path, as the scenario writes it. A worker of the page holds them for
/// all its questions.
#[wasm_bindgen]
#[derive(Debug)]
pub struct Files(BTreeMap<String, String>);

#[wasm_bindgen]
impl Files {
    /// `texts` is a JSON object of texts by path.
    ///
    /// # Errors
    /// The texts are not such an object; as JSON.
    #[wasm_bindgen(constructor)]
    pub fn new(texts: &str) -> Result<Files, JsValue> {
        let texts = serde_json::from_str(texts)
            .map_err(|error| Failure::Page(format!("the files of the scenario: {error}")))?;
        Ok(Files(texts))
    }
}

/// Hands files to a scenario that is being read, and knows whether it named any.
#[derive(Debug)]
pub(crate) struct Loading<'a> {
    files: &'a Files,
    pub(crate) is_used: Cell<bool>,
}

impl<'a> Loading<'a> {
    pub(crate) fn of(files: &'a Files) -> Self {
        Loading { files, is_used: Cell::new(false) }
    }
}

impl FileLoader for Loading<'_> {
    fn load(&self, path: &str, most_bytes: u64) -> Result<Option<String>, String> {
        self.is_used.set(true);
        let text = self.files.0.get(path).ok_or(
            "the page has no such file; `tailroom explore FILE` gives it the files that FILE names",
        )?;
        Ok((text.len() as u64 <= most_bytes).then(|| text.clone()))
    }
}
