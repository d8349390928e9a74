//! A run in slices, between which a worker of the page reads its messages.

use serde_json::{Map, Value, json};
use tailroom_engine::network::Network;
use tailroom_engine::probe::delays::Delays;
use tailroom_engine::results::{SeriesJson, TimeSeries, series_json};
use tailroom_engine::simulation::Simulation;
use tailroom_engine::simulation::error::RunError;
use tailroom_engine::units::Time;
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
    pub(crate) simulation: Simulation,
    pub(crate) network: Network,
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
        Ok(self.advance_to(self.network.duration, milliseconds)?)
    }

    /// Simulated time so far.
    pub fn seconds(&self) -> f64 {
        if self.is_done { self.network.duration.seconds() } else { self.now().seconds() }
    }

    /// The time series so far, as JSON; nothing if the scenario has no `[series]`.
    pub fn series(&self) -> Option<String> {
        Some(self.series_value()?.to_string())
    }

    /// How long the packets of each link have waited so far, as JSON; see [`Run::finish`].
    pub fn delays(&self) -> String {
        let delays = (0..self.network.links.len()).map(|link| self.simulation.queue_delays(link));
        delays_value(&self.network, delays).to_string()
    }

    /// Runs to the end, and returns summary, series and `delays` as JSON. The delays of a link are
    /// their mean, and the quantiles of the fractions in `delays.fractions`; null without packets.
    ///
    /// # Errors
    /// The reason why the run cannot go on, as JSON.
    pub fn finish(self) -> Result<String, JsValue> {
        Ok(self.answer()?.to_string())
    }
}

impl Run {
    fn of(question: &Question<'_>) -> Result<Self, Failure> {
        Ok(Run::new_of(question.network()?)?)
    }

    /// A run that logs the packets at a link.
    pub(crate) fn watching(question: &Question<'_>, link: &str) -> Result<Self, Failure> {
        let mut network = question.network()?;
        for spec in &mut network.links {
            spec.packet_log = if spec.name == link { u64::MAX } else { 0 };
        }
        Ok(Run::new_of(network)?)
    }

    fn new_of(network: Network) -> Result<Self, RunError> {
        let simulation = Simulation::new(&network)?;
        Ok(Run { simulation, network, is_done: false })
    }

    /// Simulates towards `end` for about so many milliseconds, and returns the fraction of the way.
    pub(crate) fn advance_to(&mut self, end: Time, milliseconds: f64) -> Result<f64, Failure> {
        let began = clock_ms();
        while !self.is_done && clock_ms() - began < milliseconds {
            self.is_done = self.simulation.run_some(end, EVENTS_PER_LOOK)?;
        }
        Ok(if self.is_done { 1.0 } else { self.seconds() / end.seconds() })
    }

    pub(crate) fn now(&self) -> Time {
        self.simulation.now()
    }

    pub(crate) fn series_value(&self) -> Option<SeriesJson> {
        Some(series_json(&self.network, self.simulation.series_so_far()?))
    }

    fn answer(self) -> Result<Value, Failure> {
        let (results, delays) = self.simulation.finish_with_delays()?;
        let series = TimeSeries::of(&results.tables);
        let series = series.map(|series| series_json(&self.network, series));
        let delays = series.is_some().then(|| delays_value(&self.network, delays.iter()));
        Ok(json!({ "summary": results.summary, "series": series, "delays": delays }))
    }
}

/// Fractions of the packets: every percent, and the ends of the tail.
fn fractions() -> [f64; 102] {
    std::array::from_fn(|place| match place {
        100 => 0.999,
        101 => 1.0,
        percent => percent as f64 / 100.0,
    })
}

fn delays_value<'a>(network: &Network, delays: impl Iterator<Item = &'a Delays>) -> Value {
    let fractions = fractions();
    let of = |delays: &Delays| {
        let quantiles: Option<Vec<f64>> = delays.quantiles_s(fractions).into_iter().collect();
        json!({ "mean_s": delays.mean_s(), "quantiles_s": quantiles })
    };
    let names = network.links.iter().map(|link| link.name.clone());
    let links: Map<String, Value> = names.zip(delays.map(of)).collect();
    json!({ "fractions": fractions.to_vec(), "links": links })
}
