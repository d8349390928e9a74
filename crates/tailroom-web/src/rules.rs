//! What the page asks about a link without a run: rules of the literature, other tools' words, the
//! next runs of a search, and quantiles.

use serde_json::{Map, Value, json};
use tailroom_engine::link::LinkSpec;
use tailroom_engine::network::Network;
use tailroom_engine::quantity::limit::{LimitUnit, QueueLimit};
use tailroom_rules::bottleneck::Bottleneck;
use tailroom_rules::reading::Bottlenecks;
use tailroom_rules::rule::{NotApplicable, Requirement, Rule};
use tailroom_rules::statistics::distributions;
use tailroom_rules::{RULES, measurements, other_tools, scenario_text, size_search};
use wasm_bindgen::prelude::*;

use crate::failure::Failure;

/// The links of a network with their capacity and bandwidth-delay product, and the bytes of a step of
/// each unit of a limit.
pub(crate) fn links(network: &Network) -> Value {
    let read = Bottlenecks::of(network);
    let links: Vec<Value> = read
        .links
        .iter()
        .zip(&network.links)
        .map(|(link, spec)| {
            let mut table = json!(link);
            table["capacity_pps"] = link.capacity_pps().into();
            table["bdp_packets"] = link.bdp_packets().into();
            table["step_bytes"] = steps(link, spec);
            table
        })
        .collect();
    let mut answer = json!(read);
    answer["links"] = links.into();
    answer
}

fn steps(link: &Bottleneck, spec: &LinkSpec) -> Value {
    let bytes =
        |unit: LimitUnit| unit.bytes_per_step(link.rate_bps, spec.bdp_bytes, spec.packet_bytes);
    let steps = LimitUnit::ALL.into_iter();
    steps.map(|unit| (unit.name().to_owned(), json!(bytes(unit)))).collect::<Map<_, _>>().into()
}

/// The limit of a queue as a number of steps of the unit in which it is written, as JSON: `unit` and
/// `steps`; null if the text is no such limit.
#[wasm_bindgen]
pub fn read_limit(text: &str) -> String {
    let steps = QueueLimit::read(text).ok().and_then(QueueLimit::steps);
    json!(steps.map(|(unit, steps)| json!({ "unit": unit.name(), "steps": steps }))).to_string()
}

/// A limit of so many steps of a unit of [`read_limit`], as a scenario writes it.
///
/// # Errors
/// There is no such unit; as JSON.
#[wasm_bindgen]
pub fn limit_text(unit: &str, steps: f64) -> Result<String, JsValue> {
    let known = LimitUnit::ALL.into_iter().find(|known| known.name() == unit);
    let unit = known.ok_or_else(|| Failure::Page(format!("limits have no unit {unit}")))?;
    Ok(QueueLimit::of_steps(unit, steps as u64).to_string())
}

fn link(text: &str) -> Result<Bottleneck, JsValue> {
    let link = serde_json::from_str(text);
    Ok(link.map_err(|error| Failure::Page(format!("the link: {error}")))?)
}

/// What each rule says about a link, as JSON. `link` is one of the links that
/// [`model_input`](crate::model_input) returns, perhaps with another limit.
///
/// # Errors
/// The link is not such a link; as JSON.
#[wasm_bindgen]
pub fn advice(link: &str, utilization: f64, loss_fraction: f64) -> Result<String, JsValue> {
    let link = self::link(link)?;
    let target = Requirement { utilization, loss_fraction };
    let advice: Vec<Value> = RULES.iter().map(|rule| of_rule(rule, &link, target)).collect();
    Ok(json!(advice).to_string())
}

fn of_rule(rule: &Rule, link: &Bottleneck, target: Requirement) -> Value {
    let said = (rule.predict)(link, target)
        .and_then(|prediction| Ok((prediction, (rule.assumptions)(link)?)));
    let (applies, packets, words, assumptions) = match said {
        Ok((said, assumptions)) => {
            (true, Some(said.required_packets), said.required_for, assumptions)
        }
        Err(NotApplicable(why)) => (false, None, why, Vec::new()),
    };
    json!({
        "name": rule.name,
        "short": rule.short,
        "title": rule.title,
        "source": rule.source,
        "applies": applies,
        "packets": packets,
        "words": words,
        "assumptions": assumptions,
    })
}

/// The configuration of a link's port in other tools, with a limit of so many steps of a unit of
/// [`read_limit`], as JSON.
///
/// # Errors
/// The link is not such a link, or there is no such unit; as JSON.
#[wasm_bindgen]
pub fn equivalents(link: &str, unit: &str, steps: f64) -> Result<String, JsValue> {
    let bytes = bytes_of(link, unit, steps)?;
    let link = self::link(link)?;
    let link = if unit == LimitUnit::Packets.name() {
        link.with_limit(steps as u64)
    } else {
        link.with_limit_bytes(bytes as u64)
    };
    Ok(json!(other_tools::equivalents(&link)).to_string())
}

/// The whole bytes of a limit, by the steps of [`links`].
fn bytes_of(link: &str, unit: &str, steps: f64) -> Result<f64, Failure> {
    let link: Value =
        serde_json::from_str(link).map_err(|error| Failure::Page(format!("the link: {error}")))?;
    let step = link["step_bytes"][unit].as_f64();
    let step = step.ok_or_else(|| Failure::Page(format!("limits have no unit {unit}")))?;
    Ok((steps * step * (1.0 + 1e-12)).floor())
}

/// The next runs of a search for the smallest sufficient buffer, or its answer: JSON in and out.
///
/// # Errors
/// The text is no question; as JSON.
#[wasm_bindgen]
pub fn size_search_step(question: &str) -> Result<String, JsValue> {
    Ok(size_search::next_step_json(question).map_err(Failure::Page)?)
}

/// A measurement of flent, iperf3 or ss, as JSON.
///
/// # Errors
/// The text is damaged, or is of another tool: what is wrong, with the key or line.
#[wasm_bindgen]
pub fn read_measurement(text: &str) -> Result<String, JsValue> {
    Ok(measurements::read_json(text)?)
}

/// The buffer that explains a measurement: JSON in and out.
///
/// # Errors
/// The text is no measurement of [`read_measurement`].
#[wasm_bindgen]
pub fn estimate_buffer(measurement: &str, idle_rtt_s: Option<f64>) -> Result<String, JsValue> {
    Ok(measurements::estimate_buffer_json(measurement, idle_rtt_s)?)
}

/// The value below which Student's t lies with a probability in [0.5, 1).
#[wasm_bindgen]
pub fn student_quantile(degrees_of_freedom: f64, probability: f64) -> f64 {
    distributions::student_quantile(degrees_of_freedom, probability)
}

/// A scenario's text with another value of a key; `path` is a list of keys.
///
/// # Errors
/// The text is not TOML; as a sentence with the line.
#[wasm_bindgen]
#[expect(clippy::needless_pass_by_value, reason = "wasm-bindgen hands lists over")]
pub fn set_key(text: &str, path: Vec<String>, value: &str) -> Result<String, JsValue> {
    scenario_text::set_key(text, &path, value).map_err(|why| JsValue::from_str(&why))
}

/// A scenario's text without a key, or without a table.
///
/// # Errors
/// The text is not TOML; as a sentence with the line.
#[wasm_bindgen]
#[expect(clippy::needless_pass_by_value, reason = "wasm-bindgen hands lists over")]
pub fn remove_key(text: &str, path: Vec<String>) -> Result<String, JsValue> {
    scenario_text::remove_key(text, &path).map_err(|why| JsValue::from_str(&why))
}
