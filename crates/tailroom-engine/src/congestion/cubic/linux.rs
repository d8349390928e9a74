//! CUBIC in whole numbers, as Linux computes it.
//!
//! Linux holds a window of whole packets. For each ACK CUBIC says how many acknowledged packets make it
//! grow by one; what is counted towards the next packet is kept here too, where Linux's sender keeps it.
//! Left out is what follows from Linux's clock: it ticks every 1 to 10 ms, and its cube root is wrong by
//! up to 0.2 %.

use libm::cbrt;

use super::CubicParams;
use crate::congestion::{AckEvent, CongestionEvent, CongestionKind, WindowLaw};
use crate::units::Time;

/// Fractions, C and times in seconds are multiples of 1/1024.
const ONE: u64 = 1_024;
/// So the cube of a time times C is a number of packets in units of 1/1024^4.
const CUBE_BITS: u32 = 40;
/// Three days in 1/1024 s, whose cube times C is still a number of 128 bits.
const MOST_TIME: u64 = 1 << 28;
/// As long as the window stays, what has been computed holds for 1/32 s.
const KEPT: Time = Time::from_picoseconds(31_250_000_000);
/// Packets per packet of growth, at most, without a last maximum.
const FIRST_GROWTH_PER: u64 = 20;
/// Packets per packet of growth on the plateau: as many as windows.
const PLATEAU_WINDOWS: u64 = 100;
/// At least two packets per packet of growth: 1.5 windows per round trip (RFC 9438 sec. 4.2).
const LEAST_PER_PACKET: u64 = 2;
/// The window of Reno counts in eighths of a window.
const EIGHTHS: u64 = 8;

/// The state of CUBIC for one flow.
#[derive(Clone, Debug)]
pub struct Linux {
    /// C in 1/1024 packets per second cubed.
    c: u64,
    /// What congestion leaves of the window, in 1/1024.
    beta: u64,
    beta_ecn: u64,
    has_fast_convergence: bool,
    /// Eighths of a window that have to be acknowledged before the window of Reno grows by a packet.
    friendly_eighths: u64,
    /// The last maximum in packets; `None` before the first congestion and after a timeout.
    last_max: Option<u64>,
    /// Acknowledged packets counted towards the next packet of growth.
    counted: u64,
    /// The stage of congestion avoidance; `None` until its first ACK.
    stage: Option<Stage>,
}

/// A stage of congestion avoidance.
#[derive(Clone, Debug)]
struct Stage {
    last_ack: Time,
    /// Time since its beginning, without idle periods.
    elapsed: Time,
    /// Time from the beginning to the plateau, in 1/1024 s.
    to_plateau: u64,
    /// Height of the plateau, in packets.
    plateau: u64,
    /// The window of Reno, and the packets acknowledged towards its next one.
    friendly: u64,
    friendly_counted: u64,
    /// Acknowledged packets per packet of growth, computed for a window at an elapsed time.
    per_packet: u64,
    computed_for: u64,
    computed_at: Time,
}

impl Linux {
    /// Creates the control in its initial state.
    pub fn new(params: &CubicParams) -> Self {
        let beta = in_units(params.beta).clamp(1, ONE - 1);
        Linux {
            c: in_units(params.c).max(1),
            beta,
            beta_ecn: in_units(params.beta_ecn()).clamp(1, ONE - 1),
            has_fast_convergence: params.fast_convergence,
            // RFC 9438 sec. 4.3: 3 (1 - beta) / (1 + beta) packets per round trip.
            friendly_eighths: EIGHTHS * (ONE + beta) / 3 / (ONE - beta),
            last_max: None,
            counted: 0,
            stage: None,
        }
    }

    fn begin_stage(&self, cwnd: u64, now: Time) -> Stage {
        // Without a last maximum the curve begins on its plateau.
        let plateau = self.last_max.map_or(cwnd, |most| most.max(cwnd));
        let to_plateau = ONE as f64 * cbrt(((plateau - cwnd) * ONE) as f64 / self.c as f64);
        Stage {
            last_ack: now,
            elapsed: Time::ZERO,
            to_plateau: to_plateau as u64,
            plateau,
            friendly: cwnd,
            friendly_counted: 0,
            per_packet: PLATEAU_WINDOWS * cwnd,
            computed_for: 0,
            computed_at: Time::ZERO,
        }
    }

    /// Packets that have to be acknowledged until the cubic lets the window grow by one.
    fn per_packet_of_cubic(&self, stage: &Stage, cwnd: u64, min_rtt: Time) -> u64 {
        let at = in_units(stage.elapsed.saturating_add(min_rtt).seconds());
        let cube = u128::from(at.abs_diff(stage.to_plateau).min(MOST_TIME)).pow(3);
        let distance = (u128::from(self.c) * cube) >> CUBE_BITS;
        let distance = u64::try_from(distance).unwrap_or(u64::MAX);
        let target = if at < stage.to_plateau {
            stage.plateau.saturating_sub(distance)
        } else {
            stage.plateau.saturating_add(distance)
        };
        let per_packet =
            if target > cwnd { cwnd / (target - cwnd) } else { PLATEAU_WINDOWS * cwnd };
        let most = if self.last_max.is_none() { FIRST_GROWTH_PER } else { u64::MAX };
        per_packet.min(most)
    }

    /// The same for the window of Reno, which is counted on by what is acknowledged.
    fn per_packet_of_reno(&self, stage: &mut Stage, cwnd: u64) -> u64 {
        let per_packet = (cwnd * self.friendly_eighths / EIGHTHS).max(1);
        // Linux takes away as long as more than this is left.
        let grown = stage.friendly_counted.saturating_sub(1) / per_packet;
        stage.friendly_counted -= grown * per_packet;
        stage.friendly += grown;
        if stage.friendly > cwnd { cwnd / (stage.friendly - cwnd) } else { u64::MAX }
    }

    /// The window after `acked` packets, each of which counts towards the next packet of growth.
    fn grown(&mut self, cwnd: u64, acked: u64, per_packet: u64) -> u64 {
        // What was counted with a slower growth is worth a packet at most.
        let at_once = u64::from(self.counted >= per_packet);
        if at_once == 1 {
            self.counted = 0;
        }
        self.counted += acked;
        let packets = self.counted / per_packet;
        self.counted -= packets * per_packet;
        cwnd + at_once + packets
    }
}

/// A number in units of 1/1024.
fn in_units(value: f64) -> u64 {
    libm::round(value * ONE as f64) as u64
}

impl WindowLaw for Linux {
    fn on_ack(&mut self, cwnd_packets: f64, event: &AckEvent) -> f64 {
        let cwnd = (cwnd_packets as u64).max(1);
        let mut stage = self.stage.take().unwrap_or_else(|| self.begin_stage(cwnd, event.now));
        // Idle periods do not count, as in the other variant.
        let round_trip = event.srtt.max(event.rtt.unwrap_or(Time::ZERO));
        let gap = event.now.since(stage.last_ack).min(round_trip);
        stage.elapsed = stage.elapsed.saturating_add(gap);
        stage.last_ack = event.now;
        stage.friendly_counted += event.acked_packets;
        let is_new = stage.computed_for != cwnd || stage.elapsed.since(stage.computed_at) > KEPT;
        if is_new {
            let of_reno = self.per_packet_of_reno(&mut stage, cwnd);
            stage.per_packet = self
                .per_packet_of_cubic(&stage, cwnd, event.min_rtt.min(event.srtt))
                .min(of_reno)
                .max(LEAST_PER_PACKET);
            (stage.computed_for, stage.computed_at) = (cwnd, stage.elapsed);
        }
        let per_packet = stage.per_packet;
        self.stage = Some(stage);
        self.grown(cwnd, event.acked_packets, per_packet) as f64
    }

    fn on_congestion(&mut self, event: &CongestionEvent) -> f64 {
        let cwnd = event.cwnd_packets as u64;
        let beta = if event.kind == CongestionKind::Mark { self.beta_ecn } else { self.beta };
        self.last_max = match self.last_max {
            _ if event.kind == CongestionKind::Timeout => None,
            Some(last) if self.has_fast_convergence && cwnd < last => {
                Some(cwnd * (ONE + beta) / (2 * ONE))
            }
            _ => Some(cwnd),
        };
        self.counted = 0;
        self.stage = None;
        (cwnd * beta / ONE) as f64
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A flow without a queue.
    struct Path {
        control: Linux,
        cwnd: f64,
        now: Time,
        rtt: Time,
    }

    impl Path {
        fn new(cwnd: f64, rtt: f64) -> Self {
            let control = Linux::new(&CubicParams::default());
            Path { control, cwnd, now: Time::ZERO, rtt: Time::from_seconds(rtt) }
        }

        /// The window, which is a whole number.
        fn packets(&self) -> u64 {
            assert!(self.cwnd.fract().abs() < f64::EPSILON, "{}", self.cwnd);
            self.cwnd as u64
        }

        fn ack(&mut self, packets: u64, after: Time) {
            self.now += after;
            let event = AckEvent {
                now: self.now,
                acked_packets: packets,
                rtt: Some(self.rtt),
                srtt: self.rtt,
                min_rtt: self.rtt,
                delivered_packets: 0,
                marked_packets: 0,
                next: 0,
                is_slow_start: false,
            };
            self.cwnd = self.control.on_ack(self.cwnd, &event);
        }

        fn congest(&mut self, kind: CongestionKind) {
            let cwnd_packets = self.cwnd;
            let event = CongestionEvent { now: self.now, kind, cwnd_packets, is_slow_start: false };
            self.cwnd = self.control.on_congestion(&event);
        }
    }

    /// 1000 packets: 1000 * 717 / 1024 = 700.2 remain, K = cbrt(300 * 1024 / 410) = 9.0825 s is
    /// 9300 units. One RTT of 1 s ahead, 410 * (9300 - 1024)^3 / 2^40 = 211.4 packets are missing, so
    /// the target is 789, and 700 / 89 = 7 packets make the window grow by one.
    #[test]
    fn a_packet_of_growth_takes_a_whole_number_of_acknowledged_ones() {
        let mut path = Path::new(1_000.0, 1.0);
        path.congest(CongestionKind::Loss);
        assert_eq!(path.packets(), 700);
        for _ in 0..6 {
            path.ack(1, Time::ZERO);
        }
        assert_eq!(path.packets(), 700);
        path.ack(1, Time::ZERO);
        assert_eq!(path.packets(), 701);
        path.ack(15, Time::ZERO);
        assert_eq!(path.packets(), 703); // one is counted towards the next
    }

    /// From 100 packets K = cbrt(30 * 1024 / 410) = 4.2151 s. At 3.5 s, and an RTT of 0.1 s, 0.4004 *
    /// 0.6151^3 = 0.09 packets are missing: the target is the plateau itself.
    #[test]
    fn less_than_a_packet_below_the_plateau_the_target_is_the_plateau() {
        let mut path = Path::new(100.0, 0.1);
        path.congest(CongestionKind::Loss);
        assert_eq!(path.packets(), 70);
        path.control.friendly_eighths = u64::from(u32::MAX); // without the window of Reno
        path.ack(1, Time::ZERO);
        for _ in 0..35 {
            path.cwnd = 99.0; // only the time matters here
            path.ack(1, Time::from_milliseconds(100));
        }
        let stage = path.control.stage.as_ref().unwrap();
        assert_eq!(stage.elapsed, Time::from_milliseconds(3_500));
        assert_eq!(stage.per_packet, 99); // 99 / (100 - 99)
    }

    #[test]
    fn without_a_maximum_twenty_packets_are_one_of_growth() {
        let mut path = Path::new(100.0, 0.01);
        path.ack(19, Time::ZERO);
        assert_eq!(path.packets(), 100);
        path.ack(1, Time::ZERO);
        assert_eq!(path.packets(), 101);
        path.congest(CongestionKind::Loss);
        assert_eq!(path.packets(), 70); // 101 * 717 / 1024 = 70.7
        path.ack(20, Time::ZERO);
        assert_eq!(path.packets(), 70);
        path.congest(CongestionKind::Timeout);
        path.ack(20, Time::ZERO);
        assert_eq!(path.packets(), 50);
    }

    /// 15 eighths of a window per packet: 0.533 packets per round trip (RFC 9438 sec. 4.3: 0.529).
    #[test]
    fn a_small_window_grows_as_that_of_reno_does() {
        let mut path = Path::new(20.0, 0.04);
        path.congest(CongestionKind::Loss);
        assert_eq!(path.packets(), 14);
        let mut acked = 0;
        while path.cwnd < 20.0 {
            path.ack(1, Time::from_milliseconds(2));
            acked += 1;
        }
        // The window of Reno needs 14, 15, ... 19 packets times 15 / 8, and the window follows it
        // by as much as a window divided by their difference.
        let expected = (14..20).map(|cwnd| cwnd * 15 / 8).sum::<u64>();
        assert!((expected..=expected + 20).contains(&acked), "{acked}, Reno takes {expected}");
    }

    /// RFC 9438 sec. 4.7, in whole packets: 184.2 after 184.9 is no lower maximum.
    #[test]
    fn fast_convergence_compares_whole_packets() {
        let mut path = Path::new(184.9, 0.02);
        path.congest(CongestionKind::Loss);
        path.cwnd = 184.2;
        path.congest(CongestionKind::Loss);
        assert_eq!(path.control.last_max, Some(184));
        path.cwnd = 180.0;
        path.congest(CongestionKind::Loss);
        assert_eq!(path.control.last_max, Some(153)); // 180 * (1024 + 717) / 2048 = 153.02
    }

    #[test]
    fn a_long_silence_and_extreme_parameters_overflow_nothing() {
        for (c, beta) in [(1e9, 0.999_99), (1e-9, 1e-9)] {
            let params = CubicParams { c, beta, ..CubicParams::default() };
            let mut path = Path::new(1e8, 1e6);
            path.control = Linux::new(&params);
            for _ in 0..3 {
                path.congest(CongestionKind::Loss);
                path.ack(1 << 28, Time::from_seconds(1e6));
                path.ack(1 << 28, Time::from_seconds(1e6));
                assert!(path.cwnd <= 1e9, "{}", path.cwnd);
            }
        }
    }
}
