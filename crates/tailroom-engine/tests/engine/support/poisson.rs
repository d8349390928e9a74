//! Queues with Poisson arrivals, and estimates from ten independent runs.

use tailroom_engine::link::LinkSpec;
use tailroom_engine::network::{GroupSpec, Network};
use tailroom_engine::packet::ties::Ties;
use tailroom_engine::quantity::limit::Limit;
use tailroom_engine::queue::QueueConfig;
use tailroom_engine::results::{LinkSummary, Summary};
use tailroom_engine::traffic::poisson::{PacketSizes, PoissonSpec};
use tailroom_engine::units::{Rate, Time};

use crate::support::{networks, scenario_run, transport};

pub(crate) fn run(network: &Network) -> Summary {
    scenario_run::finish(network).summary
}

pub(crate) fn seconds(seconds: f64) -> Time {
    Time::from_seconds(seconds)
}

/// A mean over independent runs with the half-width of its 99 % confidence interval.
pub(crate) struct Estimate {
    mean: f64,
    half_width: f64,
}

impl Estimate {
    fn of(samples: &[f64]) -> Self {
        let count = samples.len() as f64;
        let mean = samples.iter().sum::<f64>() / count;
        let squares: f64 = samples.iter().map(|sample| (sample - mean).powi(2)).sum();
        // Student's t for 9 degrees of freedom, 99 % two-sided: 3.250.
        assert_eq!(samples.len(), 10, "the quantile below is for ten samples");
        Estimate { mean, half_width: 3.250 * (squares / (count - 1.0) / count).sqrt() }
    }

    /// Checks that the interval contains `expected` and is narrower than `precision` times
    /// `expected` on either side.
    pub(crate) fn assert_is(&self, expected: f64, precision: f64, quantity: &str) {
        let found =
            format!("{quantity}: {} +- {}, expected {expected}", self.mean, self.half_width);
        assert!((self.mean - expected).abs() <= self.half_width, "{found}");
        assert!(self.half_width < precision * expected, "{found}");
    }
}

/// One Poisson source that offers `load` to a link with this queue; the mean packet takes 1 ms.
pub(crate) fn poisson(load: f64, sizes: PacketSizes, queue: QueueConfig, seed: u64) -> Network {
    // The mean size is 5,000 bytes. Rounding up to whole bytes adds half a byte on average, one
    // part in 10,000, and e^(-65,535 / 5,000) = 2e-6 of the packets are truncated.
    let (bytes, rate_bps) = (5_000_u32, 40_000_000_u64);
    let source_rate = Rate::from_bits_per_second((load * rate_bps as f64) as u64);
    let group = with!(
        networks::bulk("poisson", transport::reno()),
        GroupSpec {
            source: PoissonSpec::new(source_rate, sizes).into(),
            packet_size: bytes,
            tcp: None
        }
    );
    let link = networks::link("queue", rate_bps, Time::ZERO, Limit::Packets(1));
    with!(
        Network::new(
            seconds(1_010.0),
            vec![with!(link, LinkSpec { queue })],
            vec![group],
            networks::alike(1, Time::ZERO)
        ),
        Network {
            measure_from: seconds(10.0),
            seed,
            ties: Ties::ByChance,
            memory_limit_bytes: u64::MAX,
            series_interval: None
        }
    )
}

/// Ten independent runs of a network that has one link.
pub(crate) fn replicate(make: impl Fn(u64) -> Network) -> Vec<LinkSummary> {
    (0..10).map(|seed| run(&make(seed)).links.0.remove(0).1).collect()
}

pub(crate) fn estimate(runs: &[LinkSummary], value: impl Fn(&LinkSummary) -> f64) -> Estimate {
    let samples: Vec<f64> = runs.iter().map(value).collect();
    Estimate::of(&samples)
}
