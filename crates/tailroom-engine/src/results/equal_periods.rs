//! Equal periodic flows whose phases decide for the whole run which of them lose packets.

use std::collections::{BTreeMap, BTreeSet};

use super::finished_run::FinishedRun;
use super::warning::{Warning, WarningKind, list};
use crate::link::Link;
use crate::network::FlowSpec;
use crate::quantity::PositiveDuration;
use crate::queue::QueueConfig;
use crate::units::Time;

/// A flow that loses less than this share of its packets is not singled out.
const LEAST_LOSS: f64 = 0.1;
/// Equal flows of which one loses this many times the share of another are not treated equally.
const TIMES_AS_MUCH: f64 = 10.0;
/// Fewer packets than this per flow say nothing of a share.
const FEW_PACKETS: u64 = 100;
/// Flows are compared if each sends during this share of the measured window, so that nearly all
/// of their packets meet the same queues.
const MOST_OF_THE_WINDOW: f64 = 0.9;

/// What equal periodic flows have in common: the links on their paths that lose packets, the
/// period, and the size of a packet.
type Common = (Vec<usize>, Time, u32);

/// Equal periodic flows, and the extremes of the share of its packets that one of them lost.
struct Equals {
    groups: BTreeSet<usize>,
    flows: u64,
    least: f64,
    most: f64,
}

/// Flows that send with the same period, of which some lose packets and others do not: in each
/// period a flow meets what the same flows have left of the queue. Queues per flow do not depend on
/// phases.
pub(super) fn equal_periods(run: &FinishedRun<'_>) -> Vec<Warning> {
    let is_lossy: Vec<bool> = run.links.iter().map(is_lossy).collect();
    let mut kinds: BTreeMap<Common, Equals> = BTreeMap::new();
    for (flow, data) in run.network.flows.iter().zip(&run.flows) {
        let group = &run.network.groups[flow.group];
        let Some(period) = group.source.period(group.packet_size) else { continue };
        if data.window.sent < FEW_PACKETS || !sends_throughout(run, flow) {
            continue;
        }
        let path = group.path_of(flow.route);
        let links = path.iter().copied().filter(|&link| is_lossy[link]).collect();
        let lost = data.account.lost_measured as f64 / data.window.sent as f64;
        let equals = kinds.entry((links, period, group.packet_size)).or_insert(Equals {
            groups: BTreeSet::new(),
            flows: 0,
            least: lost,
            most: lost,
        });
        equals.groups.insert(flow.group);
        equals.flows += 1;
        equals.least = equals.least.min(lost);
        equals.most = equals.most.max(lost);
    }
    let is_unequal =
        |equals: &Equals| equals.most >= LEAST_LOSS && equals.most >= TIMES_AS_MUCH * equals.least;
    let by_order = |links: &[usize]| !links.iter().any(|&link| has_queue_per_flow(run, link));
    let locked = kinds.into_iter();
    let locked = locked.filter(|((links, ..), equals)| is_unequal(equals) && by_order(links));
    locked.map(|((links, period, _), equals)| warning(run, &links, period, &equals)).collect()
}

/// Whether packets were lost at a link in the measured window.
fn is_lossy(link: &Link) -> bool {
    let totals = link.probe.totals();
    totals.random_losses > 0 || totals.drops.iter().any(|&drops| drops > 0)
}

fn has_queue_per_flow(run: &FinishedRun<'_>, link: usize) -> bool {
    let queue = &run.network.links[link].queue;
    matches!(
        queue,
        QueueConfig::Fair(_)
            | QueueConfig::FqCodel(_)
            | QueueConfig::FqPie(_)
            | QueueConfig::Cake(_)
    )
}

/// Whether a flow sends during most of the measured window.
fn sends_throughout(run: &FinishedRun<'_>, flow: &FlowSpec) -> bool {
    let network = run.network;
    let from = flow.start.max(network.measure_from);
    let to = network.groups[flow.group].stop.unwrap_or(Time::NEVER).min(network.duration);
    from < to && to.since(from).seconds() >= MOST_OF_THE_WINDOW * run.measured_s()
}

fn warning(run: &FinishedRun<'_>, links: &[usize], period: Time, equals: &Equals) -> Warning {
    let named = |kind: &str, names: &mut dyn Iterator<Item = &String>| {
        list(&names.map(|name| format!("{kind}.{name}")).collect::<Vec<_>>())
    };
    let groups = &run.network.groups;
    let place = named("flows", &mut equals.groups.iter().map(|&group| &groups[group].name));
    let links = named("links", &mut links.iter().map(|&link| &run.network.links[link].name));
    let (flows, least, most) = (equals.flows, equals.least, equals.most);
    let text = format!(
        "{place}: of {flows} equal flows, each of which repeats itself every {period}, one loses \
         {:.1} % of its packets and another {:.1} % at {links}: the phases of their first packets \
         decide that for the whole run, where the clocks of real hosts drift apart. Set send_jitter = \
         \"{period}\", or kind = \"poisson\" at the source; or use figures of all these flows \
         together, which phases hardly change",
        100.0 * most,
        100.0 * least,
        period = PositiveDuration::new(period.picoseconds()),
    );
    let values =
        [("flows", flows as f64), ("loss_fraction_min", least), ("loss_fraction_max", most)];
    Warning::new(WarningKind::EqualPeriods, place, &values, text)
}
