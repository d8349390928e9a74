//! A run in steps: Python looks at links and flows at the end of each step, and may act on them
//! before the next.

use std::sync::{Arc, Mutex, PoisonError};

use pyo3::IntoPyObjectExt;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyString};
use serde_json::Value;
use tailroom_engine::congestion::stepped::SteppedParams;
use tailroom_engine::network::Network;
use tailroom_engine::parameters::BadParameter;
use tailroom_engine::quantity::{BitRate, read_base_units};
use tailroom_engine::simulation::Simulation;
use tailroom_engine::simulation::error::RunError as RunFailure;
use tailroom_engine::simulation::stepping::{Action, Seen, SeenFlow, SeenLink};
use tailroom_engine::units::{Rate, Time};

use crate::code_finder::{Finders, PythonCode};
use crate::error::{self, ArgumentError, Failure};
use crate::events::{event_class, shown_as_call};
use crate::run::{self, FIRST_EVENTS, Observer};

/// Names of links and permanent flows, in the order of the scenario.
struct Names {
    links: Vec<Name>,
    flows: Vec<Name>,
    groups: Vec<String>,
}

/// A name, and the object of Python that is the key of what is seen at each step.
struct Name {
    text: String,
    key: Py<PyString>,
}

impl Name {
    fn all(names: impl Iterator<Item = String>) -> Vec<Name> {
        Python::attach(|py| {
            let key = |text: &str| PyString::new(py, text).unbind();
            names.map(|text| Name { key: key(&text), text }).collect()
        })
    }
}

/// A run that stands between two steps.
#[pyclass(frozen, name = "Steps", module = "tailroom._engine")]
pub(crate) struct PySteps {
    /// `None` once the results have been taken.
    run: Mutex<Option<Simulation>>,
    code: PythonCode,
    network: Network,
    names: Arc<Names>,
}

impl PySteps {
    /// The run of a network with a step interval, before its first step.
    pub(crate) fn new(network: Network, code: PythonCode) -> Result<Self, Failure> {
        let run = Simulation::new(&network).map_err(RunFailure::from)?;
        let links = Name::all(network.links.iter().map(|link| link.name.clone()));
        let flows = Name::all((0..network.flows.len()).map(|flow| network.flow_name(flow)));
        let groups = network.groups.iter().map(|group| group.name.clone()).collect();
        let names = Arc::new(Names { links, flows, groups });
        Ok(PySteps { run: Mutex::new(Some(run)), code, network, names })
    }

    /// Calls `call` with the run, without the interpreter's lock.
    fn with<T: Send>(
        &self,
        py: Python<'_>,
        call: impl FnOnce(&mut Simulation) -> Result<T, Failure> + Send,
    ) -> PyResult<T> {
        let answer = py.detach(|| {
            let mut run = self.run.lock().unwrap_or_else(PoisonError::into_inner);
            let run = run.as_mut().ok_or_else(is_over)?;
            self.code.blame(error::catch_panics(|| call(run)))
        });
        Ok(answer?)
    }

    fn act(&self, py: Python<'_>, action: Action) -> PyResult<()> {
        self.with(py, |run| run.act(action).map_err(|bad| refusal(&bad)))
    }

    /// Refuses a link whose rate cannot change, with the remedy in the words of Python.
    fn check_rate_changes(&self, run: &Simulation, link: usize) -> Result<(), Failure> {
        if run.can_change_rate(link) {
            return Ok(());
        }
        let name = &self.names.links[link].text;
        let problem = "the departure of each packet is known when it arrives";
        let remedy = format!("open the run with tr.Simulation(..., acts_on=[\"{name}\"])");
        Err(refusal(&BadParameter::new(format!("links.{name}"), problem, remedy)))
    }
}

#[pymethods]
impl PySteps {
    /// Names of the links.
    #[getter]
    fn links(&self) -> Vec<&str> {
        self.names.links.iter().map(|link| link.text.as_str()).collect()
    }

    /// Names of the permanent flows, with the name of their group.
    #[getter]
    fn flows(&self) -> Vec<(&str, &str)> {
        let flows = self.names.flows.iter().zip(&self.network.flows);
        flows.map(|(name, flow)| (name.text.as_str(), self.group_of(flow.group))).collect()
    }

    /// The end of the last step, in seconds.
    #[getter]
    fn time_s(&self, py: Python<'_>) -> PyResult<f64> {
        self.with(py, |run| Ok(run.step_time().seconds()))
    }

    /// Whether the last step has ended.
    #[getter]
    fn is_over(&self, py: Python<'_>) -> PyResult<bool> {
        self.with(py, |run| Ok(run.step_time() >= self.network.duration))
    }

    /// Runs up to the end of the next step; `None` after the last.
    fn step(&self, py: Python<'_>) -> PyResult<Option<PySeen>> {
        let mut observer: Option<Observer> = None;
        let seen = self.with(py, |run| {
            while run.step_time() < self.network.duration {
                let events = observer.as_ref().map_or(FIRST_EVENTS, |one| one.events);
                if let Some(seen) = run.step_some(events)? {
                    return Ok(Some(seen));
                }
                let observer = observer.get_or_insert_with(|| Observer::new(None));
                observer.observe(run, self.network.duration)?;
            }
            Ok(None)
        })?;
        Ok(seen.map(|seen| PySeen { seen, names: Arc::clone(&self.names) }))
    }

    /// Sets the rate of a link, as text with its unit.
    fn set_rate(&self, py: Python<'_>, link: usize, rate: &str) -> PyResult<()> {
        let rate = Self::read_rate(&format!("links.{}.rate", self.names.links[link].text), rate)?;
        self.with(py, |run| {
            self.check_rate_changes(run, link)?;
            let rate = Rate::from_bits_per_second(rate);
            run.act(Action::Rate { link, rate }).map_err(|bad| refusal(&bad))
        })
    }

    /// Sets parameters of the discipline of a link, as a JSON object.
    fn set_queue(&self, py: Python<'_>, link: usize, parameters: &str) -> PyResult<()> {
        let place = format!("links.{}.queue", self.names.links[link].text);
        self.with(py, |run| {
            let queue = run.queue_config(link).ok_or_else(is_over)?;
            let fixed = queue.fixed_keys();
            let wrong = |key: &str, problem: String, remedy: &str| {
                refusal(&BadParameter::new(key, problem, remedy).below(&place))
            };
            let mut config = serde_json::to_value(queue).unwrap_or_default();
            let changes = serde_json::from_str::<serde_json::Map<String, Value>>(parameters);
            for (key, value) in changes.unwrap_or_default() {
                let Some(fixed) = fixed else {
                    let problem = "a discipline of your own has no keys to act on".to_owned();
                    return Err(wrong(&key, problem, "let its own code change them"));
                };
                if key == "kind" || fixed.contains(&key.as_str()) {
                    let problem = "the key says how the discipline holds packets".to_owned();
                    return Err(wrong(&key, problem, "write it in the scenario"));
                }
                config[&key] = value;
                serde_json::from_value::<tailroom_engine::queue::QueueConfig>(config.clone())
                    .map_err(|error| {
                        wrong(&key, error.to_string(), "write a value as in a scenario")
                    })?;
            }
            let queue = serde_json::from_value(config)
                .map_err(|error| wrong("", error.to_string(), "write values as in a scenario"))?;
            run.act(Action::Queue { link, queue }).map_err(|bad| refusal(&bad))
        })
    }

    /// Sets what a flow under the stepped control holds: the window in packets, and the pacing rate as
    /// text with its unit.
    #[pyo3(signature = (flow, window=None, pacing_rate=None))]
    fn hold(
        &self,
        py: Python<'_>,
        flow: usize,
        window: Option<f64>,
        pacing_rate: Option<&str>,
    ) -> PyResult<()> {
        let hold = Self::read_hold(&self.names.flows[flow].text, window, pacing_rate)?;
        self.act(py, Action::Flow { flow, hold })
    }

    /// The same, of a flow that has arrived in a group; `ordinal` of its flows came before.
    #[pyo3(signature = (group, ordinal, window=None, pacing_rate=None))]
    fn hold_arrived(
        &self,
        py: Python<'_>,
        group: &str,
        ordinal: u64,
        window: Option<f64>,
        pacing_rate: Option<&str>,
    ) -> PyResult<()> {
        let hold = Self::read_hold(&format!("{group}.{ordinal}"), window, pacing_rate)?;
        let place = self.network.groups.iter().position(|known| known.name == group);
        let group = place.unwrap_or(self.network.groups.len());
        self.act(py, Action::ArrivedFlow { group, ordinal, hold })
    }

    /// A run in the same state; `None` if the run has code in Python.
    fn copy(&self, py: Python<'_>) -> PyResult<Option<PySteps>> {
        let run = self.with(py, |run| Ok(run.copy()))?;
        Ok(run.map(|run| PySteps {
            run: Mutex::new(Some(run)),
            code: PythonCode::new(Finders::default()),
            network: self.network.clone(),
            names: Arc::clone(&self.names),
        }))
    }

    /// Runs to the end. Returns what `Scenario.run` returns; once.
    #[pyo3(signature = (series=false))]
    fn finish<'py>(&self, py: Python<'py>, series: bool) -> PyResult<Bound<'py, PyDict>> {
        let (results, series) = py.detach(|| {
            let run = self.run.lock().unwrap_or_else(PoisonError::into_inner).take();
            let run = run.ok_or_else(is_over)?;
            self.code.blame(error::catch_panics(|| {
                let results = run::finish(run, &self.network, Observer::new(None))?;
                let series = series.then(|| run::all_series(&self.network, &results)).flatten();
                Ok((results, series))
            }))
        })?;
        run::to_python(py, results, series)
    }
}

impl PySteps {
    fn group_of(&self, group: usize) -> &str {
        &self.network.groups[group].name
    }

    fn read_hold(
        flow: &str,
        window: Option<f64>,
        pacing_rate: Option<&str>,
    ) -> PyResult<SteppedParams> {
        let mut hold = SteppedParams::default();
        hold.window = window;
        if let Some(rate) = pacing_rate {
            let place = format!("flows.{flow}.congestion.pacing_rate");
            hold.pacing_rate = Some(BitRate::new(Self::read_rate(&place, rate)?));
        }
        Ok(hold)
    }

    fn read_rate(place: &str, text: &str) -> PyResult<u64> {
        match read_base_units("rate", text) {
            Some(Ok(rate)) => Ok(rate),
            Some(Err(bad)) => Err(ArgumentError::new_err(format!("{place}: {bad}"))),
            None => Err(ArgumentError::new_err(place.to_owned())),
        }
    }
}

fn refusal(bad: &BadParameter) -> Failure {
    Failure::Python(ArgumentError::new_err(bad.to_string()))
}

fn is_over() -> Failure {
    let text = "the simulation is over: its results have been taken; open another one";
    Failure::Python(ArgumentError::new_err(text))
}

/// Reads the length of a step.
pub(crate) fn read_interval(text: &str) -> PyResult<Time> {
    match read_base_units("positive_duration", text) {
        Some(Ok(picoseconds)) => Ok(Time::from_picoseconds(picoseconds)),
        Some(Err(bad)) => Err(ArgumentError::new_err(format!("every: {bad}"))),
        None => Err(ArgumentError::new_err("every".to_owned())),
    }
}

/// What is seen at the end of a step.
#[pyclass(frozen, name = "Seen", module = "tailroom")]
pub(crate) struct PySeen {
    seen: Seen,
    names: Arc<Names>,
}

#[pymethods]
impl PySeen {
    /// The end of the step.
    #[getter]
    fn time_s(&self) -> f64 {
        self.seen.time.seconds()
    }

    /// The links by name.
    #[getter]
    fn links<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let links = PyDict::new(py);
        for (name, link) in self.names.links.iter().zip(&self.seen.links) {
            links.set_item(&name.key, PySeenLink::new(link.clone()))?;
        }
        Ok(links)
    }

    /// The permanent flows by name; behind them the arriving flows under the stepped control that were in
    /// progress in the step: `web.3` is the fourth that arrived in the group `web`.
    #[getter]
    fn flows<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let flows = PyDict::new(py);
        for (name, flow) in self.names.flows.iter().zip(&self.seen.flows) {
            flows.set_item(&name.key, PySeenFlow::new(flow.clone()))?;
        }
        for arrived in &self.seen.arrived {
            let name = format!("{}.{}", self.names.groups[arrived.group], arrived.ordinal);
            flows.set_item(name, PySeenFlow::new(arrived.flow.clone()))?;
        }
        Ok(flows)
    }

    fn __eq__(&self, other: &Self) -> bool {
        let same = |ours: &[Name], others: &[Name]| {
            ours.iter().map(|name| &name.text).eq(others.iter().map(|name| &name.text))
        };
        self.seen == other.seen
            && same(&self.names.links, &other.names.links)
            && same(&self.names.flows, &other.names.flows)
            && (self.seen.arrived.is_empty() || self.names.groups == other.names.groups)
    }

    fn __repr__(&self, py: Python<'_>) -> PyResult<String> {
        let values = [
            ("time_s", self.time_s().into_bound_py_any(py)?),
            ("links", self.links(py)?.into_any()),
            ("flows", self.flows(py)?.into_any()),
        ];
        shown_as_call("Seen", &values)
    }
}

event_class! {
    /// A link at the end of a step. Counts, fractions, rates and means are those of the step.
    PySeenLink = "SeenLink", |link: SeenLink| {
        /// Packets that wait, without the packet in transmission.
        queue_packets: u64 = link.queue_packets;
        /// Bytes of these packets.
        queue_bytes: u64 = link.queue_bytes;
        /// The fraction of the capacity that was used.
        utilization: f64 = link.utilization;
        /// The rate of the packets whose last bit left, headers included.
        throughput_bps: f64 = link.throughput_bps;
        /// Packets that reached the buffer.
        arrivals_packets: u64 = link.arrivals_packets;
        /// Packets that were dropped.
        drops_packets: u64 = link.drops_packets;
        /// Packets that were marked.
        marks_packets: u64 = link.marks_packets;
        /// Mean wait of the packets whose transmission began; `None` without any.
        queue_delay_s_mean: Option<f64> = link.queue_delay_s_mean;
        /// Rate of transmissions that begin now.
        rate_bps: u64 = link.rate_bps;
    }
}

event_class! {
    /// A flow at the end of a step. Counts, rates and means are those of the step.
    PySeenFlow = "SeenFlow", |flow: SeenFlow| {
        /// The window; 0 without congestion control.
        cwnd_packets: f64 = flow.cwnd_packets;
        /// The smoothed RTT; `None` before the first sample.
        srtt_s: Option<f64> = flow.srtt_s;
        /// Mean of the RTT samples, without congestion control of the one-way delays; `None` without
        /// samples.
        rtt_s_mean: Option<f64> = flow.rtt_s_mean;
        /// Packets sent, retransmissions included.
        sent_packets: u64 = flow.sent_packets;
        /// Packets newly acknowledged, in sequence or selectively; without congestion control, received.
        delivered_packets: u64 = flow.delivered_packets;
        /// Packets that a queue dropped or a wire lost.
        lost_packets: u64 = flow.lost_packets;
        /// Packets sent again.
        retransmissions: u64 = flow.retransmissions;
        /// Rate of the packets sent, headers included.
        send_rate_bps: f64 = flow.send_rate_bps;
        /// Rate of the data acknowledged in sequence, without headers.
        goodput_bps: f64 = flow.goodput_bps;
    }
}
