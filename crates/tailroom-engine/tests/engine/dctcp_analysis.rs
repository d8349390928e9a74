//! DCTCP at a switch with a marking threshold, against the analysis of Alizadeh et al. 2010, "Data
//! center TCP", sec. 3.3.
//!
//! N flows with a round trip time R share C packets/s, the switch marks above K packets, and all
//! flows reduce their windows together. W* = (C R + K) / N is the window at which marks begin, D =
//! (W* + 1) alpha / 2 the reduction of each window, alpha = sqrt(2 / W*) the marked fraction of the
//! packets, N D the amplitude of the queue and K + N its maximum.

use tailroom_engine::results::{GroupSummary, LinkSummary};

use crate::support::scenario_run;
use crate::support::summaries::{group, link};

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

    fn run(self, control: &str, ecn: &str, seed: u64) -> (LinkSummary, GroupSummary) {
        let text = format!(
            r#"
duration = "2 s"
measure_from = "500 ms"
[links.switch]
rate = "{} Gbit/s"
delay = "{} us"
queue = {{ kind = "step_mark", threshold = "{} packets", limit = "1000 packets" }}
[flows.tcp]
count = {}
path = ["switch"]
congestion = {{ kind = "{control}" }}
ecn = "{ecn}"
send_jitter = "none" # the analysis assumes synchronized flows
rtt = "{} us"
start = {{ uniform = ["0 s", "100 ms"] }}
"#,
            self.gigabits,
            self.rtt_us / 4.0,
            self.threshold,
            self.flows,
            self.rtt_us,
        );
        let summary = scenario_run::run(&text, seed).summary;
        let link = link(&summary, "switch").clone();
        (link, group(&summary, "tcp").clone())
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
        let (link, group) = setting.run("dctcp", "accurate", 1);
        assert!(link.utilization > 0.999, "{setting:?}: {}", link.utilization);
        let lost = (link.drops_packets, group.retransmissions, group.timeouts);
        assert_eq!(lost, (0, 0, 0), "{setting:?}");
    }
}

/// The queue varies between K + N - N D and K + N. It counts whole packets, and the flows are not
/// exactly synchronized: hence a difference of a few packets.
#[test]
fn the_queue_of_dctcp_has_the_maximum_and_the_amplitude_of_the_analysis() {
    for setting in SETTINGS {
        let (link, _) = setting.run("dctcp", "accurate", 1);
        let most = f64::from(setting.threshold + setting.flows);
        let flows = f64::from(setting.flows);
        let given_up = (setting.window() + 1.0) * setting.alpha() / 2.0;
        let least = most - flows * given_up;
        let (p01, p99) = (link.queue_packets_p01.unwrap(), link.queue_packets_p99.unwrap());
        assert!((p99 - most).abs() <= 1.0, "{setting:?}: {p99}, not {most}");
        assert!((p01 - least).abs() <= 3.5, "{setting:?}: {p01}, not {least}");
    }
}

/// alpha follows the marked fraction, so its mean is that fraction. The analysis assumes one round
/// trip per period in which every packet is marked; with windows of 20 packets, not every packet of
/// that round trip is marked.
#[test]
fn the_marked_fraction_is_the_alpha_of_the_analysis() {
    for setting in SETTINGS {
        let (_, group) = setting.run("dctcp", "accurate", 1);
        let ratio = group.marked_fraction.unwrap() / setting.alpha();
        assert!((0.82..1.15).contains(&ratio), "{setting:?}: {ratio}");
    }
}

/// Below C R / 7 the queue empties in the worst case of sec. 3.4: here 2 + 2 - 20.
#[test]
fn dctcp_loses_throughput_when_the_threshold_is_far_too_low() {
    let low = Setting { threshold: 2, ..SETTINGS[1] };
    let (link, _) = low.run("dctcp", "accurate", 1);
    assert_eq!(link.queue_packets_p01, Some(0.0));
    assert!((0.95..0.995).contains(&link.utilization), "{}", link.utilization);
}

/// Reno halves its window at each mark, so the link stays busy only if K is at least the
/// bandwidth-delay product. With a lower K the window falls to (C R + K) / 2, and the mean of the
/// sawtooth is well below the capacity.
#[test]
fn reno_at_the_same_switch_leaves_part_of_the_link_idle() {
    for setting in SETTINGS {
        let (link, group) = setting.run("reno", "classic", 1);
        assert_eq!((link.drops_packets, group.timeouts), (0, 0), "{setting:?}");
        assert!(link.queue_packets_p01.unwrap() <= 1.0, "{setting:?}");
        if f64::from(setting.threshold) < setting.bandwidth_delay_product() / 3.0 {
            assert!((0.8..0.92).contains(&link.utilization), "{setting:?}: {}", link.utilization);
        }
    }
}

/// DCTCP on RED with thresholds of 30,000 and 30,001 B and probability 1, as Linux guides advise:
/// every packet above is marked and none is dropped (iproute2#19).
#[test]
fn a_step_made_of_red_marks_and_drops_nothing() {
    let text = r#"
        duration = "5 s"
        measure_from = "1 s"
        [links.port]
        rate = "1 Gbit/s"
        delay = "50 us"
        [links.port.queue]
        kind = "red"
        limit = "100 kB"
        min_threshold = "30000 B"
        max_threshold = "30001 B"
        max_p = 1.0
        weight = 1.0
        mode = "bytes"
        gentle = false
        uniform = false
        [flows.pair]
        count = 2
        path = ["port"]
        congestion = "dctcp"
        rtt = "200 us"
        ecn = "accurate"
        min_rto = "10 ms"
        start = { uniform = ["0 s", "100 ms"] }
        "#;
    let summary = scenario_run::run(text, 1).summary;
    let port = link(&summary, "port");
    assert_eq!(port.drops_packets, 0);
    assert!(port.marks_packets > 100 && port.utilization > 0.99, "{port:?}");
    assert_eq!(group(&summary, "pair").timeouts, 0);
}
