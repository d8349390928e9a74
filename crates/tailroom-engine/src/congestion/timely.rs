//! TIMELY (Mittal et al. 2015, "TIMELY: RTT-based congestion control for the datacenter"): the
//! gradient of the RTT sets the rate; and its variant with a fixed point (Zhu et al. 2016, "ECN or
//! delay: lessons learnt from analysis of DCQCN and TIMELY").

use super::ControlParameters;
use super::rate_based::{BeginEvent, ControlOutput, RateBasedControl, RateSampleEvent};
use crate::derives::{Deserialize, JsonSchema, Ranges, Serialize};
use crate::parameters::BadParameter;
use crate::quantity::{BitRate, PositiveDuration, Size};
use crate::units::{Time, larger, smaller};

/// Parameters of TIMELY; defaults as in Mittal et al. 2015. A flow starts at line rate: that of its
/// access link, or of the first shared link. TIMELY needs an ACK per packet (`host = "data_center"`,
/// or `delayed_ack = false`). It has no window and does not answer losses. Packets are paced one by
/// one, as in the simulations of Zhu et al.; the paper's hosts send a segment at once.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema, Ranges)]
#[serde(default, deny_unknown_fields)]
#[non_exhaustive]
pub struct TimelyParams {
    /// Which rule applies between the thresholds.
    pub variant: TimelyVariant,
    /// RTT below which the rate grows, whatever the gradient is (`T_low`; sec. 4.4: 50 us).
    pub low_threshold: PositiveDuration,
    /// RTT above which the rate shrinks, whatever the gradient is (`T_high`; sec. 4.4: 500 us).
    pub high_threshold: PositiveDuration,
    /// RTT by which the gradient is normalized, and in which the rate changes by one step at most
    /// (`D_minRTT`; 20 us).
    pub min_rtt: PositiveDuration,
    /// Weight of a new difference of RTTs (alpha; 0.875).
    #[schemars(extend("exclusiveMinimum" = 0.0), range(max = 1.0))]
    pub gain: f64,
    /// Factor of a decrease (beta). Default: 0.8; in the patched variant 0.008.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(extend("exclusiveMinimum" = 0.0), range(max = 1.0))]
    pub beta: Option<f64>,
    /// Step of an increase (delta; 10 Mbit/s).
    pub additive_increase: BitRate,
    /// Data whose last ACK gives an RTT and changes the rate, rounded up to whole packets. Default: 64
    /// kB; in the patched variant 16 kB.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub segment: Option<Size>,
    /// Lowest rate. Default: 1 % of the line rate (simulator of Zhu et al.).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub min_rate: Option<BitRate>,
}

/// Rule for an RTT between the thresholds.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema, Ranges)]
#[serde(rename_all = "snake_case")]
pub enum TimelyVariant {
    /// Mittal et al. 2015, Algorithm 1: a step up, or five after five falling RTTs, if the gradient is
    /// not positive; otherwise a decrease in proportion to it. The flows' shares depend on how they
    /// began.
    Original,
    /// Zhu et al. 2016, Algorithm 2: an increase and a decrease in proportion to the RTT above
    /// `low_threshold`, weighted by the gradient. Flows converge to equal shares.
    Patched,
}

impl Default for TimelyParams {
    fn default() -> Self {
        TimelyParams {
            variant: TimelyVariant::Original,
            low_threshold: PositiveDuration::new(50_000_000),
            high_threshold: PositiveDuration::new(500_000_000),
            min_rtt: PositiveDuration::new(20_000_000),
            gain: 0.875,
            beta: None,
            additive_increase: BitRate::new(10_000_000),
            segment: None,
            min_rate: None,
        }
    }
}

impl TimelyParams {
    fn beta(&self) -> f64 {
        self.beta.unwrap_or(match self.variant {
            TimelyVariant::Original => 0.8,
            TimelyVariant::Patched => 0.008, // Zhu et al. 2016, patched TIMELY
        })
    }

    fn segment_packets(&self, packet_bytes: u32) -> u64 {
        let bytes = self.segment.map_or(
            match self.variant {
                TimelyVariant::Original => 64_000, // Mittal et al. 2015: 16 to 64 KB
                TimelyVariant::Patched => 16_000,  // Zhu et al. 2016, patched TIMELY
            },
            Size::bytes,
        );
        bytes.div_ceil(u64::from(packet_bytes))
    }
}

impl ControlParameters for TimelyParams {
    fn validate(&self) -> Result<(), BadParameter> {
        let (low, high) = (self.low_threshold, self.high_threshold);
        if low.time() < high.time() {
            return Ok(());
        }
        let problem = format!("{low} is not below the high_threshold of {high}");
        let remedy = format!("write less than {high}, or raise high_threshold");
        Err(BadParameter::new("low_threshold", problem, remedy))
    }

    fn needs_single_packets(&self) -> bool {
        true
    }
}

/// Falling RTTs in succession from which an increase is hyperactive, and its steps (sec. 4.3).
const HYPERACTIVE_FROM: u32 = 5;
const HYPERACTIVE_STEPS: f64 = 5.0;
/// Least part of the rate that a decrease leaves (the authors' published code; without it a steep
/// gradient would leave a negative rate).
const LEAST_KEPT: f64 = 0.5;
/// The lowest rate as a part of the line rate (`MinRateMultiple` in the simulator of Zhu et al.).
const LEAST_SHARE: f64 = 0.01;

/// A running TIMELY. Rates are in packets/s, times in seconds.
#[derive(Clone, Debug)]
pub struct Timely {
    params: TimelyParams,
    beta: f64,
    segment_packets: u64,
    line_rate: f64,
    min_rate: f64,
    step: f64,
    rate: f64,
    /// Packets acknowledged when the next segment ends.
    segment_end: u64,
    /// RTT and time of the last change of the rate.
    last: Option<(f64, Time)>,
    rtt_diff: f64,
    falling: u32,
}

impl Timely {
    /// Starts the control.
    pub fn new(params: &TimelyParams) -> Self {
        Timely {
            params: params.clone(),
            beta: params.beta(),
            segment_packets: 1,
            line_rate: 1.0,
            min_rate: 1.0,
            step: 0.0,
            rate: 1.0,
            segment_end: 0,
            last: None,
            rtt_diff: 0.0,
            falling: 0,
        }
    }

    /// Changes the rate at the end of a segment.
    fn update(&mut self, now: Time, rtt: f64) {
        let min_rtt = self.params.min_rtt.time().seconds();
        let (previous, since) =
            self.last.map_or((rtt, min_rtt), |(rtt, time)| (rtt, now.since(time).seconds()));
        self.last = Some((rtt, now));
        let difference = rtt - previous;
        self.falling = if difference < 0.0 { self.falling.saturating_add(1) } else { 0 };
        self.rtt_diff += self.params.gain * (difference - self.rtt_diff);
        // Sec. 5: segments that end more often than once per minimum RTT change the rate by less.
        let part = smaller(since / min_rtt, 1.0);
        let rate =
            self.changed_rate(rtt, self.rtt_diff / min_rtt, self.step * part, self.beta * part);
        let kept = larger(rate, LEAST_KEPT * self.rate);
        self.rate = larger(smaller(kept, self.line_rate), self.min_rate);
    }

    fn changed_rate(&self, rtt: f64, gradient: f64, step: f64, beta: f64) -> f64 {
        let (low, high) = (self.params.low_threshold.time(), self.params.high_threshold.time());
        let (low, high) = (low.seconds(), high.seconds());
        if rtt < low {
            return self.rate + step;
        }
        if rtt > high {
            return self.rate * (1.0 - beta * (1.0 - high / rtt));
        }
        match self.params.variant {
            TimelyVariant::Original if gradient <= 0.0 => {
                let steps = if self.falling >= HYPERACTIVE_FROM { HYPERACTIVE_STEPS } else { 1.0 };
                self.rate + steps * step
            }
            TimelyVariant::Original => self.rate * (1.0 - beta * gradient),
            TimelyVariant::Patched => {
                let weight = (2.0 * gradient + 0.5).clamp(0.0, 1.0);
                step * (1.0 - weight) + self.rate * (1.0 - beta * weight * (rtt - low) / low)
            }
        }
    }
}

impl RateBasedControl for Timely {
    fn begin(&mut self, event: &BeginEvent) -> ControlOutput {
        let packets =
            |rate: BitRate| rate.base_units() as f64 / (8.0 * f64::from(event.packet_bytes));
        self.step = packets(self.params.additive_increase);
        self.min_rate = self.params.min_rate.map_or(LEAST_SHARE * event.line_rate, packets);
        // A link may be stopped.
        self.min_rate = larger(self.min_rate, packets(BitRate::new(1)));
        self.line_rate = larger(event.line_rate, self.min_rate);
        self.rate = self.line_rate;
        self.segment_packets = self.params.segment_packets(event.packet_bytes);
        self.segment_end = self.segment_packets;
        ControlOutput::paced(self.rate, self.line_rate, event.srtt)
    }

    fn on_rate_sample(&mut self, event: &RateSampleEvent) -> ControlOutput {
        if event.delivered >= self.segment_end
            && let Some(rtt) = event.rtt
        {
            self.segment_end = event.delivered + self.segment_packets;
            self.update(event.now, rtt.seconds());
        }
        ControlOutput::paced(self.rate, self.line_rate, event.srtt)
    }

    fn paces_what_waits(&self) -> bool {
        true
    }
}

#[cfg(test)]
mod tests {
    use super::super::script::{Path, assert_close, begin_event, ms};
    use super::*;

    /// 10 Gbit/s and 10 Mbit/s in packets of 1500 B.
    const LINE_RATE: f64 = 10e9 / 12_000.0;
    const STEP: f64 = 10e6 / 12_000.0;

    /// A control at half of the line rate, and the rates after segments with these RTTs, in
    /// microseconds; `gap_us` after one another.
    fn rates(params: &TimelyParams, gap_us: f64, rtts_us: &[f64]) -> Vec<f64> {
        let mut control = Timely::new(params);
        control.begin(&begin_event(1));
        control.rate = LINE_RATE / 2.0;
        let mut path = Path::new(10);
        let update = |&rtt: &f64| {
            let event = &mut path.event;
            event.now += ms(gap_us / 1e3);
            event.delivered += control.segment_packets;
            event.rtt = Some(ms(rtt / 1e3));
            control.on_rate_sample(event).pacing_rate
        };
        rtts_us.iter().map(update).collect()
    }

    /// Below `T_low` a step up although the RTT rises; above `T_high` the rate loses 0.8 (1 - 500/625)
    /// = 0.16 although it falls.
    #[test]
    fn outside_the_thresholds_the_rtt_alone_counts() {
        let half = LINE_RATE / 2.0;
        let below = rates(&TimelyParams::default(), 100.0, &[30.0, 40.0]);
        assert_close(below[1], half + 2.0 * STEP);
        let above = rates(&TimelyParams::default(), 100.0, &[700.0, 625.0]);
        assert_close(above[1], half * (1.0 - 0.8 * (1.0 - 500.0 / 700.0)) * 0.84);
    }

    /// RTTs of 100, 104 and 102 us: the averaged differences are 0, 3.5 and 0.125 * 3.5 - 0.875 * 2 =
    /// -1.3125 us. So a step up, a decrease by 0.8 * 3.5/20 = 0.14, and a step up.
    #[test]
    fn between_the_thresholds_the_gradient_counts() {
        let found = rates(&TimelyParams::default(), 100.0, &[100.0, 104.0, 102.0]);
        let first = LINE_RATE / 2.0 + STEP;
        assert_close(found[0], first);
        assert!((found[1] / (0.86 * first) - 1.0).abs() < 1e-6, "{}", found[1]);
        assert!((found[2] - found[1] - STEP).abs() < 1e-6);
    }

    /// The first RTT, four falling ones, and from the fifth on five steps each.
    #[test]
    fn five_falling_rtts_in_succession_make_the_increase_hyperactive() {
        let rtts: Vec<f64> = (0..8).map(|fall| 200.0 - f64::from(fall)).collect();
        let found = rates(&TimelyParams::default(), 100.0, &rtts);
        let steps = [1.0, 1.0, 1.0, 1.0, 1.0, 5.0, 5.0, 5.0];
        let mut expected = LINE_RATE / 2.0;
        for (found, steps) in found.iter().zip(steps) {
            expected += steps * STEP;
            assert!((found / expected - 1.0).abs() < 1e-9, "{found}, expected {expected}");
        }
    }

    /// Segments that end 5 us after one another, a quarter of the minimum RTT, add a quarter of a
    /// step; a steep rise leaves half of the rate.
    #[test]
    fn frequent_segments_change_the_rate_by_less_and_no_segment_by_more_than_half() {
        let found = rates(&TimelyParams::default(), 5.0, &[30.0, 30.0]);
        assert_close(found[1] - found[0], STEP / 4.0);
        let found = rates(&TimelyParams::default(), 100.0, &[100.0, 400.0]);
        assert_close(found[1], found[0] / 2.0);
    }

    /// Zhu et al. 2016, Algorithm 2. With a constant RTT of 75 us the weight is 1/2 and the error 1/2:
    /// delta / 2 - 0.008 R / 4. A rise by 4 us makes the gradient 0.175 and the weight 0.85, with an
    /// error of 29/50.
    #[test]
    fn the_patched_variant_weighs_increase_and_decrease() {
        let params = TimelyParams { variant: TimelyVariant::Patched, ..TimelyParams::default() };
        let found = rates(&params, 100.0, &[75.0, 79.0]);
        let first = LINE_RATE / 2.0 * (1.0 - 0.008 * 0.25) + STEP / 2.0;
        assert_close(found[0], first);
        let second = first * (1.0 - 0.008 * 0.85 * 29.0 / 50.0) + 0.15 * STEP;
        assert!((found[1] / second - 1.0).abs() < 1e-6, "{}, expected {second}", found[1]);
    }

    #[test]
    fn thresholds_in_the_wrong_order_are_named() {
        let low_threshold = PositiveDuration::from_milliseconds(1);
        let wrong = TimelyParams { low_threshold, ..TimelyParams::default() };
        assert!(wrong.check().is_err_and(|bad| bad.key == "low_threshold"));
    }
}
