//! Index of dispersion of the arrivals at a link by time scale, against closed forms.

use tailroom_engine::results::ArrivalDispersion;

use crate::support::case::{case, check, close};

/// Runs flows over a link without drops and returns the dispersion of their arrivals.
fn run(duration_s: u32, scale: &str, flows: &str) -> ArrivalDispersion {
    let run = case(&format!("{duration_s} s from 1 s"))
        .link("link", format!("1 Gbit/s, 1 ms, 100000 packets, arrival_dispersion = '{scale}'"))
        .flows("arrivals", "link", format!("packet_size = '1000 B', {flows}"))
        .run();
    run.expect("links.link.drops_packets", 0);
    run.results.tables.arrival_dispersion.unwrap_or_default()
}

/// The variance of n independent, nearly normal counts has a relative standard deviation of sqrt(2
/// / (n - 1)). The fourth moment of Poisson counts adds 1 / (n mean) to its square.
fn assert_index_is(found: &ArrivalDispersion, expected: f64) {
    assert!(found.index.len() >= 10, "{found:?}");
    for (at, index) in found.index.iter().enumerate() {
        let count = found.intervals[at] as f64;
        let fourth = expected / (count * found.mean_packets[at]);
        let deviation = (2.0 / (count - 1.0) + fourth).sqrt();
        // Four standard deviations: fifteen scales exceed them in 1 of 1,000 runs.
        check(found.scale_s[at], *index, close(expected, 4.0 * deviation));
    }
}

/// 10,000 packets per second.
#[test]
fn poisson_packets_have_an_index_of_one_at_every_scale() {
    let found = run(41, "20 us", "source = { kind = 'poisson', rate = '80 Mbit/s' }");
    assert_eq!((found.scale_s[0], found.intervals[0]), (20e-6, 2_000_000));
    assert!((found.mean_packets[0] / 0.2 - 1.0).abs() < 4.0 / 400_000_f64.sqrt());
    assert_index_is(&found, 1.0);
}

/// Flows of eight packets that leave together: a Poisson process of batches. With N batches the
/// number of packets 8 N has the variance 64 E N and the mean 8 E N.
#[test]
fn poisson_batches_have_the_index_of_their_size() {
    let source = "kind = 'finite_flows', size = '7680 B', arrivals_per_second = 500";
    let reno = "congestion = 'reno', rtt = '20 ms', initial_window = 8";
    assert_index_is(&run(101, "100 us", &format!("{reno}, source = {{ {source} }}")), 8.0);
}

/// An interval of m + f packet gaps holds m or m + 1 packets: the variance is f (1 - f).
#[test]
fn equally_spaced_packets_have_an_index_below_one() {
    // One packet per millisecond.
    let found = run(201, "0.3 ms", "source = { kind = 'cbr', rate = '8 Mbit/s' }");
    assert!(found.index.len() > 12);
    for (scale, index) in found.scale_s.iter().zip(&found.index) {
        let mean = scale / 1e-3;
        let part = mean.fract();
        let expected = part * (1.0 - part) / mean;
        assert!(*index < 1.0 && *index <= 0.26 / mean, "{scale} s: {index}");
        // The pattern repeats after ten intervals: an incomplete repetition contributes at most 10
        // / n.
        if *scale < 1.0 {
            check(scale, *index, close(expected, 0.03));
        }
    }
}

/// On-off fluid with exponential periods (Anick, Mitra and Sondhi 1982): the autocovariance of the
/// rate is r^2 p (1 - p) exp(-t / tau), where p is the fraction of time on and 1 / tau = 1 / on + 1
/// / off. Its double integral over the mean r p t gives the index 2 (1 - p) r tau (1 - (1 - exp(-t
/// / tau)) tau / t).
#[test]
fn on_off_sources_have_the_index_that_follows_from_the_autocovariance_of_their_rate() {
    let duration_s = 1_001;
    let sources = "count = 20, source = { kind = 'on_off', rate = '1 Mbit/s', \
                   on = { kind = 'exponential', mean = '500 ms' }, \
                   off = { kind = 'exponential', mean = '1500 ms' } }";
    let found = run(duration_s, "100 ms", sources);
    let (rate, on_share, tau) = (125.0, 0.25, 1.0 / (1.0 / 0.5 + 1.0 / 1.5));
    assert!(found.index.len() >= 9, "{found:?}");
    for (scale, index) in found.scale_s.iter().zip(&found.index) {
        let ratio = scale / tau;
        let rest = 1.0 - (1.0 - (-ratio).exp()) / ratio;
        let expected = 2.0 * (1.0 - on_share) * rate * tau * rest;
        // Counts that are less than 2 tau apart are not independent.
        let independent = f64::from(duration_s - 1) / scale.max(2.0 * tau);
        let deviation = (2.0 / independent).sqrt();
        check(scale, *index, close(expected, 4.0 * deviation));
        check(scale, *index, close(expected, if *scale > 2.0 { f64::INFINITY } else { 0.2 }));
    }
}

#[test]
fn dispersion_is_not_measured_without_the_key() {
    let keys = "cbr 8 Mbit/s, 1500 B";
    let case =
        case("1 s").link("link", "1 Gbit/s, 1 ms, 10 packets").stream("arrivals", "link", keys);
    assert_eq!(case.run().tables.arrival_dispersion, None);
}
