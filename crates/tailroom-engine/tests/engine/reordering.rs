//! Links that hold packets back, so that others overtake them, and what senders make of it.

use crate::support::case::{Case, NULL, Run, case, check, close, near, within};

/// Every `every`-th packet is held back for `extra_delay_ms`.
fn periodic(every: u64, extra_delay_ms: u64) -> String {
    format!(
        "reorder = {{ kind = 'periodic', every = {every}, extra_delay = '{extra_delay_ms} ms' }}"
    )
}

/// A link that is never full, and 1000 packets a second that nobody acknowledges.
fn stream(reorder: &str) -> Run {
    case("61 s from 1 s")
        .seed(3)
        .link("link", format!("120 Mbit/s, 20 ms, 100 packets, {reorder}"))
        .stream("probe", "link", "cbr 12 Mbit/s, 1500 B")
        .run()
}

/// One packet of 50 takes 7 ms longer than 20 ms and its transmission of 0.1 ms: a mean of 20.24 ms. Six
/// packets behind it arrive earlier, so that it is reordered; 0.9 ms after its time nobody is.
#[test]
fn held_packets_arrive_later_and_count_as_reordered_if_others_overtake_them() {
    for (extra_delay_ms, reordered) in [(7, 1_200.0), (1, 0.0)] {
        // Packets are a millisecond apart: the next arrives together with the held one.
        let delay_s = (20.1 + extra_delay_ms as f64 / 50.0) * 1e-3;
        stream(&periodic(50, extra_delay_ms))
            .expect("links.link.departures_packets", within(59_999.0..=60_001.0))
            .expect("links.link.reordered_packets", within(reordered - 1.0..=reordered + 1.0))
            .expect("groups.probe.one_way_delay_s_mean", near(delay_s, 1e-6));
    }
    stream("").expect("links.link.reordered_packets", NULL);
}

/// Of 60,000 packets a share of 0.05 is reordered, with a standard deviation of 53: the bound is five
/// of these. Bursts of held packets in a row do not matter, as each is overtaken by the ones after 7 ms.
#[test]
fn the_share_of_reordered_packets_is_the_probability() {
    stream("reorder = { kind = 'bernoulli', probability = 0.05, extra_delay = '7 ms' }")
        .expect("links.link.reordered_packets", within(2_735.0..=3_265.0));
}

/// A link that would hold a packet back after 10^12 others gives the results of one that
/// keeps packets in order, though the arrivals at its far end are events: with losses, marks, ACKs on a
/// shared path, dynamic flows, and packets that arrive twice.
#[test]
fn a_link_that_holds_no_packet_back_gives_the_same_results() {
    let run = |reorder: &str| {
        let loss = "loss = { kind = 'bernoulli', probability = 0.003 }";
        let keys =
            |queue: &str| format!("10 Mbit/s, 5 ms, {queue}, {loss}, packet_log = 5000, {reorder}");
        let marking =
            "queue = { kind = 'step_mark', limit = '60 packets', threshold = '9 packets' }";
        let short = "source = { kind = 'finite_flows', size = '30 kB', arrivals_per_second = 5 }";
        let reno = "congestion = 'reno', recovery = 'newreno', rtt = '40 ms'";
        case("8 s from 1 s")
            .seed(5)
            .toml("series = {}")
            .link("there", keys("codel 60 packets"))
            .link("back", keys("20 packets"))
            .link("last", keys(marking))
            .flows("reno", "there last", format!("reverse_path = ['back'], count = 2, {reno}"))
            .flows("dctcp", "last", "congestion = 'dctcp', ecn = 'accurate', rtt = '30 ms'")
            .flows("bbr", "there", "congestion = 'bbr3', recovery = 'rack', rtt = '30 ms'")
            .flows("short", "there", format!("congestion = 'cubic', rtt = '30 ms', {short}"))
            .table(
                "flows.call",
                "path = ['back'], source = { kind = 'poisson', rate = '2 Mbit/s' }",
            )
            .run()
            .results
    };
    let (in_order, mut held) = (run(""), run(&periodic(1_000_000_000_000, 9)));
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

/// A sender on a path of 100 ms that no queue lengthens, whose packets leave evenly.
fn sender(keys: &str, wire: &str, seconds: u64) -> Case {
    let even = "send_jitter = 'none', packet_size = '1500 B', rtt = '100 ms', pacing = true";
    case(&format!("{seconds} s from {} s", seconds / 10))
        .link("wire", format!("100 Gbit/s, 50 ms, 100000 packets, {wire}"))
        .flows("flow", "wire", format!("{even}, {keys}"))
}

/// Packets per round trip, and packets that were sent again.
fn packets_per_round_trip(case: &Case) -> (f64, u64) {
    let run = case.run();
    run.expect("flows.0.timeouts", 0);
    (run.get("flows.0.throughput_bps") * 0.1 / 12_000.0, run.summary.flows[0].retransmissions)
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
        let reno = "congestion = 'reno', initial_ssthresh = 50, undo = false";
        let keys = format!("{reno}, recovery = '{recovery}'");
        let (late, spurious) = packets_per_round_trip(&sender(&keys, &periodic(2_000, 20), 1_000));
        let lossy = "loss = { kind = 'periodic', every = 2000 }";
        let (lost, repairs) = packets_per_round_trip(&sender(&keys, lossy, 1_000));
        assert!((late / expected - 1.0).abs() < 0.06, "{recovery}: {late}, not {expected}");
        assert!((late / lost - 1.0).abs() < 0.05, "{recovery}: {late}, with losses {lost}");
        assert!(spurious > 200 && repairs > 200, "{recovery}: {spurious}, {repairs}");
    }
}

/// A second link of the path, before the other.
///
/// One packet of 997 is late by 1.5 times the distance of packets of a window of 100: one packet
/// overtakes it. RACK sees that the order changes (RFC 8985 sec. 6.2 step 3), which it does not where
/// three packets prove the loss of each late one.
fn behind_a_change_of_order(case: Case, keys: &str) -> Case {
    let seen = "reorder = { kind = 'periodic', every = 997, extra_delay = '1.5 ms' }";
    case.link("second", format!("100 Gbit/s, 0 s, 100000 packets, {seen}, {keys}"))
        .set("flows.flow.path", "['second', 'wire']")
}

const FIXED: &str =
    "congestion = { kind = 'fixed_window', window = 100 }, recovery = 'rack', undo = false";

/// RFC 8985 sec. 6.2 step 4: 20 ms are within a quarter of an RTT of 100 ms. Once RACK has seen the order
/// change, it sends nothing again, and the window is as large as it may be.
#[test]
fn rack_loses_nothing_by_reordering_within_its_window() {
    let keys = "congestion = 'reno', recovery = 'rack', max_window = 100, undo = false";
    let by_time = behind_a_change_of_order(sender(keys, &periodic(2_000, 20), 300), "");
    let (packets, spurious) = packets_per_round_trip(&by_time);
    assert!((packets - 100.0).abs() < 0.1, "{packets}");
    assert_eq!(spurious, 0);
    let by_duplicates = by_time.set("flows.flow.recovery", "sack");
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
    let duplicates = |losses: &str| {
        let run =
            behind_a_change_of_order(sender(FIXED, &periodic(1_009, 60), 2_000), losses).run();
        (run.get("flows.0.duplicate_packets"), run.get("links.wire.departures_packets"))
    };
    // Without losses the window stays three quarters.
    check("duplicates", duplicates("").0, 0);
    let (found, packets) = duplicates("loss = { kind = 'periodic', every = 500 }");
    let (least, most) = (2.0 / 11_000.0 / 1.33, 2.0 / 8_000.0 * 1.33);
    check("duplicates per packet", found / packets, within(least..=most));
}

/// RFC 8985 sec. 6.2 step 4: the window is at most the smoothed RTT. A packet that is late by 1.2 RTTs
/// is sent again each time, and arrives twice, however many duplicates have been before: one in 1009
/// packets. The bound is 2 %.
#[test]
fn the_window_of_rack_is_at_most_the_smoothed_rtt() {
    let run = behind_a_change_of_order(sender(FIXED, &periodic(1_009, 120), 400), "").run();
    let expected = run.get("links.wire.departures_packets") / 1_009.0;
    run.expect("flows.0.duplicate_packets", close(expected, 0.02));
}
