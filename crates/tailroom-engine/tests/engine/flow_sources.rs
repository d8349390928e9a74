//! Sources of dynamic flows (media flows, lists of flows and web sessions), against closed forms
//! and timetables by hand.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on fails")]

use tailroom_engine::distribution::{Count, Distribution};
use tailroom_engine::random::stream;
use tailroom_engine::simulation::Simulation;
use tailroom_engine::traffic::arrivals::FlowArrivals;
use tailroom_engine::traffic::context::Group;
use tailroom_engine::traffic::web::{Web, WebSpec};
use tailroom_engine::traffic::{FlowSource, FlowSourceSpec, SourceSpec};
use tailroom_engine::units::Time;

use crate::support::case::{Case, NULL, Run, case, check, close, near, within};
use crate::support::scenario_text::{parse, resolve};

const SECOND: f64 = 1e12;

/// Media flows of two packets per second on a link with ample capacity.
fn streaming(source: &str, duration: &str) -> Case {
    let source = format!("kind = 'streaming', rate = '16 kbit/s', {source}");
    let keys = format!("packet_size = '1000 B', source = {{ {source} }}");
    case(&format!("{duration} from 100 s"))
        .link("link", "10 Mbit/s, 1 ms, 100 packets")
        .flows("media", "link", keys)
}

const EXPONENTIAL: &str = "duration = { kind = 'exponential', mean = '2 s' }";

/// M/G/infinity: the number of flows in progress is Poisson with the mean rate times duration, for
/// any distribution of the duration.
#[test]
fn media_flows_in_progress_are_poisson_for_any_distribution_of_durations() {
    for duration in [
        "duration = '2 s'",
        EXPONENTIAL,
        "duration = { kind = 'uniform', from = '0.5 s', to = '3.5 s' }",
    ] {
        let run = streaming(&format!("arrivals_per_second = 10, {duration}"), "10100 s").run();
        // The integral of the covariance is 20 E[D^2] / E[D], at most 80 s: over 10,000 s a
        // standard deviation of 0.09.
        run.expect("links.link.flows_in_progress_mean", near(20.0, 0.3))
            .expect("links.link.bottlenecked_time_fraction", within(..=0.0))
            .expect("groups.media.loss_fraction", 0);
        let counts = run.tables.flow_counts.as_ref().expect("it is recorded");
        let mut poisson = (-20.0_f64).exp();
        let (mut distance, mut rest, mut next) = (0.0, 1.0, 0.0);
        for (flows, share) in counts.flows.iter().zip(&counts.in_progress_fraction) {
            while next < *flows {
                next += 1.0;
                poisson *= 20.0 / next;
            }
            distance += (share - poisson).abs();
            rest -= poisson;
        }
        // 2,500 independent observations of about 25 likely values: a distance of 0.04 in total.
        assert!(0.5 * (distance + rest) < 0.06, "{duration}: {}", 0.5 * (distance + rest));
    }
}

/// A flow of duration D sends one packet per gap g from its start on: ceil(D / g). For exponential
/// D the mean number is 1 / (1 - exp(-g / E[D])).
#[test]
fn media_flows_send_one_packet_per_gap_for_their_duration() {
    let run = streaming(&format!("arrivals_per_second = 10, {EXPONENTIAL}"), "10100 s").run();
    let expected_bps = 10.0 * 8_000.0 / (1.0 - (-0.25_f64).exp());
    // 100,000 flows of 4.52 packets with a standard deviation of 4.0: a relative deviation of 1 /
    // 240, including that of their number.
    run.expect("groups.media.throughput_bps", close(expected_bps, 0.015))
        // Transmission of 1000 B at 10 Mbit/s, 1 ms of propagation, and some queueing.
        .expect("groups.media.one_way_delay_s_mean", within(0.0018..0.00182))
        .expect("groups.media.rtt_s_mean", NULL);
    let media = run.group("media");
    check("share of payload", media.goodput_bps / media.throughput_bps, near(0.96, 1e-3 * 0.96));
    assert_eq!(media.congestion, None);
}

#[test]
fn media_flows_offer_the_given_load() {
    // 0.04 * 10^7 / (8000 * 4.52) = 11.06 flows per second: 110,600 flows of 4.52 packets with a
    // standard deviation of 4.0.
    streaming(&format!("load = 0.04, {EXPONENTIAL}"), "10100 s")
        .run()
        .expect("links.link.offered_load", close(0.04, 0.015));
}

/// Media flows count by their rate: ten flows of 1 Mbit/s fill 10 Mbit/s and eleven exceed it. The
/// link does not slow them down; it drops the excess.
#[test]
fn media_flows_are_bottlenecked_while_the_fair_rate_is_below_theirs() {
    let run = |flows: usize| {
        let arrivals = vec!["'1 s'"; flows].join(", ");
        let source = "kind = 'streaming', rate = '1 Mbit/s', duration = '4 s', flow_log = 99";
        let source = format!("source = {{ {source}, arrivals = [{arrivals}] }}");
        case("11 s from 1 s")
            .link("link", "10 Mbit/s, 1 ms, 20 packets")
            .flows("media", "link", format!("packet_size = '1000 B', {source}"))
            .run()
    };
    run(10)
        .expect("links.link.bottlenecked_time_fraction", within(..=0.0))
        .expect("groups.media.loss_fraction", 0);
    let too_many = run(20);
    too_many
        .expect("links.link.bottlenecked_time_fraction", near(0.4, 1e-9))
        // Half of 20 Mbit/s is lost, less the 20 of 10,000 packets that the buffer holds at the end.
        .expect("groups.media.loss_fraction", within(0.497..0.5))
        .expect("groups.media.completed_flows", 20)
        .expect("groups.media.flows", 20);
    let log = too_many.results.tables.flow_log.expect("it is recorded");
    assert_eq!(log.completion_time_s, vec![4.0; 20]);
    assert_eq!(log.slowdown, vec![1.0; 20]);
    // 500 packets of 960 B.
    assert_eq!(log.bytes, vec![480_000.0; 20]);
}

#[test]
fn numbers_of_media_flows_are_reused_without_effect_on_results() {
    let media = streaming(&format!("arrivals_per_second = 10, {EXPONENTIAL}"), "1000 s");
    let network = media.network();
    let mut again = Simulation::new(&network).expect("the network is valid");
    again.run_until(network.duration).unwrap();
    // 10,000 flows, of which 20 are in progress on average, with a standard deviation of 4.5.
    assert!(again.flow_places() < 60, "{}", again.flow_places());
    let mut fresh = Simulation::new(&network).expect("the network is valid");
    fresh.keep_numbers();
    // A burst is a sequence of packets of one flow number, so a reused number may join the packets
    // of two flows.
    let without_bursts = |simulation: Simulation| {
        let mut summary = simulation.finish().unwrap().summary;
        for (_, link) in &mut summary.links.0 {
            (link.burst_packets_mean, link.burst_packets_max) = (None, None);
        }
        summary
    };
    assert_eq!(without_bursts(fresh), without_bursts(again));
}

fn listed(keys: &str) -> Run {
    let source = "source = { kind = 'trace', file = 'flows.csv', flow_log = 100 }";
    case("20 s")
        .link("link", "100 Mbit/s, 10 ms, 100 packets")
        .flows("list", "link", format!("congestion = 'reno', {source}, {keys}"))
        .run()
}

/// `flows.csv` has three flows: 14,600 B at 1 s; 146,000 B at 2 s with at most 1 Mbit/s and 40 ms;
/// 1,460 B at 3 s with 100 ms.
#[test]
fn a_list_sets_start_size_rate_and_rtt_of_each_flow() {
    let run = listed("rtt = '200 ms', access_rate = '10 Mbit/s', send_jitter = 'none'");
    run.expect("groups.list.flows", 3);
    let log = run.results.tables.flow_log.expect("it is recorded");
    assert_eq!(log.start_s, [1.0, 2.0, 3.0]);
    assert_eq!(log.bytes, [14_600.0, 146_000.0, 1_460.0]);
    // Ten packets, the initial window, take 12 ms at 10 Mbit/s, and the last of them 0.12 ms at 100
    // Mbit/s; the RTT is 200 ms.
    // 100 packets take 1.2 s at 1 Mbit/s; ACKs return before the window is sent.
    for (time, expected) in log.completion_time_s.iter().zip([0.212_12, 1.240_12, 0.101_32]) {
        check("completion time", *time, near(expected, 1e-9));
    }
    assert_eq!(log.completion_time_s.len(), 3);
    // The ideal time is one transmission at the slower of access link and link, and the RTT.
    check("slowdown", log.slowdown[2], near(0.101_32 / 0.101_2, 1e-9));
}

#[test]
fn start_shifts_the_times_of_a_list_and_stop_ends_it() {
    let run = listed("start = '10 s', stop = '13 s'");
    assert_eq!(run.tables.flow_log.as_ref().expect("it is recorded").start_s, [11.0, 12.0]);
}

#[test]
fn flows_of_a_list_without_an_rtt_draw_it_from_the_distribution_of_the_group() {
    let run = listed("rtt = { uniform = ['50 ms', '60 ms'] }");
    let first = run.results.tables.flow_log.expect("it is recorded").completion_time_s[0];
    // Ten packets of 0.12 ms.
    check("first", first, within(0.0512..0.0612));
}

fn web(arrivals: &[u64], pages: u32, embedded: u32, parallel: u32) -> WebSpec {
    let count = |number: u32| Count::Rounded(Distribution::Fixed(f64::from(number)));
    let arrivals = arrivals.iter().map(|at| Time::from_milliseconds(*at)).collect();
    let (think_time, object, rtt) = (5.0 * SECOND, 1_000.0, 0.1 * SECOND);
    let [think_time, object, rtt] = [think_time, object, rtt].map(Distribution::Fixed);
    with!(
        WebSpec::new(FlowArrivals::Given(arrivals), count(pages), think_time, object, rtt),
        WebSpec {
            parsing_time: Distribution::Fixed(0.2 * SECOND),
            embedded_objects: count(embedded),
            embedded_object: Distribution::Fixed(500.0),
            parallel
        }
    )
}

/// The web sessions of a group that has 20 s for them.
fn web_spec(source: &str) -> WebSpec {
    let source = format!("source = {{ kind = 'web', {source} }}");
    let keys = format!("congestion = 'reno', stop = '20 s', {source}");
    let case =
        case("10 s").link("link", "100 Mbit/s, 10 ms, 100 packets").flows("web", "link", keys);
    match case.network().groups[0].source.clone() {
        SourceSpec::Flows(FlowSourceSpec::Web(spec)) => spec,
        other => panic!("{other:?}"),
    }
}

/// Starts and bytes of the objects if object `n` is complete `durations(n)` milliseconds after its
/// start.
fn timetable(spec: &WebSpec, durations: impl Fn(usize) -> u64) -> Vec<(u64, u64)> {
    let group = Group { name: "web", seed: 1, packet_bytes: 1_500, header_bytes: 40, hosts: None };
    let mut source = Web::new(spec, &group, Time::ZERO);
    let mut objects = Vec::new();
    let mut completions: Vec<(Time, u32)> = Vec::new();
    loop {
        completions.sort_unstable();
        let next = source.next_arrival();
        if let Some(&(at, tag)) = completions.first().filter(|(at, _)| *at <= next) {
            completions.remove(0);
            source.on_completion(tag, at);
        } else if let Some(plan) = source.next_flow() {
            assert_eq!(plan.start, next);
            let span = Time::from_milliseconds(durations(objects.len()));
            completions.push((plan.start + span, plan.tag));
            objects.push((plan.start.picoseconds() / 1_000_000_000, plan.bytes.unwrap()));
        } else {
            assert_eq!(source.sessions(), 0);
            return objects;
        }
    }
}

/// By hand, with an RTT of 100 ms, 200 ms of parsing and 5 s of thinking: the main object lasts
/// from 1,000 to 1,400 ms. Two embedded objects start at 1,400 + 100 + 200 = 1,700 ms, and the
/// third 100 ms after the shorter of them, of 50 ms, ends at 1,750 ms. The page ends with the
/// longest object, 900 ms after 1,700 ms; the next page starts 5 s and an RTT later.
#[test]
fn embedded_objects_follow_the_main_object_and_the_next_page_follows_all_objects() {
    let lengths = [400, 50, 900, 10, 400, 50, 900, 10];
    let objects = timetable(&web(&[1_000], 2, 3, 2), |index| lengths[index]);
    let page =
        |start: u64| [(start, 1_000), (start + 700, 500), (start + 700, 500), (start + 850, 500)];
    assert_eq!(objects, [page(1_000), page(7_700)].concat());
    // One object at a time: 1,700, 1,700 + 50 + 100, 1,850 + 900 + 100.
    let objects = timetable(&web(&[1_000], 1, 3, 1), |index| lengths[index]);
    assert_eq!(objects, [(1_000, 1_000), (1_700, 500), (1_850, 500), (2_850, 500)]);
    // Without embedded objects the next page starts an RTT and a think time after the main object.
    let objects = timetable(&web(&[1_000, 2_000], 2, 0, 4), |_| 400);
    assert_eq!(objects, [(1_000, 1_000), (2_000, 1_000), (6_500, 1_000), (7_500, 1_000)]);
}

/// The published means per session: 5 pages of 1 + 5.62 objects. The mean sizes are integrals over
/// the bounded densities, the mean number of objects follows from its tail.
#[test]
fn sessions_of_the_ieee_802_16m_model_have_the_published_means() {
    let spec = web_spec(
        "model = 'ieee80216m', parallel = 4, arrivals_per_second = 1000, \
         pages = { kind = 'geometric', mean = 5 }",
    );
    // By numerical integration of the lognormal densities between their bounds; the published
    // 10,710 and 7,758 B are before those.
    assert!((spec.main_object.mean() - 10_734.07).abs() < 0.1, "{}", spec.main_object.mean());
    assert!((spec.embedded_object.mean() - 8_212.18).abs() < 0.1);
    assert!((spec.embedded_objects.mean() - 5.62).abs() < 1e-4);
    let objects = timetable(&spec, |_| 100);
    // 20,000 sessions: the number has a standard deviation of 141 sessions. The geometric number of
    // pages per session has a standard deviation of sqrt(20): together 1 / 158 of the 100,000
    // pages. The number of objects per page has a standard deviation of 10.6, which adds 1 / 198.
    let count = objects.len() as f64;
    assert!((count / (20_000.0 * 5.0 * 6.62) - 1.0).abs() < 0.04, "{count}");
    // The size of an object has a standard deviation of 46,600 B: 57 B for the mean of 662,000
    // objects.
    let mean = objects.iter().map(|object| object.1 as f64).sum::<f64>() / count;
    let expected = (10_734.07 + 5.62 * 8_212.18) / 6.62;
    assert!((mean - expected).abs() < 200.0, "{mean}, expected {expected}");
    assert!(objects.iter().all(|object| (50..=2_000_000).contains(&object.1)));
}

/// Both models against second sources: Table 1 of EURASIP J. Wireless Commun. Netw. 2012:287
/// (Pareto, mean 5.64, at most 53) and the documentation of `ThreeGppHttpVariables` in ns-3
/// ("approximately 3.95"). Bounds and times are the same in both.
#[test]
fn the_two_published_web_models_differ_only_in_the_number_of_embedded_objects() {
    let of = |model| web_spec(&format!("model = '{model}', arrivals_per_second = 1, pages = 1"));
    let (cut, redrawn) = (of("ieee80216m"), of("ns3"));
    assert_eq!(cut.parsing_time, Distribution::Exponential { mean: 0.13 * SECOND });
    assert_eq!(cut.think_time, Distribution::Exponential { mean: 30.0 * SECOND });
    for (size, least) in [(&cut.main_object, 100.0), (&cut.embedded_object, 50.0)] {
        let Distribution::BoundedLognormal { minimum, maximum, .. } = size else { panic!("sizes") };
        assert_eq!((*minimum, *maximum), (least, 2e6));
    }
    // The mean of a number N is the sum of P(N >= n). If N is clipped at 53 and rounded to the
    // nearest integer, P(N >= n) is (2 / (n + 1.5))^1.1; if it is drawn again above 53 and rounded
    // down, it is ((2 / (2 + n))^1.1 - p) / (1 - p) with p = (2 / 55)^1.1.
    let tail = |beyond: f64| (2.0 / beyond).powf(1.1);
    let numbers = || (1..=53).map(f64::from);
    let nearest: f64 = numbers().map(|number| tail(number + 1.5)).sum();
    let down: f64 =
        numbers().map(|number| (tail(2.0 + number) - tail(55.0)) / (1.0 - tail(55.0))).sum();
    assert!((cut.embedded_objects.mean() - nearest).abs() < 1e-9, "{nearest}");
    assert!((redrawn.embedded_objects.mean() - down).abs() < 1e-9, "{down}");
    assert!((nearest / 5.64 - 1.0).abs() < 0.01, "{nearest}");
    assert!((down / 3.95 - 1.0).abs() < 0.01, "{down}");
    let embedded_objects = cut.embedded_objects.clone();
    assert_eq!(with!(redrawn.clone(), WebSpec { embedded_objects }), cut);
    let mut random = stream(1, "numbers");
    let most = (0..100_000).map(|_| redrawn.embedded_objects.sample(&mut random)).max();
    assert_eq!(most, Some(52));
}

#[test]
fn a_key_overrides_one_parameter_of_a_web_model() {
    let spec = web_spec(
        "model = 'ieee80216m', arrivals_per_second = 1, pages = 3, think_time = '2 s', \
         embedded_objects = 4",
    );
    assert_eq!(spec.think_time, Distribution::Fixed(2.0 * SECOND));
    assert_eq!(spec.embedded_objects, Count::Rounded(Distribution::Fixed(4.0)));
    assert_eq!(spec.parsing_time, Distribution::Exponential { mean: 0.13 * SECOND });
    assert_eq!(spec.parallel, 1);
}

/// P(n) = (1 - q) q^(n - least) with q = m / (1 + m), where m is the mean above the least value:
/// the variance is m (1 + m).
#[test]
fn geometric_counts_have_their_mean_and_variance() {
    for (least, mean) in [(1, 5.0), (0, 0.3), (0, 40.0), (2, 2.0)] {
        let count = Count::Geometric { least, mean };
        let mut random = stream(1, "counts");
        let draws: Vec<f64> = (0..100_000).map(|_| count.sample(&mut random) as f64).collect();
        let average = draws.iter().sum::<f64>() / 1e5;
        let variance = draws.iter().map(|draw| (draw - average).powi(2)).sum::<f64>() / 1e5;
        let more: f64 = mean - least as f64;
        let expected = more * (1.0 + more);
        assert!(
            (average - mean).abs() <= 4.0 * (expected / 1e5).sqrt(),
            "{least}, {mean}: {average}"
        );
        // The fourth central moment is at most 9 squared variances plus one variance.
        assert!(
            (variance - expected).abs()
                <= 4.0 * (9.0 * expected * expected + expected).sqrt() / 316.0
        );
        assert!(draws.iter().all(|draw| *draw >= least as f64));
    }
}

/// Sessions with fixed pages in a whole simulation: they have the expected number of objects and
/// bytes, and offer the given load.
#[test]
fn web_sessions_offer_their_load_and_complete_their_objects() {
    let source = "kind = 'web', load = 0.4, pages = 4, parallel = 2, \
                  think_time = { kind = 'exponential', mean = '2 s' }, \
                  main_object = '14600 B', embedded_objects = 5, embedded_object = '7300 B'";
    let rtt = "rtt = { uniform = ['40 ms', '100 ms'] }, access_rate = '10 Mbit/s'";
    // 4 (15,000 + 5 * 7,500) = 210,000 B per session: 4.76 sessions per second, 4,524 in total.
    let sessions = 0.4 * 20e6 / (8.0 * 210_000.0) * 950.0;
    let run = case("1000 s from 50 s")
        .link("link", "20 Mbit/s, 10 ms, 100 packets")
        .flows("web", "link", format!("congestion = 'reno', {rtt}, source = {{ {source} }}"))
        .run();
    run.expect("links.link.offered_load", close(0.4, 3.0 / 4_524_f64.sqrt()))
        .expect("groups.web.flows", close(24.0 * sessions, 3.0 / sessions.sqrt()));
    let web = run.group("web");
    let unfinished = web.flows - web.completed_flows;
    assert!(unfinished < 50, "{unfinished}");
    let bytes = 950.0 * web.goodput_bps / 8.0 / web.flows as f64;
    check("bytes per object", bytes, close(4.0 * 51_100.0 / 24.0, 0.01));
}

/// 10,001 B are 6 packets with 1,460 B of payload and one with 1,241 B. All are delivered within
/// the 10 s that are measured.
#[test]
fn the_goodput_of_a_bulk_flow_counts_the_bytes_of_its_short_last_packet_exactly() {
    let bulk = "source = { kind = 'bulk', bytes = '10001 B' }, rtt = '10 ms', start = '0 s'";
    let run = case("10 s from 0 s")
        .link("link", "8 Mbit/s, 1 ms, 100 packets")
        .flows("one", "link", format!("congestion = 'reno', header_size = '40 B', {bulk}"))
        .run();
    check("bytes", run.get("flows.0.goodput_bps") * 10.0 / 8.0, near(10_001.0, 1e-6));
}

/// A scenario that is written out with every default resolves to the same source.
#[test]
fn a_source_stays_the_same_when_written_out() {
    for (source, more) in [
        ("{ kind = 'trace', file = 'flows.csv' }", "congestion = 'reno'"),
        ("{ kind = 'streaming', rate = '1 Mbit/s', duration = '1 s', arrivals = ['1 s'] }", ""),
        (
            "{ kind = 'web', model = 'ieee80216m', load = 0.5, \
             pages = { kind = 'geometric', mean = 5 } }",
            "congestion = 'reno'",
        ),
        (
            "{ kind = 'web', load = 0.5, pages = 3, think_time = '1 s', main_object = '1 kB', \
             embedded_objects = { kind = 'mix', values = [0, 3], weights = [1, 2] } }",
            "congestion = 'reno'",
        ),
    ] {
        let text = case("10 s")
            .link("bottleneck", "100 Mbit/s, 20 ms, 100 packets")
            .flows("some", "bottleneck", format!("source = {source}, {more}"))
            .text;
        let written = parse(&text, &[]).unwrap().to_toml();
        let [read, again] = [&text, &written].map(|text| resolve(text).groups[0].source.clone());
        assert!(read.bulk().is_none());
        assert_eq!(read, again, "{written}");
    }
}
