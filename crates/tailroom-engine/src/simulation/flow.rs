//! A flow in a run: its two ends, its place among the events, and its account of packets.

use super::agenda::Agenda;
use super::pending::Pending;
use crate::fabric::Route;
use crate::flow::Endpoints;
use crate::network::{GroupSpec, Network};
use crate::observe::Act;
use crate::packet::transit::Transit;
use crate::packet::{Ack, AckSizes, Packet};
use crate::private_path::NetworkSink;
use crate::probe::flow::FlowAccount;
use crate::units::Time;

/// A flow, permanent or dynamic.
#[derive(Clone, Debug)]
pub(super) struct Flow {
    pub(super) endpoints: Endpoints,
    pub(super) forward_hops: u8,
    ack_sizes: AckSizes,
    /// Time of the pending wake-up; [`Time::NEVER`] if there is none.
    pub(super) wake_at: Time,
    /// Whether the last byte is known to be unacknowledged; false for an unresponsive flow, whose
    /// end is known beforehand.
    pub(super) is_in_progress: bool,
    pub(super) account: FlowAccount,
}

/// Puts the packets and ACKs that a flow sends into the agenda.
pub(super) struct Injector<'a> {
    pending: &'a mut Pending,
    flow: u32,
    forward_hops: u8,
    ack_sizes: AckSizes,
    acks_on_the_way: &'a mut u64,
}

impl NetworkSink for Injector<'_> {
    #[expect(clippy::inline_always, reason = "one caller a packet: the event stays in registers")]
    #[inline(always)]
    fn packet(&mut self, time: Time, packet: &Packet) {
        self.pending.inject(self.flow, time, packet);
    }

    fn ack(&mut self, sent: Time, time: Time, ack: Ack<'_>) {
        let slot = self.pending.acks.put(ack, &mut self.pending.agenda);
        if let Some(clocks) = &mut self.pending.timestamps {
            clocks.on_ack_sent(self.flow, sent, ack.cumulative, slot);
            if let Some(ends) = &mut self.pending.ends {
                ends.on_ack(sent, Act::Sent, self.flow, &ack, clocks.of_ack(slot));
            }
        }
        *self.acks_on_the_way += 1;
        let bytes = self.ack_sizes.of(&ack);
        let event = Transit::ack_arrival(time, self.flow, self.forward_hops, bytes, slot);
        self.pending.agenda.push(event);
    }

    #[inline]
    fn private_ack(&mut self, sent: Time, time: Time, ack: &Ack<'_>) {
        if self.pending.timestamps.is_some() {
            self.record_private_ack(sent, time, ack);
        }
    }
}

impl Injector<'_> {
    /// Whether there is no memory for what the flow sends.
    pub(super) fn is_overfull(&self) -> bool {
        self.pending.agenda.is_overfull()
    }

    #[cold]
    fn record_private_ack(&mut self, sent: Time, time: Time, ack: &Ack<'_>) {
        let Pending { timestamps, ends, .. } = &mut *self.pending;
        let Some(clocks) = timestamps else { return };
        clocks.on_ack(self.flow, time, sent);
        if let Some(ends) = ends {
            let timestamps = clocks.of_private_ack(self.flow, sent, ack.cumulative);
            ends.on_ack(sent, Act::Sent, self.flow, ack, timestamps);
            ends.on_ack(time, Act::Received, self.flow, ack, timestamps);
        }
    }
}

/// Puts the packets of a flow whose ACKs return by a private path into the agenda.
pub(super) struct PacketInjector<'a> {
    pub(super) pending: &'a mut Pending,
    pub(super) flow: u32,
}

impl NetworkSink for PacketInjector<'_> {
    #[expect(clippy::inline_always, reason = "one caller a packet: the event stays in registers")]
    #[inline(always)]
    fn packet(&mut self, time: Time, packet: &Packet) {
        self.pending.inject(self.flow, time, packet);
    }

    fn ack(&mut self, _sent: Time, _time: Time, _ack: Ack<'_>) {
        unreachable!("no ACK of the flow crosses a shared link");
    }
}

impl Flow {
    /// A flow of `group` with these ends and this route in `network`, before its first packet.
    pub(super) fn new(
        network: &Network,
        endpoints: Endpoints,
        group: &GroupSpec,
        route: Option<Route>,
    ) -> Self {
        let is_in_progress = matches!(endpoints, Endpoints::Tcp(_));
        debug_assert_eq!(is_in_progress, group.tcp.is_some(), "a transport controls");
        Flow {
            endpoints,
            forward_hops: network.hops(&group.path_of(route)) as u8,
            ack_sizes: group.ack_sizes().unwrap_or_default(),
            wake_at: Time::NEVER,
            is_in_progress,
            account: FlowAccount::default(),
        }
    }

    /// The ends of the flow, and the injector that takes the packets that they send.
    #[inline]
    pub(super) fn endpoints_and_injector<'a>(
        &'a mut self,
        flow: u32,
        pending: &'a mut Pending,
    ) -> (&'a mut Endpoints, Injector<'a>) {
        let Flow { endpoints, forward_hops, ack_sizes, account, .. } = self;
        let injector = Injector {
            pending,
            flow,
            forward_hops: *forward_hops,
            ack_sizes: *ack_sizes,
            acks_on_the_way: &mut account.acks_on_the_way,
        };
        (endpoints, injector)
    }

    /// Schedules a wake-up if the flow's next timer needs one. A pending wake-up that comes too
    /// early does no harm: it schedules the next one. Returns whether nothing is in flight, as
    /// after the last byte.
    #[inline]
    pub(super) fn arm(&mut self, flow: u32, agenda: &mut Agenda) -> bool {
        let (wake, is_quiet) = match &self.endpoints {
            Endpoints::Tcp(connection) => (connection.next_wake(), connection.sender.is_quiet()),
            Endpoints::Unresponsive(source) => (source.asks_at, source.has_stopped),
        };
        if wake < self.wake_at {
            self.set_wake(wake, flow, agenda);
        }
        is_quiet
    }

    /// Memory of the flow, in bytes.
    pub(super) fn memory_bytes(&self) -> u64 {
        size_of::<Flow>() as u64 + self.endpoints.memory_bytes()
    }

    /// Whether all `sent` packets have been received or lost, and no ACK is at a link.
    pub(super) fn is_accounted_for(&self, sent: u64) -> bool {
        let account = &self.account;
        sent == account.received + account.lost && account.acks_on_the_way == 0
    }

    #[cold]
    pub(super) fn set_wake(&mut self, wake: Time, flow: u32, agenda: &mut Agenda) {
        self.wake_at = wake;
        agenda.push(Transit::wake(wake, flow));
    }
}
