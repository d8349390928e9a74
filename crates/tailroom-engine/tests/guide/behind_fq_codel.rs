//! 400 packets of 1,500 bytes at once, through FQ-CoDel at 30 Mbit/s: a packet takes 0.4 ms.

use tailroom_engine::{Bottleneck, Ecn, Fate, Rate, Time};

fn fates(ecn: Ecn) -> Vec<(u64, Fate)> {
    let rate = Rate::from_bits_per_second(30_000_000);
    let mut link = Bottleneck::fq_codel(rate, Time::from_milliseconds(25)).expect("a link");
    for number in 0..400_u64 {
        link.arrive(Time::ZERO, 0, 1_500, ecn, number); // a packet may be of any type
    }
    let mut fates = Vec::new();
    while link.next_due() < Time::NEVER {
        let now = link.next_due();
        fates.extend(std::iter::from_fn(|| link.poll(now)).map(|one| (one.packet, one.fate)));
    }
    fates
}

fn transmissions(packets: u64) -> Time {
    Time::from_picoseconds(400_000_000 * packets)
}

#[test]
fn one_packet_is_dropped_and_the_others_wait_in_line() {
    let mut place = 0;
    for (number, fate) in fates(Ecn::NotEct) {
        match fate {
            Fate::Delivered { waited, .. } => {
                assert_eq!(waited, transmissions(place));
                place += 1;
            }
            // Packet 13 is the first to wait more than 5 ms, at 5.2 ms; the drop is 100 ms later.
            _ => assert_eq!((number, transmissions(place)), (263, Time::from_seconds(0.1052))),
        }
    }
    assert_eq!(place, 399); // after 159.2 ms, before the next drop at 205.2 ms
}

#[test]
fn of_a_transport_that_reads_marks_the_same_packet_is_marked() {
    for (number, fate) in fates(Ecn::Ect0) {
        let is_marked = matches!(fate, Fate::Delivered { ecn: Ecn::Ce, .. });
        assert_eq!(is_marked, number == 263);
    }
}
