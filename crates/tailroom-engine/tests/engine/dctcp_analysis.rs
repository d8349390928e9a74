//! DCTCP at a switch with a marking threshold, against the analysis of Alizadeh et al. 2010, "Data
//! center TCP", sec. 3.3.
//!
//! N flows with a round trip time R share C packets/s, the switch marks above K packets, and all
//! flows reduce their windows together. W* = (C R + K) / N is the window at which marks begin, D =
//! (W* + 1) alpha / 2 the reduction of each window, alpha = sqrt(2 / W*) the marked fraction of the
//! packets, N D the amplitude of the queue and K + N its maximum.

use crate::support::case::{Run, above, case, check, within};

/// A switch and the flows that cross it.
#[derive(Clone, Copy, Debug)]
struct Setting {
    gigabits: f64,
    rtt_us: f64,
    flows: u32,
    threshold: u32,
}

impl Setting {
    fn packets_per_second(self) -> f64 {
        self.gigabits * 1e9 / (8.0 * 1500.0)
    }

    fn bandwidth_delay_product(self) -> f64 {
        self.packets_per_second() * self.rtt_us * 1e-6
    }

    /// W*.
    fn window(self) -> f64 {
        let in_flight = self.bandwidth_delay_product() + f64::from(self.threshold);
        in_flight / f64::from(self.flows)
    }

    fn alpha(self) -> f64 {
        (2.0 / self.window()).sqrt()
    }

    /// Without jitter, as the analysis assumes synchronized flows.
    fn run(self, control: &str, ecn: &str) -> Run {
        let Setting { gigabits, rtt_us, flows, threshold } = self;
        let queue = format!("kind = 'step_mark', threshold = '{threshold} packets'");
        let queue = format!("queue = {{ {queue}, limit = '1000 packets' }}");
        let control = format!("congestion = '{control}', ecn = '{ecn}', send_jitter = 'none'");
        let start = "start = { uniform = ['0 s', '100 ms'] }";
        case("2 s from 500 ms")
            .link("switch", format!("{gigabits} Gbit/s, {} us, {queue}", rtt_us / 4.0))
            .flows(
                "tcp",
                "switch",
                format!("count = {flows}, rtt = '{rtt_us} us', {control}, {start}"),
            )
            .run()
    }
}

const SETTINGS: [Setting; 6] = [
    Setting { gigabits: 10.0, rtt_us: 100.0, flows: 2, threshold: 65 },
    Setting { gigabits: 10.0, rtt_us: 500.0, flows: 2, threshold: 65 },
    Setting { gigabits: 10.0, rtt_us: 500.0, flows: 10, threshold: 65 },
    Setting { gigabits: 1.0, rtt_us: 200.0, flows: 2, threshold: 20 },
    Setting { gigabits: 1.0, rtt_us: 1_000.0, flows: 2, threshold: 20 },
    Setting { gigabits: 1.0, rtt_us: 1_000.0, flows: 5, threshold: 20 },
];

/// Marks alone signal congestion, and K above C R / 7 keeps the link busy (sec. 3.4).
#[test]
fn dctcp_fills_the_link_without_losses() {
    for setting in SETTINGS {
        assert!(f64::from(setting.threshold) > setting.bandwidth_delay_product() / 7.0);
        setting
            .run("dctcp", "accurate")
            .expect("links.switch.utilization", above(0.999))
            .expect("links.switch.drops_packets", 0)
            .expect("groups.tcp.retransmissions", 0)
            .expect("groups.tcp.timeouts", 0);
    }
}

/// The queue varies between K + N - N D and K + N. It counts whole packets, and the flows are not
/// exactly synchronized: hence a difference of a few packets.
#[test]
fn the_queue_of_dctcp_has_the_maximum_and_the_amplitude_of_the_analysis() {
    for setting in SETTINGS {
        let most = f64::from(setting.threshold + setting.flows);
        let flows = f64::from(setting.flows);
        let given_up = (setting.window() + 1.0) * setting.alpha() / 2.0;
        let least = most - flows * given_up;
        setting
            .run("dctcp", "accurate")
            .expect("links.switch.queue_packets_p99", within(most - 1.0..=most + 1.0))
            .expect("links.switch.queue_packets_p01", within(least - 3.5..=least + 3.5));
    }
}

/// alpha follows the marked fraction, so its mean is that fraction. The analysis assumes one round
/// trip per period in which every packet is marked; with windows of 20 packets, not every packet of
/// that round trip is marked.
#[test]
fn the_marked_fraction_is_the_alpha_of_the_analysis() {
    for setting in SETTINGS {
        let ratio =
            setting.run("dctcp", "accurate").get("groups.tcp.marked_fraction") / setting.alpha();
        check(format!("{setting:?}"), ratio, within(0.82..1.15));
    }
}

/// Below C R / 7 the queue empties in the worst case of sec. 3.4: here 2 + 2 - 20.
#[test]
fn dctcp_loses_throughput_when_the_threshold_is_far_too_low() {
    let low = Setting { threshold: 2, ..SETTINGS[1] };
    low.run("dctcp", "accurate")
        .expect("links.switch.queue_packets_p01", 0)
        .expect("links.switch.utilization", within(0.95..0.995));
}

/// Reno halves its window at each mark, so the link stays busy only if K is at least the
/// bandwidth-delay product. With a lower K the window falls to (C R + K) / 2, and the mean of the
/// sawtooth is well below the capacity.
#[test]
fn reno_at_the_same_switch_leaves_part_of_the_link_idle() {
    for setting in SETTINGS {
        let run = setting.run("reno", "classic");
        run.expect("links.switch.drops_packets", 0)
            .expect("groups.tcp.timeouts", 0)
            .expect("links.switch.queue_packets_p01", within(..=1.0));
        if f64::from(setting.threshold) < setting.bandwidth_delay_product() / 3.0 {
            run.expect("links.switch.utilization", within(0.8..0.92));
        }
    }
}

/// DCTCP on RED with thresholds of 30,000 and 30,001 B and probability 1, as Linux guides advise:
/// every packet above is marked and none is dropped (iproute2#19).
#[test]
fn a_step_made_of_red_marks_and_drops_nothing() {
    let red = "kind = 'red', limit = '100 kB', min_threshold = '30000 B', max_threshold = '30001 B', \
               max_p = 1.0, weight = 1.0, mode = 'bytes', gentle = false, uniform = false";
    let pair = "count = 2, congestion = 'dctcp', rtt = '200 us', ecn = 'accurate', \
                min_rto = '10 ms', start = { uniform = ['0 s', '100 ms'] }";
    case("5 s from 1 s")
        .link("port", format!("1 Gbit/s, 50 us, queue = {{ {red} }}"))
        .flows("pair", "port", pair)
        .run()
        .expect("links.port.drops_packets", 0)
        .expect("links.port.marks_packets", above(100.0))
        .expect("links.port.utilization", above(0.99))
        .expect("groups.pair.timeouts", 0);
}
