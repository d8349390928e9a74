//! Proportional rate reduction (RFC 9937): during recovery, send in proportion to the delivered
//! packets, so that the window reaches ssthresh gradually over the round trip instead of by a
//! pause at its start.

/// Counters of one recovery episode, in packets.
#[derive(Clone, Copy, Debug)]
pub struct Prr {
    recover_flight: u64,
    delivered: u64,
    out: u64,
}

/// The input of PRR for one ACK during recovery.
#[derive(Clone, Copy, Debug)]
pub struct PrrEvent {
    /// Packets newly acknowledged, cumulatively or selectively.
    pub delivered: u64,
    /// Packets in the network (RFC 6675 `pipe`).
    pub pipe: u64,
    /// The target window, in packets.
    pub ssthresh: f64,
    /// Whether the cumulative ACK advanced and no further loss was found (RFC 9937 `SafeACK`).
    pub is_safe: bool,
}

impl Prr {
    /// Starts a recovery with `recover_flight` packets in flight (RFC 9937 `RecoverFS`).
    pub fn new(recover_flight: u64) -> Self {
        Prr { recover_flight: recover_flight.max(1), delivered: 0, out: 0 }
    }

    /// Returns the number of packets that may be sent in response to an ACK (RFC 9937 sec. 5,
    /// `sndcnt`).
    pub fn allowance(&mut self, event: &PrrEvent) -> u64 {
        self.delivered += event.delivered;
        let ssthresh = event.ssthresh as u64;
        let allowance = if event.pipe > ssthresh {
            (self.delivered * ssthresh).div_ceil(self.recover_flight).saturating_sub(self.out)
        } else {
            let limit = self.delivered.saturating_sub(self.out).max(event.delivered)
                + u64::from(event.is_safe);
            limit.min(ssthresh - event.pipe)
        };
        // The fast retransmit is always allowed.
        if self.out == 0 { allowance.max(1) } else { allowance }
    }

    /// Counts a packet that is sent.
    pub fn on_sent(&mut self) {
        self.out += 1;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The formulas of RFC 9937, which has no table of examples, computed by hand for 20 packets
    /// in flight, one of them lost, and ssthresh 10: one packet is sent per two delivered packets.
    #[test]
    fn sends_one_packet_per_two_delivered_when_halving() {
        let mut prr = Prr::new(20);
        let mut sent = Vec::new();
        let mut pipe = 19;
        for _ in 0..18 {
            let event = PrrEvent { delivered: 1, pipe, ssthresh: 10.0, is_safe: false };
            let allowance = prr.allowance(&event);
            (0..allowance).for_each(|_| prr.on_sent());
            sent.push(allowance);
            pipe = pipe - 1 + allowance;
        }
        assert_eq!(sent.iter().sum::<u64>(), 9);
        assert_eq!(pipe, 10);
        assert!(sent.iter().all(|&allowance| allowance <= 1));
    }

    #[test]
    fn below_ssthresh_sends_the_delivered_packets_and_one_more_if_safe() {
        let mut prr = Prr::new(20);
        prr.on_sent();
        let event = PrrEvent { delivered: 2, pipe: 4, ssthresh: 10.0, is_safe: false };
        assert_eq!(prr.allowance(&event), 2);
        let event = PrrEvent { is_safe: true, delivered: 1, ..event };
        assert_eq!(prr.allowance(&event), 3);
    }
}
