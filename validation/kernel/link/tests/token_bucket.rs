//! The shaper of a link against recordings of Linux's `tbf`: the same packets, at the same times,
//! leave both within the time of a packet (`python -m validation.kernel.token_bucket` records).

use tailroom_engine::bottleneck::{Bottleneck, Fate};
use tailroom_engine::link::LinkSpec;
use tailroom_engine::link::shaper::ShaperSpec;
use tailroom_engine::packet::Ecn;
use tailroom_engine::quantity::limit::Limit;
use tailroom_engine::quantity::{BitRate, Size};
use tailroom_engine::queue::drop_tail::DropTailParams;
use tailroom_engine::queue::{LinkInfo, QueueConfig};
use tailroom_engine::units::{Rate, Time};

/// A packet: when it arrived, its size, and when it departed unless it was dropped.
type Row = (Time, u32, Option<Time>);

/// The packets of a recording, and the number in front of each `unit` of its first line.
fn recording(name: &str) -> (Vec<Row>, impl Fn(&str) -> Option<u64>) {
    let file = format!("{}/../recorded/token_bucket/{name}.csv", env!("CARGO_MANIFEST_DIR"));
    let text = std::fs::read_to_string(file).expect("the recording exists");
    let (head, rows) = text.split_once('\n').expect("a line of parameters");
    let time = |text: &str| Some(Time::from_picoseconds(1_000 * text.parse::<u64>().ok()?));
    let row = |line: &str| {
        let fields: Vec<&str> = line.split(',').collect();
        let arrival = time(fields[0]).expect("every packet arrives");
        (arrival, fields[1].parse().expect("a size"), time(fields[2]))
    };
    let rows = rows.lines().skip(1).map(row).collect();
    let head = head.to_owned();
    let parameter = move |name: &str| {
        let value = head.split(&format!("{name} ")).nth(1)?.split(' ').next()?;
        Some(value.parse().expect("a whole number"))
    };
    (rows, parameter)
}

/// The link of a recording: its line takes next to no time, as that of a TUN device.
fn link(rows: &[Row], parameter: impl Fn(&str) -> Option<u64>) -> (Bottleneck<()>, Time) {
    let largest = rows.iter().map(|row| row.1).max().expect("there are packets");
    let value = |name| parameter(name).expect("the recording names it");
    let rate = BitRate::new(value("rate"));
    let queue = DropTailParams::new(Limit::Bytes(value("limit")).into());
    let line = Rate::from_bits_per_second(100_000_000_000);
    let mut shaper = ShaperSpec::new(rate, Size::new(value("burst")));
    shaper.peak_rate = parameter("peakrate").map(BitRate::new);
    let mut spec = LinkSpec::new(line, Time::ZERO, QueueConfig::DropTail(queue));
    spec.shaper = Some(shaper);
    let info = LinkInfo::new(&spec.name, spec.sustained_rate(), largest);
    let packet_time = Time::from_seconds(8.0 * f64::from(largest) / value("rate") as f64);
    (Bottleneck::with_info(&spec, &info).expect("tbf took the same values"), packet_time)
}

#[track_caller]
fn assert_within_a_packet(name: &str) {
    let (rows, parameter) = recording(name);
    let (mut link, packet_time) = link(&rows, parameter);
    for &(at, bytes, _) in &rows {
        link.arrive(at, 0, bytes, Ecn::NotEct, ());
    }
    let mut departures = Vec::new();
    while let Some(outcome) = link.poll(Time::AFTER_ALL_RUNS) {
        if let Fate::Delivered { departure, .. } = outcome.fate {
            departures.push(departure);
        }
    }
    let recorded: Vec<Time> = rows.iter().filter_map(|row| row.2).collect();
    let difference = departures.len().abs_diff(recorded.len());
    assert!(difference <= 1, "{} departures, {} recorded", departures.len(), recorded.len());
    for (number, (&ours, &theirs)) in departures.iter().zip(&recorded).enumerate() {
        let difference = ours.max(theirs).since(ours.min(theirs));
        assert!(difference <= packet_time, "departure {number}: {ours}, recorded {theirs}");
    }
}

#[test]
fn a_full_bucket_leaves_at_once_and_the_rest_at_the_rate() {
    assert_within_a_packet("full-bucket");
}

#[test]
fn a_burst_leaves_at_the_peak_rate() {
    assert_within_a_packet("peak-rate");
}
