//! A link serves a packet when it is due, or a pool drops the head of a queue.

use super::Switch;
use super::routes::Hop;
use crate::link::LinkOutcome;
use crate::packet::transit::{Stage, Transit};
use crate::queue::buffer::DropReason;
use crate::units::Time;

impl Switch {
    /// When a link serves its next packet, or a pool drops the head of a queue.
    #[inline]
    pub(crate) fn next_service(&self) -> Time {
        self.timers.earliest()
    }

    /// The link whose service is next; `None` if it is the turn of a pool.
    pub(crate) fn next_link(&self) -> Option<usize> {
        Some(self.timers.first()).filter(|&link| link < self.links.len())
    }

    /// Lets a link serve what is due at [`Switch::next_service`]. `None` if no packet leaves: the discipline has
    /// dropped all that waited, a pause begins or ends, or a pool has dropped a packet.
    #[expect(clippy::inline_always, reason = "one caller: what it returns stays in registers")]
    #[inline(always)]
    pub(crate) fn serve(&mut self) -> Option<(Transit, LinkOutcome, Hop)> {
        let (now, link) = (self.timers.earliest(), self.timers.first());
        let link = if self.any_link.may_choose { self.choose(link)? } else { link };
        // A link that pauses may stop or resume instead. There is one call of `Link::serve`, for it to be
        // compiled into this function.
        let was_stopped = self.any_link.pauses && self.count_before_service(link, now);
        let Switch { links, routes, .. } = self;
        let served = links[link].serve(|packet| routes.class_of(packet));
        if self.any_link.pauses {
            self.note_gate(link, was_stopped, now);
        }
        self.note_queue(link, now);
        let (packet, outcome) = served?;
        let Stage::Arrival(position) = packet.stage() else { return None };
        let hop = self.routes.hop(packet.flow(), position);
        self.pools.send((link, hop.group), packet.bytes(), now, self.links[link].busy_until());
        if self.any_link.shares_line {
            self.take_line(link, packet.bytes(), now);
        }
        if self.any_link.counts_in_switch {
            self.note_wait(link, packet, now, false);
            self.leave(packet, now);
        }
        Some((packet, outcome, hop))
    }

    /// The link that sends when the line of `link` is free, which `link` is the first to want. `None` if
    /// it is the turn of a pool, whose timers come behind those of links.
    #[inline(never)]
    fn choose(&mut self, link: usize) -> Option<usize> {
        if let Some(pool) = link.checked_sub(self.links.len()) {
            self.expel(pool, self.timers.earliest());
            return None;
        }
        Some(self.lines.choose(link, &self.links))
    }

    /// Lets the other links of its line wait for a link that sends a packet.
    #[inline(never)]
    fn take_line(&mut self, link: usize, bytes: u32, now: Time) {
        let Switch { lines, links, timers, blocking, .. } = self;
        let free_at = links[link].busy_until();
        for other in lines.send(link, bytes) {
            blocking.count(other, links, now);
            links[other].wait_for_line(free_at);
            timers.set(other, links[other].next_service());
        }
    }

    /// Notes when the pool of a link where a packet has taken memory drops a head.
    #[cold]
    pub(super) fn await_expulsion(&mut self, link: usize, now: Time) {
        if let Some((pool, at)) = self.pools.await_expulsion(link, now) {
            self.timers.set(self.links.len() + pool, at);
        }
    }

    /// A pool drops the head of a queue above its threshold, if it still can.
    fn expel(&mut self, pool: usize, now: Time) {
        let Switch { links, pools, timers, .. } = self;
        let timer = links.len() + pool;
        match pools.expel(pool, now, |link| links[link].can_push_out()) {
            Err(at) => timers.set(timer, at),
            Ok(link) => {
                let bytes = links[link].push_out(now, DropReason::Head).unwrap_or(0);
                pools.read(pool, now, bytes);
                self.note_queue(link, now);
            }
        }
    }

    /// Takes note of the packets that a link has dropped where packets are served, and of its next
    /// service. Returns whether it has dropped any.
    #[inline]
    pub(crate) fn note_queue(&mut self, link: usize, now: Time) -> bool {
        let Some(queue) = self.links[link].served() else { return false };
        let has_dropped = queue.has_dropped();
        self.timers.set(link, self.links[link].next_service());
        if has_dropped {
            self.note_dropped(link, now);
        }
        has_dropped
    }

    #[inline(never)]
    fn note_dropped(&mut self, link: usize, now: Time) {
        self.let_dropped_leave(link, now);
        let Switch { links, pools, routes, dropped: all, .. } = self;
        links[link].drain_dropped(now, |dropped| {
            let packet = dropped.packet;
            pools.drop((link, routes.group_of(packet.flow()) as u32), now, packet.bytes());
            all.push(packet);
            routes.class_of(packet)
        });
    }
}
