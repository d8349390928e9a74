//! The flows on their fast path.
//!
//! The state of a flow is either here or in its [`Flow`], never in both: what looks at the ends of a
//! flow calls [`FastPaths::leave`] first, and a step of the general path ends with
//! [`FastPaths::enter`]. No result depends on the path that a packet takes.

use super::flow::{Flow, PacketInjector};
use super::pending::Pending;
use crate::flow::Endpoints;
use crate::packet::transit::Transit;
use crate::prefetch::{MANY_FLOWS, prefetch, prefetch_start};
use crate::tcp::fast_path::{FastConnection, FastStep};
use crate::tcp::sender::Sender;
use crate::units::Time;

/// The fast paths, by flow.
#[derive(Clone, Debug)]
pub(super) struct FastPaths {
    flows: Vec<FastFlow>,
    /// Whether flows may take it at all.
    is_on: bool,
}

/// The place of a flow.
#[derive(Clone, Debug, Default)]
#[repr(C, align(64))]
struct FastFlow {
    connection: Option<FastConnection>,
    /// The flow's pending wake-up.
    wake_at: Time,
}

// Five cache lines: with 100,000 flows, each further one costs a few ns per packet.
const _: () = assert!(size_of::<FastFlow>() <= 320);

impl FastPaths {
    /// Places for `flows` flows, none of which is on its fast path.
    pub(super) fn new(flows: usize) -> Self {
        let flows = (0..flows).map(|_| FastFlow::default()).collect();
        FastPaths { flows, is_on: true }
    }

    /// Lets all packets take the general path.
    pub(super) fn turn_off(&mut self) {
        self.is_on = false;
    }

    /// Whether flows may take their fast path.
    #[inline]
    pub(super) fn is_on(&self) -> bool {
        self.is_on
    }

    /// Whether the flows take more memory than the second-level cache of a core has.
    #[inline]
    pub(super) fn outgrow_caches(&self) -> bool {
        self.flows.len() >= MANY_FLOWS
    }

    /// Prefetches flows: the beginning of the place of `early`, which tells where the state is, and the
    /// state of `late`, where it is.
    #[inline]
    pub(super) fn prefetch(&self, [early, late]: [Option<u32>; 2], flows: &[Flow]) {
        let place_of = |flow: u32| self.flows.get(flow as usize);
        if let Some(place) = early.and_then(place_of) {
            prefetch_start(place);
        }
        match (late.and_then(place_of), late.and_then(|flow| flows.get(flow as usize))) {
            (Some(place), _) if place.connection.is_some() => prefetch(place),
            (_, Some(flow)) => prefetch(flow),
            _ => {}
        }
    }

    /// Memory of the places, in bytes.
    pub(super) fn memory_bytes(&self) -> u64 {
        // Twice: the places are copied to others when there are to be more.
        (2 * self.flows.len() * size_of::<FastFlow>()) as u64
    }

    /// Makes a place for the flow of this number, if there is none.
    pub(super) fn add(&mut self, number: u32) {
        if number as usize == self.flows.len() {
            self.flows.push(FastFlow::default());
        }
    }

    /// Gives the ends of a flow their state back.
    #[inline]
    pub(super) fn leave(&mut self, number: u32, flow: &mut Flow) {
        if self.flows[number as usize].connection.is_some() {
            self.restore(number, flow);
        }
    }

    #[inline(never)]
    fn restore(&mut self, number: u32, flow: &mut Flow) {
        let place = &mut self.flows[number as usize].connection;
        if let Some(fast) = place
            && let Endpoints::Tcp(connection) = &mut flow.endpoints
        {
            flow.account.received += connection.leave_fast_path(fast);
            *place = None;
        }
    }

    /// Takes the state of a flow over, after a step at `now`, if its connection meets the conditions.
    #[inline]
    pub(super) fn enter(&mut self, number: u32, flow: &Flow, now: Time) {
        if self.is_on
            && let Endpoints::Tcp(connection) = &flow.endpoints
            && connection.sender.may_be_predicted()
            && let Some(fast) = connection.fast_path(now)
        {
            let place = &mut self.flows[number as usize];
            place.connection = Some(fast);
            place.wake_at = flow.wake_at;
        }
    }
}

impl FastPaths {
    /// Delivers a packet that was sent at `sent` and leaves the last shared link at `at`; returns
    /// whether it was the predicted packet of a flow on its fast path, which has handled it.
    #[expect(
        clippy::inline_always,
        reason = "two callers, of which one handles nearly all packets"
    )]
    #[inline(always)]
    pub(super) fn deliver(
        &mut self,
        (at, event, sent): (Time, Transit, Time),
        flows: &mut [Flow],
        pending: &mut Pending,
    ) -> bool {
        let place = &self.flows[event.flow() as usize];
        let Some(connection) = &place.connection else { return false };
        if connection.has_host() {
            self.deliver_to_host((at, event, sent), flows, pending)
        } else {
            self.deliver_to::<false>((at, event, sent), flows, pending)
        }
    }

    /// Delivers a packet to a sender that is asked at each ACK, apart from the loop over packets: other
    /// senders pay nothing for it there.
    #[inline(never)]
    fn deliver_to_host(
        &mut self,
        packet: (Time, Transit, Time),
        flows: &mut [Flow],
        pending: &mut Pending,
    ) -> bool {
        self.deliver_to::<true>(packet, flows, pending)
    }

    #[expect(clippy::inline_always, reason = "two callers, one for each kind of sender")]
    #[inline(always)]
    fn deliver_to<const HAS_HOST: bool>(
        &mut self,
        (at, event, sent): (Time, Transit, Time),
        flows: &mut [Flow],
        pending: &mut Pending,
    ) -> bool {
        let number = event.flow();
        let place = &mut self.flows[number as usize];
        let Some(connection) = &mut place.connection else { return false };
        let mut injector = PacketInjector { pending, flow: number };
        let step = connection
            .deliver::<HAS_HOST>(at, event, sent, &mut injector, || sender_of(flows, number));
        match step {
            FastStep::Done(wake) => {
                if wake < place.wake_at {
                    place.wake_at = wake;
                    flows[number as usize].set_wake(wake, number, &mut pending.agenda);
                }
                true
            }
            FastStep::More(now) => {
                self.send_more(now, number, &mut flows[number as usize], pending);
                true
            }
            FastStep::NotPredicted => false,
        }
    }

    /// Lets a flow send at the end of its data.
    #[inline(never)]
    fn send_more(&mut self, now: Time, number: u32, flow: &mut Flow, pending: &mut Pending) {
        self.leave(number, flow);
        let (endpoints, mut injector) = flow.endpoints_and_injector(number, pending);
        if let Endpoints::Tcp(connection) = endpoints {
            connection.send_more(now, &mut injector);
        }
        flow.arm(number, &mut pending.agenda);
        self.enter(number, flow, now);
    }
}

/// The sender of a flow on its fast path, whose law is asked for the window.
#[inline(never)]
fn sender_of(flows: &mut [Flow], number: u32) -> &mut Sender {
    match &mut flows[number as usize].endpoints {
        Endpoints::Tcp(connection) => &mut connection.sender,
        Endpoints::Unresponsive(_) => unreachable!("only connections have a fast path"),
    }
}
