//! Packet sources of unresponsive flows: means, variances and the growth of the variance follow
//! from their parameters.

use tailroom_engine::distribution::{CdfPoint, Distribution, Empirical};
use tailroom_engine::traffic::context::StartingFlow;
use tailroom_engine::traffic::on_off::{OnOff, OnOffSpec};
use tailroom_engine::traffic::poisson::{PacketSizes, Poisson, PoissonSpec};
use tailroom_engine::traffic::{Emission, PacketSource};
use tailroom_engine::units::{Rate, Time};

const SECOND: f64 = 1e12;

/// Quantile of the normal distribution for a two-sided significance of 0.1 %.
const QUANTILE: f64 = 3.29;

/// A flow that starts at 0.
fn flow(packet_bytes: u32, seed: u64) -> StartingFlow<'static> {
    StartingFlow { name: "stream", seed, packet_bytes, start: Time::ZERO }
}

fn rate(bits_per_second: u64) -> Rate {
    Rate::from_bits_per_second(bits_per_second)
}

/// Emissions before `end`.
fn emissions(mut source: impl PacketSource, end: Time) -> impl Iterator<Item = Emission> {
    std::iter::from_fn(move || Some(source.next_emission())).take_while(move |it| it.time < end)
}

/// In T seconds a Poisson stream at rate R offers R T bits on average, with the variance R T / E[S]
/// times E[S^2] for sizes S.
#[test]
fn a_poisson_stream_offers_its_rate_with_any_distribution_of_sizes() {
    let (bits_per_second, seconds) = (100_000_000, 100.0);
    let line = [(40.0, 0.25), (1000.0, 0.25), (1500.0, 1.0)];
    let line = line.map(|(value, probability)| CdfPoint { value, probability });
    // (sizes, E[S], E[S^2]) in bytes.
    let cases = [
        // (7 * 40 + 4 * 576 + 1500) / 12 and (7 * 1600 + 4 * 331,776 + 2,250,000) / 12.
        (Empirical::mix(&[40.0, 576.0, 1500.0], &[7.0, 4.0, 1.0]), 340.333, 299_025.3),
        // 0.25 * 40 + 0.75 * 1250 and 0.25 * 1600 + 0.75 * (1 + 1.5 + 2.25) / 3 * 10^6.
        (Empirical::new(line.to_vec()), 947.5, 1_187_900.0),
    ]
    .map(|(empirical, mean, square)| (Distribution::Empirical(empirical), mean, square));
    let uniform = Distribution::Uniform { from: 40.0, to: 1500.0 };
    // (40^2 + 40 * 1500 + 1500^2) / 3.
    let cases = cases.into_iter().chain([(uniform, 770.0, 770_533.3)]);
    for (sizes, mean, square) in cases {
        let case = format!("{sizes:?}");
        let sizes = PacketSizes::Drawn(sizes);
        let spec = PoissonSpec::new(rate(bits_per_second), sizes);
        let source = Poisson::new(&spec, &flow(1500, 1));
        let bytes: u64 =
            emissions(source, Time::from_seconds(seconds)).map(|it| u64::from(it.bytes)).sum();
        let expected = bits_per_second as f64 / 8.0 * seconds;
        let standard_deviation = (expected / mean * square).sqrt();
        // The confidence interval is at most half a percent wide on either side.
        assert!(QUANTILE * standard_deviation < 0.005 * expected, "{case}");
        assert!(
            (bytes as f64 - expected).abs() < QUANTILE * standard_deviation,
            "{case}: {bytes} bytes, not {expected} +- {standard_deviation}"
        );
    }
}

/// Sizes are drawn from their own random stream.
#[test]
fn arrival_times_of_a_poisson_stream_do_not_depend_on_the_shape_of_its_sizes() {
    let times = |sizes: PacketSizes| -> Vec<Time> {
        let spec = PoissonSpec::new(rate(1_000_000), sizes);
        emissions(Poisson::new(&spec, &flow(1000, 1)), Time::from_seconds(1.0))
            .map(|it| it.time)
            .collect()
    };
    let same_mean = Distribution::Uniform { from: 999.0, to: 1001.0 };
    assert_eq!(times(PacketSizes::Fixed), times(PacketSizes::Drawn(same_mean)));
}

/// An on-off source of 1000-byte packets, `packets` a second in on periods.
fn on_off(packets: u64, on: &Distribution, off: &Distribution, seed: u64) -> OnOff {
    let spec = OnOffSpec::new(rate(packets * 8_000), on.clone(), off.clone());
    OnOff::new(&spec, &flow(1000, seed))
}

/// Packets of each of `sources` independent sources in `[from, to)`, in seconds.
fn counts(sources: u64, make: impl Fn(u64) -> OnOff, from: f64, to: f64) -> Vec<f64> {
    let (from, to) = (Time::from_seconds(from), Time::from_seconds(to));
    let count = |seed| emissions(make(seed), to).filter(|it| it.time >= from).count() as f64;
    (0..sources).map(count).collect()
}

/// Mean and variance, with their standard errors.
struct Moments {
    mean: f64,
    mean_error: f64,
    variance: f64,
    variance_error: f64,
}

fn moments(samples: &[f64]) -> Moments {
    let count = samples.len() as f64;
    let mean = samples.iter().sum::<f64>() / count;
    let central = |power| samples.iter().map(|x| (x - mean).powi(power)).sum::<f64>() / count;
    let variance = central(2);
    Moments {
        mean,
        mean_error: (variance / count).sqrt(),
        variance,
        variance_error: ((central(4) - variance * variance) / count).sqrt(),
    }
}

/// The fraction of time on is the same in every interval, including the first second: a source
/// starts in equilibrium.
#[test]
fn an_on_off_source_is_on_for_its_fraction_of_time_in_any_interval() {
    // Mean periods of 0.5 s on and 1.5 s off: a quarter of 100 packets per second.
    let (on, off) = (0.5 * SECOND, 1.5 * SECOND);
    let exponential = |mean| Distribution::Exponential { mean };
    for (on, off) in [
        (Distribution::Fixed(on), Distribution::Fixed(off)),
        (exponential(on), exponential(off)),
        (Distribution::pareto(1.5, on), Distribution::pareto(1.5, off)),
        (Distribution::pareto(1.2, on), exponential(off)),
    ] {
        for (from, to) in [(0.0, 1.0), (0.0, 50.0), (49.0, 50.0)] {
            let found = moments(&counts(4_000, |seed| on_off(100, &on, &off, seed), from, to));
            let expected = 25.0 * (to - from);
            assert!(
                (found.mean - expected).abs() < QUANTILE * found.mean_error.max(1e-3),
                "{on:?} from {from} to {to} s: {} +- {}, not {expected}",
                found.mean,
                found.mean_error
            );
            assert!(found.mean_error < 0.03 * expected, "{on:?}: {}", found.mean_error);
        }
    }
}

/// Also with short on periods: 4 ms at 100 packets per second is less than half a packet.
#[test]
fn an_on_off_source_carries_gaps_between_packets_over_off_periods() {
    let (on, off) = (Distribution::Fixed(4e9), Distribution::Fixed(6e9));
    let packets: Vec<Time> =
        emissions(on_off(100, &on, &off, 1), Time::from_seconds(100.0)).map(|it| it.time).collect();
    // 40 packets per second; the phase decides about one packet at each end.
    assert!((3_999..=4_001).contains(&packets.len()), "{}", packets.len());
    // A gap of 10 ms of on time spans 2 or 3 on periods, so 2 or 3 off periods lie within it.
    for pair in packets.windows(2) {
        let off_periods = ((pair[1] - pair[0]).seconds() - 0.010) / 0.006;
        assert!((off_periods - off_periods.round()).abs() < 1e-6, "{off_periods}");
        assert!((2.0..=3.0).contains(&off_periods.round()), "{off_periods}");
    }
}

/// In T seconds, a two-state Markov process that leaves on at rate a and off at rate b is on for a
/// time with the variance 2 p q (T / s - (1 - exp(-s T)) / s^2), where s = a + b, p = b / s and q =
/// a / s: the integral of the covariance p q exp(-s t). Counting whole packets adds at most a
/// quarter.
#[test]
fn exponential_periods_have_the_variance_of_a_markov_process() {
    let (leave_on, leave_off) = (1.0 / 0.5, 1.0 / 1.5);
    let exponential = |rate: f64| Distribution::Exponential { mean: SECOND / rate };
    let sum = leave_on + leave_off;
    let covariance = leave_on * leave_off / (sum * sum);
    for seconds in [0.5, 5.0, 50.0] {
        let make = |seed| on_off(100, &exponential(leave_on), &exponential(leave_off), seed);
        let found = moments(&counts(4_000, make, 0.0, seconds));
        let on_time = seconds / sum - (1.0 - (-sum * seconds).exp()) / (sum * sum);
        let expected = 100.0_f64.powi(2) * 2.0 * covariance * on_time;
        assert!(
            (found.variance - expected).abs() < QUANTILE * found.variance_error + 0.25,
            "{seconds} s: {} +- {}, not {expected}",
            found.variance,
            found.variance_error
        );
    }
}

/// Willinger, Taqqu, Sherman and Wilson (1997): on and off periods with a tail index of 1.5 make
/// self-similar traffic with H = (3 - 1.5) / 2 = 0.75. Its variance grows as T^(2 H), so its index
/// of dispersion (variance over mean) as T^0.5: asymptotically by 3.16 per decade. From 100 s to
/// 1000 s it grows by 3.42: the covariance at lag u is a quarter of the mean of (-1)^N(u), where
/// N(u) counts the changes in u, and its renewal equation, solved in steps of 0.1, 0.05 and 0.025
/// s, gives 3.50, 3.45 and 3.44. With exponential periods the index converges: by the variance
/// above, with s = 2 Hz, it grows by 1.0045.
#[test]
fn pareto_periods_make_bursts_at_all_time_scales_and_exponential_periods_do_not() {
    let growth = |period: &Distribution| {
        let decade = [100.0, 1_000.0].map(|seconds| {
            moments(&counts(3_000, |seed| on_off(20, period, period, seed), 0.0, seconds))
        });
        let index = |found: &Moments| found.variance / found.mean;
        let error = |found: &Moments| found.variance_error / found.variance;
        let growth = index(&decade[1]) / index(&decade[0]);
        (growth, growth * error(&decade[0]).hypot(error(&decade[1])))
    };
    let (exponential, error) = growth(&Distribution::Exponential { mean: SECOND });
    assert!((exponential - 1.0045).abs() < QUANTILE * error, "{exponential} +- {error}");
    let (pareto, error) = growth(&Distribution::pareto(1.5, SECOND));
    assert!((pareto - 3.42).abs() < QUANTILE * error, "{pareto} +- {error}");
    assert!(pareto - QUANTILE * error > 2.0, "{pareto} +- {error}");
}
