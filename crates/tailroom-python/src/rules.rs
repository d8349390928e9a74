//! The rules of the literature, and what else [`tailroom_rules`] says about a link, for the classes of
//! `tailroom.models`.

use pyo3::exceptions::PyValueError;
use pyo3::import_exception;
use pyo3::prelude::*;
use pyo3::types::PyDict;
use serde::de::DeserializeOwned;
use tailroom_rules::bottleneck::{Bottleneck, FlowClass};
use tailroom_rules::devices::DEVICES;
use tailroom_rules::port_setting::Equivalent;
use tailroom_rules::rule::{Assumption, NotApplicable, Requirement, Rule};
use tailroom_rules::rules::{
    bbr_buffer, burst_cliff, dctcp_threshold, decrease_rule, loss_and_delay_bounds,
    square_root_rule, stability, tiny_buffers,
};
use tailroom_rules::sawtooth::Flows;
use tailroom_rules::statistics::distributions;
use tailroom_rules::{
    RULES, assumptions, measurements, other_tools, size_search, traffic, window_law,
};

import_exception!(tailroom.errors, MeasurementError);
import_exception!(tailroom.errors, NotApplicableError);

fn refusal(NotApplicable(why): NotApplicable) -> PyErr {
    NotApplicableError::new_err(why)
}

/// A link or flows of Python's `tailroom.models`, which write themselves as JSON.
fn read<T: DeserializeOwned>(given: &Bound<'_, PyAny>) -> PyResult<T> {
    let json: String = given.call_method0("to_json")?.extract()?;
    serde_json::from_str(&json).map_err(|error| PyValueError::new_err(error.to_string()))
}

fn bottleneck(link: &Bound<'_, PyAny>) -> PyResult<Bottleneck> {
    read(link)
}

fn flow_class(flows: &Bound<'_, PyAny>) -> PyResult<FlowClass> {
    read(flows)
}

fn rule(name: &str) -> PyResult<&'static Rule> {
    let found = RULES.into_iter().find(|rule| rule.name == name);
    found.ok_or_else(|| PyValueError::new_err(format!("there is no rule {name}")))
}

fn tuple(assumption: Assumption) -> (String, bool, String) {
    (assumption.statement, assumption.holds, assumption.found)
}

/// Title and source of a rule.
#[pyfunction]
pub(crate) fn rule_words(name: &str) -> PyResult<(&'static str, &'static str)> {
    let rule = rule(name)?;
    Ok((rule.title, rule.source))
}

/// What a rule predicts for a link: the fields of a `Prediction`.
#[pyfunction]
pub(crate) fn rule_prediction<'py>(
    name: &str,
    link: &Bound<'py, PyAny>,
    utilization: f64,
    loss_fraction: f64,
) -> PyResult<Bound<'py, PyDict>> {
    let target = Requirement { utilization, loss_fraction };
    let prediction = (rule(name)?.predict)(&bottleneck(link)?, target).map_err(refusal)?;
    let details = PyDict::new(link.py());
    for (name, value) in prediction.details {
        details.set_item(name, value)?;
    }
    let fields = PyDict::new(link.py());
    fields.set_item("utilization", prediction.utilization)?;
    fields.set_item("loss_fraction", prediction.loss_fraction)?;
    fields.set_item("queue_packets_mean", prediction.queue_packets_mean)?;
    fields.set_item("queue_delay_s_mean", prediction.queue_delay_s_mean)?;
    fields.set_item("required_packets", prediction.required_packets)?;
    fields.set_item("required_for", prediction.required_for)?;
    fields.set_item("details", details)?;
    Ok(fields)
}

/// The assumptions of a rule for a link: the fields of each `Assumption`.
#[pyfunction]
pub(crate) fn rule_assumptions(
    name: &str,
    link: &Bound<'_, PyAny>,
) -> PyResult<Vec<(String, bool, String)>> {
    let found = (rule(name)?.assumptions)(&bottleneck(link)?).map_err(refusal)?;
    Ok(found.into_iter().map(tuple).collect())
}

/// An assumption that several models share: the fields of an `Assumption`.
#[pyfunction]
pub(crate) fn shared_assumption(
    name: &str,
    link: &Bound<'_, PyAny>,
) -> PyResult<(String, bool, String)> {
    let of = match name {
        "drop_tail" => assumptions::drop_tail,
        "one_bottleneck" => assumptions::one_bottleneck,
        "steady_link" => assumptions::steady_link,
        "one_packet_size" => assumptions::one_packet_size,
        "long_flows_alone" => assumptions::long_flows_alone,
        "fast_access" => assumptions::fast_access,
        "unbounded_windows" => assumptions::unbounded_windows,
        _ => return Err(PyValueError::new_err(format!("there is no assumption {name}"))),
    };
    Ok(tuple(of(&bottleneck(link)?)))
}

/// Requires a permanent flow under congestion control.
#[pyfunction]
pub(crate) fn need_permanent_flows(link: &Bound<'_, PyAny>) -> PyResult<()> {
    traffic::need_permanent_flows(&bottleneck(link)?).map_err(refusal)
}

/// Offered load of a link, which must be between 0 and 1.
#[pyfunction]
pub(crate) fn need_load_below_one(link: &Bound<'_, PyAny>) -> PyResult<f64> {
    traffic::need_load_below_one(&bottleneck(link)?).map_err(refusal)
}

/// Load of permanent flows under congestion control, each at its own rate limit.
#[pyfunction]
pub(crate) fn permanent_load(link: &Bound<'_, PyAny>) -> PyResult<f64> {
    Ok(traffic::permanent_load(&bottleneck(link)?))
}

/// Why the control of these flows has no window law.
#[pyfunction]
pub(crate) fn no_window_law(flows: &Bound<'_, PyAny>) -> PyResult<String> {
    Ok(window_law::no_law(&flow_class(flows)?).0)
}

/// The cycle of synchronised flows at a queue limit: the fields of a `Cycle`, and the window after a
/// loss.
#[pyfunction]
pub(crate) fn sawtooth_cycle(
    control: &Bound<'_, PyAny>,
    count: f64,
    rtt_s: f64,
    capacity_pps: f64,
    limit: f64,
) -> PyResult<[f64; 8]> {
    let flows = Flows::new(&flow_class(control)?, count, rtt_s, capacity_pps).map_err(refusal)?;
    let cycle = flows.cycle(limit);
    Ok([
        cycle.utilization,
        cycle.utilization_min,
        cycle.queue_packets_mean,
        cycle.queue_delay_s_mean,
        cycle.packets,
        cycle.lost_packets,
        cycle.seconds,
        cycle.peak_window,
    ])
}

/// Window of each of synchronised flows after a loss at a queue limit.
#[pyfunction]
pub(crate) fn sawtooth_trough(
    control: &Bound<'_, PyAny>,
    count: f64,
    rtt_s: f64,
    capacity_pps: f64,
    limit: f64,
) -> PyResult<f64> {
    let flows = Flows::new(&flow_class(control)?, count, rtt_s, capacity_pps).map_err(refusal)?;
    Ok(flows.trough(limit))
}

/// The configuration of a port in other tools, as JSON: a list of `Equivalent`.
#[pyfunction]
pub(crate) fn equivalents(link: &Bound<'_, PyAny>) -> PyResult<String> {
    // Cannot fail: texts are JSON.
    let lines = other_tools::equivalents(&bottleneck(link)?);
    Ok(serde_json::to_string(&lines).unwrap_or_default())
}

/// The next runs of a search for the smallest sufficient buffer, or its answer: JSON in and out.
#[pyfunction]
pub(crate) fn size_search_step(question: &str) -> PyResult<String> {
    size_search::next_step_json(question).map_err(PyValueError::new_err)
}

/// A measurement of flent, iperf3 or ss, as JSON.
///
/// Raises:
///     `MeasurementError`: The text is damaged, or is of another tool.
#[pyfunction]
pub(crate) fn read_measurement(py: Python<'_>, text: &str) -> PyResult<String> {
    py.detach(|| measurements::read_json(text)).map_err(MeasurementError::new_err)
}

/// The buffer that explains a measurement: JSON in and out.
#[pyfunction]
#[pyo3(signature = (measurement, idle_rtt_s=None))]
pub(crate) fn estimate_buffer(measurement: &str, idle_rtt_s: Option<f64>) -> PyResult<String> {
    measurements::estimate_buffer_json(measurement, idle_rtt_s).map_err(PyValueError::new_err)
}

/// The configuration of ports that share memory, or of one port, on switches and routers, as JSON: an
/// `Equivalent` by the short name of each system.
#[pyfunction]
#[expect(clippy::needless_pass_by_value, reason = "a list of Python arrives as a vector")]
pub(crate) fn device_equivalents(links: Vec<Bound<'_, PyAny>>) -> PyResult<String> {
    let ports = links.iter().map(bottleneck).collect::<PyResult<Vec<Bottleneck>>>()?;
    let written: Vec<(&str, Equivalent)> =
        DEVICES.iter().map(|device| (device.key, device.equivalent(&ports))).collect();
    Ok(serde_json::to_string(&written).unwrap_or_default())
}

/// Makes a formula a function of Python.
macro_rules! formulas {
    ($($(#[$doc:meta])* $name:ident($($argument:ident),+) -> $value:ty = $formula:path;)+) => {$(
        $(#[$doc])*
        #[pyfunction]
        pub(crate) fn $name($($argument: f64),+) -> $value {
            $formula($($argument),+)
        }
    )+};
}

formulas! {
    /// Packets that `BBRv1` flows alone have in flight together at most (Ware et al. 2019, Eq. 6).
    bbr_in_flight_cap(bdp, flows) -> f64 = bbr_buffer::in_flight_cap;
    /// Share of the link that loss-based flows keep next to `BBRv1` flows (Ware et al. 2019, Eq. 9).
    bbr_loss_based_share(bdp, limit, flows) -> f64 = bbr_buffer::loss_based_share;
    /// The cliff's edge without pacing, in packets; `edge` is the factor of the control.
    cliff_edge_packets(edge, bdp, flows, burst) -> f64 = burst_cliff::edge_packets;
    /// Share of the full pipe that paced flows reach.
    cliff_paced_fill(limit, window, flows) -> f64 = burst_cliff::paced_fill;
    /// Share of the full pipe that whole windows in trains reach below the edge.
    cliff_train_fill(limit, bdp, flows, burst) -> f64 = burst_cliff::train_fill;
    /// Amplitude of DCTCP's queue, in packets (Alizadeh et al. 2010, Eq. 8).
    dctcp_amplitude(bdp, threshold, flows) -> f64 = dctcp_threshold::amplitude;
    /// Mean queue over time of a sawtooth of packets in flight.
    dctcp_queue_mean(lowest, highest, bdp) -> f64 = dctcp_threshold::queue_mean;
    /// Mean utilization of a sawtooth of packets in flight.
    dctcp_utilization(lowest, highest, bdp) -> f64 = dctcp_threshold::utilization;
    /// The value below which F, a ratio of two variances, lies with a probability.
    f_quantile(numerator, denominator, probability) -> f64 = distributions::f_quantile;
    /// Limit that the sum of windows exceeds only with this probability.
    square_root_quantile(loss_fraction, bdp, flows) -> f64 = square_root_rule::quantile;
    /// Limit at which the bound of the utilization is the target.
    square_root_required(target, bdp, flows) -> f64 = square_root_rule::required;
    /// Lower bound of the utilization (Appenzeller, Keslassy, `McKeown` 2004).
    square_root_utilization(limit, bdp, flows) -> f64 = square_root_rule::utilization;
    /// Load and loss at the fixed point.
    stability_fixed_point(share, packets) -> (f64, f64) = stability::fixed_point;
    /// Longest delay, in round trips, at which the fixed point would be stable.
    stability_margin(share, packets) -> f64 = stability::margin;
    /// Window at which flows settle.
    stability_window(share, packets) -> f64 = stability::window;
    /// The value below which Student's t lies with a probability.
    student_quantile(degrees_of_freedom, probability) -> f64 = distributions::student_quantile;
    /// The probability that Student's t is above a value.
    student_tail(degrees_of_freedom, t) -> f64 = distributions::student_tail;
    /// Least share of its own rate limit that a flow gets.
    tiny_kept(load, packets, window) -> f64 = tiny_buffers::kept;
    /// Smallest whole limit that gives flows this share.
    tiny_required(load, share, window) -> f64 = tiny_buffers::required;
}

/// Share of the time that BBR flows spend on measuring their RTT.
#[pyfunction]
pub(crate) fn bbr_probing_fraction(link: &Bound<'_, PyAny>) -> PyResult<f64> {
    Ok(bbr_buffer::probing_fraction(&bottleneck(link)?))
}

/// Smallest utilization in a cycle, all flows reducing together with equal windows.
#[pyfunction]
pub(crate) fn decrease_minimum_utilization(link: &Bound<'_, PyAny>) -> PyResult<f64> {
    decrease_rule::minimum_utilization(&bottleneck(link)?).map_err(refusal)
}

/// Harmonic mean of the flows' propagation RTTs.
#[pyfunction]
pub(crate) fn bounds_harmonic_rtt_s(link: &Bound<'_, PyAny>) -> PyResult<f64> {
    loss_and_delay_bounds::harmonic_rtt_s(&bottleneck(link)?).map_err(refusal)
}

/// Loss fraction of a full link.
#[pyfunction]
pub(crate) fn bounds_loss(link: &Bound<'_, PyAny>) -> PyResult<f64> {
    loss_and_delay_bounds::loss(&bottleneck(link)?).map_err(refusal)
}

/// Factors of the cliff's edge by control.
#[pyfunction]
pub(crate) fn cliff_edges() -> Vec<(&'static str, f64)> {
    burst_cliff::CONTROLS.iter().map(|control| (control.name, control.edge)).collect()
}

/// The control of a link's flows, the burst of their hosts, and whether they are paced.
#[pyfunction]
pub(crate) fn cliff_hosts(link: &Bound<'_, PyAny>) -> PyResult<(&'static str, u32, bool)> {
    let hosts = burst_cliff::Hosts::of(&bottleneck(link)?).map_err(refusal)?;
    Ok((hosts.control.name, hosts.burst, hosts.is_paced))
}

/// Utilization of the link's flows with another queue limit, in packets.
#[pyfunction]
pub(crate) fn cliff_utilization(link: &Bound<'_, PyAny>, limit: f64) -> PyResult<f64> {
    burst_cliff::utilization(&bottleneck(link)?, limit).map_err(refusal)
}
