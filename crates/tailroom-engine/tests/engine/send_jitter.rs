//! Random processing delay before packets leave their sender: it is uniform, packets that are sent
//! in the meantime leave together, and no packet overtakes another.

use tailroom_engine::results::Results;

use crate::support::case::{Run, above, case, check, near};

fn run(keys: &str) -> Run {
    case("100 s")
        .link("link", "1 Gbit/s, 10 ms, 100000 packets, packet_log = 1_000_000")
        .flows("senders", "link", format!("packet_size = '1000 B', {keys}"))
        .run()
}

fn arrivals(results: &Results) -> Vec<f64> {
    let log = results.tables.packet_log.as_ref().expect("it is recorded");
    let lines = log.time_s.iter().zip(&log.event).filter(|line| *line.1 == 0);
    lines.map(|line| *line.0).collect()
}

/// One packet per 10 ms: each arrives up to 1 ms late, and a quarter of them in each quarter of
/// that time.
#[test]
fn the_jitter_is_uniform() {
    let plain = "source = { kind = 'cbr', rate = '800 kbit/s' }";
    let on_time = arrivals(&run(plain));
    let late = arrivals(&run(&format!("{plain}, send_jitter = '1 ms'")));
    assert!(on_time.len() >= 9_999 && late.len() >= 9_999);
    let mut quarters = [0_u32; 4];
    for (late, on_time) in late.iter().zip(&on_time) {
        let delay_ms = (late - on_time) * 1e3;
        assert!((-1e-6..=1.0 + 1e-6).contains(&delay_ms), "{delay_ms} ms");
        quarters[(delay_ms * 4.0).clamp(0.0, 3.0) as usize] += 1;
    }
    // The standard deviation is sqrt(10,000 * 1/4 * 3/4) = 43.
    assert!(quarters.iter().all(|count| count.abs_diff(2_500) < 150), "{quarters:?}");
}

/// One packet per millisecond with a delay of up to 30 ms: packets leave in batches. All packets
/// sent until a packet leaves leave with it, and the first packet sent after that starts the next
/// delay.
#[test]
fn packets_sent_during_a_delay_leave_together() {
    let plain = "source = { kind = 'cbr', rate = '8 Mbit/s' }";
    let sent = arrivals(&run(plain));
    let left = arrivals(&run(&format!("{plain}, send_jitter = '30 ms'")));
    let mut batches = 0;
    for at in 1..left.len() {
        let is_together = left[at] - left[at - 1] < 1e-9;
        assert_eq!(is_together, sent[at] <= left[at - 1], "packet {at}");
        assert!(is_together || left[at] - sent[at] <= 0.030 + 1e-9, "packet {at}");
        batches += u32::from(!is_together);
    }
    // Batches are 15 ms apart on average, plus 0.5 ms until the next packet is sent, with a
    // standard deviation of 8.7 ms. Their number in 100 s has a standard deviation of 6452 * 0.56 /
    // sqrt(6452) = 45.
    assert!(batches.abs_diff(6_452) < 150, "{batches}");
}

/// Delays of up to 30 ms for packets that are microseconds apart: without order, three duplicate
/// ACKs would soon indicate a loss.
#[test]
fn no_packet_overtakes_another() {
    run("congestion = 'reno', rtt = '100 ms', max_window = 100, send_jitter = '30 ms'")
        .expect("flows.0.goodput_bps", above(5e6))
        .expect("flows.0.retransmissions", 0)
        .expect("flows.0.congestion_events", 0);
}

/// Each flow draws its jitter from its own random stream, so two flows of a group have independent
/// delays.
#[test]
fn flows_of_a_group_have_independent_delays() {
    let source = "source = { kind = 'cbr', rate = '800 kbit/s', phase = '0 s' }";
    let results = run(&format!("count = 2, {source}, send_jitter = '1 ms'"));
    let log = results.tables.packet_log.as_ref().expect("it is recorded");
    let times = |flow: u32| -> Vec<f64> {
        let lines = (0..log.time_s.len()).filter(|at| log.event[*at] == 0 && log.flow[*at] == flow);
        lines.map(|at| log.time_s[at]).collect()
    };
    let (one, other) = (times(0), times(1));
    let pairs = one.iter().zip(&other);
    // The difference of two uniform variables on 1 ms has a variance of 1/6 ms^2.
    let square = pairs.map(|(one, other)| ((one - other) * 1e3).powi(2)).sum::<f64>();
    let variance = square / one.len() as f64;
    // The fourth moment is 1/15 ms^4: a standard deviation of sqrt((1/15 - 1/36) / 10,000) = 0.002.
    check("variance", variance, near(1.0 / 6.0, 0.0066));
}
