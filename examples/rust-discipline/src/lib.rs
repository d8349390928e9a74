//! A queue discipline of your own, outside tailroom's crates: PI (Hollot, Misra, Towsley and Gong 2001),
//! which drives the queue to a target; `examples/python-discipline` has the same in Python.
//!
//! This file shows the parameters that a scenario sets, the rule, and its registration. `src/main.rs`
//! runs a scenario with the discipline; `tests/pi.rs` checks what it does.

use serde::Deserialize;
use tailroom_engine::parameters::Ranges;
use tailroom_engine::quantity::PositiveDuration;
use tailroom_engine::quantity::limit::Limit;
use tailroom_engine::queue::buffer::DropReason;
use tailroom_engine::queue::custom::CustomRule;
use tailroom_engine::queue::{ArrivalRule, EnqueueEvent, Gauge, LinkInfo, Verdict};
use tailroom_engine::random::{Stream, stream, uniform};
use tailroom_engine::scenario::OwnCode;
use tailroom_engine::units::Time;

/// What a scenario may set: `parameters = { target_packets = 100.0, interval = "5 ms" }`.
#[derive(Clone, Debug, Deserialize, Ranges)]
#[serde(default, deny_unknown_fields)]
pub struct PiParams {
    /// The queue that the rule holds.
    #[schemars(range(min = 0.0))]
    pub target_packets: f64,
    /// Gain for the present error, per packet.
    #[schemars(range(min = 0.0))]
    pub a: f64,
    /// Gain for the error before, per packet.
    #[schemars(range(min = 0.0))]
    pub b: f64,
    /// Time between two updates of the probability.
    pub interval: PositiveDuration,
}

impl Default for PiParams {
    /// The paper's example: 3,750 packets/s, 60 flows or more, an RTT of at most 246 ms.
    fn default() -> Self {
        let interval = PositiveDuration::new(6_250_000_000); // 160 Hz, in picoseconds
        PiParams { target_packets: 200.0, a: 1.822e-5, b: 1.816e-5, interval }
    }
}

/// The state of one link.
#[derive(Debug)]
pub struct Pi {
    params: PiParams,
    random: Stream,
    probability: f64,
    last_error: f64,
    update_at: Time,
}

impl Pi {
    /// Starts the rule of a link. Its random stream follows from the seed and the name of the link.
    pub fn new(params: &PiParams, link: &LinkInfo, _limit: Limit) -> Self {
        let random = stream(link.seed, &format!("{}.pi", link.name));
        let update_at = params.interval.time();
        Pi { params: params.clone(), random, probability: 0.0, last_error: 0.0, update_at }
    }

    /// `p(kT) = a (q(kT) - q_ref) - b (q((k - 1) T) - q_ref) + p((k - 1) T)`.
    fn update(&mut self, queue_packets: u64) {
        let error = queue_packets as f64 - self.params.target_packets;
        let change = self.params.a * error - self.params.b * self.last_error;
        self.probability = (self.probability + change).clamp(0.0, 1.0);
        self.last_error = error;
    }
}

impl ArrivalRule for Pi {
    fn on_enqueue(&mut self, event: &EnqueueEvent) -> Verdict {
        // A rule has no timer: what is due is done before the next packet, with the queue it finds.
        while self.update_at <= event.now {
            self.update(event.waiting_packets);
            self.update_at += self.params.interval.time();
        }
        if uniform(&mut self.random) >= self.probability {
            Verdict::Accept
        } else if event.ecn.is_capable() {
            Verdict::Mark
        } else {
            Verdict::Drop(DropReason::Early)
        }
    }

    fn gauges(&self, _now: Time) -> Vec<Gauge> {
        vec![("drop_probability", self.probability)]
    }
}

impl CustomRule for Pi {}

/// What scenarios may name in addition to the engine's own disciplines.
pub fn disciplines() -> OwnCode {
    let mut disciplines = OwnCode::default();
    disciplines.add_rule("pi", Pi::new);
    disciplines
}
