//! Flows that come and go: when they arrive, and what each of them draws.

use super::distribution::CdfTexts;
use super::error::{Fault, Path, suggestion};
use super::flow_list::read_list;
use super::flows::{FlowsFile, SourceFile};
use super::inputs::Inputs;
use crate::distribution::Distribution;
use crate::quantity::{Duration, PositiveDuration};
use crate::random;
use crate::traffic::finite_flows::FiniteFlowsSpec;
use crate::traffic::streaming::StreamingSpec;
use crate::traffic::trace::{TraceFlow, TraceSpec};
use crate::traffic::{FlowArrivals, SourceSpec};
use crate::units::{PICOSECONDS_PER_SECOND, Rate, Time};

/// Draws from which the mean number of packets of a flow is estimated. Only what a flow's last
/// packet has too much is, less than a packet, so that the load is off by less than one part in
/// 10,000 (in the scenarios of the papers by 2e-5 at most). `Distribution::mean_steps` has the
/// exact mean, which models read; with it here, every arrival of a published run would come at
/// another time.
const DRAWS: u32 = 10_000;

/// What the sources of a group whose flows come and go have in common.
#[derive(Clone, Copy)]
pub(super) struct Passing<'a> {
    pub(super) inputs: Inputs<'a>,
    pub(super) name: &'a str,
    pub(super) group: &'a FlowsFile,
    /// Propagation of its path.
    shortest_rtt: Time,
}

/// The keys that say when flows arrive; exactly one of `load`, `per_second` and `given` is there.
#[derive(Clone, Copy)]
pub(super) struct ArrivalKeys<'a> {
    pub(super) load: Option<f64>,
    pub(super) load_of: Option<&'a str>,
    pub(super) per_second: Option<f64>,
    pub(super) given: Option<&'a [Duration]>,
}

/// Resolves the source of a group whose flows come and go; `None` if they are permanent.
pub(super) fn resolve_passing(
    inputs: Inputs<'_>,
    name: &str,
    group: &FlowsFile,
    shortest_rtt: Time,
) -> Result<Option<SourceSpec>, Fault> {
    let passing = Passing { inputs, name, group, shortest_rtt };
    let spec = match &group.source {
        SourceFile::FiniteFlows { .. } => {
            passing.finite_flows().map(|spec| SourceSpec::FiniteFlows(Box::new(spec)))
        }
        SourceFile::Trace { .. } => passing.trace().map(|spec| SourceSpec::Trace(Box::new(spec))),
        SourceFile::Streaming { .. } => {
            passing.streaming().map(|spec| SourceSpec::Streaming(Box::new(spec)))
        }
        SourceFile::Web(web) => passing.web(web).map(|spec| SourceSpec::Web(Box::new(spec))),
        SourceFile::Bulk { .. }
        | SourceFile::Objects { .. }
        | SourceFile::Poisson { .. }
        | SourceFile::Cbr { .. }
        | SourceFile::OnOff { .. } => return Ok(None),
    };
    spec.map(Some)
}

impl Passing<'_> {
    fn at(&self) -> Path {
        Path::of(&["flows", self.name])
    }

    pub(super) fn source(&self) -> Path {
        self.at().key("source")
    }

    pub(super) fn cdfs(&self) -> &CdfTexts {
        self.inputs.cdfs
    }

    fn check_count(&self) -> Result<(), Fault> {
        if self.group.count == 1 {
            return Ok(());
        }
        let problem = "flows that come and go are not counted";
        let remedy = "remove the key; the source says how many come";
        Err(Fault::new(&self.at().key("count"), problem, remedy))
    }

    /// What a flow draws its round trip and its peak rate from.
    pub(super) fn paths(&self) -> Result<(Distribution, Option<Distribution>), Fault> {
        let at = self.at();
        let rtt = match &self.group.rtt {
            Some(rtt) => rtt.distribution(&at.key("rtt"), self.cdfs())?,
            None => Distribution::Fixed(self.shortest_rtt.picoseconds() as f64),
        };
        let peak_rate = self.group.access_rate.as_ref();
        let peak_rate = peak_rate.map(|rate| rate.resolve(&at.key("access_rate"), self.cdfs()));
        Ok((rtt, peak_rate.transpose()?))
    }

    fn start(&self) -> Result<Time, Fault> {
        self.group.start.one(&self.at().key("start"))
    }

    fn stop(&self) -> Time {
        self.group.stop.map_or(Time::NEVER, PositiveDuration::time)
    }

    fn finite_flows(&self) -> Result<FiniteFlowsSpec, Fault> {
        let SourceFile::FiniteFlows {
            size,
            load,
            load_of,
            arrivals_per_second,
            arrivals,
            flow_log,
        } = &self.group.source
        else {
            unreachable!("the caller has looked");
        };
        let size = size.resolve(&self.source().key("size"), self.cdfs())?;
        let keys = ArrivalKeys {
            load: *load,
            load_of: load_of.as_deref(),
            per_second: *arrivals_per_second,
            given: arrivals.as_deref(),
        };
        let arrivals = self.arrivals(keys, || self.wire_bytes(&size))?;
        let (rtt, peak_rate) = self.paths()?;
        Ok(FiniteFlowsSpec { arrivals, size, rtt, peak_rate, flow_log: *flow_log as usize })
    }

    fn streaming(&self) -> Result<StreamingSpec, Fault> {
        let SourceFile::Streaming {
            rate,
            duration,
            load,
            load_of,
            arrivals_per_second,
            arrivals,
            flow_log,
        } = &self.group.source
        else {
            unreachable!("the caller has looked");
        };
        let rate = rate.resolve(&self.source().key("rate"), self.cdfs())?;
        let duration = duration.resolve(&self.source().key("duration"), self.cdfs())?;
        let keys = ArrivalKeys {
            load: *load,
            load_of: load_of.as_deref(),
            per_second: *arrivals_per_second,
            given: arrivals.as_deref(),
        };
        let arrivals = self.arrivals(keys, || self.media_bytes(&rate, &duration))?;
        let (rtt, access_rate) = self.paths()?;
        if access_rate.is_some() {
            let problem = "a media flow has its own rate, whatever its access link";
            let remedy = "remove the key; the source's rate says how fast it sends";
            return Err(Fault::new(&self.at().key("access_rate"), problem, remedy));
        }
        Ok(StreamingSpec { arrivals, duration, rate, rtt, flow_log: *flow_log as usize })
    }

    fn trace(&self) -> Result<TraceSpec, Fault> {
        let SourceFile::Trace { file, flow_log } = &self.group.source else {
            unreachable!("the caller has looked");
        };
        self.check_count()?;
        let (start, stop) = (self.start()?, self.stop());
        let at = self.source().key("file");
        let text = self.cdfs().get(file).map_or("", String::as_str);
        let flows = read_list(text).map_err(|(problem, remedy)| {
            Fault::new(&at, format!("\"{file}\" {problem}"), remedy)
        })?;
        let shifted = flows.into_iter().map(|flow| TraceFlow { start: flow.start + start, ..flow });
        let flows = shifted.take_while(|flow| flow.start < stop).collect();
        let (rtt, peak_rate) = self.paths()?;
        Ok(TraceSpec { flows, rtt, peak_rate, flow_log: *flow_log as usize })
    }

    /// When flows arrive that have so many bytes on average.
    pub(super) fn arrivals(
        &self,
        keys: ArrivalKeys<'_>,
        mean_wire_bytes: impl FnOnce() -> f64,
    ) -> Result<FlowArrivals, Fault> {
        let source = self.source();
        self.check_count()?;
        let (start, stop) = (self.start()?, self.stop());
        let arrivals = match (keys.load, keys.per_second, keys.given) {
            (Some(load), None, None) => {
                let link = self.load_link(keys.load_of)?;
                let flow_bits = 8.0 * mean_wire_bytes();
                let per_second = load * link.bits_per_second() as f64 / flow_bits;
                FlowArrivals::Poisson { per_second, start, stop }
            }
            (None, Some(per_second), None) => FlowArrivals::Poisson { per_second, start, stop },
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
        if let (Some(_), None) = (keys.load_of, keys.load) {
            let problem = "names the link of a load, and there is no load";
            return Err(Fault::new(&source.key("load_of"), problem, "add load, or remove the key"));
        }
        Ok(arrivals)
    }

    /// The rate that a load is a share of.
    fn load_link(&self, name: Option<&str>) -> Result<Rate, Fault> {
        // A link without a rate is refused where links are resolved.
        let no_rate = Rate::from_bits_per_second(1);
        let path = &self.group.path;
        let Some(name) = name else {
            let slowest = path.iter().filter_map(|link| self.inputs.link_rate(link)).min();
            return Ok(slowest.unwrap_or(no_rate));
        };
        if !path.iter().any(|link| link == name) {
            let problem = format!("the path does not pass \"{name}\"");
            let remedy = suggestion(name, path.iter().map(String::as_str));
            return Err(Fault::new(&self.source().key("load_of"), problem, remedy));
        }
        Ok(self.inputs.link_rate(name).unwrap_or(no_rate))
    }

    /// What rounding adds to a draw, on average.
    fn mean_excess(
        &self,
        what: &str,
        draw: impl FnMut(&mut rand_xoshiro::Xoshiro256PlusPlus) -> (f64, f64),
    ) -> f64 {
        let stream = format!("mean {what} of flows of {}", self.name);
        mean_excess(self.inputs.file.seed, &stream, draw)
    }

    /// Mean bytes of a flow on the wire: every packet has a header.
    pub(super) fn wire_bytes(&self, size: &Distribution) -> f64 {
        let header = self.group.header_size.bytes() as f64;
        let payload = self.group.packet_size.bytes() as f64 - header;
        let excess = self.mean_excess("size", |stream| {
            let packets = libm::ceil(size.sample(stream)).max(1.0) / payload;
            (packets, libm::ceil(packets))
        });
        size.mean() + header * (size.mean() / payload + excess)
    }

    /// The same of a media flow: all packets are full.
    fn media_bytes(&self, rate: &Distribution, duration: &Distribution) -> f64 {
        let packet = self.group.packet_size.bytes() as f64;
        let packets = 1.0 / (8.0 * packet * PICOSECONDS_PER_SECOND as f64);
        let excess = self.mean_excess("length", |stream| {
            let exact = rate.sample(stream) * duration.sample(stream) * packets;
            (exact, libm::ceil(exact))
        });
        packet * (rate.mean() * duration.mean() * packets + excess)
    }
}

/// What rounding adds to a draw from the stream of this name, on average.
fn mean_excess(
    seed: u64,
    stream: &str,
    mut draw: impl FnMut(&mut rand_xoshiro::Xoshiro256PlusPlus) -> (f64, f64),
) -> f64 {
    let mut stream = random::stream(seed, stream);
    let excess = (0..DRAWS).map(|_| {
        let (exact, rounded) = draw(&mut stream);
        rounded - exact
    });
    excess.sum::<f64>() / f64::from(DRAWS)
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
