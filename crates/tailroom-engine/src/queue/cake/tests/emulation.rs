//! CAKE once more, as plainly as its rules can be written: queues that are vectors, lists that are searched, a
//! root that is stored, tables instead of bits.

use std::collections::{BTreeMap, VecDeque};

use crate::queue::cake::isolation::{Isolation, mixed};
use crate::random::{Random, Stream};

pub(super) const SECOND: u64 = 1_000_000_000_000;

#[derive(Clone, Copy, Debug)]
pub(super) struct Waiting {
    pub(super) arrived: u64,
    pub(super) flow: u32,
    pub(super) number: u64,
    pub(super) bytes: u32,
    pub(super) is_capable: bool,
}

/// The CoDel and BLUE variables of a queue: `root` is the stored 1/sqrt(count).
#[derive(Clone, Debug, Default)]
pub(super) struct Variables {
    count: u32,
    root: f64,
    next: u64,
    blue_at: u64,
    blue: u32,
    dropping: bool,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum State {
    #[default]
    Unused,
    New,
    /// In the old list, without packets since it has used up its first quantum.
    OldThoughSparse,
    Old,
    Decaying,
}

#[derive(Clone, Debug, Default)]
pub(super) struct Flow {
    packets: VecDeque<Waiting>,
    variables: Variables,
    deficit: i64,
    state: State,
    tag: u32,
    hosts: [u32; 2],
}

#[derive(Debug)]
pub(super) struct Class {
    pub(super) flows: BTreeMap<usize, Flow>,
    pub(super) new: VecDeque<usize>,
    pub(super) old: VecDeque<usize>,
    pub(super) decaying: VecDeque<usize>,
    /// Tag and number of bulk flows of each host, by side and slot.
    pub(super) hosts: [BTreeMap<usize, (u32, u32)>; 2],
    pub(super) rate: Option<u64>,
    pub(super) clock: u64,
    pub(super) quantum: u64,
    pub(super) weight: i64,
    pub(super) deficit: i64,
    pub(super) target: u64,
    pub(super) interval: u64,
    pub(super) packet_time: u64,
}

/// What leaves: sent, with its mark, or dropped at the head or for lack of room.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Fate {
    Sent { flow: u32, number: u64, is_marked: bool },
    Dropped { flow: u32, number: u64 },
}

#[derive(Debug)]
pub(super) struct Emulation {
    pub(super) classes: Vec<Class>,
    pub(super) rate: Option<u64>,
    pub(super) clock: u64,
    pub(super) failsafe: u64,
    pub(super) round: usize,
    pub(super) ingress: bool,
    pub(super) isolation: Isolation,
    pub(super) overhead: u64,
    pub(super) memory_limit: u64,
    pub(super) random: Stream,
    pub(super) salt: u64,
    pub(super) fates: Vec<Fate>,
}

pub(super) fn time_of(bytes: u64, rate: u64) -> u64 {
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
        let loads = (0..2)
            .filter(|&side| sides[side])
            .map(|side| self.hosts[side].get(&(hosts[side] as usize)).map_or(0, |entry| entry.1));
        let load = loads.max().unwrap_or(1).max(1);
        let bytes = self.quantum * u64::from(65_535 / load) + u64::from(dither);
        (bytes / 65_536).cast_signed()
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
        framed.cast_signed()
    }

    pub(super) fn arrive(&mut self, class: usize, packet: Waiting, hosts: [u64; 2]) {
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
        let variables = &mut self.classes[class].flows.get_mut(&slot).unwrap().variables;
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
    pub(super) fn serve(&mut self, now: u64) -> bool {
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
