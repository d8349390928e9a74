//! Delays of the packets of a group over their whole path: queueing delay, and the one-way delay
//! and jitter of packet sources, against closed forms and small cases by hand.

use tailroom_engine::results::Results;

use crate::support::refusals::assert_refused;
use crate::support::scenario_run;
use crate::support::summaries::{group, link};

/// Means are exact up to the rounding of seconds.
fn assert_mean(found: Option<f64>, expected_s: f64) {
    let found = found.expect("packets pass");
    assert!((found - expected_s).abs() < 1e-12, "{found}, expected {expected_s}");
}

/// Percentiles are the middles of bins that are less than 1/512 of their value wide.
fn assert_p99(found: Option<f64>, expected_s: f64) {
    let found = found.expect("packets pass");
    assert!((found - expected_s).abs() <= expected_s / 1_024.0, "{found}, expected {expected_s}");
}

/// M/D/1 (Pollaczek and Khinchine): the mean wait is rho / 2 / (1 - rho) transmission times. The
/// one-way delay adds a transmission time and the propagation.
#[test]
fn a_poisson_stream_has_the_mean_delay_of_m_d_1() {
    let results = scenario_run::run(
        r#"
        duration = "2010 s"
        measure_from = "10 s"
        [links.link]
        rate = "8 Mbit/s"
        delay = "5 ms"
        queue = { kind = "drop_tail", limit = "100000 packets" }
        [flows.stream]
        path = ["link"]
        packet_size = "1000 B"
        source = { kind = "poisson", rate = "5.6 Mbit/s" }
        "#,
        1,
    );
    let stream = group(&results.summary, "stream");
    // rho = 0.7: 1.1667 ms. Waits decorrelate within about 20 ms, so there are 100,000 independent
    // samples with a standard deviation near the mean: 0.3 %. The tolerance is four times that.
    let expected = 0.7 / 2.0 / 0.3 * 1e-3;
    let mean = stream.queue_delay_s_mean.expect("packets pass");
    assert!((mean / expected - 1.0).abs() < 0.013, "{mean}");
    // No packet is dropped; only the packets that wait when the run ends do not arrive.
    let one_way = stream.one_way_delay_s_mean.expect("packets arrive");
    assert!((one_way - mean - 6e-3).abs() < 1e-6, "{one_way}, {mean}");
    let p99 = stream.queue_delay_s_p99.expect("packets pass");
    assert!((stream.one_way_delay_s_p99.expect("packets arrive") - p99 - 6e-3).abs() < 2e-5);
    let all = link(&results.summary, "link");
    assert_eq!(stream.queue_delay_s_mean, all.queue_delay_s_mean);
    assert_eq!(stream.queue_delay_s_p99, all.queue_delay_s_p99);
    assert_eq!(stream.loss_fraction, Some(0.0));
}

/// Five packets are sent together; a transmission takes 1 ms at the first link and 2 ms at the
/// second.
fn five_packets(far_limit: &str) -> Results {
    let text = format!(
        r#"
        duration = "1 s"
        [links.near]
        rate = "8 Mbit/s"
        delay = "1 ms"
        queue = {{ kind = "drop_tail", limit = "100 packets" }}
        [links.far]
        rate = "4 Mbit/s"
        delay = "1 ms"
        queue = {{ kind = "drop_tail", limit = "{far_limit}" }}
        [flows.burst]
        path = ["near", "far"]
        packet_size = "1000 B"
        congestion = "reno"
        rtt = "2 s"
        initial_window = 5
        "#
    );
    scenario_run::run(&text, 1)
}

#[test]
fn the_queueing_delays_of_a_packet_at_two_links_add_up() {
    // They wait 0, 1, 2, 3 and 4 ms at the first link, and the same at the second, where one packet
    // arrives per ms.
    let results = five_packets("100 packets");
    let burst = group(&results.summary, "burst");
    assert_mean(burst.queue_delay_s_mean, 4e-3);
    assert_p99(burst.queue_delay_s_p99, 8e-3);
    // Groups with congestion control have an RTT and no one-way delay.
    let no_source = (burst.one_way_delay_s_mean, burst.one_way_delay_s_p99, burst.jitter_s_mean);
    assert_eq!(no_source, (None, None, None));
}

#[test]
fn a_packet_that_is_dropped_at_the_second_link_does_not_count() {
    // The second link holds one packet. It drops the fourth packet, which waited 3 ms at the first
    // link. The fifth waits 4 and 2 ms, and the others 0, 1 + 1 and 2 + 2 ms.
    let results = five_packets("1 packet");
    let burst = group(&results.summary, "burst");
    assert_eq!(link(&results.summary, "far").drops_packets, 1);
    assert_mean(burst.queue_delay_s_mean, 3e-3);
    assert_p99(burst.queue_delay_s_p99, 6e-3);
}

/// Two constant-rate flows send in phase over two links: the packets of one wait 1 ms at each link for
/// those of the other. Transmission and propagation take 1 + 1 + 2 + 3 ms.
#[test]
fn the_one_way_delay_of_constant_rate_flows_is_the_sum_over_both_links() {
    let results = scenario_run::run(
        r#"
        duration = "2 s"
        measure_from = "500 ms"
        [links.near]
        rate = "8 Mbit/s"
        delay = "1 ms"
        queue = { kind = "drop_tail", limit = "100 packets" }
        [links.far]
        rate = "4 Mbit/s"
        delay = "3 ms"
        queue = { kind = "codel", limit = "100 packets" }
        [flows.pair]
        count = 2
        path = ["near", "far"]
        packet_size = "1000 B"
        source = { kind = "cbr", rate = "800 kbit/s", phase = "0 s" }
        "#,
        1,
    );
    let pair = group(&results.summary, "pair");
    assert_mean(pair.queue_delay_s_mean, 1e-3);
    assert_p99(pair.queue_delay_s_p99, 2e-3);
    assert_mean(pair.one_way_delay_s_mean, 8e-3);
    assert_p99(pair.one_way_delay_s_p99, 9e-3);
    // Chance decides who waits: the delays of half of the consecutive packets differ by 2 ms.
    let jitter_s = pair.jitter_s_mean.expect("both flows have received packets");
    assert!((jitter_s - 1e-3).abs() < 0.2e-3, "{jitter_s}");
}

/// Every second packet of the fast stream arrives just behind a packet of the slow stream, and waits
/// 1 ms.
#[test]
fn jitter_is_the_mean_difference_between_the_delays_of_consecutive_packets() {
    let results = scenario_run::run(
        r#"
        duration = "2 s"
        measure_from = "500 ms"
        [links.link]
        rate = "8 Mbit/s"
        delay = "1 ms"
        queue = { kind = "drop_tail", limit = "100 packets" }
        [flows.slow]
        path = ["link"]
        packet_size = "1000 B"
        source = { kind = "cbr", rate = "400 kbit/s", phase = "0 s" }
        [flows.fast]
        path = ["link"]
        packet_size = "1000 B"
        source = { kind = "cbr", rate = "800 kbit/s", phase = "1 ps" }
        "#,
        1,
    );
    assert_mean(group(&results.summary, "fast").jitter_s_mean, 1e-3);
    assert_mean(group(&results.summary, "fast").queue_delay_s_mean, 0.5e-3);
    assert_eq!(group(&results.summary, "slow").jitter_s_mean, Some(0.0));
    assert_eq!(group(&results.summary, "slow").queue_delay_s_mean, Some(0.0));
}

/// One packet arrives per ms and takes 2 ms at the second link: half of the packets find the only
/// place of its buffer taken.
#[test]
fn the_loss_fraction_of_a_source_counts_packets_that_do_not_arrive() {
    let results = scenario_run::run(
        r#"
        duration = "3 s"
        measure_from = "1 s"
        [links.near]
        rate = "80 Mbit/s"
        delay = "1 ms"
        queue = { kind = "drop_tail", limit = "100 packets" }
        [links.far]
        rate = "4 Mbit/s"
        delay = "1 ms"
        queue = { kind = "drop_tail", limit = "1 packet" }
        [flows.stream]
        path = ["near", "far"]
        packet_size = "1000 B"
        source = { kind = "cbr", rate = "8 Mbit/s", phase = "0 s" }
        "#,
        1,
    );
    let loss = group(&results.summary, "stream").loss_fraction.expect("packets are sent");
    assert!((loss - 0.5).abs() <= 1.0 / 1_000.0, "{loss}");
}

/// Two packets wait 0 and 1 ms and their two ACKs do not wait: the link has a mean of 0.25 ms over
/// all four.
#[test]
fn the_queueing_delays_of_acks_on_the_same_link_do_not_count() {
    let results = scenario_run::run(
        r#"
        duration = "350 ms"
        [links.link]
        rate = "8 Mbit/s"
        delay = "1 ms"
        queue = { kind = "drop_tail", limit = "100 packets" }
        [flows.both]
        path = ["link"]
        reverse_path = ["link"]
        packet_size = "1000 B"
        congestion = "reno"
        rtt = "400 ms"
        initial_window = 2
        "#,
        1,
    );
    assert_eq!(link(&results.summary, "link").arrivals_packets, 4);
    assert_mean(link(&results.summary, "link").queue_delay_s_mean, 0.25e-3);
    assert_mean(group(&results.summary, "both").queue_delay_s_mean, 0.5e-3);
}

/// All packets are received by the end and no packet is dropped, so the same packets wait at both
/// links.
fn finite_flows(queue: &str) -> Results {
    let text = format!(
        r#"
        duration = "60 s"
        [links.near]
        rate = "20 Mbit/s"
        delay = "1 ms"
        queue = {{ kind = "{queue}", limit = "100000 packets" }}
        [links.far]
        rate = "10 Mbit/s"
        delay = "1 ms"
        queue = {{ kind = "{queue}", limit = "100000 packets" }}
        [flows.pages]
        path = ["near", "far"]
        congestion = "reno"
        rtt = "20 ms"
        stop = "40 s"
        source = {{ kind = "finite_flows", load = 0.6, load_of = "far", size = "60 kB" }}
        "#
    );
    scenario_run::run(&text, 3)
}

#[test]
fn the_mean_delay_of_dynamic_flows_is_the_sum_of_the_means_of_both_links() {
    for queue in ["drop_tail", "fair"] {
        let results = finite_flows(queue);
        let wait = |name| {
            let link = link(&results.summary, name);
            assert_eq!(link.drops_packets, 0);
            (link.arrivals_packets, link.queue_delay_s_mean.expect("packets pass"))
        };
        let ((near_packets, near), (far_packets, far)) = (wait("near"), wait("far"));
        assert!(near_packets == far_packets && near_packets > 10_000, "{near_packets}");
        assert!(near > 1e-5 && far > 1e-4, "{near}, {far}");
        let mean = group(&results.summary, "pages").queue_delay_s_mean.expect("packets pass");
        assert!((mean / (near + far) - 1.0).abs() < 1e-12, "{queue}: {mean}, {near}, {far}");
    }
}

/// A media flow meets no other traffic: 1 ms for the transmission of 1000 bytes and 1 ms of
/// propagation.
#[test]
fn media_flows_have_one_way_delays_and_jitter() {
    let results = scenario_run::run(
        r#"
        duration = "20 s"
        [links.link]
        rate = "8 Mbit/s"
        delay = "1 ms"
        queue = { kind = "drop_tail", limit = "100 packets" }
        [flows.calls]
        path = ["link"]
        packet_size = "1000 B"
        source = { kind = "streaming", arrivals = ["1 s", "8 s"], duration = "5 s", rate = "80 kbit/s" }
        "#,
        1,
    );
    let calls = group(&results.summary, "calls");
    assert_mean(calls.one_way_delay_s_mean, 2e-3);
    assert_p99(calls.one_way_delay_s_p99, 2e-3);
    assert_eq!((calls.jitter_s_mean, calls.queue_delay_s_mean), (Some(0.0), Some(0.0)));
}

#[test]
fn a_group_that_sends_nothing_has_no_delays() {
    let results = scenario_run::run(
        r#"
        duration = "2 s"
        measure_from = "1 s"
        [links.near]
        rate = "8 Mbit/s"
        delay = "1 ms"
        queue = { kind = "drop_tail", limit = "100 packets" }
        [links.far]
        rate = "8 Mbit/s"
        delay = "1 ms"
        queue = { kind = "drop_tail", limit = "100 packets" }
        [flows.early]
        path = ["near", "far"]
        stop = "500 ms"
        source = { kind = "cbr", rate = "80 kbit/s", phase = "0 s" }
        "#,
        1,
    );
    let early = group(&results.summary, "early");
    assert_eq!((early.queue_delay_s_mean, early.queue_delay_s_p99), (None, None));
    assert_eq!((early.one_way_delay_s_p99, early.jitter_s_mean), (None, None));
    assert_eq!(early.loss_fraction, None);
}

/// Histograms of delays take 140 kB each, and half as much in reserve. There is one at each link,
/// one of one-way delays, and one of the whole path if it has several links.
#[test]
fn the_delays_of_a_group_count_towards_the_memory_limit() {
    let text = |path: &str, memory_limit: &str| {
        let links = ["a", "b"].map(|name| {
            format!(
                r#"
                [links.{name}]
                rate = "100 kbit/s"
                delay = "1 ms"
                queue = {{ kind = "drop_tail", limit = "10 packets" }}
                "#
            )
        });
        format!(
            r#"
            duration = "2 s"
            memory_limit = "{memory_limit}"
            {}
            [flows.stream]
            path = {path}
            source = {{ kind = "cbr", rate = "80 kbit/s", phase = "0 s" }}
            "#,
            links.concat()
        )
    };
    for (path, too_little, enough) in
        [("[\"a\"]", "410 kB", "440 kB"), ("[\"a\", \"b\"]", "830 kB", "870 kB")]
    {
        let refusal = scenario_run::refusal(&text(path, too_little));
        assert_refused(&refusal, "line 3, memory_limit", &["fewer groups of flows"]);
        scenario_run::network(&text(path, enough), 1);
    }
}
