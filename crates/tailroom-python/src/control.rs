//! Congestion controls written in Python: objects of the user that are called at each ACK.
//!
//! The engine runs detached from the interpreter and attaches for each call, so that other threads
//! continue and Ctrl-C acts.

use pyo3::call::PyCallArgs;
use pyo3::prelude::*;
use tailroom_engine::congestion::custom::{ControlMaker, CustomControl};
use tailroom_engine::congestion::rate_based::{
    BeginEvent, ControlOutput, LostPacketEvent, RateBasedControl, RateSampleEvent, RestartEvent,
};
use tailroom_engine::congestion::{AckEvent, CongestionEvent, CongestionKind, Rounds, WindowLaw};

use crate::control_output::PyControlOutput;
use crate::error::ScenarioError;
use crate::events::{
    PyAckEvent, PyBeginEvent, PyCongestionEvent, PyLostPacketEvent, PyRateSampleEvent,
    PyRestartEvent, PyRoundEvent,
};
use crate::own_code::{Raised, method, raised_by, shown};

/// Attribute of the factory of a control that says whether the control is rate-based.
const IS_RATE_BASED: &str = "is_rate_based";

/// The maker of controls that calls `make`, the factory of a flow's control.
pub(crate) fn maker(py: Python<'_>, make: Py<PyAny>, raised: Raised) -> ControlMaker {
    let is_rate_based =
        make.getattr(py, IS_RATE_BASED).is_ok_and(|is| is.is_truthy(py).unwrap_or(false));
    // The kind of what a function makes shows when it has made one.
    ControlMaker::either(is_rate_based, move || {
        let control = Box::new(PythonControl::new(&make, raised.clone()));
        if control.is_rate_based() {
            CustomControl::RateBased(control)
        } else {
            CustomControl::WindowLaw(control)
        }
    })
}

/// The bound methods of a flow's control; `None` for methods that it does not have.
struct Methods {
    on_ack: Option<Py<PyAny>>,
    on_congestion: Option<Py<PyAny>>,
    on_rto: Option<Py<PyAny>>,
    on_round: Option<Py<PyAny>>,
    on_rate_sample: Option<Py<PyAny>>,
    on_lost: Option<Py<PyAny>>,
    on_restart: Option<Py<PyAny>>,
    begin: Option<Py<PyAny>>,
}

impl Methods {
    /// The package has checked that the required methods exist.
    fn of(py: Python<'_>, control: &Bound<'_, PyAny>) -> PyResult<Self> {
        let method = |name: &str| method(py, control, name);
        Ok(Methods {
            on_ack: method("on_ack")?,
            on_congestion: method("on_congestion")?,
            on_rto: method("on_rto")?,
            on_round: method("on_round")?,
            on_rate_sample: method(RATE_BASED)?,
            on_lost: method("on_lost")?,
            on_restart: method("on_restart")?,
            begin: method("begin")?,
        })
    }

    fn is_rate_based(&self) -> bool {
        self.on_rate_sample.is_some()
    }
}

/// The method that only rate-based controls have.
const RATE_BASED: &str = "on_rate_sample";

/// The control of one flow.
struct PythonControl {
    /// `None` if the factory failed.
    methods: Option<Methods>,
    rounds: Rounds,
    raised: Raised,
    failure: Option<String>,
}

impl PythonControl {
    fn new(make: &Py<PyAny>, raised: Raised) -> Self {
        let mut control =
            PythonControl { methods: None, rounds: Rounds::default(), raised, failure: None };
        Python::attach(|py| match make.call0(py).and_then(|made| Methods::of(py, made.bind(py))) {
            Ok(methods) => control.methods = Some(methods),
            Err(error) if error.is_instance_of::<ScenarioError>(py) => {
                control.failure = Some(error.value(py).to_string());
            }
            Err(error) => control.fail(py, "making the control", error),
        });
        control
    }

    /// The window that a method returns; NaN, which is not a window, if the method fails.
    fn ask<'py>(
        &mut self,
        py: Python<'py>,
        name: &str,
        arguments: impl PyCallArgs<'py>,
        method: fn(&Methods) -> Option<&Py<PyAny>>,
    ) -> f64 {
        match self.answer(py, name, arguments, method) {
            Some(answer) => answer.extract().unwrap_or_else(|_| {
                self.refuse(name, &answer, "a window is a number of packets, at least 0");
                f64::NAN
            }),
            None => f64::NAN,
        }
    }

    /// The output that a method returns; `None` if the method fails.
    fn ask_output<'py>(
        &mut self,
        py: Python<'py>,
        name: &str,
        arguments: impl PyCallArgs<'py>,
        method: fn(&Methods) -> Option<&Py<PyAny>>,
    ) -> Option<ControlOutput> {
        let answer = self.answer(py, name, arguments, method)?;
        if let Ok(output) = answer.cast::<PyControlOutput>() {
            return Some(output.get().output());
        }
        self.refuse(name, &answer, "it returns a tailroom.ControlOutput");
        None
    }

    /// The value that a method returns; `None` if there is no such method or it fails.
    fn answer<'py>(
        &mut self,
        py: Python<'py>,
        name: &str,
        arguments: impl PyCallArgs<'py>,
        method: fn(&Methods) -> Option<&Py<PyAny>>,
    ) -> Option<Bound<'py, PyAny>> {
        let method = self.methods.as_ref().and_then(method)?;
        method.bind(py).call1(arguments).map_err(|error| self.fail(py, name, error)).ok()
    }

    /// Calls a method that returns nothing.
    fn tell<'py>(
        &mut self,
        py: Python<'py>,
        name: &str,
        arguments: impl PyCallArgs<'py>,
        method: fn(&Methods) -> Option<&Py<PyAny>>,
    ) {
        if let Some(answer) = self.answer(py, name, arguments, method)
            && !answer.is_none()
        {
            let who = if self.is_rate_based() {
                "begin, on_rate_sample and on_restart answer with how to send"
            } else {
                "on_ack and on_congestion answer with a window"
            };
            self.refuse(name, &answer, &format!("it returns nothing: {who}"));
        }
    }

    fn is_rate_based(&self) -> bool {
        self.methods.as_ref().is_some_and(Methods::is_rate_based)
    }

    /// Calls `on_rto` if the congestion is a timeout; false if the control has failed.
    fn tell_timeout(&mut self, py: Python<'_>, event: &CongestionEvent) -> bool {
        if event.kind == CongestionKind::Timeout {
            let event = PyCongestionEvent::new(*event);
            self.tell(py, "on_rto", (event,), |methods| methods.on_rto.as_ref());
        }
        self.failure.is_none()
    }

    #[cold]
    fn refuse(&mut self, name: &str, answer: &Bound<'_, PyAny>, hint: &str) {
        let shown = shown(answer);
        self.failure = Some(format!("{name} returned {shown}; {hint}"));
    }

    #[cold]
    fn fail(&mut self, py: Python<'_>, what: &str, error: PyErr) {
        self.failure = Some(raised_by(py, what, &error));
        self.raised.keep(error);
    }
}

/// What no control may ask for; the engine asks for the failure first, and ends the run.
const FAILED: ControlOutput = ControlOutput {
    cwnd_packets: f64::NAN,
    pacing_rate: 1.0,
    send_quantum: 1,
    is_app_limited: false,
};

impl WindowLaw for PythonControl {
    fn on_ack(&mut self, cwnd_packets: f64, event: &AckEvent) -> f64 {
        Python::attach(|py| {
            let event = PyAckEvent::new((*event, cwnd_packets));
            self.ask(py, "on_ack", (event,), |methods| methods.on_ack.as_ref())
        })
    }

    fn on_congestion(&mut self, event: &CongestionEvent) -> f64 {
        Python::attach(|py| {
            if !self.tell_timeout(py, event) {
                return f64::NAN;
            }
            let event = PyCongestionEvent::new(*event);
            self.ask(py, "on_congestion", (event,), |methods| methods.on_congestion.as_ref())
        })
    }

    fn sees_every_ack(&self) -> bool {
        self.methods.as_ref().is_some_and(|methods| methods.on_round.is_some())
    }

    fn on_every_ack(&mut self, event: &AckEvent) {
        if self.rounds.is_over(event) {
            Python::attach(|py| {
                let event = PyRoundEvent::new(*event);
                self.tell(py, "on_round", (event,), |methods| methods.on_round.as_ref());
            });
        }
    }

    fn failure(&mut self) -> Option<String> {
        self.failure.clone()
    }
}

impl RateBasedControl for PythonControl {
    fn begin(&mut self, event: &BeginEvent) -> ControlOutput {
        Python::attach(|py| {
            let event = PyBeginEvent::new(*event);
            self.ask_output(py, "begin", (event,), |methods| methods.begin.as_ref())
                .unwrap_or(FAILED)
        })
    }

    fn on_rate_sample(&mut self, event: &RateSampleEvent) -> ControlOutput {
        Python::attach(|py| {
            let event = PyRateSampleEvent::new(*event);
            self.ask_output(py, RATE_BASED, (event,), |methods| methods.on_rate_sample.as_ref())
                .unwrap_or(FAILED)
        })
    }

    fn on_congestion(&mut self, event: &CongestionEvent) {
        Python::attach(|py| {
            if self.tell_timeout(py, event) {
                let event = PyCongestionEvent::new(*event);
                self.tell(py, "on_congestion", (event,), |methods| methods.on_congestion.as_ref());
            }
        });
    }

    fn on_lost(&mut self, packet: &LostPacketEvent) {
        if self.methods.as_ref().is_some_and(|methods| methods.on_lost.is_some()) {
            Python::attach(|py| {
                let event = PyLostPacketEvent::new(*packet);
                self.tell(py, "on_lost", (event,), |methods| methods.on_lost.as_ref());
            });
        }
    }

    fn on_restart(&mut self, event: &RestartEvent) -> Option<ControlOutput> {
        self.methods.as_ref()?.on_restart.as_ref()?;
        Some(Python::attach(|py| {
            let event = PyRestartEvent::new(*event);
            self.ask_output(py, "on_restart", (event,), |methods| methods.on_restart.as_ref())
                .unwrap_or(FAILED)
        }))
    }

    fn failure(&mut self) -> Option<String> {
        self.failure.clone()
    }
}
