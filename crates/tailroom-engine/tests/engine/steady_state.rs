//! The warning about too few window reductions: it appears for controls whose steady state consists
//! of reductions, and for no other controls.

use serde::Deserialize;

use tailroom_engine::congestion::custom::ControlMaker;
use tailroom_engine::congestion::{
    AckEvent, CongestionEvent, ControlParameters, SteadyState, WindowLaw,
};
use tailroom_engine::custom::{Arguments, NotFound};
use tailroom_engine::parameters::Ranges;
use tailroom_engine::results::{Results, WarningKind};
use tailroom_engine::scenario::{self, FindCode, OwnCode};

use crate::support::case::{Case, case};
use crate::support::scenario_run::{finish, plain_hosts};

fn group(congestion: &str, link: &str) -> Case {
    let keys = format!("congestion = {congestion}, rtt = '20 ms'");
    case("20 s from 10 s")
        .link("link", format!("10 Mbit/s, 5 ms, {link}"))
        .flows("group", "link", keys)
}

/// A buffer that no window fills.
const LARGE: &str = "100000 packets";
/// Losses on the wire: three in the measured window of a flow that fills the link.
const THREE_LOSSES: &str = "100000 packets, loss = { kind = 'periodic', every = 2500 }";

fn has_warning(results: &Results) -> bool {
    let warnings = &results.summary.warnings;
    warnings.iter().any(|warning| warning.kind == WarningKind::FewReductions)
}

fn warns(congestion: &str, link: &str) -> bool {
    has_warning(&group(congestion, link).run())
}

#[test]
fn a_loss_based_control_without_losses_is_warned_about() {
    for control in ["reno", "cubic", "highspeed", "htcp"] {
        assert!(warns(&format!("'{control}'"), LARGE), "{control}");
    }
}

/// Three reductions in the 10 s from 10 s on: ten take 33.3 s, the end is at 43.3 s, rounded up to 44.
/// Without a reduction nothing tells how long ten take.
#[test]
fn the_warning_says_to_which_duration_the_run_should_be_lengthened() {
    let warning = |link| {
        let run = group("'reno'", link).run();
        run.warning(WarningKind::FewReductions).map(|one| one.text.clone())
    };
    let some = warning(THREE_LOSSES).unwrap_or_default();
    assert!(some.contains(": 3 window reductions"), "{some}");
    assert!(some.ends_with("lengthen duration to about 44 s"), "{some}");
    let none = warning(LARGE).unwrap_or_default();
    assert!(none.ends_with("lengthen duration"), "{none}");
}

#[test]
fn a_fixed_window_and_rate_based_controls_are_not_warned_about() {
    for control in ["{ kind = 'fixed_window', window = 30.0 }", "'bbr1'", "'bbr3'"] {
        for link in [LARGE, THREE_LOSSES] {
            assert!(!warns(control, link), "{control}");
        }
    }
    assert!(!warns("'packet_pair'", "fair 1000 packets"));
}

#[test]
fn a_delay_based_control_is_warned_about_only_if_it_had_some_reductions() {
    for control in ["vegas", "fast", "ledbat"] {
        assert!(!warns(&format!("'{control}'"), LARGE), "{control}");
        assert!(warns(&format!("'{control}'"), THREE_LOSSES), "{control}");
    }
}

/// A control of the caller that sets a window of 30 packets and halves it at congestion.
#[derive(Debug, Default, Deserialize, Ranges)]
struct Thirty {}

impl ControlParameters for Thirty {}

#[derive(Debug)]
struct Window;

impl WindowLaw for Window {
    fn on_ack(&mut self, _cwnd_packets: f64, _event: &AckEvent) -> f64 {
        30.0
    }

    fn on_congestion(&mut self, event: &CongestionEvent) -> f64 {
        event.cwnd_packets / 2.0
    }

    fn has_own_slow_start(&self) -> bool {
        true
    }
}

/// Finds the control without any information on its steady state, as for a control in Python.
struct Unknown;

impl FindCode for Unknown {
    fn control(&self, _name: &str, _arguments: &Arguments) -> Result<ControlMaker, NotFound> {
        Ok(ControlMaker::window_law(|| Box::new(Window)))
    }
}

fn warns_of_own(link: &str, find: &dyn FindCode) -> bool {
    let text = group("{ kind = 'custom', control = 'mine' }", link).text;
    let hosts = plain_hosts(&text);
    let scenario =
        scenario::parse(&text, &hosts, Some(1), &scenario::NoFiles).expect("the scenario is valid");
    let scenario = scenario.with_code(find).expect("the control is found");
    let network = scenario.resolve().expect("the scenario is valid");
    has_warning(&finish(&network))
}

#[test]
fn an_unknown_custom_control_is_warned_about_only_if_it_had_some_reductions() {
    assert!(!warns_of_own(LARGE, &Unknown));
    assert!(warns_of_own(THREE_LOSSES, &Unknown));
}

#[test]
fn a_custom_control_in_rust_declares_its_own_steady_state() {
    let mut controls = OwnCode::default();
    controls.add_window_law("mine", |_: &Thirty| Window);
    assert_eq!(Thirty {}.steady_state(), SteadyState::Reductions);
    assert!(warns_of_own(LARGE, &controls));
}
