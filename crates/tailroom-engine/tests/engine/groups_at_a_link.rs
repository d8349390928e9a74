//! Statistics of each group at each link (queueing delay and loss), against closed forms and by
//! hand.

use tailroom_engine::results::{GroupLinkSummary, Results};

use crate::support::{scenario_run, summaries};

fn at<'a>(results: &'a Results, group: &str, link: &str) -> &'a GroupLinkSummary {
    let group = summaries::group(&results.summary, group);
    group.links.get(link).expect("the group crosses the link")
}

/// Two Poisson streams of 1000 and 250 bytes offer 30 and 40 % of a link of 8 Mbit/s.
fn two_streams(queue: &str) -> Results {
    let text = format!(
        r#"
        duration = "2010 s"
        measure_from = "10 s"
        [links.link]
        rate = "8 Mbit/s"
        delay = "1 ms"
        queue = {{ kind = {queue}, limit = "100000 packets" }}
        [flows.large]
        path = ["link"]
        packet_size = "1000 B"
        source = {{ kind = "poisson", rate = "2.4 Mbit/s" }}
        [flows.small]
        path = ["link"]
        packet_size = "250 B"
        source = {{ kind = "poisson", rate = "3.2 Mbit/s" }}
        "#
    );
    scenario_run::run(&text, 1)
}

/// Poisson arrivals see time averages, so at a shared queue the packets of both groups have the
/// mean wait of Pollaczek and Khinchine: sum(lambda s^2) / 2 / (1 - rho).
#[test]
fn groups_that_share_a_fifo_queue_have_the_same_mean_delay() {
    let results = two_streams("\"drop_tail\"");
    // Per second, 300 packets of 1 ms and 1600 packets of 0.25 ms: (300 + 100) / 2 us / 0.3.
    let expected = 666.7e-6;
    // Waiting times are correlated for about 10 ms, the relaxation time of a busy period: 200,000
    // independent samples with a standard deviation near the mean, 0.3 %. The tolerance is five
    // times that.
    for group in ["large", "small"] {
        let found = at(&results, group, "link");
        let mean = found.queue_delay_s_mean.expect("packets pass");
        assert!((mean / expected - 1.0).abs() < 0.015, "{group}: {mean}");
        let link = summaries::link(&results.summary, "link");
        let p99 = found.queue_delay_s_p99.expect("packets pass");
        let all = link.queue_delay_s_p99.expect("packets pass");
        assert!((p99 / all - 1.0).abs() < 0.03, "{group}: {p99} of {all}");
        assert_eq!((found.drops_packets, found.loss_fraction), (0, Some(0.0)));
    }
    let link = summaries::link(&results.summary, "link");
    let groups = ["large", "small"].map(|group| at(&results, group, "link").arrivals_packets);
    assert_eq!(groups.iter().sum::<u64>(), link.arrivals_packets);
}

/// A stream below its fair rate with a stream that offers twice the capacity. Under fair queueing
/// a packet of the first stream waits only for the packet in transmission; in one queue it waits
/// for the whole buffer.
#[test]
fn a_group_below_its_fair_rate_waits_little_under_fair_queueing() {
    let run = |queue: &str| {
        let text = format!(
            r#"
            duration = "20 s"
            measure_from = "5 s"
            [links.link]
            rate = "10 Mbit/s"
            delay = "1 ms"
            queue = {{ kind = {queue}, limit = "50 packets" }}
            [flows.elastic]
            path = ["link"]
            packet_size = "1000 B"
            source = {{ kind = "poisson", rate = "20 Mbit/s" }}
            [flows.thin]
            path = ["link"]
            packet_size = "1000 B"
            source = {{ kind = "poisson", rate = "100 kbit/s" }}
            "#
        );
        scenario_run::run(&text, 1)
    };
    // A transmission takes 0.8 ms.
    let fair = run("\"fair\", scheduler = \"priority_fair\"");
    let thin = at(&fair, "thin", "link");
    assert_eq!(thin.drops_packets, 0);
    let mean = thin.queue_delay_s_mean.expect("packets pass");
    // The wait is uniform in [0, 0.8 ms]; over 188 packets the mean has a standard deviation of
    // 0.017 ms. Packets of this stream rarely wait for each other.
    assert!((mean - 0.4e-3).abs() < 4.0 * 0.017e-3, "{mean}");
    // The other stream offers 20 Mbit/s for 9.9 Mbit/s: over 37,500 packets a standard deviation of
    // 0.0026.
    let loss = at(&fair, "elastic", "link").loss_fraction.expect("packets arrive");
    assert!((loss - (20.0 - 9.9) / 20.0).abs() < 0.01, "{loss}");
    let one_queue = run("\"drop_tail\"");
    for group in ["thin", "elastic"] {
        let waited = at(&one_queue, group, "link").queue_delay_s_mean.expect("packets pass");
        assert!((0.95..=1.0).contains(&(waited / 40e-3)), "{group}: {waited}");
    }
    // 188 packets, half of them lost: a standard deviation of 0.036.
    let loss = at(&one_queue, "thin", "link").loss_fraction.expect("packets arrive");
    assert!((loss - 10.1 / 20.1).abs() < 4.0 * 0.036, "{loss}");
}

/// By hand: ten packets of 1 ms are sent together. The buffer holds four and the link transmits
/// one; no other packet arrives in that time.
#[test]
fn the_packets_of_a_burst_wait_for_the_packets_before_them() {
    let text = r#"
        duration = "1 s"
        [links.near]
        rate = "8 Mbit/s"
        delay = "1 ms"
        queue = { kind = "drop_tail", limit = "4 packets" }
        [links.far]
        rate = "80 Mbit/s"
        delay = "1 ms"
        queue = { kind = "drop_tail", limit = "4 packets" }
        [links.back]
        rate = "320 kbit/s"
        delay = "1 ms"
        queue = { kind = "drop_tail", limit = "4 packets" }
        [flows.burst]
        path = ["near", "far"]
        reverse_path = ["back"]
        packet_size = "1000 B"
        congestion = "reno"
        rtt = "2 s"
        initial_window = 10
        [flows.other]
        path = ["far"]
        source = { kind = "cbr", rate = "8 kbit/s" }
        start = "900 ms"
    "#;
    let results = scenario_run::run(text, 1);
    let near = at(&results, "burst", "near");
    assert_eq!((near.arrivals_packets, near.drops_packets), (10, 5));
    assert_eq!(near.loss_fraction, Some(0.5));
    // They wait 0, 1, 2, 3 and 4 ms.
    assert!((near.queue_delay_s_mean.expect("packets pass") - 2e-3).abs() < 1e-12);
    assert!((near.queue_delay_s_p99.expect("packets pass") / 4e-3 - 1.0).abs() < 2e-3);
    assert_eq!(at(&results, "burst", "far").queue_delay_s_mean, Some(0.0));
    assert_eq!(at(&results, "burst", "back").arrivals_packets, 0);
    let group = summaries::group(&results.summary, "burst");
    let names: Vec<&str> = group.links.0.iter().map(|(name, _)| name.as_str()).collect();
    assert_eq!(names, ["near", "far", "back"]);
    assert!(summaries::group(&results.summary, "other").links.get("near").is_none());
}
