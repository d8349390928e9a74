//! Dynamic flows, which arrive and depart: the next arrival, the free numbers, and the probes that
//! keep the measurements of departed flows.
//!
//! A dynamic flow gets a number behind those of the permanent flows. The number is free again when
//! all packets of the flow are accounted for, so that memory is proportional to the flows in
//! progress.

pub mod admission;
pub mod bottlenecked;

use crate::network::{GroupSpec, Network};
use crate::probe::dynamic_flows::{DynamicFlowProbe, FlowStart};
use crate::tournament::Tournament;
use crate::traffic::context::Group;
use crate::traffic::{AnyFlowSource, FlowRequest, FlowSource, SourceSpec};
use crate::units::{PICOSECONDS_PER_SECOND, Rate, Time};

/// The groups of dynamic flows.
#[derive(Debug)]
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
}

/// A group of dynamic flows.
#[derive(Debug)]
pub struct FlowGenerator {
    /// Its index in [`Network::groups`].
    pub group: usize,
    source: AnyFlowSource,
    /// What is measured here.
    pub probe: DynamicFlowProbe,
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
    /// Identifies the flow to its source.
    tag: u32,
}

impl FlowGenerators {
    /// The generators of `network`, before the first arrival.
    pub fn new(network: &Network) -> Self {
        let all = network.groups.iter().enumerate().filter_map(|(index, group)| {
            let SourceSpec::Flows(source) = &group.source else { return None };
            let (forward, backward) = network.propagation(group);
            Some(FlowGenerator {
                group: index,
                source: source.start(&source_group(network, group), forward + backward),
                probe: DynamicFlowProbe::new(
                    network.measure_from,
                    network.duration,
                    group.source.flow_log(),
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

    /// Time of the next arrival; [`Time::NEVER`] if there is none.
    #[inline]
    pub fn next_arrival(&self) -> Time {
        self.arrivals.earliest()
    }

    /// Takes note of the next arrival of a generator, which may have changed.
    fn note_arrival(&mut self, generator: usize) {
        self.arrivals.set(generator, self.all[generator].source.next_arrival());
    }

    /// The group of the flow that arrives next.
    pub fn next_group(&self) -> Option<usize> {
        self.all.get(self.arrivals.first()).map(|generator| generator.group)
    }

    /// Refuses the flow that arrives next. Its source is notified at once, as if the flow were
    /// complete: a session gives up the object and continues.
    pub fn refuse(&mut self, network: &Network) {
        let at = self.arrivals.first();
        if let Some((flow_start, request)) = self.arrive(network, at) {
            let generator = &mut self.all[at];
            generator.probe.on_refusal(&flow_start);
            generator.source.on_completion(request.tag, request.start);
            self.note_arrival(at);
        }
    }

    /// Counts the next flow of a generator, and draws the one behind it.
    fn arrive(&mut self, network: &Network, at: usize) -> Option<(FlowStart, FlowRequest)> {
        let generator = self.all.get_mut(at)?;
        let request = generator.source.next_flow()?;
        let group = &network.groups[generator.group];
        let (flow_start, wire_bytes) = flow_start(network, group, &request);
        generator.probe.on_arrival(&flow_start, wire_bytes);
        Some((flow_start, request))
    }

    /// Takes in the flow that arrives next: its number, its group and what it is to do.
    pub fn admit(&mut self, network: &Network) -> Option<(u32, usize, FlowRequest)> {
        let at = self.arrivals.first();
        let (flow_start, request) = self.arrive(network, at)?;
        let peak_rate = request.media.map(|media| media.rate).or(request.access_rate);
        let active_flow = ActiveFlow { generator: at, flow_start, peak_rate, tag: request.tag };
        let index = self.group(at);
        self.note_arrival(at);
        let recycled = if self.reuses_numbers { self.free[at].pop() } else { None };
        let number = recycled.unwrap_or(self.first_number + self.active_flows.len() as u32);
        match self.active_flows.get_mut((number - self.first_number) as usize) {
            Some(place) => *place = active_flow,
            None => self.active_flows.push(active_flow),
        }
        Some((number, index, request))
    }

    /// Notifies the source of a flow that its last byte is acknowledged at `at`.
    pub fn complete(&mut self, number: u32, at: Time) {
        if let Some(ActiveFlow { generator, tag, .. }) = self.active_flow(number) {
            self.all[generator].source.on_completion(tag, at);
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
    }
}

/// What is to be remembered of a flow, and its bytes on the wire.
fn flow_start(network: &Network, group: &GroupSpec, request: &FlowRequest) -> (FlowStart, u128) {
    let bytes = request.bytes.unwrap_or(u64::MAX);
    let payload = u64::from(group.packet_size - group.header_size);
    let headers = u128::from(bytes.div_ceil(payload)) * u128::from(group.header_size);
    let wire_bytes = u128::from(bytes) + headers;
    let rates = group.path.iter().map(|&link| network.links[link].sustained_rate());
    let slowest = rates.chain(request.access_rate).min().map_or(1, Rate::bits_per_second);
    let transfer = 8.0 * wire_bytes as f64 / slowest.max(1) as f64 * PICOSECONDS_PER_SECOND as f64;
    let alone = Time::from_picoseconds(transfer as u64).saturating_add(request.rtt);
    // A media flow lasts as long as its media.
    let ideal = request.media.map_or(alone, |media| media.end.since(request.start));
    (FlowStart { start: request.start, bytes, ideal }, wire_bytes)
}
