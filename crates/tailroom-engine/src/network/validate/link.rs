//! What a link must satisfy.

use super::super::Network;
use super::{LONGEST_SPAN, check_delay, check_span};
use crate::link::LinkSpec;
use crate::link::draws::Draws;
use crate::link::jitter::{self, JitterSpec};
use crate::link::reorder::ReorderSpec;
use crate::link::serializer::Serializer;
use crate::observe::recorder::ArrivalLogSpec;
use crate::parameters::{BadParameter, Range, check, check_field};
use crate::quantity::{BitRate, PositiveDuration};
use crate::queue::LinkInfo;
use crate::units::{PICOSECONDS_PER_SECOND, Rate, Time};

/// Shortest interval of a measurement, and shortest period of rate changes; a run would spend its time
/// on shorter ones.
const SHORTEST_INTERVAL: Time = Time::from_milliseconds(1);

/// Shortest transmission of a packet, in picoseconds: what is lost by rounding is at most 3 % of it.
/// 40 B take it at 10 Tbit/s.
const SHORTEST_PACKET_PS: u128 = 32;

/// Checks a link by itself, in a run of this duration.
pub(crate) fn check_link(link: &LinkSpec, duration: Time) -> Result<(), BadParameter> {
    check_rate("rate", link.rate)?;
    check_delay("delay", link.delay)?;
    check_field("loss", &link.loss, &Range::ANY)?;
    check_field("line", &link.line, &Range::ANY)?;
    check_field("jitter", &link.jitter, &Range::ANY)?;
    check_field("reorder", &link.reorder, &Range::ANY)?;
    let extra_delay = link.reorder.map_or(Time::ZERO, ReorderSpec::extra_delay);
    check_delay("reorder.extra_delay", extra_delay)?;
    check_field("arrival_log", &link.arrival_log, &Range::ANY)?;
    check_field("admission", &link.admission, &Range::ANY)?;
    check_rate_changes(link)?;
    check_delay_changes(link)?;
    if let Some(JitterSpec { draws: Draws::Every(time) | Draws::OnAverageEvery(time), .. }) =
        link.jitter
    {
        let is_allowed = time >= jitter::SHORTEST.time();
        let between = PositiveDuration::new(time.picoseconds());
        check("jitter.draws", between, is_allowed, "at least 10 us")?;
    }
    if let Some(base) = link.arrival_dispersion {
        check_span("arrival_dispersion", base.time())?;
    }
    if let Some(log) = &link.arrival_log {
        check_log("arrival_log", log)?;
        check_start_of_log("arrival_log", log, duration)?;
    }
    if let Some(admission) = &link.admission {
        check_interval(admission.interval)?;
    }
    let is_size = |bytes: f64| bytes.is_finite() && bytes >= 0.0;
    check("bdp_bytes", link.bdp_bytes, is_size(link.bdp_bytes), "0 or more")?;
    let has_packets = is_size(link.packet_bytes) && link.packet_bytes > 0.0;
    check("packet_bytes", link.packet_bytes, has_packets, "more than 0")
}

/// Refuses a rate at which nothing is ever sent, and a rate above [`Rate::FASTEST`].
pub(crate) fn check_rate(key: &'static str, rate: Rate) -> Result<(), BadParameter> {
    check_field(key, &rate, &Range::ANY)
}

fn check_rate_changes(link: &LinkSpec) -> Result<(), BadParameter> {
    check_order("rate_changes", link.rate_changes.iter().map(|change| change.at))?;
    let Some(period) = link.rate_period else { return Ok(()) };
    let is_allowed = (SHORTEST_INTERVAL..=LONGEST_SPAN).contains(&period);
    check("rate_period", period, is_allowed, "at least 0.001 s and at most 30 days")?;
    let last = link.rate_changes.last().map_or(Time::ZERO, |change| change.at);
    if last > period {
        let problem = format!("{period} is before the last change, at {last}");
        return Err(BadParameter::new("rate_period", problem, "raise it, or remove the change"));
    }
    let serializer = Serializer::new(link.rate, &link.rate_changes, Some(period));
    let capacity = serializer.capacity(period, period + period);
    // A packet would take more periods than a run may step through.
    let is_crumb = capacity > 0 && capacity < 8 * u128::from(PICOSECONDS_PER_SECOND);
    let problem = "a period carries less than a byte, though not nothing";
    let remedy = "raise a rate, or lengthen the span in which it holds";
    if is_crumb { Err(BadParameter::new("rate_changes", problem, remedy)) } else { Ok(()) }
}

fn check_delay_changes(link: &LinkSpec) -> Result<(), BadParameter> {
    check_order("delay_changes", link.delay_changes.iter().map(|change| change.at))?;
    let longest = link.delay_changes.iter().map(|change| change.delay).max();
    check_delay("delay_changes", longest.unwrap_or(Time::ZERO))
}

fn check_order(key: &str, times: impl Iterator<Item = Time>) -> Result<(), BadParameter> {
    let mut last = None;
    for (index, time) in times.enumerate() {
        check_later(time, last).map_err(|bad| bad.below(&format!("{key}[{index}]")))?;
        last = Some(time);
    }
    Ok(())
}

/// Refuses a change that is not later than the one before it.
pub(crate) fn check_later(time: Time, last: Option<Time>) -> Result<(), BadParameter> {
    if last.is_none_or(|last| time > last) {
        return Ok(());
    }
    let problem = format!("{time} is not after the change before it");
    Err(BadParameter::new("at", problem, "write the changes in order of time"))
}

/// Refuses an interval of an admission control that is too short.
pub(crate) fn check_interval(interval: PositiveDuration) -> Result<(), BadParameter> {
    if interval.time() >= SHORTEST_INTERVAL {
        return Ok(());
    }
    let problem = format!("{interval} is too short to measure a rate in");
    Err(BadParameter::new("admission.interval", problem, "write at least \"1 ms\""))
}

/// Refuses a log of packets, under this key, without a span.
pub(crate) fn check_log(key: &str, log: &ArrivalLogSpec) -> Result<(), BadParameter> {
    if log.to.time() > log.from.time() {
        return Ok(());
    }
    let problem = format!("{} is not after `from`, {}", log.to, log.from);
    let remedy = "give a span, as in { from = \"60 s\", to = \"62 s\" }";
    Err(BadParameter::new(format!("{key}.to"), problem, remedy))
}

/// Refuses a log of packets, under this key, that begins after the end of the run.
pub(super) fn check_start_of_log(
    key: &str,
    log: &ArrivalLogSpec,
    duration: Time,
) -> Result<(), BadParameter> {
    if log.from.time() < duration {
        return Ok(());
    }
    let problem = format!("{} is not before the end of the run", log.from);
    Err(BadParameter::new(format!("{key}.from"), problem, "lower it, or raise duration"))
}

/// Refuses a discipline whose parameters contradict one another or the link.
pub(crate) fn check_queue(link: &LinkSpec, info: &LinkInfo) -> Result<(), BadParameter> {
    link.queue.parameters().check(info).map_err(|bad| bad.below("queue"))
}

/// Refuses links so fast that a packet takes a few picoseconds: times are whole picoseconds.
pub(super) fn check_resolution(network: &Network) -> Result<(), (usize, BadParameter)> {
    let mut smallest = vec![u32::MAX; network.links.len()];
    for group in &network.groups {
        let ack_bytes = group.ack_sizes().map_or(u32::MAX, |sizes| sizes.least);
        let data = group.path.iter().map(|&link| (link, group.packet_size));
        for (link, bytes) in data.chain(group.reverse_path.iter().map(|&link| (link, ack_bytes))) {
            smallest[link] = smallest[link].min(bytes);
        }
    }
    for (index, (link, &bytes)) in network.links.iter().zip(&smallest).enumerate() {
        let changes = link.rate_changes.iter().map(|change| change.rate);
        let rate = changes.fold(link.rate, Rate::max);
        let most = u128::from(bytes) * 8 * u128::from(PICOSECONDS_PER_SECOND) / SHORTEST_PACKET_PS;
        if u128::from(rate.bits_per_second()) > most {
            let most = BitRate::new(most as u64);
            let problem = format!(
                "a packet of {bytes} B takes less than {SHORTEST_PACKET_PS} ps, and times are whole \
                 picoseconds"
            );
            let remedy = format!("lower it to {most}, or let the packets be larger");
            return Err((index, BadParameter::new("rate", problem, remedy)));
        }
    }
    Ok(())
}
