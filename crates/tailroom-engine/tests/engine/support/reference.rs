//! The reference event loop: a plain heap over every stage of every packet, each handled at its
//! true time. It drives the same senders, receivers, links and sources as the engine, but shares
//! none of the engine's ordering: no timing wheel, nothing computed ahead, no lazy wake-ups.
//!
//! The components that have nothing to do with time are the engine's own. What the engine derives
//! from its order of events is derived here in another way: the departures of flows ([`flows`]),
//! which flows a link holds back ([`bottlenecked`]), which new flows a link refuses
//! ([`admission`]), which packets find memory ([`memory`]) and wait behind paused links ([`ingress`]), which
//! links are blocked by those that wait at paused links ([`blocked`]).
//! [`heap`] has the order of the events, and [`links`] what happens at links.

mod admission;
mod blocked;
mod bottlenecked;
mod expulsion;
mod flows;
mod heap;
mod ingress;
mod links;
mod memory;
mod short_flows;

use std::collections::{HashMap, HashSet, VecDeque};

use tailroom_engine::dynamic_flows::bottlenecked::{BottleneckedFlows, INTERVAL};
use tailroom_engine::dynamic_flows::{ActiveFlow, Admitted, FlowGenerators};
use tailroom_engine::flow::Endpoints;
use tailroom_engine::link::{Link, LinkOutcome};
use tailroom_engine::network::{GroupSpec, Network};
use tailroom_engine::packet::transit::Transit;
use tailroom_engine::packet::{Ecn, Packet, StoredAck};
use tailroom_engine::probe::flow::{Checkpoints, FlowAccount};
use tailroom_engine::probe::group::GroupProbe;
use tailroom_engine::results;
use tailroom_engine::results::DynamicFlowRecords;
use tailroom_engine::results::Results;
use tailroom_engine::results::SharedLinks;
use tailroom_engine::switch::LosslessDrops;
use tailroom_engine::switch::lines::Lines;
use tailroom_engine::tcp::sender::Sender;
use tailroom_engine::traffic::Emission;
use tailroom_engine::units::Time;

use admission::Admission;
use bottlenecked::InProgress;
use flows::{Flow, Tray};
use heap::{Happening, Heap, Stamp};

pub(crate) use heap::TieBreak;
use ingress::Ingress;
use memory::Memory;

/// Runs `network` to its end; `events` of the summary counts this loop's own.
pub(crate) fn run(network: &Network) -> Results {
    run_with(network, TieBreak::ByTurn(network.ties))
}

/// The same with another order of the arrivals of one instant.
pub(crate) fn run_with(network: &Network, tie_break: TieBreak) -> Results {
    let mut reference = Reference::new(network, tie_break);
    reference.run();
    reference.finish()
}

#[derive(Debug)]
struct Reference<'a> {
    network: &'a Network,
    checkpoints: Checkpoints,
    links: Vec<Link>,
    lines: Lines,
    memory: Memory<'a>,
    ingress: Ingress<'a>,
    /// By link.
    admissions: Vec<Option<Admission>>,
    /// What is at a link, by the slot that the link knows it by.
    at_links: HashMap<u32, Happening>,
    next_slot: u32,
    flows: Vec<Flow>,
    /// The group of each flow.
    groups: Vec<usize>,
    /// The links that each flow crosses.
    paths: Vec<Vec<usize>>,
    /// The groups that cross each link.
    crossing: Vec<Vec<usize>>,
    generators: FlowGenerators,
    /// Of dynamic flows that stop at a time that is known when they begin.
    media_end: Vec<Option<Time>>,
    accounts: Vec<FlowAccount>,
    /// Flow and number of every packet that its receiver has taken in.
    received: HashSet<(usize, u64, bool)>,
    /// By group: when the last link began to send a packet, and what that waited in total.
    waits: Vec<Vec<(Time, Time)>>,
    one_way: Vec<GroupProbe>,
    /// What is handled happens now.
    now: Time,
    heap: Heap,
    handled: u64,
    next_sample: Time,
    is_measuring: bool,
    /// By link, for how long it was blocked in the measured window, and up to when that is counted.
    blocked: Vec<Time>,
    blocked_until: Time,
    /// Packets that arrived over links with pause frames and were dropped.
    lossless_drops: LosslessDrops,
    /// When the links were last asked what they could carry and had to spare, and what they had in each
    /// interval so far.
    asked: Time,
    spare: Vec<(Time, Vec<(f64, f64)>)>,
    /// By link, the packets that have left it or will leave it since then: when, and how many
    /// bytes.
    departures: Vec<VecDeque<(Time, u32)>>,
}

/// The place of a group among those that cross a link.
fn class(crossing: &[usize], group: usize) -> u32 {
    crossing.iter().position(|one| *one == group).expect("the flow crosses the link") as u32
}

/// Counts a packet that was dropped at the last of the links that it reached, if it arrived there over a
/// link with pause frames.
fn note_lossless_drop(
    drops: &mut LosslessDrops,
    network: &Network,
    reached: &[usize],
    outcome: LinkOutcome,
) {
    if let (LinkOutcome::Dropped(reason), [.., before, at]) = (outcome, reached)
        && network.links[*before].pause.is_some()
    {
        drops.count(*before, *at, reason);
    }
}

impl<'a> Reference<'a> {
    fn new(network: &'a Network, tie_break: TieBreak) -> Self {
        let crosses = |group: &GroupSpec, link: &usize| {
            group.path.contains(link) || group.reverse_path.contains(link)
        };
        let checkpoints = network.checkpoints();
        let mut reference = Reference {
            network,
            checkpoints,
            links: (0..network.links.len())
                .map(|index| {
                    Link::new(
                        &network.links[index],
                        &network.link_facts()[index],
                        network.measured(),
                    )
                })
                .collect(),
            lines: Lines::new(&network.links, &network.link_facts()),
            memory: Memory::new(network),
            ingress: Ingress::new(network),
            admissions: (0..network.links.len())
                .map(|link| Admission::new(network, link))
                .collect(),
            at_links: HashMap::new(),
            next_slot: 0,
            flows: (0..network.flows.len())
                .map(|index| Flow::new(Endpoints::new(network, index, checkpoints)))
                .collect(),
            groups: network.flows.iter().map(|flow| flow.group).collect(),
            paths: (network.flows.iter())
                .map(|flow| network.groups[flow.group].path_of(flow.route).into_owned())
                .collect(),
            crossing: (0..network.links.len())
                .map(|link| {
                    let groups = network.groups.iter().enumerate();
                    groups.filter(|(_, group)| crosses(group, &link)).map(|(at, _)| at).collect()
                })
                .collect(),
            generators: FlowGenerators::new(network),
            media_end: vec![None; network.flows.len()],
            accounts: vec![FlowAccount::default(); network.flows.len()],
            received: HashSet::new(),
            waits: vec![Vec::new(); network.groups.len()],
            one_way: vec![GroupProbe::default(); network.groups.len()],
            now: Time::ZERO,
            heap: Heap::new(tie_break, network.seed),
            handled: 0,
            next_sample: checkpoints.series_interval,
            is_measuring: false,
            blocked: vec![Time::ZERO; network.links.len()],
            blocked_until: Time::ZERO,
            lossless_drops: LosslessDrops::new(network.links.len()),
            asked: Time::ZERO,
            spare: Vec::new(),
            departures: vec![VecDeque::new(); network.links.len()],
        };
        (0..reference.flows.len()).for_each(|index| reference.start_flow(index));
        reference.await_flow();
        reference
    }

    fn start_flow(&mut self, index: usize) {
        match &self.flows[index] {
            Flow::Tcp(_) => self.set_timers(index),
            Flow::Open(_) => self.draw_emission(index),
        }
    }

    fn run(&mut self) {
        while let Some((time, flow, happening)) = self.heap.take_before(self.network.duration) {
            self.handled += 1;
            self.record_links_until(time);
            self.count_blocked_until(time);
            self.now = time;
            self.handle(time, flow, happening);
        }
    }

    fn handle(&mut self, now: Time, flow: usize, happening: Happening) {
        match happening {
            Happening::ReachFarEnd(packet, departure) => {
                self.reach_far_end(now, flow, packet, departure);
            }
            Happening::AckAtFarEnd(ack, stamp) => {
                let at = self.flows[flow].private_path().reach_sender(now);
                self.heap.push(at, flow, Happening::ReachSender(ack, stamp));
            }
            Happening::ReachReceiver(packet, departure) => {
                self.reach_receiver(now, flow, packet, departure);
            }
            Happening::ReceiverTimer => self.fire_receiver_timer(now, flow),
            Happening::ReachSender(ack, stamp) => {
                self.hear(now, flow, stamp);
                self.step_sender(now, flow, |sender, tray| sender.on_ack(now, ack.ack(), tray));
            }
            Happening::SenderTimer => self.fire_sender_timer(now, flow),
            Happening::Emission(bytes) => self.emit(now, flow, bytes),
            Happening::ReachAccess(packet) => {
                let arrival = self.flows[flow].private_path().enter(now, packet.bytes);
                self.heap.push(arrival, flow, Happening::PacketAtLink(0, packet, Time::ZERO));
            }
            Happening::PacketAtLink(..) | Happening::AckAtLink(..) => {
                self.reach_link(now, flow, happening);
            }
            Happening::Service => self.serve(now, flow),
            Happening::HeadDrop => self.drop_head(now, flow),
            Happening::FlowArrives => self.begin_flow(now),
        }
    }

    // Dynamic flows. Their numbers are not reused.

    fn await_flow(&mut self) {
        let next = self.generators.next_arrival();
        if next < self.network.duration {
            self.heap.push(next, 0, Happening::FlowArrives);
        }
    }

    /// A completion may have put another flow before the one that was awaited.
    fn begin_flow(&mut self, now: Time) {
        if self.generators.next_arrival() != now {
            return;
        }
        let admissions = &mut self.admissions;
        let refuses = |path: &[usize]| {
            path.iter().any(|&link| admissions[link].as_mut().is_some_and(|one| one.refuses(now)))
        };
        let admitted = self.generators.admit(self.network, &self.links, refuses);
        let Some(admitted) = admitted else { return self.await_flow() };
        let Admitted { number, group, request, wait } = admitted;
        assert_eq!(number as usize, self.flows.len(), "numbers are given in order");
        let spec = &self.network.groups[group];
        let checkpoints = Checkpoints {
            series_interval: Time::NEVER,
            step_interval: Time::NEVER,
            progress_interval: Time::NEVER,
            ..self.checkpoints
        };
        let first = &self.links[spec.path_of(request.route)[0]];
        let host_rate = request.access_rate.unwrap_or_else(|| first.sending_rate(request.start));
        self.flows.push(Flow::new(Endpoints::of_request(
            self.network,
            spec,
            &request,
            wait,
            host_rate,
            checkpoints,
        )));
        self.groups.push(group);
        self.paths.push(spec.path_of(request.route).into_owned());
        self.media_end.push(request.media.map(|media| media.end));
        self.accounts.push(FlowAccount::default());
        self.start_flow(number as usize);
        self.await_flow();
    }

    /// Tells the source of a flow that it is complete.
    fn end_flow(&mut self, now: Time, flow: usize) {
        let Flow::Tcp(tcp) = &mut self.flows[flow] else { return };
        if tcp.completed_at.is_none() && tcp.sender.completed_at().is_some() {
            tcp.completed_at = Some(now);
            self.generators.complete(flow as u32, now, tcp.sender.srtt());
            self.await_flow();
        }
    }

    /// The totals of the dynamic flows.
    fn close_flows(&mut self) {
        self.generators.end_coflows();
        for (index, flow) in self.flows.iter().enumerate() {
            let Some(active_flow) = self.generators.active_flow(index as u32) else { continue };
            let departure = flow.departure(&self.accounts[index], self.checkpoints);
            self.generators
                .probe(active_flow.generator)
                .on_departure(&active_flow.flow_start, &departure);
        }
    }

    /// When a flow was in progress, and its peak rate; `None` for flows that do not count: those
    /// that send whatever the links do, without end, and those that wait for objects.
    fn in_progress(&self, index: usize) -> Option<InProgress> {
        let completed_at = match &self.flows[index] {
            Flow::Tcp(tcp) => tcp.completed_at,
            Flow::Open(_) => None,
        };
        if let Some(ActiveFlow { flow_start, peak_rate, .. }) =
            self.generators.active_flow(index as u32)
        {
            let ends_at = completed_at.or(self.media_end[index]).unwrap_or(Time::NEVER);
            return Some(InProgress { from: flow_start.start, to: ends_at, peak_rate });
        }
        let group = &self.network.groups[self.groups[index]];
        let bytes = group.source.bulk()?.bytes;
        let stop = if bytes.is_none() { group.stop } else { completed_at };
        let flow = &self.network.flows[index];
        let to = stop.unwrap_or(Time::NEVER);
        Some(InProgress { from: flow.start, to, peak_rate: flow.access_rate })
    }

    /// Which flows were in progress at a link, and which of them it held back.
    fn bottlenecked(&self, link: usize) -> BottleneckedFlows {
        let network = self.network;
        let run = network.duration;
        let capacity = self.links[link].mean_rate(Time::ZERO, run);
        let varies = !network.links[link].rate_changes.is_empty()
            && network.links[link].policed_rate().is_none();
        let mut offered = 0.0;
        let mut left = capacity;
        for (index, group) in network.groups.iter().enumerate() {
            let rate = group.source.offered_rate_bps();
            let flows = network.flows.iter().zip(&self.paths);
            let flows = flows.filter(|(flow, path)| flow.group == index && path.contains(&link));
            let flows = flows.count();
            left -= flows as f64 * rate.unwrap_or(0.0);
            offered += flows as f64 * rate.unwrap_or(0.0);
        }
        let crosses = |flow: &usize| self.paths[*flow].contains(&link);
        let flows = (0..self.flows.len()).filter(crosses);
        let flows: Vec<InProgress> = flows.filter_map(|flow| self.in_progress(flow)).collect();
        let intervals = self.spare.iter().map(|(until, links)| {
            let (carried, spare) = links[link];
            (*until, if varies { carried - offered } else { left }, spare)
        });
        bottlenecked::count(&flows, intervals, self.checkpoints.measure_from)
    }

    // Links.

    /// Lets a packet or an ACK that a link has sent, or not, after it waited, cause what it causes.
    fn follow(&mut self, event: Transit, outcome: LinkOutcome, waited: Time) {
        if outcome == LinkOutcome::Held {
            return;
        }
        let flow = event.flow() as usize;
        match self.at_links.remove(&event.slot()).expect("what leaves a link has reached it") {
            Happening::PacketAtLink(hop, packet, before) => {
                let packet = Packet { ecn: event.ecn(), ..packet };
                let begins = event.time() + waited;
                self.follow_packet(flow, hop, packet, outcome, begins, before + waited);
            }
            Happening::AckAtLink(hop, ack, stamp) => {
                self.follow_ack(flow, hop, (ack, stamp), outcome);
            }
            _ => unreachable!("only packets and ACKs reach links"),
        }
    }

    fn follow_packet(
        &mut self,
        flow: usize,
        hop: usize,
        packet: Packet,
        outcome: LinkOutcome,
        begins: Time,
        waited: Time,
    ) {
        let path = &self.paths[flow];
        note_lossless_drop(&mut self.lossless_drops, self.network, &path[..=hop], outcome);
        let is_sent = match outcome {
            LinkOutcome::Lost => self.links[path[hop]].busy_until() < Time::NEVER,
            LinkOutcome::Delivered(at) => at < Time::NEVER,
            LinkOutcome::Dropped(_) | LinkOutcome::Held => false,
        };
        if hop + 1 == path.len() && is_sent {
            self.waits[self.groups[flow]].push((begins, waited));
        }
        match outcome {
            LinkOutcome::Dropped(_) | LinkOutcome::Lost => {
                self.accounts[flow].lost += 1;
                let is_measured = packet.sent >= self.checkpoints.measure_from;
                self.accounts[flow].lost_measured += u64::from(is_measured);
            }
            // The link stands still for good.
            LinkOutcome::Held | LinkOutcome::Delivered(Time::NEVER) => {}
            LinkOutcome::Delivered(at) if hop + 1 < path.len() => {
                self.heap.push(at, flow, Happening::PacketAtLink(hop + 1, packet, waited));
            }
            LinkOutcome::Delivered(at) => {
                self.accounts[flow].received += 1;
                let is_measured = packet.sent >= self.checkpoints.measure_from;
                let has_left = self.links[path[hop]].busy_until() <= self.checkpoints.duration;
                let is_marked = packet.ecn == Ecn::Ce && is_measured && has_left;
                self.accounts[flow].marked_measured += u64::from(is_marked);
                let departure = self.links[path[hop]].busy_until();
                self.heap.push(at, flow, Happening::ReachFarEnd(packet, departure));
            }
        }
    }

    fn reach_far_end(&mut self, now: Time, flow: usize, packet: Packet, departure: Time) {
        let at = self.flows[flow].private_path().reach_receiver(now);
        self.heap.push(at, flow, Happening::ReachReceiver(packet, departure));
    }

    /// Lets the packets reach their receivers that have left the last links of their paths in the run and
    /// are on the way at its end: they may have been there before.
    fn note_packets_on_the_way(&mut self) {
        while let Some((time, flow, happening)) = self.heap.take_before(Time::NEVER) {
            if !matches!(self.flows.get(flow), Some(Flow::Tcp(_))) {
                continue;
            }
            match happening {
                Happening::ReachFarEnd(packet, departure) => {
                    self.reach_far_end(time, flow, packet, departure);
                }
                Happening::ReachReceiver(packet, departure) => {
                    self.reach_receiver(time, flow, packet, departure);
                }
                Happening::ReceiverTimer => self.fire_receiver_timer(time, flow),
                _ => {}
            }
        }
    }

    /// Counts a packet that has left the last link of its path at `departure`, if its receiver discards
    /// it or had it before.
    fn note_in_vain(&mut self, flow: usize, packet: &Packet, departure: Time, is_discarded: bool) {
        let group = self.groups[flow];
        // A packet without data opens the connection and has a number of the data.
        let has_data = packet.bytes > self.network.groups[group].header_size;
        if !is_discarded && self.received.insert((flow, packet.sequence, has_data)) {
            return;
        }
        let Checkpoints { measure_from, duration, .. } = self.checkpoints;
        if departure <= measure_from || departure > duration {
            return;
        }
        let (account, group) = (&mut self.accounts[flow], &mut self.one_way[group]);
        if is_discarded {
            account.discarded_measured += 1;
            group.discarded += 1;
        } else {
            account.duplicates_measured += 1;
            group.on_duplicate(packet.bytes);
        }
    }

    fn follow_ack(
        &mut self,
        flow: usize,
        hop: usize,
        (ack, stamp): (StoredAck, Stamp),
        outcome: LinkOutcome,
    ) {
        let group = &self.network.groups[self.groups[flow]];
        let path = &group.reverse_path[..=hop];
        note_lossless_drop(&mut self.lossless_drops, self.network, path, outcome);
        match outcome {
            LinkOutcome::Dropped(_)
            | LinkOutcome::Lost
            | LinkOutcome::Held
            | LinkOutcome::Delivered(Time::NEVER) => {}
            LinkOutcome::Delivered(at) if hop + 1 < group.reverse_path.len() => {
                self.heap.push(at, flow, Happening::AckAtLink(hop + 1, ack, stamp));
            }
            LinkOutcome::Delivered(at) => {
                self.heap.push(at, flow, Happening::AckAtFarEnd(ack, stamp));
            }
        }
    }

    // Receivers.

    fn reach_receiver(&mut self, now: Time, flow: usize, packet: Packet, departure: Time) {
        match &mut self.flows[flow] {
            Flow::Tcp(tcp) => {
                tcp.stamp(&packet);
                let discarded = tcp.receiver.discarded();
                if let Some(end) = tcp.sender.end_of_object(tcp.receiver.next()) {
                    tcp.receiver.expect_end(end);
                }
                let ack = tcp.receiver.on_packet(now, packet).map(StoredAck::from);
                let is_discarded = tcp.receiver.discarded() > discarded;
                self.note_in_vain(flow, &packet, departure, is_discarded);
                if let Some(ack) = ack {
                    self.answer(now, flow, ack);
                }
                self.set_timers(flow);
            }
            Flow::Open(open) => {
                let group = &mut self.one_way[self.groups[flow]];
                open.on_received(now, &packet, self.checkpoints, group);
            }
        }
    }

    fn fire_receiver_timer(&mut self, now: Time, flow: usize) {
        let Flow::Tcp(tcp) = &mut self.flows[flow] else { return };
        if tcp.receiver.deadline() == now {
            let ack = StoredAck::from(tcp.receiver.on_deadline());
            self.answer(now, flow, ack);
        }
    }

    fn answer(&mut self, now: Time, flow: usize, ack: StoredAck) {
        let Flow::Tcp(tcp) = &mut self.flows[flow] else { return };
        let stamp = tcp.echo(now, ack.ack().cumulative);
        let happening = if tcp.private_path.has_reverse_path() {
            Happening::AckAtLink(0, ack, stamp)
        } else {
            Happening::ReachSender(ack, stamp)
        };
        self.heap.push(tcp.private_path.leave_receiver(now), flow, happening);
    }

    // Senders and sources.

    fn hear(&mut self, now: Time, flow: usize, stamp: Stamp) {
        if let Flow::Tcp(tcp) = &mut self.flows[flow] {
            let newest = tcp.heard.last().map_or(Time::ZERO, |(_, newest)| *newest);
            tcp.heard.push((now, newest.max(stamp.left)));
        }
    }

    fn step_sender(&mut self, now: Time, flow: usize, step: impl FnOnce(&mut Sender, &mut Tray)) {
        let Flow::Tcp(tcp) = &mut self.flows[flow] else { return };
        let mut tray = Tray::default();
        step(&mut tcp.sender, &mut tray);
        for packet in tray.0 {
            assert_eq!(packet.sent, now, "a sender sends at the time it is told");
            let left = tcp.private_path.leave_sender(now);
            self.heap.push(left, flow, Happening::ReachAccess(packet));
        }
        self.set_timers(flow);
        self.end_flow(now, flow);
    }

    fn fire_sender_timer(&mut self, now: Time, flow: usize) {
        let Flow::Tcp(tcp) = &self.flows[flow] else { return };
        if tcp.sender.deadline() == now {
            self.step_sender(now, flow, |sender, tray| sender.on_deadline(now, tray));
        }
    }

    /// Schedules both timers anew; whoever comes for an earlier deadline finds it gone.
    fn set_timers(&mut self, flow: usize) {
        let Flow::Tcp(tcp) = &self.flows[flow] else { return };
        for (deadline, timer) in [
            (tcp.sender.deadline(), Happening::SenderTimer),
            (tcp.receiver.deadline(), Happening::ReceiverTimer),
        ] {
            if deadline < self.network.duration {
                self.heap.push(deadline, flow, timer);
            }
        }
    }

    fn draw_emission(&mut self, flow: usize) {
        let Flow::Open(open) = &mut self.flows[flow] else { return };
        if let Some(Emission { time, bytes }) = open.next_emission() {
            self.heap.push(time, flow, Happening::Emission(bytes));
        }
    }

    fn emit(&mut self, now: Time, flow: usize, bytes: u32) {
        let Flow::Open(open) = &mut self.flows[flow] else { return };
        let sequence = open.emissions.len() as u64;
        open.on_sent(now, bytes);
        let packet = Packet { sequence, bytes, sent: now, ..Packet::default() };
        let left = open.private_path.leave_sender(now);
        self.heap.push(left, flow, Happening::ReachAccess(packet));
        self.draw_emission(flow);
    }

    // Statistics.

    /// Lets every link record its state as of the checkpoints up to `now`.
    fn record_links_until(&mut self, now: Time) {
        loop {
            let edge = if self.is_measuring { Time::NEVER } else { self.checkpoints.measure_from };
            let next_asking = self.asked + INTERVAL;
            let checkpoint = self.next_sample.min(next_asking).min(edge);
            if checkpoint > now {
                return;
            }
            if checkpoint == next_asking || checkpoint == edge {
                self.ask_links(checkpoint);
            }
            // At the edge of the window a sample still belongs to what lies before it.
            if checkpoint == self.next_sample {
                self.links.iter_mut().for_each(|link| link.sample(checkpoint));
                self.memory.pools.sample(checkpoint);
                self.next_sample = checkpoint.saturating_add(self.checkpoints.series_interval);
            }
            if checkpoint == edge {
                self.count_blocked_until(checkpoint);
                self.links.iter_mut().for_each(|link| link.begin_measuring(checkpoint));
                self.memory.pools.begin_measuring(checkpoint);
                self.is_measuring = true;
            }
        }
    }

    /// Asks the links what rate they had to spare since the last time.
    fn ask_links(&mut self, now: Time) {
        let span = now.since(self.asked);
        let links = self.links.iter().zip(&mut self.departures);
        let spare = links.map(|(link, departures)| {
            let left = departures.partition_point(|departure| departure.0 <= now);
            let bytes: u64 = departures.drain(..left).map(|(_, bytes)| u64::from(bytes)).sum();
            if span == Time::ZERO {
                return (0.0, 0.0);
            }
            let carried = link.mean_rate(self.asked, now);
            (carried, carried - 8.0 * bytes as f64 / span.seconds())
        });
        let spare = spare.collect();
        self.spare.push((now, spare));
        self.asked = now;
    }

    fn finish(mut self) -> Results {
        let end = self.network.duration;
        self.note_packets_on_the_way();
        self.record_links_until(end);
        self.count_blocked_until(end);
        self.ask_links(end);
        self.links.iter_mut().for_each(|link| link.end_measuring(end));
        self.memory.pools.end_measuring(end);
        for flow in &mut self.flows {
            match flow {
                Flow::Tcp(tcp) => tcp.sender.record_until(end),
                Flow::Open(open) => open.record_until(end),
            }
        }
        self.close_flows();
        let sharing: Vec<BottleneckedFlows> =
            (0..self.links.len()).map(|link| self.bottlenecked(link)).collect();
        let permanent = self.network.flows.len();
        let flows = self.flows.into_iter().take(permanent);
        let endpoints: Vec<Endpoints> = flows.map(Flow::into_endpoints).collect();
        let endpoints: Vec<&Endpoints> = endpoints.iter().collect();
        let accounts = &self.accounts[..permanent];
        let dynamic = DynamicFlowRecords { generators: &self.generators, sharing: &sharing };
        let mut probes = self.one_way;
        for (probe, waits) in probes.iter_mut().zip(&self.waits) {
            let is_measured = |time: Time| self.checkpoints.measure_from <= time && time < end;
            let measured = waits.iter().filter(|(begins, _)| is_measured(*begins));
            measured.for_each(|(_, waited)| probe.waits.add(*waited));
        }
        let waiting = self.ingress.waiting();
        let (links, blocked) = (&self.links, &self.blocked);
        let (pools, lossless_drops) = (&self.memory.pools, &self.lossless_drops);
        let waiting = &waiting;
        let shared = SharedLinks { links, pools, waiting, blocked, lossless_drops, ends: None };
        results::collect(self.network, shared, &endpoints, accounts, &probes, dynamic, self.handled)
    }
}
