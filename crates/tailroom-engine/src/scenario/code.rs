//! Code of the caller's that a scenario names: controls, disciplines and sources.

use serde::de::DeserializeOwned;

use crate::congestion::custom::ControlMaker;
use crate::congestion::rate_based::RateBasedControl;
use crate::congestion::{ControlParameters, WindowLaw};
use crate::custom::{Arguments, Entries, NotFound};
use crate::parameters::Ranges;
use crate::quantity::limit::Limit;
use crate::queue::LinkInfo;
use crate::queue::custom::{CustomRule, CustomScheduler, DisciplineMaker};
use crate::traffic::context::{Group, StartingFlow};
use crate::traffic::custom::{CustomFlows, CustomPackets, FlowsMaker, PacketsMaker};
use crate::units::Time;

/// Finds the code that no registry of the engine holds, by its name and its arguments. A method that is left
/// out knows no name.
pub trait FindCode {
    /// The maker of a congestion control.
    ///
    /// # Errors
    /// Why there is none.
    fn control(&self, _name: &str, _arguments: &Arguments) -> Result<ControlMaker, NotFound> {
        Err(NotFound::Unknown(Vec::new()))
    }

    /// The maker of a queue discipline.
    ///
    /// # Errors
    /// Why there is none.
    fn discipline(&self, _name: &str, _arguments: &Arguments) -> Result<DisciplineMaker, NotFound> {
        Err(NotFound::Unknown(Vec::new()))
    }

    /// The maker of a source of packets.
    ///
    /// # Errors
    /// Why there is none.
    fn packets(&self, _name: &str, _arguments: &Arguments) -> Result<PacketsMaker, NotFound> {
        Err(NotFound::Unknown(Vec::new()))
    }

    /// The maker of a source of flows.
    ///
    /// # Errors
    /// Why there is none.
    fn flows(&self, _name: &str, _arguments: &Arguments) -> Result<FlowsMaker, NotFound> {
        Err(NotFound::Unknown(Vec::new()))
    }
}

/// Code written in Rust, by name.
///
/// Each method lets scenarios name a component; `start` makes it from the parameters that the scenario
/// gives, whose ranges are checked before.
#[derive(Default)]
pub struct OwnCode {
    controls: Entries<ControlMaker>,
    disciplines: Entries<DisciplineMaker>,
    packets: Entries<PacketsMaker>,
    flows: Entries<FlowsMaker>,
}

impl OwnCode {
    /// Adds a window law; `start` makes that of a flow.
    pub fn add_window_law<P, C>(&mut self, name: impl Into<String>, start: fn(&P) -> C)
    where
        P: ControlParameters + DeserializeOwned + Send + Sync + 'static,
        C: WindowLaw + Send + 'static,
    {
        self.add_control(name.into(), move |params: P| {
            ControlMaker::window_law(move || Box::new(start(&params)))
        });
    }

    /// Adds a rate-based control; `start` makes that of a flow.
    pub fn add_rate_based<P, C>(&mut self, name: impl Into<String>, start: fn(&P) -> C)
    where
        P: ControlParameters + DeserializeOwned + Send + Sync + 'static,
        C: RateBasedControl + Send + 'static,
    {
        self.add_control(name.into(), move |params: P| {
            ControlMaker::rate_based(move || Box::new(start(&params)))
        });
    }

    fn add_control<P>(&mut self, name: String, make: impl Fn(P) -> ControlMaker + 'static)
    where
        P: ControlParameters + DeserializeOwned + 'static,
    {
        self.controls.insert(name, P::check, move |params: P| {
            let (needs_marks, steady_state) = (params.needs_marks(), params.steady_state());
            make(params).known_to(needs_marks, steady_state)
        });
    }

    /// Adds a rule that decides at arrival; `start` makes that of a link with its buffer.
    pub fn add_rule<P, R>(&mut self, name: impl Into<String>, start: fn(&P, &LinkInfo, Limit) -> R)
    where
        P: Ranges + DeserializeOwned + Send + Sync + 'static,
        R: CustomRule + Send + 'static,
    {
        self.add_any_rule(name.into(), start, |maker| maker);
    }

    /// As [`OwnCode::add_rule`], for a rule that also decides about packets that leave.
    pub fn add_rule_at_departures<P, R>(
        &mut self,
        name: impl Into<String>,
        start: fn(&P, &LinkInfo, Limit) -> R,
    ) where
        P: Ranges + DeserializeOwned + Send + Sync + 'static,
        R: CustomRule + Send + 'static,
    {
        self.add_any_rule(name.into(), start, DisciplineMaker::acting_on_departures);
    }

    fn add_any_rule<P, R>(
        &mut self,
        name: String,
        start: fn(&P, &LinkInfo, Limit) -> R,
        finish: fn(DisciplineMaker) -> DisciplineMaker,
    ) where
        P: Ranges + DeserializeOwned + Send + Sync + 'static,
        R: CustomRule + Send + 'static,
    {
        self.disciplines.insert(name, P::check_ranges, move |params: P| {
            finish(DisciplineMaker::rule(move |link, limit| Box::new(start(&params, link, limit))))
        });
    }

    /// Adds a scheduler; `start` makes that of a link with its buffer.
    pub fn add_scheduler<P, S>(
        &mut self,
        name: impl Into<String>,
        start: fn(&P, &LinkInfo, Limit) -> S,
    ) where
        P: Ranges + DeserializeOwned + Send + Sync + 'static,
        S: CustomScheduler + Send + 'static,
    {
        self.disciplines.insert(name.into(), P::check_ranges, move |params: P| {
            DisciplineMaker::scheduler(move |link, limit| Box::new(start(&params, link, limit)))
        });
    }

    /// Adds a source of packets; `start` makes that of a flow.
    pub fn add_packets<P, S>(
        &mut self,
        name: impl Into<String>,
        start: fn(&P, &StartingFlow<'_>) -> S,
    ) where
        P: Ranges + DeserializeOwned + Send + Sync + 'static,
        S: CustomPackets + Send + 'static,
    {
        self.packets.insert(name.into(), P::check_ranges, move |params: P| {
            PacketsMaker::new(move |flow| Box::new(start(&params, flow)))
        });
    }

    /// Adds a source of flows; `start` makes that of a group, which starts at the given time.
    pub fn add_flows<P, S>(&mut self, name: impl Into<String>, start: fn(&P, &Group<'_>, Time) -> S)
    where
        P: Ranges + DeserializeOwned + Send + Sync + 'static,
        S: CustomFlows + Send + 'static,
    {
        self.flows.insert(name.into(), P::check_ranges, move |params: P| {
            FlowsMaker::new(move |group, at| Box::new(start(&params, group, at)))
        });
    }
}

impl FindCode for OwnCode {
    fn control(&self, name: &str, arguments: &Arguments) -> Result<ControlMaker, NotFound> {
        self.controls.find(name, arguments)
    }

    fn discipline(&self, name: &str, arguments: &Arguments) -> Result<DisciplineMaker, NotFound> {
        self.disciplines.find(name, arguments)
    }

    fn packets(&self, name: &str, arguments: &Arguments) -> Result<PacketsMaker, NotFound> {
        self.packets.find(name, arguments)
    }

    fn flows(&self, name: &str, arguments: &Arguments) -> Result<FlowsMaker, NotFound> {
        self.flows.find(name, arguments)
    }
}
