//! Schedulers written in Python: each packet waits in a list that the user's object numbers.

use pyo3::call::PyCallArgs;
use pyo3::prelude::*;
use pyo3::types::{PyBool, PyString};
use tailroom_engine::queue::buffer::DropReason;
use tailroom_engine::queue::custom::{CustomScheduler, Placement, QueuedPacket, Waiting};
use tailroom_engine::queue::{Gauge, Verdict};
use tailroom_engine::units::Time;

use crate::discipline::{OwnDiscipline, PyQueuePacket, PyQueueState};
use crate::own_code::shown;

/// A scheduler of the user's.
pub(crate) struct PythonScheduler(pub(crate) OwnDiscipline);

/// What `next_packet` and `make_room` return.
const LISTS: &str = "it returns the number of a list that holds packets";

/// What `on_arrival` returns.
const PLACEMENTS: &str = "a packet that is in no list and not dropped would be lost: it returns the \
     number of a list (at least 0), a pair of it and \"mark\", or \"drop\"";

fn state(now: Time, waiting: &Waiting<'_>) -> PyQueueState {
    let (packets, bytes, lists) = (waiting.packets(), waiting.bytes(), waiting.lists().collect());
    PyQueueState { now, packets, bytes, idle: None, lists }
}

/// The number of a list; `None` if it is something else.
fn number(answer: &Bound<'_, PyAny>) -> Option<u32> {
    if answer.is_instance_of::<PyBool>() { None } else { answer.extract().ok() }
}

fn placement(answer: &Bound<'_, PyAny>, fits: bool) -> Option<Placement> {
    if let Ok(word) = answer.cast::<PyString>() {
        let reason = if fits { DropReason::Early } else { DropReason::Overflow };
        return (word == "drop").then_some(Placement::Drop(reason));
    }
    if let Ok((list, word)) = answer.extract::<(Bound<'_, PyAny>, String)>() {
        return number(&list).filter(|_| word == "mark").map(Placement::MarkAndAppend);
    }
    number(answer).map(Placement::Append)
}

/// Asks a method for the number of a list; `None` if it failed.
fn choose<A>(
    own: &OwnDiscipline,
    py: Python<'_>,
    (name, method): (&str, Option<&Py<PyAny>>),
    arguments: A,
) -> Option<u32>
where
    A: for<'py> PyCallArgs<'py>,
{
    match method?.bind(py).call1(arguments) {
        Ok(answer) => number(&answer).or_else(|| {
            let shown = shown(&answer);
            own.failures.refuse(format!("{name} returned {shown} while packets wait; {LISTS}"));
            None
        }),
        Err(error) => {
            own.failures.fail(py, name, error);
            None
        }
    }
}

impl CustomScheduler for PythonScheduler {
    fn on_arrival(
        &mut self,
        packet: &QueuedPacket,
        fits: bool,
        waiting: &Waiting<'_>,
    ) -> Placement {
        let PythonScheduler(own) = self;
        let now = packet.arrival;
        Python::attach(|py| {
            own.pass_time(py, now, |at| state(at, waiting));
            let Some(on_arrival) =
                own.methods.on_arrival.as_ref().filter(|_| own.failures.is_empty())
            else {
                return Placement::Append(0);
            };
            let packet = PyQueuePacket::of_queued(packet, now, fits);
            match on_arrival.bind(py).call1((packet, state(now, waiting))) {
                Ok(answer) => placement(&answer, fits).unwrap_or_else(|| {
                    let shown = shown(&answer);
                    own.failures.refuse(format!("on_arrival returned {shown}; {PLACEMENTS}"));
                    Placement::Append(0)
                }),
                Err(error) => {
                    own.failures.fail(py, "on_arrival", error);
                    Placement::Append(0)
                }
            }
        })
    }

    fn make_room(&mut self, arrived: &QueuedPacket, waiting: &Waiting<'_>) -> Option<u32> {
        let PythonScheduler(own) = self;
        let method = own.methods.make_room.as_ref().filter(|_| own.failures.is_empty())?;
        let now = arrived.arrival;
        Python::attach(|py| {
            let arrived = PyQueuePacket::of_queued(arrived, now, false);
            choose(own, py, ("make_room", Some(method)), (arrived, state(now, waiting)))
        })
    }

    fn next_packet(&mut self, now: Time, waiting: &Waiting<'_>) -> Option<u32> {
        let PythonScheduler(own) = self;
        Python::attach(|py| {
            own.pass_time(py, now, |at| state(at, waiting));
            if !own.failures.is_empty() {
                return None;
            }
            let method = ("next_packet", own.methods.next_packet.as_ref());
            choose(own, py, method, (state(now, waiting),))
        })
    }

    fn on_departure(&mut self, now: Time, packet: &QueuedPacket, waiting: &Waiting<'_>) -> Verdict {
        let PythonScheduler(own) = self;
        if own.methods.on_departure.is_none() || !own.failures.is_empty() {
            return Verdict::Accept;
        }
        Python::attach(|py| {
            let packet = PyQueuePacket::of_queued(packet, now, true);
            let method = ("on_departure", own.methods.on_departure.as_ref());
            own.decide(py, method, packet, state(now, waiting), DropReason::Head)
        })
    }

    fn gauges(&self, _now: Time) -> Vec<Gauge> {
        self.0.gauges()
    }

    fn failure(&mut self) -> Option<String> {
        self.0.failures.first()
    }
}
