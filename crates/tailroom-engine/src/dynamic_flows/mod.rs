//! Dynamic flows, which arrive and depart: the next arrival, the free numbers, and the probes that
//! keep the measurements of departed flows.
//!
//! A dynamic flow gets a number behind those of the permanent flows. The number is free again when
//! all packets of the flow are accounted for, so that memory is proportional to the flows in
//! progress.

pub mod bottlenecked;
mod waits;

use crate::custom::CustomFault;
use crate::fabric::{HostPairs, Route};
use crate::link::Link;
use crate::network::{GroupSpec, Network};
use crate::probe::coflows::CoflowProbe;
use crate::probe::dynamic_flows::{DynamicFlowProbe, FlowStart};
use crate::random::Stream;
use crate::tcp::sender::handshake::Handshake;
use crate::tournament::Tournament;
use crate::traffic::context::Group;
use crate::traffic::draws::MIN_RTT;
use crate::traffic::pace::Pace;
use crate::traffic::{AnyFlowSource, FlowRequest, FlowSource, SourceSpec};
use crate::units::{PICOSECONDS_PER_SECOND, Rate, Time};
use waits::Waits;

/// The groups of dynamic flows.
#[derive(Clone, Debug)]
pub struct FlowGenerators {
    all: Vec<FlowGenerator>,
    /// By generator, the time of its next arrival; [`Time::NEVER`] if there is none.
    arrivals: Tournament,
    /// Number of the first flow that is not permanent.
    first_number: u32,
    /// By generator, the numbers that are free again. A number stays with its group.
    free: Vec<Vec<u32>>,
    reuses_numbers: bool,
    /// By number, from `first_number` on.
    active_flows: Vec<ActiveFlow>,
    /// Whether a source lets no time pass.
    pub stands_still: bool,
}

/// A group of dynamic flows.
#[derive(Clone, Debug)]
pub struct FlowGenerator {
    /// Its index in [`Network::groups`].
    pub group: usize,
    source: AnyFlowSource,
    /// Draws the hosts of flows for which the source does not choose them.
    pairs: Stream,
    /// Whether the source lets time pass, and when it did not.
    pace: Pace,
    stands_still_at: Option<Time>,
    /// For connections that are in use; `None` if the flows open theirs, or do not know its RTT.
    waits: Option<Waits>,
    /// What is measured here.
    pub probe: DynamicFlowProbe,
}

/// The most flows of a group that begin or are refused within a tenth of a millisecond, ten times as many as a
/// scenario may ask for. A source may begin the next flow when one is refused.
const MOST_AT_ONCE: u32 = 1_000_000;
const SPAN: Time = Time::from_picoseconds(100_000_000);

impl FlowGenerator {
    /// Counts a flow; returns whether the source lets time pass.
    fn count_arrival(&mut self, start: Time) -> bool {
        if self.pace.exceeds(start) {
            self.stands_still_at = Some(start);
        }
        self.stands_still_at.is_none()
    }

    /// Why the source stops the run, if it does.
    fn fault(&self) -> Option<CustomFault> {
        let stands_still = self.stands_still_at.map(|time| CustomFault {
            time,
            problem: format!(
                "begins more than {MOST_AT_ONCE} flows in 0.1 ms; let time pass between them, and \
                 between one that is refused and the next"
            ),
        });
        self.source.fault().cloned().or(stands_still)
    }

    fn complete(&mut self, tag: u32, at: Time) {
        self.source.on_completion(tag, at);
        if let (Some(coflows), Some(probe)) = (self.source.coflows(), &mut self.probe.coflows) {
            coflows.take_completed().for_each(|coflow| probe.on_end(coflow.start, coflow.end));
        }
    }
}

/// A flow in progress.
#[derive(Clone, Copy, Debug)]
pub struct ActiveFlow {
    /// Index of its generator.
    pub generator: usize,
    /// Its start.
    pub flow_start: FlowStart,
    /// The rate that it cannot exceed: the rate of its access link or of its media.
    pub peak_rate: Option<Rate>,
    /// Its route, if its group's flows run between hosts.
    pub route: Option<Route>,
    /// Its RTT without queues.
    rtt: Time,
    /// Identifies the flow to its source.
    tag: u32,
}

/// A flow that begins.
#[derive(Clone, Copy, Debug)]
pub struct Admitted {
    /// Its number.
    pub number: u32,
    /// Index of its group.
    pub group: usize,
    /// What it is to do.
    pub request: FlowRequest,
    /// What waits on its path as far as a connection in use knows.
    pub wait: Time,
}

impl FlowGenerators {
    /// The generators of `network`, before the first arrival.
    pub fn new(network: &Network) -> Self {
        let all = network.groups.iter().enumerate().filter_map(|(index, group)| {
            let SourceSpec::Flows(source) = &group.source else { return None };
            let (forward, backward) = network.propagation(group, None);
            let mut source = source.start(&source_group(network, group), forward + backward);
            let coflows = source.coflows().map(|_| CoflowProbe::new(network.measured()));
            Some(FlowGenerator {
                group: index,
                source,
                pairs: source_group(network, group).stream("hosts"),
                pace: Pace::new(MOST_AT_ONCE, SPAN),
                stands_still_at: None,
                waits: group
                    .tcp
                    .as_ref()
                    .and_then(|tcp| (tcp.handshake == Handshake::DONE).then(Waits::default)),
                probe: DynamicFlowProbe::new(
                    network.measure_from,
                    network.duration,
                    group.source.flow_log(),
                    coflows,
                ),
            })
        });
        let all: Vec<FlowGenerator> = all.collect();
        let mut generators = FlowGenerators {
            free: vec![Vec::new(); all.len()],
            arrivals: Tournament::new(all.len()),
            all,
            first_number: network.flows.len() as u32,
            reuses_numbers: true,
            active_flows: Vec::new(),
            stands_still: false,
        };
        (0..generators.all.len()).for_each(|at| generators.note_arrival(at));
        generators
    }

    /// From now on no number is given twice: for the tests, which show that this changes nothing.
    pub fn keep_numbers(&mut self) {
        self.reuses_numbers = false;
    }

    /// Memory of the flows in progress and of what their sources have planned, in bytes.
    pub fn memory_bytes(&self) -> u64 {
        let active_bytes = self.active_flows.len() * size_of::<ActiveFlow>();
        let free_bytes = self.free.iter().map(Vec::len).sum::<usize>() * size_of::<u32>();
        let planned = |generator: &FlowGenerator| generator.source.memory_bytes();
        (active_bytes + free_bytes) as u64 + self.all.iter().map(planned).sum::<u64>()
    }

    /// Every generator, in the order of the groups.
    pub fn all(&self) -> &[FlowGenerator] {
        &self.all
    }

    /// The first group whose source stops the run, and why: code of the caller's that fails, or a source that
    /// lets no time pass.
    pub fn source_fault(&self) -> Option<(usize, CustomFault)> {
        self.all.iter().find_map(|generator| Some((generator.group, generator.fault()?)))
    }

    /// Flows that sources have planned and that have not begun, by group.
    pub fn planned(&self) -> impl Iterator<Item = (usize, usize)> {
        self.all.iter().map(|generator| (generator.group, generator.source.planned()))
    }

    /// Time of the next arrival; [`Time::NEVER`] if there is none.
    #[inline]
    pub fn next_arrival(&self) -> Time {
        self.arrivals.earliest()
    }

    /// Takes note of the next arrival of a generator, which may have changed.
    fn note_arrival(&mut self, generator: usize) {
        self.arrivals.set(generator, self.all[generator].source.next_arrival());
    }

    /// Counts the next flow of a generator, and draws the one behind it.
    fn arrive(
        &mut self,
        network: &Network,
        links: &[Link],
        at: usize,
    ) -> Option<(FlowStart, FlowRequest)> {
        let generator = self.all.get_mut(at)?;
        let mut request = generator.source.next_flow()?;
        self.stands_still |= !generator.count_arrival(request.start);
        let group = &network.groups[generator.group];
        if let Some(hosts) = &group.hosts {
            choose_route(&mut request, hosts, &mut generator.pairs);
            let (forward, backward) = network.propagation(group, request.route);
            let own = forward.saturating_add(backward).max(MIN_RTT);
            request.rtt = if hosts.has_rtt_of_route { own } else { request.rtt.max(own) };
        }
        let (flow_start, wire_bytes) = flow_start(network, links, group, &request);
        generator.probe.on_arrival(&flow_start, wire_bytes);
        Some((flow_start, request))
    }

    /// Takes in the flow that arrives next. `None` if `refuses`
    /// says so of the links that it would cross. Its source is then notified at once, as if the flow were
    /// complete: a session gives up the object and continues.
    pub fn admit(
        &mut self,
        network: &Network,
        links: &[Link],
        refuses: impl FnOnce(&[usize]) -> bool,
    ) -> Option<Admitted> {
        let at = self.arrivals.first();
        let Some((flow_start, request)) = self.arrive(network, links, at) else {
            self.note_arrival(at);
            return None;
        };
        if refuses(&network.groups[self.group(at)].path_of(request.route)) {
            let generator = &mut self.all[at];
            generator.probe.on_refusal(&flow_start);
            generator.complete(request.tag, request.start);
            self.note_arrival(at);
            return None;
        }
        let peak_rate = request.media.map(|media| media.rate).or(request.access_rate);
        let FlowRequest { route, rtt, tag, .. } = request;
        let active_flow = ActiveFlow { generator: at, flow_start, peak_rate, route, rtt, tag };
        let group = self.group(at);
        let waits = self.all[at].waits.as_mut();
        let wait = waits.map_or(Time::ZERO, |waits| waits.known(request.start));
        self.note_arrival(at);
        let recycled = if self.reuses_numbers { self.free[at].pop() } else { None };
        let number = recycled.unwrap_or(self.first_number + self.active_flows.len() as u32);
        match self.active_flows.get_mut((number - self.first_number) as usize) {
            Some(place) => *place = active_flow,
            None => self.active_flows.push(active_flow),
        }
        Some(Admitted { number, group, request, wait })
    }

    /// Notifies the source of a flow that its last byte is acknowledged at `at`; the flow's smoothed RTT is
    /// `srtt`.
    pub fn complete(&mut self, number: u32, at: Time, srtt: Time) {
        if let Some(ActiveFlow { generator, rtt, tag, .. }) = self.active_flow(number) {
            if let Some(waits) = &mut self.all[generator].waits {
                waits.learn(at, srtt.since(rtt));
            }
            self.all[generator].complete(tag, at);
            self.note_arrival(generator);
        }
    }

    /// The dynamic flow with this number, if there is one.
    #[inline]
    pub fn active_flow(&self, number: u32) -> Option<ActiveFlow> {
        let at = number.checked_sub(self.first_number)?;
        self.active_flows.get(at as usize).copied()
    }

    /// The group of a generator.
    pub fn group(&self, generator: usize) -> usize {
        self.all[generator].group
    }

    /// The probe of a generator.
    pub fn probe(&mut self, generator: usize) -> &mut DynamicFlowProbe {
        &mut self.all[generator].probe
    }

    /// The group of the dynamic flow with this number, if there is one.
    pub fn group_of(&self, number: u32) -> Option<usize> {
        self.active_flow(number).map(|active_flow| self.group(active_flow.generator))
    }

    /// Records the coflows that are in progress when the run ends.
    pub fn end_coflows(&mut self) {
        for FlowGenerator { source, probe, .. } in &mut self.all {
            if let (Some(coflows), Some(probe)) = (source.coflows(), &mut probe.coflows) {
                coflows.unfinished().for_each(|coflow| probe.on_end(coflow.start, coflow.end));
            }
        }
    }

    /// Frees the number of a flow that has departed.
    pub fn release(&mut self, number: u32) {
        if let Some(active_flow) = self.active_flow(number) {
            self.free[active_flow.generator].push(number);
        }
    }

    /// Numbers of the flows that have not been released.
    pub fn present(&self) -> Vec<u32> {
        let mut is_free = vec![false; self.active_flows.len()];
        for &number in self.free.iter().flatten() {
            is_free[(number - self.first_number) as usize] = true;
        }
        (self.first_number..).zip(is_free).filter(|(_, free)| !free).map(|(at, _)| at).collect()
    }
}

/// A group as its source sees it.
pub fn source_group<'a>(network: &Network, group: &'a GroupSpec) -> Group<'a> {
    Group {
        name: &group.name,
        seed: network.seed,
        packet_bytes: group.packet_size,
        header_bytes: group.header_size,
        hosts: group.hosts.as_ref(),
    }
}

/// Draws the hosts of a flow, unless its source has chosen them.
fn choose_route(request: &mut FlowRequest, hosts: &HostPairs, pairs: &mut Stream) {
    let seed = request.seed;
    request.route.get_or_insert_with(|| {
        let (from, to) = hosts.draw(pairs);
        Route::of_flow(from, to, seed)
    });
}

/// What is to be remembered of a flow, and its bytes on the wire.
fn flow_start(
    network: &Network,
    links: &[Link],
    group: &GroupSpec,
    request: &FlowRequest,
) -> (FlowStart, u128) {
    let bytes = request.bytes.unwrap_or(u64::MAX);
    let payload = u64::from(group.packet_size - group.header_size);
    let headers = u128::from(bytes.div_ceil(payload)) * u128::from(group.header_size);
    let wire_bytes = u128::from(bytes) + headers;
    let path = group.path_of(request.route);
    let rates = path.iter().map(|&link| {
        let varying = links[link].rate_of_transfer(request.start, wire_bytes);
        varying.unwrap_or_else(|| network.links[link].sustained_rate()).bits_per_second()
    });
    let rates: Vec<u64> = rates.collect();
    let access_rate = request.access_rate.map(Rate::bits_per_second);
    let slowest = rates.iter().copied().chain(access_rate).min().unwrap_or(1);
    let mut transfer = 8.0 * wire_bytes as f64 / slowest.max(1) as f64;
    if rates.len() > 1 {
        let packets = bytes.div_ceil(payload).max(1);
        let last = bytes - (packets - 1) * payload + u64::from(group.header_size);
        transfer += store_and_forward(&rates, [u64::from(group.packet_size), last], packets);
    }
    let transfer = transfer * PICOSECONDS_PER_SECOND as f64;
    let alone = Time::from_picoseconds(transfer as u64).saturating_add(request.rtt);
    // A media flow lasts as long as its media.
    let ideal = request.media.map_or(alone, |media| media.end.since(request.start));
    (FlowStart { start: request.start, bytes, ideal }, wire_bytes)
}

/// The time in seconds that a flow, sent back to back, takes over several links beyond that over the
/// slowest of them: a link sends a packet when it has all of it. `sizes` are those of a full packet and
/// of the last of `packets`, in bytes.
fn store_and_forward(rates: &[u64], [full, last]: [u64; 2], packets: u64) -> f64 {
    let full_before = (packets - 1) as f64;
    let (mut first, mut slowest, mut slowest_last, mut end) = (0.0_f64, 0.0_f64, 0.0_f64, 0.0_f64);
    for &rate in rates {
        let [full, last] = [full, last].map(|bytes| 8.0 * bytes as f64 / rate.max(1) as f64);
        // Full packets follow one another at the pace of the slowest link so far.
        first += full;
        slowest = slowest.max(full);
        slowest_last = slowest_last.max(last);
        let before = if packets > 1 { first + (full_before - 1.0) * slowest } else { 0.0 };
        end = end.max(before) + last;
    }
    end - full_before * slowest - slowest_last
}
