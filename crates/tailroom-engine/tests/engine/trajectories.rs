//! Snapshots of the window of congestion controls under four scripts, compared with committed
//! numbers. They detect changes, and the pictures of docs/guide/controls.md are drawn from them.
//! `published_windows.rs` tests whether the windows are right.
//!
//! To write them again after an intended change, or for a new control:
//! `UPDATE_TRAJECTORIES=1 cargo test -p tailroom-engine --test engine trajectories::`, then
//! `make docs`.

use std::collections::VecDeque;
use std::fmt::Write as _;
use std::path::PathBuf;

use tailroom_engine::congestion::CongestionConfig;
use tailroom_engine::packet::{Ecn, Packet, StoredAck};
use tailroom_engine::quantity::PositiveDuration;
use tailroom_engine::tcp::TcpSpec;
use tailroom_engine::tcp::receiver::{DelayedAck, Receiver};
use tailroom_engine::tcp::sender::ecn::EcnMode;
use tailroom_engine::tcp::sender::{PacketSink, Sender};
use tailroom_engine::units::Time;

use crate::support::path::{no_checkpoints, send_queue};
use crate::support::{controls, transport};

/// Milliseconds.
const fn ms(milliseconds: u64) -> Time {
    Time::from_milliseconds(milliseconds)
}

/// The round trip without queues.
const RTT: Time = ms(100);
/// Transmission time of a packet at the bottleneck: 1000 packets/s, so 100 packets fill the path.
const SERVICE: Time = ms(1);
const FULL_PATH: u32 = 100;
/// Interval between samples: two round trips, or one while the queue is as long as the path.
const SAMPLE: Time = ms(200);
const END: Time = ms(30_000);
/// The scripts begin at this time.
const QUIET: Time = ms(5_000);
/// Controls for round trips that are thousands of times shorter: the target delay of Swift is below
/// the RTT, and the windows of the others are bounds.
const OUT_OF_RANGE: [&str; 3] = ["dcqcn", "timely", "swift"];
/// The window of the receiver. Without it the fastest controls would build queues of many seconds.
const MAX_WINDOW: u64 = 400;

/// Losses, delays and marks on the path of a flow, independent of its control.
#[derive(Clone, Copy)]
struct Script {
    name: &'static str,
    /// The first packet that is sent at or after each of these times is lost.
    losses_ms: &'static [u64],
    /// Delay in addition to the path and the queue of the flow, by time.
    delay: fn(Time) -> Time,
    /// From 5 s on, packets that find more than this number of waiting packets are marked.
    mark_above: Option<u64>,
}

const SCRIPTS: [Script; 4] = [
    Script { name: "one_loss", losses_ms: &[5_000], delay: none, mark_above: None },
    Script {
        name: "periodic_loss",
        losses_ms: &[5_000, 10_000, 15_000, 20_000, 25_000],
        delay: none,
        mark_above: None,
    },
    Script { name: "delay_ramp", losses_ms: &[], delay: ramp, mark_above: None },
    Script { name: "ecn_marks", losses_ms: &[], delay: none, mark_above: Some(20) },
];

fn none(_: Time) -> Time {
    Time::ZERO
}

/// 0 until 5 s, 100 ms from 15 to 20 s, 0 from 25 s on, and linear in between.
fn ramp(now: Time) -> Time {
    let up = now.since(QUIET).picoseconds() / 100;
    let down = ms(25_000).since(now).picoseconds() / 50;
    ms(100).min(Time::from_picoseconds(up)).min(Time::from_picoseconds(down))
}

/// A bottleneck with an unlimited buffer, and the receiver behind it. ACKs return without a queue.
struct Path {
    script: Script,
    losses: usize,
    is_free_at: Time,
    receiver: Receiver,
    acks: VecDeque<(Time, StoredAck)>,
}

impl PacketSink for Path {
    fn send(&mut self, mut packet: Packet) {
        let now = packet.sent;
        let wait = self.is_free_at.since(now);
        self.is_free_at = now + wait + SERVICE;
        if self.script.losses_ms.get(self.losses).is_some_and(|&at| now >= ms(at)) {
            self.losses += 1;
            return;
        }
        let waiting = wait.picoseconds() / SERVICE.picoseconds();
        let is_marking = now >= QUIET && packet.ecn.is_capable();
        if is_marking && self.script.mark_above.is_some_and(|most| waiting > most) {
            packet.ecn = Ecn::Ce;
        }
        // The RTT includes the transmission time.
        let arrival = self.is_free_at + (RTT.since(SERVICE)) + (self.script.delay)(now);
        if let Some(ack) = self.receiver.on_packet(arrival, packet) {
            self.acks.push_back((arrival, StoredAck::from(ack)));
        }
    }
}

/// The window at each sample, in packets.
fn trajectory(congestion: CongestionConfig, script: Script) -> Vec<f64> {
    let tcp = with!(
        transport::reno(),
        TcpSpec {
            congestion,
            initial_window: FULL_PATH,
            initial_ssthresh: Some(FULL_PATH),
            max_window: Some(MAX_WINDOW),
            min_rto: PositiveDuration::from_milliseconds(1_000),
            ecn: EcnMode::Accurate
        }
    );
    let mut path = Path {
        script,
        losses: 0,
        is_free_at: Time::ZERO,
        receiver: Receiver::new(DelayedAck::OFF, true, u64::MAX),
        acks: VecDeque::new(),
    };
    let mut sender = Sender::new(&tcp, send_queue(u64::MAX, 1_000, 40), 1, no_checkpoints(0));
    let (mut windows, mut sample) = (Vec::new(), Time::ZERO);
    while sample <= END {
        let ack = path.acks.front().map_or(Time::NEVER, |ack| ack.0);
        let next = ack.min(sender.deadline());
        while sample < next && sample <= END {
            windows.push(sender.cwnd_packets());
            sample += SAMPLE;
        }
        // An ACK precedes a timer at the same instant.
        if ack == next
            && let Some((now, ack)) = path.acks.pop_front()
        {
            sender.on_ack(now, ack.ack(), &mut path);
        } else {
            sender.on_deadline(next, &mut path);
        }
    }
    assert_eq!(path.losses, script.losses_ms.len(), "every loss of the script occurs");
    windows
}

/// One column per control. A tenth of a packet is the fourth digit of most windows.
fn table(script: Script) -> String {
    let mut text = "time_s".to_owned();
    let mut columns = Vec::new();
    let drawn = |(name, _): &(String, CongestionConfig)| !OUT_OF_RANGE.contains(&name.as_str());
    for (name, config) in controls::all().into_iter().filter(drawn) {
        text.push(',');
        text.push_str(&name);
        columns.push(trajectory(config, script));
    }
    text.push('\n');
    for row in 0..columns[0].len() {
        write!(text, "{:.1}", row as f64 * SAMPLE.seconds())
            .expect("writing to a string cannot fail");
        for column in &columns {
            write!(text, ",{:.1}", column[row]).expect("writing to a string cannot fail");
        }
        text.push('\n');
    }
    text
}

/// The control and the time of the first difference.
fn first_difference(found: &str, committed: &str) -> Option<String> {
    let names: Vec<&str> = found.lines().next()?.split(',').collect();
    if committed.lines().next() != found.lines().next() {
        return Some("the file has other controls than the registry".to_owned());
    }
    let rows =
        found.lines().zip(committed.lines()).map(|(new, old)| (new.split(','), old.split(',')));
    for (new, old) in rows {
        let pairs: Vec<(&str, &str)> = new.zip(old).collect();
        if let Some(place) = pairs.iter().position(|(new, old)| new != old) {
            let (new, old) = pairs[place];
            return Some(format!("{} at {} s: {new}, was {old}", names[place], pairs[0].0));
        }
    }
    (found != committed).then(|| "the file has other times".to_owned())
}

#[test]
fn windows_equal_the_committed_snapshots() {
    let folder = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests/data/trajectories");
    let mut changes = String::new();
    for script in SCRIPTS {
        let file = folder.join(script.name).with_extension("csv");
        let found = table(script);
        if std::env::var_os("UPDATE_TRAJECTORIES").is_some() {
            std::fs::write(&file, &found).expect("the file can be written");
        }
        let committed = std::fs::read_to_string(&file).unwrap_or_default();
        if let Some(difference) = first_difference(&found, &committed) {
            writeln!(changes, "{}: {difference}", script.name)
                .expect("writing to a string cannot fail");
        }
    }
    assert!(
        changes.is_empty(),
        "{changes}if this is intended, write the files again with UPDATE_TRAJECTORIES=1"
    );
}

/// Checks one snapshot by hand, and with it the script. The first mark for Reno after 5 s occurs at
/// a window of the path and 20 waiting packets, plus one packet for each of the one or two round
/// trips until the sender receives the echo; half of this is 60.5 to 61.5.
#[test]
fn reno_falls_to_half_of_the_path_plus_the_threshold() {
    let (name, reno) = controls::all().swap_remove(0);
    assert_eq!(name, "reno");
    let windows = trajectory(reno, SCRIPTS[3]);
    let settled = windows.iter().skip((ms(10_000).seconds() / SAMPLE.seconds()) as usize);
    let least = settled.copied().fold(f64::INFINITY, f64::min);
    assert!((60.5..62.0).contains(&least), "{least}");
}
