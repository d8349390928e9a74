//! A control that the registry does not hold: the caller's own.
//!
//! A scenario names it; whoever resolves the scenario brings a [`FindControl`], which turns the name
//! and the parameters into a [`ControlMaker`], and each flow gets a control of its own from that.
//! [`Controls`] finds controls written in Rust. Nobody has tested such a control, so [`Custom`] looks
//! at every window, and one that is no window stops the run.

use std::collections::BTreeMap;
use std::fmt;
use std::sync::Arc;

use schemars::JsonSchema;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use toml::Table;

use super::rate_based::{Beginning, LostPacket, PathEvent, Steering};
use super::{
    AckEvent, Congestion, CongestionControl, CongestionEvent, MAX_WINDOW_PACKETS, Parameters,
    SteadyState,
};
use crate::units::Time;

/// A control of your own: `congestion = "mymodule:MyControl"` is short for it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct CustomParams {
    /// Which control: module and class, as in `"mymodule:MyControl"`, for one in Python, whose code
    /// the run then executes; the registered name for one in Rust.
    #[schemars(length(min = 1), example = "mymodule:MyControl")]
    pub control: String,
    /// What each flow's control is made with: the class's keyword arguments.
    #[serde(default, skip_serializing_if = "Table::is_empty")]
    #[schemars(with = "BTreeMap<String, serde_json::Value>")]
    pub parameters: Table,
    #[serde(skip)]
    maker: Option<ControlMaker>,
}

impl CustomParams {
    /// The control of this name, still to be found.
    pub fn named(control: impl Into<String>) -> Self {
        CustomParams { control: control.into(), parameters: Table::new(), maker: None }
    }

    /// The same with the maker that its name stands for.
    #[must_use]
    pub fn made_by(self, maker: ControlMaker) -> Self {
        CustomParams { maker: Some(maker), ..self }
    }

    /// Whether its maker is known.
    pub fn is_found(&self) -> bool {
        self.maker.is_some()
    }
}

impl Parameters for CustomParams {
    fn needs_marks(&self) -> bool {
        self.maker.as_ref().is_some_and(|maker| maker.needs_marks)
    }

    fn control_name(&self) -> Option<&str> {
        Some(&self.control)
    }

    fn models_path(&self) -> bool {
        self.maker.as_ref().is_some_and(|maker| maker.models_path)
    }

    fn steady_state(&self) -> SteadyState {
        self.maker.as_ref().map_or(SteadyState::MaySettle, |maker| maker.steady_state)
    }
}

/// A control that a simulation may take along to another thread.
type BoxedControl = Box<dyn CongestionControl + Send>;

/// Makes a control for each flow of a group.
#[derive(Clone)]
pub struct ControlMaker {
    make: Arc<dyn Fn() -> BoxedControl + Send + Sync>,
    needs_marks: bool,
    models_path: bool,
    steady_state: SteadyState,
}

impl ControlMaker {
    /// Makes what `make` returns. Nothing is known of its steady state: the window may settle.
    pub fn new(make: impl Fn() -> BoxedControl + Send + Sync + 'static) -> Self {
        ControlMaker {
            make: Arc::new(make),
            needs_marks: false,
            models_path: false,
            steady_state: SteadyState::MaySettle,
        }
    }

    /// See [`Parameters::steady_state`].
    #[must_use]
    pub fn with_steady_state(self, steady_state: SteadyState) -> Self {
        ControlMaker { steady_state, ..self }
    }

    /// See [`Parameters::models_path`]; window reductions then say nothing of the steady state.
    #[must_use]
    pub fn modelling_path(self) -> Self {
        ControlMaker { models_path: true, steady_state: SteadyState::NoReductions, ..self }
    }

    /// See [`Parameters::needs_marks`].
    #[must_use]
    pub fn needing_marks(self, needs_marks: bool) -> Self {
        ControlMaker { needs_marks, ..self }
    }
}

impl fmt::Debug for ControlMaker {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("ControlMaker")
    }
}

impl PartialEq for ControlMaker {
    fn eq(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.make, &other.make)
    }
}

/// Why a control cannot be had.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum NoControl {
    /// Nothing has that name; these names there are.
    Unknown(Vec<String>),
    /// Something else is wrong with the name or the parameters.
    Wrong {
        /// What.
        problem: String,
        /// What to do.
        remedy: String,
    },
}

/// Finds the controls that the registry does not hold.
pub trait FindControl {
    /// What makes the control `name` with these parameters.
    ///
    /// # Errors
    /// Why there is no such control.
    fn find(&self, name: &str, parameters: &Table) -> Result<ControlMaker, NoControl>;
}

/// Reads the parameters of one kind of control.
type Entry = Box<dyn Fn(&Table) -> Result<ControlMaker, NoControl>>;

/// Controls written in Rust, by name.
#[derive(Default)]
pub struct Controls {
    entries: BTreeMap<String, Entry>,
}

impl Controls {
    /// Lets scenarios name a control; `start` begins one with the parameters that a scenario gives.
    pub fn register<P, C>(&mut self, name: impl Into<String>, start: fn(&P) -> C)
    where
        P: Parameters + DeserializeOwned + Send + Sync + 'static,
        C: CongestionControl + Send + 'static,
    {
        let entry = move |parameters: &Table| {
            let wrong =
                |problem| NoControl::Wrong { problem, remedy: "correct the parameters".to_owned() };
            let params = P::deserialize(parameters.clone())
                .map_err(|error| wrong(error.message().replace('\n', " ")))?;
            params.validate().map_err(wrong)?;
            let (needs_marks, steady_state) = (params.needs_marks(), params.steady_state());
            let models_path = params.models_path();
            let make = move || -> BoxedControl { Box::new(start(&params)) };
            let mut maker = ControlMaker::new(make).needing_marks(needs_marks);
            if models_path {
                maker = maker.modelling_path();
            }
            Ok(maker.with_steady_state(steady_state))
        };
        self.entries.insert(name.into(), Box::new(entry));
    }
}

impl FindControl for Controls {
    fn find(&self, name: &str, parameters: &Table) -> Result<ControlMaker, NoControl> {
        match self.entries.get(name) {
            Some(entry) => entry(parameters),
            None => Err(NoControl::Unknown(self.entries.keys().cloned().collect())),
        }
    }
}

/// What stopped a control.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ControlFault {
    /// When.
    pub time: Time,
    /// What it did.
    pub problem: String,
}

/// A running control of the caller's, and what it did wrong.
pub struct Custom {
    control: BoxedControl,
    fault: Option<Box<ControlFault>>,
}

/// What every control is asked for.
const A_WINDOW: &str = "a window is a finite number of packets, at least 0 and at most 100000000";

impl fmt::Debug for Custom {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_struct("Custom").field("fault", &self.fault).finish_non_exhaustive()
    }
}

impl Custom {
    /// Starts the control; one that was never found stops the run at once.
    pub fn new(params: &CustomParams) -> Self {
        let control = match &params.maker {
            Some(maker) => (maker.make)(),
            None => Box::new(Missing { control: params.control.clone() }),
        };
        let mut custom = Custom { control, fault: None };
        custom.ask_for_failure(Time::ZERO);
        custom
    }

    fn ask_for_failure(&mut self, time: Time) {
        if let Some(problem) = self.control.failure() {
            self.fault = Some(Box::new(ControlFault { time, problem }));
        }
    }

    /// The window that a method returned, or `otherwise` where the control has failed.
    #[inline]
    fn accept(&mut self, method: &str, time: Time, window: f64, otherwise: f64) -> f64 {
        self.ask_for_failure(time);
        let windows = 0.0..=MAX_WINDOW_PACKETS as f64;
        if self.fault.is_none() && windows.contains(&window) {
            return window.max(1.0);
        }
        self.refuse(method, time, window);
        otherwise
    }

    /// The same for a window and a pacing rate.
    fn accept_steering(
        &mut self,
        method: &str,
        time: Time,
        steering: Steering,
        otherwise: Steering,
    ) -> Steering {
        let cwnd_packets = self.accept(method, time, steering.cwnd_packets, otherwise.cwnd_packets);
        let rate = steering.pacing_rate;
        if self.fault.is_none() && !(rate.is_finite() && rate > 0.0) {
            let problem =
                format!("{method} returned a pacing rate of {rate}; it is finite and above 0");
            self.fault = Some(Box::new(ControlFault { time, problem }));
        }
        if self.fault.is_some() {
            return otherwise;
        }
        Steering { cwnd_packets, send_quantum: steering.send_quantum.max(1), ..steering }
    }

    #[cold]
    fn refuse(&mut self, method: &str, time: Time, window: f64) {
        let problem = || {
            let digits = window.abs() < 1e16 || !window.is_finite();
            let window = if digits { format!("{window}") } else { format!("{window:e}") };
            format!("{method} returned {window}; {A_WINDOW}")
        };
        self.fault.get_or_insert_with(|| Box::new(ControlFault { time, problem: problem() }));
    }
}

impl CongestionControl for Custom {
    fn on_ack(&mut self, cwnd_packets: f64, event: &AckEvent) -> f64 {
        if self.fault.is_some() {
            return cwnd_packets;
        }
        let window = self.control.on_ack(cwnd_packets, event);
        self.accept("on_ack", event.now, window, cwnd_packets)
    }

    fn on_congestion(&mut self, event: &CongestionEvent) -> f64 {
        if self.fault.is_some() {
            return event.cwnd_packets;
        }
        let window = self.control.on_congestion(event);
        self.accept("on_congestion", event.now, window, event.cwnd_packets)
    }

    fn has_own_slow_start(&self) -> bool {
        self.control.has_own_slow_start()
    }

    fn ends_slow_start(&mut self) -> bool {
        self.control.ends_slow_start()
    }

    fn watches_every_ack(&self) -> bool {
        self.control.watches_every_ack()
    }

    fn watch(&mut self, event: &AckEvent) {
        if self.fault.is_none() {
            self.control.watch(event);
            self.ask_for_failure(event.now);
        }
    }

    fn blocks(&self, srtt: Time) -> Option<u32> {
        self.control.blocks(srtt)
    }

    fn has_answered_marks(&self, now: Time) -> bool {
        self.control.has_answered_marks(now)
    }

    fn answers_loss_after_mark(&self) -> bool {
        self.control.answers_loss_after_mark()
    }

    fn begin(&mut self, beginning: &Beginning) -> Option<Steering> {
        let steering = self.control.begin(beginning)?;
        let otherwise = standstill(beginning.cwnd_packets);
        Some(self.accept_steering("begin", beginning.now, steering, otherwise))
    }

    fn on_rate_sample(&mut self, event: &PathEvent) -> Steering {
        let otherwise = standstill(event.cwnd_packets);
        if self.fault.is_some() {
            return otherwise;
        }
        let steering = self.control.on_rate_sample(event);
        self.accept_steering("on_rate_sample", event.now, steering, otherwise)
    }

    fn on_lost(&mut self, packet: &LostPacket) {
        if self.fault.is_none() {
            self.control.on_lost(packet);
            self.ask_for_failure(packet.now);
        }
    }

    fn on_restart(&mut self, now: Time, cwnd_packets: f64) -> Option<Steering> {
        if self.fault.is_some() {
            return None;
        }
        let steering = self.control.on_restart(now, cwnd_packets)?;
        Some(self.accept_steering("on_restart", now, steering, standstill(cwnd_packets)))
    }
}

/// How to send until the run has ended for a failed control: hardly.
fn standstill(cwnd_packets: f64) -> Steering {
    Steering { cwnd_packets, pacing_rate: 1.0, send_quantum: 1, holds_back: false }
}

impl Congestion {
    /// What stopped the control; only a custom one can fail.
    #[inline]
    pub fn fault(&self) -> Option<&ControlFault> {
        match self {
            Congestion::Custom(custom) => custom.fault.as_deref(),
            _ => None,
        }
    }
}

/// Stands for a control that was named and never found.
struct Missing {
    control: String,
}

impl CongestionControl for Missing {
    fn on_ack(&mut self, cwnd_packets: f64, _event: &AckEvent) -> f64 {
        cwnd_packets
    }

    fn on_congestion(&mut self, event: &CongestionEvent) -> f64 {
        event.cwnd_packets
    }

    fn failure(&mut self) -> Option<String> {
        Some(format!("there is no control \"{}\"", self.control))
    }
}

#[cfg(test)]
mod tests {
    use super::super::script::{ack, congestion};
    use super::super::{CongestionConfig, CongestionKind};
    use super::*;

    /// Returns what the test says, and fails when the test says so.
    struct Puppet {
        window: f64,
        failure: Option<&'static str>,
    }

    impl CongestionControl for Puppet {
        fn on_ack(&mut self, _cwnd_packets: f64, _event: &AckEvent) -> f64 {
            self.window
        }

        fn on_congestion(&mut self, _event: &CongestionEvent) -> f64 {
            self.window
        }

        fn watch(&mut self, _event: &AckEvent) {
            self.failure = Some("watched in vain");
        }

        fn failure(&mut self) -> Option<String> {
            self.failure.map(str::to_owned)
        }
    }

    fn started(window: f64, failure: Option<&'static str>) -> Congestion {
        let maker = ControlMaker::new(move || Box::new(Puppet { window, failure }));
        Congestion::new(&CongestionConfig::Custom(CustomParams::named("puppet").made_by(maker)))
    }

    fn problem(control: &Congestion) -> Option<&str> {
        control.fault().map(|fault| fault.problem.as_str())
    }

    #[test]
    fn a_window_below_one_packet_is_one_packet() {
        let mut control = started(0.25, None);
        assert_eq!(control.on_ack(10.0, &ack(1)).to_bits(), 1.0_f64.to_bits());
        assert_eq!(control.fault(), None);
    }

    #[test]
    fn what_is_no_window_is_a_fault_and_the_window_stays() {
        for (window, shown) in [(f64::NAN, "NaN"), (-1.0, "-1"), (f64::INFINITY, "inf")] {
            let mut control = started(window, None);
            assert_eq!(control.on_ack(10.0, &ack(1)).to_bits(), 10.0_f64.to_bits());
            let expected = format!("on_ack returned {shown}; {A_WINDOW}");
            assert_eq!(problem(&control), Some(expected.as_str()));

            let mut control = started(window, None);
            let fallen = control.on_congestion(&congestion(CongestionKind::Loss, 10.0));
            assert_eq!(fallen.to_bits(), 10.0_f64.to_bits());
            let expected = format!("on_congestion returned {shown}; {A_WINDOW}");
            assert_eq!(problem(&control), Some(expected.as_str()));
        }
    }

    #[test]
    fn a_failure_counts_from_the_start_and_after_a_watched_ack() {
        assert_eq!(problem(&started(5.0, Some("never began"))), Some("never began"));
        let mut control = started(5.0, None);
        control.watch(&AckEvent { now: Time::from_milliseconds(3), ..ack(1) });
        let expected = ControlFault {
            time: Time::from_milliseconds(3),
            problem: "watched in vain".to_owned(),
        };
        assert_eq!(control.fault(), Some(&expected));
        control.on_ack(10.0, &ack(1));
        assert_eq!(control.fault(), Some(&expected), "the first fault is the one that counts");
    }

    #[test]
    fn a_control_that_was_never_found_is_a_fault() {
        let control = Congestion::new(&CongestionConfig::Custom(CustomParams::named("nobody")));
        assert_eq!(problem(&control), Some("there is no control \"nobody\""));
    }
}
