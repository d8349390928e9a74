//! What a shaper and a policer must satisfy.

use super::LONGEST_SPAN;
use crate::framing::MOST_OVERHEAD_BYTES;
use crate::link::LinkSpec;
use crate::link::policer::PolicerSpec;
use crate::link::shaper::ShaperSpec;
use crate::link::token_bucket::fill_time;
use crate::parameters::{BadParameter, Range, check, check_field};
use crate::quantity::{BitRate, Size};
use crate::queue::LinkInfo;

/// Checks the token buckets of a link whose largest packet `info` knows.
pub(crate) fn check_token_buckets(link: &LinkSpec, info: &LinkInfo) -> Result<(), BadParameter> {
    check_field("shaper", &link.shaper, &Range::ANY)?;
    check_field("policer", &link.policer, &Range::ANY)?;
    if let Some(shaper) = &link.shaper {
        check_shaper(shaper, link, info.packet_bytes)?;
    }
    if let Some(PolicerSpec { rate, burst }) = &link.policer {
        check_burst("policer.burst", *rate, *burst, info.packet_bytes, info.packet_bytes)?;
    }
    Ok(())
}

fn check_shaper(
    shaper: &ShaperSpec,
    link: &LinkSpec,
    packet_bytes: u32,
) -> Result<(), BadParameter> {
    if !link.rate_changes.is_empty() {
        let problem = "the rate of the link changes, and a shaper needs a constant rate";
        let remedy = "remove the changes of rate, or put the shaper on a link of its own";
        return Err(BadParameter::new("shaper", problem, remedy));
    }
    if shaper.rate.rate() > link.rate {
        let problem = format!("{} is above the link's rate, so that no packet waits", shaper.rate);
        let remedy = format!(
            "lower it to at most \"{}\", or remove the shaper",
            BitRate::new(link.rate.bits_per_second())
        );
        return Err(BadParameter::new("shaper.rate", problem, remedy));
    }
    if let Some(peak) = shaper.peak_rate.filter(|peak| peak.rate() < shaper.rate.rate()) {
        let problem = format!("{peak} is below the rate of the shaper");
        let remedy = format!("raise it to at least \"{}\", or remove it", shaper.rate);
        return Err(BadParameter::new("shaper.peak_rate", problem, remedy));
    }
    if let Some(overhead) = shaper.overhead {
        let is_allowed = overhead.bytes() <= MOST_OVERHEAD_BYTES;
        check("shaper.overhead", overhead, is_allowed, "at most \"256 B\"")?;
    }
    check_burst("shaper.burst", shaper.rate, shaper.burst, packet_bytes, shaper.cost(packet_bytes))
}

/// Refuses a bucket that never holds the tokens of the largest packet, and one that takes longer to
/// fill than any run lasts.
fn check_burst(
    key: &'static str,
    rate: BitRate,
    burst: Size,
    packet_bytes: u32,
    cost: u32,
) -> Result<(), BadParameter> {
    if burst.bytes() < u64::from(cost) {
        let (packet, needed) = (Size::new(packet_bytes.into()), Size::new(cost.into()));
        let with_overhead =
            if cost > packet_bytes { format!(", which costs {needed}") } else { String::new() };
        let problem = format!("{burst} is less than one packet of {packet}{with_overhead}");
        return Err(BadParameter::new(key, problem, format!("raise it to at least \"{needed}\"")));
    }
    if fill_time(rate.rate(), burst.bytes()) > LONGEST_SPAN {
        let problem = format!("{burst} take more than 30 days at {rate}");
        return Err(BadParameter::new(key, problem, "lower it"));
    }
    Ok(())
}
