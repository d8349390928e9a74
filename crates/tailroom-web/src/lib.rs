//! The binding of the engine for web pages: scenario text in, JSON out.
//!
//! Nothing is computed here. A worker of the page makes a [`Run`], advances it in slices of a few
//! milliseconds, and shows what it has recorded so far. The memory of a WebAssembly module ends at
//! 4 GiB, and files and controls in Python are out of its reach: what names them is refused.

mod failure;
mod question;
mod run;

use serde_json::{Value, json};
use tailroom_engine::model_input::ModelInput;
use tailroom_engine::scenario;
use wasm_bindgen::prelude::*;

use failure::Failure;
use question::Question;
pub use run::Run;

/// Version of the engine, and a hash of the sources that it was built from.
#[wasm_bindgen]
pub fn build() -> String {
    concat!(env!("CARGO_PKG_VERSION"), "+", env!("TAILROOM_BUILD")).to_owned()
}

/// Every congestion control, queue discipline and source with its parameters, as JSON.
#[wasm_bindgen]
pub fn components() -> String {
    scenario::components().to_string()
}

/// Checks a scenario: returns JSON with the scenario, every default filled in, and its hash.
///
/// # Errors
/// The problems of the scenario, as JSON.
#[wasm_bindgen]
pub fn resolve(text: &str, set: &str, seed: Option<u64>) -> Result<String, JsValue> {
    answer(text, set, seed, |question| Ok(question.identity()?.into()))
}

/// The input of the analytic models for a scenario, as JSON.
///
/// # Errors
/// The problems of the scenario, as JSON.
#[wasm_bindgen]
pub fn model_input(text: &str, set: &str, seed: Option<u64>) -> Result<String, JsValue> {
    answer(text, set, seed, |question| {
        let network = question.read()?.resolve()?;
        Ok(json!(ModelInput::of(&network)))
    })
}

fn answer(
    text: &str,
    set: &str,
    seed: Option<u64>,
    of: impl FnOnce(&Question) -> Result<Value, Failure>,
) -> Result<String, JsValue> {
    let value = Question::new(text, set, seed).and_then(|question| of(&question))?;
    Ok(value.to_string())
}
