//! Admission control of dynamic flows, against flow conservation and processor sharing.

use tailroom_engine::link::spec::FlowAdmissionSpec;
use tailroom_engine::quantity::BitRate;
use tailroom_engine::results::{GroupSummary, Results};
use tailroom_engine::simulation::Simulation;

use crate::support::scenario_run;
use crate::support::summaries::{group, link};

/// Elastic flows of 125 kB that offer `load` to a link of 20 Mbit/s, 30 per second at a load of
/// 1.5. Each gets at least 1 Mbit/s while at most 20 are in progress.
fn run(queue: &str, load: f64, admission: &str, more: &str) -> Results {
    let text = format!(
        r#"
        duration = "520 s"
        measure_from = "20 s"
        [links.link]
        rate = "20 Mbit/s"
        delay = "0.5 ms"
        queue = {{ kind = {queue}, limit = "400 packets" }}
        {admission}
        [flows.elastic]
        path = ["link"]
        congestion = "reno"
        source = {{ kind = "finite_flows", size = {{ kind = "exponential", mean = "125 kB" }}, load = {load} }}
        {more}
        "#
    );
    scenario_run::run(&text, 1)
}

/// Next to the stream, a flow gets 5 Mbit/s. A query follows one that is refused at once, at the same time.
#[test]
fn a_source_that_lets_no_time_pass_is_stopped_by_its_name() {
    let text = r#"
        duration = "10 s"
        [links.link]
        rate = "20 Mbit/s"
        delay = "0.5 ms"
        queue = { kind = "drop_tail", limit = "400 packets" }
        admission = { min_fair_rate = "19 Mbit/s" }
        [flows.stream]
        path = ["link"]
        source = { kind = "cbr", rate = "15 Mbit/s" }
        [flows.queries]
        path = ["link"]
        congestion = "reno"
        source = { kind = "incast", fan_in = 3, size = "125 kB", think_time = "0 s" }
    "#;
    let run = Simulation::new(&scenario_run::network(text, 1)).expect("the network is valid");
    let error = run.finish().expect_err("the run does not end");
    let message = error.to_string();
    assert!(message.starts_with("flows.queries.source: incast, at "), "{message}");
    assert!(message.contains("let time pass"), "{message}");
}

const ONE_MEGABIT: &str = r#"admission = { min_fair_rate = "1 Mbit/s" }"#;

fn elastic(results: &Results) -> &GroupSummary {
    group(&results.summary, "elastic")
}

/// The admitted load is at most the capacity: blocking >= 1 - 1 / rho. With processor sharing among
/// at most N flows (M/G/1/N, insensitive to the sizes) blocking is P(N) = (1 - rho) rho^N / (1 -
/// rho^(N + 1)), for N = 20 less than 0.0002 above that bound.
fn assert_overload_is_refused(queue: &str, results: &Results) {
    let (link, group) = (link(&results.summary, "link"), elastic(results));
    let rho = link.sharing.offered_load;
    let refused = group.refused_fraction.expect("flows arrive");
    // 15,000 flows: the sum of the sizes, and so the bound, has a relative standard deviation of
    // 0.8 %.
    let bound = 1.0 - 1.0 / rho;
    assert!(refused > bound - 0.012, "{queue}: {refused} refused, bound {bound}");
    // Retransmissions are 6 to 8 % of the packets on the link.
    assert!(refused < bound + 0.03, "{queue}: {refused} refused, bound {bound}");
    assert!(link.utilization > 0.98, "{queue}: {}", link.utilization);
    let all = group.all_sizes.as_ref().expect("the flows are dynamic");
    assert_eq!(all.completed_flows + all.unfinished_flows + group.refused_flows, group.flows);
}

#[test]
fn overload_is_refused_and_flows_in_progress_keep_the_threshold_rate() {
    for queue in ["\"fair\"", "\"fair\", scheduler = \"priority_fair\""] {
        let results = run(queue, 1.5, ONE_MEGABIT, "");
        assert_overload_is_refused(queue, &results);
        let sharing = &link(&results.summary, "link").sharing;
        // Decisions are late by up to an interval, in which three flows arrive: 20 to 23 flows when
        // the link is full.
        let flows = sharing.flows_in_progress_mean.expect("the window is not empty");
        assert!((15.0..21.0).contains(&flows), "{queue}: {flows} flows");
        assert!(sharing.flows_in_progress_p99 < Some(28.0), "{:?}", sharing.flows_in_progress_p99);
        let rate = elastic(&results).goodput_bps / flows;
        assert!(rate > 1e6, "{queue}: {rate} bit/s per flow");
    }
}

/// A FIFO queue shares the link unequally, and most flows get less than the fair rate at which the
/// meter sends, so more than 20 flows are in progress. But their number stays bounded: without
/// admission control it would grow by ten per second.
#[test]
fn overload_of_a_fifo_queue_is_refused_although_rates_differ() {
    let results = run("\"drop_tail\"", 1.5, ONE_MEGABIT, "");
    assert_overload_is_refused("drop_tail", &results);
    let sharing = &link(&results.summary, "link").sharing;
    let flows = sharing.flows_in_progress_mean.expect("the window is not empty");
    assert!((20.0..45.0).contains(&flows), "{flows} flows");
    assert!(sharing.flows_in_progress_p99 < Some(60.0), "{:?}", sharing.flows_in_progress_p99);
}

/// 20 flows are in progress for (1 - rho) rho^20 = 0.0002 of the time, so almost no flow is
/// refused.
#[test]
fn almost_no_flow_is_refused_below_saturation() {
    for queue in ["\"fair\"", "\"drop_tail\""] {
        let results = run(queue, 0.7, ONE_MEGABIT, "");
        let group = elastic(&results);
        assert!(group.flows > 6_000);
        assert!(group.refused_fraction < Some(0.01), "{queue}: {:?}", group.refused_fraction);
    }
}

/// Flows of 100 kbit/s never wait under fair queueing: all their packets have priority, and no flow
/// is bottlenecked until the link is full. The threshold on the priority load keeps it below that.
#[test]
fn priority_load_limits_flows_that_do_not_wait() {
    let limited = |admission: &str| {
        let more = "access_rate = \"100 kbit/s\"\npacket_size = \"250 B\"\nrtt = \"20 ms\"";
        let text = run("\"fair\", scheduler = \"priority_fair\"", 1.2, admission, more);
        (
            link(&text.summary, "link").utilization,
            elastic(&text).refused_fraction.expect("flows arrive"),
        )
    };
    let (utilization, refused) = limited("admission = { max_priority_load = 0.7 }");
    // The load of the admitted flows varies around the threshold, over the duration of a flow, 10
    // s.
    assert!((utilization - 0.7).abs() < 0.05, "{utilization}");
    let bound = 1.0 - 0.7 / 1.2;
    assert!((refused - bound).abs() < 0.06, "{refused}, bound {bound}");
}

/// A link without admission control refuses no flow, and groups of permanent flows have no refused
/// fraction.
#[test]
fn no_flow_is_refused_without_admission_control() {
    let permanent = r#"
        [flows.permanent]
        path = ["link"]
        congestion = "reno"
    "#;
    let results = run("\"drop_tail\"", 0.3, "", permanent);
    assert_eq!(
        (elastic(&results).refused_flows, elastic(&results).refused_fraction),
        (0, Some(0.0))
    );
    let permanent = group(&results.summary, "permanent");
    assert_eq!((permanent.refused_flows, permanent.refused_fraction), (0, None));
}

/// The link from the switch to one of four hosts is overloaded, and controls its flows: those to the two
/// other hosts, two thirds, begin.
#[test]
fn admission_control_at_a_port_refuses_the_flows_to_that_port() {
    let text = r#"
        duration = "4 s"
        measure_from = "1 s"
        [switches.tor]
        hosts = 4
        rate = "1 Gbit/s"
        delay = "10 us"
        queue = { kind = "drop_tail", limit = "100 packets" }
        [flows.busy]
        from = "tor.h2"
        to = "tor.h3"
        count = 10
        source = { kind = "cbr", rate = "200 Mbit/s" }
        [flows.mice]
        from = "tor.h0"
        to = "tor"
        congestion = "cubic"
        source = { kind = "finite_flows", arrivals_per_second = 500, size = "10 kB" }
    "#;
    let mut network = scenario_run::network(text, 1);
    let port = network.links.iter_mut().find(|link| link.name.contains("switch-h3"));
    let mut admission = FlowAdmissionSpec::default();
    admission.min_fair_rate = Some(BitRate::new(500_000_000));
    port.expect("it is a port").admission = Some(admission);
    let results = scenario_run::finish(&network);
    let mice = group(&results.summary, "mice");
    // 1,500 flows: five standard deviations of a share of a third are 0.061.
    let refused = mice.refused_fraction.expect("flows arrive");
    assert!((refused - 1.0 / 3.0).abs() < 0.061, "{refused} of {} flows", mice.flows);
}
