//! Reads a recording from the standard input, replays it, and prints the comparison as JSON.

use std::io::Read;
use std::process::ExitCode;

use tailroom_kernel_replay::trace::Trace;
use tailroom_kernel_replay::{continuous, counted, rate_based};

fn main() -> ExitCode {
    match compare() {
        Ok(report) => {
            println!("{report}");
            ExitCode::SUCCESS
        }
        Err(problem) => {
            eprintln!("{problem}");
            ExitCode::FAILURE
        }
    }
}

fn compare() -> Result<serde_json::Value, String> {
    let mut text = String::new();
    std::io::stdin()
        .read_to_string(&mut text)
        .map_err(|error| format!("the recording cannot be read: {error}"))?;
    let trace: Trace = text.parse()?;
    if trace.description.tailroom.is_rate_based() {
        let found = rate_based::replay(&trace)?;
        return Ok(serde_json::json!({
            "control": trace.description.control,
            "counted": found.windows,
            "continuous": found.rates,
        }));
    }
    Ok(serde_json::json!({
        "control": trace.description.control,
        "counted": counted::replay(&trace)?,
        "continuous": continuous::replay(&trace)?,
    }))
}
