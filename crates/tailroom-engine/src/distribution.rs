//! stub
use rand_core::Rng;
use rand_distr::{Distribution as _, Exp1};
#[derive(Clone, Debug, PartialEq)]
pub enum Distribution { Fixed(f64), Exponential { mean: f64 } }
impl Distribution {
    pub fn sample(&self, random: &mut impl Rng) -> f64 {
        match self {
            Distribution::Fixed(value) => *value,
            Distribution::Exponential { mean } => { let draw: f64 = Exp1.sample(random); draw * mean }
        }
    }
    pub fn mean(&self) -> f64 { match self { Distribution::Fixed(value) => *value, Distribution::Exponential { mean } => *mean } }
    pub fn minimum(&self) -> f64 { match self { Distribution::Fixed(value) => *value, _ => 0.0 } }
}
