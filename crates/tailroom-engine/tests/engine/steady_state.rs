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

use crate::support::scenario_run;

fn text(congestion: &str, link: &str) -> String {
    format!(
        r#"
        duration = "20 s"
        measure_from = "10 s"
        [links.link]
        rate = "10 Mbit/s"
        delay = "5 ms"
        {link}
        [flows.group]
        path = ["link"]
        congestion = {congestion}
        rtt = "20 ms"
        "#
    )
}

/// A buffer that no window fills.
const LARGE: &str = "queue = { kind = \"drop_tail\", limit = \"100000 packets\" }";
/// Losses on the wire: three in the measured window of a flow that fills the link.
const THREE_LOSSES: &str = "queue = { kind = \"drop_tail\", limit = \"100000 packets\" }
    loss = { kind = \"periodic\", every = 2500 }";

fn has_warning(results: &Results) -> bool {
    let warnings = &results.summary.warnings;
    warnings.iter().any(|warning| warning.kind == WarningKind::FewReductions)
}

fn warns(congestion: &str, link: &str) -> bool {
    has_warning(&scenario_run::run(&text(congestion, link), 1))
}

#[test]
fn a_loss_based_control_without_losses_is_warned_about() {
    for control in ["reno", "cubic", "highspeed", "htcp"] {
        assert!(warns(&format!("\"{control}\""), LARGE), "{control}");
    }
}

/// Three reductions in the 10 s from 10 s on: ten take 33.3 s, the end is at 43.3 s, rounded up to 44.
/// Without a reduction nothing tells how long ten take.
#[test]
fn the_warning_says_to_which_duration_the_run_should_be_lengthened() {
    let warning = |link| {
        let warnings = scenario_run::run(&text("\"reno\"", link), 1).summary.warnings;
        warnings.into_iter().find(|one| one.kind == WarningKind::FewReductions).map(|one| one.text)
    };
    let some = warning(THREE_LOSSES).unwrap_or_default();
    assert!(some.contains(": 3 window reductions"), "{some}");
    assert!(some.ends_with("lengthen duration to about 44 s"), "{some}");
    let none = warning(LARGE).unwrap_or_default();
    assert!(none.ends_with("lengthen duration"), "{none}");
}

#[test]
fn a_fixed_window_and_rate_based_controls_are_not_warned_about() {
    let fixed = r#"{ kind = "fixed_window", window = 30.0 }"#;
    for control in [fixed, "\"bbr1\"", "\"bbr3\""] {
        for link in [LARGE, THREE_LOSSES] {
            assert!(!warns(control, link), "{control}");
        }
    }
    let fair = "queue = { kind = \"fair\", limit = \"1000 packets\" }";
    assert!(!warns("\"packet_pair\"", fair));
}

#[test]
fn a_delay_based_control_is_warned_about_only_if_it_had_some_reductions() {
    for control in ["vegas", "fast", "ledbat"] {
        assert!(!warns(&format!("\"{control}\""), LARGE), "{control}");
        assert!(warns(&format!("\"{control}\""), THREE_LOSSES), "{control}");
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
    let text = text("{ kind = \"custom\", control = \"mine\" }", link);
    let hosts = scenario_run::plain_hosts(&text);
    let scenario =
        scenario::parse(&text, &hosts, Some(1), &scenario::NoFiles).expect("the scenario is valid");
    let scenario = scenario.with_code(find).expect("the control is found");
    let network = scenario.resolve().expect("the scenario is valid");
    has_warning(&scenario_run::finish(&network))
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
