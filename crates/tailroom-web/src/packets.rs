//! The packets of a few seconds of a run at one link, for a picture in motion.

use std::collections::VecDeque;

use serde_json::json;
use tailroom_engine::observe::Act;
use tailroom_engine::observe::link::LinkEvent;
use tailroom_engine::units::Time;
use wasm_bindgen::prelude::*;

use crate::failure::Failure;
use crate::files::Files;
use crate::question::Question;
use crate::run::Run;

/// Events of a picture; what follows is left out.
const MOST_EVENTS: usize = 400_000;

/// A run up to the end of a span of time, of which it keeps the packets at one link.
#[wasm_bindgen]
#[derive(Debug)]
pub struct Packets {
    run: Run,
    link: usize,
    from: Time,
    to: Time,
    /// By flow, its packets at the link at `from`.
    present: Vec<Line>,
    entries: Vec<LinkEvent>,
}

/// The packets of one flow at the link.
#[derive(Debug, Default)]
struct Line {
    /// Whether each packet is marked, in the order of arrival.
    are_marked: VecDeque<bool>,
    /// When the last of them arrived.
    latest: Time,
}

#[wasm_bindgen]
impl Packets {
    /// A run at time 0, which keeps the packets at `link` between two times in seconds.
    ///
    /// # Errors
    /// The problems of the scenario, or that it has no such link; as JSON.
    #[wasm_bindgen(constructor)]
    pub fn new(
        text: &str,
        set: &str,
        seed: Option<u64>,
        files: &Files,
        link: &str,
        from: f64,
        to: f64,
    ) -> Result<Packets, JsValue> {
        let question = Question::new(text, set, seed, files)?;
        Ok(Packets::of(&question, link, from, to)?)
    }

    /// Simulates for about so many milliseconds, and returns the fraction that is done.
    ///
    /// # Errors
    /// The reason why the run cannot go on, as JSON.
    pub fn advance(&mut self, milliseconds: f64) -> Result<f64, JsValue> {
        let fraction = self.run.advance_to(self.to, milliseconds)?;
        self.take_log();
        if self.entries.len() < MOST_EVENTS {
            return Ok(fraction);
        }
        self.to = self.run.now();
        Ok(1.0)
    }

    /// The span, names, and time series of the run, as JSON: `from_s`, `to_s`, which is earlier than
    /// asked for if there are too many packets; `names`, of flows and of groups; `series`.
    pub fn about(&self) -> String {
        let network = &self.run.network;
        let flows: Vec<String> =
            (0..network.flows.len()).map(|flow| network.flow_name(flow)).collect();
        let groups: Vec<&str> = network.groups.iter().map(|group| group.name.as_str()).collect();
        json!({
            "from_s": self.from.seconds(),
            "to_s": self.to.seconds(),
            "names": { "flows": flows, "groups": groups },
            "series": self.run.series_value(),
        })
        .to_string()
    }

    /// The packets at the link when the span begins: as many numbers as packets, each that of a flow, or
    /// behind the permanent flows that of a group.
    pub fn present(&self) -> Vec<u32> {
        let flows = self.present.iter().enumerate();
        flows
            .flat_map(|(flow, line)| {
                std::iter::repeat_n(self.label(flow as u32), line.are_marked.len())
            })
            .collect()
    }

    /// For each packet of [`Packets::present`], in its order, 1 if the link has marked the packet, or 0.
    pub fn present_marks(&self) -> Vec<u8> {
        self.present.iter().flat_map(|line| &line.are_marked).copied().map(u8::from).collect()
    }

    /// Times of the events, in seconds after the span begins, in order; [`Packets::events`] and
    /// [`Packets::flows`] have the same order.
    pub fn times(&self) -> Vec<f64> {
        self.kept().map(|entry| entry.time.since(self.from).seconds()).collect()
    }

    /// The events: 0 for an arrival, 1 for a departure, 2 for a drop, 3 for a mark.
    pub fn events(&self) -> Vec<u8> {
        self.kept().map(|entry| entry.act.event()).collect()
    }

    /// Numbers of the packets' flows, as in [`Packets::present`].
    pub fn flows(&self) -> Vec<u32> {
        self.kept().map(|entry| self.label(entry.flow)).collect()
    }

    /// Puts the events in order, once the run is done.
    pub fn sort(&mut self) {
        self.entries.sort_by_key(|entry| entry.time);
    }
}

impl Packets {
    fn of(question: &Question<'_>, link: &str, from: f64, to: f64) -> Result<Self, Failure> {
        let mut run = Run::watching(question, link)?;
        let place = run.network.links.iter().position(|one| one.name == link);
        let link = place.ok_or_else(|| Failure::Page(format!("there is no link {link}")))?;
        let end = run.network.duration;
        let to = Time::from_seconds(to.clamp(0.0, end.seconds())).min(end);
        let from = Time::from_seconds(from.max(0.0)).min(to);
        let (present, entries) = (Vec::new(), Vec::new());
        let _ = run.simulation.take_packet_log(link);
        Ok(Packets { run, link, from, to, present, entries })
    }

    /// Keeps the events of the span, and follows the packets before it.
    fn take_log(&mut self) {
        for entry in self.run.simulation.take_packet_log(self.link) {
            if entry.time >= self.from {
                self.entries.push(entry);
                continue;
            }
            let flow = entry.flow as usize;
            if self.present.len() <= flow {
                self.present.resize_with(flow + 1, Line::default);
            }
            self.present[flow].take(entry);
        }
    }

    fn kept(&self) -> impl Iterator<Item = &LinkEvent> {
        self.entries.iter().filter(|entry| entry.time <= self.to)
    }

    fn label(&self, flow: u32) -> u32 {
        let permanent = self.run.network.flows.len() as u32;
        if flow < permanent {
            return flow;
        }
        permanent + self.run.simulation.group_number(flow) as u32
    }
}

impl Line {
    /// Takes in an event of the flow. Packets of a flow leave in the order of their arrival. The packet that
    /// is dropped is not marked, unless all are: disciplines that mark at arrival drop the packet that
    /// arrives, and others mark only the packet that leaves.
    fn take(&mut self, entry: LinkEvent) {
        match entry.act {
            Act::Arrived => {
                self.are_marked.push_back(false);
                self.latest = entry.time;
            }
            Act::Marked => {
                let has_arrived = self.latest == entry.time;
                let marked = if has_arrived {
                    self.are_marked.back_mut()
                } else {
                    self.are_marked.front_mut()
                };
                if let Some(is_marked) = marked {
                    *is_marked = true;
                }
            }
            Act::Dropped(_) => {
                let dropped = self.are_marked.iter().rposition(|is_marked| !is_marked);
                let last = self.are_marked.len().saturating_sub(1);
                self.are_marked.remove(dropped.unwrap_or(last));
            }
            _ => {
                self.are_marked.pop_front();
            }
        }
    }
}
