//! WRED as devices have it: a probability that grows between two thresholds of the queue and is 1
//! above them, for each packet on its own; of an average with a weight of 2^-n.

use serde_json::Value;

use super::whole;
use crate::bottleneck::Bottleneck;

/// The parameters of WRED, in the units of devices.
pub(super) struct Wred {
    /// Queue from which packets are marked.
    pub(super) min_bytes: u64,
    /// Queue from which all packets are.
    pub(super) max_bytes: u64,
    /// Probability just below `max_bytes`, rounded down.
    pub(super) percent: u64,
    /// n of the weight 2^-n; with 0, the average is the queue itself.
    pub(super) exponent: u32,
    /// Packets that are not ECN-capable are dropped where others are marked.
    pub(super) drops_others: bool,
}

impl Wred {
    /// None for a tail drop; a reason for a discipline that is not WRED.
    pub(super) fn of(link: &Bottleneck) -> Result<Option<Self>, String> {
        match link.discipline.as_str() {
            "drop_tail" => Ok(None),
            "step_mark" => step_mark(link).map(Some),
            "wred" => ramp(link, ["k_min", "k_max", "p_max"]).map(Some),
            "red" if is_wred(link) => {
                ramp(link, ["min_threshold", "max_threshold", "max_p"]).map(Some)
            }
            "red" => Err("devices mark each packet on its own and all of them above the upper \
                          threshold: red needs gentle and uniform = false, above_max = \"mark\", \
                          both thresholds and a weight of 2^-n; or simulate wred"
                .to_owned()),
            "adaptive_red" => {
                Err("devices do not adapt max_p to the load; simulate wred".to_owned())
            }
            other => Err(format!("devices have tail drop and WRED, not {other}")),
        }
    }

    /// Whether the thresholds are the same.
    pub(super) fn is_step(&self) -> bool {
        self.min_bytes == self.max_bytes
    }
}

fn step_mark(link: &Bottleneck) -> Result<Wred, String> {
    let bytes = threshold(link, "threshold")?;
    let drops_others = flag(link, "drop_others");
    Ok(Wred { min_bytes: bytes, max_bytes: bytes, percent: 100, exponent: 0, drops_others })
}

/// RED in the special case of WRED. `wait` requires `uniform`.
fn is_wred(link: &Bottleneck) -> bool {
    let above_max = link.parameters.get("above_max").and_then(Value::as_str);
    !flag(link, "gentle")
        && !flag(link, "uniform")
        && above_max == Some("mark")
        && ["min_threshold", "max_threshold"].iter().all(|key| link.amount(key).is_finite())
        && link.parameters.get("weight").is_some()
}

fn ramp(link: &Bottleneck, [min, max, probability]: [&str; 3]) -> Result<Wred, String> {
    let percent = whole(100.0 * number(link, probability));
    if percent == 0 {
        return Err(format!("devices take whole percent, and {probability} is below 0.01"));
    }
    Ok(Wred {
        min_bytes: threshold(link, min)?,
        max_bytes: threshold(link, max)?,
        percent,
        exponent: exponent(number(link, "weight"))?,
        drops_others: true,
    })
}

fn threshold(link: &Bottleneck, key: &str) -> Result<u64, String> {
    let bytes = whole(link.amount(key) * link.packet_bytes);
    if bytes > 0 { Ok(bytes) } else { Err(format!("{key} is below a byte")) }
}

/// n of 2^-n, up to 15 (`SAI_WRED_ATTR_WEIGHT` of SAI, `time-average-factor` of SR OS).
fn exponent(weight: f64) -> Result<u32, String> {
    (0..=15)
        .find(|&n| weight.total_cmp(&0.5_f64.powi(n)).is_eq())
        .map(i32::cast_unsigned)
        .ok_or_else(|| "devices take weights of 2^-n, with n up to 15".to_owned())
}

fn number(link: &Bottleneck, key: &str) -> f64 {
    link.parameters.get(key).and_then(Value::as_f64).unwrap_or(f64::NAN)
}

fn flag(link: &Bottleneck, key: &str) -> bool {
    link.parameters.get(key).and_then(Value::as_bool).unwrap_or(false)
}
