//! Flows that come and go: when they arrive, and what each of them draws.

use super::error::{Fault, Path, suggestion};
use super::flows::{FlowsFile, SourceFile};
use super::resolve::Inputs;
use crate::distribution::Distribution;
use crate::quantity::{Duration, PositiveDuration};
use crate::random;
use crate::topology::{FiniteFlowsSpec, FlowArrivals};
use crate::units::{Rate, Time};

/// Draws from which the mean number of packets of a flow is estimated. Only what a flow's last packet
/// has too much is, less than a packet, so that the load is off by less than one part in 10,000.
const SIZE_DRAWS: u32 = 10_000;

/// Resolves the source of a group whose flows come and go; `shortest_rtt` is its path's own.
pub(super) fn resolve_finite_flows(
    inputs: Inputs<'_>,
    name: &str,
    group: &FlowsFile,
    shortest_rtt: Time,
) -> Result<FiniteFlowsSpec, Fault> {
    let Inputs { file, cdfs, .. } = inputs;
    let SourceFile::FiniteFlows { size, load, load_of, arrivals_per_second, arrivals, flow_log } =
        &group.source
    else {
        unreachable!("the caller has looked");
    };
    let at = Path::of(&["flows", name]);
    let source = at.key("source");
    if group.count != 1 {
        let problem = "flows that come and go are not counted";
        let remedy = "remove the key; load, arrivals_per_second or arrivals says how many come";
        return Err(Fault::new(&at.key("count"), problem, remedy));
    }
    let size = size.resolve(&source.key("size"), cdfs)?;
    let start = group.start.one(&at.key("start"))?;
    let stop = group.stop.map_or(Time::NEVER, PositiveDuration::time);
    let arrivals = match (load, arrivals_per_second, arrivals) {
        (Some(load), None, None) => {
            let link = load_link(inputs, group, load_of.as_deref(), &source)?;
            let flow_bits = 8.0 * wire_bytes(file.seed, name, group, &size);
            let per_second = load * link.bits_per_second() as f64 / flow_bits;
            FlowArrivals::Poisson { per_second, start, stop }
        }
        (None, Some(per_second), None) => {
            FlowArrivals::Poisson { per_second: *per_second, start, stop }
        }
        (None, None, Some(times)) => given(times, &source.key("arrivals"))?,
        (None, None, None) => {
            let problem = "needs load, arrivals_per_second or arrivals";
            return Err(Fault::new(&source, problem, "add one of them, as in `load = 0.5`"));
        }
        _ => {
            let problem = "more than one key says when flows arrive";
            let remedy = "keep one of load, arrivals_per_second and arrivals";
            return Err(Fault::new(&source, problem, remedy));
        }
    };
    if let (Some(_), None) = (load_of, load) {
        let problem = "names the link of a load, and there is no load";
        return Err(Fault::new(&source.key("load_of"), problem, "add load, or remove the key"));
    }
    let rtt = match &group.rtt {
        Some(rtt) => rtt.distribution(&at.key("rtt"), cdfs)?,
        None => Distribution::Fixed(shortest_rtt.picoseconds() as f64),
    };
    let peak_rate = group.access_rate.as_ref();
    let peak_rate = peak_rate.map(|rate| rate.resolve(&at.key("access_rate"), cdfs)).transpose()?;
    Ok(FiniteFlowsSpec { arrivals, size, rtt, peak_rate, flow_log: *flow_log as usize })
}

/// The rate that a load is a share of.
fn load_link(
    inputs: Inputs<'_>,
    group: &FlowsFile,
    name: Option<&str>,
    source: &Path,
) -> Result<Rate, Fault> {
    // A link without a rate is refused where links are resolved.
    let no_rate = Rate::from_bits_per_second(1);
    let Some(name) = name else {
        let slowest = group.path.iter().filter_map(|link| inputs.link_rate(link)).min();
        return Ok(slowest.unwrap_or(no_rate));
    };
    if !group.path.iter().any(|link| link == name) {
        let problem = format!("the path does not pass \"{name}\"");
        let remedy = suggestion(name, group.path.iter().map(String::as_str));
        return Err(Fault::new(&source.key("load_of"), problem, remedy));
    }
    Ok(inputs.link_rate(name).unwrap_or(no_rate))
}

/// Mean bytes of a flow on the wire: every packet has a header.
fn wire_bytes(seed: u64, name: &str, group: &FlowsFile, size: &Distribution) -> f64 {
    let header = group.header_size.bytes() as f64;
    let payload = group.packet_size.bytes() as f64 - header;
    let mut stream = random::stream(seed, &format!("mean size of flows of {name}"));
    let excess = (0..SIZE_DRAWS).map(|_| {
        let packets = libm::ceil(size.sample(&mut stream)).max(1.0) / payload;
        libm::ceil(packets) - packets
    });
    let excess = excess.sum::<f64>() / f64::from(SIZE_DRAWS);
    size.mean() + header * (size.mean() / payload + excess)
}

fn given(times: &[Duration], at: &Path) -> Result<FlowArrivals, Fault> {
    for (index, pair) in times.windows(2).enumerate() {
        if pair[1].base_units() < pair[0].base_units() {
            let problem =
                format!("{} is before the arrival that comes first, {}", pair[1], pair[0]);
            let remedy = "write the arrivals in order of time";
            return Err(Fault::new(&at.index(index + 1), problem, remedy));
        }
    }
    if times.is_empty() {
        return Err(Fault::new(at, "holds no arrival", "write at least one, as in [\"1 s\"]"));
    }
    Ok(FlowArrivals::Given(times.iter().map(|time| time.time()).collect()))
}
