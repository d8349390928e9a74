//! What is measured at a link, and what it could have carried.

use super::Link;
use super::policer::Policer;
use super::probe::LinkCounts;
use super::queue::LinkQueue;
use crate::units::{Rate, Time};

impl Link {
    /// Packets and bytes that were accepted and have not left by `now`, including the packet in
    /// transmission. Where packets are served, only the one in transmission has been accepted.
    fn backlog(&mut self, now: Time) -> (u64, u64) {
        self.advance(now);
        let (mut packets, mut bytes) = match &self.queue {
            LinkQueue::Fifo { fifo, .. } => (fifo.len(), fifo.bytes()),
            LinkQueue::Served(_) => (0, 0),
        };
        if self.transmitter.busy_until > now {
            packets += 1;
            bytes += u64::from(self.transmitter.in_transmission_bytes);
        }
        (packets, bytes)
    }

    /// Bytes of the packets whose last bit has left by `now`, since the start of the run.
    pub fn departed_bytes(&mut self, now: Time) -> u64 {
        let (_, backlog_bytes) = self.backlog(now);
        self.probe.accepted_bytes() - backlog_bytes
    }

    /// Until when no packet leaves after `now` and the rate stays as it is, if nothing arrives.
    pub(crate) fn is_still_until(&mut self, now: Time) -> Time {
        self.advance(now);
        let waiting = match &self.queue {
            LinkQueue::Fifo { fifo, .. } => fifo.next_start(),
            LinkQueue::Served(queue) => queue.next_service(),
        };
        let busy_until = self.transmitter.busy_until;
        let is_sending = busy_until > now && waiting == Time::NEVER;
        let departure = if is_sending { busy_until } else { waiting };
        departure.min(self.transmitter.serializer.next_change(now))
    }

    /// The capacity that the link has left unused since the start of the run, in bit * ps / s. The
    /// rest of the capacity is what it has sent; of a packet in transmission, the bits that have
    /// left. A shaper, or a policer that is slower, has used the tokens that did not find the bucket
    /// full.
    fn idle_capacity(&mut self, now: Time) -> u128 {
        if let Some(policer) = self.slowest_policer() {
            return policer.unused(now);
        }
        let (bytes, busy_until) = self.probe.transmissions(self.transmitter.busy_until);
        self.transmitter.idle_capacity(bytes, busy_until, now)
    }

    /// Restarts the statistics at `now`.
    pub fn begin_measuring(&mut self, now: Time) {
        let (packets, bytes) = self.backlog(now);
        let idle = self.idle_capacity(now);
        self.count_marks();
        self.probe.begin(now, packets, bytes, idle);
        self.pause.iter_mut().for_each(|pause| pause.begin_measuring(now));
        self.lossy_ingress.iter_mut().for_each(|ingress| ingress.begin_measuring());
        if let LinkQueue::Served(queue) = &mut self.queue {
            queue.restart_gauges(now);
        }
    }

    /// Closes the statistics at `now`.
    pub fn end_measuring(&mut self, now: Time) {
        let (packets, bytes) = self.backlog(now);
        let idle = self.idle_capacity(now);
        self.count_marks();
        self.probe.end(now, self.queue.packets(), packets, bytes, idle);
        self.pause.iter_mut().for_each(|pause| pause.end_measuring(now));
        if let Some(observer) = &mut self.probe.observer {
            self.queue.held().for_each(|packet| observer.on_pass(packet));
        }
        self.tell_mean_rate(now);
    }

    /// Lets the discipline know the mean rate since its gauges were restarted, before they are read at `now`.
    fn tell_mean_rate(&mut self, now: Time) {
        let Link { queue: LinkQueue::Served(queue), transmitter, probe, .. } = self else { return };
        let from = probe.measured_from();
        if transmitter.varying_rate(now).is_some() && from < now {
            let mean = transmitter.mean_rate(from, now);
            queue.set_rate(Rate::from_bits_per_second(libm::round(mean) as u64));
        }
    }

    /// Records a sample of the time series at `now`.
    pub fn sample(&mut self, now: Time) {
        self.advance(now);
        let idle = self.idle_capacity(now);
        self.count_marks();
        self.tell_mean_rate(now);
        let gauges = self.gauges(now);
        self.probe.sample(now, self.queue.packets(), idle, gauges);
    }

    /// What has happened at the link by `now`, and what waits.
    pub fn look(&mut self, now: Time) -> LinkCounts {
        self.advance(now);
        let idle_capacity = self.idle_capacity(now);
        self.count_marks();
        let (queue_packets, queue_bytes) = match &self.queue {
            LinkQueue::Fifo { fifo, .. } => (fifo.len(), fifo.bytes()),
            LinkQueue::Served(queue) => (queue.buffer.packets(), queue.buffer.bytes()),
        };
        let known = if self.served().is_some() { 0 } else { queue_packets };
        let sent_bytes = self.departed_bytes(now);
        let probe = self.probe.look(known);
        LinkCounts { sent_bytes, idle_capacity, queue_packets, queue_bytes, ..probe }
    }

    /// Packets that left in the measured window and that others overtook on the way to the far end;
    /// `None` on a link that keeps packets in order.
    pub fn reordered_packets(&self) -> Option<u64> {
        self.transmitter.reordered_packets()
    }

    /// Counts the packets that were marked in the buffer since the last call.
    fn count_marks(&mut self) {
        if let LinkQueue::Served(queue) = &mut self.queue {
            self.probe.count_marks(queue.buffer.take_marks());
        }
    }

    /// The policer, if it lets through less than the rest of the link could send.
    fn slowest_policer(&self) -> Option<&Policer> {
        self.policer.as_deref().filter(|_| self.is_policed)
    }

    /// Whether what the link can carry in a given time changes, or has been changed.
    pub fn varies(&self) -> bool {
        self.slowest_policer().is_none() && self.transmitter.varying_rate(Time::ZERO).is_some()
    }

    /// The rate at which a flow alone, sent back to back from `start` on, would cross a link whose rate varies;
    /// `None` if that stays as it is in the scenario, and if the flow never would.
    pub fn rate_of_transfer(&self, start: Time, bytes: u128) -> Option<Rate> {
        self.transmitter.varying_rate(start)?;
        let end = self.transmitter.serializer.end_of(start, 8 * bytes);
        let bits_per_second = 8.0 * bytes as f64 / end.since(start).seconds();
        let rate = || Rate::from_bits_per_second(libm::round(bits_per_second) as u64);
        (end < Time::AFTER_ALL_RUNS).then(rate)
    }

    /// Bits that the link could carry in `[from, to)`; behind a shaper with overhead, in packets of
    /// the largest size.
    pub fn capacity_bits(&self, from: Time, to: Time) -> f64 {
        match self.slowest_policer() {
            None => self.transmitter.capacity_bits(from, to),
            Some(policer) => policer.capacity_bits(from, to),
        }
    }

    /// The mean rate at which the link could send in `[from, to)`, a span above zero, in bit/s: exactly its rate
    /// where that stays.
    pub fn mean_rate(&self, from: Time, to: Time) -> f64 {
        match self.slowest_policer() {
            None => self.transmitter.mean_rate(from, to),
            Some(policer) => policer.capacity_bits(from, to) / to.since(from).seconds(),
        }
    }

    /// The fraction of the capacity in `[from, to)` that the link used, given the unused capacity
    /// `idle` in bit * ps / s; 0 if the capacity is 0.
    pub fn used_fraction(&self, from: Time, to: Time, idle: u128) -> f64 {
        let capacity = match self.slowest_policer() {
            None => self.transmitter.capacity(from, to),
            Some(policer) => policer.capacity(from, to),
        };
        if capacity == 0 { 0.0 } else { (capacity - idle) as f64 / capacity as f64 }
    }
}
