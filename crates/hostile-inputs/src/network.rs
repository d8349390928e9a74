//! A network that a program has built: a good network in which some fields have other values.

use tailroom_engine::link::LinkSpec;
use tailroom_engine::link::ingress_pool::IngressMember;
use tailroom_engine::link::line::LineSpec;
use tailroom_engine::link::pause::PauseSpec;
use tailroom_engine::link::policer::PolicerSpec;
use tailroom_engine::link::reorder::ReorderSpec;
use tailroom_engine::link::serializer::RateChange;
use tailroom_engine::link::shaper::ShaperSpec;
use tailroom_engine::link::spec::DelayChange;
use tailroom_engine::link::wire_loss::LossSpec;
use tailroom_engine::network::{FlowSpec, GroupSpec, Network};
use tailroom_engine::pool::policy::PolicyConfig;
use tailroom_engine::pool::policy::dynamic_threshold::DynamicThresholdParams;
use tailroom_engine::pool::{PoolMember, PoolSpec};
use tailroom_engine::quantity::limit::QueueLimit;
use tailroom_engine::quantity::{BitRate, PositiveDuration, Size, SizeOrZero};
use tailroom_engine::scenario;
use tailroom_engine::tcp::TcpSpec;
use tailroom_engine::traffic::bulk::BulkParams;
use tailroom_engine::traffic::cbr::CbrParams;
use tailroom_engine::traffic::poisson::{PacketSizes, PoissonSpec};
use tailroom_engine::units::{Rate, Time};

use crate::{Files, parameters};

/// More would only repeat fields.
const MOST_EDITS: usize = 8;

/// The good network, changed field by field as the bytes say: which field, of which link, group or
/// flow, and its value.
pub(crate) fn of_bytes(bytes: &[u8]) -> Network {
    let good = scenario::parse(include_str!("network.toml"), &[], Some(1), &Files { text: "" })
        .and_then(|scenario| scenario.resolve());
    let mut network = good.expect("the scenario is valid");
    let mut bytes = Bytes(bytes);
    for _ in 0..MOST_EDITS {
        let Some(field) = bytes.next() else { break };
        let (at, value) = (bytes.next().unwrap_or(0).into(), bytes.number());
        edit(&mut network, field.into(), at, value);
    }
    network
}

struct Bytes<'a>(&'a [u8]);

impl Bytes<'_> {
    fn next(&mut self) -> Option<u8> {
        let (&first, rest) = self.0.split_first()?;
        self.0 = rest;
        Some(first)
    }

    /// A number of up to eight bytes, counted down from the largest if the first byte is 128 or more.
    fn number(&mut self) -> u64 {
        let first = self.next().unwrap_or(0);
        let magnitude =
            (0..first % 9).fold(0, |sum, _| sum << 8 | u64::from(self.next().unwrap_or(0)));
        if first >= 128 { u64::MAX - magnitude } else { magnitude }
    }
}

/// Field numbers from here on are those of [`parameters::edit`].
const FIRST_PARAMETER: usize = 240;

/// Sets a field by its number; `at` says of which link, group or flow.
fn edit(network: &mut Network, field: usize, at: usize, value: u64) {
    if field >= FIRST_PARAMETER {
        return parameters::edit(network, field - FIRST_PARAMETER, at, value);
    }
    match field % 4 {
        0 => edit_run(network, field / 4, value),
        1 => {
            let links = network.links.len();
            edit_link(&mut network.links[at % links], field / 4, value);
        }
        2 => {
            let groups = network.groups.len();
            edit_group(&mut network.groups[at % groups], field / 4, value);
        }
        _ => edit_flow(network, at, field / 4, value),
    }
}

fn edit_run(network: &mut Network, field: usize, value: u64) {
    let time = Time::from_picoseconds(value);
    match field % 8 {
        0 => network.duration = time,
        1 => network.measure_from = time,
        2 => network.series_interval = Some(time),
        3 => network.seed = value,
        4 => network.links.truncate((network.links.len() - 1).max(1)),
        5 => network.groups.truncate((network.groups.len() - 1).max(1)),
        6 => network.flows.clear(),
        _ => {
            let policy = PolicyConfig::DynamicThreshold(DynamicThresholdParams::default());
            let mut pool = PoolSpec::new(value, policy);
            (pool.name, pool.cell_bytes) = (network.pools.len().to_string(), value as u32);
            network.pools.push(pool);
            let member = PoolMember::new(network.pools.len() - 1);
            network.links.iter_mut().for_each(|link| link.pool = Some(member));
        }
    }
}

fn edit_link(link: &mut LinkSpec, field: usize, value: u64) {
    let (time, rate) = (Time::from_picoseconds(value), Rate::from_bits_per_second(value));
    match field % 23 {
        0 => link.rate = rate,
        1 => link.delay = time,
        2 => *link.queue.parameters_mut().amounts()[0].1 = QueueLimit::packets(value),
        3 => *link.queue.parameters_mut().amounts()[0].1 = QueueLimit::bytes(value),
        4 => link.rate_changes.push(RateChange::new(time, rate)),
        5 => link.rate_changes.push(RateChange::new(Time::from_milliseconds(200), rate)),
        6 => link.rate_period = Some(time),
        7 => link.delay_changes.push(DelayChange::new(time, Time::ZERO)),
        8 => {
            let at = Time::from_milliseconds(200);
            link.delay_changes.push(DelayChange::new(at, time));
        }
        9 => {
            link.loss = LossSpec::Periodic { every: value };
            let extra_delay = PositiveDuration::new(value);
            let reorder = ReorderSpec::Periodic { every: value / 3, extra_delay };
            link.reorder = value.is_multiple_of(3).then_some(reorder);
        }
        10 => link.loss = LossSpec::Bernoulli { probability: f64::from_bits(value) },
        11 => link.arrival_dispersion = Some(PositiveDuration::new(time.picoseconds())),
        12 => {
            if let Some(admission) = &mut link.admission {
                admission.interval = PositiveDuration::new(value);
            }
        }
        19 => {
            let mut member = PoolMember::new((value % 3) as usize);
            (member.reserved_bytes, member.alpha) = (value, Some(f64::from_bits(value)));
            member.port = value.is_multiple_of(2).then_some(value as u32);
            member.priority = value.is_multiple_of(3).then_some(value as u32);
            link.pool = Some(member);
        }
        20 => {
            let [xoff, headroom] = [value, value / 2].map(Size::new);
            link.pause = Some(PauseSpec::new(xoff, SizeOrZero::new(value / 3), headroom));
            let mut member = IngressMember::new((value % 2) as usize, f64::from_bits(value));
            member.xon_offset = value;
            link.ingress = value.is_multiple_of(3).then_some(member);
        }
        21 => {
            let mut place = LineSpec::new("line");
            (place.priority, place.weight) = (value as u32 % 9, f64::from_bits(value));
            link.line = Some(place);
        }
        22 => link.is_acted_on = !link.is_acted_on,
        13 => (link.bdp_bytes, link.packet_bytes) = (f64::from_bits(value), value as f64),
        field => edit_token_buckets(link, field - 14, value),
    }
}

fn edit_token_buckets(link: &mut LinkSpec, field: usize, value: u64) {
    let rate = BitRate::new(link.rate.bits_per_second());
    let mut shaper = link.shaper.unwrap_or(ShaperSpec::new(rate, Size::new(3_000)));
    match field {
        0 => shaper.rate = BitRate::new(value),
        1 => shaper.burst = Size::new(value),
        2 => shaper.granularity = Some(PositiveDuration::new(value)),
        3 => {
            shaper.overhead = Some(Size::new(value));
            shaper.peak_rate = Some(BitRate::new(value));
        }
        _ => link.policer = Some(PolicerSpec::new(BitRate::new(value), Size::new(value))),
    }
    link.shaper = Some(shaper);
}

fn edit_group(group: &mut GroupSpec, field: usize, value: u64) {
    let (time, link) = (Time::from_picoseconds(value), value as usize);
    match field % 14 {
        0 => group.path.push(link),
        1 => group.path = vec![link],
        2 => group.path.clear(),
        3 => group.reverse_path.push(link),
        4 => group.packet_size = value as u32,
        5 => group.header_size = value as u32,
        6 => group.stop = Some(time),
        7 => group.send_jitter = Some(time),
        8 => group.tcp = None,
        9 => group.source = BulkParams::transfer(Size::new(value)).into(),
        10 => group.source = CbrParams::at_once(Rate::from_bits_per_second(value)).into(),
        11 => {
            let rate = Rate::from_bits_per_second(value);
            group.source = PoissonSpec::new(rate, PacketSizes::Fixed).into();
        }
        12 => group.name.clear(),
        _ => {
            if let Some(tcp) = &mut group.tcp {
                edit_transport(tcp, field / 14, value);
            }
        }
    }
}

fn edit_transport(tcp: &mut TcpSpec, field: usize, value: u64) {
    match field % 6 {
        0 => tcp.initial_window = value as u32,
        1 => tcp.initial_ssthresh = Some(value as u32),
        2 => tcp.max_window = Some(value),
        3 => tcp.min_rto = PositiveDuration::new(value),
        4 => tcp.ack_size = Some(Size::new(value)),
        _ => tcp.initial_rto = Some(PositiveDuration::new(value)),
    }
}

fn edit_flow(network: &mut Network, at: usize, field: usize, value: u64) {
    if network.flows.is_empty() {
        let flow = FlowSpec::new(0, Time::ZERO);
        network.flows.push(flow);
    }
    let flows = network.flows.len();
    let flow = &mut network.flows[at % flows];
    match field % 4 {
        0 => flow.group = value as usize,
        1 => flow.rtt = Time::from_picoseconds(value),
        2 => flow.start = Time::from_picoseconds(value),
        _ => flow.access_rate = Some(Rate::from_bits_per_second(value)),
    }
}
