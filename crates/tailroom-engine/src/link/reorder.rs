//! Packets out of order: a link holds some packets back after their transmission, and those behind
//! overtake them.
//!
//! Netem's `reorder` names the share of packets that overtake the delayed others; here a share is delayed,
//! so that the rest keep the link's delay. Which packets are held back is drawn as losses are.

use std::collections::VecDeque;

use super::wire_loss::{LossProcess, LossSpec};
use crate::derives::{Deserialize, JsonSchema, Ranges, Serialize};
use crate::probe::window::Window;
use crate::quantity::PositiveDuration;
use crate::units::Time;

/// Packets that a link holds back.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema, Ranges)]
#[serde(tag = "kind", rename_all = "snake_case", deny_unknown_fields)]
#[schemars(rename = "ReorderConfig")]
#[non_exhaustive]
pub enum ReorderSpec {
    /// Each packet is held back with the same probability, independently of the others.
    Bernoulli {
        /// Probability that a packet is held back.
        #[schemars(extend("exclusiveMinimum" = 0.0, "exclusiveMaximum" = 1.0), example = 0.01)]
        probability: f64,
        /// How much later than without `reorder` the packet arrives.
        #[schemars(example = "5 ms")]
        extra_delay: PositiveDuration,
    },
    /// Every n-th packet is held back.
    Periodic {
        /// n: the number of packets from one that is held back to the next.
        #[schemars(range(min = 2, max = 1_000_000_000_000_u64), example = 100)]
        every: u64,
        /// How much later than without `reorder` the packet arrives.
        #[schemars(example = "5 ms")]
        extra_delay: PositiveDuration,
    },
}

impl ReorderSpec {
    /// How much later than without it a packet arrives that is held back.
    pub fn extra_delay(self) -> Time {
        match self {
            ReorderSpec::Bernoulli { extra_delay, .. }
            | ReorderSpec::Periodic { extra_delay, .. } => extra_delay.time(),
        }
    }

    fn choice(self) -> LossSpec {
        match self {
            ReorderSpec::Bernoulli { probability, .. } => LossSpec::Bernoulli { probability },
            ReorderSpec::Periodic { every, .. } => LossSpec::Periodic { every },
        }
    }
}

/// Holds packets back, and counts those that are overtaken.
#[derive(Clone, Debug)]
pub(super) struct ReorderProcess {
    choice: LossProcess,
    extra_delay: Time,
    /// Packets held back that no other has overtaken yet: when they arrive, in order of time, and
    /// whether they left in the measured window.
    held: VecDeque<(Time, bool)>,
    window: Window,
    overtaken: u64,
}

impl ReorderProcess {
    /// The process of the link `name`, which counts the packets that leave in `window`.
    pub(super) fn new(spec: ReorderSpec, seed: u64, name: &str, window: Window) -> Self {
        ReorderProcess {
            choice: LossProcess::of_stream(spec.choice(), seed, &format!("reordering of {name}")),
            extra_delay: spec.extra_delay(),
            held: VecDeque::new(),
            window,
            overtaken: 0,
        }
    }

    /// When a packet arrives that leaves at `departure` and would arrive at `in_order`, which never
    /// falls from packet to packet.
    pub(super) fn arrival(&mut self, departure: Time, in_order: Time) -> Time {
        // Those that arrive by then, nobody overtakes any more.
        while self.held.front().is_some_and(|(arrival, _)| *arrival <= in_order) {
            self.held.pop_front();
        }
        if self.choice.loses_next() {
            let arrival = in_order.saturating_add(self.extra_delay);
            self.held.push_back((arrival, departure > self.window.from));
            return arrival;
        }
        if departure <= self.window.to {
            self.overtaken +=
                self.held.iter().filter(|(_, is_measured)| *is_measured).count() as u64;
        }
        self.held.clear();
        in_order
    }

    /// Packets that left in the measured window and that a packet behind them overtook which left in
    /// it too: RFC 4737 sec. 3.3 (type-P-reordered), with all packets of the link as one stream.
    pub(super) fn overtaken(&self) -> u64 {
        self.overtaken
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MS: fn(u64) -> Time = Time::from_milliseconds;

    fn periodic(every: u64, extra_ms: u64, window: Window) -> ReorderProcess {
        let extra_delay = PositiveDuration::from_milliseconds(extra_ms);
        ReorderProcess::new(ReorderSpec::Periodic { every, extra_delay }, 1, "wire", window)
    }

    fn whole_run() -> Window {
        Window { from: Time::ZERO, to: MS(1_000_000) }
    }

    /// RFC 4737 sec. 3.3 over the packets in order of arrival: a packet is reordered if its number is
    /// below the next expected, which is one more than the largest so far.
    fn reordered(arrivals: &[Time]) -> u64 {
        let mut order: Vec<usize> = (0..arrivals.len()).collect();
        order.sort_by_key(|&number| arrivals[number]);
        let mut next_expected = 0;
        let mut count = 0;
        for number in order {
            count += u64::from(number < next_expected);
            next_expected = next_expected.max(number + 1);
        }
        count
    }

    /// Packets leave 1 ms apart. The third arrives 2.5 ms late, behind the fourth and the fifth: the
    /// order at the far end is 1 2 4 5 3 7 8 6, by hand.
    #[test]
    fn every_third_packet_arrives_behind_the_two_after_it() {
        let window = whole_run();
        let extra_delay = PositiveDuration::new(2_500_000_000);
        let spec = ReorderSpec::Periodic { every: 3, extra_delay };
        let mut process = ReorderProcess::new(spec, 1, "wire", window);
        let arrivals: Vec<Time> = (1..=8).map(|at| process.arrival(MS(at), MS(10 + at))).collect();
        let mut order: Vec<usize> = (1..=8).collect();
        order.sort_by_key(|number| arrivals[number - 1]);
        assert_eq!(order, [1, 2, 4, 5, 3, 7, 8, 6]);
        assert_eq!((process.overtaken(), reordered(&arrivals)), (2, 2));
    }

    /// At random, with packets that leave at the same time or late one after the other, and held packets
    /// in a row: the count is that of RFC 4737.
    #[test]
    fn the_count_is_that_of_rfc_4737() {
        for (probability, extra_ms, apart_ms) in
            [(0.1, 5, 1), (0.5, 3, 1), (0.95, 7, 2), (0.3, 1, 1), (0.9, 40, 1), (0.2, 1, 3)]
        {
            let extra_delay = PositiveDuration::from_milliseconds(extra_ms);
            let spec = ReorderSpec::Bernoulli { probability, extra_delay };
            let mut process = ReorderProcess::new(spec, 7, "wire", whole_run());
            let arrivals: Vec<Time> = (1..5_000)
                .map(|packet| process.arrival(MS(packet * apart_ms), MS(packet * apart_ms / 4 * 4)))
                .collect();
            assert_eq!(process.overtaken(), reordered(&arrivals), "{probability} {extra_ms}");
            assert!(process.overtaken() > 0, "{probability} {extra_ms}");
        }
    }

    /// Packets 1 to 9 leave at 1 to 9 ms, and packets 2, 4, 6 and 8 arrive behind the next. In the
    /// window from 4 to 8 ms, packet 6 and the one that overtakes it leave; packet 4 leaves at the
    /// beginning of the window, and packet 8 is overtaken after its end.
    #[test]
    fn packets_that_leave_in_the_window_count() {
        let mut process = periodic(2, 2, Window { from: MS(4), to: MS(8) });
        (1..10).for_each(|at| {
            process.arrival(MS(at), MS(at));
        });
        assert_eq!(process.overtaken(), 1);
    }

    /// Held packets that nobody can overtake any more are forgotten.
    #[test]
    fn memory_is_bounded_by_what_is_on_the_way() {
        let extra_delay = PositiveDuration::from_milliseconds(10);
        let spec = ReorderSpec::Bernoulli { probability: 0.999_999, extra_delay };
        let mut process = ReorderProcess::new(spec, 1, "wire", whole_run());
        for at in 1..100_000 {
            process.arrival(MS(at), MS(at));
            assert!(process.held.len() <= 10);
        }
    }
}
