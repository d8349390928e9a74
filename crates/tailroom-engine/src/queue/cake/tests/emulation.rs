//! CAKE once more, as plainly as its rules can be written, packet by packet against the engine's: queues that
//! are vectors, lists that are searched, a root that is stored, tables instead of bits.

use std::collections::{BTreeMap, VecDeque};

use crate::packet::addresses::{FlowHosts, Headers, HostSet};
use crate::packet::dscp::Dscp;
use crate::packet::Ecn;
use crate::quantity::{BitRate, Size, SizeOrZero};
use crate::queue::buffer::Buffer;
use crate::queue::cake::isolation::{Isolation, mixed};
use crate::queue::cake::tins::Diffserv;
use crate::queue::cake::{Cake, CakeParams};
use crate::queue::{LinkInfo, Scheduler, script};
use crate::random::{Random, Stream, below, stream};
use crate::units::Time;

const SECOND: u64 = 1_000_000_000_000;

#[derive(Clone, Copy, Debug)]
struct Waiting {
    arrived: u64,
    flow: u32,
    number: u64,
    bytes: u32,
    is_capable: bool,
}

/// The CoDel and BLUE variables of a queue: `root` is the stored 1/sqrt(count).
#[derive(Clone, Debug, Default)]
struct Variables {
    count: u32,
    root: f64,
    next: u64,
    blue_at: u64,
    blue: u32,
    dropping: bool,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum State {
    #[default]
    Unused,
    New,
    /// In the old list, without packets since it has used up its first quantum.
    OldThoughSparse,
    Old,
    Decaying,
}

#[derive(Clone, Debug, Default)]
struct Flow {
    packets: VecDeque<Waiting>,
    variables: Variables,
    deficit: i64,
    state: State,
    tag: u32,
    hosts: [u32; 2],
}

#[derive(Debug)]
struct Class {
    flows: BTreeMap<usize, Flow>,
    new: VecDeque<usize>,
    old: VecDeque<usize>,
    decaying: VecDeque<usize>,
    /// Tag and number of bulk flows of each host, by side and slot.
    hosts: [BTreeMap<usize, (u32, u32)>; 2],
    rate: Option<u64>,
    clock: u64,
    quantum: u64,
    weight: i64,
    deficit: i64,
    target: u64,
    interval: u64,
    packet_time: u64,
}

/// What leaves: sent, with its mark, or dropped at the head or for lack of room.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Fate {
    Sent { flow: u32, number: u64, is_marked: bool },
    Dropped { flow: u32, number: u64 },
}

#[derive(Debug)]
struct Emulation {
    classes: Vec<Class>,
    rate: Option<u64>,
    clock: u64,
    failsafe: u64,
    round: usize,
    ingress: bool,
    isolation: Isolation,
    overhead: u64,
    memory_limit: u64,
    random: Stream,
    salt: u64,
    fates: Vec<Fate>,
}

fn time_of(bytes: u64, rate: u64) -> u64 {
    (u128::from(bytes) * 8 * u128::from(SECOND) / u128::from(rate)) as u64
}

fn memory_of(bytes: u32) -> u64 {
    let mut block = 512;
    while block < u64::from(bytes) + 384 {
        block *= 2;
    }
    block + 256
}

impl Variables {
    fn set_count(&mut self, count: u32, interval: u64) {
        self.count = count;
        self.root = 1.0 / f64::from(count.max(1)).sqrt();
        self.next += (interval as f64 * self.root) as u64;
    }
}

impl Class {
    fn state(&self, slot: usize) -> State {
        self.flows.get(&slot).map_or(State::Unused, |flow| flow.state)
    }

    fn bulk(&self) -> u64 {
        self.flows.values().filter(|flow| flow.state == State::Old).count() as u64
    }

    fn has_turns(&self) -> bool {
        !self.new.is_empty() || !self.old.is_empty()
    }

    fn waiting(&self) -> usize {
        self.flows.values().map(|flow| flow.packets.len()).sum()
    }

    fn host_slot(&mut self, side: usize, hash: u32) -> u32 {
        let set = hash as usize % 1_024 / 8 * 8;
        let slots: Vec<usize> = (0..8).map(|way| set + (hash as usize + way) % 8).collect();
        let entry = |slot: &usize| self.hosts[side].get(slot).copied().unwrap_or((0, 0));
        let own = slots.iter().find(|slot| entry(slot).0 == hash);
        let slot = own.or(slots.iter().find(|slot| entry(slot).1 == 0)).copied();
        let slot = slot.unwrap_or(slots[0]);
        self.hosts[side].entry(slot).or_default().0 = hash;
        slot as u32
    }

    fn count_hosts(&mut self, slot: usize, sides: [bool; 2], change: i32) {
        let hosts = self.flows[&slot].hosts;
        for side in 0..2 {
            if sides[side] {
                let entry = self.hosts[side].entry(hosts[side] as usize).or_default();
                entry.1 = entry.1.wrapping_add_signed(change);
            }
        }
    }

    fn refill(&self, slot: usize, sides: [bool; 2], dither: u16) -> i64 {
        let hosts = self.flows[&slot].hosts;
        let loads = (0..2).filter(|&side| sides[side]).map(|side| {
            self.hosts[side].get(&(hosts[side] as usize)).map_or(0, |entry| entry.1)
        });
        let load = loads.max().unwrap_or(1).max(1);
        (self.quantum * u64::from(65_535 / load) + u64::from(dither)) as i64 / 65_536
    }
}

impl Emulation {
    fn sides(&self) -> [bool; 2] {
        match self.isolation {
            Isolation::TripleIsolate => [true, true],
            Isolation::DualSrchost => [true, false],
            Isolation::DualDsthost => [false, true],
            _ => [false, false],
        }
    }

    fn dither(&mut self) -> u16 {
        (self.random.next_u64() % 65_536) as u16
    }

    fn waiting(&self) -> usize {
        self.classes.iter().map(Class::waiting).sum()
    }

    fn memory(&self) -> u64 {
        let flows = self.classes.iter().flat_map(|class| class.flows.values());
        flows.flat_map(|flow| &flow.packets).map(|packet| memory_of(packet.bytes)).sum()
    }

    fn charge(&mut self, class: usize, bytes: u32, now: u64, is_sent: bool) -> i64 {
        let framed = u64::from(bytes) + self.overhead;
        if let Some(rate) = self.rate {
            let of_class = &mut self.classes[class];
            let span = time_of(framed, of_class.rate.unwrap());
            if of_class.clock < now {
                of_class.clock += span;
            } else {
                of_class.clock = of_class.clock.max(now + span);
            }
            self.clock += time_of(framed, rate);
            if is_sent {
                self.failsafe += time_of(framed, rate) + time_of(framed, rate) / 2;
            }
        }
        framed as i64
    }

    fn arrive(&mut self, class: usize, packet: Waiting, hosts: [u64; 2]) {
        let (now, sides, salt) = (packet.arrived, self.sides(), self.salt);
        let hash = match self.isolation {
            Isolation::Flowblind => 0,
            Isolation::Srchost => mixed(hosts[0], salt),
            Isolation::Dsthost => mixed(hosts[1], salt),
            Isolation::Hosts => mixed(hosts[0], salt) ^ mixed(hosts[1], !salt),
            _ => mixed(u64::from(packet.flow) * 2, salt),
        };
        if self.waiting() == 0 && self.clock < now {
            (self.clock, self.failsafe) = (now, now);
        }
        let of_class = &mut self.classes[class];
        if of_class.waiting() == 0 {
            of_class.clock = of_class.clock.max(now);
        }
        // The queue: its own, an unused one, or a shared one.
        let set = hash as usize % 1_024 / 8 * 8;
        let slots: Vec<usize> = (0..8).map(|way| set + (hash as usize + way) % 8).collect();
        let has_tag = |slot: &&usize| of_class.flows.get(slot).map_or(0, |flow| flow.tag) == hash;
        let own = slots.iter().find(has_tag).copied();
        let unused = slots.iter().find(|slot| of_class.state(**slot) == State::Unused).copied();
        let slot = own.or(unused).unwrap_or(slots[0]);
        let is_known = own.is_some() && of_class.state(slot) != State::Unused;
        of_class.flows.entry(slot).or_default().tag = hash;
        if !is_known {
            let is_bulk = of_class.state(slot) == State::Old;
            if is_bulk {
                of_class.count_hosts(slot, sides, -1);
            }
            for side in 0..2 {
                if sides[side] {
                    let host = of_class.host_slot(side, mixed(hosts[side], salt));
                    of_class.flows.get_mut(&slot).unwrap().hosts[side] = host;
                }
            }
            if is_bulk {
                of_class.count_hosts(slot, sides, 1);
            }
        }
        of_class.flows.get_mut(&slot).unwrap().packets.push_back(packet);
        match of_class.state(slot) {
            State::New | State::Old => {}
            State::OldThoughSparse => {
                of_class.flows.get_mut(&slot).unwrap().state = State::Old;
                of_class.count_hosts(slot, sides, 1);
            }
            State::Unused | State::Decaying => {
                of_class.decaying.retain(|&other| other != slot);
                of_class.new.push_back(slot);
                let dither = (self.random.next_u64() % 65_536) as u16;
                let deficit = of_class.refill(slot, sides, dither);
                let flow = of_class.flows.get_mut(&slot).unwrap();
                (flow.state, flow.deficit) = (State::New, deficit);
            }
        }
        while self.memory() > self.memory_limit && self.waiting() > 0 {
            self.overflow(now);
        }
    }

    /// Drops the head of the queue with the most bytes: the first in order of tins and of turns.
    fn overflow(&mut self, now: u64) {
        let (mut longest, mut most) = ((0, 0), 0);
        for (class, content) in self.classes.iter().enumerate() {
            for &slot in content.new.iter().chain(&content.old) {
                let packets = content.flows[&slot].packets.iter();
                let bytes: u64 = packets.map(|packet| u64::from(packet.bytes)).sum();
                if bytes > most {
                    (longest, most) = ((class, slot), bytes);
                }
            }
        }
        let (class, slot) = longest;
        let target = self.classes[class].target;
        let flow = self.classes[class].flows.get_mut(&slot).unwrap();
        let packet = flow.packets.pop_front().unwrap();
        let variables = &mut flow.variables;
        if now - variables.blue_at > target {
            variables.blue = (variables.blue + 16).min(4_096);
            variables.blue_at = now;
        }
        (variables.dropping, variables.next) = (true, now);
        variables.count = variables.count.max(1);
        if self.ingress {
            self.charge(class, packet.bytes, now, false);
        }
        self.fates.push(Fate::Dropped { flow: packet.flow, number: packet.number });
    }

    fn choose(&mut self, now: u64) -> usize {
        if self.rate.is_none() {
            loop {
                let class = &mut self.classes[self.round];
                if class.deficit >= 0 && class.has_turns() {
                    return self.round;
                }
                if class.deficit <= 0 {
                    class.deficit += class.weight;
                }
                self.round = (self.round + 1) % self.classes.len();
            }
        }
        let with_turns = (0..self.classes.len()).filter(|&class| self.classes[class].has_turns());
        let with_turns: Vec<usize> = with_turns.collect();
        let ready = with_turns.iter().rev().find(|&&class| self.classes[class].clock <= now);
        let earliest = || {
            let clocks = with_turns.iter().map(|&class| self.classes[class].clock);
            let first = clocks.min().unwrap();
            *with_turns.iter().rev().find(|&&class| self.classes[class].clock == first).unwrap()
        };
        ready.copied().unwrap_or_else(earliest)
    }

    /// CoDel and BLUE: whether to mark or drop the packet, and whether to drop it.
    fn signal(&mut self, class: usize, slot: usize, packet: Waiting, now: u64) -> (bool, bool) {
        let of_class = &self.classes[class];
        let (target, interval, packet_time) =
            (of_class.target, of_class.interval, of_class.packet_time);
        let bulk = if self.ingress { of_class.bulk() } else { 0 };
        let variables =
            &mut self.classes[class].flows.get_mut(&slot).unwrap().variables;
        let waited = now - packet.arrived;
        let is_over =
            waited > target && waited > 4 * packet_time && waited > 2 * bulk * packet_time;
        let mut schedule = i128::from(now) - i128::from(variables.next);
        let mut due = variables.count > 0 && schedule >= 0;
        if is_over {
            if !variables.dropping {
                variables.dropping = true;
                variables.next = now + (interval as f64 * variables.root) as u64;
            }
            variables.count = variables.count.max(1);
        } else {
            variables.dropping = false;
        }
        let is_signal = due && variables.dropping;
        if is_signal {
            variables.set_count(variables.count + 1, interval);
            schedule = i128::from(now) - i128::from(variables.next);
        } else {
            while due {
                variables.set_count(variables.count - 1, interval);
                schedule = i128::from(now) - i128::from(variables.next);
                due = variables.count > 0 && schedule >= 0;
            }
        }
        let mut drops = is_signal && !packet.is_capable;
        if variables.blue > 0 {
            drops |= self.random.next_u64() % 4_096 < u64::from(variables.blue);
        }
        if variables.count == 0 {
            variables.next = now + interval;
        } else if schedule > 0 && !drops {
            variables.next = now;
        }
        (is_signal, drops)
    }

    fn empty(&mut self, class: usize, slot: usize, now: u64) {
        let sides = self.sides();
        let of_class = &mut self.classes[class];
        let (target, interval) = (of_class.target, of_class.interval);
        if of_class.state(slot) == State::Old {
            of_class.count_hosts(slot, sides, -1);
        }
        let flow = of_class.flows.get_mut(&slot).unwrap();
        let variables = &mut flow.variables;
        if variables.blue > 0 && now - variables.blue_at > target {
            variables.blue -= 1;
            variables.blue_at = now;
        }
        variables.dropping = false;
        if variables.count > 0 && now >= variables.next {
            variables.set_count(variables.count - 1, interval);
        }
        let rests = variables.blue == 0 && variables.count == 0 && now >= variables.next;
        flow.state = if rests { State::Unused } else { State::Decaying };
        for list in [&mut of_class.new, &mut of_class.old, &mut of_class.decaying] {
            list.retain(|&other| other != slot);
        }
        if !rests {
            of_class.decaying.push_back(slot);
        }
    }

    /// Serves at `now`; returns whether a packet was sent.
    fn serve(&mut self, now: u64) -> bool {
        let (sides, mut is_first) = (self.sides(), true);
        'anew: loop {
            let is_closed = self.rate.is_some() && self.clock.min(self.failsafe) > now;
            if self.waiting() == 0 || is_closed {
                return false;
            }
            let class = self.choose(now);
            loop {
                let of_class = &self.classes[class];
                let decaying = of_class.decaying.front();
                let turns = of_class.new.front().or(of_class.old.front()).or(decaying);
                let slot = if is_first { decaying.or(turns) } else { turns };
                is_first = false;
                let Some(&slot) = slot else { continue 'anew };
                if of_class.flows[&slot].deficit <= 0 {
                    if of_class.state(slot) == State::New {
                        let is_empty = of_class.flows[&slot].packets.is_empty();
                        let state = if is_empty { State::OldThoughSparse } else { State::Old };
                        let of_class = &mut self.classes[class];
                        of_class.flows.get_mut(&slot).unwrap().state = state;
                        if state == State::Old {
                            of_class.count_hosts(slot, sides, 1);
                        }
                    }
                    let dither = self.dither();
                    let of_class = &mut self.classes[class];
                    let more = of_class.refill(slot, sides, dither);
                    of_class.flows.get_mut(&slot).unwrap().deficit += more;
                    of_class.new.retain(|&other| other != slot);
                    of_class.old.retain(|&other| other != slot);
                    of_class.old.push_back(slot);
                    continue;
                }
                let flow = self.classes[class].flows.get_mut(&slot).unwrap();
                let Some(packet) = flow.packets.pop_front() else {
                    self.empty(class, slot, now);
                    continue 'anew;
                };
                let is_last = flow.packets.is_empty();
                let (is_signal, drops) = self.signal(class, slot, packet, now);
                let Waiting { flow, number, bytes, is_capable, .. } = packet;
                let is_sent = !drops || is_last;
                if is_sent || self.ingress {
                    let framed = self.charge(class, bytes, now, is_sent);
                    self.classes[class].deficit -= framed;
                    self.classes[class].flows.get_mut(&slot).unwrap().deficit -= framed;
                }
                if is_sent {
                    let is_marked = is_signal && is_capable;
                    self.fates.push(Fate::Sent { flow, number, is_marked });
                    return true;
                }
                self.fates.push(Fate::Dropped { flow, number });
            }
        }
    }
}

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
    let headers = GROUPS.iter().map(|&dscp| Headers::new(dscp, "g", &hosts, 0, u8::MAX));
    let seed = random.next_u64();
    let gap = 50 + below(random, 100);
    let link = LinkInfo { headers: headers.collect(), seed, ..script::link(80_000_000) };
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
    let class = |&(divisor, weight): &(u64, i64)| {
        let rate = rate.map(|rate| rate / divisor);
        let packet_time = rate.map_or(0, |rate| time_of(1_500, rate));
        let target = (SECOND / 200).max(packet_time * 3 / 2);
        Class {
            flows: BTreeMap::new(),
            new: VecDeque::new(),
            old: VecDeque::new(),
            decaying: VecDeque::new(),
            hosts: [BTreeMap::new(), BTreeMap::new()],
            rate,
            clock: 0,
            quantum: rate.map_or(1_514, |rate| (rate / 8 / 4_096).clamp(300, 1_514)),
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
        let is_capable = flow % 2 == 0;
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
