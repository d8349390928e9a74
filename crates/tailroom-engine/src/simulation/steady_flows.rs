//! The flows in a steady state, and the fast path of their packets.
//!
//! A flow is either here or in its [`Flow`], never in both: whatever looks at the ends of a flow
//! calls [`SteadyFlows::settle`] first, and every step of the general path ends with
//! [`SteadyFlows::note`]. Results do not depend on which path a packet takes.

use super::Simulation;
use super::flow::{Flow, PacketInjector};
use super::limits::EVENTS_BETWEEN_MEMORY_CHECKS;
use super::link_events::Step;
use super::routes::Exit;
use super::schedule::Schedule;
use super::stores::Stores;
use crate::flow::Endpoints;
use crate::link::LinkOutcome;
use crate::packet::in_network::{Event, Stage};
use crate::tcp::sender::Sender;
use crate::tcp::steady::{SteadyConnection, SteadyStep};
use crate::units::Time;

/// The steady states, by flow.
#[derive(Debug)]
pub(super) struct SteadyFlows {
    states: Vec<SteadyFlow>,
    /// Whether flows may enter their steady state at all.
    is_on: bool,
}

/// The place of a flow.
#[derive(Debug, Default)]
#[repr(C, align(64))]
struct SteadyFlow {
    connection: Option<SteadyConnection>,
    /// The flow's pending wake-up.
    wake_at: Time,
}

/// Memory of the place of a flow, in bytes.
pub(super) const PLACE_BYTES: u64 = size_of::<SteadyFlow>() as u64;

impl SteadyFlows {
    /// Places for `flows` flows, none of which is steady.
    pub(super) fn new(flows: usize) -> Self {
        let mut states = Vec::new();
        states.resize_with(flows, SteadyFlow::default);
        SteadyFlows { states, is_on: true }
    }

    /// Makes a place for the flow of this number, if there is none.
    pub(super) fn add(&mut self, number: u32) {
        if number as usize == self.states.len() {
            self.states.push(SteadyFlow::default());
        }
    }

    /// Gives the ends of a flow their state back.
    #[inline]
    pub(super) fn settle(&mut self, number: u32, flow: &mut Flow) {
        if let Some(steady) = self.states[number as usize].connection.take()
            && let Endpoints::Tcp(connection) = &mut flow.endpoints
        {
            flow.account.received += connection.resume(&steady);
        }
    }

    /// Takes the state of a flow over, after a step at `now`, if the flow is steady then.
    #[inline]
    pub(super) fn note(&mut self, number: u32, flow: &Flow, now: Time) {
        if self.is_on
            && let Endpoints::Tcp(connection) = &flow.endpoints
            && let Some(steady) = connection.steady_state(now)
        {
            let place = &mut self.states[number as usize];
            place.connection = Some(steady);
            place.wake_at = flow.wake_at;
        }
    }
}

impl SteadyFlows {
    /// Delivers a packet that was sent at `sent` and leaves the last shared link at `at`; returns
    /// whether its flow was steady and has handled it.
    #[expect(clippy::inline_always, reason = "two callers, of which one handles nearly all packets")]
    #[inline(always)]
    pub(super) fn deliver(
        &mut self,
        (at, event, sent): (Time, Event, Time),
        flows: &mut [Flow],
        schedule: &mut Schedule,
        stores: &mut Stores,
    ) -> bool {
        let number = event.flow();
        let place = &mut self.states[number as usize];
        let Some(connection) = &mut place.connection else { return false };
        let mut injector = PacketInjector { schedule, stores, flow: number };
        let step = connection.deliver(at, event, sent, &mut injector, || sender_of(flows, number));
        match step {
            SteadyStep::Done(wake) => {
                if wake < place.wake_at {
                    place.wake_at = wake;
                    flows[number as usize].set_wake(wake, number, schedule);
                }
                true
            }
            SteadyStep::More(now) => {
                self.send_more(now, number, &mut flows[number as usize], schedule, stores);
                true
            }
            SteadyStep::NotSteady => false,
        }
    }

    /// Lets a flow send at the end of its data.
    #[inline(never)]
    fn send_more(
        &mut self,
        now: Time,
        number: u32,
        flow: &mut Flow,
        schedule: &mut Schedule,
        stores: &mut Stores,
    ) {
        self.settle(number, flow);
        let (endpoints, mut injector) = flow.endpoints_and_injector(number, schedule, stores);
        if let Endpoints::Tcp(connection) = endpoints {
            connection.send_more(now, &mut injector);
        }
        flow.arm(number, schedule);
        self.note(number, flow, now);
    }
}

/// The sender of a steady flow, whose law is asked for the window.
#[inline(never)]
fn sender_of(flows: &mut [Flow], number: u32) -> &mut Sender {
    match &mut flows[number as usize].endpoints {
        Endpoints::Tcp(connection) => &mut connection.sender,
        Endpoints::Unresponsive(_) => unreachable!("only connections are steady"),
    }
}

impl Simulation {
    /// Lets every packet take the general path.
    #[doc(hidden)]
    #[must_use]
    pub fn without_steady_states(mut self) -> Self {
        self.steady.is_on = false;
        self
    }

    /// The state of all flows, links and events, as a text that does not depend on the path that
    /// packets have taken.
    #[doc(hidden)]
    pub fn state_text(&mut self) -> String {
        self.settle_flows();
        let mut pending: Vec<Event> = self.schedule.pending().collect();
        pending.sort_by_key(|event| (event.time(), format!("{event:?}")));
        let Simulation { flows, links, stores, groups, events, .. } = self;
        let text = format!("{flows:#?}\n{links:#?}\n{stores:#?}\n{groups:#?}\n{pending:#?}\n{events}");
        let now = self.schedule.now();
        for (number, flow) in self.flows.iter().enumerate() {
            self.steady.note(number as u32, flow, now);
        }
        text
    }

    /// Takes the events before `until` as long as each is the arrival of a packet at a link whose
    /// departures are known at once ([`Link::pass`](crate::link::Link::pass)).
    ///
    /// This is the loop of [`Simulation::run_until`] without what such events never need.
    #[inline(never)]
    pub(super) fn run_plain_events(&mut self, until: Time) {
        let until = until.min(self.link_checkpoints.next);
        if !self.steady.is_on {
            return;
        }
        // The event with the next memory check belongs to the general loop.
        let most =
            EVENTS_BETWEEN_MEMORY_CHECKS - 1 - self.events % EVENTS_BETWEEN_MEMORY_CHECKS;
        let mut taken = 0;
        while taken < most
            && let Some(mut event) = self.schedule.peek_in_bucket(until)
        {
            let Stage::Arrival(position) = event.stage() else { break };
            let hop = self.routes.hop(event.flow(), position);
            let link = &mut self.links[hop.link as usize];
            if !hop.is_plain || !link.is_open() {
                break;
            }
            taken += 1;
            self.schedule.skip();
            let outcome = link.pass(&mut event, hop.class);
            if let LinkOutcome::Delivered(at) = outcome
                && hop.exit == Exit::Receiver
                && !event.is_kept()
            {
                let Simulation { steady, flows, schedule, stores, .. } = self;
                if steady.deliver((at, event, event.sent()), flows, schedule, stores) {
                    continue;
                }
            }
            self.follow_apart(Step { packet: event, outcome, exit: hop.exit, clocks_source: false });
        }
        self.events += taken;
    }

    #[inline(never)]
    fn follow_apart(&mut self, step: Step) {
        self.follow(step);
    }
}
