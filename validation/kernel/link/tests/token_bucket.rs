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

/// A recording is discarded if its reader was held up for longer.
const LATE: Time = Time::from_picoseconds(500_000_000);

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
fn link(rows: &[Row], parameter: impl Fn(&str) -> Option<u64>) -> (Bottleneck<usize>, Time) {
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

/// When each packet leaves, if it does: in the link of a recording, and in the recording.
struct Comparison {
    rows: Vec<Row>,
    ours: Vec<Option<Time>>,
    packet_time: Time,
    largest: u64,
}

fn compare(name: &str) -> Comparison {
    let (rows, parameter) = recording(name);
    let (mut link, packet_time) = link(&rows, parameter);
    for (number, &(at, bytes, _)) in rows.iter().enumerate() {
        link.arrive(at, 0, bytes, Ecn::NotEct, number);
    }
    let mut ours = vec![None; rows.len()];
    while let Some(outcome) = link.poll(Time::AFTER_ALL_RUNS) {
        if let Fate::Delivered { departure, .. } = outcome.fate {
            ours[outcome.packet] = Some(departure);
        }
    }
    let largest = rows.iter().map(|row| u64::from(row.1)).max().expect("there are packets");
    Comparison { rows, ours, packet_time, largest }
}

#[track_caller]
fn assert_within_a_packet(name: &str) {
    let Comparison { rows, ours, packet_time, .. } = compare(name);
    let ours: Vec<Time> = ours.into_iter().flatten().collect();
    let recorded: Vec<Time> = rows.iter().filter_map(|row| row.2).collect();
    let difference = ours.len().abs_diff(recorded.len());
    assert!(difference <= 1, "{} departures, {} recorded", ours.len(), recorded.len());
    for (number, (&ours, &theirs)) in ours.iter().zip(&recorded).enumerate() {
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

#[test]
fn packets_of_one_size_find_the_same_room() {
    assert_within_a_packet("drops");
}

/// A small packet waits for the tokens of the largest here, and for its own in the kernel.
#[test]
fn packets_of_several_sizes_leave_within_the_time_of_the_largest() {
    assert_within_a_packet("sizes");
}

/// Both have the same tokens and leave less than the largest packet's unused while packets wait, so
/// what has left differs by a packet of that size at most. Where one of them refuses a packet of s
/// bytes and the other does not, their queues then differ by less than s, so that what was refused
/// differs by less than two of the largest packets. The reader may be late by [`LATE`].
#[test]
fn packets_of_several_sizes_that_find_no_room_are_as_many_bytes() {
    let Comparison { rows, ours, largest, .. } = compare("sizes-and-drops");
    let theirs: Vec<Option<Time>> = rows.iter().map(|row| row.2).collect();
    let left = |departures: &[Option<Time>], until: Time| -> u64 {
        let packets = departures.iter().zip(&rows);
        let left = packets.filter(|(departure, _)| departure.is_some_and(|time| time <= until));
        left.map(|(_, row)| u64::from(row.1)).sum()
    };
    for &time in ours.iter().chain(&theirs).flatten() {
        let early = left(&theirs, time.max(LATE).since(LATE));
        let (found, late) = (left(&ours, time), left(&theirs, time + LATE));
        assert!(found + largest >= early, "{time}: {found} B have left, recorded {early}");
        assert!(found <= late + largest, "{time}: {found} B have left, recorded {late}");
    }
    let (mut our_drops, mut their_drops) = (0, 0);
    for (number, row) in rows.iter().enumerate() {
        our_drops += if ours[number].is_none() { u64::from(row.1) } else { 0 };
        their_drops += if theirs[number].is_none() { u64::from(row.1) } else { 0 };
        let difference = our_drops.abs_diff(their_drops);
        assert!(
            difference < 2 * largest,
            "{number}: {our_drops} B refused, {their_drops} recorded"
        );
    }
    assert!(their_drops > 20 * largest, "{their_drops} B refused");
}
