//! Flows that come and go: which arrives next, which numbers are free, what is kept of those that have
//! left.
//!
//! A flow takes a number behind those of the permanent flows, and gives it back when everything it
//! sent has been accounted for, so that memory is proportional to the flows in progress.

pub mod admission;
pub mod bottlenecked;

use crate::network::{GroupSpec, Network};
use crate::probe::population::{PopulationProbe, Visit};
use crate::traffic::context::Group;
use crate::traffic::{AnyFlowSource, FlowRequest, FlowSource, SourceSpec};
use crate::units::{PICOSECONDS_PER_SECOND, Rate, Time};

/// The groups whose flows come and go.
#[derive(Debug)]
pub struct Populations {
    all: Vec<Population>,
    /// When the next flow arrives, and in which population; [`Time::NEVER`] if none does.
    next: Time,
    first: usize,
    /// Number of the first flow that is not permanent.
    first_number: u32,
    /// By population, numbers that its flows have given back: a number stays with its group.
    free: Vec<Vec<u32>>,
    reuses_numbers: bool,
    /// By number, from `first_number` on.
    visitors: Vec<Visitor>,
}

/// A group whose flows come and go.
#[derive(Debug)]
pub struct Population {
    /// Its index in [`Network::groups`].
    pub group: usize,
    source: AnyFlowSource,
    /// What is measured here.
    pub probe: PopulationProbe,
}

/// A flow in progress.
#[derive(Clone, Copy, Debug)]
pub struct Visitor {
    /// Index of its population.
    pub population: usize,
    /// How it began.
    pub visit: Visit,
    /// The rate that it cannot exceed, that of its own access link or of its media.
    pub peak_rate: Option<Rate>,
    /// By which its source knows it.
    tag: u32,
}

impl Populations {
    /// Those of `network`, before the first arrival.
    pub fn new(network: &Network) -> Self {
        let all = network.groups.iter().enumerate().filter_map(|(index, group)| {
            let SourceSpec::Flows(source) = &group.source else { return None };
            let (forward, backward) = network.propagation(group);
            Some(Population {
                group: index,
                source: source.start(&source_group(network, group), forward + backward),
                probe: PopulationProbe::new(
                    network.measure_from,
                    network.duration,
                    group.source.flow_log(),
                ),
            })
        });
        let all: Vec<Population> = all.collect();
        let mut populations = Populations {
            free: vec![Vec::new(); all.len()],
            all,
            next: Time::NEVER,
            first: 0,
            first_number: network.flows.len() as u32,
            reuses_numbers: true,
            visitors: Vec::new(),
        };
        populations.find_next();
        populations
    }

    /// From now on no number is given twice: for the tests, which show that this changes nothing.
    pub fn keep_numbers(&mut self) {
        self.reuses_numbers = false;
    }

    /// Every population, in the order of the groups.
    pub fn all(&self) -> &[Population] {
        &self.all
    }

    /// When the next flow arrives; [`Time::NEVER`] if none does.
    #[inline]
    pub fn next_arrival(&self) -> Time {
        self.next
    }

    fn find_next(&mut self) {
        let arrivals = self.all.iter().map(|population| population.source.next_arrival());
        let first = arrivals.zip(0..).min();
        (self.next, self.first) = first.unwrap_or((Time::NEVER, 0));
    }

    /// The group of the flow that arrives next.
    pub fn next_group(&self) -> Option<usize> {
        self.all.get(self.first).map(|population| population.group)
    }

    /// Turns away the flow that arrives next. Its source is told at once, as if it were complete: a
    /// session gives the object up and goes on.
    pub fn refuse(&mut self, network: &Network) {
        if let Some((visit, request)) = self.arrive(network) {
            let population = &mut self.all[self.first];
            population.probe.on_refusal(&visit);
            population.source.on_completion(request.tag, request.start);
            self.find_next();
        }
    }

    /// Counts the flow that arrives next, and draws the one behind it.
    fn arrive(&mut self, network: &Network) -> Option<(Visit, FlowRequest)> {
        let population = self.all.get_mut(self.first)?;
        let request = population.source.next_flow()?;
        let group = &network.groups[population.group];
        let (visit, wire_bytes) = visit(network, group, &request);
        population.probe.on_arrival(&visit, wire_bytes);
        Some((visit, request))
    }

    /// Takes in the flow that arrives next: its number, its group and what it is to do.
    pub fn admit(&mut self, network: &Network) -> Option<(u32, usize, FlowRequest)> {
        let at = self.first;
        let (visit, request) = self.arrive(network)?;
        let peak_rate = request.media.map(|media| media.rate).or(request.access_rate);
        let visitor = Visitor { population: at, visit, peak_rate, tag: request.tag };
        let index = self.group(at);
        self.find_next();
        let recycled = if self.reuses_numbers { self.free[at].pop() } else { None };
        let number = recycled.unwrap_or(self.first_number + self.visitors.len() as u32);
        match self.visitors.get_mut((number - self.first_number) as usize) {
            Some(place) => *place = visitor,
            None => self.visitors.push(visitor),
        }
        Some((number, index, request))
    }

    /// The last byte of a flow is acknowledged at `at`, of which its source may make something.
    pub fn complete(&mut self, number: u32, at: Time) {
        if let Some(Visitor { population, tag, .. }) = self.visitor(number) {
            self.all[population].source.on_completion(tag, at);
            self.find_next();
        }
    }

    /// The flow with this number, if it is one that comes and goes.
    #[inline]
    pub fn visitor(&self, number: u32) -> Option<Visitor> {
        let at = number.checked_sub(self.first_number)?;
        self.visitors.get(at as usize).copied()
    }

    /// The group of a population.
    pub fn group(&self, population: usize) -> usize {
        self.all[population].group
    }

    /// The probe of a population.
    pub fn probe(&mut self, population: usize) -> &mut PopulationProbe {
        &mut self.all[population].probe
    }

    /// The group of the flow with this number, if it is one that comes and goes.
    pub fn group_of(&self, number: u32) -> Option<usize> {
        self.visitor(number).map(|visitor| self.group(visitor.population))
    }

    /// Nothing of the flow with this number is left.
    pub fn release(&mut self, number: u32) {
        if let Some(visitor) = self.visitor(number) {
            self.free[visitor.population].push(number);
        }
    }

    /// Numbers of the flows that have not been released.
    pub fn present(&self) -> Vec<u32> {
        let mut is_free = vec![false; self.visitors.len()];
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
fn visit(network: &Network, group: &GroupSpec, request: &FlowRequest) -> (Visit, u128) {
    let bytes = request.bytes.unwrap_or(u64::MAX);
    let payload = u64::from(group.packet_size - group.header_size);
    let headers = u128::from(bytes.div_ceil(payload)) * u128::from(group.header_size);
    let wire_bytes = u128::from(bytes) + headers;
    let rates = group.path.iter().map(|&link| network.links[link].rate);
    let slowest = rates.chain(request.access_rate).min().map_or(1, Rate::bits_per_second);
    let transfer = 8.0 * wire_bytes as f64 / slowest.max(1) as f64 * PICOSECONDS_PER_SECOND as f64;
    let alone = Time::from_picoseconds(transfer as u64).saturating_add(request.rtt);
    // What nothing controls lasts as long as it does.
    let ideal = request.media.map_or(alone, |media| media.end.since(request.start));
    (Visit { start: request.start, bytes, ideal }, wire_bytes)
}
