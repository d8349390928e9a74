//! The loop over plain events: arrivals of packets at plain links, and services.
//!
//! It is the loop of [`Simulation::run_until`] without what such events never need. A flow on its fast
//! path handles its packet here, and everything else goes on as in the general loop.

use super::Simulation;
use super::at_links::{Decided, OfFlows};
use super::limits::EVENTS_BETWEEN_MEMORY_CHECKS;
use super::pending::Pending;
use crate::link::LinkOutcome;
use crate::packet::transit::{Stage, Transit};
use crate::prefetch::prefetch;
use crate::switch::routes::{Door, Exit, Hop};
use crate::units::Time;

/// How many events ahead the beginning of a flow's place is prefetched, and how many ahead the rest of
/// its state. Six events take some 500 ns, a few times as long as an access to memory.
const AHEAD: [usize; 2] = [12, 6];
/// How many events ahead the link is prefetched, where there are more links than caches hold.
const LINKS_AHEAD: usize = 4;
const MANY_LINKS: usize = 32;

impl Simulation {
    /// Lets every packet take the general path.
    #[doc(hidden)]
    #[must_use]
    pub fn without_fast_path(mut self) -> Self {
        self.fast_paths.turn_off();
        self
    }

    /// The state of all flows, links and events, as a text that does not depend on the path that
    /// packets have taken, with a line for each of them.
    #[doc(hidden)]
    pub fn state_text(&mut self) -> String {
        self.leave_fast_paths();
        let mut on_the_way: Vec<Transit> = self.pending.agenda.events().collect();
        on_the_way.sort_by_key(|event| (event.time(), format!("{event:?}")));
        let Simulation { flows, switch, pending, groups, events, .. } = self;
        let pools = switch.pools();
        let Pending { acks, kept_packets, .. } = pending;
        let mut text = format!("{acks:?}\n{kept_packets:?}\n{groups:?}\n{pools:?}\n{events}\n");
        let lines = flows.iter().map(|flow| format!("{flow:?}\n"));
        let lines = lines.chain(switch.links.iter().map(|link| format!("{link:?}\n")));
        text.extend(lines.chain(on_the_way.iter().map(|event| format!("{event:?}\n"))));
        let now = self.pending.agenda.now();
        for (number, flow) in self.flows.iter().enumerate() {
            self.fast_paths.enter(number as u32, flow, now);
        }
        text
    }

    /// Takes the events before `until` as long as each is the arrival of a packet at a plain link
    /// ([`Link::pass`](crate::link::Link::pass)) or a service. Returns the flow of
    /// the last event, if a run may fail there.
    ///
    /// This is the loop of [`Simulation::run_until`] without what such events never need.
    pub(super) fn run_plain_events(&mut self, until: Time) -> Option<u32> {
        let until = until.min(self.link_checkpoints.next);
        let is_general = self.switch.serves() || self.switch.routes.add_waits();
        match (is_general, !self.switch.pools().is_empty()) {
            _ if !self.fast_paths.is_on() => None,
            (false, false) => self.take_plain_events::<false, false>(until),
            (false, true) => self.take_plain_events::<false, true>(until),
            (true, false) => self.take_plain_events::<true, false>(until),
            (true, true) => self.take_plain_events::<true, true>(until),
        }
    }

    /// The loop, with or without what served links and paths of several links need, and pools.
    #[inline(never)]
    fn take_plain_events<const IS_GENERAL: bool, const HAS_POOLS: bool>(
        &mut self,
        mut until: Time,
    ) -> Option<u32> {
        // The event with the next memory check belongs to the general loop.
        let most = EVENTS_BETWEEN_MEMORY_CHECKS - 1 - self.events % EVENTS_BETWEEN_MEMORY_CHECKS;
        let most = most.min(self.pause_at - self.events);
        let (mut taken, mut to_check) = (0, None);
        while taken < most {
            // A flow that an event completes may let its source begin the next one at once.
            until = until.min(self.dynamic.next_arrival());
            let end = if IS_GENERAL { Time::NEVER } else { until };
            let Some(mut event) = self.pending.agenda.peek_in_bucket(end) else { break };
            let (outcome, exit);
            // At equal times a departure frees its place before an arrival takes one.
            if IS_GENERAL && self.switch.next_service() <= event.time() {
                if self.switch.next_service() >= until {
                    break;
                }
                taken += 1;
                let link = self.switch.next_link();
                let Some(decided) = self.serve() else { continue };
                (event, outcome, exit) = (decided.packet, decided.outcome, decided.exit);
                self.prefetch_served(link);
            } else {
                let Stage::Arrival(position) = event.stage() else { break };
                let hop = self.switch.routes.hop(event.flow(), position);
                let Simulation { switch, flows, pending, dynamic, .. } = self;
                let link = &mut switch.links[hop.link as usize];
                let is_late = IS_GENERAL && event.time() >= until;
                let is_plain =
                    if HAS_POOLS { hop.door >= Door::Plain } else { hop.door == Door::Plain };
                if !is_plain || !link.is_open() || is_late {
                    if IS_GENERAL && hop.door == Door::Counted && !is_late {
                        taken += 1;
                        pending.agenda.skip();
                        let [time, size, place] = event.words();
                        if !self.arrive_by_words(time, size, place, hop) {
                            continue;
                        }
                        to_check = Some(event.flow());
                    }
                    break;
                }
                taken += 1;
                pending.agenda.skip();
                exit = hop.exit;
                outcome = if HAS_POOLS {
                    switch.pass(&mut event, hop, &OfFlows { flows, pending, dynamic })
                } else {
                    link.pass(&mut event, hop.class)
                };
                if HAS_POOLS {
                    self.note_dropped();
                }
                self.prefetch_arriving::<IS_GENERAL>(hop.link as usize);
                if IS_GENERAL && outcome == LinkOutcome::Held {
                    if self.switch.note_queue(hop.link as usize, event.time()) {
                        self.lose_dropped();
                    }
                    continue;
                }
                if IS_GENERAL && hop.adds_wait {
                    event = self.add_wait(event, outcome, hop);
                }
            }
            if let LinkOutcome::Delivered(at) = outcome
                && at < Time::AFTER_ALL_RUNS
                && exit == Exit::Receiver
            {
                let Simulation { fast_paths, flows, pending, .. } = self;
                let (packet, sent) = pending.take_sent(event);
                if fast_paths.deliver((at, packet, sent), flows, pending) {
                    continue;
                }
                let [time, size, place] = packet.words();
                self.deliver_by_words(time, size, place, at, sent);
            } else if IS_GENERAL
                && let LinkOutcome::Delivered(at) = outcome
                && at < Time::AFTER_ALL_RUNS
                && exit == Exit::Link
            {
                self.pending.agenda.push(event.at_next_link(at));
            } else {
                let [time, size, place] = event.words();
                self.follow_by_words(time, size, place, outcome, exit, false);
            }
            if self.custom.flows || self.pending.agenda.is_overfull() {
                to_check = Some(event.flow());
                break;
            }
        }
        self.events += taken;
        to_check
    }

    /// A packet takes memory of an ingress, or reaches a link that pauses; it mostly waits then. Its event comes
    /// word by word. Returns whether the run may fail there.
    #[inline(never)]
    fn arrive_by_words(&mut self, time: u64, size: u64, place: u64, hop: Hop) -> bool {
        let packet = Transit::from_words([time, size, place]);
        let Some(decided) = self.arrive_at(packet, hop) else { return false };
        self.follow(decided);
        self.custom.flows || self.pending.agenda.is_overfull()
    }

    /// Carries out what follows from the outcome of a packet. Its event comes word by word, in
    /// registers: a copy as a whole would wait until the words, just written, are in memory, behind
    /// every load before.
    #[inline(never)]
    pub(super) fn follow_by_words(
        &mut self,
        time: u64,
        size: u64,
        place: u64,
        outcome: LinkOutcome,
        exit: Exit,
        clocks_source: bool,
    ) {
        let packet = Transit::from_words([time, size, place]);
        self.follow(Decided { packet, outcome, exit, clocks_source });
    }

    /// Delivers a packet that is not the predicted one of a flow on its fast path. Its event comes word
    /// by word too.
    #[inline(never)]
    fn deliver_by_words(&mut self, time: u64, size: u64, place: u64, at: Time, sent: Time) {
        let packet = Transit::from_words([time, size, place]);
        if self.deliver(at, packet, sent) {
            self.dynamic.release_if_done(packet.flow(), &mut self.flows);
        }
    }

    /// Prefetches what coming arrivals need, where there is too much of it for the caches: the link,
    /// and the flow or, behind a scheduler, its queue. The last arrival was at `link`; the next ones
    /// may be elsewhere.
    #[expect(clippy::inline_always, reason = "one caller a packet: mostly there is nothing to do")]
    #[inline(always)]
    fn prefetch_arriving<const IS_GENERAL: bool>(&self, link: usize) {
        if IS_GENERAL && self.switch.links.len() >= MANY_LINKS {
            self.prefetch_link();
        }
        if !self.fast_paths.outgrow_caches() {
            return;
        }
        let [early, late] =
            AHEAD.map(|events| self.pending.agenda.peek_ahead(events).map(Transit::flow));
        if IS_GENERAL
            && let Some(queue) = self.switch.links[link].served()
            && queue.coming_flows().is_some()
        {
            if let Some(flow) = late {
                queue.prefetch_flow(flow);
            }
        } else {
            self.fast_paths.prefetch([early, late], &self.flows);
        }
    }

    #[inline(never)]
    fn prefetch_link(&self) {
        if let Some(event) = self.pending.agenda.peek_ahead(LINKS_AHEAD)
            && let Stage::Arrival(position) = event.stage()
        {
            let hop = self.switch.routes.hop(event.flow(), position);
            prefetch(&self.switch.links[hop.link as usize]);
        }
    }

    /// Prefetches the flows whose packets the scheduler that has just sent a packet will send,
    /// where there are too many flows for the caches.
    #[expect(clippy::inline_always, reason = "one caller a packet: mostly there is nothing to do")]
    #[inline(always)]
    fn prefetch_served(&self, link: Option<usize>) {
        if self.fast_paths.outgrow_caches()
            && let Some(link) = link
            && let Some(queue) = self.switch.links[link].served()
            && let Some(flows) = queue.coming_flows()
        {
            self.fast_paths.prefetch(flows.map(Some), &self.flows);
        }
    }
}
