//! The command line: records one run of a scenario between two hosts of the kernel, or tells what it
//! would run.

use std::path::{Path, PathBuf};
use std::process::ExitCode;

use crate::plan::Plan;
use crate::recording;
use crate::settings::Settings;
use crate::system;
use tailroom_engine::units::Time;

const USAGE: &str = "\
Usage: tailroom-kernel-link plan SCENARIO [OPTIONS]
       tailroom-kernel-link run SCENARIO --out FILE [OPTIONS]

plan prints the flows as JSON; run sends them through the link, and writes the result as JSON.

  --out FILE            file of the result
  --seed N              seed of the scenario (default: 1)
  --control GROUP=NAME  the kernel's congestion control of a group of flows
  --processor N         run on this processor only (default: all)
  --sample-ms N         interval of the samples of connections, in milliseconds (default: 50)
  --queue-sample-ms N   interval of the samples of queues, in milliseconds (default: 10)
  --most-drops N        drops in a direction whose time is recorded (default: 200000)
  --give-up 0|1         end when stalls make the run useless (default: 0)
  --packets FILE        file of the packets of host A
  --stall-us N          a delivery that is later than this is a stall (default: 500)
";

/// The command line.
#[derive(Debug)]
struct Arguments {
    is_run: bool,
    scenario: PathBuf,
    out: PathBuf,
    packets: Option<PathBuf>,
    seed: u64,
    controls: Vec<(String, String)>,
    processor: Option<usize>,
    settings: Settings,
}

/// Does what the arguments of the process say.
pub fn main() -> ExitCode {
    let words: Vec<String> = std::env::args().skip(1).collect();
    let arguments = match parse(&words) {
        Ok(arguments) => arguments,
        Err(problem) => {
            eprintln!("{problem}\n\n{USAGE}");
            return ExitCode::from(2);
        }
    };
    match carry_out(&arguments) {
        Ok(()) => ExitCode::SUCCESS,
        Err(problem) => {
            eprintln!("{problem}");
            ExitCode::FAILURE
        }
    }
}

fn parse(words: &[String]) -> Result<Arguments, String> {
    let [command, scenario, options @ ..] = words else {
        return Err("a command and a scenario file are needed".to_owned());
    };
    let is_run = match command.as_str() {
        "run" => true,
        "plan" => false,
        other => return Err(format!("there is no command \"{other}\"")),
    };
    let mut arguments = Arguments {
        is_run,
        scenario: scenario.into(),
        out: PathBuf::new(),
        packets: None,
        seed: 1,
        controls: Vec::new(),
        processor: None,
        settings: Settings {
            stall_threshold: microseconds(500),
            sample_interval: Time::from_milliseconds(50),
            queue_sample_interval: Time::from_milliseconds(10),
            most_drops: 200_000,
            gives_up: false,
            logs_packets: false,
        },
    };
    for pair in options.chunks(2) {
        let [option, value] = pair else { return Err(format!("{} needs a value", pair[0])) };
        set(&mut arguments, option, value)?;
    }
    if is_run && arguments.out == Path::new("") {
        return Err("run needs --out".to_owned());
    }
    Ok(arguments)
}

fn set(arguments: &mut Arguments, option: &str, value: &str) -> Result<(), String> {
    let number = || {
        value.parse::<u64>().map_err(|_| format!("{option} needs a whole number, not \"{value}\""))
    };
    match option {
        "--out" => arguments.out = value.into(),
        "--packets" => {
            arguments.packets = Some(value.into());
            arguments.settings.logs_packets = true;
        }
        "--seed" => arguments.seed = number()?,
        "--processor" => arguments.processor = Some(number()? as usize),
        "--sample-ms" => {
            arguments.settings.sample_interval = Time::from_milliseconds(number()?.max(1));
        }
        "--queue-sample-ms" => {
            arguments.settings.queue_sample_interval = Time::from_milliseconds(number()?.max(1));
        }
        "--most-drops" => arguments.settings.most_drops = number()? as usize,
        "--give-up" => arguments.settings.gives_up = number()? == 1,
        "--stall-us" => arguments.settings.stall_threshold = microseconds(number()?),
        "--control" => {
            let pair = value.split_once('=').ok_or("--control needs GROUP=NAME")?;
            arguments.controls.push((pair.0.to_owned(), pair.1.to_owned()));
        }
        other => return Err(format!("there is no option {other}")),
    }
    Ok(())
}

fn microseconds(count: u64) -> Time {
    Time::from_picoseconds(count.saturating_mul(1_000_000))
}

fn carry_out(arguments: &Arguments) -> Result<(), String> {
    let plan = Plan::read(&arguments.scenario, &arguments.controls, arguments.seed)?;
    if !arguments.is_run {
        let flows = serde_json::to_string_pretty(&plan.flows).map_err(|error| error.to_string())?;
        println!("{flows}");
        return Ok(());
    }
    system::end_with_parent();
    system::note_interrupts();
    if let Some(processor) = arguments.processor {
        system::stay_on_processor(processor)
            .map_err(|error| format!("cannot run on processor {processor} alone: {error}"))?;
    }
    let recording = recording::record(&plan, arguments.settings)
        .map_err(|error| format!("the run failed: {error}"))?;
    let text = serde_json::to_string(&recording).map_err(|error| error.to_string())?;
    if let (Some(path), Some(log)) = (&arguments.packets, &recording.packet_log) {
        write(path, log.text())?;
    }
    write(&arguments.out, &(text + "\n"))
}

fn write(path: &Path, text: &str) -> Result<(), String> {
    std::fs::write(path, text).map_err(|error| format!("cannot write {}: {error}", path.display()))
}
