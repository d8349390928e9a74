//! The buffer that keeps a link busy, from the decrease of a control: (1 - beta) / beta BDP.
//!
//! A window of BDP + B packets falls to beta (BDP + B); the link stays busy if that is the BDP or
//! more.

use crate::assumptions::for_long_flows;
use crate::bottleneck::{Bottleneck, FlowClass};
use crate::rule::{Assumption, NotApplicable, Prediction, Requirement, Rule, assume};
use crate::traffic::{need_permanent_flows, refused};
use crate::window_law::{Epoch, WindowLaw};

/// Pacing gain of `BBRv1` in the round trip after it probed (Cardwell et al. 2016).
const BBR1_DRAINED: f64 = 0.75;

/// Largest buffer, in bandwidth-delay products; a control that needs more never fills the link.
const LARGEST_BUFFER: f64 = 1e4;

/// A congestion control of a link, and the number of its flows.
struct Control<'a> {
    class: &'a FlowClass,
    flows: f64,
    /// None for `BBRv1`, which ignores losses; its slow round trip drains the buffer instead.
    law: Option<WindowLaw>,
}

impl Control<'_> {
    /// Smallest utilization in a cycle: packets in flight after a decrease, as a fraction of the
    /// BDP, at most 1. It reaches 1 once and stays there.
    ///
    /// `share` is a flow's part of the BDP in packets, `buffer` is in bandwidth-delay products.
    fn minimum(&self, share: f64, buffer: f64) -> f64 {
        let Some(law) = &self.law else { return (BBR1_DRAINED + buffer).min(1.0) };
        let peak = share * (1.0 + buffer);
        let epoch = Epoch {
            peak,
            goal: peak,
            base_rtt_s: self.class.rtt_s,
            peak_rtt_s: self.class.rtt_s * (1.0 + buffer),
            window: 0.0,
            rtt_s: 0.0,
            elapsed_s: 0.0,
            rounds: 0.0,
        };
        ((1.0 - law.decrease(&epoch)) * (1.0 + buffer)).min(1.0)
    }

    /// The smallest buffer, in BDP, that keeps the link busy; infinite if no buffer does.
    fn required_bdp(&self, share: f64) -> f64 {
        if self.minimum(share, LARGEST_BUFFER) < 1.0 {
            return f64::INFINITY;
        }
        let (mut low, mut high) = (0.0, LARGEST_BUFFER);
        while high - low > 1e-13 * high {
            let middle = f64::midpoint(low, high);
            if middle <= low || middle >= high {
                break;
            }
            if self.minimum(share, middle) < 1.0 {
                low = middle;
            } else {
                high = middle;
            }
        }
        high
    }
}

/// The distinct controls of a link.
fn controls(link: &Bottleneck) -> Result<Vec<Control<'_>>, NotApplicable> {
    let mut found: Vec<Control<'_>> = Vec::new();
    for class in &link.classes {
        let same = |one: &&mut Control<'_>| {
            one.class.congestion == class.congestion && one.class.parameters == class.parameters
        };
        if let Some(known) = found.iter_mut().find(same) {
            known.flows += class.flows();
            continue;
        }
        let law = if class.congestion == "bbr1" { None } else { Some(WindowLaw::of(class)?) };
        found.push(Control { class, flows: class.flows(), law });
    }
    Ok(found)
}

/// Smallest utilization in a cycle, all flows reducing together with equal windows: the mean over
/// the flows of min(beta (1 + b), 1), of `BBRv1` min(3/4 + b, 1) (Spang, Arslan, `McKeown` 2021).
///
/// # Errors
/// The decrease of a control is not known in advance.
pub fn minimum_utilization(link: &Bottleneck) -> Result<f64, NotApplicable> {
    let buffer = link.limit_packets() / link.bdp_packets();
    let share = link.bdp_packets() / link.flows();
    let controls = controls(link)?;
    let total: f64 = controls.iter().map(|one| one.flows * one.minimum(share, buffer)).sum();
    Ok(total / link.flows())
}

fn predict(link: &Bottleneck, _target: Requirement) -> Result<Prediction, NotApplicable> {
    need_permanent_flows(link)?;
    let bdp = link.bdp_packets();
    if bdp == 0.0 {
        return Err(refused(link, "its round trips take no time"));
    }
    let share = bdp / link.flows();
    let controls = controls(link)?;
    let largest = controls.iter().map(|one| one.required_bdp(share)).fold(0.0, f64::max);
    Ok(Prediction {
        required_packets: largest * bdp,
        required_for: "full utilization".to_owned(),
        details: vec![
            ("minimum_utilization_fraction", minimum_utilization(link)?),
            ("required_bdp", largest),
        ],
        ..Prediction::default()
    })
}

fn assumptions(link: &Bottleneck) -> Result<Vec<Assumption>, NotApplicable> {
    let flows = link.flow_count();
    let kinds: Vec<&str> = link.controls().into_iter().collect();
    let own = [
        assume("all flows run one control", kinds.len() == 1, kinds.join(", ")),
        assume("one flow, or all reduce together", flows == 1, format!("{flows} flows")),
    ];
    Ok(for_long_flows(link, own))
}

pub(super) const RULE: Rule = Rule {
    name: "decrease_rule",
    short: "(1−β)/β BDP",
    title: "Rule of thumb for any decrease: (1 - beta) / beta of a bandwidth-delay product",
    source: "Spang, Arslan, McKeown 2021, IFIP Performance, arXiv:2109.11693",
    predict,
    assumptions,
};
