//! Percentiles and maxima of queueing delays, queues and completion times, against distributions that
//! are known.

use tailroom_engine::results::WarningKind;

use crate::support::case::{Expected, NULL, Run, case, close, near, within};

/// A source of twice the rate of the link: the queue and the wait grow
/// linearly from nothing, so that both are uniform.
fn growing_queue() -> Run {
    case("10 s")
        .link("link", "10 Mbit/s, 10 ms, 100000 packets")
        .stream("flood", "link", "cbr 20 Mbit/s, 1250 B, source.phase = '0 s'")
        .run()
}

#[track_caller]
fn assert_uniform(run: &Run, place: &str, largest: f64) {
    for (name, quantile) in
        [("p50", 0.5), ("p95", 0.95), ("p99", 0.99), ("p999", 0.999), ("max", 1.0)]
    {
        run.expect(&format!("{place}_{name}"), near(quantile * largest, 0.002 * largest));
    }
}

/// The packets sent in 10 s have waited up to 5 s.
#[test]
fn delays_of_a_growing_queue_are_uniform_at_the_link_and_in_the_group() {
    let run = growing_queue();
    for place in ["links.link", "groups.flood", "groups.flood.links.link"] {
        assert_uniform(&run, &format!("{place}.queue_delay_s"), 5.0);
    }
}

/// Of 2,000 packets per second, the link sends 1,000.
#[test]
fn lengths_of_a_growing_queue_are_uniform() {
    assert_uniform(&growing_queue(), "links.link.queue_packets", 10_000.0);
}

/// A burst of ten packets that wait 0 to 9 ms: nine wait behind the first.
#[test]
fn the_maximum_is_the_longest_wait_and_the_longest_queue() {
    let burst = "packet_size = '1000 B', congestion = 'reno', rtt = '2 s', initial_window = 10";
    case("1 s")
        .link("link", "8 Mbit/s, 1 ms, 20 packets")
        .flows("burst", "link", burst)
        .run()
        .expect("links.link.queue_packets_max", 9)
        .expect("links.link.queue_delay_s_max", close(9e-3, 1e-3))
        // The queue is empty nearly all the time, but a packet waits 4 ms in the middle.
        .expect("links.link.queue_packets_p50", 0)
        .expect("links.link.queue_delay_s_p50", close(4e-3, 1e-3));
}

/// A link, and a group with this source, all of whose flows have time to end.
fn transfers(source: &str) -> Run {
    let source = format!("source = {{ {source}, load = 0.7, flow_log = 100000 }}");
    case("100 s")
        .link("link", "10 Mbit/s, 10 ms, 100 packets")
        .flows(
            "web",
            "link",
            format!("rtt = '40 ms', congestion = 'reno', stop = '95 s', {source}"),
        )
        .run()
}

/// The percentile of `times` is the smallest time that so large a fraction of them does not exceed.
#[track_caller]
fn assert_percentiles(mut times: Vec<f64>, run: &Run, place: &str) {
    times.sort_by(f64::total_cmp);
    assert!(times.len() > 2_000, "{} times", times.len());
    for (name, quantile) in
        [("p50", 0.5), ("p90", 0.9), ("p95", 0.95), ("p99", 0.99), ("p999", 0.999)]
    {
        let expected = times[(quantile * times.len() as f64).ceil() as usize - 1];
        run.expect(&format!("{place}.completion_time_s_{name}"), close(expected, 2e-3));
    }
}

#[test]
fn percentiles_of_completion_times_are_those_of_the_log_of_flows() {
    let run = transfers("kind = 'finite_flows', size = '30 kB'");
    let times = run.tables.flow_log.clone().expect("it is recorded").completion_time_s;
    run.expect("groups.web.all_sizes.completed_flows", times.len() as f64)
        .expect("groups.web.all_sizes.unfinished_flows", 0)
        .expect("groups.web.all_sizes.completion_time_s_mean_is_lower_bound", false);
    let p99 = run.get("groups.web.all_sizes.completion_time_s_p99");
    run.expect("groups.web.all_sizes.completion_time_s_p99_at_most", p99);
    assert_percentiles(times, &run, "groups.web.all_sizes");
}

/// The answers to a query begin at once, and the query ends with the last of them.
#[test]
fn percentiles_of_coflows_are_those_of_their_last_flows() {
    let size = "size = { kind = 'exponential', mean = '10 kB' }";
    let run = transfers(&format!("kind = 'incast', fan_in = 3, {size}"));
    let log = run.tables.flow_log.clone().expect("it is recorded");
    let rows: Vec<(f64, f64)> = log.start_s.into_iter().zip(log.completion_time_s).collect();
    let at_once = |one: &(f64, f64), next: &(f64, f64)| one.0.to_bits() == next.0.to_bits();
    let queries = rows.chunk_by(at_once).filter(|answers| answers.len() == 3);
    let last = |answers: &[(f64, f64)]| answers.iter().map(|answer| answer.1).fold(0.0, f64::max);
    let times: Vec<f64> = queries.map(last).collect();
    run.expect("groups.web.coflows.completed_coflows", times.len() as f64)
        .expect("groups.web.coflows.unfinished_coflows", 0);
    assert_percentiles(times, &run, "groups.web.coflows");
}

/// Flows of 1.25 MB alone on a link of 10 Mbit/s, at these times; the run ends after 10 s.
fn alone(duration: &str, arrivals: &str) -> Run {
    let source = format!("kind = 'finite_flows', size = '1.25 MB', arrivals = [{arrivals}]");
    let keys = "rtt = '2 ms', congestion = 'reno', send_jitter = 'none'";
    case(duration)
        .link("link", "10 Mbit/s, 1 ms, 100 packets")
        .flows("web", "link", format!("{keys}, source = {{ {source} }}"))
        .run()
}

/// Checks statistics of the flows of all sizes.
#[track_caller]
fn expect_of_flows(run: &Run, expected: &[(&str, Expected)]) {
    for (name, expected) in expected {
        run.expect(&format!("groups.web.all_sizes.{name}"), *expected);
    }
}

/// A flow of 1.25 MB takes at least 1 s, and with headers and slow start less than 1.1 s; that of 9.5 s
/// has an age of 0.5 s when the run ends, that of 9.75 s one of 0.25 s.
#[test]
fn a_flow_that_has_not_ended_counts_with_its_age_in_every_statistic() {
    let run = alone("10 s", "'0 s', '2 s', '4 s', '9.5 s'");
    let [median, mean, of_ended] =
        ["completion_time_s_p50", "completion_time_s_mean", "slowdown_p50"]
            .map(|name| run.get(&format!("groups.web.all_sizes.{name}")));
    expect_of_flows(
        &run,
        &[
            ("completed_flows", 3.into()),
            ("unfinished_flows", 1.into()),
            // In order 0.5, 1, 1, 1, and at last 1, 1, 1 and anything.
            ("completion_time_s_p50", within(1.0..1.1)),
            ("completion_time_s_p50_is_lower_bound", false.into()),
            ("completion_time_s_p50_at_most", median.into()),
            ("completion_time_s_p99", median.into()),
            ("completion_time_s_p99_is_lower_bound", true.into()),
            ("completion_time_s_p99_at_most", NULL),
            ("completion_time_s_mean", near((3.0 * median + 0.5) / 4.0, 2e-3)),
            ("completion_time_s_mean_is_lower_bound", true.into()),
            // The slowdown of an age is that age over the ideal time.
            ("slowdown_mean", near(of_ended * mean / median, 2e-3 * of_ended)),
            ("slowdown_mean_is_lower_bound", true.into()),
            ("slowdown_p50_is_lower_bound", false.into()),
            ("slowdown_p99_is_lower_bound", true.into()),
            ("slowdown_p99_at_most", NULL),
        ],
    );
}

#[test]
fn where_nothing_has_ended_the_ages_are_the_completion_times_and_where_nothing_began_there_are_none()
 {
    expect_of_flows(
        &alone("10 s from 5 s", "'1 s', '9.5 s', '9.75 s'"),
        &[
            ("completed_flows", 0.into()),
            ("unfinished_flows", 2.into()),
            ("completion_time_s_p99", near(0.5, 2e-3)),
            ("completion_time_s_mean", 0.375.into()),
        ],
    );
    expect_of_flows(
        &alone("10 s from 5 s", "'1 s'"),
        &[("completion_time_s_mean", NULL), ("completion_time_s_p99_is_lower_bound", false.into())],
    );
}

#[test]
fn a_run_warns_of_more_unfinished_flows_than_a_99th_percentile_has_above_it() {
    let run = alone("10 s", "'0 s', '2 s', '4 s', '9.5 s'");
    let text = &run.warning(WarningKind::Unfinished).expect("it warns").text;
    assert!(text.starts_with("flows.web: 1 of 4 flows had not completed"), "{text}");
    assert!(text.contains("above 75.0 %") && text.contains("flows.web.stop"), "{text}");
    let ended = alone("10 s", "'0 s', '2 s', '4 s'");
    assert_eq!(ended.warning(WarningKind::Unfinished), None);
}
