//! Proportional rate reduction (RFC 9937): during recovery the sender sends in proportion to the
//! packets delivered, so that the window reaches ssthresh at the end of the round trip, instead of
//! by a silence at its start.

/// Counters of one recovery episode, in packets.
#[derive(Clone, Copy, Debug)]
pub struct Prr {
    recover_flight: u64,
    delivered: u64,
    out: u64,
}

/// An ACK during recovery, as PRR sees it.
#[derive(Clone, Copy, Debug)]
pub struct PrrEvent {
    /// Packets newly known to have arrived, by cumulative or selective ACK.
    pub delivered: u64,
    /// Packets in the network.
    pub pipe: u64,
    /// The target window, in packets.
    pub ssthresh: f64,
    /// Whether the cumulative ACK advanced and no further loss was found (RFC 9937 `SafeACK`).
    pub is_safe: bool,
}

impl Prr {
    /// A recovery that starts with `recover_flight` packets in flight (RFC 9937 `RecoverFS`).
    pub fn new(recover_flight: u64) -> Self {
        Prr { recover_flight: recover_flight.max(1), delivered: 0, out: 0 }
    }

    /// Returns how many packets may be sent after an ACK (RFC 9937 sec. 5, `sndcnt`).
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
        // The fast retransmit leaves in any case.
        if self.out == 0 { allowance.max(1) } else { allowance }
    }

    /// Counts a packet that was sent.
    pub fn on_sent(&mut self) {
        self.out += 1;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// RFC 9937 has no table; these are its formulas worked by hand for a flight of 20 packets, one
    /// lost, ssthresh 10: one packet leaves for every second one delivered.
    #[test]
    fn sends_every_second_packet_when_halving() {
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
    fn below_ssthresh_it_sends_what_was_delivered_and_one_more_if_safe() {
        let mut prr = Prr::new(20);
        prr.on_sent();
        let event = PrrEvent { delivered: 2, pipe: 4, ssthresh: 10.0, is_safe: false };
        assert_eq!(prr.allowance(&event), 2);
        let event = PrrEvent { is_safe: true, delivered: 1, ..event };
        assert_eq!(prr.allowance(&event), 3);
    }
}
