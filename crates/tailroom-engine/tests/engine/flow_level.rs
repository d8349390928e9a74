//! Dynamic flows, against processor sharing and the claims of Auge and Roberts (2006).

use tailroom_engine::results::{FlowCounts, Regime, WarningKind};
use tailroom_engine::simulation::Simulation;

use crate::support::case::{Case, Run, below, case, check, near, within};

/// Elastic flows with exponential sizes over a fair queue of 100 Mbit/s: RTTs of 1 ms, and a mean
/// size of 100 bandwidth-delay products.
fn elastic(load: f64) -> Case {
    let size = "{ kind = 'exponential', mean = '1.25 MB' }";
    let source = format!("kind = 'finite_flows', size = {size}, load = {load}");
    let keys = format!("congestion = 'reno', source = {{ {source} }}");
    case("2000 s from 100 s")
        .link("link", "100 Mbit/s, 0.5 ms, fair 1000 packets")
        .flows("elastic", "link", keys)
}

fn counts(run: &Run) -> &FlowCounts {
    run.tables.flow_counts.as_ref().expect("it is recorded")
}

/// The total variation distance between the fractions of time with n bottlenecked flows and (1 -
/// rho) rho^n.
fn variation_from_geometric(counts: &FlowCounts, rho: f64) -> f64 {
    let mut unseen = 1.0;
    let mut distance = 0.0;
    for (flows, share) in counts.flows.iter().zip(&counts.bottlenecked_fraction) {
        let expected = (1.0 - rho) * rho.powf(*flows);
        unseen -= expected;
        distance += (share - expected).abs();
    }
    0.5 * (distance + unseen)
}

/// Processor sharing (Auge and Roberts sec. III-C): each of n flows in progress gets an n-th of the
/// link, so P(n) = (1 - rho) rho^n, and a flow takes as long as its size at the rate C (1 - rho).
#[test]
fn elastic_flows_follow_processor_sharing() {
    for load in [0.3, 0.6] {
        let run = elastic(load).run();
        let (link, group) = (run.link("link"), run.group("elastic"));
        let rho = link.sharing.offered_load;
        // With a mean of 1.28 MB on the wire: 4,400 and 8,800 flows. Their number has a relative
        // standard deviation of 1.5 and 1.1 %, and their total size sqrt(2) times that.
        check("load", rho / load, near(1.0, 3.0 * 1.414 / (group.flows as f64).sqrt()));
        check("variation", variation_from_geometric(counts(&run), rho), below(0.05));
        let duration_s = run.get("groups.elastic.all_sizes.completion_time_s_mean");
        let mean_bits = 8.0 * group.goodput_bps / 8.0 * 1_900.0 / group.flows as f64;
        let rate = mean_bits / duration_s / (100e6 * (1.0 - rho));
        check("share of C (1 - rho)", rate, within(0.9..1.02));
        assert_eq!(link.sharing.regime, Regime::Elastic);
    }
}

/// With flows that the link does not limit, elastic flows share the rest of the capacity C' as if
/// it were the link, with rho' = elastic load over C'.
#[test]
#[ignore = "slow: about ten million packets"]
fn elastic_flows_share_the_capacity_that_other_flows_leave() {
    let run =
        elastic(0.3).stream("background", "link", "poisson 1 Mbit/s, 1500 B, count = 40").run();
    let link = run.link("link");
    let rho = (link.sharing.offered_load - 0.4) / 0.6;
    check("variation", variation_from_geometric(counts(&run), rho), below(0.05));
    run.expect("groups.background.loss_fraction", 0);
    assert_eq!(link.sharing.regime, Regime::Elastic);
}

/// Flows of 1 Mbit/s that offer `load` to a link with a buffer of 100 packets.
fn limited(rate: &str, load: f64, duration_s: u32) -> Case {
    let size = "{ kind = 'exponential', mean = '125 kB' }";
    let source = format!("kind = 'finite_flows', size = {size}, load = {load}");
    let reno =
        "congestion = 'reno', rtt = { uniform = ['20 ms', '200 ms'] }, access_rate = '1 Mbit/s'";
    case(&format!("{duration_s} s from 5 s"))
        .link("link", format!("{rate}, 1 ms, 100 packets"))
        .flows("limited", "link", format!("{reno}, source = {{ {source} }}"))
}

/// Transparent regime (Auge and Roberts sec. III-B): at 10 Gbit/s and a load of 0.9 "a buffer of
/// 100 packets" loses less than 1 packet in 30,000. The mean number of flows is 9,000 with a
/// standard deviation of 95, which stays far below 10,000.
#[test]
#[ignore = "slow: about ten million packets"]
fn a_large_link_is_transparent_to_rate_limited_flows() {
    let run = limited("10 Gbit/s", 0.9, 10).run();
    assert_eq!(run.link("link").sharing.regime, Regime::Transparent);
    run.expect("links.link.bottlenecked_time_fraction", within(..=0.0))
        .expect("links.link.utilization", near(0.9, 0.03))
        .expect("links.link.loss_fraction", below(1.0 / 30_000.0));
}

/// Under overload the number of flows grows and all of them are bottlenecked.
#[test]
fn flows_in_progress_grow_without_bound_under_overload() {
    let at = |seconds| {
        let run = limited("20 Mbit/s", 1.5, seconds).run();
        assert_eq!(run.link("link").sharing.regime, Regime::Overload);
        ["flows_in_progress_mean", "bottlenecked_flows_mean"]
            .map(|name| run.get(&format!("links.link.{name}")))
    };
    let ([early, _], [late, bottlenecked]) = (at(20), at(80));
    assert!(late > 2.0 * early, "{early}, {late}");
    assert!(bottlenecked > 0.98 * late, "{bottlenecked} of {late}");
}

/// A link in overload is named in a warning, unless it refuses flows.
#[test]
fn overload_is_a_warning_unless_flows_are_refused() {
    let refusing = Some("{ min_fair_rate = '2 Mbit/s' }");
    for (load, admission, is_warned) in
        [(0.5, None, false), (1.5, None, true), (1.5, refusing, false)]
    {
        let case = limited("20 Mbit/s", load, 20);
        let set = |case: Case, admission| case.set("links.link.admission", admission);
        let run = case.each(admission, set).run();
        let warning = run.warning(WarningKind::Overload).map(|warning| warning.place.as_str());
        assert_eq!(warning, is_warned.then_some("links.link"), "{load}, {admission:?}");
    }
}

/// After its stop a group of dynamic flows starts no flow; the flows in progress finish.
#[test]
fn flows_in_progress_at_the_stop_finish() {
    let run = elastic(1.3)
        .set("duration", "60 s")
        .set("measure_from", "0 s")
        .set("flows.elastic.stop", "20 s")
        .set("flows.elastic.source.flow_log", 1_000)
        .run();
    let flows = run.group("elastic");
    // 13 flows per second for 20 s take 26 s of the capacity: about 60 are in progress at the stop.
    assert!((200..330).contains(&flows.flows), "{} flows", flows.flows);
    assert_eq!(flows.completed_flows, flows.flows);
    let log = run.tables.flow_log.as_ref().expect("it is recorded");
    assert!(log.start_s.iter().all(|start| *start < 20.0));
    let ends = log.start_s.iter().zip(&log.completion_time_s).map(|(start, time)| start + time);
    let late = ends.filter(|end| *end > 20.0).count();
    assert!(late > 20, "{late} of {}", flows.flows);
}

/// A reused flow number has no effect on results, and the simulation has about as many numbers as
/// flows in progress at once, plus a few whose last packets are still in the network.
#[test]
fn flow_numbers_are_reused_without_effect_on_results() {
    let case = limited("30 Mbit/s", 0.8, 200);
    let (network, again) = (case.network(), case.run().results);
    let mut fresh = Simulation::new(&network).expect("the network is valid");
    fresh.keep_numbers();
    fresh.run_until(network.duration).expect("memory has no limit");
    let flows = fresh.flow_places();
    let fresh = fresh.finish().expect("the account balances");
    assert_eq!(fresh.summary, again.summary);
    assert_eq!(fresh.tables.flow_counts, again.tables.flow_counts);
    assert!(flows > 4_000, "{flows}");
    let mut simulation = Simulation::new(&network).expect("the network is valid");
    simulation.run_until(network.duration).expect("memory has no limit");
    let counts = again.tables.flow_counts.expect("it is recorded");
    let most = counts.flows.iter().fold(0.0_f64, |most, flows| most.max(*flows));
    let places = simulation.flow_places() as f64;
    assert!(places <= 1.2 * most + 20.0, "{places} for at most {most} at once");
}

/// The completion time of a flow alone follows from its size and RTT: ten packets need the
/// slow-start rounds of 2, 4 and 4 packets.
#[test]
fn a_short_flow_alone_takes_the_round_trips_of_slow_start() {
    let source =
        "kind = 'finite_flows', size = '14600 B', arrivals = ['1 s', '3 s'], flow_log = 10";
    let reno = "congestion = 'reno', send_jitter = 'none', rtt = '100 ms', initial_window = 2";
    let run = case("10 s")
        .link("link", "12 Mbit/s, 10 ms, 100 packets")
        .flows("one", "link", format!("{reno}, source = {{ {source} }}"))
        .run();
    let log = run.tables.flow_log.as_ref().expect("it is recorded");
    assert_eq!(
        (log.start_s.as_slice(), log.bytes.as_slice()),
        (&[1.0, 3.0][..], &[14_600.0; 2][..])
    );
    // By hand; a transmission takes 1 ms. The ACK of packet 0 at 101 ms sends packets 2 and 3,
    // which leave the link at 102 and 103 ms, and the ACK of packet 1 at 102 ms sends packets 4 and
    // 5 (104, 105). Their ACKs at 202, 203, 204 and 205 ms would send two packets each; the first
    // two send packets 6 to 9 at 202 and 203 ms. These leave the link at 203, 204, 205 and 206 ms,
    // and the last ACK arrives 100 ms later.
    for duration in &log.completion_time_s {
        check("duration", *duration, near(0.306, 1e-9));
    }
    // The ideal time: ten packets at 12 Mbit/s and one round trip, 110 ms.
    check("slowdown", log.slowdown[0], near(0.306 / 0.110, 1e-6));
    run.expect("groups.one.completed_flows", 2);
}
