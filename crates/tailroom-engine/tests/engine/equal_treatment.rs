//! Equals are treated equally, whatever is declared first, and an overload that ends leaves nothing
//! waiting: for every queue discipline, source and congestion control.

use tailroom_engine::queue::QueueConfig;
use tailroom_engine::random::{Random, below, stream};
use tailroom_engine::results::{GroupSummary, Results, WarningKind};
use tailroom_engine::scenario::{self, NoFiles};

use crate::support::case::{Case, case};
use crate::support::scenario_run::finish;
use crate::support::summaries::group;
use crate::support::{controls, disciplines};

/// Keys of groups that compete: sources that send too much, and flows whose packets meet in one
/// instant.
const COMPETITORS: [(&str, &str); 9] = [
    ("cbr", "source = { kind = 'cbr', rate = '1 Mbit/s' }"),
    ("cbr in phase", "source = { kind = 'cbr', rate = '1 Mbit/s', phase = '0 s' }"),
    ("poisson", "source = { kind = 'poisson', rate = '1 Mbit/s' }"),
    ("on-off", "source = { kind = 'on_off', rate = '2 Mbit/s', on = '50 ms', off = '50 ms' }"),
    ("media", "source = { kind = 'streaming', rate = '2 Mbit/s', duration = '2 s', load = 0.5 }"),
    (
        "files",
        "congestion = 'cubic', source = { kind = 'finite_flows', size = '30 kB', load = 0.4 }",
    ),
    ("reno", "congestion = 'reno', send_jitter = 'none'"),
    ("cubic", "congestion = 'cubic', host = 'linux', send_jitter = 'none'"),
    ("bbr3", "congestion = 'bbr3', host = 'linux', send_jitter = 'none'"),
];
/// Further sources, which compete in generated networks.
const SOURCES: [(&str, &str, &str); 7] = [
    ("constant on-off", "", "kind = 'on_off', rate = '2 Mbit/s', on = '5 ms', off = '5 ms'"),
    ("objects", "cubic", "kind = 'objects', size = '60 kB', arrivals_per_second = 6.0"),
    ("web", "cubic", "kind = 'web', model = 'ns3', pages = 3, load = 0.4"),
    ("trace", "reno", "kind = 'trace', file = 'flows.csv'"),
    ("incast", "reno", "kind = 'incast', fan_in = 12, size = '15 kB', period = '400 ms'"),
    ("collective", "cubic", "kind = 'collective', operation = 'all_to_all', size = '200 kB'"),
    ("permutation", "cubic", "kind = 'collective', operation = 'permutation', size = '200 kB'"),
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

/// A link of 10 Mbit/s with this discipline.
fn behind(queue: &QueueConfig, duration: &str) -> Case {
    let queue = toml::Value::try_from(queue).expect("a discipline is a table");
    case(duration).link("link", format!("10 Mbit/s, 5 ms, queue = {queue}"))
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
            // Flows that arrive and depart are not counted.
            let is_permanent = !keys.contains("finite_flows") && !keys.contains("streaming");
            let keys = if is_permanent { &format!("count = 4, {keys}") } else { keys };
            let group =
                |case: Case, name| case.flows(name, "link", format!("rtt = '40 ms', {keys}"));
            let case = behind(&queue, "4 s").each(names, group);
            let runs: Vec<_> =
                (1..=SEEDS).map(|seed| case.clone().seed(seed).run().results).collect();
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
fn generated(number: u64, what: &str, keys: &str) -> Case {
    let mut random = stream(number, what);
    let random = &mut random;
    let mut link = || {
        let limit = format!("{} packets", one_of(random, &[20, 50, 120]));
        let queues = disciplines::valid(&limit);
        let queue =
            toml::Value::try_from(one_of(random, &queues)).expect("a discipline is a table");
        let rate = one_of(random, &["6 Mbit/s", "10 Mbit/s", "16 Mbit/s"]);
        (rate, one_of(random, &["1 ms", "4 ms", "8 ms"]), queue)
    };
    let mut case = case("4 s");
    let place =
        if what == "collective" || what == "permutation" {
            let (rate, delay, queue) = link();
            let ports = format!("rate = '{rate}', delay = '{delay}', queue = {queue}");
            case = case.table("fabrics.dc", format!("leaves = 2, hosts = 2, spines = 2, {ports}"));
            "from = 'dc'".to_owned()
        } else {
            let links: Vec<_> = (0..3).map(|_| link()).collect();
            let count = 1 + below(random, 3) as usize;
            for (at, (rate, delay, queue)) in links[..count].iter().enumerate() {
                case = case
                    .link(format!("l{at}"), format!("{rate}, {delay}, queue = {queue}"))
                    .stream(format!("across{at}"), format!("l{at}"), "poisson 2 Mbit/s, 1500 B");
            }
            let from = below(random, count as u64) as usize;
            let to = from + 1 + below(random, (count - from) as u64) as usize;
            let crossed: Vec<String> = (from..to).map(|at| format!("l{at}")).collect();
            format!("path = {crossed:?}, rtt = '60 ms'")
        };
    let is_permanent = ["cbr", "poisson", "on_off", "objects"]
        .iter()
        .any(|kind| keys.contains(&format!("'{kind}'")))
        || !keys.contains("source");
    let count = 1 + below(random, 4);
    let count = if is_permanent { format!("count = {count}, ") } else { String::new() };
    let packet = one_of(random, &["600 B", "1500 B"]);
    let keys = format!("{count}{place}, packet_size = '{packet}', {keys}");
    case.each(["first", "last"], |case, name| case.table(format!("flows.{name}"), &keys))
}

/// Compares equal groups in this many networks per source.
fn compare_in_generated_networks(networks: u64) {
    let sources = SOURCES.map(|(what, control, source)| {
        let control = if control.is_empty() { "" } else { &format!("congestion = '{control}', ") };
        (what, format!("{control}source = {{ {source} }}"))
    });
    let competitors = COMPETITORS.map(|(what, keys)| (what, keys.to_owned()));
    for (what, keys) in competitors.into_iter().chain(sources) {
        for number in 1..=networks {
            let case = generated(number, what, &keys);
            let run = |seed| case.clone().seed(seed).run().results;
            let runs: Vec<_> = (1..=SEEDS_OF_GENERATED).map(run).collect();
            let sent = |run: &Results| group(&run.summary, "first").goodput_bps > 0.0;
            assert!(runs.iter().any(sent), "{what} {number} has no traffic\n{}", case.text);
            let what = format!("{what} {number}\n{}", case.text);
            assert_equal(&runs, LARGEST_T_OF_GENERATED, &what);
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
                let flood = "cbr 30 Mbit/s, 1500 B, rtt = '40 ms', stop = '4 s'";
                let source = "source = { kind = 'finite_flows', size = '60 kB', load = 0.2 }";
                let keys = format!(
                    "rtt = '40 ms', host = 'plain', recovery = '{recovery}', ecn = '{ecn}', \
                     congestion = '{control}', stop = '4 s', {source}"
                );
                let text = behind(&queue, "25 s")
                    .stream("flood", "link", flood)
                    .flows("files", "link", keys)
                    .text;
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
    let run = case("2 s from 1 s")
        .link("link", "10 Mbit/s, 5 ms, 50 packets")
        .flows("some", "link", format!("congestion = 'cubic', rtt = '40 ms', {keys}"))
        .run();
    run.warning(WarningKind::SimultaneousStarts).map_or(0, |warning| {
        assert_eq!(warning.place, "flows.some");
        warning.values.get("flows").map_or(0, |flows| *flows as u64)
    })
}

#[test]
fn flows_whose_first_windows_arrive_in_one_instant_warn() {
    let incast = |times: &str| {
        format!("source = {{ kind = 'finite_flows', size = '32 kB', arrivals = [{times}] }}")
    };
    let requests = incast("'1.5 s', '1.5 s', '1.5 s', '1.6 s'");
    for (keys, flows) in [
        (requests.clone(), 3),
        (format!("{requests}, host = 'linux'"), 3),
        (format!("{requests}, access_rate = '1 Gbit/s'"), 0),
        (incast("'1.5 s', '1.6 s'"), 0),
        ("count = 5, start = '1.2 s'".into(), 5),
        // What happened before the measured window is not measured.
        ("count = 5".into(), 0),
        ("count = 5, start = { uniform = ['1.2 s', '1.3 s'] }".into(), 0),
    ] {
        assert_eq!(simultaneous(&keys), flows, "{keys}");
    }
}
