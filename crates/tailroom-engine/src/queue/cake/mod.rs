//! CAKE, Common Applications Kept Enhanced (Høiland-Jørgensen, Täht, Morton 2018, arXiv 1804.07617): a shaper,
//! tins with priorities, fair queueing of hosts and flows, and COBALT in each queue.
//!
//! Rules and constants are those of Linux's `sch_cake.c`. A flow's number replaces addresses and ports.

mod autorate;
mod clock;
mod cobalt;
pub mod framing;
pub mod isolation;
mod params;
mod queues;
#[cfg(test)]
mod tests;
pub mod tins;
mod ways;

use super::buffer::{Buffer, DropReason, PacketHandle};
use super::{Gauge, LinkInfo, Retune, Scheduler};
use crate::framing::Framing;
use crate::packet::addresses::Headers;
use crate::packet::transit::{Stage, Transit};
use crate::quantity::BitRate;
use crate::quantity::limit::Limit;
use crate::random::{Random, Stream};
use crate::units::{Rate, Time};
use autorate::Autorate;
use clock::{ShaperClock, TinClock, duration};
use cobalt::{BLUE_ONE, Settings};
use isolation::mixed;
pub use params::CakeParams;
use params::true_size;
use queues::Queues;
use tins::Share;

/// Payload of an Ethernet frame: the largest packet of a link without larger ones.
const ETHERNET_BYTES: u32 = 1_500;
/// The same with its header, which packets of 1,514 B have, and those of 1,500 B have not.
const FRAME_BYTES: u32 = 1_514;
/// The smallest quantum of a flow.
const LEAST_QUANTUM: u32 = 300;

/// The largest quantum of a flow where packets have up to `packet_bytes`: a full packet, which in Linux has
/// [`FRAME_BYTES`], so that a new flow sends none of a second one in its turn.
fn most_quantum(packet_bytes: u32) -> u32 {
    packet_bytes.clamp(ETHERNET_BYTES, FRAME_BYTES)
}

/// A class of traffic.
#[derive(Clone, Debug)]
struct Tin {
    share: Share,
    settings: Settings,
    /// The threshold, if CAKE shapes.
    rate: Option<Rate>,
    clock: TinClock,
    flow_quantum: u32,
    /// Bytes that it may send in its round, where there is no rate.
    deficit: i64,
    /// Packets that wait.
    packets: u64,
    /// None until a packet arrives.
    queues: Option<Box<Queues>>,
}

impl Tin {
    fn new(share: Share) -> Self {
        Tin {
            share,
            settings: Settings::new(Time::ZERO, None, 0),
            rate: None,
            clock: TinClock::default(),
            flow_quantum: LEAST_QUANTUM,
            deficit: 0,
            packets: 0,
            queues: None,
        }
    }

    /// Follows the rate of the shaper.
    fn configure(&mut self, rate: Option<Rate>, rtt: Time, packet_bytes: u32) {
        self.rate = rate.map(|rate| self.share.threshold(rate));
        self.settings = Settings::new(rtt, self.rate, packet_bytes);
        // What the tin sends in 1/4096 s.
        let of_rate = |rate: Rate| u32::try_from((rate.bits_per_second() / 8) >> 12).ok();
        let (quantum, most) = (self.rate.and_then(of_rate), most_quantum(packet_bytes));
        self.flow_quantum = quantum.map_or(most, |bytes| bytes.clamp(LEAST_QUANTUM, most));
    }

    #[inline]
    fn is_active(&self) -> bool {
        self.queues.as_ref().is_some_and(|queues| queues.are_active())
    }
}

/// A CAKE buffer.
#[derive(Clone, Debug)]
pub struct Cake {
    params: CakeParams,
    packet_bytes: u32,
    limit: Limit,
    memory_limit_bytes: u64,
    framing: Framing,
    rate: Option<Rate>,
    clock: ShaperClock,
    tins: Vec<Tin>,
    /// The tin whose round it is, where there is no rate.
    current: usize,
    /// Of the groups that cross the link, with their tins.
    headers: Vec<(Headers, u8)>,
    /// Memory of the packets that wait, as Linux counts it.
    memory_bytes: u64,
    autorate: Option<Autorate>,
    salt: u64,
    random: Stream,
}

impl Cake {
    /// Creates the discipline for `link`.
    pub fn new(params: &CakeParams, link: &LinkInfo) -> Self {
        let mut random = link.random();
        let with_tin =
            |headers: &Headers| (headers.clone(), params.diffserv.tin(headers.dscp) as u8);
        let mut headers: Vec<_> = link.headers.iter().map(with_tin).collect();
        if headers.is_empty() {
            headers.push(with_tin(&Headers::default()));
        }
        let rate = params.rate.map(BitRate::rate);
        let mut cake = Cake {
            params: params.clone(),
            packet_bytes: link.packet_bytes.max(ETHERNET_BYTES),
            limit: link.limit(params.limit),
            memory_limit_bytes: 0,
            framing: params.line(),
            rate,
            clock: ShaperClock::default(),
            tins: params.diffserv.shares().into_iter().map(Tin::new).collect(),
            current: 0,
            headers,
            memory_bytes: 0,
            autorate: params.autorate_ingress.then(|| Autorate::new(rate)),
            salt: random.next_u64(),
            random,
        };
        cake.configure();
        cake
    }

    /// Follows the rate of the shaper.
    fn configure(&mut self) {
        self.memory_limit_bytes = self.params.memory(self.rate, self.packet_bytes);
        for tin in &mut self.tins {
            tin.configure(self.rate, self.params.rtt.time(), self.packet_bytes);
        }
    }

    /// The tin of an arriving packet, and its queue there.
    #[inline]
    fn classify(&mut self, packet: &Transit, class: u32) -> (usize, usize) {
        let (headers, tin) = &self.headers[(class as usize).min(self.headers.len() - 1)];
        let is_ack = match packet.stage() {
            Stage::Arrival(passed) => headers.is_ack(passed),
            Stage::Wake => false,
        };
        // The ACKs of a connection are a flow of their own.
        let flow = u64::from(packet.flow()) << 1 | u64::from(is_ack);
        let hosts = || {
            let [source, destination] = headers.hosts(packet.flow());
            if is_ack { [destination, source] } else { [source, destination] }
        };
        let (salt, isolation) = (self.salt, self.params.isolation);
        let hash = isolation.hash(hosts, flow, salt);
        let queues = self.tins[usize::from(*tin)]
            .queues
            .get_or_insert_with(|| Box::new(Queues::new(isolation.divides())));
        let index = queues.assign(hash, || hosts().map(|host| mixed(host, salt)));
        (usize::from(*tin), index)
    }

    /// The tin that is served: without a rate in rounds; with one the last of those that have priority, else
    /// the one that has it next. `None` if none has a turn.
    #[inline]
    fn choose(&mut self, now: Time) -> Option<usize> {
        if self.rate.is_none() {
            return self.choose_in_rounds();
        }
        let mut best: Option<(usize, Time)> = None;
        for (index, tin) in self.tins.iter().enumerate() {
            let next = tin.clock.next;
            let is_better = |(_, earliest): (usize, Time)| next <= now || next <= earliest;
            if tin.is_active() && best.is_none_or(is_better) {
                best = Some((index, next));
            }
        }
        best.map(|(index, _)| index)
    }

    fn choose_in_rounds(&mut self) -> Option<usize> {
        if !self.tins.iter().any(Tin::is_active) {
            return None;
        }
        loop {
            let tin = &mut self.tins[self.current];
            if tin.deficit >= 0 && tin.is_active() {
                return Some(self.current);
            }
            if tin.deficit <= 0 {
                tin.deficit += i64::from(tin.share.quantum);
            }
            self.current = (self.current + 1) % self.tins.len();
        }
    }

    /// Charges a packet to the shaper and to the clock of its tin; returns its bytes on the line.
    #[inline]
    fn charge(&mut self, tin: usize, bytes: u32, now: Time, is_sent: bool) -> u32 {
        let framed = self.framing.framed(bytes);
        if let Some(rate) = self.rate {
            let Tin { clock, rate: threshold, .. } = &mut self.tins[tin];
            clock.charge(now, duration(threshold.unwrap_or(rate), framed));
            self.clock.charge(duration(rate, framed), is_sent);
        }
        framed
    }

    #[inline]
    fn has_room(&self, buffer: &Buffer) -> bool {
        self.memory_bytes <= self.memory_limit_bytes
            && self.limit.holds(buffer.packets(), buffer.bytes())
    }

    /// Drops the head of the longest queue of all tins.
    #[cold]
    fn make_room(&mut self, now: Time, buffer: &mut Buffer) -> bool {
        let mut longest = None;
        let mut most = 0;
        for (tin, content) in self.tins.iter().enumerate() {
            for (index, queue) in content.queues.iter().flat_map(|queues| queues.backlogged()) {
                if queue.list.bytes() > most {
                    (longest, most) = (Some((tin, index)), queue.list.bytes());
                }
            }
        }
        let Some((tin, index)) = longest else { return false };
        let Tin { queues: Some(queues), settings, packets, .. } = &mut self.tins[tin] else {
            return false;
        };
        let queue = queues.at(index);
        let Some(packet) = buffer.pop_front(&mut queue.list) else { return false };
        queue.cobalt.on_overflow(settings, now);
        *packets -= 1;
        let bytes = buffer.packet(&packet).bytes();
        self.memory_bytes -= true_size(bytes);
        if self.params.ingress {
            self.charge(tin, bytes, now, false);
        }
        buffer.drop(packet, DropReason::Overflow);
        true
    }

    /// Serves the queue of a tin whose turn it is. `None` if it has become empty.
    #[inline]
    fn serve(
        &mut self,
        tin: usize,
        now: Time,
        looks_at_decaying: &mut bool,
        buffer: &mut Buffer,
    ) -> Option<PacketHandle> {
        loop {
            let Cake { tins, random, params, memory_bytes, .. } = self;
            let Tin { queues: Some(queues), settings, flow_quantum, packets, .. } = &mut tins[tin]
            else {
                return None;
            };
            let index = queues.first(std::mem::take(looks_at_decaying))?;
            let bulk_flows = if params.ingress { queues.bulk_flows() } else { 0 };
            let queue = queues.at(index);
            if queue.deficit <= 0 {
                queues.end_turn(index, *flow_quantum, random.next_u64() as u16);
                continue;
            }
            let Some(packet) = buffer.pop_front(&mut queue.list) else {
                queues.leave(index, settings, now);
                return None;
            };
            let event = buffer.packet(&packet);
            let (bytes, ecn) = (event.bytes(), event.ecn());
            *packets -= 1;
            *memory_bytes -= true_size(bytes);
            let draw = || (random.next_u64() % u64::from(BLUE_ONE)) as u16;
            let waited = now.since(event.time());
            let is_capable = ecn.is_capable();
            let signal =
                queue.cobalt.on_dequeue(settings, now, waited, bulk_flows, is_capable, draw);
            let is_dropped = signal.drops && !queue.list.is_empty();
            if !is_dropped || params.ingress {
                let framed = i64::from(self.charge(tin, bytes, now, !is_dropped));
                let tin = &mut self.tins[tin];
                tin.deficit -= framed;
                if let Some(queues) = &mut tin.queues {
                    queues.at(index).deficit -= framed as i32;
                }
            }
            if !is_dropped {
                if signal.is_due {
                    buffer.mark(&packet);
                }
                return Some(packet);
            }
            buffer.drop(packet, DropReason::Head);
        }
    }
}

impl Retune for Cake {
    type Params = CakeParams;
    const FIXED: &'static [&'static str] = &["diffserv", "isolation", "autorate_ingress"];

    fn retune(&mut self, params: &CakeParams, link: &LinkInfo) {
        self.params = params.clone();
        self.framing = params.line();
        if self.autorate.is_none() {
            self.rate = params.rate.map(BitRate::rate);
        }
        self.limit = link.limit(params.limit);
        self.configure();
    }
}

impl Scheduler for Cake {
    #[inline]
    fn enqueue(&mut self, packet: Transit, buffer: &mut Buffer) {
        let (now, bytes) = (packet.time(), packet.bytes());
        let (tin, index) = self.classify(&packet, buffer.arriving_class());
        if buffer.packets() == 0 {
            self.clock.wake(now);
        }
        let Cake { tins, random, .. } = self;
        let Tin { queues: Some(queues), clock, packets, flow_quantum, .. } = &mut tins[tin] else {
            return;
        };
        if *packets == 0 {
            clock.wake(now);
        }
        *packets += 1;
        buffer.push_back(&mut queues.at(index).list, packet);
        queues.activate(index, *flow_quantum, || random.next_u64() as u16);
        self.memory_bytes += true_size(bytes);
        if let Some(rate) = self.autorate.as_mut().and_then(|rate| rate.on_arrival(now, bytes)) {
            self.rate = Some(rate);
            self.configure();
        }
        while !self.has_room(buffer) {
            if !self.make_room(now, buffer) {
                break;
            }
        }
    }

    #[inline]
    fn dequeue(&mut self, now: Time, buffer: &mut Buffer) -> Option<PacketHandle> {
        let mut looks_at_decaying = true;
        while buffer.packets() > 0 {
            if self.rate.is_some() && self.clock.opens_at() > now {
                return None;
            }
            let tin = self.choose(now)?;
            if let Some(packet) = self.serve(tin, now, &mut looks_at_decaying, buffer) {
                return Some(packet);
            }
        }
        None
    }

    #[inline]
    fn opens_at(&self) -> Option<Time> {
        let shapes = self.rate.is_some() || self.autorate.is_some();
        shapes.then(|| if self.rate.is_some() { self.clock.opens_at() } else { Time::ZERO })
    }

    fn memory_bytes(&self) -> u64 {
        let queues = self.tins.iter().filter_map(|tin| tin.queues.as_ref());
        queues.map(|queues| queues.memory_bytes()).sum()
    }

    /// Reports the number of queues that have packets, and the flows that found no queue of their own.
    fn gauges(&self, _now: Time) -> Vec<Gauge> {
        let queues = || self.tins.iter().filter_map(|tin| tin.queues.as_ref());
        let backlogged: usize = queues().map(|queues| queues.backlogged().count()).sum();
        let collisions: u64 = queues().map(|queues| queues.collisions).sum();
        vec![("backlogged_flows", backlogged as f64), ("hash_collisions", collisions as f64)]
    }
}
