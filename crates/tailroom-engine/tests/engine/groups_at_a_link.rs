//! Statistics of each group at each link (queueing delay and loss), against closed forms and by
//! hand.

use crate::support::case::{case, close, near, within};

/// Poisson arrivals see time averages, so at a shared queue the packets of both groups have the
/// mean wait of Pollaczek and Khinchine: sum(lambda s^2) / 2 / (1 - rho).
#[test]
fn groups_that_share_a_fifo_queue_have_the_same_mean_delay() {
    // Two streams of 1000 and 250 bytes offer 30 and 40 %.
    let run = case("2010 s from 10 s")
        .link("link", "8 Mbit/s, 1 ms, 100000 packets")
        .stream("large", "link", "poisson 2.4 Mbit/s, 1000 B")
        .stream("small", "link", "poisson 3.2 Mbit/s, 250 B")
        .run();
    // Per second, 300 packets of 1 ms and 1600 packets of 0.25 ms: (300 + 100) / 2 us / 0.3.
    // Waiting times are correlated for about 10 ms, the relaxation time of a busy period: 200,000
    // independent samples with a standard deviation near the mean, 0.3 %. The tolerance is five
    // times that.
    let p99 = run.get("links.link.queue_delay_s_p99");
    for group in ["large", "small"] {
        let at = |name: &str| format!("groups.{group}.links.link.{name}");
        run.expect(&at("queue_delay_s_mean"), close(666.7e-6, 0.015))
            .expect(&at("queue_delay_s_p99"), close(p99, 0.03))
            .expect(&at("drops_packets"), 0)
            .expect(&at("loss_fraction"), 0);
    }
    let small = run.get("groups.small.links.link.arrivals_packets");
    let all = small + run.get("groups.large.links.link.arrivals_packets");
    run.expect("links.link.arrivals_packets", all);
}

/// A stream below its fair rate with a stream that offers twice the capacity. Under fair queueing
/// a packet of the first stream waits only for the packet in transmission; in one queue it waits
/// for the whole buffer.
#[test]
fn a_group_below_its_fair_rate_waits_little_under_fair_queueing() {
    let under = |queue: &str| {
        case("20 s from 5 s")
            .link("link", format!("10 Mbit/s, 1 ms, queue = {{ {queue}, limit = '50 packets' }}"))
            .stream("elastic", "link", "poisson 20 Mbit/s, 1000 B")
            .stream("thin", "link", "poisson 100 kbit/s, 1000 B")
            .run()
    };
    // A transmission takes 0.8 ms. The wait is uniform in [0, 0.8 ms]; over 188 packets the mean has
    // a standard deviation of 0.017 ms. Packets of this stream rarely wait for each other.
    under("kind = 'fair', scheduler = 'priority_fair'")
        .expect("groups.thin.links.link.drops_packets", 0)
        .expect("groups.thin.links.link.queue_delay_s_mean", near(0.4e-3, 4.0 * 0.017e-3))
        // The other stream offers 20 Mbit/s for 9.9 Mbit/s: over 37,500 packets a standard deviation
        // of 0.0026.
        .expect("groups.elastic.links.link.loss_fraction", near((20.0 - 9.9) / 20.0, 0.01));
    under("kind = 'drop_tail'")
        .expect("groups.thin.links.link.queue_delay_s_mean", within(0.95 * 40e-3..=40e-3))
        .expect("groups.elastic.links.link.queue_delay_s_mean", within(0.95 * 40e-3..=40e-3))
        // 188 packets, half of them lost: a standard deviation of 0.036.
        .expect("groups.thin.links.link.loss_fraction", near(10.1 / 20.1, 4.0 * 0.036));
}

/// By hand: ten packets of 1 ms are sent together. The buffer holds four and the link transmits
/// one; no other packet arrives in that time.
#[test]
fn the_packets_of_a_burst_wait_for_the_packets_before_them() {
    let reno = "packet_size = '1000 B', congestion = 'reno', rtt = '2 s', initial_window = 10";
    let run = case("1 s")
        .link("near", "8 Mbit/s, 1 ms, 4 packets")
        .link("far", "80 Mbit/s, 1 ms, 4 packets")
        .link("back", "320 kbit/s, 1 ms, 4 packets")
        .flows("burst", "near far", format!("reverse_path = ['back'], {reno}"))
        .stream("other", "far", "cbr 8 kbit/s, 1500 B, start = '900 ms'")
        .run();
    run.expect("groups.burst.links.near.arrivals_packets", 10)
        .expect("groups.burst.links.near.drops_packets", 5)
        .expect("groups.burst.links.near.loss_fraction", 0.5)
        // They wait 0, 1, 2, 3 and 4 ms.
        .expect("groups.burst.links.near.queue_delay_s_mean", near(2e-3, 1e-12))
        .expect("groups.burst.links.near.queue_delay_s_p99", close(4e-3, 2e-3))
        .expect("groups.burst.links.far.queue_delay_s_mean", 0)
        .expect("groups.burst.links.back.arrivals_packets", 0);
    let names: Vec<&str> =
        run.group("burst").links.0.iter().map(|(name, _)| name.as_str()).collect();
    assert_eq!(names, ["near", "far", "back"]);
    assert!(run.group("other").links.get("near").is_none());
}
