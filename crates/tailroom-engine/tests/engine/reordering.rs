//! Links that hold packets back, so that others overtake them, and what senders make of it.

use std::fmt::Write;

use crate::support::scenario_run::run;
use crate::support::summaries::{group, link};

/// Every `every`-th packet is held back for `extra_delay_ms`.
fn periodic(every: u64, extra_delay_ms: u64) -> String {
    format!(
        "reorder = {{ kind = \"periodic\", every = {every}, extra_delay = \"{extra_delay_ms} ms\" }}"
    )
}

/// A link that is never full, and 1000 packets a second that nobody acknowledges.
fn stream(reorder: &str) -> String {
    format!(
        r#"
        duration = "61 s"
        measure_from = "1 s"
        [links.link]
        rate = "120 Mbit/s"
        delay = "20 ms"
        queue = {{ kind = "drop_tail", limit = "100 packets" }}
        {reorder}
        [flows.probe]
        path = ["link"]
        source = {{ kind = "cbr", rate = "12 Mbit/s" }}
        packet_size = "1500 B"
        "#
    )
}

/// One packet of 50 takes 7 ms longer than 20 ms and its transmission of 0.1 ms: a mean of 20.24 ms. Six
/// packets behind it arrive earlier, so that it is reordered; 0.9 ms after its time nobody is.
#[test]
fn held_packets_arrive_later_and_count_as_reordered_if_others_overtake_them() {
    for (extra_delay_ms, reordered) in [(7, 1_200), (1, 0)] {
        // Packets are a millisecond apart: the next arrives together with the held one.
        let summary = run(&stream(&periodic(50, extra_delay_ms)), 3).summary;
        let link = link(&summary, "link");
        assert!(link.departures_packets.abs_diff(60_000) <= 1);
        let found = link.reordered_packets.expect("the link reorders");
        assert!(found.abs_diff(reordered) <= 1, "{found}, not {reordered}");
        let delay_ms = 1e3 * group(&summary, "probe").one_way_delay_s_mean.expect("packets pass");
        let expected_ms = 20.1 + extra_delay_ms as f64 / 50.0;
        assert!((delay_ms - expected_ms).abs() < 1e-3, "{delay_ms}, not {expected_ms}");
    }
    assert_eq!(link(&run(&stream(""), 3).summary, "link").reordered_packets, None);
}

/// Of 60,000 packets a share of 0.05 is reordered, with a standard deviation of 53: the bound is five
/// of these. Bursts of held packets in a row do not matter, as each is overtaken by the ones after 7 ms.
#[test]
fn the_share_of_reordered_packets_is_the_probability() {
    let text =
        stream("reorder = { kind = \"bernoulli\", probability = 0.05, extra_delay = \"7 ms\" }");
    let found = link(&run(&text, 3).summary, "link").reordered_packets.expect("the link reorders");
    assert!(found.abs_diff(3_000) <= 265, "{found}");
}

/// A link that would hold a packet back after 10^12 others gives the results of one that
/// keeps packets in order, though the arrivals at its far end are events: with losses, marks, ACKs on a
/// shared path, dynamic flows, and packets that arrive twice.
#[test]
fn a_link_that_holds_no_packet_back_gives_the_same_results() {
    let text = |reorder: &str| {
        let mut text = String::from(
            r#"
            duration = "8 s"
            measure_from = "1 s"
            [series]
            "#,
        );
        for (name, queue) in [
            ("there", "{ kind = \"codel\", limit = \"60 packets\" }"),
            ("back", "{ kind = \"drop_tail\", limit = \"20 packets\" }"),
            ("last", "{ kind = \"step_mark\", limit = \"60 packets\", threshold = \"9 packets\" }"),
        ] {
            let _ = write!(
                text,
                r#"
                [links.{name}]
                rate = "10 Mbit/s"
                delay = "5 ms"
                queue = {queue}
                loss = {{ kind = "bernoulli", probability = 0.003 }}
                packet_log = 5000
                {reorder}
                "#
            );
        }
        text + r#"
            [flows.reno]
            path = ["there", "last"]
            reverse_path = ["back"]
            congestion = "reno"
            recovery = "newreno"
            count = 2
            rtt = "40 ms"
            [flows.dctcp]
            path = ["last"]
            congestion = "dctcp"
            ecn = "accurate"
            rtt = "30 ms"
            [flows.bbr]
            path = ["there"]
            congestion = "bbr3"
            recovery = "rack"
            rtt = "30 ms"
            [flows.short]
            path = ["there"]
            congestion = "cubic"
            rtt = "30 ms"
            source = { kind = "finite_flows", size = "30 kB", arrivals_per_second = 5 }
            [flows.call]
            path = ["back"]
            source = { kind = "poisson", rate = "2 Mbit/s" }
            "#
    };
    let in_order = run(&text(""), 5);
    let mut held = run(&text(&periodic(1_000_000_000_000, 9)), 5);
    let duplicates: u64 = held.summary.flows.iter().map(|flow| flow.duplicate_packets).sum();
    assert!(duplicates > 0);
    for (_, link) in &mut held.summary.links.0 {
        assert_eq!(link.reordered_packets.take(), Some(0));
    }
    held.summary.events = in_order.summary.events;
    assert_eq!(format!("{:?}", held.summary), format!("{:?}", in_order.summary));
    assert_eq!(
        format!("{:?}", held.tables.into_columns()),
        format!("{:?}", in_order.tables.into_columns())
    );
}

/// A sender on a path of 100 ms that no queue lengthens, whose packets leave evenly. One packet of 2000
/// arrives `late_ms` late.
fn sender(keys: &str, reorder: &str, seconds: u64) -> String {
    format!(
        r#"
        duration = "{seconds} s"
        measure_from = "{}"
        [links.wire]
        rate = "100 Gbit/s"
        delay = "50 ms"
        queue = {{ kind = "drop_tail", limit = "100000 packets" }}
        {reorder}
        [flows.flow]
        path = ["wire"]
        host = "plain"
        send_jitter = "none"
        packet_size = "1500 B"
        rtt = "100 ms"
        pacing = true
        {keys}
        "#,
        format_args!("{} s", seconds / 10)
    )
}

/// Packets per round trip.
fn packets_per_round_trip(text: &str) -> (f64, u64) {
    let summary = run(text, 1).summary;
    let flow = &summary.flows[0];
    assert_eq!(flow.timeouts, 0, "{flow:?}");
    (flow.throughput_bps * 0.1 / 12_000.0, flow.retransmissions)
}

/// Reno takes a packet for lost that three later ones overtake (RFC 5681 sec. 3.2). One packet of n =
/// 2000 arrives 20 ms late, behind more than three packets of a window of 36 or more. Without a host that
/// undoes reductions, the window then is that of one loss in n packets: its mean is sqrt(3 n / 2) = 54.8
/// (Mathis et al. 1997). The recovery ends when the held packet arrives, up to a round trip of 27 earlier
/// than that of a loss: by up to one packet per round trip the window is larger. The bounds are 6 % for
/// the formula, and 5 % between both.
#[test]
fn reno_loses_throughput_by_reordering_as_by_losses() {
    let expected = (1.5_f64 * 2_000.0).sqrt();
    for recovery in ["newreno", "sack"] {
        let keys = format!(
            "congestion = \"reno\"\nrecovery = \"{recovery}\"\ninitial_ssthresh = 50\nundo = false"
        );
        let (late, spurious) = packets_per_round_trip(&sender(&keys, &periodic(2_000, 20), 1_000));
        let lossy = "loss = { kind = \"periodic\", every = 2000 }";
        let (lost, repairs) = packets_per_round_trip(&sender(&keys, lossy, 1_000));
        assert!((late / expected - 1.0).abs() < 0.06, "{recovery}: {late}, not {expected}");
        assert!((late / lost - 1.0).abs() < 0.05, "{recovery}: {late}, with losses {lost}");
        assert!(spurious > 200 && repairs > 200, "{recovery}: {spurious}, {repairs}");
    }
}

/// A second link of the path.
fn with_link(text: &str, keys: &str) -> String {
    let second = r#"
        [links.second]
        rate = "100 Gbit/s"
        delay = "0 s"
        queue = { kind = "drop_tail", limit = "100000 packets" }
        "#;
    text.replace("[flows.flow]", &format!("{second}{keys}\n[flows.flow]"))
        .replace("path = [\"wire\"]", "path = [\"second\", \"wire\"]")
}

/// One packet of 997 is late by 1.5 times the distance of packets of a window of 100: one packet
/// overtakes it. RACK sees that the order changes (RFC 8985 sec. 6.2 step 3), which it does not where
/// three packets prove the loss of each late one.
const SEEN: &str = "reorder = { kind = \"periodic\", every = 997, extra_delay = \"1.5 ms\" }";

/// RFC 8985 sec. 6.2 step 4: 20 ms are within a quarter of an RTT of 100 ms. Once RACK has seen the order
/// change, it sends nothing again, and the window is as large as it may be.
#[test]
fn rack_loses_nothing_by_reordering_within_its_window() {
    let keys = "congestion = \"reno\"\nrecovery = \"rack\"\nmax_window = 100\nundo = false";
    let text = with_link(&sender(keys, &periodic(2_000, 20), 300), SEEN);
    let (packets, spurious) = packets_per_round_trip(&text);
    assert!((packets - 100.0).abs() < 0.1, "{packets}");
    assert_eq!(spurious, 0);
    let by_duplicates = text.replace("\"rack\"", "\"sack\"");
    let (packets, spurious) = packets_per_round_trip(&by_duplicates);
    assert!(packets < 70.0 && spurious > 50, "{packets}, {spurious}");
}

/// RFC 8985 sec. 6.2 step 4: packets that are late by 60 % of the RTT are sent again until the window,
/// which grows by a quarter of it per round trip with a duplicate, is three quarters; after 16
/// recoveries without a duplicate it is a quarter again, and grows again.
///
/// Of a window of 100 packets one in 1009 is late and one in 500 is lost. The window grows in two steps,
/// and the recovery that a late packet causes is one of the 16 or not, as it ends before its duplicate
/// arrives or later. So there are two duplicates in the time of 16 losses, 8000 packets, and of two or
/// three late packets, up to 3000. A packet that is late while a loss is repaired may cause no duplicate
/// or another: the bounds are a third around both ends.
#[test]
fn the_window_of_rack_grows_with_duplicates_and_falls_after_16_recoveries() {
    let keys =
        "congestion = { kind = \"fixed_window\", window = 100 }\nrecovery = \"rack\"\nundo = false";
    let duplicates = |losses: &str| {
        let text = sender(keys, &periodic(1_009, 60), 2_000);
        let summary = run(&with_link(&text, &format!("{SEEN}\n{losses}")), 1).summary;
        (summary.flows[0].duplicate_packets, link(&summary, "wire").departures_packets)
    };
    // Without losses the window stays three quarters.
    assert_eq!(duplicates("").0, 0);
    let (found, packets) = duplicates("loss = { kind = \"periodic\", every = 500 }");
    let per_packet = found as f64 / packets as f64;
    let (least, most) = (2.0 / 11_000.0 / 1.33, 2.0 / 8_000.0 * 1.33);
    assert!((least..=most).contains(&per_packet), "{per_packet}: {found} of {packets}");
}

/// RFC 8985 sec. 6.2 step 4: the window is at most the smoothed RTT. A packet that is late by 1.2 RTTs
/// is sent again each time, and arrives twice, however many duplicates have been before: one in 1009
/// packets. The bound is 2 %.
#[test]
fn the_window_of_rack_is_at_most_the_smoothed_rtt() {
    let keys =
        "congestion = { kind = \"fixed_window\", window = 100 }\nrecovery = \"rack\"\nundo = false";
    let text = with_link(&sender(keys, &periodic(1_009, 120), 400), SEEN);
    let summary = run(&text, 1).summary;
    let found = summary.flows[0].duplicate_packets as f64;
    let expected = link(&summary, "wire").departures_packets as f64 / 1_009.0;
    assert!((found / expected - 1.0).abs() < 0.02, "{found}, not {expected}");
}
