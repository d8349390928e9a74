//! The reference event loop: a plain heap over every stage of every packet, each handled at its
//! true time. It drives the same senders, receivers, links and sources as the engine, but shares
//! none of the engine's ordering: no timing wheel, nothing computed ahead, no lazy wake-ups.
//!
//! [`heap`] has the order of the events.

mod heap;

use std::collections::HashMap;

use tailroom_engine::dynamic_flows::Populations;
use tailroom_engine::dynamic_flows::admission::FlowAdmissions;
use tailroom_engine::dynamic_flows::bottlenecked::{INTERVAL, Sharing};
use tailroom_engine::flow::Ends;
use tailroom_engine::link::{Fate, Link};
use tailroom_engine::network::Network;
use tailroom_engine::packet::in_network::Event;
use tailroom_engine::packet::{Ecn, Packet, StoredAck};
use tailroom_engine::private_path::Wiring;
use tailroom_engine::probe::flow::{FlowAccount, FlowProbe, FlowState, Marks};
use tailroom_engine::probe::group::GroupProbe;
use tailroom_engine::results;
use tailroom_engine::results::{DynamicFlowRecords, Results};
use tailroom_engine::simulation::passing_flows::{departure, media_departure, sharing, spare};
use tailroom_engine::tcp::Connection;
use tailroom_engine::tcp::TcpSpec;
use tailroom_engine::tcp::receiver::Receiver;
use tailroom_engine::tcp::sender::{Outlet, Sender};
use tailroom_engine::traffic::unresponsive::Unresponsive;
use tailroom_engine::traffic::{Source, TrafficSource};
use tailroom_engine::units::Time;

use heap::{Happening, Heap};

/// Runs `network` to its end; `events` of the summary counts this loop's own.
pub(crate) fn run(network: &Network) -> Results {
    let mut reference = Reference::new(network);
    reference.run();
    reference.finish()
}

/// Collects what a sender sends.
#[derive(Debug, Default)]
struct Tray(Vec<Packet>);

impl Outlet for Tray {
    fn send(&mut self, packet: Packet) {
        self.0.push(packet);
    }
}

#[derive(Debug)]
struct TcpFlow {
    sender: Sender,
    receiver: Receiver,
    wiring: Wiring,
    /// Whether its completion has been told.
    has_ended: bool,
}

#[derive(Debug)]
struct OpenFlow {
    source: Source,
    stop: Time,
    header_bytes: u32,
    wiring: Wiring,
    sent: FlowProbe,
    received: FlowProbe,
    delivered: FlowState,
    /// Of the packet that arrived before.
    last_delay: Option<Time>,
}

#[derive(Debug)]
enum Flow {
    Tcp(Box<TcpFlow>),
    Open(Box<OpenFlow>),
}

#[derive(Debug)]
struct Reference<'a> {
    network: &'a Network,
    marks: Marks,
    links: Vec<Link>,
    admissions: FlowAdmissions,
    /// What is at a link, by the slot that the link knows it by.
    at_links: HashMap<u32, Happening>,
    next_slot: u32,
    flows: Vec<Flow>,
    /// The group of each flow.
    groups: Vec<usize>,
    /// The groups that cross each link.
    crossing: Vec<Vec<usize>>,
    populations: Populations,
    accounts: Vec<FlowAccount>,
    /// By group: when the last link sent a packet, or knew that it would, and what that waited in total.
    waits: Vec<Vec<(Time, Time)>>,
    one_way: Vec<GroupProbe>,
    /// What is handled happens now.
    now: Time,
    heap: Heap,
    handled: u64,
    next_sample: Time,
    is_measuring: bool,
    /// When the links were last asked what they had to spare, what had left them by then, and what
    /// they had in each interval so far.
    asked: Time,
    departed_bytes: Vec<u64>,
    spare: Vec<(Time, Vec<f64>)>,
}

/// The place of a group among those that cross a link.
fn class(crossing: &[usize], group: usize) -> u32 {
    crossing.iter().position(|one| *one == group).expect("the flow crosses the link") as u32
}

impl Flow {
    fn new(ends: Ends) -> Self {
        match ends {
            Ends::Tcp(connection) => {
                let Connection { sender, receiver, wiring } = connection;
                Flow::Tcp(Box::new(TcpFlow { sender, receiver, wiring, has_ended: false }))
            }
            Ends::Unresponsive(ends) => Flow::Open(Box::new(OpenFlow {
                source: ends.source,
                stop: ends.stop,
                header_bytes: ends.header_bytes,
                wiring: ends.wiring,
                sent: ends.sent,
                received: ends.received,
                delivered: ends.delivered,
                last_delay: ends.last_delay,
            })),
        }
    }

    /// Put together again, for the results.
    fn into_ends(self) -> Ends {
        match self {
            Flow::Tcp(flow) => {
                let TcpFlow { sender, receiver, wiring, .. } = *flow;
                Ends::Tcp(Connection { sender, receiver, wiring })
            }
            Flow::Open(flow) => {
                let OpenFlow { source, stop, header_bytes, wiring, sent, received, .. } = *flow;
                let OpenFlow { delivered, last_delay, .. } = *flow;
                Ends::Unresponsive(Box::new(Unresponsive {
                    source,
                    stop,
                    has_stopped: true,
                    header_bytes,
                    wiring,
                    sent,
                    received,
                    delivered,
                    last_delay,
                }))
            }
        }
    }
}

impl<'a> Reference<'a> {
    fn new(network: &'a Network) -> Self {
        let marks = network.marks();
        let mut reference = Reference {
            network,
            marks,
            links: (0..network.links.len())
                .map(|index| Link::new(&network.links[index], &network.link_facts(index)))
                .collect(),
            admissions: FlowAdmissions::new(network),
            at_links: HashMap::new(),
            next_slot: 0,
            flows: (0..network.flows.len())
                .map(|index| Flow::new(Ends::new(network, index, marks)))
                .collect(),
            groups: network.flows.iter().map(|flow| flow.group).collect(),
            crossing: (0..network.links.len()).map(|link| network.crossing(link)).collect(),
            populations: Populations::new(network),
            accounts: vec![FlowAccount::default(); network.flows.len()],
            waits: vec![Vec::new(); network.groups.len()],
            one_way: vec![GroupProbe::default(); network.groups.len()],
            now: Time::ZERO,
            heap: Heap::default(),
            handled: 0,
            next_sample: marks.series_interval,
            is_measuring: false,
            asked: Time::ZERO,
            departed_bytes: vec![0; network.links.len()],
            spare: Vec::new(),
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
            self.pass_link_marks(time);
            self.now = time;
            self.handle(time, flow, happening);
        }
    }

    fn handle(&mut self, now: Time, flow: usize, happening: Happening) {
        match happening {
            Happening::ReachReceiver(packet) => self.reach_receiver(now, flow, packet),
            Happening::ReceiverTimer => self.fire_receiver_timer(now, flow),
            Happening::ReachSender(ack) => {
                self.step_sender(now, flow, |sender, tray| sender.on_ack(now, ack.ack(), tray));
            }
            Happening::SenderTimer => self.fire_sender_timer(now, flow),
            Happening::Emission(bytes) => self.emit(now, flow, bytes),
            Happening::ReachAccess(packet) => {
                let wiring = match &mut self.flows[flow] {
                    Flow::Tcp(tcp) => &mut tcp.wiring,
                    Flow::Open(open) => &mut open.wiring,
                };
                let arrival = wiring.enter(now, packet.bytes);
                self.heap.push(arrival, flow, Happening::PacketAtLink(0, packet, Time::ZERO));
            }
            Happening::PacketAtLink(..) | Happening::AckAtLink(..) => {
                self.reach_link(now, flow, happening);
            }
            Happening::Service => self.serve(now, flow),
            Happening::FlowArrives => self.begin_flow(now),
        }
    }

    // Flows that come and go. None gives its number back.

    fn await_flow(&mut self) {
        let next = self.populations.next_arrival();
        if next < self.network.duration {
            self.heap.push(next, 0, Happening::FlowArrives);
        }
    }

    /// A completion may have put another flow before the one that was awaited.
    fn begin_flow(&mut self, now: Time) {
        if self.populations.next_arrival() != now {
            return;
        }
        let group = self.populations.next_group().expect("one is due");
        let path = &self.network.groups[group].path;
        if self.admissions.refuse_flow(path, now) {
            self.populations.refuse(self.network);
            return self.await_flow();
        }
        let (number, group, plan) = self.populations.admit(self.network).expect("one is due");
        assert_eq!(number as usize, self.flows.len(), "numbers are given in order");
        let spec = &self.network.groups[group];
        let marks =
            Marks { series_interval: Time::NEVER, progress_interval: Time::NEVER, ..self.marks };
        self.flows.push(Flow::new(Ends::of_plan(self.network, spec, &plan, marks)));
        self.groups.push(group);
        self.accounts.push(FlowAccount::default());
        self.start_flow(number as usize);
        self.await_flow();
    }

    /// Tells the source of a flow that it is complete.
    fn end_flow(&mut self, flow: usize) {
        let Flow::Tcp(tcp) = &mut self.flows[flow] else { return };
        let Some(completed_at) = tcp.sender.completed_at() else { return };
        if !std::mem::replace(&mut tcp.has_ended, true) {
            self.populations.complete(flow as u32, completed_at);
            self.await_flow();
        }
    }

    /// Who shared the links, and the totals of the flows that came and went.
    fn close_flows(&mut self) -> Vec<Sharing> {
        let mut sharing = sharing(self.network, &self.links);
        for (index, flow) in self.flows.iter().enumerate() {
            let group = &self.network.groups[self.groups[index]];
            let visitor = self.populations.visitor(index as u32);
            let access_rate = || self.network.flows[index].access_rate;
            let peak_rate = visitor.map_or_else(access_rate, |visitor| visitor.peak_rate);
            let account = &self.accounts[index];
            let departure = match flow {
                Flow::Tcp(tcp) => departure(&tcp.sender, account),
                Flow::Open(open) => {
                    let received = open.received.window(&open.delivered);
                    media_departure(open.stop, &open.sent, received, account)
                }
            };
            let is_controlled = matches!(flow, Flow::Tcp(_));
            for &link in &group.path {
                if let Some(visitor) = visitor {
                    sharing[link].begin(visitor.visit.start, peak_rate);
                }
                let ends = is_controlled || visitor.is_some();
                if let Some(completed_at) = departure.completed_at.filter(|_| ends) {
                    sharing[link].end(completed_at, peak_rate);
                }
            }
            if let Some(visitor) = visitor {
                self.populations.probe(visitor.population).on_departure(&visitor.visit, &departure);
            }
        }
        for (until, spare) in &self.spare {
            for (link, &spare) in sharing.iter_mut().zip(spare) {
                link.pass(*until, spare);
                if *until == self.marks.measure_from {
                    link.restart();
                }
            }
        }
        sharing
    }

    // Links.

    fn reach_link(&mut self, now: Time, flow: usize, happening: Happening) {
        let group = &self.network.groups[self.groups[flow]];
        let (link, bytes, ecn) = match &happening {
            Happening::PacketAtLink(hop, packet, _) => (group.path[*hop], packet.bytes, packet.ecn),
            Happening::AckAtLink(hop, _) => {
                let bytes = group.tcp.as_ref().map_or(0, TcpSpec::ack_bytes);
                (group.reverse_path[*hop], bytes, Ecn::NotEct)
            }
            _ => unreachable!("only packets and ACKs reach links"),
        };
        // A link needs no more than this; the slot leads back to the rest.
        let slot = self.next_slot;
        self.next_slot += 1;
        self.at_links.insert(slot, happening);
        let packet = Packet { sequence: slot.into(), bytes, ecn, ..Packet::default() };
        let mut event = Event::arrival(now, flow as u32, 0, &packet);
        let class = class(&self.crossing[link], self.groups[flow]);
        self.admissions.on_arrival(link, &event);
        let waited = self.links[link].busy_until().since(now);
        let fate = self.links[link].arrive(&mut event, class);
        self.follow(event, fate, waited);
        self.after_scheduler(now, link);
    }

    fn serve(&mut self, now: Time, link: usize) {
        if self.links[link].next_service() != now {
            return;
        }
        let Reference { links, crossing, groups, .. } = self;
        let class_of = |packet: Event| class(&crossing[link], groups[packet.flow() as usize]);
        if let Some((packet, fate)) = links[link].serve(class_of) {
            self.follow(packet, fate, now - packet.time());
        }
        self.after_scheduler(now, link);
    }

    /// Notes what a scheduler dropped; schedules its next service anew, so that many come in vain.
    fn after_scheduler(&mut self, now: Time, link: usize) {
        let mut dropped = Vec::new();
        let Reference { links, crossing, groups, .. } = self;
        links[link].drain_dropped(now, |one| {
            dropped.push(one.packet);
            class(&crossing[link], groups[one.packet.flow() as usize])
        });
        for packet in dropped {
            self.follow(packet, Fate::Dropped, Time::ZERO);
        }
        let next = self.links[link].next_service();
        if next < self.network.duration {
            self.heap.push(next, link, Happening::Service);
        }
    }

    /// Lets a packet or an ACK that a link has sent, or not, after it waited, cause what it causes.
    fn follow(&mut self, event: Event, fate: Fate, waited: Time) {
        if fate == Fate::Held {
            return;
        }
        let flow = event.flow() as usize;
        match self.at_links.remove(&event.slot()).expect("what leaves a link has reached it") {
            Happening::PacketAtLink(hop, packet, before) => {
                let packet = Packet { ecn: event.ecn(), ..packet };
                self.follow_packet(flow, hop, packet, fate, before + waited);
            }
            Happening::AckAtLink(hop, ack) => self.follow_ack(flow, hop, ack, fate),
            _ => unreachable!("only packets and ACKs reach links"),
        }
    }

    fn follow_packet(&mut self, flow: usize, hop: usize, packet: Packet, fate: Fate, waited: Time) {
        let path = &self.network.groups[self.groups[flow]].path;
        let is_sent = match fate {
            Fate::Lost => self.links[path[hop]].busy_until() < Time::NEVER,
            Fate::Delivered(at) => at < Time::NEVER,
            Fate::Dropped | Fate::Held => false,
        };
        if hop + 1 == path.len() && is_sent {
            self.waits[self.groups[flow]].push((self.now, waited));
        }
        match fate {
            Fate::Dropped | Fate::Lost => {
                self.accounts[flow].lost += 1;
                let is_measured = packet.sent >= self.marks.measure_from;
                self.accounts[flow].lost_measured += u64::from(is_measured);
            }
            // The link stands still for good.
            Fate::Held | Fate::Delivered(Time::NEVER) => {}
            Fate::Delivered(at) if hop + 1 < path.len() => {
                self.heap.push(at, flow, Happening::PacketAtLink(hop + 1, packet, waited));
            }
            Fate::Delivered(at) => {
                self.accounts[flow].received += 1;
                let is_measured = packet.sent >= self.marks.measure_from;
                let is_marked = packet.ecn == Ecn::Ce && is_measured;
                self.accounts[flow].marked_measured += u64::from(is_marked);
                let at = match &self.flows[flow] {
                    Flow::Tcp(tcp) => tcp.wiring.reach_receiver(at),
                    Flow::Open(open) => open.wiring.reach_receiver(at),
                };
                self.heap.push(at, flow, Happening::ReachReceiver(packet));
            }
        }
    }

    fn follow_ack(&mut self, flow: usize, hop: usize, ack: StoredAck, fate: Fate) {
        let group = &self.network.groups[self.groups[flow]];
        let Flow::Tcp(tcp) = &self.flows[flow] else { unreachable!("only TCP sends ACKs") };
        match fate {
            Fate::Dropped | Fate::Lost | Fate::Held | Fate::Delivered(Time::NEVER) => {}
            Fate::Delivered(at) if hop + 1 < group.reverse_path.len() => {
                self.heap.push(at, flow, Happening::AckAtLink(hop + 1, ack));
            }
            Fate::Delivered(at) => {
                self.heap.push(tcp.wiring.reach_sender(at), flow, Happening::ReachSender(ack));
            }
        }
    }

    // Receivers.

    fn reach_receiver(&mut self, now: Time, flow: usize, packet: Packet) {
        match &mut self.flows[flow] {
            Flow::Tcp(tcp) => {
                let ack = tcp.receiver.on_packet(now, packet).map(StoredAck::from);
                if let Some(ack) = ack {
                    self.answer(now, flow, ack);
                }
                self.set_timers(flow);
            }
            Flow::Open(open) => {
                open.received.pass_marks(now, &open.delivered);
                let delay = now.since(packet.sent);
                open.received.on_rtt(delay);
                if now >= self.marks.measure_from && now < self.marks.duration {
                    self.one_way[self.groups[flow]].on_arrival(delay, open.last_delay);
                }
                open.last_delay = Some(delay);
                open.delivered.delivered += 1;
                let payload = packet.bytes.saturating_sub(open.header_bytes);
                open.delivered.delivered_bytes += u64::from(payload);
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
        let Flow::Tcp(tcp) = &self.flows[flow] else { return };
        let happening = if tcp.wiring.has_reverse_path() {
            Happening::AckAtLink(0, ack)
        } else {
            Happening::ReachSender(ack)
        };
        self.heap.push(tcp.wiring.leave_receiver(now), flow, happening);
    }

    // Senders and sources.

    fn step_sender(&mut self, now: Time, flow: usize, step: impl FnOnce(&mut Sender, &mut Tray)) {
        let Flow::Tcp(tcp) = &mut self.flows[flow] else { return };
        let mut tray = Tray::default();
        step(&mut tcp.sender, &mut tray);
        for packet in tray.0 {
            assert_eq!(packet.sent, now, "a sender sends at the time it is told");
            let left = tcp.wiring.leave_sender(now);
            self.heap.push(left, flow, Happening::ReachAccess(packet));
        }
        self.set_timers(flow);
        self.end_flow(flow);
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
        let emission = open.source.next_emission();
        if emission.time < open.stop {
            self.heap.push(emission.time, flow, Happening::Emission(emission.bytes));
        }
    }

    fn emit(&mut self, now: Time, flow: usize, bytes: u32) {
        let Flow::Open(open) = &mut self.flows[flow] else { return };
        open.sent.pass_marks(now, &FlowState::default());
        open.sent.on_sent(bytes, false);
        let packet = Packet { bytes, sent: now, ..Packet::default() };
        let left = open.wiring.leave_sender(now);
        self.heap.push(left, flow, Happening::ReachAccess(packet));
        self.draw_emission(flow);
    }

    // Statistics.

    /// Lets every link record its state as of the marks up to `now`.
    fn pass_link_marks(&mut self, now: Time) {
        loop {
            let edge = if self.is_measuring { Time::NEVER } else { self.marks.measure_from };
            let next_asking = self.asked + INTERVAL;
            let mark = self.next_sample.min(next_asking).min(edge);
            if mark > now {
                return;
            }
            if mark == next_asking || mark == edge {
                self.ask_links(mark);
            }
            // At the edge of the window a sample still belongs to what lies before it.
            if mark == self.next_sample {
                self.links.iter_mut().for_each(|link| link.sample(mark));
                self.next_sample = mark.saturating_add(self.marks.series_interval);
            }
            if mark == edge {
                self.links.iter_mut().for_each(|link| link.begin_measuring(mark));
                self.is_measuring = true;
            }
        }
    }

    /// Asks the links what they had to spare since the last time.
    fn ask_links(&mut self, now: Time) {
        let links = self.links.iter_mut().zip(&mut self.departed_bytes);
        let spare = links.map(|(link, before)| spare(link, self.asked, now, before)).collect();
        self.spare.push((now, spare));
        self.asked = now;
    }

    fn finish(mut self) -> Results {
        let end = self.network.duration;
        self.pass_link_marks(end);
        self.ask_links(end);
        self.links.iter_mut().for_each(|link| link.end_measuring(end));
        for flow in &mut self.flows {
            match flow {
                Flow::Tcp(tcp) => tcp.sender.pass_marks(end),
                Flow::Open(open) => {
                    open.sent.pass_marks(end, &FlowState::default());
                    open.received.pass_marks(end, &open.delivered);
                }
            }
        }
        let sharing = self.close_flows();
        let permanent = self.network.flows.len();
        let flows = self.flows.into_iter().take(permanent);
        let ends: Vec<Ends> = flows.map(Flow::into_ends).collect();
        let ends: Vec<&Ends> = ends.iter().collect();
        let accounts = &self.accounts[..permanent];
        let passing = DynamicFlowRecords { populations: &self.populations, sharing: &sharing };
        let mut probes = self.one_way;
        for (probe, waits) in probes.iter_mut().zip(&self.waits) {
            let measured = waits.iter().filter(|(time, _)| *time >= self.marks.measure_from);
            measured.for_each(|(_, waited)| probe.waits.add(*waited));
        }
        let (network, links) = (self.network, &self.links);
        results::collect(network, links, &ends, accounts, &probes, passing, self.handled)
    }
}
