//! The engine's CAKE against the second reading of its rules, packet by packet, on random arrivals.

use std::collections::{BTreeMap, VecDeque};

use super::emulation::{Class, Emulation, Fate, SECOND, Waiting, time_of};
use crate::packet::Ecn;
use crate::packet::addresses::{FlowHosts, Headers, HostSet};
use crate::packet::dscp::Dscp;
use crate::quantity::{BitRate, Size, SizeOrZero};
use crate::queue::buffer::Buffer;
use crate::queue::cake::isolation::Isolation;
use crate::queue::cake::tins::Diffserv;
use crate::queue::cake::{Cake, CakeParams};
use crate::queue::{LinkInfo, Scheduler, script};
use crate::random::{Random, Stream, below, stream};
use crate::units::Time;

/// A random scenario: parameters, hosts and the code points of four groups of flows.
struct Scenario {
    params: CakeParams,
    link: LinkInfo,
    flows: u32,
    /// Mean gap between arrivals, in packets at the rate.
    gap: u64,
}

const GROUPS: [Dscp; 4] = [Dscp::Cs1, Dscp::Be, Dscp::Af41, Dscp::Ef];

fn scenario(random: &mut Stream) -> Scenario {
    let isolations = [
        Isolation::Flowblind,
        Isolation::Srchost,
        Isolation::Dsthost,
        Isolation::Hosts,
        Isolation::Flows,
        Isolation::DualSrchost,
        Isolation::DualDsthost,
        Isolation::TripleIsolate,
    ];
    let diffservs = [Diffserv::Besteffort, Diffserv::Diffserv3, Diffserv::Diffserv4];
    let mut pick = |below_this: usize| below(random, below_this as u64) as usize;
    let rate = [None, Some(2_000_000), Some(10_000_000), Some(80_000_000)][pick(4)];
    let flows = [3, 20, 300, 1_500][pick(4)];
    let params = CakeParams {
        rate: rate.map(BitRate::new),
        isolation: isolations[pick(8)],
        diffserv: diffservs[pick(3)],
        ingress: pick(2) == 0,
        overhead: [None, Some(SizeOrZero::new(18))][pick(2)],
        memlimit: [None, Some(Size::new(60_000))][pick(2)],
        ..CakeParams::default()
    };
    let hosts = FlowHosts {
        sources: Some(HostSet::Count([1, 7, 40][pick(3)])),
        destinations: [None, Some(HostSet::Count(5))][pick(2)].clone(),
    };
    let packet_bytes = [1_000, 1_500, 1_514][pick(3)];
    let headers = GROUPS.iter().map(|&dscp| Headers::new(dscp, "g", &hosts, 0, u8::MAX));
    let seed = random.next_u64();
    let gap = 50 + below(random, 100);
    let link =
        LinkInfo { headers: headers.collect(), seed, packet_bytes, ..script::link(80_000_000) };
    Scenario { params, link, flows, gap }
}

/// The rules' constants for these parameters, from the tables of the facts.
fn emulate(scenario: &Scenario) -> Emulation {
    let Scenario { params, link, .. } = scenario;
    let rate = params.rate.map(|rate| rate.rate().bits_per_second());
    let shares: &[(u64, i64)] = match params.diffserv {
        Diffserv::Besteffort => &[(1, 65_535)],
        Diffserv::Diffserv3 => &[(1, 1_024), (16, 64), (4, 256)],
        _ => &[(1, 1_024), (16, 64), (2, 512), (4, 256)],
    };
    // The largest packet, without or with the header of an Ethernet frame.
    let full = u64::from(link.packet_bytes.max(1_500));
    let class = |&(divisor, weight): &(u64, i64)| {
        let rate = rate.map(|rate| rate / divisor);
        let packet_time = rate.map_or(0, |rate| time_of(full, rate));
        let target = (SECOND / 200).max(packet_time * 3 / 2);
        Class {
            flows: BTreeMap::new(),
            new: VecDeque::new(),
            old: VecDeque::new(),
            decaying: VecDeque::new(),
            hosts: [BTreeMap::new(), BTreeMap::new()],
            rate,
            clock: 0,
            quantum: rate.map_or(full, |rate| (rate / 8 / 4_096).clamp(300, full)),
            weight,
            deficit: 0,
            target,
            interval: (SECOND / 10 + target - SECOND / 200).max(2 * target),
            packet_time,
        }
    };
    let mut random = link.random();
    let most = 10_240 * 1_500;
    let default = rate.map_or(most, |rate| (rate / 8 * 4 / 10).clamp(4 << 20, most));
    Emulation {
        classes: shares.iter().map(class).collect(),
        rate,
        clock: 0,
        failsafe: 0,
        round: 0,
        ingress: params.ingress,
        isolation: params.isolation,
        overhead: params.overhead.map_or(0, SizeOrZero::bytes),
        memory_limit: if params.memlimit.is_some() { 60_000 } else { default },
        salt: random.next_u64(),
        random,
        fates: Vec::new(),
    }
}

/// The tin of each of the four groups.
fn tin(diffserv: Diffserv, group: usize) -> usize {
    match diffserv {
        Diffserv::Besteffort => 0,
        Diffserv::Diffserv3 => [1, 0, 0, 2][group],
        _ => [1, 0, 2, 3][group],
    }
}

/// A link that serves at its rate, 80 Mbit/s, or when the shaper lets it.
fn compare(scenario: &Scenario, arrivals: u64, random: &mut Stream) -> [usize; 3] {
    let mut cake = Cake::new(&scenario.params, &scenario.link);
    let mut buffer = Buffer::default();
    let mut emulation = emulate(scenario);
    let pace = scenario.params.rate.map_or(80_000_000, |rate| rate.rate().bits_per_second());
    let (mut now, mut free_at, mut busy_since) = (SECOND, 0, 0);
    let (mut fates, mut known) = (Vec::new(), 0);
    let note_drops = |buffer: &mut Buffer, fates: &mut Vec<Fate>| {
        let drops = script::dropped(buffer).into_iter();
        fates.extend(drops.map(|(flow, number, _)| Fate::Dropped { flow, number }));
    };
    for number in 0..arrivals {
        // In bursts, and with a pause now and then.
        let burst = number % 64 < 8;
        let step = time_of(1_500, pace) * scenario.gap / 100;
        let step = if burst { 0 } else { below(random, 2 * step) };
        now += if number % 2_048 == 2_047 { 3 * SECOND } else { step };
        loop {
            let opens_at = cake.opens_at().map_or(0, Time::picoseconds);
            let opens_too = emulation.clock.min(emulation.failsafe);
            assert!(emulation.rate.is_none() || opens_at == opens_too, "{:?}", scenario.params);
            let at = free_at.max(opens_at).max(busy_since);
            if buffer.packets() == 0 || at > now {
                break;
            }
            let sent = script::sent(&mut cake, Time::from_picoseconds(at), &mut buffer);
            note_drops(&mut buffer, &mut fates);
            if let Some(sent) = sent {
                let is_marked = sent.ecn() == Ecn::Ce;
                let number = sent.packet(0).sequence;
                fates.push(Fate::Sent { flow: sent.flow(), number, is_marked });
                free_at = at + time_of(u64::from(sent.bytes()), 80_000_000);
            }
            assert_eq!(emulation.serve(at), sent.is_some());
            assert_eq!(emulation.fates[known..], fates[known..], "{:?}", scenario.params);
            known = fates.len();
        }
        // A few flows send most of the packets.
        let flow = below(random, u64::from(scenario.flows));
        let flow = if below(random, 2) == 0 { flow % 6 } else { flow } as u32;
        let group = flow as usize % GROUPS.len();
        let bytes = [60, 600, 1_500, 1_500][below(random, 4) as usize];
        let is_capable = flow.is_multiple_of(2);
        let ecn = if is_capable { Ecn::Ect0 } else { Ecn::NotEct };
        let packet = script::packet(Time::from_picoseconds(now), flow, number, bytes, ecn);
        if buffer.packets() == 0 {
            busy_since = now;
        }
        buffer.set_arriving_class(group as u32);
        cake.enqueue(packet, &mut buffer);
        note_drops(&mut buffer, &mut fates);
        let waiting = Waiting { arrived: now, flow, number, bytes, is_capable };
        let hosts = scenario.link.headers[group].hosts(flow);
        emulation.arrive(tin(scenario.params.diffserv, group), waiting, hosts);
        assert_eq!(emulation.fates.len(), fates.len(), "{:?}", scenario.params);
    }
    let count = |is: &dyn Fn(&Fate) -> bool| fates.iter().filter(|fate| is(fate)).count();
    [
        count(&|fate| matches!(fate, Fate::Sent { is_marked: false, .. })),
        count(&|fate| matches!(fate, Fate::Sent { is_marked: true, .. })),
        count(&|fate| matches!(fate, Fate::Dropped { .. })),
    ]
}

#[test]
fn packets_leave_and_are_dropped_as_a_second_reading_of_the_rules_says() {
    let mut random = stream(5, "emulation of cake");
    let mut sum = [0; 3];
    for _ in 0..60 {
        let scenario = scenario(&mut random);
        let counts = compare(&scenario, 4_000, &mut random);
        sum.iter_mut().zip(counts).for_each(|(sum, count)| *sum += count);
    }
    let [sent, marked, dropped] = sum;
    assert!(sent > 50_000 && marked > 300 && dropped > 3_000, "{sum:?}");
}
