//! One bandwidth-delay product keeps a link busy after a window is halved.

use crate::assumptions::{for_long_flows, only_controls};
use crate::bottleneck::Bottleneck;
use crate::rule::{Assumption, NotApplicable, Prediction, Requirement, Rule, assume};
use crate::traffic::need_permanent_flows;

fn predict(link: &Bottleneck, _target: Requirement) -> Result<Prediction, NotApplicable> {
    need_permanent_flows(link)?;
    Ok(Prediction {
        required_packets: link.bdp_packets(),
        required_for: "full utilization".to_owned(),
        ..Prediction::default()
    })
}

fn assumptions(link: &Bottleneck) -> Result<Vec<Assumption>, NotApplicable> {
    let flows = link.flow_count();
    let own = [
        only_controls(link, &["reno"]),
        assume("one flow, or all reduce together", flows == 1, format!("{flows} flows")),
    ];
    Ok(for_long_flows(link, own))
}

pub(super) const RULE: Rule = Rule {
    name: "rule_of_thumb",
    short: "C·RTT",
    title: "Rule of thumb: one bandwidth-delay product",
    source: "Villamizar and Song 1994, CCR 24(5)",
    predict,
    assumptions,
};
