//! DCQCN, TIMELY and Swift in whole simulations: the fixed points of their analyses and laws.

use crate::support::case::{Case, Run, above, case, check, close, near, within};

/// Hosts with the rate of the switch port that they share.
#[derive(Clone, Copy, Debug)]
struct Setting<'a> {
    congestion: &'a str,
    queue: &'a str,
    flows: u32,
    gigabits: f64,
    packet_bytes: u32,
    rtt_us: f64,
}

impl Setting<'_> {
    fn packets_per_second(self) -> f64 {
        self.gigabits * 1e9 / (8.0 * f64::from(self.packet_bytes))
    }

    /// A run of which the last `measured_ms` are measured.
    fn case(self, duration_ms: u32, measured_ms: u32) -> Case {
        let Setting { congestion, queue, flows, gigabits, packet_bytes, rtt_us } = self;
        let queue = format!("queue = {{ {queue}, limit = '20 MB' }}");
        let control = format!("congestion = {{ {congestion} }}, ecn = 'accurate', count = {flows}");
        let packets = format!("packet_size = '{packet_bytes} B', header_size = '40 B'");
        let host =
            format!("access_rate = '{gigabits} Gbit/s', rtt = '{rtt_us} us', host = 'data_center'");
        let start = "start = { uniform = ['0 s', '10 ms'] }";
        case(&format!("{duration_ms} ms from {} ms", duration_ms - measured_ms))
            .link("port", format!("{gigabits} Gbit/s, 1 us, {queue}"))
            .flows("hosts", "port", [&*control, &packets, &host, start].join(", "))
    }

    fn run(self, duration_ms: u32, measured_ms: u32) -> Run {
        self.case(duration_ms, measured_ms).run()
    }
}

/// Asserts that nothing is lost and that each flow has its share of the link, up to a tenth.
fn assert_equal_shares(setting: Setting<'_>, run: &Run) {
    run.expect("links.port.drops_packets", 0);
    for flow in &run.summary.flows {
        check(&flow.name, flow.share * f64::from(setting.flows), near(1.0, 0.1));
    }
}

/// The shortest time between notifications of DCQCN.
const QUIET: f64 = 50e-6;

/// What a mark does within this time. [`Self::unmarked`] says, if no notification has come for so many
/// seconds, in how many of them no packet was marked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum MarksInInterval {
    /// The next notification follows the first mark after 50 us.
    Ignored,
    /// The next notification comes after 50 us if a packet is marked in them, else at the next mark.
    Remembered,
    /// The next notification comes at the end of the first interval with a mark.
    Slotted,
}

impl MarksInInterval {
    fn key(self) -> &'static str {
        match self {
            MarksInInterval::Ignored => ", marks_in_interval = 'ignored'",
            MarksInInterval::Remembered => "",
            MarksInInterval::Slotted => ", marks_in_interval = 'slotted'",
        }
    }

    fn unmarked(self, seconds: f64) -> f64 {
        match self {
            MarksInInterval::Ignored => (seconds - QUIET).max(0.0),
            MarksInInterval::Remembered if seconds > QUIET => seconds,
            MarksInInterval::Remembered => 0.0,
            MarksInInterval::Slotted => ((seconds / QUIET - 1e-9).ceil() - 1.0).max(0.0) * QUIET,
        }
    }
}

/// The marking probability at which flows of DCQCN keep this rate, by the rules of Zhu et al. 2015 sec.
/// 3.1 for their parameters; rates are in packets of 1000 B per second. Until the next notification the
/// timer expires n times: alpha decays n times, and the rate, which a notification reduces by alpha / 2,
/// halves its distance to the target n times; from the time `stages` on the target grows. In the mean it
/// grows by as much as the rate is short of it at the next notification.
fn dcqcn_marking(rate: f64, marks: MarksInInterval, stages: u32) -> f64 {
    const TIMER: f64 = 55e-6;
    const GAIN: f64 = 1.0 / 256.0;
    const INCREASE: f64 = 5_000.0;
    let growth_less_shortfall = |p: f64| {
        let is_awaited = |seconds: f64| libm::pow(1.0 - p, marks.unmarked(seconds) * rate);
        let expiries =
            |n: u32| is_awaited(f64::from(n) * TIMER) - is_awaited(f64::from(n + 1) * TIMER);
        let decayed: f64 =
            (0..1_000).map(|n| expiries(n) * libm::pow(1.0 - GAIN, f64::from(n))).sum();
        let alpha = GAIN / (1.0 - (1.0 - GAIN) * decayed);
        let (mut growth, mut shortfall, mut mean) = (0.0, alpha * rate / 2.0, 0.0);
        for n in 0..1_000 {
            if n >= stages {
                growth += INCREASE;
                shortfall += INCREASE;
            }
            if n > 0 {
                shortfall /= 2.0;
            }
            mean += expiries(n) * (growth - shortfall);
        }
        mean
    };
    let (mut low, mut high) = (1e-5, 0.5);
    for _ in 0..60 {
        let middle = f64::midpoint(low, high);
        if growth_less_shortfall(middle) > 0.0 { low = middle } else { high = middle }
    }
    low
}

/// The mean queue, in packets, where packets are marked with this probability: 1 % at 200 kB.
fn dcqcn_queue(marking: f64) -> f64 {
    5.0 + 195.0 * marking / 0.01
}

/// The rules with marks remembered, and a target that grows from the sixth time on, have the queues of the
/// fluid model of Zhu et al. 2016, "ECN or delay", Eq. 11, which
/// [`test_dcqcn_fixed_point.py`](../../../../tests/test_dcqcn_fixed_point.py) solves. Marks that do nothing within
/// the interval are why the queues of NICs that ignore them are a quarter to a third longer.
#[test]
fn dcqcn_that_remembers_marks_has_the_fixed_point_of_the_fluid_model() {
    for (flows, fluid) in [(2.0, 20.15), (4.0, 41.81), (8.0, 93.77), (10.0, 122.62)] {
        let rate = 5e6 / flows;
        let remembered = dcqcn_queue(dcqcn_marking(rate, MarksInInterval::Remembered, 6));
        assert!((remembered / fluid - 1.0).abs() < 0.01, "{flows}: {remembered}, not {fluid}");
        let ignored = dcqcn_queue(dcqcn_marking(rate, MarksInInterval::Ignored, 6));
        assert!(ignored > 1.15 * fluid, "{flows}: {ignored}, not above {fluid}");
    }
}

/// DCQCN at 40 Gbit/s, whose marks are as likely as with the thresholds of Zhu et al. 2015 and go on in
/// proportion.
fn dcqcn(flows: u32) -> Setting<'static> {
    Setting {
        congestion: "kind = 'dcqcn'",
        queue: "kind = 'wred', k_min = '5 kB', k_max = '2 MB', p_max = 0.1023",
        flows,
        gigabits: 40.0,
        packet_bytes: 1_000,
        rtt_us: 4.0,
    }
}

/// The queue and the rates of the fixed point, each up to a tenth, at 40 Gbit/s, if marks are as likely
/// as with the thresholds of Zhu et al. 2015 (1 % at 200 kB) and go on in proportion. With eight flows
/// the queue varies beyond 200 kB, where a threshold would mark every packet.
#[test]
fn dcqcn_has_the_queue_and_the_rates_of_its_fixed_point() {
    let ignored = [2, 4, 8].map(|flows| (flows, MarksInInterval::Ignored));
    let others = [(4, MarksInInterval::Remembered), (8, MarksInInterval::Remembered)];
    let slotted = [(4, MarksInInterval::Slotted), (8, MarksInInterval::Slotted)];
    for (flows, marks) in ignored.into_iter().chain(others).chain(slotted) {
        let congestion = format!("{}{}", dcqcn(flows).congestion, marks.key());
        let setting = Setting { congestion: &congestion, ..dcqcn(flows) };
        let rate = setting.packets_per_second() / f64::from(flows);
        let expected = dcqcn_queue(dcqcn_marking(rate, marks, 5));
        let run = setting.run(400, 300);
        run.expect("links.port.queue_packets_mean", close(expected, 0.1))
            .expect("links.port.utilization", above(0.99));
        assert_equal_shares(setting, &run);
    }
}

/// Next to a lossy class that always has packets and has the same weight, the fixed point is that of a link of
/// half the rate, up to a tenth; the flows start at the rate of the whole line.
#[test]
fn dcqcn_next_to_a_lossy_class_has_the_fixed_point_of_its_share() {
    for flows in [2, 4] {
        let marks = MarksInInterval::Ignored;
        let congestion = format!("{}{}", dcqcn(flows).congestion, marks.key());
        let setting = Setting { congestion: &congestion, ..dcqcn(flows) };
        let line = "line = { name = 'port' }";
        let run = setting
            .case(400, 300)
            .set("links.port.line.name", "port")
            .link("lossy", format!("40 Gbit/s, 1 us, 1 MB, {line}"))
            .stream("lossy", "lossy", "cbr 40 Gbit/s, 1000 B")
            .run();
        let rate = setting.packets_per_second() / 2.0 / f64::from(flows);
        let expected = dcqcn_queue(dcqcn_marking(rate, marks, 5));
        run.expect("links.port.queue_packets_mean", close(expected, 0.1))
            .expect("links.port.utilization", near(0.5, 0.005));
        let used = run.get("links.port.utilization");
        for flow in run.summary.flows.iter().filter(|flow| flow.group == "hosts") {
            check(&flow.name, flow.share * f64::from(flows) / used, near(1.0, 0.1));
        }
    }
}

/// Zhu et al. 2016: patched TIMELY settles where the RTT exceeds `T_low` by the factor
/// `N delta / (beta C)`, up to 5 %, and flows that begin at different times get equal shares.
#[test]
fn patched_timely_has_the_rtt_and_the_rates_of_its_fixed_point() {
    for flows in [2, 10, 20] {
        let setting = Setting {
            congestion: "kind = 'timely', variant = 'patched'",
            queue: "kind = 'drop_tail'",
            flows,
            gigabits: 10.0,
            packet_bytes: 1_000,
            rtt_us: 4.0,
        };
        let expected = 50e-6 * (1.0 + f64::from(flows) * 10e6 / (0.008 * 10e9));
        let run = setting.run(2_000, 1_000);
        run.expect("groups.hosts.rtt_s_mean", close(expected, 0.05));
        assert_equal_shares(setting, &run);
    }
}

/// Mittal et al. 2015, Algorithm 1: below `T_low` every flow speeds up, so that the RTT reaches it again
/// and again; above `T_high` every flow slows down. Hence the longest RTTs are between the two. There is
/// no fixed point, and flows keep unequal rates (Zhu et al. 2016).
#[test]
fn the_longest_rtts_of_timely_are_between_its_thresholds_and_rates_stay_unequal() {
    for flows in [2, 10] {
        let setting = Setting {
            congestion: "kind = 'timely'",
            queue: "kind = 'drop_tail'",
            flows,
            gigabits: 10.0,
            packet_bytes: 1_000,
            rtt_us: 20.0,
        };
        let run = setting.run(1_000, 500);
        let without_wait = 20e-6 + 2.0 * 0.8e-6;
        let longest = without_wait + run.get("links.port.queue_delay_s_p99");
        check(format!("{setting:?}"), longest, within(50e-6..500e-6));
        run.expect("links.port.drops_packets", 0);
        let shares = run.summary.flows.iter().map(|flow| flow.share);
        let (least, most) = (shares.clone().fold(1.0, f64::min), shares.fold(0.0, f64::max));
        assert!(most > 1.5 * least, "{setting:?}: {least} to {most}");
    }
}

/// Kumar et al. 2020, sec. 3.5: at the target delay t(w), N windows of w packets fill the path: N w =
/// C t(w). Windows grow by a packet per round trip, or by w if that is less, until the delay exceeds
/// the target: the mean delay differs by at most that growth of all flows.
#[test]
fn swift_keeps_the_delay_at_the_target_of_its_window() {
    for (flows, gigabits, packet_bytes, measured_ms) in
        [(2, 100.0, 4_000, 50), (10, 100.0, 4_000, 50), (100, 10.0, 1_000, 1_000)]
    {
        let setting = Setting {
            congestion: "kind = 'swift'",
            queue: "kind = 'drop_tail'",
            flows,
            gigabits,
            packet_bytes,
            rtt_us: 12.0,
        };
        let (count, capacity) = (f64::from(flows), setting.packets_per_second());
        let slope = 100e-6 / (libm::sqrt(10.0) - 0.1);
        let target =
            |window: f64| 23e-6 + (slope * (1.0 / libm::sqrt(window) - 0.1)).clamp(0.0, 100e-6);
        let (mut low, mut high) = (1e-3, 1e4);
        for _ in 0..60 {
            let middle = f64::midpoint(low, high);
            if count * middle < capacity * target(middle) { low = middle } else { high = middle }
        }
        let (expected, growth) = (target(low), count * low.min(1.0) / capacity);
        let run = setting.run(50 + measured_ms, measured_ms);
        run.expect("groups.hosts.rtt_s_mean", near(expected, growth))
            .expect("links.port.utilization", above(0.98));
        assert_equal_shares(setting, &run);
    }
}
