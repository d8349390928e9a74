//! The binding of the engine for web pages: scenario text in, JSON out.
//!
//! Nothing is computed here. A worker of the page makes a [`Run`], advances it in slices of a few
//! milliseconds, and shows what it has recorded so far. The memory of a WebAssembly module ends at
//! 4 GiB. It reads the files that the page hands over ([`Files`]); controls in Python are refused.

mod controls;
mod failure;
mod files;
mod packets;
mod question;
mod rules;
mod run;

use serde_json::Value;
use tailroom_engine::scenario;
use wasm_bindgen::prelude::*;

use failure::Failure;
pub use files::Files;
pub use packets::Packets;
use question::Question;
pub use rules::{
    advice, equivalents, estimate_buffer, limit_text, read_limit, read_measurement, remove_key,
    set_key, size_search_step, student_quantile,
};
pub use run::Run;

/// Version of the engine, and a hash of the sources that it was built from.
#[wasm_bindgen]
pub fn build() -> String {
    concat!(env!("CARGO_PKG_VERSION"), "+", env!("TAILROOM_BUILD")).to_owned()
}

/// Every congestion control, queue discipline and source with its parameters, as JSON.
#[wasm_bindgen]
pub fn components() -> String {
    scenario::components()
}

/// Checks a scenario: returns JSON with the scenario, every default filled in, and its hash.
///
/// # Errors
/// The problems of the scenario, as JSON.
#[wasm_bindgen]
pub fn resolve(text: &str, set: &str, seed: Option<u64>, files: &Files) -> Result<String, JsValue> {
    answer(text, set, seed, files, |question| Ok(question.identity()?.into()))
}

/// The links of a scenario and their traffic, as the rules read them, as JSON.
///
/// # Errors
/// The problems of the scenario, as JSON.
#[wasm_bindgen]
pub fn model_input(
    text: &str,
    set: &str,
    seed: Option<u64>,
    files: &Files,
) -> Result<String, JsValue> {
    answer(text, set, seed, files, |question| {
        let network = question.network()?;
        Ok(rules::links(&network))
    })
}

fn answer(
    text: &str,
    set: &str,
    seed: Option<u64>,
    files: &Files,
    of: impl FnOnce(&Question<'_>) -> Result<Value, Failure>,
) -> Result<String, JsValue> {
    let value = Question::new(text, set, seed, files).and_then(|question| of(&question))?;
    Ok(value.to_string())
}
