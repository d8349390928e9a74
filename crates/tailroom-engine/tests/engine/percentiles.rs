//! Percentiles and maxima of queueing delays, queues and completion times, against distributions that
//! are known.

use tailroom_engine::results::Results;

use crate::support::scenario_run;
use crate::support::summaries::{group, link};

/// A source of twice the rate of the link: the queue and the wait grow
/// linearly from nothing, so that both are uniform.
fn growing_queue() -> Results {
    let text = r#"
        duration = "10 s"
        [links.link]
        rate = "10 Mbit/s"
        delay = "10 ms"
        queue = { kind = "drop_tail", limit = "100000 packets" }
        [flows.flood]
        path = ["link"]
        packet_size = "1250 B"
        source = { kind = "cbr", rate = "20 Mbit/s", phase = "0 s" }
    "#;
    scenario_run::run(text, 1)
}

#[track_caller]
fn assert_uniform(found: [Option<f64>; 5], largest: f64) {
    for (found, quantile) in found.into_iter().zip([0.5, 0.95, 0.99, 0.999, 1.0]) {
        let found = found.expect("packets were sent");
        let expected = quantile * largest;
        assert!((found - expected).abs() < 0.002 * largest, "{found}, expected {expected}");
    }
}

/// The packets sent in 10 s have waited up to 5 s.
#[test]
fn delays_of_a_growing_queue_are_uniform_at_the_link_and_in_the_group() {
    let summary = growing_queue().summary;
    let at = link(&summary, "link");
    let [p50, p95, p99] = [at.queue_delay_s_p50, at.queue_delay_s_p95, at.queue_delay_s_p99];
    assert_uniform([p50, p95, p99, at.queue_delay_s_p999, at.queue_delay_s_max], 5.0);
    let of = group(&summary, "flood");
    let [p50, p95, p99] = [of.queue_delay_s_p50, of.queue_delay_s_p95, of.queue_delay_s_p99];
    assert_uniform([p50, p95, p99, of.queue_delay_s_p999, of.queue_delay_s_max], 5.0);
    let of = of.links.get("link").expect("the group crosses the link");
    let [p50, p95, p99] = [of.queue_delay_s_p50, of.queue_delay_s_p95, of.queue_delay_s_p99];
    assert_uniform([p50, p95, p99, of.queue_delay_s_p999, of.queue_delay_s_max], 5.0);
}

/// Of 2,000 packets per second, the link sends 1,000.
#[test]
fn lengths_of_a_growing_queue_are_uniform() {
    let summary = growing_queue().summary;
    let at = link(&summary, "link");
    let [p50, p95, p99] = [at.queue_packets_p50, at.queue_packets_p95, at.queue_packets_p99];
    assert_uniform([p50, p95, p99, at.queue_packets_p999, at.queue_packets_max], 10_000.0);
}

/// A burst of ten packets that wait 0 to 9 ms: nine wait behind the first.
#[test]
fn the_maximum_is_the_longest_wait_and_the_longest_queue() {
    let text = r#"
        duration = "1 s"
        [links.link]
        rate = "8 Mbit/s"
        delay = "1 ms"
        queue = { kind = "drop_tail", limit = "20 packets" }
        [flows.burst]
        path = ["link"]
        packet_size = "1000 B"
        congestion = "reno"
        rtt = "2 s"
        initial_window = 10
    "#;
    let summary = scenario_run::run(text, 1).summary;
    let at = link(&summary, "link");
    assert_eq!(at.queue_packets_max, Some(9.0));
    let longest = at.queue_delay_s_max.expect("packets were sent");
    assert!((longest / 9e-3 - 1.0).abs() < 1e-3, "{longest}");
    // The queue is empty nearly all the time, but a packet waits 4 ms in the middle.
    assert_eq!(at.queue_packets_p50, Some(0.0));
    let median = at.queue_delay_s_p50.expect("packets were sent");
    assert!((median / 4e-3 - 1.0).abs() < 1e-3, "{median}");
}

/// A link, and a group with this source, all of whose flows have time to end.
fn transfers(source: &str) -> String {
    format!(
        r#"
        duration = "100 s"
        [links.link]
        rate = "10 Mbit/s"
        delay = "10 ms"
        queue = {{ kind = "drop_tail", limit = "100 packets" }}
        [flows.web]
        path = ["link"]
        rtt = "40 ms"
        congestion = "reno"
        stop = "95 s"
        source = {{ {source}, load = 0.7, flow_log = 100000 }}
        "#
    )
}

/// The percentile of `times` is the smallest time that so large a fraction of them does not exceed.
#[track_caller]
fn assert_percentiles(mut times: Vec<f64>, found: [Option<f64>; 5]) {
    times.sort_by(f64::total_cmp);
    assert!(times.len() > 2_000, "{} times", times.len());
    for (quantile, found) in [0.5, 0.9, 0.95, 0.99, 0.999].into_iter().zip(found) {
        let expected = times[(quantile * times.len() as f64).ceil() as usize - 1];
        let found = found.expect("flows completed");
        assert!((found / expected - 1.0).abs() < 2e-3, "{quantile}: {found}, {expected}");
    }
}

#[test]
fn percentiles_of_completion_times_are_those_of_the_log_of_flows() {
    let results = scenario_run::run(&transfers("kind = \"finite_flows\", size = \"30 kB\""), 1);
    let times = results.tables.flow_log.expect("it is recorded").completion_time_s;
    let all = group(&results.summary, "web").all_sizes.as_ref().expect("flows arrive and depart");
    assert_eq!((all.completed_flows, all.unfinished_flows), (times.len() as u64, 0));
    assert!(!all.completion.completion_time_s_mean_is_lower_bound);
    assert_eq!(all.completion.completion_time_s_p99_at_most, all.completion.completion_time_s_p99);
    let found = [
        all.completion.completion_time_s_p50,
        all.completion.completion_time_s_p90,
        all.completion.completion_time_s_p95,
        all.completion.completion_time_s_p99,
        all.completion.completion_time_s_p999,
    ];
    assert_percentiles(times, found);
}

/// The answers to a query begin at once, and the query ends with the last of them.
#[test]
fn percentiles_of_coflows_are_those_of_their_last_flows() {
    let size = "size = { kind = \"exponential\", mean = \"10 kB\" }";
    let results =
        scenario_run::run(&transfers(&format!("kind = \"incast\", fan_in = 3, {size}")), 1);
    let log = results.tables.flow_log.expect("it is recorded");
    let rows: Vec<(f64, f64)> = log.start_s.into_iter().zip(log.completion_time_s).collect();
    let at_once = |one: &(f64, f64), next: &(f64, f64)| one.0.to_bits() == next.0.to_bits();
    let queries = rows.chunk_by(at_once).filter(|answers| answers.len() == 3);
    let last = |answers: &[(f64, f64)]| answers.iter().map(|answer| answer.1).fold(0.0, f64::max);
    let times: Vec<f64> = queries.map(last).collect();
    let coflows = group(&results.summary, "web").coflows.as_ref().expect("queries are coflows");
    assert_eq!((coflows.completed_coflows, coflows.unfinished_coflows), (times.len() as u64, 0));
    let found = [
        coflows.completion.completion_time_s_p50,
        coflows.completion.completion_time_s_p90,
        coflows.completion.completion_time_s_p95,
        coflows.completion.completion_time_s_p99,
        coflows.completion.completion_time_s_p999,
    ];
    assert_percentiles(times, found);
}

/// Flows of 1.25 MB alone on a link of 10 Mbit/s, at these times; the run ends after 10 s.
fn alone(arrivals: &str, window: &str) -> Results {
    let text = format!(
        r#"
        duration = "10 s"
        {window}
        [links.link]
        rate = "10 Mbit/s"
        delay = "1 ms"
        queue = {{ kind = "drop_tail", limit = "100 packets" }}
        [flows.web]
        path = ["link"]
        rtt = "2 ms"
        congestion = "reno"
        send_jitter = "none"
        source = {{ kind = "finite_flows", size = "1.25 MB", arrivals = {arrivals} }}
        "#
    );
    scenario_run::run(&text, 1)
}

/// A flow of 1.25 MB takes at least 1 s, and with headers and slow start less than 1.1 s; that of 9.5 s
/// has an age of 0.5 s when the run ends, that of 9.75 s one of 0.25 s.
#[test]
fn a_flow_that_has_not_ended_counts_with_its_age_in_every_statistic() {
    let results = alone(r#"["0 s", "2 s", "4 s", "9.5 s"]"#, "");
    let all = group(&results.summary, "web").all_sizes.clone().expect("flows arrive");
    assert_eq!((all.completed_flows, all.unfinished_flows), (3, 1));
    let times = &all.completion;
    let median = times.completion_time_s_p50.expect("flows began");
    assert!((1.0..1.1).contains(&median), "{median}");
    // In order 0.5, 1, 1, 1, and at last 1, 1, 1 and anything.
    assert!(!times.completion_time_s_p50_is_lower_bound);
    assert_eq!(times.completion_time_s_p50_at_most, Some(median));
    assert_eq!(times.completion_time_s_p99, Some(median));
    assert!(times.completion_time_s_p99_is_lower_bound);
    assert_eq!(times.completion_time_s_p99_at_most, None);
    assert!(times.completion_time_s_mean_is_lower_bound);
    let mean = times.completion_time_s_mean.expect("flows began");
    assert!((mean - (3.0 * median + 0.5) / 4.0).abs() < 2e-3, "{mean}");
    // The slowdown of an age is that age over the ideal time.
    let (slowdown, of_ended) =
        (all.slowdown_mean.expect("flows"), all.slowdown_p50.expect("flows"));
    assert!((slowdown / of_ended - mean / median).abs() < 2e-3, "{slowdown}");
    assert!(all.slowdown_mean_is_lower_bound && all.slowdown_p99_is_lower_bound);
    assert!(!all.slowdown_p50_is_lower_bound && all.slowdown_p99_at_most.is_none());
}

#[test]
fn where_nothing_has_ended_the_ages_are_the_completion_times_and_where_nothing_began_there_are_none()
 {
    let results = alone(r#"["1 s", "9.5 s", "9.75 s"]"#, "measure_from = \"5 s\"");
    let all = group(&results.summary, "web").all_sizes.clone().expect("flows arrive");
    assert_eq!((all.completed_flows, all.unfinished_flows), (0, 2));
    let p99 = all.completion.completion_time_s_p99.expect("flows began");
    assert!((p99 - 0.5).abs() < 2e-3, "{p99}");
    assert_eq!(all.completion.completion_time_s_mean, Some(0.375));
    let results = alone(r#"["1 s"]"#, "measure_from = \"5 s\"");
    let all = group(&results.summary, "web").all_sizes.clone().expect("flows arrive");
    assert_eq!(all.completion.completion_time_s_mean, None);
    assert!(!all.completion.completion_time_s_p99_is_lower_bound);
}

#[test]
fn a_run_warns_of_more_unfinished_flows_than_a_99th_percentile_has_above_it() {
    let texts = |results: &Results| -> Vec<String> {
        let warnings = results.summary.warnings.iter();
        warnings.map(|one| one.text.clone()).filter(|text| text.contains("not completed")).collect()
    };
    let warned = texts(&alone(r#"["0 s", "2 s", "4 s", "9.5 s"]"#, ""));
    assert_eq!(warned.len(), 1);
    assert!(warned[0].starts_with("flows.web: 1 of 4 flows had not completed"), "{}", warned[0]);
    assert!(warned[0].contains("above 75.0 %") && warned[0].contains("flows.web.stop"));
    assert!(texts(&alone(r#"["0 s", "2 s", "4 s"]"#, "")).is_empty());
}
