//! Reads a recording from the standard input, replays it, and prints the comparison as JSON: of
//! callbacks, or with the argument `chain` of a sender's chain.

use std::io::Read;
use std::process::ExitCode;

use tailroom_kernel_replay::chain::recording::Recording;
use tailroom_kernel_replay::chain::replay::Retransmits;
use tailroom_kernel_replay::chain::{comparison, replay};
use tailroom_kernel_replay::trace::Trace;
use tailroom_kernel_replay::{continuous, counted, rate_based};

fn main() -> ExitCode {
    let compared = match std::env::args().nth(1).as_deref() {
        None => read().and_then(|text| compare_callbacks(&text)),
        Some("chain") => read().and_then(|text| compare_chain(&text)),
        Some(other) => Err(format!("the argument is \"chain\" or none, not \"{other}\"")),
    };
    match compared {
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

fn read() -> Result<String, String> {
    let mut text = String::new();
    std::io::stdin()
        .read_to_string(&mut text)
        .map_err(|error| format!("the recording cannot be read: {error}"))?;
    Ok(text)
}

fn compare_chain(text: &str) -> Result<serde_json::Value, String> {
    let recording: Recording = text.parse()?;
    let freely = replay::replay(&recording, Retransmits::Freely)?;
    // Under a window law retransmissions answer ACKs. Under a rate-based control the pacer times them.
    let replayed = if recording.description.is_rate_based {
        replay::replay(&recording, Retransmits::AsRecorded)?
    } else {
        freely.clone()
    };
    Ok(serde_json::json!(comparison::compare(&recording, &replayed, &freely)))
}

fn compare_callbacks(text: &str) -> Result<serde_json::Value, String> {
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
