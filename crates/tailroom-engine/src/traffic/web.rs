//! Web sessions: pages with think times between them, and pages of a main object and the objects
//! that are embedded in it, each on a connection of its own.
//!
//! The loop is closed: a user's next request waits for the answers to the earlier ones. An object whose
//! last byte is acknowledged at t at the server has been at the client half a round trip before;
//! the SYN of the next connection and the request behind it bring the request to the server at t +
//! one round trip.
//!
//! Nothing depends on the order in which the source is told of completions, which is not that of
//! their times: what a completion allows lies in the future, and a session draws when that comes.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use super::arrivals::{Arrivals, ArrivalsConfig, FlowArrivals};
use super::context::{Group, GroupContext};
use super::draws::Draws;
use super::web_models::WebModel;
use super::{
    FlowRequest, FlowSource, FlowStatistics, OfferedFlows, Parameters, seconds, whole_bytes,
};
use crate::derives::{Deserialize, JsonSchema, Ranges, Serialize};
use crate::distribution::config::{FileTexts, ValueConfig};
use crate::distribution::count_config::CountConfig;
use crate::distribution::{Count, Distribution};
use crate::parameters::BadParameter;
use crate::quantity::{Duration, Kind, Quantity, Size};
use crate::random::{Random, Stream, stream};
use crate::units::{Rate, Time};

/// Parameters of web sessions.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[schemars(
    example = serde_json::json!({ "model": "ieee80216m", "pages": 5, "arrivals_per_second": 2.0 })
)]
#[schemars(deny_unknown_fields)] // serde cannot refuse them with `flatten`; the schema check does
#[non_exhaustive]
pub struct WebParams {
    /// A published set of parameters; each that is also written replaces the set's. Left out,
    /// `think_time` and `main_object` are needed, and there are no embedded objects.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub model: Option<WebModel>,
    /// Pages of a session, at least 1.
    #[schemars(example = 5)]
    pub pages: CountConfig,
    /// From the completion of a page until the user asks for the next one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub think_time: Option<ValueConfig<Duration>>,
    /// Payload of the object that a page begins with.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub main_object: Option<ValueConfig<Size>>,
    /// From the completion of the main object until the client asks for the embedded ones.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub parsing_time: Option<ValueConfig<Duration>>,
    /// Number of embedded objects of a page.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub embedded_objects: Option<CountConfig>,
    /// Payload of an embedded object. Left out without a model, as `main_object`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub embedded_object: Option<ValueConfig<Size>>,
    /// Connections of a client: how many embedded objects are fetched at a time.
    #[serde(default = "one")]
    #[schemars(range(min = 1, max = 1_000))]
    pub parallel: u32,
    /// When sessions arrive.
    #[serde(flatten)]
    pub arrivals: ArrivalsConfig,
    /// How many completed flows, which are objects, to record one by one, the first to complete.
    #[serde(default)]
    #[schemars(range(max = 100_000_000))]
    pub flow_log: u32,
}

fn one() -> u32 {
    1
}

impl Parameters for WebParams {
    type Spec = WebSpec;

    fn resolve(&self, context: &GroupContext<'_>) -> Result<WebSpec, BadParameter> {
        let files = context.files;
        let model = self.model.map(WebModel::parameters);
        let model = model.as_ref();
        let main_object = written(self.main_object.as_ref(), "main_object", files)?
            .or_else(|| model.map(|model| model.main_object.clone()))
            .ok_or_else(|| missing("main_object"))?;
        let pages = self.pages.resolve(1, "pages")?;
        let embedded_objects = self.embedded_objects.as_ref();
        let embedded_objects = embedded_objects
            .map(|count| count.resolve(0, "embedded_objects"))
            .transpose()?
            .or_else(|| model.map(|model| model.embedded_objects.clone()))
            .unwrap_or(Count::Rounded(Distribution::Fixed(0.0)));
        let embedded_object = written(self.embedded_object.as_ref(), "embedded_object", files)?
            .or_else(|| model.map(|model| model.embedded_object.clone()))
            .unwrap_or_else(|| main_object.clone());
        let arrivals = self.arrivals.resolve(context, || {
            let bytes = |size| context.group.estimated_wire_bytes(size);
            pages.mean() * (bytes(&main_object) + embedded_objects.mean() * bytes(&embedded_object))
        })?;
        Ok(WebSpec {
            arrivals,
            pages,
            think_time: written(self.think_time.as_ref(), "think_time", files)?
                .or_else(|| model.map(|model| model.think_time.clone()))
                .ok_or_else(|| missing("think_time"))?,
            main_object,
            parsing_time: written(self.parsing_time.as_ref(), "parsing_time", files)?
                .or_else(|| model.map(|model| model.parsing_time.clone()))
                .unwrap_or(Distribution::Fixed(0.0)),
            embedded_objects,
            embedded_object,
            parallel: self.parallel,
            rtt: context.flows.rtt.clone(),
            peak_rate: context.flows.access_rate.clone(),
            flow_log: self.flow_log as usize,
        })
    }
}

/// The distribution that a key gives, if it is written.
fn written<K: Kind>(
    value: Option<&ValueConfig<Quantity<K>>>,
    key: &str,
    files: &FileTexts,
) -> Result<Option<Distribution>, BadParameter> {
    value.map(|value| value.resolve(key, files)).transpose()
}

fn missing(key: &str) -> BadParameter {
    let remedy = "add it, or a model, as in `model = \"ieee80216m\"`";
    BadParameter::new(key, "is missing", remedy)
}

/// Web sessions; every object is a connection of its own.
#[derive(Clone, Debug, PartialEq, Ranges)]
#[non_exhaustive]
pub struct WebSpec {
    /// When sessions begin.
    pub arrivals: FlowArrivals,
    /// Pages of a session; 0 counts as 1.
    pub pages: Count,
    /// From the end of a page to the request for the next one, in picoseconds.
    pub think_time: Distribution,
    /// Payload of the object that comes first, in bytes.
    pub main_object: Distribution,
    /// From its end to the requests for what it embeds, in picoseconds.
    pub parsing_time: Distribution,
    /// Number of the others.
    pub embedded_objects: Count,
    /// Their payload, in bytes.
    pub embedded_object: Distribution,
    /// How many of them are fetched at a time.
    #[schemars(range(min = 1, max = 1_000))]
    pub parallel: u32,
    /// Two-way propagation delay, in picoseconds; the same for all of a session.
    pub rtt: Distribution,
    /// Rate of the access link of each connection, in bit/s, the same for all of a session; `None`
    /// for one that takes no time.
    pub peak_rate: Option<Distribution>,
    /// How many completed flows are kept one by one.
    #[schemars(range(max = 100_000_000))]
    pub flow_log: usize,
}

impl WebSpec {
    /// Pages of one object, over access links that take no time, no flow recorded. Embedded objects,
    /// if `embedded_objects` gives any, have the sizes of main objects and are fetched one at a time.
    pub fn new(
        arrivals: FlowArrivals,
        pages: Count,
        think_time: Distribution,
        main_object: Distribution,
        rtt: Distribution,
    ) -> Self {
        WebSpec {
            arrivals,
            pages,
            think_time,
            embedded_object: main_object.clone(),
            main_object,
            parsing_time: Distribution::Fixed(0.0),
            embedded_objects: Count::Rounded(Distribution::Fixed(0.0)),
            parallel: one(),
            rtt,
            peak_rate: None,
            flow_log: 0,
        }
    }
}

impl OfferedFlows for WebSpec {
    fn mean_rtt_ps(&self) -> f64 {
        self.rtt.mean()
    }

    fn flow_log(&self) -> usize {
        self.flow_log
    }

    fn mean_transfer_s(&self) -> Option<f64> {
        Some(8.0 * self.main_object.mean() / self.peak_rate.as_ref()?.mean())
    }

    /// A page is one main object and its embedded objects; each object is a flow.
    fn statistics(&self, group: &Group<'_>, duration_s: f64, draws: usize) -> FlowStatistics {
        let embedded = self.embedded_objects.mean();
        let page = 1.0 + embedded;
        let of_main = libm::round(draws as f64 / page) as usize;
        let main = group.model_draws(of_main, "main object", &self.main_object);
        let others = group.model_draws(draws - of_main, "embedded object", &self.embedded_object);
        let page_bytes = self.main_object.mean() + embedded * self.embedded_object.mean();
        let embedded_wire_bytes = embedded * group.mean_wire_bytes(&self.embedded_object);
        let page_wire_bytes = group.mean_wire_bytes(&self.main_object) + embedded_wire_bytes;
        FlowStatistics {
            arrivals_per_s: self.arrivals.per_second(duration_s) * self.pages.mean() * page,
            is_poisson: false,
            size_bytes_mean: page_bytes / page,
            wire_bytes_mean: page_wire_bytes / page,
            sizes_bytes: [main, others].concat(),
            rtt_s: seconds(self.rtt.mean()),
            peak_rate_bps: self.peak_rate.as_ref().map(Distribution::mean),
        }
    }
}

/// Sessions at given times or as a Poisson process.
#[derive(Clone, Debug)]
pub struct Web {
    spec: WebSpec,
    arrivals: Arrivals,
    draws: Draws,
    session_seeds: Stream,
    /// Sessions so far.
    begun: u64,
    /// By slot; `free` ones have ended.
    sessions: Vec<Session>,
    free: Vec<u32>,
    /// When a connection of a session may fetch its next object.
    pending: BinaryHeap<Reverse<Request>>,
}

/// A connection may fetch an object of a page, if one is left by then.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Request {
    time: Time,
    /// Number of the session among all, and of its page.
    session: u64,
    page: u64,
    slot: u32,
}

/// A session in progress.
#[derive(Clone, Debug)]
struct Session {
    number: u64,
    random: Stream,
    rtt: Time,
    access_rate: Option<Rate>,
    pages_left: u64,
    page: u64,
    /// Objects of the page that nobody fetches yet; the main object comes alone.
    waiting: u64,
    is_main: bool,
    in_flight: u64,
    /// The last completion of the page so far.
    page_end: Time,
}

impl Web {
    /// Starts the source of a group.
    pub fn new(spec: &WebSpec, group: &Group<'_>, shortest_rtt: Time) -> Self {
        Web {
            spec: spec.clone(),
            arrivals: Arrivals::new(&spec.arrivals, group),
            draws: Draws::new(&spec.rtt, spec.peak_rate.as_ref(), group, shortest_rtt),
            session_seeds: stream(group.seed, &format!("sessions of {}", group.name)),
            begun: 0,
            sessions: Vec::new(),
            free: Vec::new(),
            pending: BinaryHeap::new(),
        }
    }

    /// Sessions in progress.
    pub fn sessions(&self) -> usize {
        self.sessions.len() - self.free.len()
    }

    fn begin_session(&mut self, time: Time) {
        let mut random = Stream::seeded(self.session_seeds.next_u64());
        let session = Session {
            number: self.begun,
            pages_left: self.spec.pages.sample(&mut random).max(1),
            random,
            rtt: self.draws.rtt(),
            access_rate: self.draws.access_rate(),
            page: 0,
            waiting: 0,
            is_main: true,
            in_flight: 0,
            page_end: time,
        };
        self.begun += 1;
        let slot = self.free.pop().unwrap_or(self.sessions.len() as u32);
        match self.sessions.get_mut(slot as usize) {
            Some(place) => *place = session,
            None => self.sessions.push(session),
        }
        self.begin_page(slot, time);
    }

    fn begin_page(&mut self, slot: u32, time: Time) {
        let session = &mut self.sessions[slot as usize];
        session.page += 1;
        session.pages_left -= 1;
        session.is_main = true;
        session.waiting = 1;
        session.page_end = time;
        self.request(slot, time);
    }

    fn request(&mut self, slot: u32, time: Time) {
        let Session { number, page, .. } = self.sessions[slot as usize];
        self.pending.push(Reverse(Request { time, session: number, page, slot }));
    }

    /// Drops the requests for which nothing is left, so that the first is one that counts.
    fn drop_vain_requests(&mut self) {
        while let Some(Reverse(request)) = self.pending.peek() {
            let session = &self.sessions[request.slot as usize];
            let is_current = (session.number, session.page) == (request.session, request.page);
            if is_current && session.waiting > 0 {
                return;
            }
            self.pending.pop();
        }
    }

    /// The objects that the main one has named.
    fn begin_embedded(&mut self, slot: u32, at: Time) {
        let session = &mut self.sessions[slot as usize];
        session.is_main = false;
        session.waiting = self.spec.embedded_objects.sample(&mut session.random);
        let parsing = span(&self.spec.parsing_time, &mut session.random);
        let time = at.saturating_add(session.rtt).saturating_add(parsing);
        for _ in 0..session.waiting.min(self.spec.parallel.into()) {
            self.request(slot, time);
        }
    }

    fn end_page(&mut self, slot: u32) {
        let session = &mut self.sessions[slot as usize];
        if session.pages_left == 0 {
            // Nothing that is pending belongs to it any more.
            session.page += 1;
            self.free.push(slot);
            return;
        }
        let think = span(&self.spec.think_time, &mut session.random);
        let time = session.page_end.saturating_add(session.rtt).saturating_add(think);
        self.begin_page(slot, time);
    }
}

fn span(distribution: &Distribution, random: &mut Stream) -> Time {
    Time::from_picoseconds(libm::round(distribution.sample(random)) as u64)
}

impl FlowSource for Web {
    fn next_arrival(&self) -> Time {
        let request = self.pending.peek().map_or(Time::NEVER, |next| next.0.time);
        request.min(self.arrivals.next())
    }

    fn next_flow(&mut self) -> Option<FlowRequest> {
        let arrival = self.arrivals.next();
        if arrival < Time::NEVER && arrival <= self.next_arrival() {
            self.arrivals.advance();
            self.begin_session(arrival);
        }
        let Reverse(Request { time, slot, .. }) = self.pending.pop()?;
        let session = &mut self.sessions[slot as usize];
        session.waiting -= 1;
        session.in_flight += 1;
        let size =
            if session.is_main { &self.spec.main_object } else { &self.spec.embedded_object };
        let plan = FlowRequest {
            start: time,
            bytes: Some(whole_bytes(size.sample(&mut session.random))),
            rtt: session.rtt,
            access_rate: session.access_rate,
            seed: session.random.next_u64(),
            media: None,
            route: None,
            tag: slot,
        };
        self.drop_vain_requests();
        Some(plan)
    }

    fn planned(&self) -> usize {
        self.pending.len()
    }

    fn memory_bytes(&self) -> u64 {
        let sessions_bytes = self.sessions.len() * size_of::<Session>();
        (sessions_bytes + self.pending.len() * size_of::<Reverse<Request>>()) as u64
    }

    fn on_completion(&mut self, tag: u32, at: Time) {
        let session = &mut self.sessions[tag as usize];
        session.in_flight -= 1;
        session.page_end = session.page_end.max(at);
        if session.is_main {
            self.begin_embedded(tag, at);
        } else if session.waiting > 0 {
            let time = at.saturating_add(session.rtt);
            self.request(tag, time);
        }
        let session = &self.sessions[tag as usize];
        if session.waiting == 0 && session.in_flight == 0 {
            self.end_page(tag);
        }
        self.drop_vain_requests();
    }
}
