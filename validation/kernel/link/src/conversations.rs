//! What the link sees of requests: when each connects, sends its first data, and has all acknowledged;
//! and of writes to a connection that lasts: when the last byte of each is acknowledged.

use std::collections::HashMap;

use tailroom_engine::units::Time;

use crate::ip::Segment;
use crate::plan::FlowPlan;

/// A request on the wire.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Conversation {
    /// When its first SYN came to the link.
    pub connected: Time,
    /// When its first packet with payload came to the link.
    pub sent: Option<Time>,
    /// When the sender got the ACK that raised what is acknowledged for the last time. That is the ACK
    /// of the last byte if the request is complete: no end of the stream follows the data.
    pub acknowledged: Option<Time>,
    first_sequence: u32,
    acknowledged_to: u32,
}

/// The requests of a group, by the port of their sender; or the only connection of a flow.
///
/// The kernel uses a port again after some time; a SYN with another number begins another request.
#[derive(Clone, Debug, Default)]
pub struct Conversations {
    by_port: HashMap<u16, Vec<Conversation>>,
    /// The payload up to the end of each write of a flow that lasts.
    write_ends: Vec<u64>,
    /// The payload that is acknowledged of all conversations.
    acknowledged_bytes: u64,
    /// When the last byte of each write was acknowledged at the sender, as far as it was.
    writes_acknowledged: Vec<Time>,
}

impl Conversations {
    /// What the link will see of a flow.
    pub fn new(flow: &FlowPlan) -> Self {
        let ends = flow.writes.iter().flatten().scan(0, |end, write| {
            *end += write.bytes;
            Some(*end)
        });
        Conversations { write_ends: ends.collect(), ..Conversations::default() }
    }

    /// When the last byte of each write was acknowledged, as far as it was.
    pub fn writes_acknowledged(&self) -> &[Time] {
        &self.writes_acknowledged
    }

    /// A segment of the sender with this port comes to the link.
    pub fn on_sent(&mut self, at: Time, port: u16, segment: Segment) {
        let conversations = self.by_port.entry(port).or_default();
        let Segment { sequence, is_syn, payload_bytes, .. } = segment;
        if is_syn && conversations.last().is_none_or(|last| last.first_sequence != sequence) {
            conversations.push(Conversation {
                connected: at,
                sent: None,
                acknowledged: None,
                first_sequence: sequence,
                acknowledged_to: sequence.wrapping_add(1), // a SYN takes a number
            });
        }
        if let Some(last) = conversations.last_mut().filter(|_| payload_bytes > 0) {
            last.sent.get_or_insert(at);
        }
    }

    /// A segment is delivered to the sender with this port.
    pub fn on_delivered(&mut self, at: Time, port: u16, segment: Segment) {
        let last = self.by_port.get_mut(&port).and_then(|conversations| conversations.last_mut());
        if let Some(last) = last {
            let further = segment.acknowledgment.wrapping_sub(last.acknowledged_to).cast_signed();
            if further > 0 {
                last.acknowledged_to = segment.acknowledgment;
                last.acknowledged = Some(at);
                self.acknowledged_bytes += u64::from(further.unsigned_abs());
                self.note_writes(at);
            }
        }
    }

    fn note_writes(&mut self, at: Time) {
        let is_acknowledged = |end: &&u64| **end <= self.acknowledged_bytes;
        let known = self.writes_acknowledged.len();
        let new = self.write_ends[known..].iter().take_while(is_acknowledged).count();
        self.writes_acknowledged.resize(known + new, at);
    }

    /// The requests of the senders with these ports, in the order of their connection.
    pub fn of(&self, ports: &[u16]) -> Vec<Option<Conversation>> {
        let mut taken: HashMap<u16, usize> = HashMap::new();
        let mut next = |port: &u16| {
            let at = taken.entry(*port).or_default();
            *at += 1;
            self.by_port.get(port)?.get(*at - 1).copied()
        };
        ports.iter().map(&mut next).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn segment(sequence: u32, acknowledgment: u32, payload_bytes: u32) -> Segment {
        Segment { sequence, acknowledgment, is_syn: false, payload_bytes }
    }

    fn syn(sequence: u32) -> Segment {
        Segment { is_syn: true, ..segment(sequence, 0, 0) }
    }

    #[test]
    fn times_are_those_of_the_first_syn_the_first_data_and_the_last_new_ack() {
        let ms = Time::from_milliseconds;
        let mut all = Conversations::default();
        let first = u32::MAX - 1_000; // numbers wrap within the request
        all.on_sent(ms(1), 40_000, syn(first));
        all.on_sent(ms(1_001), 40_000, syn(first)); // sent again
        all.on_delivered(ms(1_021), 40_000, segment(77, first.wrapping_add(1), 0));
        all.on_sent(ms(1_021), 40_000, segment(first.wrapping_add(1), 78, 0));
        for (at, sent) in [(1_022, 1), (1_022, 1_449), (1_060, 1)] {
            all.on_sent(ms(at), 40_000, segment(first.wrapping_add(sent), 78, 1_448));
        }
        for (at, received) in [(1_042, 1_449), (1_070, 2_897), (1_080, 2_897), (1_090, 1)] {
            all.on_delivered(ms(at), 40_000, segment(78, first.wrapping_add(received), 0));
        }
        all.on_sent(ms(2_000), 40_000, syn(5)); // the port is used again
        all.on_delivered(ms(2_010), 50_000, segment(1, 1, 0)); // nobody's
        let found = all.of(&[40_000, 41_000, 40_000]);
        let seen = |conversation: &Option<Conversation>| {
            conversation.map(|one| (one.connected, one.sent, one.acknowledged))
        };
        assert_eq!(seen(&found[0]), Some((ms(1), Some(ms(1_022)), Some(ms(1_070)))));
        assert_eq!(found[1], None);
        assert_eq!(seen(&found[2]), Some((ms(2_000), None, None)));
    }

    /// Writes of 2,000, 1,000 and 5,000 bytes, of which the last is acknowledged but for a byte.
    #[test]
    fn a_write_ends_when_its_last_byte_is_acknowledged() {
        let ms = Time::from_milliseconds;
        let write_ends = vec![2_000, 3_000, 8_000];
        let mut all = Conversations { write_ends, ..Conversations::default() };
        let first = u32::MAX - 1_000;
        all.on_sent(ms(1), 40_000, syn(first));
        // The ACK of the SYN acknowledges no payload.
        for (at, bytes) in [(2, 0), (30, 1_999), (31, 2_000), (32, 2_000), (40, 2_500), (50, 7_999)]
        {
            all.on_delivered(ms(at), 40_000, segment(77, first.wrapping_add(1 + bytes), 0));
        }
        assert_eq!(all.writes_acknowledged(), [ms(31), ms(50)]);
    }
}
