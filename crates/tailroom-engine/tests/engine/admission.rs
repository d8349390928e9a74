//! Admission control of dynamic flows, against flow conservation and processor sharing.

use tailroom_engine::link::spec::FlowAdmissionSpec;
use tailroom_engine::quantity::BitRate;
use tailroom_engine::simulation::Simulation;

use crate::support::case::{Case, NULL, Run, above, below, case, check, near, within};
use crate::support::scenario_run::finish;

/// Elastic flows of 125 kB that offer `load` to a link of 20 Mbit/s, 30 per second at a load of
/// 1.5. Each gets at least 1 Mbit/s while at most 20 are in progress.
fn offered(queue: &str, load: f64, admission: &str) -> Case {
    let queue = format!("queue = {{ {queue}, limit = '400 packets' }}");
    let size = "{ kind = 'exponential', mean = '125 kB' }";
    let source = format!("kind = 'finite_flows', size = {size}, load = {load}");
    let keys = format!("congestion = 'reno', source = {{ {source} }}");
    case("520 s from 20 s")
        .link("link", format!("20 Mbit/s, 0.5 ms, {queue}, {admission}"))
        .flows("elastic", "link", keys)
}

const FAIR: &str = "kind = 'fair'";
const PRIORITY_FAIR: &str = "kind = 'fair', scheduler = 'priority_fair'";
const DROP_TAIL: &str = "kind = 'drop_tail'";
const ONE_MEGABIT: &str = "admission = { min_fair_rate = '1 Mbit/s' }";

/// Next to the stream, a flow gets 5 Mbit/s. A query follows one that is refused at once, at the same time.
#[test]
fn a_source_that_lets_no_time_pass_is_stopped_by_its_name() {
    let queries = "kind = 'incast', fan_in = 3, size = '125 kB', think_time = '0 s'";
    let network = case("10 s")
        .link("link", "20 Mbit/s, 0.5 ms, 400 packets, admission = { min_fair_rate = '19 Mbit/s' }")
        .stream("stream", "link", "cbr 15 Mbit/s, 1500 B")
        .flows("queries", "link", format!("congestion = 'reno', source = {{ {queries} }}"))
        .network();
    let run = Simulation::new(&network).expect("the network is valid");
    let message = run.finish().expect_err("the run does not end").to_string();
    assert!(message.starts_with("flows.queries.source: incast, at "), "{message}");
    assert!(message.contains("let time pass"), "{message}");
}

/// The admitted load is at most the capacity: blocking >= 1 - 1 / rho. With processor sharing among
/// at most N flows (M/G/1/N, insensitive to the sizes) blocking is P(N) = (1 - rho) rho^N / (1 -
/// rho^(N + 1)), for N = 20 less than 0.0002 above that bound.
fn assert_overload_is_refused(run: &Run) {
    // 15,000 flows: the sum of the sizes, and so the bound, has a relative standard deviation of
    // 0.8 %. Retransmissions are 6 to 8 % of the packets on the link.
    let bound = 1.0 - 1.0 / run.get("links.link.offered_load");
    run.expect("groups.elastic.refused_fraction", above(bound - 0.012))
        .expect("groups.elastic.refused_fraction", below(bound + 0.03))
        .expect("links.link.utilization", above(0.98));
    let group = run.group("elastic");
    let all = group.all_sizes.as_ref().expect("the flows are dynamic");
    assert_eq!(all.completed_flows + all.unfinished_flows + group.refused_flows, group.flows);
}

#[test]
fn overload_is_refused_and_flows_in_progress_keep_the_threshold_rate() {
    for queue in [FAIR, PRIORITY_FAIR] {
        let run = offered(queue, 1.5, ONE_MEGABIT).run();
        assert_overload_is_refused(&run);
        // Decisions are late by up to an interval, in which three flows arrive: 20 to 23 flows when
        // the link is full.
        run.expect("links.link.flows_in_progress_mean", within(15.0..21.0))
            .expect("links.link.flows_in_progress_p99", below(28.0));
        let flows = run.get("links.link.flows_in_progress_mean");
        check("bit/s per flow", run.group("elastic").goodput_bps / flows, above(1e6));
    }
}

/// A FIFO queue shares the link unequally, and most flows get less than the fair rate at which the
/// meter sends, so more than 20 flows are in progress. But their number stays bounded: without
/// admission control it would grow by ten per second.
#[test]
fn overload_of_a_fifo_queue_is_refused_although_rates_differ() {
    let run = offered(DROP_TAIL, 1.5, ONE_MEGABIT).run();
    assert_overload_is_refused(&run);
    run.expect("links.link.flows_in_progress_mean", within(20.0..45.0))
        .expect("links.link.flows_in_progress_p99", below(60.0));
}

/// 20 flows are in progress for (1 - rho) rho^20 = 0.0002 of the time, so almost no flow is
/// refused.
#[test]
fn almost_no_flow_is_refused_below_saturation() {
    for queue in [FAIR, DROP_TAIL] {
        offered(queue, 0.7, ONE_MEGABIT)
            .run()
            .expect("groups.elastic.flows", above(6_000.0))
            .expect("groups.elastic.refused_fraction", below(0.01));
    }
}

/// Flows of 100 kbit/s never wait under fair queueing: all their packets have priority, and no flow
/// is bottlenecked until the link is full. The threshold on the priority load keeps it below that.
#[test]
fn priority_load_limits_flows_that_do_not_wait() {
    offered(PRIORITY_FAIR, 1.2, "admission = { max_priority_load = 0.7 }")
        .set("flows.elastic.access_rate", "100 kbit/s")
        .set("flows.elastic.packet_size", "250 B")
        .set("flows.elastic.rtt", "20 ms")
        .run()
        // The load of the admitted flows varies around the threshold, over the duration of a flow,
        // 10 s.
        .expect("links.link.utilization", near(0.7, 0.05))
        .expect("groups.elastic.refused_fraction", near(1.0 - 0.7 / 1.2, 0.06));
}

/// A link without admission control refuses no flow, and groups of permanent flows have no refused
/// fraction.
#[test]
fn no_flow_is_refused_without_admission_control() {
    offered(DROP_TAIL, 0.3, "")
        .flows("permanent", "link", "congestion = 'reno'")
        .run()
        .expect("groups.elastic.refused_flows", 0)
        .expect("groups.elastic.refused_fraction", 0)
        .expect("groups.permanent.refused_flows", 0)
        .expect("groups.permanent.refused_fraction", NULL);
}

/// The link from the switch to one of four hosts is overloaded, and controls its flows: those to the two
/// other hosts, two thirds, begin.
#[test]
fn admission_control_at_a_port_refuses_the_flows_to_that_port() {
    let ports = "hosts = 4, rate = '1 Gbit/s', delay = '10 us', \
                 queue = { kind = 'drop_tail', limit = '100 packets' }";
    let busy = "count = 10, source = { kind = 'cbr', rate = '200 Mbit/s' }";
    let mice = "source = { kind = 'finite_flows', arrivals_per_second = 500, size = '10 kB' }";
    let mut network = case("4 s from 1 s")
        .table("switches.tor", ports)
        .table("flows.busy", format!("from = 'tor.h2', to = 'tor.h3', {busy}"))
        .table("flows.mice", format!("from = 'tor.h0', to = 'tor', congestion = 'cubic', {mice}"))
        .network();
    let port = network.links.iter_mut().find(|link| link.name.contains("switch-h3"));
    let mut admission = FlowAdmissionSpec::default();
    admission.min_fair_rate = Some(BitRate::new(500_000_000));
    port.expect("it is a port").admission = Some(admission);
    let (_, mice) = &finish(&network).summary.groups.0[1];
    // 1,500 flows: five standard deviations of a share of a third are 0.061.
    check("mice", mice.refused_fraction.expect("flows arrive"), near(1.0 / 3.0, 0.061));
}
