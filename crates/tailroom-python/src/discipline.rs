//! Queue disciplines written in Python: objects of the user that are called at each packet.

use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Mutex, PoisonError};

use pyo3::prelude::*;
use pyo3::types::PyString;
use tailroom_engine::packet::Ecn;
use tailroom_engine::quantity::limit::Limit;
use tailroom_engine::queue::buffer::DropReason;
use tailroom_engine::queue::custom::{CustomRule, DequeueEvent, RuleMaker};
use tailroom_engine::queue::{ArrivalRule, EnqueueEvent, Gauge, LinkInfo, Verdict};
use tailroom_engine::random::{Stream, uniform};
use tailroom_engine::units::Time;

use crate::error::ScenarioError;
use crate::own_code::{Raised, method, raised_by, shown};

/// Attribute of the factory of a discipline that says whether it decides at departures too.
const ACTS_ON_DEPARTURES: &str = "acts_on_departures";

/// The maker of rules that calls `make`, the factory of a link's discipline.
pub(crate) fn maker(py: Python<'_>, make: Py<PyAny>, raised: Raised) -> RuleMaker {
    let acts =
        make.getattr(py, ACTS_ON_DEPARTURES).is_ok_and(|acts| acts.is_truthy(py).unwrap_or(false));
    let maker = RuleMaker::new(move |link, limit| {
        Box::new(PythonRule::new(&make, link, limit, raised.clone()))
    });
    if acts { maker.acting_on_departures() } else { maker }
}

/// A packet at a link, about which a discipline decides.
#[pyclass(frozen, module = "tailroom", name = "QueuePacket")]
pub(crate) struct PyQueuePacket {
    bytes: u32,
    ecn: Ecn,
    waited: Time,
    fits: bool,
}

#[pymethods]
impl PyQueuePacket {
    /// Size on the wire, in bytes.
    #[getter]
    fn bytes(&self) -> u32 {
        self.bytes
    }

    /// ECN field: `"not_ect"`, `"ect0"`, `"ect1"` or `"ce"`.
    #[getter]
    fn ecn(&self) -> &'static str {
        match self.ecn {
            Ecn::NotEct => "not_ect",
            Ecn::Ect0 => "ect0",
            Ecn::Ect1 => "ect1",
            Ecn::Ce => "ce",
        }
    }

    /// Whether the packet may be marked.
    #[getter]
    fn is_ecn_capable(&self) -> bool {
        self.ecn.is_capable()
    }

    /// Whether the packet fits into the buffer; at its arrival, a packet that does not is dropped,
    /// whatever the discipline decides.
    #[getter]
    fn fits(&self) -> bool {
        self.fits
    }

    /// How long the packet has waited, in seconds; 0 at its arrival.
    #[getter]
    fn waited_s(&self) -> f64 {
        self.waited.seconds()
    }

    /// How long the packet has waited, in picoseconds; 0 at its arrival.
    #[getter]
    fn waited_ps(&self) -> u64 {
        self.waited.picoseconds()
    }
}

/// The queue that a packet finds at its arrival, or leaves behind at its departure.
#[pyclass(frozen, module = "tailroom", name = "QueueState")]
pub(crate) struct PyQueueState {
    now: Time,
    packets: u64,
    bytes: u64,
    idle: Option<Time>,
}

#[pymethods]
impl PyQueueState {
    /// Time since the run began, in seconds.
    #[getter]
    fn now_s(&self) -> f64 {
        self.now.seconds()
    }

    /// Time since the run began, in picoseconds.
    #[getter]
    fn now_ps(&self) -> u64 {
        self.now.picoseconds()
    }

    /// Number of packets that wait, without this packet and the one in transmission.
    #[getter]
    fn packets(&self) -> u64 {
        self.packets
    }

    /// Number of bytes that wait, without those of this packet and of the one in transmission.
    #[getter]
    fn bytes(&self) -> u64 {
        self.bytes
    }

    /// How long the link has been idle at an arrival, in seconds; `None` if it is busy.
    #[getter]
    fn idle_s(&self) -> Option<f64> {
        self.idle.map(Time::seconds)
    }

    /// How long the link has been idle at an arrival, in picoseconds; `None` if it is busy.
    #[getter]
    fn idle_ps(&self) -> Option<u64> {
        self.idle.map(Time::picoseconds)
    }
}

/// The link of a discipline, before its first packet.
#[pyclass(frozen, module = "tailroom", name = "LinkInfo")]
pub(crate) struct PyLinkInfo {
    link: LinkInfo,
    limit: Limit,
    random: Mutex<Stream>,
}

#[pymethods]
impl PyLinkInfo {
    /// Name of the link.
    #[getter]
    fn name(&self) -> &str {
        &self.link.name
    }

    /// Rate until its first change, or of the shaper, in bit/s.
    #[getter]
    fn rate_bps(&self) -> u64 {
        self.link.rate.bits_per_second()
    }

    /// Bandwidth-delay product in bytes; 0 if no flow under congestion control crosses the link.
    #[getter]
    fn bdp_bytes(&self) -> f64 {
        self.link.bdp_bytes
    }

    /// Size of the largest data packet that crosses the link, in bytes.
    #[getter]
    fn packet_bytes(&self) -> u32 {
        self.link.packet_bytes
    }

    /// Buffer size in packets; `None` if it is counted in bytes.
    #[getter]
    fn limit_packets(&self) -> Option<u64> {
        match self.limit {
            Limit::Packets(packets) => Some(packets),
            Limit::Bytes(_) => None,
        }
    }

    /// Buffer size in bytes; `None` if it is counted in packets.
    #[getter]
    fn limit_bytes(&self) -> Option<u64> {
        match self.limit {
            Limit::Packets(_) => None,
            Limit::Bytes(bytes) => Some(bytes),
        }
    }

    /// Draws a number from [0, 1), from a random stream that follows from the scenario's seed and the
    /// link's name.
    fn random(&self) -> f64 {
        uniform(&mut *self.random.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

/// Time between two calls of `on_timer`, and the time of the next.
struct Timer {
    interval: Time,
    next: Time,
}

/// The bound methods of a discipline; `None` for those that it does not have.
#[derive(Default)]
struct Methods {
    on_arrival: Option<Py<PyAny>>,
    on_departure: Option<Py<PyAny>>,
    on_timer: Option<Py<PyAny>>,
    gauges: Option<Py<PyAny>>,
}

/// The discipline of one link.
struct PythonRule {
    /// Empty if the factory failed.
    methods: Methods,
    timer: Option<Timer>,
    limit: Limit,
    raised: Raised,
    failure: RefCell<Option<String>>,
    /// The names of the gauges, which never change, once they are known.
    gauge_names: RefCell<Option<Vec<&'static str>>>,
}

/// What the methods return.
const VERDICTS: &str = "it returns \"accept\", \"mark\" or \"drop\"";

impl PythonRule {
    fn new(make: &Py<PyAny>, link: &LinkInfo, limit: Limit, raised: Raised) -> Self {
        let mut rule = PythonRule {
            methods: Methods::default(),
            timer: None,
            limit,
            raised,
            failure: RefCell::new(None),
            gauge_names: RefCell::new(None),
        };
        Python::attach(|py| {
            if let Err(error) = rule.start(py, make, link) {
                if error.is_instance_of::<ScenarioError>(py) {
                    rule.refuse(error.value(py).to_string());
                } else {
                    rule.fail(py, "making the discipline", error);
                }
            }
        });
        rule
    }

    /// Makes the object, and tells it the link.
    fn start(&mut self, py: Python<'_>, make: &Py<PyAny>, link: &LinkInfo) -> PyResult<()> {
        let rule = make.call0(py)?;
        let rule = rule.bind(py);
        if let Some(begin) = method(py, rule, "begin")? {
            let random = Mutex::new(link.random());
            let link = PyLinkInfo { link: link.clone(), limit: self.limit, random };
            begin.call1(py, (link,))?;
        }
        let on_timer = method(py, rule, "on_timer")?;
        if on_timer.is_some() {
            // The package has checked that it is a number in range.
            let interval_s: f64 = rule.getattr("timer_interval_s")?.extract()?;
            let interval = Time::from_seconds(interval_s);
            self.timer = Some(Timer { interval, next: interval });
        }
        self.methods = Methods {
            on_arrival: method(py, rule, "on_arrival")?,
            on_departure: method(py, rule, "on_departure")?,
            on_timer,
            gauges: method(py, rule, "gauges")?,
        };
        Ok(())
    }

    /// Calls `on_timer` for each time that has passed by `now`; `waiting` packets and bytes have waited
    /// since the packet before.
    fn pass_time(&mut self, py: Python<'_>, now: Time, waiting: (u64, u64)) {
        let PythonRule { timer: Some(timer), methods, .. } = self else { return };
        let Some(on_timer) = &methods.on_timer else { return };
        while timer.next <= now {
            let state =
                PyQueueState { now: timer.next, packets: waiting.0, bytes: waiting.1, idle: None };
            timer.next = timer.next.saturating_add(timer.interval);
            match on_timer.call1(py, (state,)) {
                Ok(answer) if answer.is_none(py) => {}
                Ok(answer) => {
                    let shown = shown(answer.bind(py));
                    return self.refuse(format!("on_timer returned {shown}; it returns nothing"));
                }
                Err(error) => return self.fail(py, "on_timer", error),
            }
        }
    }

    /// What `on_arrival` or `on_departure` decides.
    fn decide(
        &self,
        py: Python<'_>,
        (name, method): (&str, Option<&Py<PyAny>>),
        packet: PyQueuePacket,
        state: PyQueueState,
        reason: DropReason,
    ) -> Verdict {
        let Some(method) = method else { return Verdict::Accept };
        match method.bind(py).call1((packet, state)) {
            Ok(answer) => self.read(name, &answer, reason),
            Err(error) => {
                self.fail(py, name, error);
                Verdict::Accept
            }
        }
    }

    fn read(&self, name: &str, answer: &Bound<'_, PyAny>, reason: DropReason) -> Verdict {
        let word = answer.cast::<PyString>().ok().and_then(|text| text.to_str().ok());
        match word {
            Some("accept") => Verdict::Accept,
            Some("mark") => Verdict::Mark,
            Some("drop") => Verdict::Drop(reason),
            _ => {
                self.refuse(format!("{name} returned {}; {VERDICTS}", shown(answer)));
                Verdict::Accept
            }
        }
    }

    fn read_gauges(&self, py: Python<'_>) -> PyResult<Vec<Gauge>> {
        let Some(gauges) = &self.methods.gauges else { return Ok(Vec::new()) };
        let answer = gauges.bind(py).call0()?;
        let read: Result<BTreeMap<String, f64>, _> = answer.extract();
        let order: PyResult<Vec<String>> =
            answer.try_iter().and_then(|keys| keys.map(|key| key?.extract()).collect());
        let (Ok(read), Ok(order)) = (read, order) else {
            let shown = shown(&answer);
            self.refuse(format!("gauges returned {shown}; it returns a dict of names and numbers"));
            return Ok(Vec::new());
        };
        let mut known = self.gauge_names.borrow_mut();
        let names = known.get_or_insert_with(|| order.iter().map(|name| kept(name)).collect());
        if *names != order {
            self.refuse(format!(
                "gauges returned the names {}, and before {}; they never change",
                order.join(", "),
                names.join(", ")
            ));
            return Ok(Vec::new());
        }
        Ok(names.iter().map(|name| (*name, read[*name])).collect())
    }

    #[cold]
    fn refuse(&self, problem: String) {
        self.failure.borrow_mut().get_or_insert(problem);
    }

    #[cold]
    fn fail(&self, py: Python<'_>, what: &str, error: PyErr) {
        self.refuse(raised_by(py, what, &error));
        self.raised.keep(error);
    }

    fn has_failed(&self) -> bool {
        self.failure.borrow().is_some()
    }
}

/// A name of a gauge, kept for good. There are as many as the user's classes have gauges, and each is
/// kept once.
fn kept(name: &str) -> &'static str {
    static NAMES: Mutex<BTreeSet<&'static str>> = Mutex::new(BTreeSet::new());
    let mut names = NAMES.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some(known) = names.get(name) {
        return known;
    }
    let name: &'static str = Box::leak(name.to_owned().into_boxed_str());
    names.insert(name);
    name
}

impl ArrivalRule for PythonRule {
    fn on_enqueue(&mut self, event: &EnqueueEvent) -> Verdict {
        Python::attach(|py| {
            let waiting = (event.waiting_packets, event.waiting_bytes);
            self.pass_time(py, event.now, waiting);
            if self.has_failed() {
                return Verdict::Accept;
            }
            let fits = event.fits(self.limit);
            let packet =
                PyQueuePacket { bytes: event.bytes, ecn: event.ecn, waited: Time::ZERO, fits };
            let idle = event.idle_since.map(|since| event.now.since(since));
            let state = PyQueueState { now: event.now, packets: waiting.0, bytes: waiting.1, idle };
            let reason = if fits { DropReason::Early } else { DropReason::Overflow };
            let method = ("on_arrival", self.methods.on_arrival.as_ref());
            self.decide(py, method, packet, state, reason)
        })
    }

    fn gauges(&self, _now: Time) -> Vec<Gauge> {
        if self.methods.gauges.is_none() || self.has_failed() {
            return Vec::new();
        }
        Python::attach(|py| {
            self.read_gauges(py).unwrap_or_else(|error| {
                self.fail(py, "gauges", error);
                Vec::new()
            })
        })
    }
}

impl CustomRule for PythonRule {
    fn on_dequeue(&mut self, event: &DequeueEvent) -> Verdict {
        Python::attach(|py| {
            let (packets, bytes) = (event.waiting_packets, event.waiting_bytes);
            self.pass_time(py, event.now, (packets + 1, bytes + u64::from(event.bytes)));
            if self.has_failed() {
                return Verdict::Accept;
            }
            let waited = event.now.since(event.arrival);
            let packet = PyQueuePacket { bytes: event.bytes, ecn: event.ecn, waited, fits: true };
            let state = PyQueueState { now: event.now, packets, bytes, idle: None };
            let method = ("on_departure", self.methods.on_departure.as_ref());
            self.decide(py, method, packet, state, DropReason::Head)
        })
    }

    fn failure(&mut self) -> Option<String> {
        self.failure.get_mut().clone()
    }
}
