//! Nanoseconds per packet-hop, that is one packet through one shared link, with all features on
//! (SACK, RTO, statistics), in steady state.
//!
//! `cargo bench` prints smallest, median and largest CPU time of five runs for each case;
//! `cargo bench --bench packet_hop -- two_hops` selects cases by a part of their names, `--exact`
//! by the whole name, and `--runs 1` runs each once. Timing begins after the slow starts.

mod dumbbell;
mod reading;
mod stopwatch;
mod timing;

use dumbbell::{NO_JITTER, dumbbell};

/// A scenario, the simulated second at which timing begins, and the acceptable time in ns.
struct Case {
    name: String,
    text: String,
    warm_up_s: f64,
    acceptable_ns: f64,
}

/// What the command line asks for.
struct Options {
    names: Vec<String>,
    is_exact: bool,
    runs: usize,
}

impl Options {
    /// Reads the arguments; `--bench`, which Cargo passes, and other options of its own are ignored.
    fn read() -> Self {
        let mut options = Self { names: vec![], is_exact: false, runs: timing::RUNS };
        let mut arguments = std::env::args().skip(1);
        while let Some(argument) = arguments.next() {
            match argument.as_str() {
                "--exact" => options.is_exact = true,
                "--runs" => {
                    let runs = arguments.next().and_then(|number| number.parse().ok());
                    options.runs = runs.filter(|&number| number > 0).expect("--runs NUMBER");
                }
                option if option.starts_with("--") => {}
                _ => options.names.push(argument),
            }
        }
        options
    }

    fn includes(&self, case: &str) -> bool {
        let matches =
            |name: &String| if self.is_exact { case == name } else { case.contains(name) };
        self.names.is_empty() || self.names.iter().any(matches)
    }
}

fn main() {
    let options = Options::read();
    println!(
        "{:<60} {:>8} {:>8} {:>8} {:>11} {:>11}",
        "case", "min", "median", "max", "acceptable", "real time"
    );
    for case in cases().iter().filter(|case| options.includes(&case.name)) {
        measure(case, options.runs);
    }
}

fn measure(case: &Case, runs: usize) {
    let figures = timing::measure(&case.text, case.warm_up_s, runs);
    println!(
        "{:<60} {:>5.1} ns {:>5.1} ns {:>5.1} ns {:>8.0} ns {:>9.1} x",
        case.name, figures.min, figures.median, figures.max, case.acceptable_ns, figures.real_time
    );
}

/// Returns all cases, each of them with the random delay that senders have by default, and without.
fn cases() -> Vec<Case> {
    let queues = QUEUES.iter().flat_map(|queue| queue_cases(queue));
    let plain = end_to_end_cases().into_iter().chain(queues).chain(control_cases());
    let both = plain.chain(flow_cases()).flat_map(|case| [with_default_jitter(&case), case]);
    today_cases().into_iter().chain(both).collect()
}

/// Returns hosts of today as people simulate them, with the delays that senders have by default: ten flows
/// that lose or are marked, at 1 Gbit/s, and in a data centre at 10 Gbit/s.
fn today_cases() -> Vec<Case> {
    let case = |name: &str, control: &str, queue: &str| Case {
        name: format!("today: {name}"),
        text: dumbbell("1 Gbit/s", 10, control, "1500 B", "36 ms", "44 ms", "2500 packets", 30)
            .replace(NO_JITTER, "")
            .replace("host = \"plain\"", "host = \"linux\"")
            .replace("kind = \"drop_tail\"", queue),
        warm_up_s: 10.0,
        acceptable_ns: 50.0,
    };
    let tail = "kind = \"drop_tail\"";
    let dctcp = dumbbell("10 Gbit/s", 10, "dctcp", "1500 B", "100 us", "120 us", "1000 packets", 2)
        .replace(NO_JITTER, "")
        .replace("delay = \"10 ms\"", "delay = \"20 us\"")
        .replace("host = \"plain\"", "host = \"data_center\"")
        .replace("packet_size", "ecn = \"accurate\"\npacket_size")
        .replace(tail, "kind = \"step_mark\", threshold = \"65 packets\"");
    let mut prague = case("10 Prague flows, DualPI2", "prague", "kind = \"dual_pi2\"");
    prague.text = prague.text.replace("packet_size", "ecn = \"l4s\"\npacket_size");
    vec![
        case("10 CUBIC flows of Linux", "cubic", tail),
        case("10 Reno flows of Linux", "reno", tail),
        case("10 BBR flows of Linux", "bbr1", tail),
        case("10 BBRv3 flows of Linux", "bbr3", tail),
        prague,
        Case {
            name: "today: 10 DCTCP flows of a data centre".into(),
            text: dctcp,
            warm_up_s: 0.6,
            acceptable_ns: 50.0,
        },
    ]
}

/// Returns the case with the random delay that senders have by default.
fn with_default_jitter(case: &Case) -> Case {
    Case {
        name: format!("{}, default jitter", case.name),
        text: case.text.replace(NO_JITTER, ""),
        ..*case
    }
}

/// Every discipline, with the buffer of the case; the acceptable time is that of a hop with a
/// scheduler.
const QUEUES: &[&str] = &[
    r#"kind = "drop_tail""#,
    r#"kind = "random_drop""#,
    r#"kind = "drop_head""#,
    r#"kind = "red""#,
    r#"kind = "adaptive_red""#,
    r#"kind = "step_mark", threshold = "1 ms""#,
    r#"kind = "codel""#,
    r#"kind = "pie""#,
    r#"kind = "fq_codel""#,
    r#"kind = "fq_pie""#,
    r#"kind = "cake""#,
    r#"kind = "dual_pi2""#,
    r#"kind = "fair", scheduler = "start_time""#,
    r#"kind = "fair", scheduler = "deficit_round_robin""#,
    r#"kind = "fair", scheduler = "priority_fair""#,
];

/// Returns the cases of a discipline, with 10 and with 10,000 flows.
fn queue_cases(queue: &str) -> [Case; 2] {
    let name = |flows: &str| format!("{}, {flows}", queue.replace("kind = ", "").replace('"', ""));
    let put = |text: String| text.replace(r#"kind = "drop_tail""#, queue);
    [
        Case {
            name: name("10 flows"),
            text: put(dumbbell(
                "1 Gbit/s",
                10,
                "reno",
                "1000 B",
                "36 ms",
                "44 ms",
                "2500 packets",
                30,
            )),
            warm_up_s: 10.0,
            acceptable_ns: 30.0,
        },
        Case {
            name: name("10,000 flows"),
            text: put(dumbbell(
                "100 Gbit/s",
                10_000,
                "reno",
                "1500 B",
                "40 ms",
                "60 ms",
                "5 ms",
                2,
            )),
            warm_up_s: 1.0,
            acceptable_ns: 30.0,
        },
    ]
}

/// Returns the first case with a control that paces each packet, and with Reno to compare it with.
fn control_cases() -> Vec<Case> {
    let case = |control: &str, acceptable_ns| Case {
        name: format!("{control} control, 10 flows"),
        text: dumbbell(
            "1 Gbit/s",
            10,
            control,
            "1000 B",
            "115.5 ms",
            "124.5 ms",
            "1249 packets",
            50,
        ),
        warm_up_s: 20.0,
        acceptable_ns,
    };
    vec![case("reno", 30.0), case("bbr1", 60.0), case("bbr3", 60.0)]
}

/// Returns dynamic flows of a hundred packets, and as many permanent flows as are in progress.
fn flow_cases() -> [Case; 2] {
    let case = |name: &str, flows: &str| Case {
        name: name.into(),
        text: format!(
            r#"
duration = "30 s"
memory_limit = "16 GB"
[defaults]
host = "plain"
[links.bottleneck]
rate = "10 Gbit/s"
delay = "10 ms"
queue = {{ kind = "drop_tail", limit = "20 ms" }}
[flows.tcp]
path = ["bottleneck"]
congestion = {{ kind = "reno" }}
rtt = "40 ms"
{flows}
{NO_JITTER}"#
        ),
        warm_up_s: 2.0,
        acceptable_ns: 30.0,
    };
    let size = r#"source = { kind = "finite_flows", size = "146 kB", load = 0.9 }"#;
    [
        case("finite flows of 100 packets, 10 Gbit/s", size),
        case("1500 permanent flows, 10 Gbit/s", "count = 1500"),
    ]
}

fn end_to_end_cases() -> Vec<Case> {
    vec![
        Case {
            name: "10 HighSpeed flows, 1 Gbit/s".into(),
            text: dumbbell(
                "1 Gbit/s",
                10,
                "highspeed",
                "1000 B",
                "115.5 ms",
                "124.5 ms",
                "1249 packets",
                60,
            ),
            warm_up_s: 20.0,
            acceptable_ns: 20.0,
        },
        Case {
            name: "100 Reno flows, 10 Gbit/s".into(),
            text: dumbbell("10 Gbit/s", 100, "reno", "1500 B", "36 ms", "44 ms", "20 ms", 12),
            warm_up_s: 4.0,
            acceptable_ns: 20.0,
        },
        Case {
            name: "10,000 Reno flows, 100 Gbit/s".into(),
            text: dumbbell("100 Gbit/s", 10_000, "reno", "1500 B", "40 ms", "60 ms", "5 ms", 3),
            warm_up_s: 1.0,
            acceptable_ns: 25.0,
        },
        Case {
            name: "100,000 Reno flows, 400 Gbit/s".into(),
            text: dumbbell("400 Gbit/s", 100_000, "reno", "1500 B", "40 ms", "60 ms", "5 ms", 2),
            warm_up_s: 1.0,
            acceptable_ns: 30.0,
        },
        Case {
            name: "two_hops: 10 HighSpeed flows".into(),
            text: dumbbell(
                "1 Gbit/s",
                10,
                "highspeed",
                "1000 B",
                "115.5 ms",
                "124.5 ms",
                "1249 packets",
                60,
            )
            .replace("path = [\"bottleneck\"]", "path = [\"bottleneck\", \"second\"]")
                + "[links.second]\nrate = \"1 Gbit/s\"\ndelay = \"5 ms\"\nqueue = { kind = \"drop_tail\", limit = \"1249 packets\" }\n",
            warm_up_s: 20.0,
            acceptable_ns: 18.0,
        },
    ]
}
