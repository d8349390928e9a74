//! What a run draws whatever its packets do, where the mean of such draws is known.

use super::Scenario;
use super::format::flows::PerFlow;
use crate::dynamic_flows::source_group;
use crate::network::{GroupSpec, Network};
use crate::traffic::arrivals::FlowArrivals;
use crate::traffic::finite_flows::{FiniteFlows, FiniteFlowsSpec};
use crate::traffic::{DataSpec, FlowSource, FlowSourceSpec, SourceSpec};
use crate::units::Time;

/// How far from its mean something is that a group draws in one run: of permanent flows that each draw
/// their RTT evenly from a range, the mean of 1 / RTT, to which the window law makes their rates
/// proportional; of flows that arrive as a Poisson process, the bytes of those of the measured window.
#[derive(Clone, Debug, PartialEq)]
pub struct Variate {
    /// Name of the group.
    pub group: String,
    /// The draw relative to its expected value, less 1; 0 on average over seeds.
    pub deviation: f64,
}

impl Scenario {
    /// The variates of a run. Those that mostly explain more come first: of permanent flows before those
    /// of flows that arrive, and of more traffic before those of less.
    ///
    /// `network` is that of the scenario with the seed of the run.
    pub fn variates(&self, network: &Network) -> Vec<Variate> {
        let (mut permanent, mut arriving) = (Vec::new(), Vec::new());
        for (index, group) in network.groups.iter().enumerate() {
            let (found, of) = match &group.source {
                SourceSpec::Data(DataSpec::Bulk(_)) => {
                    (self.of_round_trips(network, index), &mut permanent)
                }
                SourceSpec::Flows(FlowSourceSpec::FiniteFlows(flows)) => {
                    (of_arrivals(network, group, flows), &mut arriving)
                }
                _ => continue,
            };
            let named =
                |(weight, deviation)| (weight, Variate { group: group.name.clone(), deviation });
            of.extend(found.map(named));
        }
        let most_first = |all: &mut Vec<(f64, Variate)>| all.sort_by(|a, b| b.0.total_cmp(&a.0));
        most_first(&mut permanent);
        most_first(&mut arriving);
        permanent.into_iter().chain(arriving).map(|(_, variate)| variate).collect()
    }

    /// The number of permanent flows of a group, and the deviation of their RTTs.
    fn of_round_trips(&self, network: &Network, group: usize) -> Option<(f64, f64)> {
        let rtt = self.file.flows.get(&network.groups[group].name)?.rtt.as_ref()?;
        let PerFlow::Uniform { uniform: [low, high] } = rtt else { return None };
        let (low, high) = (low.time().seconds(), high.time().seconds());
        // The mean of 1 / x over an interval.
        let expected = (low < high).then(|| libm::log(high / low) / (high - low))?;
        let flows = network.members(group);
        let count = flows.len() as f64;
        let rates = flows.map(|flow| 1.0 / network.flows[flow as usize].rtt.seconds());
        Some((count, rates.sum::<f64>() / count / expected - 1.0))
    }
}

/// The bytes that a group offers in the measured window on average, and their deviation.
fn of_arrivals(
    network: &Network,
    group: &GroupSpec,
    flows: &FiniteFlowsSpec,
) -> Option<(f64, f64)> {
    let FlowArrivals::Poisson { per_second, start, stop } = &flows.arrivals else { return None };
    let (from, to) = (network.measure_from.max(*start), network.duration.min(*stop));
    let expected = (to > from).then(|| per_second * (to - from).seconds())?;
    let mut source = FiniteFlows::new(flows, &source_group(network, group), Time::ZERO);
    let mut bytes = 0.0;
    while source.next_arrival() < to {
        let flow = source.next_flow()?;
        if flow.start >= from {
            bytes += flow.bytes.unwrap_or(0) as f64;
        }
    }
    // Sizes are rounded up to whole bytes.
    let mean = expected * flows.size.mean_steps(1.0);
    Some((mean, bytes / mean - 1.0))
}

#[cfg(test)]
mod tests {
    use super::Variate;
    use crate::Simulation;
    use crate::scenario::{NoFiles, Scenario, parse};

    fn scenario(rtt: &str, others: &str) -> Scenario {
        let text = format!(
            r#"
            duration = "5 s"
            measure_from = "1 s"
            [links.access]
            rate = "20 Mbit/s"
            delay = "1 ms"
            queue = {{ kind = "drop_tail", limit = "50 packets" }}
            [flows.downloads]
            count = 3
            path = ["access"]
            congestion = "cubic"
            rtt = {rtt}
            {others}
            "#
        );
        parse(&text, &[], None, &NoFiles).expect("a scenario")
    }

    const DRAWN: &str = "{ uniform = [\"5 ms\", \"200 ms\"] }";

    fn web(arrivals: &str) -> String {
        format!(
            "[flows.web]\npath = [\"access\"]\ncongestion = \"cubic\"\nrtt = \"40 ms\"\nstart = \"2 s\"\nstop = \"4 s\"
            source = {{ kind = \"finite_flows\", size = {{ kind = \"exponential\", mean = \"10 kB\" }}, \
             {arrivals} }}"
        )
    }

    fn variates(one: &Scenario, seed: u64) -> Vec<Variate> {
        let one = one.with_seed(seed).expect("a seed");
        one.variates(&one.resolve().expect("a network"))
    }

    /// The mean of 1 / x between 0.005 and 0.2, by the rule of Simpson.
    fn mean_rate() -> f64 {
        let (steps, low, high) = (10_000_u32, 0.005, 0.2);
        let at = |step: u32| 1.0 / (low + (high - low) * f64::from(step) / f64::from(steps));
        let inner: f64 =
            (1..steps).map(|step| at(step) * if step % 2 == 1 { 4.0 } else { 2.0 }).sum();
        (at(0) + inner + at(steps)) / (3.0 * f64::from(steps))
    }

    #[test]
    fn that_of_the_rtts_is_of_the_flows_of_the_run() {
        let one = scenario(DRAWN, "");
        for seed in [1, 7, 1 << 40] {
            let network = one.with_seed(seed).and_then(|one| one.resolve()).expect("a network");
            let rates = network.flows.iter().map(|flow| 1.0 / flow.rtt.seconds());
            let mean = rates.sum::<f64>() / network.flows.len() as f64;
            let [variate] = &variates(&one, seed)[..] else { panic!("one group draws") };
            assert_eq!(variate.group, "downloads");
            let expected = mean / mean_rate() - 1.0;
            assert!((variate.deviation - expected).abs() < 1e-6, "{variate:?}");
        }
    }

    /// Within four standard errors. The square of 1 / RTT has the mean 1 / (0.005 x 0.2). The bytes of n
    /// flows of a Poisson process, of exponential sizes, have the relative variance 2 / n.
    #[test]
    fn they_are_0_on_average_over_seeds() {
        let one = scenario(DRAWN, &web("arrivals_per_second = 20.0"));
        let seeds = 3_000_u32;
        let mut sums = [0.0; 2];
        for seed in 0..seeds {
            let found = variates(&one, seed.into());
            assert_eq!(found.len(), 2);
            for (sum, variate) in sums.iter_mut().zip(&found) {
                *sum += variate.deviation / f64::from(seeds);
            }
        }
        let of_rtts = (1_000.0 / mean_rate().powi(2) - 1.0) / 3.0;
        for (mean, variance) in sums.iter().zip([of_rtts, 2.0 / 40.0]) {
            assert!(mean.abs() < 4.0 * (variance / f64::from(seeds)).sqrt(), "{sums:?}");
        }
    }

    #[test]
    fn that_of_the_offered_bytes_is_of_the_flows_of_the_run() {
        let one = scenario("\"40 ms\"", &web("arrivals_per_second = 20.0, flow_log = 1000"));
        for seed in [1, 2, 3] {
            let network = one.with_seed(seed).and_then(|one| one.resolve()).expect("a network");
            let [variate] = &variates(&one, seed)[..] else { panic!("one group draws") };
            let run = Simulation::new(&network).expect("a run").finish().expect("a result");
            let log = run.tables.flow_log.expect("a log");
            // 20 flows of 10 kB a second for 2 s. A second after the last arrival, all are complete.
            let expected = log.bytes.iter().sum::<f64>() / (20.0 * 2.0 * 10_000.5) - 1.0;
            assert!((variate.deviation - expected).abs() < 1e-5, "{variate:?} {expected}");
        }
    }

    #[test]
    fn permanent_flows_and_more_flows_come_first() {
        let two = "[flows.more]\ncount = 4\npath = [\"access\"]\ncongestion = \"reno\"
            rtt = { uniform = [\"10 ms\", \"20 ms\"] }";
        let one = scenario(DRAWN, &format!("{}\n{two}", web("arrivals_per_second = 20.0")));
        let groups = variates(&one, 1).into_iter().map(|variate| variate.group);
        assert_eq!(groups.collect::<Vec<_>>(), ["more", "downloads", "web"]);
    }

    #[test]
    fn groups_whose_mean_is_not_known_have_none() {
        assert!(variates(&scenario("\"40 ms\"", ""), 1).is_empty());
        assert!(variates(&scenario("{ from = \"20 ms\", to = \"40 ms\" }", ""), 1).is_empty());
        assert!(variates(&scenario("{ uniform = [\"40 ms\", \"40 ms\"] }", ""), 1).is_empty());
        let periodic = web("period = \"100 ms\"");
        assert!(variates(&scenario("\"40 ms\"", &periodic), 1).is_empty());
    }
}
