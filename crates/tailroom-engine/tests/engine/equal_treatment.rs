//! Equals are treated equally, whatever is declared first, and an overload that ends leaves nothing
//! waiting: for every queue discipline, source and congestion control.

use std::fmt::Write as _;

use tailroom_engine::network::Network;
use tailroom_engine::queue::QueueConfig;
use tailroom_engine::random::{Random, below, stream};
use tailroom_engine::results::{GroupSummary, Results, Warning, WarningKind};
use tailroom_engine::scenario::{self, NoFiles};

use crate::support::scenario_run::{finish, network, plain_hosts};
use crate::support::scenario_text::FILES;
use crate::support::summaries::group;
use crate::support::{controls, disciplines};

/// Keys of groups that compete: sources that send too much, and flows whose packets meet in one
/// instant.
const COMPETITORS: [(&str, &str); 9] = [
    ("cbr", r#"source = { kind = "cbr", rate = "1 Mbit/s" }"#),
    ("cbr in phase", r#"source = { kind = "cbr", rate = "1 Mbit/s", phase = "0 s" }"#),
    ("poisson", r#"source = { kind = "poisson", rate = "1 Mbit/s" }"#),
    ("on-off", r#"source = { kind = "on_off", rate = "2 Mbit/s", on = "50 ms", off = "50 ms" }"#),
    (
        "media",
        r#"source = { kind = "streaming", rate = "2 Mbit/s", duration = "2 s", load = 0.5 }"#,
    ),
    (
        "files",
        r#"congestion = "cubic"
        source = { kind = "finite_flows", size = "30 kB", load = 0.4 }"#,
    ),
    (
        "reno",
        r#"congestion = "reno"
        send_jitter = "none""#,
    ),
    (
        "cubic",
        r#"congestion = "cubic"
        host = "linux"
        send_jitter = "none""#,
    ),
    (
        "bbr3",
        r#"congestion = "bbr3"
        host = "linux"
        send_jitter = "none""#,
    ),
];
/// Further sources, which compete in generated networks.
const SOURCES: [(&str, &str); 7] = [
    (
        "constant on-off",
        r#"source = { kind = "on_off", rate = "2 Mbit/s", on = "5 ms", off = "5 ms" }"#,
    ),
    (
        "objects",
        r#"congestion = "cubic"
        source = { kind = "objects", size = "60 kB", arrivals_per_second = 6.0 }"#,
    ),
    (
        "web",
        r#"congestion = "cubic"
        source = { kind = "web", model = "ns3", pages = 3, load = 0.4 }"#,
    ),
    (
        "trace",
        r#"congestion = "reno"
        source = { kind = "trace", file = "flows.csv" }"#,
    ),
    (
        "incast",
        r#"congestion = "reno"
        source = { kind = "incast", fan_in = 12, size = "15 kB", period = "400 ms" }"#,
    ),
    (
        "collective",
        r#"congestion = "cubic"
        source = { kind = "collective", operation = "all_to_all", size = "200 kB" }"#,
    ),
    (
        "permutation",
        r#"congestion = "cubic"
        source = { kind = "collective", operation = "permutation", size = "200 kB" }"#,
    ),
];
const SEEDS: u64 = 12;
/// Student's t of a difference: with 11 degrees of freedom, one in 100,000 is larger by chance, and
/// there are some 500 differences.
const LARGEST_T: f64 = 7.4;

/// Seeds of a generated network: flows of constant rate may lose all or nothing, so that few seeds
/// may agree by chance.
const SEEDS_OF_GENERATED: u64 = 24;
/// Student's t with 23 degrees of freedom: one in 1,000,000 is larger by chance.
const LARGEST_T_OF_GENERATED: f64 = 6.6;

fn text(queue: &QueueConfig, duration: &str, groups: &str) -> String {
    let queue = toml::Value::try_from(queue).expect("a discipline is a table");
    format!(
        r#"
        duration = "{duration}"
        [links.link]
        rate = "10 Mbit/s"
        delay = "5 ms"
        queue = {queue}
        {groups}
        "#
    )
}

/// A statistic of a group, with its name.
type Measure = (&'static str, fn(&GroupSummary) -> f64);

/// Student's t of the mean of differences between equals; zero if they are the same.
fn t_of(differences: &[f64], scale: f64) -> f64 {
    let count = differences.len() as f64;
    let mean = differences.iter().sum::<f64>() / count;
    if mean.abs() <= 1e-3 * scale {
        return 0.0;
    }
    let squares = differences.iter().map(|difference| (difference - mean).powi(2)).sum::<f64>();
    mean / (squares / (count - 1.0) / count).sqrt()
}

#[test]
fn equal_groups_get_equal_results_wherever_they_are_declared() {
    let names = ["first", "second", "last"];
    for queue in disciplines::all("100 packets") {
        for (what, keys) in COMPETITORS {
            let groups = names.map(|name| {
                format!("[flows.{name}]\ncount = 4\npath = [\"link\"]\nrtt = \"40 ms\"\n{keys}\n")
            });
            let groups = groups.concat();
            // Flows that arrive and depart are not counted.
            let is_permanent = !keys.contains("finite_flows") && !keys.contains("streaming");
            let groups = if is_permanent { groups } else { groups.replace("count = 4\n", "") };
            let text = text(&queue, "4 s", &groups);
            let runs: Vec<_> = (1..=SEEDS).map(|seed| finish(&network(&text, seed))).collect();
            assert_equal(&runs, LARGEST_T, &format!("{} {what}", queue.name()));
        }
    }
}

/// Checks that the groups `first` and `last` differ by chance only.
fn assert_equal(runs: &[Results], largest_t: f64, what: &str) {
    let measures: [Measure; 2] = [
        ("goodput", |group| group.goodput_bps),
        ("lost", |group| group.loss_fraction.unwrap_or(0.0)),
    ];
    for (measure, of) in measures {
        let values = |name| runs.iter().map(move |run| of(group(&run.summary, name)));
        let scale = values("first").sum::<f64>() / runs.len() as f64;
        let differences: Vec<f64> =
            values("first").zip(values("last")).map(|(one, other)| one - other).collect();
        let t = t_of(&differences, scale);
        assert!(
            t.abs() < largest_t,
            "{what}: {measure} of the first less that of the last: {differences:?}, t {t}"
        );
    }
}

fn one_of<'a, T>(random: &mut impl Random, values: &'a [T]) -> &'a T {
    &values[below(random, values.len() as u64) as usize]
}

/// A network of one to three links in a row, each with a discipline of its own and traffic of its own,
/// or a fabric of such links, in which two groups with these keys compete.
fn generated(case: u64, what: &str, keys: &str) -> String {
    let mut random = stream(case, what);
    let random = &mut random;
    let mut queue = || {
        let limit = format!("{} packets", one_of(random, &[20, 50, 120]));
        let queues = disciplines::valid(&limit);
        let queue =
            toml::Value::try_from(one_of(random, &queues)).expect("a discipline is a table");
        let rate = one_of(random, &["6 Mbit/s", "10 Mbit/s", "16 Mbit/s"]);
        (rate, one_of(random, &["1 ms", "4 ms", "8 ms"]), queue)
    };
    let mut text = "duration = \"4 s\"\n".to_owned();
    let mut write = |written: String| text.write_str(&written).expect("a text takes all");
    let is_fabric = what == "collective" || what == "permutation";
    let mut crossed = Vec::new();
    if is_fabric {
        let (rate, delay, queue) = queue();
        write(format!(
            "[fabrics.dc]\nleaves = 2\nhosts = 2\nspines = 2\nrate = \"{rate}\"\ndelay = \"{delay}\"\n\
             queue = {queue}\n"
        ));
    } else {
        let links: Vec<_> = (0..3).map(|_| queue()).collect();
        let count = 1 + below(random, 3) as usize;
        for (at, (rate, delay, queue)) in links[..count].iter().enumerate() {
            write(format!(
                "[links.l{at}]\nrate = \"{rate}\"\ndelay = \"{delay}\"\nqueue = {queue}\n\
                 [flows.across{at}]\npath = [\"l{at}\"]\n\
                 source = {{ kind = \"poisson\", rate = \"2 Mbit/s\" }}\n"
            ));
        }
        let from = below(random, count as u64) as usize;
        let to = from + 1 + below(random, (count - from) as u64) as usize;
        crossed.extend((from..to).map(|at| format!("l{at}")));
    }
    let place = if is_fabric {
        "from = \"dc\"".to_owned()
    } else {
        format!("path = {crossed:?}\nrtt = \"60 ms\"")
    };
    let is_permanent = ["cbr", "poisson", "on_off", "objects"]
        .iter()
        .any(|kind| keys.contains(&format!("\"{kind}\"")))
        || !keys.contains("source");
    let count = 1 + below(random, 4);
    let count = if is_permanent { format!("count = {count}\n") } else { String::new() };
    let packet = one_of(random, &["600 B", "1500 B"]);
    for name in ["first", "last"] {
        write(format!("[flows.{name}]\n{count}{place}\npacket_size = \"{packet}\"\n{keys}\n"));
    }
    text
}

/// Compares equal groups in this many networks per source.
fn compare_in_generated_networks(networks: u64) {
    for (what, keys) in COMPETITORS.into_iter().chain(SOURCES) {
        for case in 1..=networks {
            let text = generated(case, what, keys);
            let network = |seed| -> Network {
                scenario::parse(&text, &plain_hosts(&text), Some(seed), &FILES)
                    .and_then(|scenario| scenario.resolve())
                    .unwrap_or_else(|error| panic!("{what} {case}: {error}\n{text}"))
            };
            let runs: Vec<_> =
                (1..=SEEDS_OF_GENERATED).map(|seed| finish(&network(seed))).collect();
            let sent = |run: &Results| group(&run.summary, "first").goodput_bps > 0.0;
            assert!(runs.iter().any(sent), "{what} {case} has no traffic\n{text}");
            assert_equal(&runs, LARGEST_T_OF_GENERATED, &format!("{what} {case}\n{text}"));
        }
    }
}

#[test]
fn equal_groups_get_equal_results_in_generated_networks() {
    compare_in_generated_networks(2);
}

#[test]
#[ignore = "slow: 640 networks with 24 seeds each"]
fn equal_groups_get_equal_results_in_many_generated_networks() {
    compare_in_generated_networks(40);
}

/// A flow that waits for its timer when the overload ends has waited for less than that long, and its
/// timeouts double: the next comes within twice the time so far, and nothing is lost after it.
#[test]
fn an_overload_that_ends_leaves_no_flow_waiting() {
    for queue in disciplines::all("100 packets") {
        for (control, config) in controls::all() {
            if control == "swift" {
                continue; // its target delay is below this RTT, which starves it
            }
            let ecn = if config.parameters().needs_marks() { "l4s" } else { "off" };
            for recovery in ["newreno", "sack", "rack"] {
                let groups = format!(
                    r#"
                    [flows.flood]
                    path = ["link"]
                    rtt = "40 ms"
                    stop = "4 s"
                    source = {{ kind = "cbr", rate = "30 Mbit/s" }}
                    [flows.files]
                    path = ["link"]
                    rtt = "40 ms"
                    host = "plain"
                    recovery = "{recovery}"
                    congestion = "{control}"
                    ecn = "{ecn}"
                    stop = "4 s"
                    source = {{ kind = "finite_flows", size = "60 kB", load = 0.2 }}
                    "#
                );
                let text = text(&queue, "25 s", &groups);
                let resolved = scenario::parse(&text, &[], Some(1), &NoFiles)
                    .and_then(|scenario| scenario.resolve());
                let network = match resolved {
                    Ok(network) => network,
                    // A control that needs selective ACKs.
                    Err(_) if recovery == "newreno" => continue,
                    Err(error) => panic!("{control} {recovery}: {error}"),
                };
                let results = finish(&network);
                let classes = &group(&results.summary, "files").size_classes;
                let (completed, unfinished) = classes.iter().fold((0, 0), |(done, open), class| {
                    (done + class.completed_flows, open + class.unfinished_flows)
                });
                assert!(
                    completed > 0 && unfinished == 0,
                    "{} {control} {recovery}: {completed} completed, {unfinished} did not",
                    queue.name()
                );
            }
        }
    }
}

/// The number of flows that a warning says begin in one instant; 0 without a warning.
fn simultaneous(keys: &str) -> u64 {
    let text = format!(
        r#"
        duration = "2 s"
        measure_from = "1 s"
        [links.link]
        rate = "10 Mbit/s"
        delay = "5 ms"
        queue = {{ kind = "drop_tail", limit = "50 packets" }}
        [flows.some]
        path = ["link"]
        congestion = "cubic"
        rtt = "40 ms"
        {keys}
        "#
    );
    let warnings = finish(&network(&text, 1)).summary.warnings;
    let of = |warning: &Warning| warning.kind == WarningKind::SimultaneousStarts;
    warnings.iter().find(|one| of(one)).map_or(0, |warning| {
        assert_eq!(warning.place, "flows.some");
        warning.values.get("flows").map_or(0, |flows| *flows as u64)
    })
}

#[test]
fn flows_whose_first_windows_arrive_in_one_instant_warn() {
    let incast = |times: &str| {
        format!("source = {{ kind = \"finite_flows\", size = \"32 kB\", arrivals = [{times}] }}")
    };
    let requests = incast(r#""1.5 s", "1.5 s", "1.5 s", "1.6 s""#);
    for (keys, flows) in [
        (requests.clone(), 3),
        (format!("{requests}\nhost = \"linux\""), 3),
        (format!("{requests}\naccess_rate = \"1 Gbit/s\""), 0),
        (incast(r#""1.5 s", "1.6 s""#), 0),
        ("count = 5\nstart = \"1.2 s\"".into(), 5),
        // What happened before the measured window is not measured.
        ("count = 5".into(), 0),
        ("count = 5\nstart = { uniform = [\"1.2 s\", \"1.3 s\"] }".into(), 0),
    ] {
        assert_eq!(simultaneous(&keys), flows, "{keys}");
    }
}
