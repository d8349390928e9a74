//! CAKE against the numbers that its manual page, its users and its authors print.

mod cobalt;
mod comparison;
mod emulation;
mod hashing;
mod sharing;

use super::framing::FramingKeyword;
use super::tins::Diffserv;
use super::{Cake, CakeParams, Settings};
use crate::framing::{Cells, Framing};
use crate::packet::Ecn;
use crate::quantity::{BitRate, PositiveDuration, Size, SizeOrZero};
use crate::queue::buffer::Buffer;
use crate::queue::{LinkInfo, Parameters, Scheduler, script};
use crate::units::{Rate, Time};

const MS: fn(u64) -> Time = Time::from_milliseconds;

/// A shaper of this rate on a line of 1 Gbit/s.
fn shaped(bits_per_second: u64) -> CakeParams {
    CakeParams { rate: Some(BitRate::new(bits_per_second)), ..CakeParams::default() }
}

fn cake(params: &CakeParams) -> Cake {
    let frames = LinkInfo { packet_bytes: 1_514, ..script::link(1_000_000_000) };
    Cake::new(params, &frames)
}

/// 28 and 40 B of IP with 10 B of overhead take one and two cells (sqm-scripts, issue 113); so do 1,476
/// and 1,478 B take 31.
#[test]
fn a_packet_takes_whole_cells_of_atm() {
    let params = CakeParams {
        overhead: Some(SizeOrZero::new(10)),
        cells: Some(Cells::Atm),
        ..shaped(1_000)
    };
    let framed = [28, 40, 1_476, 1_478].map(|bytes| params.line().framed(bytes));
    assert_eq!(framed, [53, 106, 1_643, 1_643]);
}

/// tc-cake(8), and its formula for PTM by hand: 1,530 + 24 and 70 + 2.
#[test]
fn keywords_stand_for_overhead_cells_and_smallest_packet() {
    let framed = |keyword: FramingKeyword, bytes| keyword.framing().framed(bytes);
    assert_eq!(framed(FramingKeyword::PppoePtm, 1_500), 1_554);
    assert_eq!(framed(FramingKeyword::PppoePtm, 40), 72);
    assert_eq!(framed(FramingKeyword::Ethernet, 28), 84);
    assert_eq!(framed(FramingKeyword::Ethernet, 1_500), 1_538);
    assert_eq!(framed(FramingKeyword::Docsis, 40), 64);
    assert_eq!(framed(FramingKeyword::Raw, 40), 40);
    let conservative = Framing { overhead: 48, mpu: 0, cells: Some(Cells::Atm) };
    assert_eq!(FramingKeyword::Conservative.framing(), conservative);
}

/// The thresholds, quanta and memory that `tc -s qdisc` prints.
#[test]
fn constants_follow_the_rate() {
    let cake_at = |rate, diffserv| cake(&CakeParams { diffserv, ..shaped(rate) });
    let thresholds = |cake: &Cake| -> Vec<u64> {
        cake.tins.iter().filter_map(|tin| tin.rate).map(Rate::bits_per_second).collect()
    };
    let slow = cake_at(100_000_000, Diffserv::Diffserv3);
    assert_eq!(thresholds(&slow), [100_000_000, 6_250_000, 25_000_000]);
    let quanta: Vec<u32> = slow.tins.iter().map(|tin| tin.flow_quantum).collect();
    assert_eq!(quanta, [1_514, 300, 762]);
    assert_eq!(slow.memory_limit_bytes, 5_000_000);
    let fast = cake_at(200_000_000, Diffserv::Diffserv4);
    assert_eq!(thresholds(&fast), [200_000_000, 12_500_000, 100_000_000, 50_000_000]);
    assert_eq!(fast.memory_limit_bytes, 10_000_000);
    let eight = cake_at(64_000_000, Diffserv::Diffserv8);
    assert_eq!(thresholds(&eight)[..3], [64_000_000, 56_000_000, 49_000_000]);
}

/// 1.5 packets of 1,504 B at 795 kbit/s take 22.7 ms, which the interval gains beyond a twentieth of the
/// round trip.
#[test]
fn a_slow_line_raises_target_and_interval() {
    let settings = |rtt, rate| Settings::new(rtt, Some(Rate::from_bits_per_second(rate)), 1_504);
    let near = |time: Time, ms: f64| (1e3 * time.seconds() - ms).abs() < 0.05;
    let slow = settings(MS(100), 795_000);
    assert!(near(slow.target, 22.7) && near(slow.interval, 117.7), "{slow:?}");
    let close = settings(MS(30), 820_364);
    assert!(near(close.target, 22.0) && near(close.interval, 50.5), "{close:?}");
    let fast = settings(MS(100), 1_000_000_000);
    assert_eq!((fast.target, fast.interval), (MS(5), MS(100)));
}

/// When `count` packets leave that arrive at `now`.
fn departures(cake: &mut Cake, buffer: &mut Buffer, now: Time, count: u64) -> Vec<Time> {
    for number in 0..count {
        cake.enqueue(script::packet(now, 0, number, 1_514, Ecn::NotEct), buffer);
    }
    let mut at = now;
    let next = |_| {
        at = at.max(cake.opens_at().expect("it shapes"));
        assert!(script::sent(cake, at, buffer).is_some(), "a packet is due at {at}");
        at
    };
    (0..count).map(next).collect()
}

/// 1,514 B take 1.2112 ms at 10 Mbit/s. There is no burst, after an idle time either.
#[test]
fn packets_leave_at_the_rate_from_the_first_on() {
    let (mut cake, mut buffer) = (cake(&shaped(10_000_000)), Buffer::default());
    for now in [Time::ZERO, MS(1_000)] {
        let times = departures(&mut cake, &mut buffer, now, 5);
        let step = |number: u64| Time::from_picoseconds(number * 1_211_200_000);
        assert_eq!(times, (0..5).map(|number| now + step(number)).collect::<Vec<_>>());
    }
}

/// A clock that stays behind is caught up: after a pause of the line, packets leave without a wait.
#[test]
fn lateness_while_packets_wait_is_caught_up() {
    let (mut cake, mut buffer) = (cake(&shaped(10_000_000)), Buffer::default());
    for number in 0..20 {
        cake.enqueue(script::packet(Time::ZERO, 0, number, 1_250, Ecn::NotEct), &mut buffer);
    }
    assert!(script::sent(&mut cake, Time::ZERO, &mut buffer).is_some());
    assert!(script::sent(&mut cake, Time::ZERO, &mut buffer).is_none(), "1 ms is to pass");
    let sent = std::iter::from_fn(|| script::sent(&mut cake, MS(5), &mut buffer)).count();
    assert_eq!(sent, 5, "those of 1 to 5 ms");
}

#[test]
fn contradictions_are_refused_with_their_key() {
    let link = LinkInfo { packet_bytes: 1_500, ..script::link(50_000_000) };
    let key = |params: CakeParams| params.validate(&link).err().map(|bad| bad.key);
    assert_eq!(key(shaped(50_000_000)), None);
    assert_eq!(key(shaped(50_000_001)), Some("rate".into()));
    let framed = || CakeParams { framing: Some(FramingKeyword::Docsis), ..CakeParams::default() };
    assert_eq!(key(framed()), None);
    assert_eq!(key(CakeParams { mpu: Some(Size::new(64)), ..framed() }), Some("mpu".into()));
    assert_eq!(key(CakeParams { cells: Some(Cells::Ptm), ..framed() }), Some("cells".into()));
    let overhead =
        |bytes| CakeParams { overhead: Some(SizeOrZero::new(bytes)), ..CakeParams::default() };
    assert_eq!((key(overhead(256)), key(overhead(257))), (None, Some("overhead".into())));
    let memory = |bytes| CakeParams { memlimit: Some(Size::new(bytes)), ..CakeParams::default() };
    assert_eq!((key(memory(2_304)), key(memory(2_303))), (None, Some("memlimit".into())));
    assert_eq!(CakeParams::default().rtt, PositiveDuration::from_milliseconds(100));
}

/// Nine packets of 1,250 B in each 10 ms, then a gap, are bursts of 9 Mbit/s, of which 15/16 are 8.4375.
#[test]
fn autorate_follows_what_arrives() {
    let params = CakeParams { autorate_ingress: true, ..shaped(100_000_000) };
    let (mut cake, mut buffer) = (cake(&params), Buffer::default());
    for number in (0..60_000).filter(|number| number % 10 < 9) {
        let now = MS(number);
        cake.enqueue(script::packet(now, 0, number, 1_250, Ecn::NotEct), &mut buffer);
        while script::sent(&mut cake, now, &mut buffer).is_some() {}
        buffer.drain_dropped();
    }
    let rate = cake.rate.expect("it shapes").bits_per_second();
    assert!((8_430_000..8_445_000).contains(&rate), "{rate} bit/s");
}
