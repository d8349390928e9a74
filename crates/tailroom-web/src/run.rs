//! A run in slices, between which a worker of the page reads its messages.

use serde_json::{Map, Value, json};
use tailroom_engine::network::Network;
use tailroom_engine::results::series_json;
use tailroom_engine::simulation::Simulation;
use tailroom_engine::simulation::error::RunError;
use wasm_bindgen::prelude::*;

use crate::failure::Failure;
use crate::files::Files;
use crate::question::Question;

/// A run checks the clock after this many events, which take less than a millisecond.
const EVENTS_PER_LOOK: u64 = 1 << 12;

#[wasm_bindgen]
extern "C" {
    /// The browser's clock, in milliseconds. It says when a slice ends and reaches no result.
    #[wasm_bindgen(js_namespace = performance, js_name = now)]
    fn clock_ms() -> f64;
}

/// A run in progress.
#[wasm_bindgen]
#[derive(Debug)]
pub struct Run {
    simulation: Simulation,
    network: Network,
    identity: Map<String, Value>,
    is_done: bool,
}

#[wasm_bindgen]
impl Run {
    /// A run at time 0.
    ///
    /// # Errors
    /// The problems of the scenario, as JSON.
    #[wasm_bindgen(constructor)]
    pub fn new(text: &str, set: &str, seed: Option<u64>, files: &Files) -> Result<Run, JsValue> {
        Ok(Run::of(&Question::new(text, set, seed, files)?)?)
    }

    /// Simulates for about so many milliseconds, and returns the fraction of the run that is done.
    ///
    /// # Errors
    /// The reason why the run cannot go on, as JSON.
    pub fn advance(&mut self, milliseconds: f64) -> Result<f64, JsValue> {
        let began = clock_ms();
        let end = self.network.duration;
        while !self.is_done && clock_ms() - began < milliseconds {
            self.is_done = self.simulation.run_some(end, EVENTS_PER_LOOK).map_err(Failure::from)?;
        }
        Ok(if self.is_done { 1.0 } else { self.seconds() / end.seconds() })
    }

    /// Simulated time so far.
    pub fn seconds(&self) -> f64 {
        let now = if self.is_done { self.network.duration } else { self.simulation.now() };
        now.seconds()
    }

    /// The time series so far, as JSON; nothing if the scenario has no `[series]`.
    pub fn series(&self) -> Option<String> {
        let (links, flows) = self.simulation.series_so_far()?;
        Some(series_json(&self.network, links, flows).to_string())
    }

    /// Runs to the end, and returns summary, series, scenario and hash as JSON.
    ///
    /// # Errors
    /// The reason why the run cannot go on, as JSON.
    pub fn finish(self) -> Result<String, JsValue> {
        Ok(self.answer()?.to_string())
    }
}

impl Run {
    fn of(question: &Question<'_>) -> Result<Self, Failure> {
        let identity = question.identity()?;
        let network = question.read()?.resolve()?;
        let simulation = Simulation::new(&network).map_err(RunError::from)?;
        Ok(Run { simulation, network, identity, is_done: false })
    }

    fn answer(self) -> Result<Value, Failure> {
        let results = self.simulation.finish()?;
        let mut answer = self.identity;
        answer.insert("summary".to_owned(), json!(results.summary));
        let series = results.tables.link_series.zip(results.tables.flow_series);
        let series = series.map(|(links, flows)| series_json(&self.network, links, flows));
        answer.insert("series".to_owned(), json!(series));
        Ok(answer.into())
    }
}
