//! Jitter of a link: a delay beyond the propagation delay that varies at random and is correlated in
//! time. It does not depend on the traffic, and packets stay in order.

use super::draws::Draws;
use crate::derives::{Deserialize, JsonSchema, Ranges, Serialize};
use crate::distribution::Distribution;
use crate::distribution::config::{DistributionConfig, FileTexts};
use crate::parameters::BadParameter;
use crate::quantity::{Duration, PositiveDuration};
use crate::random::{Stream, stream};
use crate::units::Time;
use crate::work::MOST_STEPS;

/// Shortest time between two draws; a run would spend its time on shorter ones.
pub(crate) const SHORTEST: PositiveDuration = PositiveDuration::new(10_000_000);

/// Jitter of a link: a further delay, drawn from a distribution.
///
/// Packets never overtake one another: where the delay falls, they arrive together with those that
/// left before. Without `every` and `on_average_every`, each packet has a delay of its own.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct JitterConfig {
    /// Distribution of the delay beyond the link's `delay`.
    #[schemars(example = serde_json::json!({ "kind": "uniform", "from": "0 ms", "to": "8 ms" }))]
    extra_delay: DistributionConfig<Duration>,
    /// Draw the delay anew at each multiple of this time, as a satellite constellation that
    /// allocates its links anew does; at least 10 us.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(example = "15 s")]
    every: Option<PositiveDuration>,
    /// Draw the delay anew at random times with this mean between them (a Poisson process), so that
    /// the correlation of two delays falls exponentially with the time between them; at least 10 us.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(example = "20 ms")]
    on_average_every: Option<PositiveDuration>,
}

impl JitterConfig {
    /// The jitter in the engine's units.
    ///
    /// # Errors
    /// A distribution that contradicts itself, both kinds of draws, or draws that follow one another
    /// too fast.
    pub(crate) fn resolve(&self, texts: &FileTexts) -> Result<JitterSpec, BadParameter> {
        let extra_delay = self.extra_delay.resolve("extra_delay", texts)?;
        let draws = Draws::read(self.every, self.on_average_every, SHORTEST)?;
        Ok(JitterSpec { extra_delay, draws })
    }
}

/// Jitter of a link.
#[derive(Clone, Debug, PartialEq, Ranges)]
#[non_exhaustive]
pub struct JitterSpec {
    /// Distribution of the delay beyond the propagation delay, in picoseconds.
    pub extra_delay: Distribution,
    /// When the delay is drawn; each packet has a delay of its own if at no time.
    pub draws: Draws,
}

impl JitterSpec {
    /// A further delay of this distribution, in picoseconds, which is drawn at these times.
    pub fn new(extra_delay: Distribution, draws: Draws) -> Self {
        JitterSpec { extra_delay, draws }
    }
}

/// A stretch of time with about this many draws has a random stream of its own, so that a packet after weeks
/// without packets waits for no more draws.
const DRAWS_OF_A_STRETCH: u64 = MOST_STEPS as u64;

/// The delay over time.
#[derive(Clone, Debug)]
pub(super) struct JitterProcess {
    spec: JitterSpec,
    name: String,
    seed: u64,
    /// The number of the present stretch.
    stretch: u64,
    /// The present delay, and when it is drawn anew.
    delay: Time,
    until: Time,
    random: Stream,
}

impl JitterProcess {
    /// The jitter of the link `name`.
    pub(super) fn new(spec: &JitterSpec, seed: u64, name: &str) -> Self {
        let name = format!("jitter of {name}");
        let random = stream(seed, &name);
        let (delay, until) = (Time::ZERO, Time::ZERO);
        JitterProcess { spec: spec.clone(), name, seed, stretch: 0, delay, until, random }
    }

    /// Begins the stretch of a packet that leaves at `departure`, if it is another.
    fn begin_stretch(&mut self, departure: Time) {
        let (Draws::Every(between) | Draws::OnAverageEvery(between)) = self.spec.draws else {
            return;
        };
        let length = between.picoseconds().saturating_mul(DRAWS_OF_A_STRETCH);
        let stretch = departure.picoseconds() / length;
        if stretch > self.stretch {
            self.stretch = stretch;
            self.until = Time::from_picoseconds(stretch * length);
            self.random = stream(self.seed, &format!("{}, stretch {stretch}", self.name));
        }
    }

    /// The further delay of a packet that leaves at `departure`; packets come in order of time.
    pub(super) fn delay_at(&mut self, departure: Time) -> Time {
        self.begin_stretch(departure);
        let JitterProcess { spec: JitterSpec { extra_delay, draws }, delay, until, random, .. } =
            self;
        // Delays that no packet meets are drawn too: the delay at a time is a property of the path.
        let mut count = 0;
        while departure >= *until && *until < Time::AFTER_ALL_RUNS {
            count += 1;
            debug_assert!(count <= 2 * DRAWS_OF_A_STRETCH, "{count} draws for a packet");
            *delay = Time::from_picoseconds(libm::round(extra_delay.sample(random)) as u64);
            match draws.after(*until, random) {
                Some(next) => *until = next,
                None => break,
            }
        }
        *delay
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MS: u64 = 1_000_000_000;

    fn delays(draws: Draws, extra_delay: Distribution, apart_us: u64, count: u64) -> Vec<f64> {
        let mut process = JitterProcess::new(&JitterSpec { extra_delay, draws }, 3, "wire");
        let at = |packet| Time::from_picoseconds(packet * apart_us * 1_000_000);
        (0..count).map(|packet| process.delay_at(at(packet)).seconds() * 1e3).collect()
    }

    fn mean(values: impl ExactSizeIterator<Item = f64>) -> f64 {
        let count = values.len() as f64;
        values.sum::<f64>() / count
    }

    /// The correlation of delays at two times that are apart by a number of packets.
    fn correlation(delays: &[f64], apart: usize) -> f64 {
        let centre = mean(delays.iter().copied());
        let product = |(one, other): (&f64, &f64)| (one - centre) * (other - centre);
        let together = mean(delays.iter().zip(&delays[apart..]).map(product));
        together / mean(delays.iter().map(|one| (one - centre).powi(2)))
    }

    /// Mean and variance of the uniform distribution from 0 to 8 ms: 4 ms and 64 / 12 ms^2; the
    /// correlation is exp(-t / T), the probability that nothing is drawn in between.
    #[test]
    fn random_draws_keep_the_distribution_and_correlate_exponentially() {
        let uniform = Distribution::Uniform { from: 0.0, to: 8.0 * MS as f64 };
        let draws = Draws::OnAverageEvery(Time::from_milliseconds(20));
        let delays = delays(draws, uniform, 1_000, 2_000_000);
        // 100,000 draws: the standard error of the mean is 2.31 / sqrt(50,000) = 0.0103 ms.
        let found = mean(delays.iter().copied());
        assert!((found - 4.0).abs() < 5.0 * 0.0103, "{found}");
        let variance = mean(delays.iter().map(|delay| (delay - found).powi(2)));
        assert!((variance - 64.0 / 12.0).abs() < 0.15, "{variance}");
        for apart in [1, 10, 40] {
            let expected = (-(apart as f64) / 20.0).exp();
            let found = correlation(&delays, apart);
            assert!((found - expected).abs() < 0.02, "{apart} ms: {found}, not {expected}");
        }
    }

    #[test]
    fn draws_at_fixed_times_last_until_the_next_and_ignore_the_traffic() {
        let exponential = || Distribution::Exponential { mean: 5.0 * MS as f64 };
        let draws = Draws::Every(Time::from_milliseconds(15_000));
        let often = delays(draws, exponential(), 500_000, 240);
        let seldom = delays(draws, exponential(), 30_000_000, 4);
        let is_constant =
            |slot: &[f64]| slot.windows(2).all(|two| two[0].to_bits() == two[1].to_bits());
        assert!(often.chunks(30).all(is_constant));
        assert!(often.chunks(30).collect::<Vec<_>>().windows(2).all(|two| two[0] != two[1]));
        assert_eq!(seldom, [often[0], often[60], often[120], often[180]]);
    }

    /// After 30 days without packets, in which 2.6e11 draws are due, the delays are those that other packets
    /// have met meanwhile.
    #[test]
    fn weeks_without_packets_take_no_draws_and_change_no_delay() {
        for draws in [Draws::Every, Draws::OnAverageEvery] {
            let draws = draws(SHORTEST.time());
            let uniform = Distribution::Uniform { from: 0.0, to: 8.0 * MS as f64 };
            let spec = JitterSpec::new(uniform, draws);
            let [mut busy, mut rare] = [(); 2].map(|()| JitterProcess::new(&spec, 3, "wire"));
            // Stretches of 10.5 s.
            let late = Time::from_milliseconds(30 * 24 * 3_600 * 1_000);
            for ms in 0..12_000 {
                busy.delay_at(Time::from_milliseconds(ms));
            }
            for ms in (0..12_000).rev() {
                busy.delay_at(late.since(Time::from_milliseconds(ms)));
            }
            assert_eq!(busy.delay_at(late), rare.delay_at(late));
        }
    }

    #[test]
    fn each_packet_has_a_delay_of_its_own() {
        let uniform = Distribution::Uniform { from: 0.0, to: MS as f64 };
        let delays = delays(Draws::AtNoTime, uniform, 0, 400_000);
        // The standard error of a correlation of 0 is 1 / sqrt(400,000) = 0.0016.
        assert!(correlation(&delays, 1).abs() < 0.008);
        assert!((mean(delays.iter().copied()) - 0.5).abs() < 0.0023);
    }
}
