//! Queue disciplines written in Python: objects of the user that are called at each packet. What rules
//! and schedulers have in common, and rules.

use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Mutex, PoisonError};

use pyo3::prelude::*;
use pyo3::types::{PyDict, PyRange, PyString};
use tailroom_engine::packet::Ecn;
use tailroom_engine::quantity::limit::Limit;
use tailroom_engine::queue::buffer::DropReason;
use tailroom_engine::queue::custom::{CustomRule, DequeueEvent, QueuedPacket, WaitingList};
use tailroom_engine::queue::{ArrivalRule, EnqueueEvent, Gauge, LinkInfo, Verdict};
use tailroom_engine::random::{Stream, uniform};
use tailroom_engine::units::Time;

use crate::own_code::{Failures, Raised, method, shown};

/// A packet at a link, about which a discipline decides.
#[pyclass(frozen, module = "tailroom", name = "QueuePacket")]
pub(crate) struct PyQueuePacket {
    pub(crate) flow: u32,
    pub(crate) bytes: u32,
    pub(crate) ecn: Ecn,
    pub(crate) waited: Time,
    pub(crate) fits: bool,
}

#[pymethods]
impl PyQueuePacket {
    /// Number of its flow. A number of a flow that has departed is given to another flow.
    #[getter]
    fn flow(&self) -> u32 {
        self.flow
    }

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
    /// whatever a rule decides, unless a scheduler makes room for it.
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
    pub(crate) now: Time,
    pub(crate) packets: u64,
    pub(crate) bytes: u64,
    pub(crate) idle: Option<Time>,
    /// The lists of a scheduler that hold packets.
    pub(crate) lists: Vec<WaitingList>,
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

    /// The lists of a scheduler that hold packets, by ascending number; empty for a rule.
    #[getter]
    fn lists<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let lists = PyDict::new(py);
        for list in &self.lists {
            lists.set_item(list.number, PyQueueList { list: *list, now: self.now })?;
        }
        Ok(lists)
    }

    /// How long the link has been idle at the arrival of a packet at a rule, in seconds; `None` if it
    /// is busy.
    #[getter]
    fn idle_s(&self) -> Option<f64> {
        self.idle.map(Time::seconds)
    }

    /// How long the link has been idle at the arrival of a packet at a rule, in picoseconds; `None`
    /// if it is busy.
    #[getter]
    fn idle_ps(&self) -> Option<u64> {
        self.idle.map(Time::picoseconds)
    }
}

/// A list of a scheduler that holds packets.
#[pyclass(frozen, module = "tailroom", name = "QueueList")]
pub(crate) struct PyQueueList {
    list: WaitingList,
    now: Time,
}

#[pymethods]
impl PyQueueList {
    /// Number of packets in the list.
    #[getter]
    fn packets(&self) -> u64 {
        self.list.packets
    }

    /// Sum of the sizes of these packets, in bytes.
    #[getter]
    fn bytes(&self) -> u64 {
        self.list.bytes
    }

    /// The packet that leaves the list first.
    #[getter]
    fn first(&self) -> PyQueuePacket {
        PyQueuePacket::of_queued(&self.list.first, self.now, true)
    }
}

impl PyQueuePacket {
    /// A packet at a scheduler.
    pub(crate) fn of_queued(packet: &QueuedPacket, now: Time, fits: bool) -> Self {
        let waited = now.since(packet.arrival);
        PyQueuePacket { flow: packet.flow, bytes: packet.bytes, ecn: packet.ecn, waited, fits }
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

    /// The numbers of the permanent flows of each group whose packets or ACKs cross the link, by the
    /// name of the group.
    #[getter]
    fn groups<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let groups = PyDict::new(py);
        for (name, members) in &self.link.groups {
            // Flow numbers have 24 bits.
            let number = |flow: u32| isize::try_from(flow).unwrap_or(isize::MAX);
            let (start, end) = (number(members.start), number(members.end));
            groups.set_item(name, PyRange::new(py, start, end)?)?;
        }
        Ok(groups)
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
pub(crate) struct Methods {
    pub(crate) on_arrival: Option<Py<PyAny>>,
    pub(crate) next_packet: Option<Py<PyAny>>,
    pub(crate) make_room: Option<Py<PyAny>>,
    pub(crate) on_departure: Option<Py<PyAny>>,
    on_timer: Option<Py<PyAny>>,
    gauges: Option<Py<PyAny>>,
}

/// The discipline of one link.
pub(crate) struct OwnDiscipline {
    /// Empty if the factory failed.
    pub(crate) methods: Methods,
    timer: Option<Timer>,
    limit: Limit,
    pub(crate) failures: Failures,
    /// The names of the gauges, which never change, once they are known.
    gauge_names: RefCell<Option<Vec<&'static str>>>,
}

/// What the methods of a rule return.
const VERDICTS: &str = "it returns \"accept\", \"mark\" or \"drop\"";

impl OwnDiscipline {
    pub(crate) fn new(make: &Py<PyAny>, link: &LinkInfo, limit: Limit, raised: Raised) -> Self {
        let mut discipline = OwnDiscipline {
            methods: Methods::default(),
            timer: None,
            limit,
            failures: Failures::new(raised),
            gauge_names: RefCell::new(None),
        };
        Python::attach(|py| {
            if let Err(error) = discipline.start(py, make, link) {
                discipline.failures.fail(py, "making the discipline", error);
            }
        });
        discipline
    }

    /// Makes the object, and tells it the link.
    fn start(&mut self, py: Python<'_>, make: &Py<PyAny>, link: &LinkInfo) -> PyResult<()> {
        let object = make.call0(py)?;
        let object = object.bind(py);
        if let Some(begin) = method(py, object, "begin")? {
            let random = Mutex::new(link.random());
            let link = PyLinkInfo { link: link.clone(), limit: self.limit, random };
            begin.call1(py, (link,))?;
        }
        let on_timer = method(py, object, "on_timer")?;
        if on_timer.is_some() {
            // The package has checked that it is a number in range.
            let interval_s: f64 = object.getattr("timer_interval_s")?.extract()?;
            let interval = Time::from_seconds(interval_s);
            self.timer = Some(Timer { interval, next: interval });
        }
        self.methods = Methods {
            on_arrival: method(py, object, "on_arrival")?,
            next_packet: method(py, object, "next_packet")?,
            make_room: method(py, object, "make_room")?,
            on_departure: method(py, object, "on_departure")?,
            on_timer,
            gauges: method(py, object, "gauges")?,
        };
        Ok(())
    }

    /// Calls `on_timer` for each time that has passed by `now`; `waiting` returns what has waited at
    /// such a time, since the packet before.
    pub(crate) fn pass_time(
        &mut self,
        py: Python<'_>,
        now: Time,
        waiting: impl Fn(Time) -> PyQueueState,
    ) {
        let OwnDiscipline { timer: Some(timer), methods, .. } = self else { return };
        let Some(on_timer) = &methods.on_timer else { return };
        while timer.next <= now {
            let at = timer.next;
            timer.next = at.saturating_add(timer.interval);
            match on_timer.call1(py, (waiting(at),)) {
                Ok(answer) if answer.is_none(py) => {}
                Ok(answer) => {
                    let shown = shown(answer.bind(py));
                    return self
                        .failures
                        .refuse(format!("on_timer returned {shown}; it returns nothing"));
                }
                Err(error) => return self.failures.fail(py, "on_timer", error),
            }
        }
    }

    /// What `on_arrival` or `on_departure` decides.
    pub(crate) fn decide(
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
                self.failures.fail(py, name, error);
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
                self.failures.refuse(format!("{name} returned {}; {VERDICTS}", shown(answer)));
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
            self.failures
                .refuse(format!("gauges returned {shown}; it returns a dict of names and numbers"));
            return Ok(Vec::new());
        };
        let mut known = self.gauge_names.borrow_mut();
        let names = known.get_or_insert_with(|| order.iter().map(|name| kept(name)).collect());
        if *names != order {
            self.failures.refuse(format!(
                "gauges returned the names {}, and before {}; they never change",
                order.join(", "),
                names.join(", ")
            ));
            return Ok(Vec::new());
        }
        if let Some((name, value)) = read.iter().find(|(_, value)| !value.is_finite()) {
            self.failures
                .refuse(format!("gauges returned {value} for {name}; a gauge is a finite number"));
            return Ok(Vec::new());
        }
        Ok(names.iter().map(|name| (*name, read[*name])).collect())
    }

    /// What `gauges` reports.
    pub(crate) fn gauges(&self) -> Vec<Gauge> {
        if self.methods.gauges.is_none() || !self.failures.is_empty() {
            return Vec::new();
        }
        Python::attach(|py| {
            self.read_gauges(py).unwrap_or_else(|error| {
                self.failures.fail(py, "gauges", error);
                Vec::new()
            })
        })
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

/// A rule of the user's.
pub(crate) struct PythonRule(pub(crate) OwnDiscipline);

/// What waits at a rule.
fn state(now: Time, (packets, bytes): (u64, u64), idle: Option<Time>) -> PyQueueState {
    PyQueueState { now, packets, bytes, idle, lists: Vec::new() }
}

impl ArrivalRule for PythonRule {
    fn on_enqueue(&mut self, event: &EnqueueEvent) -> Verdict {
        let PythonRule(own) = self;
        Python::attach(|py| {
            let waiting = (event.waiting_packets, event.waiting_bytes);
            own.pass_time(py, event.now, |at| state(at, waiting, None));
            if !own.failures.is_empty() {
                return Verdict::Accept;
            }
            let EnqueueEvent { now, flow, bytes, ecn, .. } = *event;
            let fits = event.fits(own.limit);
            let packet = PyQueuePacket { flow, bytes, ecn, waited: Time::ZERO, fits };
            let idle = event.idle_since.map(|since| now.since(since));
            let reason = if fits { DropReason::Early } else { DropReason::Overflow };
            let method = ("on_arrival", own.methods.on_arrival.as_ref());
            own.decide(py, method, packet, state(now, waiting, idle), reason)
        })
    }

    fn gauges(&self, _now: Time) -> Vec<Gauge> {
        self.0.gauges()
    }
}

impl CustomRule for PythonRule {
    fn on_dequeue(&mut self, event: &DequeueEvent) -> Verdict {
        let PythonRule(own) = self;
        Python::attach(|py| {
            let DequeueEvent { now, flow, bytes, ecn, .. } = *event;
            let waiting = (event.waiting_packets, event.waiting_bytes);
            let before = (waiting.0 + 1, waiting.1 + u64::from(bytes));
            own.pass_time(py, now, |at| state(at, before, None));
            if !own.failures.is_empty() {
                return Verdict::Accept;
            }
            let waited = now.since(event.arrival);
            let packet = PyQueuePacket { flow, bytes, ecn, waited, fits: true };
            let method = ("on_departure", own.methods.on_departure.as_ref());
            own.decide(py, method, packet, state(now, waiting, None), DropReason::Head)
        })
    }

    fn failure(&mut self) -> Option<String> {
        self.0.failures.first()
    }
}
