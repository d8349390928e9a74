//! Links whose delay and rate vary at random, as sources and receivers see them.

use crate::support::case::{Case, above, case, near};

/// Packets 100 ms apart never wait for those before them: the mean of the one-way delay is 20 ms, the
/// transmission of 0.12 ms, and the mean of the distribution, 4 ms, whose standard error over 6,000
/// draws is 0.03 ms.
#[test]
fn packets_far_apart_have_the_delays_of_the_distribution() {
    let jitter =
        "extra_delay = { kind = 'uniform', from = '0 ms', to = '8 ms' }, on_average_every = '1 ms'";
    case("600 s")
        .seed(2)
        .link("link", format!("100 Mbit/s, 20 ms, 100 packets, jitter = {{ {jitter} }}"))
        .stream("probe", "link", "cbr 120 kbit/s, 1500 B")
        .run()
        .expect("groups.probe.one_way_delay_s_mean", near(24.12e-3, 0.15e-3))
        // The 99 % quantile of the distribution is 7.92 ms.
        .expect("groups.probe.one_way_delay_s_p99", near(28.04e-3, 0.1e-3));
}

/// Reordered packets would be taken for lost: three duplicate ACKs.
#[test]
fn packets_stay_in_order_whatever_the_jitter() {
    for draws in ["", ", every = '30 ms'", ", on_average_every = '3 ms'"] {
        let jitter = format!("extra_delay = {{ kind = 'exponential', mean = '30 ms' }}{draws}");
        let reno = "congestion = 'reno', max_window = 200, rtt = '40 ms', min_rto = '5 s'";
        case("20 s")
            .link("link", format!("20 Mbit/s, 10 ms, 5000 packets, jitter = {{ {jitter} }}"))
            .flows("reno", "link", reno)
            .run()
            .expect("groups.reno.goodput_bps", above(1e6))
            .expect("groups.reno.retransmissions", 0);
    }
}

/// A link of 0.5 to 1.5 Mbit/s, drawn once a second, with this as its changes of rate.
fn saturated(changes: &str, seconds: u64) -> Case {
    case(&format!("{seconds} s"))
        .link("link", format!("1 Mbit/s, 20 ms, 100 packets, {changes}"))
        .stream("flood", "link", "cbr 2 Mbit/s, 1500 B")
}

const EVERY_SECOND: &str = "rate_variation = { every = '1 s', \
                            rate = { kind = 'uniform', from = '0.5 Mbit/s', to = '1.5 Mbit/s' } }";

/// The standard deviation of the uniform distribution is 0.2887 Mbit/s: over 2,000 draws the standard
/// error of the mean is 0.0065.
#[test]
fn a_full_link_carries_the_mean_of_its_rates() {
    // Of 1500 B on the wire, 40 B are headers.
    let payload = 1_460.0 / 1_500.0;
    saturated(EVERY_SECOND, 2_000)
        .seed(4)
        .run()
        .expect("groups.flood.goodput_bps", near(1e6 * payload, 4.0 * 6_500.0 * payload))
        .expect("links.link.utilization", near(1.0, 1e-4));
}

/// The same changes, written by hand, give the same run; and no traffic changes them.
#[test]
fn drawn_rates_are_changes_of_the_rate() {
    let drawn_case = saturated(EVERY_SECOND, 30).seed(7);
    let drawn = drawn_case.network();
    let changes = drawn.links[0].rate_changes.clone();
    assert_eq!(changes.len(), 31);
    let list: Vec<String> = changes
        .iter()
        .map(|change| {
            let (at, rate) = (change.at.picoseconds(), change.rate.bits_per_second());
            format!("{{ at = '{} s', rate = '{rate} bit/s' }}", at / 1_000_000_000_000)
        })
        .collect();
    let by_hand = saturated(&format!("changes = [{}]", list.join(", ")), 30).seed(7);
    assert_eq!(comparable(&drawn_case), comparable(&by_hand));
    let idle = drawn_case.clone().set("flows.flood.source.rate", "2 kbit/s");
    assert_eq!(idle.network().links[0].rate_changes, changes);
    assert_ne!(drawn_case.seed(8).network().links[0].rate_changes, changes);
}

fn comparable(case: &Case) -> serde_json::Value {
    serde_json::to_value(case.run().results.summary).expect("a summary is JSON")
}

/// A departure that never comes has no jitter: drawing it until then would take hours.
#[test]
fn a_link_that_stops_for_good_ends_its_jitter() {
    let jitter =
        "extra_delay = { kind = 'uniform', from = '0 ms', to = '1 ms' }, on_average_every = '1 ms'";
    let stop = "changes = [{ at = '1 s', rate = '0 bit/s' }]";
    case("2 s")
        .link("link", format!("1 Mbit/s, 5 ms, 10 packets, {stop}, jitter = {{ {jitter} }}"))
        .flows("flow", "link", "congestion = 'reno', rtt = '40 ms'")
        .run()
        .expect("links.link.utilization", near(1.0, 0.1));
}
