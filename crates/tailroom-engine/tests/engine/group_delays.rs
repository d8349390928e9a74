//! Delays of the packets of a group over their whole path: queueing delay, and the one-way delay
//! and jitter of packet sources, against closed forms and small cases by hand.

use crate::support::case::{Case, Expected, NULL, above, case, close, near};
use crate::support::refusals::assert_refused;

/// Means are exact up to the rounding of seconds.
fn mean(seconds: f64) -> Expected {
    near(seconds, 1e-12)
}

/// Percentiles are the middles of bins that are less than 1/512 of their value wide.
fn p99(seconds: f64) -> Expected {
    near(seconds, seconds / 1_024.0)
}

/// M/D/1 (Pollaczek and Khinchine): the mean wait is rho / 2 / (1 - rho) transmission times. The
/// one-way delay adds a transmission time and the propagation.
#[test]
fn a_poisson_stream_has_the_mean_delay_of_m_d_1() {
    // rho = 0.7: 1.1667 ms. Waits decorrelate within about 20 ms, so there are 100,000 independent
    // samples with a standard deviation near the mean: 0.3 %. The tolerance is four times that.
    let run = case("2010 s from 10 s")
        .link("link", "8 Mbit/s, 5 ms, 100000 packets")
        .stream("stream", "link", "poisson 5.6 Mbit/s, 1000 B")
        .run();
    let [wait, p99] =
        ["mean", "p99"].map(|it| run.get(&format!("groups.stream.queue_delay_s_{it}")));
    run.expect("groups.stream.queue_delay_s_mean", close(0.7 / 2.0 / 0.3 * 1e-3, 0.013))
        // No packet is dropped; only the packets that wait when the run ends do not arrive.
        .expect("groups.stream.loss_fraction", 0)
        .expect("groups.stream.one_way_delay_s_mean", near(wait + 6e-3, 1e-6))
        .expect("groups.stream.one_way_delay_s_p99", near(p99 + 6e-3, 2e-5))
        .expect("links.link.queue_delay_s_mean", wait)
        .expect("links.link.queue_delay_s_p99", p99);
}

/// Five packets are sent together; a transmission takes 1 ms at the first link and 2 ms at the
/// second.
fn five_packets(far_limit: &str) -> Case {
    let burst = "congestion = 'reno', rtt = '2 s', initial_window = 5, packet_size = '1000 B'";
    case("1 s")
        .link("near", "8 Mbit/s, 1 ms, 100 packets")
        .link("far", format!("4 Mbit/s, 1 ms, {far_limit}"))
        .flows("burst", "near far", burst)
}

#[test]
fn the_queueing_delays_of_a_packet_at_two_links_add_up() {
    // They wait 0, 1, 2, 3 and 4 ms at the first link, and the same at the second, where one packet
    // arrives per ms. Groups with congestion control have an RTT and no one-way delay.
    five_packets("100 packets")
        .run()
        .expect("groups.burst.queue_delay_s_mean", mean(4e-3))
        .expect("groups.burst.queue_delay_s_p99", p99(8e-3))
        .expect("groups.burst.one_way_delay_s_mean", NULL)
        .expect("groups.burst.one_way_delay_s_p99", NULL)
        .expect("groups.burst.jitter_s_mean", NULL);
}

#[test]
fn a_packet_that_is_dropped_at_the_second_link_does_not_count() {
    // The second link holds one packet. It drops the fourth packet, which waited 3 ms at the first
    // link. The fifth waits 4 and 2 ms, and the others 0, 1 + 1 and 2 + 2 ms.
    five_packets("1 packet")
        .run()
        .expect("links.far.drops_packets", 1)
        .expect("groups.burst.queue_delay_s_mean", mean(3e-3))
        .expect("groups.burst.queue_delay_s_p99", p99(6e-3));
}

/// Two constant-rate flows send in phase over two links: the packets of one wait 1 ms at each link for
/// those of the other. Transmission and propagation take 1 + 1 + 2 + 3 ms.
#[test]
fn the_one_way_delay_of_constant_rate_flows_is_the_sum_over_both_links() {
    case("2 s from 500 ms")
        .link("near", "8 Mbit/s, 1 ms, 100 packets")
        .link("far", "4 Mbit/s, 3 ms, codel 100 packets")
        .stream("pair", "near far", "cbr 800 kbit/s, 1000 B, source.phase = '0 s', count = 2")
        .run()
        .expect("groups.pair.queue_delay_s_mean", mean(1e-3))
        .expect("groups.pair.queue_delay_s_p99", p99(2e-3))
        .expect("groups.pair.one_way_delay_s_mean", mean(8e-3))
        .expect("groups.pair.one_way_delay_s_p99", p99(9e-3))
        // Chance decides who waits: the delays of half of the consecutive packets differ by 2 ms.
        .expect("groups.pair.jitter_s_mean", near(1e-3, 0.2e-3));
}

/// Every second packet of the fast stream arrives just behind a packet of the slow stream, and waits
/// 1 ms.
#[test]
fn jitter_is_the_mean_difference_between_the_delays_of_consecutive_packets() {
    case("2 s from 500 ms")
        .link("link", "8 Mbit/s, 1 ms, 100 packets")
        .stream("slow", "link", "cbr 400 kbit/s, 1000 B, source.phase = '0 s'")
        .stream("fast", "link", "cbr 800 kbit/s, 1000 B, source.phase = '1 ps'")
        .run()
        .expect("groups.fast.jitter_s_mean", mean(1e-3))
        .expect("groups.fast.queue_delay_s_mean", mean(0.5e-3))
        .expect("groups.slow.jitter_s_mean", 0)
        .expect("groups.slow.queue_delay_s_mean", 0);
}

/// One packet arrives per ms and takes 2 ms at the second link: half of the packets find the only
/// place of its buffer taken.
#[test]
fn the_loss_fraction_of_a_source_counts_packets_that_do_not_arrive() {
    case("3 s from 1 s")
        .link("near", "80 Mbit/s, 1 ms, 100 packets")
        .link("far", "4 Mbit/s, 1 ms, 1 packet")
        .stream("stream", "near far", "cbr 8 Mbit/s, 1000 B, source.phase = '0 s'")
        .run()
        .expect("groups.stream.loss_fraction", near(0.5, 1.0 / 1_000.0));
}

/// Two packets wait 0 and 1 ms and their two ACKs do not wait: the link has a mean of 0.25 ms over
/// all four.
#[test]
fn the_queueing_delays_of_acks_on_the_same_link_do_not_count() {
    let keys = "reverse_path = ['link'], congestion = 'reno', rtt = '400 ms', initial_window = 2";
    case("350 ms")
        .link("link", "8 Mbit/s, 1 ms, 100 packets")
        .flows("both", "link", format!("{keys}, packet_size = '1000 B'"))
        .run()
        .expect("links.link.arrivals_packets", 4)
        .expect("links.link.queue_delay_s_mean", mean(0.25e-3))
        .expect("groups.both.queue_delay_s_mean", mean(0.5e-3));
}

/// All packets are received by the end and no packet is dropped, so the same packets wait at both
/// links.
#[test]
fn the_mean_delay_of_dynamic_flows_is_the_sum_of_the_means_of_both_links() {
    let source = "kind = 'finite_flows', load = 0.6, load_of = 'far', size = '60 kB'";
    for queue in ["drop_tail", "fair"] {
        let run = case("60 s")
            .seed(3)
            .link("near", format!("20 Mbit/s, 1 ms, {queue} 100000 packets"))
            .link("far", format!("10 Mbit/s, 1 ms, {queue} 100000 packets"))
            .flows(
                "pages",
                "near far",
                format!(
                    "congestion = 'reno', rtt = '20 ms', stop = '40 s', source = {{ {source} }}"
                ),
            )
            .run();
        let wait = |link: &str| run.get(&format!("links.{link}.queue_delay_s_mean"));
        run.expect("links.near.drops_packets", 0)
            .expect("links.far.drops_packets", 0)
            .expect("links.near.arrivals_packets", above(10_000.0))
            .expect("links.far.arrivals_packets", run.link("near").arrivals_packets)
            .expect("links.near.queue_delay_s_mean", above(1e-5))
            .expect("links.far.queue_delay_s_mean", above(1e-4))
            .expect("groups.pages.queue_delay_s_mean", close(wait("near") + wait("far"), 1e-12));
    }
}

/// A media flow meets no other traffic: 1 ms for the transmission of 1000 bytes and 1 ms of
/// propagation.
#[test]
fn media_flows_have_one_way_delays_and_jitter() {
    let calls = "source.arrivals = ['1 s', '8 s'], source.duration = '5 s'";
    case("20 s")
        .link("link", "8 Mbit/s, 1 ms, 100 packets")
        .stream("calls", "link", format!("streaming 80 kbit/s, 1000 B, {calls}"))
        .run()
        .expect("groups.calls.one_way_delay_s_mean", mean(2e-3))
        .expect("groups.calls.one_way_delay_s_p99", p99(2e-3))
        .expect("groups.calls.jitter_s_mean", 0)
        .expect("groups.calls.queue_delay_s_mean", 0);
}

#[test]
fn a_group_that_sends_nothing_has_no_delays() {
    case("2 s from 1 s")
        .link("near", "8 Mbit/s, 1 ms, 100 packets")
        .link("far", "8 Mbit/s, 1 ms, 100 packets")
        .stream("early", "near far", "cbr 80 kbit/s, 1500 B, source.phase = '0 s', stop = '500 ms'")
        .run()
        .expect("groups.early.queue_delay_s_mean", NULL)
        .expect("groups.early.queue_delay_s_p99", NULL)
        .expect("groups.early.one_way_delay_s_p99", NULL)
        .expect("groups.early.jitter_s_mean", NULL)
        .expect("groups.early.loss_fraction", NULL);
}

/// Histograms of delays take 140 kB each, and half as much in reserve. There is one at each link,
/// one of one-way delays, and one of the whole path if it has several links.
#[test]
fn the_delays_of_a_group_count_towards_the_memory_limit() {
    for (path, too_little, enough) in [("a", "410 kB", "440 kB"), ("a b", "830 kB", "870 kB")] {
        let with_memory = |limit: &str| {
            case("2 s")
                .toml(format!("memory_limit = '{limit}'"))
                .link("a", "100 kbit/s, 1 ms, 10 packets")
                .link("b", "100 kbit/s, 1 ms, 10 packets")
                .stream("stream", path, "cbr 80 kbit/s, 1500 B, source.phase = '0 s'")
        };
        let refusal = with_memory(too_little).refusal();
        assert_refused(&refusal, "line 2, memory_limit", &["fewer groups of flows"]);
        with_memory(enough).network();
    }
}
