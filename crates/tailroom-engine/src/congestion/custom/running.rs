//! Custom controls while they run. Nobody has tested them, so every answer is checked, and a wrong
//! one stops the run.

use std::fmt;

use super::{BoxedRateBasedControl, BoxedWindowLaw};
use crate::congestion::blocks::BlockRules;
use crate::congestion::rate_based::{
    BeginEvent, ControlOutput, LostPacketEvent, RateBasedControl, RateSampleEvent, RestartEvent,
    UndoEvent,
};
use crate::congestion::{
    AckEvent, AnyRateBasedControl, AnyWindowLaw, CongestionEvent, MAX_WINDOW_PACKETS, WindowLaw,
};
use crate::custom::{CallersCode, CustomFault, FirstFault, Guest, Missing};
use crate::units::Time;

/// The windows that a control may return.
const A_WINDOW: &str = "a window is a finite number of packets, at least 0 and at most 100000000";

impl FirstFault {
    /// The window that a method returned, at least 1; `otherwise` if the control has failed.
    #[inline]
    fn accept(&mut self, method: &str, time: Time, window: f64, otherwise: f64) -> f64 {
        let windows = 0.0..=MAX_WINDOW_PACKETS as f64;
        if self.is_none() && windows.contains(&window) {
            return window.max(1.0);
        }
        self.refuse_window(method, time, window);
        otherwise
    }

    #[cold]
    fn refuse_window(&mut self, method: &str, time: Time, window: f64) {
        let is_large = window.is_finite() && window > MAX_WINDOW_PACKETS as f64;
        let hint = if is_large { ": packets, not bytes?" } else { "" };
        let has_few_digits = window.abs() < 1e16 || !window.is_finite();
        let window = if has_few_digits { format!("{window}") } else { format!("{window:e}") };
        self.keep(time, format!("{method} returned {window}; {A_WINDOW}{hint}"));
    }

    /// What a method returned; `otherwise` if the control has failed.
    fn accept_output(
        &mut self,
        method: &str,
        time: Time,
        output: ControlOutput,
        otherwise: ControlOutput,
    ) -> ControlOutput {
        let cwnd_packets = self.accept(method, time, output.cwnd_packets, otherwise.cwnd_packets);
        let rate = output.pacing_rate;
        if !(rate.is_finite() && rate > 0.0) {
            let problem =
                format!("{method} returned a pacing rate of {rate}; it is finite and above 0");
            self.keep(time, problem);
        }
        if !self.is_none() {
            return otherwise;
        }
        ControlOutput { cwnd_packets, send_quantum: output.send_quantum.max(1), ..output }
    }
}

/// A running window law of the caller's.
#[derive(Clone)]
pub struct CustomWindowLaw {
    law: CallersCode<dyn WindowLaw + Send>,
    fault: FirstFault,
}

impl fmt::Debug for CustomWindowLaw {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter
            .debug_struct("CustomWindowLaw")
            .field("fault", &self.fault)
            .finish_non_exhaustive()
    }
}

impl CustomWindowLaw {
    pub(super) fn new(law: BoxedWindowLaw) -> Self {
        let law = CallersCode(law);
        let mut custom = CustomWindowLaw { law, fault: FirstFault::default() };
        custom.ask_for_failure(Time::ZERO);
        custom
    }

    /// A law that was named and never found.
    pub(super) fn missing(control: &str) -> Self {
        CustomWindowLaw::new(Guest::failing(format!("there is no control \"{control}\"")))
    }

    #[inline]
    fn ask_for_failure(&mut self, time: Time) {
        self.fault.note(time, self.law.failure());
    }
}

impl WindowLaw for CustomWindowLaw {
    fn on_ack(&mut self, cwnd_packets: f64, event: &AckEvent) -> f64 {
        if !self.fault.is_none() {
            return cwnd_packets;
        }
        let window = self.law.on_ack(cwnd_packets, event);
        self.ask_for_failure(event.now);
        self.fault.accept("on_ack", event.now, window, cwnd_packets)
    }

    fn on_congestion(&mut self, event: &CongestionEvent) -> f64 {
        if !self.fault.is_none() {
            return event.cwnd_packets;
        }
        let window = self.law.on_congestion(event);
        self.ask_for_failure(event.now);
        self.fault.accept("on_congestion", event.now, window, event.cwnd_packets)
    }

    fn on_undo(&mut self) {
        if self.fault.is_none() {
            self.law.on_undo();
        }
    }

    fn has_own_slow_start(&self) -> bool {
        self.law.has_own_slow_start()
    }

    fn ends_slow_start(&mut self) -> bool {
        self.law.ends_slow_start()
    }

    fn sees_every_ack(&self) -> bool {
        self.law.sees_every_ack()
    }

    fn on_every_ack(&mut self, event: &AckEvent) {
        if self.fault.is_none() {
            self.law.on_every_ack(event);
            self.ask_for_failure(event.now);
        }
    }

    fn is_in_cwr(&self, now: Time) -> bool {
        self.law.is_in_cwr(now)
    }

    fn answers_loss_after_mark(&self) -> bool {
        self.law.answers_loss_after_mark()
    }

    fn blocks(&self, srtt: Time) -> Option<f64> {
        self.law.blocks(srtt)
    }

    fn block_rules(&self) -> BlockRules {
        self.law.block_rules()
    }
}

/// A running rate-based control of the caller's.
#[derive(Clone)]
pub struct CustomRateBasedControl {
    control: CallersCode<dyn RateBasedControl + Send>,
    fault: FirstFault,
}

impl fmt::Debug for CustomRateBasedControl {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut shown = formatter.debug_struct("CustomRateBasedControl");
        shown.field("fault", &self.fault).finish_non_exhaustive()
    }
}

impl CustomRateBasedControl {
    pub(super) fn new(control: BoxedRateBasedControl) -> Self {
        let control = CallersCode(control);
        let mut custom = CustomRateBasedControl { control, fault: FirstFault::default() };
        custom.ask_for_failure(Time::ZERO);
        custom
    }

    fn ask_for_failure(&mut self, time: Time) {
        self.fault.note(time, self.control.failure());
    }
}

impl RateBasedControl for CustomRateBasedControl {
    fn begin(&mut self, event: &BeginEvent) -> ControlOutput {
        let otherwise = ControlOutput::standstill(event.cwnd_packets);
        if !self.fault.is_none() {
            return otherwise;
        }
        let output = self.control.begin(event);
        self.ask_for_failure(event.now);
        self.fault.accept_output("begin", event.now, output, otherwise)
    }

    fn on_rate_sample(&mut self, event: &RateSampleEvent) -> ControlOutput {
        let otherwise = ControlOutput::standstill(event.cwnd_packets);
        if !self.fault.is_none() {
            return otherwise;
        }
        let output = self.control.on_rate_sample(event);
        self.ask_for_failure(event.now);
        self.fault.accept_output("on_rate_sample", event.now, output, otherwise)
    }

    fn on_congestion(&mut self, event: &CongestionEvent) {
        if self.fault.is_none() {
            self.control.on_congestion(event);
            self.ask_for_failure(event.now);
        }
    }

    fn on_lost(&mut self, packet: &LostPacketEvent) {
        if self.fault.is_none() {
            self.control.on_lost(packet);
            self.ask_for_failure(packet.now);
        }
    }

    fn on_undo(&mut self, event: &UndoEvent) -> f64 {
        if !self.fault.is_none() {
            return event.cwnd_packets;
        }
        let window = self.control.on_undo(event);
        self.ask_for_failure(event.now);
        self.fault.accept("on_undo", event.now, window, event.cwnd_packets)
    }

    fn on_restart(&mut self, event: &RestartEvent) -> Option<ControlOutput> {
        if !self.fault.is_none() {
            return None;
        }
        let output = self.control.on_restart(event)?;
        self.ask_for_failure(event.now);
        let otherwise = ControlOutput::standstill(event.cwnd_packets);
        Some(self.fault.accept_output("on_restart", event.now, output, otherwise))
    }
}

impl AnyWindowLaw {
    /// Why the law stopped the run; only a custom one can fail.
    #[inline]
    pub fn fault(&self) -> Option<&CustomFault> {
        match self {
            AnyWindowLaw::Custom(custom) => custom.fault.get(),
            _ => None,
        }
    }
}

impl AnyRateBasedControl {
    /// Why the control stopped the run; only a custom one can fail.
    #[inline]
    pub fn fault(&self) -> Option<&CustomFault> {
        match self {
            AnyRateBasedControl::Custom(custom) => custom.fault.get(),
            _ => None,
        }
    }
}

impl Guest for dyn WindowLaw + Send {
    fn failing(reason: String) -> Box<Self> {
        Box::new(Missing(reason))
    }
}

impl Guest for dyn RateBasedControl + Send {
    fn failing(reason: String) -> Box<Self> {
        Box::new(Missing(reason))
    }
}

impl RateBasedControl for Missing {
    fn begin(&mut self, event: &BeginEvent) -> ControlOutput {
        ControlOutput::standstill(event.cwnd_packets)
    }

    fn on_rate_sample(&mut self, event: &RateSampleEvent) -> ControlOutput {
        ControlOutput::standstill(event.cwnd_packets)
    }

    fn failure(&mut self) -> Option<String> {
        Some(self.0.clone())
    }
}

impl WindowLaw for Missing {
    fn on_ack(&mut self, cwnd_packets: f64, _event: &AckEvent) -> f64 {
        cwnd_packets
    }

    fn on_congestion(&mut self, event: &CongestionEvent) -> f64 {
        event.cwnd_packets
    }

    fn failure(&mut self) -> Option<String> {
        Some(self.0.clone())
    }
}

#[cfg(test)]
mod tests {
    use super::super::{ControlMaker, CustomParams};
    use super::*;
    use crate::congestion::script::{ack, begin_event, congestion};
    use crate::congestion::{Congestion, CongestionConfig, CongestionKind};

    /// Returns what the test says, and fails when the test says so.
    struct Puppet {
        window: f64,
        failure: Option<&'static str>,
    }

    impl WindowLaw for Puppet {
        fn on_ack(&mut self, _cwnd_packets: f64, _event: &AckEvent) -> f64 {
            self.window
        }

        fn on_congestion(&mut self, _event: &CongestionEvent) -> f64 {
            self.window
        }

        fn on_every_ack(&mut self, _event: &AckEvent) {
            self.failure = Some("watched in vain");
        }

        fn failure(&mut self) -> Option<String> {
            self.failure.map(str::to_owned)
        }
    }

    fn law(params: CustomParams) -> AnyWindowLaw {
        match Congestion::new(&CongestionConfig::Custom(params)) {
            Congestion::WindowLaw(law) => law,
            Congestion::RateBased(control) => panic!("{control:?} is no window law"),
        }
    }

    fn started(window: f64, failure: Option<&'static str>) -> AnyWindowLaw {
        let maker = ControlMaker::window_law(move || Box::new(Puppet { window, failure }));
        law(CustomParams::named("puppet").made_by(maker))
    }

    fn problem(control: &AnyWindowLaw) -> Option<&str> {
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
        control.on_every_ack(&AckEvent { now: Time::from_milliseconds(3), ..ack(1) });
        let expected =
            CustomFault { time: Time::from_milliseconds(3), problem: "watched in vain".to_owned() };
        assert_eq!(control.fault(), Some(&expected));
        control.on_ack(10.0, &ack(1));
        assert_eq!(control.fault(), Some(&expected), "the first fault is the one that counts");
    }

    #[test]
    fn a_control_that_was_never_found_is_a_fault() {
        let control = law(CustomParams::named("nobody"));
        assert_eq!(problem(&control), Some("there is no control \"nobody\""));
    }

    /// Returns a fixed window and pacing rate.
    struct Pace(f64, f64);

    impl RateBasedControl for Pace {
        fn begin(&mut self, _beginning: &BeginEvent) -> ControlOutput {
            ControlOutput {
                cwnd_packets: self.0,
                pacing_rate: self.1,
                send_quantum: 0,
                is_app_limited: false,
            }
        }

        fn on_rate_sample(&mut self, _event: &RateSampleEvent) -> ControlOutput {
            unreachable!("the tests only begin")
        }
    }

    /// The answer of a control that returns this window and pacing rate, and its fault.
    fn begun(window: f64, rate: f64) -> (ControlOutput, Option<String>) {
        let maker = ControlMaker::rate_based(move || Box::new(Pace(window, rate)));
        let params = CustomParams::named("pace").made_by(maker);
        assert!(params.is_rate_based());
        let Congestion::RateBased(mut control) = params.start() else { panic!("it is rate-based") };
        let output = control.begin(&begin_event(1));
        (output, control.fault().map(|fault| fault.problem.clone()))
    }

    #[test]
    fn a_pacing_rate_that_is_not_above_zero_is_a_fault_and_nothing_is_sent_by_it() {
        let (output, fault) = begun(20.0, 500.0);
        assert_eq!((output.cwnd_packets, output.pacing_rate), (20.0, 500.0));
        assert_eq!((output.send_quantum, fault), (1, None), "one packet leaves at a time at least");
        for (rate, shown) in [(0.0, "0"), (-2.0, "-2"), (f64::NAN, "NaN"), (f64::INFINITY, "inf")] {
            let (output, fault) = begun(20.0, rate);
            let expected =
                format!("begin returned a pacing rate of {shown}; it is finite and above 0");
            assert_eq!(fault, Some(expected));
            assert_eq!(output, ControlOutput::standstill(10.0), "the window stays");
        }
        let (output, fault) = begun(f64::NAN, 500.0);
        assert_eq!(fault, Some(format!("begin returned NaN; {A_WINDOW}")));
        assert_eq!(output, ControlOutput::standstill(10.0));
    }
}
