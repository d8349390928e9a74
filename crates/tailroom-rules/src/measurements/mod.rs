//! Measurements of other tools: flent, iperf3, ss and Waveform's test, and the buffer that explains them.

mod buffer_estimate;
mod fields;
mod flent;
mod iperf3;
mod samples;
mod socket_statistics;
mod times;
mod waveform;

pub use buffer_estimate::{BufferEstimate, Condition, estimate_buffer};
pub use samples::{Direction, Measurement, Probe};

use serde_json::Value;
use serde_json::error::Category;

const SUPPORTED: &str =
    "data of flent, JSON of `iperf3 -J`, a log of `ss -tin`, or the CSV of Waveform's test";

/// Most values in a file of JSON: one of a digit takes 100 bytes once it is read.
const MOST_VALUES: usize = 2_000_000;

/// Reads the text of a measurement, whose tool its content tells.
///
/// # Errors
/// The text is damaged, or is of another tool: what is wrong, with the key or line.
pub fn read(text: &str) -> Result<Measurement, String> {
    if !text.trim_start().starts_with(['{', '[']) {
        if waveform::is_waveform(text) {
            return waveform::read(text);
        }
        if socket_statistics::is_log(text) {
            return socket_statistics::read(text);
        }
        return Err(format!("is no measurement that tailroom knows; give {SUPPORTED}"));
    }
    // A value follows a comma, or is the first of a list or table.
    if text.bytes().filter(|byte| b",[{".contains(byte)).count() > MOST_VALUES {
        return Err("has more than 2,000,000 values; measure for a shorter time, or with longer \
                    intervals"
            .to_owned());
    }
    let document: Value = serde_json::from_str(text).map_err(|error| problem(&error))?;
    let Some(document) = document.as_object() else {
        return Err(format!("is not a JSON object; give {SUPPORTED}"));
    };
    if flent::is_flent(document) {
        flent::read(document)
    } else if iperf3::is_iperf3(document) {
        iperf3::read(document)
    } else {
        Err(format!("has neither the keys of flent nor those of iperf3; give {SUPPORTED}"))
    }
}

/// What is wrong with a text that is not JSON.
fn problem(error: &serde_json::Error) -> String {
    let what = error.to_string();
    let what = what.split(" at line ").next().unwrap_or_default();
    if error.classify() == Category::Syntax && what.starts_with("recursion limit") {
        return "is nested too deeply; the file is damaged: measure again".to_owned();
    }
    let line = error.line();
    format!("line {line}: is not JSON ({what}); the file is damaged or truncated: copy it again")
}

/// A measurement as JSON: the fields of [`Measurement`].
///
/// # Errors
/// Those of [`read`].
pub fn read_json(text: &str) -> Result<String, String> {
    let measurement = read(text)?;
    serde_json::to_string(&measurement).map_err(|error| error.to_string())
}

/// The buffer that explains a measurement, both as JSON.
///
/// # Errors
/// The text is no measurement of [`read_json`].
pub fn estimate_buffer_json(measurement: &str, idle_rtt_s: Option<f64>) -> Result<String, String> {
    let measurement: Measurement =
        serde_json::from_str(measurement).map_err(|error| error.to_string())?;
    serde_json::to_string(&estimate_buffer(&measurement, idle_rtt_s))
        .map_err(|error| error.to_string())
}
