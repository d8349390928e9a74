//! Published sizes of flows in data centres. Each is a distribution function with straight lines
//! between its points, as the authors of the simulations that use it read it.

use super::{CdfPoint, Distribution, Empirical};
use crate::derives::{Deserialize, JsonSchema, Serialize};

/// A published distribution of sizes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum PublishedSizes {
    /// Web search (Alizadeh et al., "Data Center TCP", SIGCOMM 2010), with the points of the
    /// simulator of HPCC (Li et al., SIGCOMM 2019): mean 1,711,250 B, to 30 MB.
    WebSearch,
    /// Data mining (Greenberg et al., "VL2", SIGCOMM 2009), with the points that pFabric's
    /// simulations made common: mean 5,036,535 B; 80 % of the flows have at most 10 kB, and the
    /// largest 1 GB.
    DataMining,
    /// Hadoop (Roy et al., "Inside the Social Network's (Datacenter) Network", SIGCOMM 2015), with
    /// the points of the simulator of HPCC: mean 120,421 B, to 10 MB.
    Hadoop,
    /// Distributed storage of Alibaba in 2019, with the points of the simulator of HPCC: mean
    /// 40,870 B, to 2 MB.
    Storage,
}

impl PublishedSizes {
    /// The distribution, in bytes.
    pub fn distribution(self) -> Distribution {
        let points = match self {
            PublishedSizes::WebSearch => WEB_SEARCH,
            PublishedSizes::DataMining => DATA_MINING,
            PublishedSizes::Hadoop => HADOOP,
            PublishedSizes::Storage => STORAGE,
        };
        let points = points
            .iter()
            .map(|&(value, per_cent)| CdfPoint { value, probability: per_cent / 100.0 });
        Distribution::Empirical(Empirical::new(points.collect()))
    }
}

/// Bytes, and the share of the flows in per cent that are at most as large.
type Points = &'static [(f64, f64)];

const WEB_SEARCH: Points = &[
    (0.0, 0.0),
    (10e3, 15.0),
    (20e3, 20.0),
    (30e3, 30.0),
    (50e3, 40.0),
    (80e3, 53.0),
    (200e3, 60.0),
    (1e6, 70.0),
    (2e6, 80.0),
    (5e6, 90.0),
    (10e6, 97.0),
    (30e6, 100.0),
];

const DATA_MINING: Points = &[
    (100.0, 0.0),
    (180.0, 8.5),
    (250.0, 14.0),
    (560.0, 33.0),
    (900.0, 47.0),
    (1_100.0, 55.0),
    (1_870.0, 65.0),
    (3_160.0, 70.0),
    (10e3, 80.0),
    (100_001.0, 87.4),
    (400e3, 90.0),
    (1.85e6, 95.0),
    (10e6, 97.0),
    (30e6, 98.0),
    (100e6, 99.0),
    (250e6, 99.5),
    (1e9, 100.0),
];

const HADOOP: Points = &[
    (0.0, 0.0),
    (100.0, 1.0),
    (200.0, 2.0),
    (300.0, 5.0),
    (350.0, 15.0),
    (400.0, 20.0),
    (500.0, 30.0),
    (600.0, 40.0),
    (700.0, 50.0),
    (1e3, 60.0),
    (2e3, 67.0),
    (7e3, 70.0),
    (30e3, 72.0),
    (50e3, 82.0),
    (80e3, 87.0),
    (120e3, 90.0),
    (300e3, 95.0),
    (1e6, 97.5),
    (2e6, 99.0),
    (10e6, 100.0),
];

const STORAGE: Points = &[
    (0.0, 0.0),
    (4e3, 22.93),
    (8e3, 69.21),
    (16e3, 80.61),
    (32e3, 90.47),
    (64e3, 93.53),
    (128e3, 96.77),
    (256e3, 97.53),
    (2e6, 100.0),
];

#[cfg(test)]
mod tests {
    use super::*;

    /// The means by the trapezoidal rule on the published points, computed elsewhere to the byte.
    #[test]
    fn the_means_are_those_of_the_published_points() {
        for (sizes, mean) in [
            (PublishedSizes::WebSearch, 1_711_250.0),
            (PublishedSizes::DataMining, 5_036_535.0),
            (PublishedSizes::Hadoop, 120_421.0),
            (PublishedSizes::Storage, 40_870.0),
        ] {
            let found = sizes.distribution().mean();
            assert!((found - mean).abs() < 1.0, "{sizes:?}: {found}, published {mean}");
        }
    }
}
