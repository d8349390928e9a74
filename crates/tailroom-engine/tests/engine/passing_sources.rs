//! Media flows, lists of flows and web sessions, against closed forms and timetables by hand.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on fails")]

use tailroom_engine::distribution::{Count, Distribution};
use tailroom_engine::random::stream;
use tailroom_engine::results::Results;
use tailroom_engine::scenario;
use tailroom_engine::simulation::Simulation;
use tailroom_engine::traffic::web::{Web, WebSpec};
use tailroom_engine::traffic::{FlowArrivals, FlowSource, SourceSpec};
use tailroom_engine::units::Time;

use crate::support::scenario_run;
use crate::support::scenario_text::{FILES, resolve};
use crate::support::summaries::{group, link};

const SECOND: f64 = 1e12;

/// Streams of two packets a second on a wide link.
fn streaming(source: &str, duration: &str) -> String {
    format!(
        r#"
        duration = "{duration}"
        measure_from = "100 s"
        [links.link]
        rate = "10 Mbit/s"
        delay = "1 ms"
        queue = {{ kind = "drop_tail", limit = "100 packets" }}
        [flows.media]
        path = ["link"]
        packet_size = "1000 B"
        source = {{ kind = "streaming", rate = "16 kbit/s", {source} }}
        "#
    )
}

/// M/G/infinity: the number in progress is Poisson with mean rate times duration, whatever the
/// distribution of the duration.
#[test]
fn media_flows_in_progress_are_poisson_whatever_their_durations() {
    for duration in [
        "\"2 s\"",
        "{ kind = \"exponential\", mean = \"2 s\" }",
        "{ kind = \"uniform\", from = \"0.5 s\", to = \"3.5 s\" }",
    ] {
        let source = format!("arrivals_per_second = 10, duration = {duration}");
        let results = scenario_run::run(&streaming(&source, "10100 s"), 1);
        let sharing = &link(&results.summary, "link").sharing;
        let mean = sharing.flows_in_progress_mean.unwrap();
        // The integral of the covariance is 20 E[D^2] / E[D], at most 80 s; over 10,000 s a standard
        // deviation of 0.09.
        assert!((mean - 20.0).abs() < 0.3, "{duration}: {mean}");
        let counts = results.tables.flow_counts.as_ref().expect("it is recorded");
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
        // 2,500 independent looks at some 25 values of weight: 0.04 in total.
        assert!(0.5 * (distance + rest) < 0.06, "{duration}: {}", 0.5 * (distance + rest));
        assert!(sharing.bottlenecked_time_fraction <= 0.0);
        assert_eq!(group(&results.summary, "media").loss_fraction, Some(0.0));
    }
}

/// A flow of duration D sends a packet each gap g from its start on: ceil(D / g). Of exponential D the
/// mean of that is 1 / (1 - exp(-g / E[D])).
#[test]
fn media_flows_send_the_packets_that_their_durations_have_room_for() {
    let source = "arrivals_per_second = 10, duration = { kind = \"exponential\", mean = \"2 s\" }";
    let results = scenario_run::run(&streaming(source, "10100 s"), 1);
    let media = group(&results.summary, "media");
    let expected_bps = 10.0 * 8_000.0 / (1.0 - (-0.25_f64).exp());
    // 100,000 flows of 4.52 packets, standard deviation 4.0: 1 in 240 with their number.
    assert!((media.throughput_bps / expected_bps - 1.0).abs() < 0.015, "{}", media.throughput_bps);
    assert!((media.goodput_bps / media.throughput_bps - 0.96).abs() < 1e-3);
    // Packet of 1000 B at 10 Mbit/s, 1 ms of propagation, and a few that wait.
    let delay = media.one_way_delay_s_mean.unwrap();
    assert!((0.0018..0.00182).contains(&delay), "{delay}");
    assert_eq!((media.rtt_s_mean, media.congestion.clone()), (None, None));
}

#[test]
fn media_flows_offer_the_load_that_is_given() {
    let source = "load = 0.04, duration = { kind = \"exponential\", mean = \"2 s\" }";
    let results = scenario_run::run(&streaming(source, "10100 s"), 1);
    let sharing = &link(&results.summary, "link").sharing;
    // 0.04 * 10^7 / (8000 * 4.52) = 11.06 flows a second: 110,600, of 4.52 packets, standard
    // deviation 4.0.
    assert!((sharing.offered_load / 0.04 - 1.0).abs() < 0.015, "{}", sharing.offered_load);
}

/// Media flows count with their rate: ten of 1 Mbit/s fill 10 Mbit/s, eleven do not fit. The link does
/// not end them; what it cannot carry is lost.
#[test]
fn media_flows_are_bottlenecked_while_the_fair_rate_is_below_theirs() {
    let run = |flows: usize| {
        let arrivals = vec!["\"1 s\""; flows].join(", ");
        let text = format!(
            r#"
            duration = "11 s"
            measure_from = "1 s"
            [links.link]
            rate = "10 Mbit/s"
            delay = "1 ms"
            queue = {{ kind = "drop_tail", limit = "20 packets" }}
            [flows.media]
            path = ["link"]
            packet_size = "1000 B"
            source = {{ kind = "streaming", rate = "1 Mbit/s", duration = "4 s", flow_log = 99,
                       arrivals = [{arrivals}] }}
            "#
        );
        scenario_run::run(&text, 1)
    };
    let (fits, too_many) = (run(10), run(20));
    let share =
        |results: &Results| link(&results.summary, "link").sharing.bottlenecked_time_fraction;
    assert!(share(&fits) <= 0.0);
    assert!((share(&too_many) - 0.4).abs() < 1e-9, "{}", share(&too_many));
    assert_eq!(group(&fits.summary, "media").loss_fraction, Some(0.0));
    // Half of 20 Mbit/s, less what the buffer holds at the end: 20 of 10,000 packets.
    let lost = group(&too_many.summary, "media").loss_fraction.unwrap();
    assert!((0.497..0.5).contains(&lost), "{lost}");
    let media = group(&too_many.summary, "media");
    assert_eq!((media.completed_flows, media.flows), (20, 20));
    let log = too_many.tables.flow_log.expect("it is recorded");
    assert_eq!(log.completion_time_s, vec![4.0; 20]);
    assert_eq!(log.slowdown, vec![1.0; 20]);
    // 500 packets of 960 B.
    assert_eq!(log.bytes, vec![480_000.0; 20]);
}

#[test]
fn places_of_media_flows_are_used_again() {
    let source = "arrivals_per_second = 10, duration = { kind = \"exponential\", mean = \"2 s\" }";
    let network = scenario_run::network(&streaming(source, "1000 s"), 1);
    let mut again = Simulation::new(&network);
    again.run_until(network.duration).unwrap();
    // 10,000 flows, 20 in progress on average with a standard deviation of 4.5.
    assert!(again.flow_places() < 60, "{}", again.flow_places());
    let mut fresh = Simulation::new(&network);
    fresh.keep_numbers();
    // A burst is a row of packets of one number, so that one may join two flows.
    let without_bursts = |simulation: Simulation| {
        let mut summary = simulation.finish().unwrap().summary;
        for (_, link) in &mut summary.links.0 {
            (link.burst_packets_mean, link.burst_packets_max) = (None, None);
        }
        summary
    };
    assert_eq!(without_bursts(fresh), without_bursts(again));
}

fn listed(more: &str) -> String {
    format!(
        r#"
        duration = "20 s"
        [links.link]
        rate = "100 Mbit/s"
        delay = "10 ms"
        queue = {{ kind = "drop_tail", limit = "100 packets" }}
        [flows.list]
        path = ["link"]
        congestion = {{ kind = "reno" }}
        source = {{ kind = "trace", file = "flows.csv", flow_log = 100 }}
        {more}
        "#
    )
}

fn run_with_files(text: &str) -> Results {
    let network = scenario::parse(text, &[], None, &FILES).unwrap().resolve().unwrap();
    scenario_run::finish(&network)
}

/// flows.csv: 14,600 B at 1 s; 146,000 B at 2 s, at most 1 Mbit/s, 40 ms; 1,460 B at 3 s over 100 ms.
#[test]
fn a_list_gives_start_bytes_rate_and_round_trip() {
    let results = run_with_files(&listed(
        "rtt = \"200 ms\"\naccess_rate = \"10 Mbit/s\"\nsend_jitter = \"none\"",
    ));
    let log = results.tables.flow_log.as_ref().expect("it is recorded");
    assert_eq!(log.start_s, [1.0, 2.0, 3.0]);
    assert_eq!(log.bytes, [14_600.0, 146_000.0, 1_460.0]);
    let times = &log.completion_time_s;
    // Ten packets, the initial window, at 10 Mbit/s: 12 ms, one more at 100 Mbit/s, and 200 ms.
    assert!((times[0] - 0.212_12).abs() < 1e-9, "{times:?}");
    // 100 packets at 1 Mbit/s: 1.2 s; ACKs are back before the window has left.
    assert!((times[1] - 1.240_12).abs() < 1e-9, "{times:?}");
    assert!((times[2] - 0.101_32).abs() < 1e-9, "{times:?}");
    assert_eq!(group(&results.summary, "list").flows, 3);
    // Ideal: the slower of access link and link, once, and the round trip.
    assert!((log.slowdown[2] - 0.101_32 / 0.101_2).abs() < 1e-9);
}

#[test]
fn start_shifts_a_list_and_stop_ends_it() {
    let results = run_with_files(&listed("start = \"10 s\"\nstop = \"13 s\""));
    assert_eq!(results.tables.flow_log.as_ref().expect("it is recorded").start_s, [11.0, 12.0]);
}

#[test]
fn a_list_without_rate_and_round_trip_draws_them() {
    let text = listed("rtt = { uniform = [\"50 ms\", \"60 ms\"] }");
    let results = run_with_files(&text);
    let first = results.tables.flow_log.expect("it is recorded").completion_time_s[0];
    // Ten packets of 0.12 ms.
    assert!((0.0512..0.0612).contains(&first), "{first}");
}

fn web(arrivals: &[u64], pages: u32, embedded: u32, parallel: u32) -> WebSpec {
    let count = |number: u32| Count::Rounded(Distribution::Fixed(f64::from(number)));
    WebSpec {
        arrivals: FlowArrivals::Given(
            arrivals.iter().map(|at| Time::from_milliseconds(*at)).collect(),
        ),
        pages: count(pages),
        think_time: Distribution::Fixed(5.0 * SECOND),
        main_object: Distribution::Fixed(1_000.0),
        parsing_time: Distribution::Fixed(0.2 * SECOND),
        embedded_objects: count(embedded),
        embedded_object: Distribution::Fixed(500.0),
        parallel,
        rtt: Distribution::Fixed(0.1 * SECOND),
        peak_rate: None,
        flow_log: 0,
    }
}

/// Starts and bytes of the objects when each is complete so many milliseconds after its start.
fn timetable(spec: &WebSpec, durations: impl Fn(usize) -> u64) -> Vec<(u64, u64)> {
    let mut source = Web::new(spec, Time::ZERO, 1, "web");
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

/// By hand, round trips of 100 ms, parsing 200 ms, thinking 5 s: the main object from 1,000 to 1,400
/// ms; two embedded ones at 1,400 + 100 + 200, the third when the first of them, 50 ms long, is
/// complete, at 1,750 + 100. The page ends with the longest, at 1,700 + 900, and the next begins 5 s
/// and a round trip later.
#[test]
fn a_page_waits_for_its_objects_and_the_user_for_the_page() {
    let lengths = [400, 50, 900, 10, 400, 50, 900, 10];
    let objects = timetable(&web(&[1_000], 2, 3, 2), |index| lengths[index]);
    let page =
        |start: u64| [(start, 1_000), (start + 700, 500), (start + 700, 500), (start + 850, 500)];
    assert_eq!(objects, [page(1_000), page(7_700)].concat());
    // One after another: 1,700, 1,700 + 50 + 100, 1,850 + 900 + 100.
    let objects = timetable(&web(&[1_000], 1, 3, 1), |index| lengths[index]);
    assert_eq!(objects, [(1_000, 1_000), (1_700, 500), (1_850, 500), (2_850, 500)]);
    // Nothing embedded: the next page a round trip and a think time after the main object.
    let objects = timetable(&web(&[1_000, 2_000], 2, 0, 4), |_| 400);
    assert_eq!(objects, [(1_000, 1_000), (2_000, 1_000), (6_500, 1_000), (7_500, 1_000)]);
}

/// The published means (Distribution of sizes: integrals over the bounded densities; objects: the
/// number's tail integral): per session 5 pages of 1 + 5.62 objects.
#[test]
fn the_sessions_of_ieee_802_16m_have_its_means() {
    let text = r#"
        duration = "10 s"
        [links.link]
        rate = "100 Mbit/s"
        delay = "10 ms"
        queue = { kind = "drop_tail", limit = "100 packets" }
        [flows.web]
        path = ["link"]
        congestion = { kind = "reno" }
        source = { kind = "web", model = "ieee80216m", parallel = 4, arrivals_per_second = 1000,
                   pages = { kind = "geometric", mean = 5 } }
        stop = "20 s"
    "#;
    let SourceSpec::Web(spec) = resolve(text).groups[0].source.clone() else { panic!("web") };
    // By numerical integration of the lognormal densities between their bounds; the published
    // 10,710 and 7,758 B are before those.
    assert!((spec.main_object.mean() - 10_734.07).abs() < 0.1, "{}", spec.main_object.mean());
    assert!((spec.embedded_object.mean() - 8_212.18).abs() < 0.1);
    assert!((spec.embedded_objects.mean() - 5.62).abs() < 1e-4);
    let objects = timetable(&spec, |_| 100);
    // 20,000 sessions, standard deviation 141; 100,000 pages, 20 % a session geometric: sqrt(20)
    // pages a session, 1 in 158 of the pages with the number of sessions; objects of a page have
    // standard deviation 10.6, which adds 1 in 198.
    let count = objects.len() as f64;
    assert!((count / (20_000.0 * 5.0 * 6.62) - 1.0).abs() < 0.04, "{count}");
    // Standard deviation of an object 46,600 B: 57 B of the mean of 662,000.
    let mean = objects.iter().map(|object| object.1 as f64).sum::<f64>() / count;
    let expected = (10_734.07 + 5.62 * 8_212.18) / 6.62;
    assert!((mean - expected).abs() < 200.0, "{mean} for {expected}");
    assert!(objects.iter().all(|object| (50..=2_000_000).contains(&object.1)));
}

/// Both sets against their second sources: Table 1 of EURASIP J. Wireless Commun. Netw. 2012:287 (Pareto, mean
/// 5.64, at most 53) and the documentation of ns-3's `ThreeGppHttpVariables` ("approximately 3.95"). Bounds
/// and times are alike in both.
#[test]
fn the_published_sets_differ_in_the_number_of_embedded_objects() {
    let of = |model: &str| {
        let text = format!(
            r#"
            duration = "10 s"
            [links.link]
            rate = "100 Mbit/s"
            delay = "10 ms"
            queue = {{ kind = "drop_tail", limit = "100 packets" }}
            [flows.web]
            path = ["link"]
            congestion = {{ kind = "reno" }}
            source = {{ kind = "web", model = "{model}", arrivals_per_second = 1, pages = 1 }}
            "#
        );
        let SourceSpec::Web(spec) = resolve(&text).groups[0].source.clone() else { panic!("web") };
        spec
    };
    let (cut, redrawn) = (of("ieee80216m"), of("ns3"));
    assert_eq!(cut.parsing_time, Distribution::Exponential { mean: 0.13 * SECOND });
    assert_eq!(cut.think_time, Distribution::Exponential { mean: 30.0 * SECOND });
    for (size, least) in [(&cut.main_object, 100.0), (&cut.embedded_object, 50.0)] {
        let Distribution::BoundedLognormal { minimum, maximum, .. } = size else { panic!("sizes") };
        assert_eq!((*minimum, *maximum), (least, 2e6));
    }
    // The mean of a number N is the sum of P(N >= n). Cut at 53 and rounded to the nearest, P(N >= n) is
    // (2 / (n + 1.5))^1.1; redrawn and rounded down, ((2 / (2 + n))^1.1 - p) / (1 - p) with
    // p = (2 / 55)^1.1.
    let tail = |beyond: f64| (2.0 / beyond).powf(1.1);
    let numbers = || (1..=53).map(f64::from);
    let nearest: f64 = numbers().map(|number| tail(number + 1.5)).sum();
    let down: f64 =
        numbers().map(|number| (tail(2.0 + number) - tail(55.0)) / (1.0 - tail(55.0))).sum();
    assert!((cut.embedded_objects.mean() - nearest).abs() < 1e-9, "{nearest}");
    assert!((redrawn.embedded_objects.mean() - down).abs() < 1e-9, "{down}");
    assert!((nearest / 5.64 - 1.0).abs() < 0.01, "{nearest}");
    assert!((down / 3.95 - 1.0).abs() < 0.01, "{down}");
    assert_eq!(
        WebSpec { embedded_objects: cut.embedded_objects.clone(), ..*redrawn.clone() },
        *cut
    );
    let mut random = stream(1, "numbers");
    let most = (0..100_000).map(|_| redrawn.embedded_objects.sample(&mut random)).max();
    assert_eq!(most, Some(52));
}

#[test]
fn a_model_is_overridden_key_by_key() {
    let text = r#"
        duration = "10 s"
        [links.link]
        rate = "100 Mbit/s"
        delay = "10 ms"
        queue = { kind = "drop_tail", limit = "100 packets" }
        [flows.web]
        path = ["link"]
        congestion = { kind = "reno" }
        source = { kind = "web", model = "ieee80216m", arrivals_per_second = 1, pages = 3,
                   think_time = "2 s", embedded_objects = 4 }
    "#;
    let SourceSpec::Web(spec) = resolve(text).groups[0].source.clone() else { panic!("web") };
    assert_eq!(spec.think_time, Distribution::Fixed(2.0 * SECOND));
    assert_eq!(spec.embedded_objects, Count::Rounded(Distribution::Fixed(4.0)));
    assert_eq!(spec.parsing_time, Distribution::Exponential { mean: 0.13 * SECOND });
    assert_eq!(spec.parallel, 1);
}

/// P(n) = (1 - q) q^(n - least) with q = m / (1 + m), m the mean beyond the least: variance m (1 + m).
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
        // The fourth central moment is at most 9 variances squared and one.
        assert!(
            (variance - expected).abs()
                <= 4.0 * (9.0 * expected * expected + expected).sqrt() / 316.0
        );
        assert!(draws.iter().all(|draw| *draw >= least as f64));
    }
}

/// Through the network: sessions of fixed pages give their number of objects and bytes, and the load
/// that was asked for.
#[test]
fn web_sessions_offer_their_load_and_leave_nothing_behind() {
    let text = r#"
        duration = "1000 s"
        measure_from = "50 s"
        [links.link]
        rate = "20 Mbit/s"
        delay = "10 ms"
        queue = { kind = "drop_tail", limit = "100 packets" }
        [flows.web]
        path = ["link"]
        congestion = { kind = "reno" }
        rtt = { uniform = ["40 ms", "100 ms"] }
        access_rate = "10 Mbit/s"
        source = { kind = "web", load = 0.4, pages = 4, think_time = { kind = "exponential", mean = "2 s" },
                   main_object = "14600 B", embedded_objects = 5, embedded_object = "7300 B", parallel = 2 }
    "#;
    let results = scenario_run::run(text, 1);
    let sharing = &link(&results.summary, "link").sharing;
    // 4 (15,000 + 5 * 7,500) = 210,000 B a session: 4.76 sessions a second, 4,524 in all.
    assert!((sharing.offered_load / 0.4 - 1.0).abs() < 3.0 / 4_524_f64.sqrt());
    let web = group(&results.summary, "web");
    let sessions = 0.4 * 20e6 / (8.0 * 210_000.0) * 950.0;
    assert!((web.flows as f64 / (24.0 * sessions) - 1.0).abs() < 3.0 / sessions.sqrt());
    let unfinished = web.flows - web.completed_flows;
    assert!(unfinished < 50, "{unfinished}");
    let bytes = 950.0 * web.goodput_bps / 8.0 / web.flows as f64;
    assert!((bytes / (4.0 * 51_100.0 / 24.0) - 1.0).abs() < 0.01, "{bytes}");
}
