//! What a rate-based control is told of losses: each transmission is lost at most once, and its loss
//! counts the losses since it left (draft-ietf-ccwg-bbr-06, `HandleLostPacket`: `C.lost - P.lost`).
//!
//! A sender without new data sends holes again before they count as lost (RFC 6675 sec. 4, `NextSeg`
//! rules 3 and 4; RFC 8985 sec. 7.3). The loss that the ACKs then show is that of the first
//! transmission.

use std::collections::{HashMap, HashSet, VecDeque};
use std::sync::{Arc, Mutex};

use proptest::prelude::*;
use tailroom_engine::congestion::CongestionConfig;
use tailroom_engine::congestion::custom::{ControlMaker, CustomParams};
use tailroom_engine::congestion::rate_based::{
    BeginEvent, ControlOutput, LostPacketEvent, RateBasedControl, RateSampleEvent,
};
use tailroom_engine::tcp::TcpSpec;
use tailroom_engine::tcp::sender::recovery::Recovery;
use tailroom_engine::units::Time;

use crate::support::path::{PERFECT, Script, WINDOW, tcp, transfer};
use crate::support::random_cases::config;
use crate::support::random_transports;

/// What happens to a packet at the sender.
#[derive(Clone, Copy, Debug)]
enum Entry {
    Sent(u64),
    Lost(LostPacketEvent),
}

type Log = Arc<Mutex<Vec<Entry>>>;

/// Sends at this rate into a window of [`WINDOW`] packets, and logs the losses.
struct Witness {
    pacing_rate: f64,
    log: Log,
}

impl Witness {
    fn output(&self) -> ControlOutput {
        ControlOutput {
            cwnd_packets: WINDOW as f64,
            pacing_rate: self.pacing_rate,
            send_quantum: 1,
            is_app_limited: false,
        }
    }
}

impl RateBasedControl for Witness {
    fn begin(&mut self, _event: &BeginEvent) -> ControlOutput {
        self.output()
    }

    fn on_rate_sample(&mut self, _event: &RateSampleEvent) -> ControlOutput {
        self.output()
    }

    fn on_lost(&mut self, packet: &LostPacketEvent) {
        self.log.lock().expect("one thread").push(Entry::Lost(*packet));
    }
}

/// Transfers `packets` under a witness; returns what has happened, in order.
fn witnessed(tcp: &TcpSpec, pacing_rate: f64, packets: u64, script: &Script<'_>) -> Vec<Entry> {
    let log = Log::default();
    let kept = Arc::clone(&log);
    let maker =
        ControlMaker::rate_based(move || Box::new(Witness { pacing_rate, log: Arc::clone(&kept) }));
    let params = CustomParams::named("witness").made_by(maker);
    let tcp = with!(tcp.clone(), TcpSpec { congestion: CongestionConfig::Custom(params) });
    let loses_data = |sequence: u64, nth: u32| {
        log.lock().expect("one thread").push(Entry::Sent(sequence));
        (script.loses_data)(sequence, nth)
    };
    let outcome = transfer(&tcp, packets, &Script { loses_data: &loses_data, ..*script });
    assert!(outcome.is_complete, "{outcome:?}");
    log.lock().expect("one thread").clone()
}

/// Counts the losses again, from the order of transmissions and losses alone. A packet that is sent again
/// before its loss is known has several transmissions in the network, of which the first is lost first;
/// one that is sent again for its loss has one.
fn assert_counted(entries: &[Entry]) -> usize {
    let (mut losses, mut known_lost) = (0, HashSet::new());
    let mut in_network: HashMap<u64, VecDeque<u64>> = HashMap::new();
    for entry in entries {
        match entry {
            Entry::Sent(sequence) => {
                let transmissions = in_network.entry(*sequence).or_default();
                if known_lost.remove(sequence) {
                    transmissions.clear();
                }
                transmissions.push_back(losses);
            }
            Entry::Lost(packet) => {
                losses += 1;
                let transmissions = in_network.get_mut(&packet.sequence).expect("it was sent");
                let before = transmissions.pop_front().expect("it is lost once a transmission");
                known_lost.insert(packet.sequence);
                assert_eq!(packet.lost, losses - before, "{packet:?} in {entries:?}");
            }
        }
    }
    losses as usize
}

/// Sequence number, losses and packets in flight of each loss.
fn shown(entries: &[Entry]) -> Vec<(u64, u64, u64)> {
    let lost = entries.iter().filter_map(|entry| match entry {
        Entry::Sent(_) => None,
        Entry::Lost(packet) => Some((packet.sequence, packet.lost, packet.tx_in_flight)),
    });
    lost.collect()
}

/// A flight of 20 packets, the last that there are, loses 4, 9 and 14. By RFC 6675 holes 9 and 14 are sent
/// again as soon as the packet behind them is sacked, two ACKs before they are lost.
#[test]
fn losses_of_a_flight_count_up_although_holes_are_sent_again_before() {
    let lost = [4, 9, 14];
    let script =
        Script { loses_data: &|sequence, nth| nth == 0 && lost.contains(&sequence), ..PERFECT };
    for recovery in [Recovery::Sack, Recovery::Rack] {
        let entries = witnessed(&tcp(recovery, false), 1e9, WINDOW, &script);
        assert_eq!(shown(&entries), [(4, 1, 5), (9, 2, 10), (14, 3, 15)], "{recovery:?}");
    }
}

/// The probe sends the last packet, 19, again after two round trips, and is lost as well: the timeout shows
/// that the first transmission is lost, the sixth of the flight. Of its 20 packets 14 had arrived.
#[test]
fn a_lost_probe_does_not_hide_when_the_packet_was_sent() {
    let script = Script { loses_data: &|sequence, nth| nth < 2 && sequence >= 14, ..PERFECT };
    let entries = witnessed(&tcp(Recovery::Rack, false), 1e9, WINDOW, &script);
    assert_counted(&entries);
    let of_last: Vec<_> = shown(&entries).into_iter().filter(|lost| lost.0 == 19).collect();
    assert_eq!(of_last[0], (19, 6, 20), "{entries:?}");
}

proptest! {
    #![proptest_config(config(400))]

    /// Random losses of first and later transmissions, in bursts and alone, and packets that overtake each
    /// other, with and without new data behind them.
    #[test]
    fn each_loss_counts_those_since_its_packet_left(
        repair in random_transports::repair(),
        packets in 4_u64..90,
        lost in prop::collection::hash_set((0_u64..90, 0_u32..3), 1..24),
        late in prop::collection::hash_map(0_u64..90, 1_u64..60, 0..6),
        pacing_rate in prop::sample::select(vec![1e9, 2_000.0, 300.0]),
    ) {
        let (recovery, prr, count_lost_in_pipe) = repair;
        let tcp = with!(tcp(recovery, prr), TcpSpec { count_lost_in_pipe });
        let delays = |sequence: u64, nth: u32| match late.get(&sequence) {
            Some(delay) if nth == 0 => Time::from_milliseconds(*delay),
            _ => Time::ZERO,
        };
        let loses_data = |sequence: u64, nth: u32| lost.contains(&(sequence, nth));
        let script = Script { loses_data: &loses_data, delays: &delays, ..PERFECT };
        assert_counted(&witnessed(&tcp, pacing_rate, packets, &script));
    }
}
