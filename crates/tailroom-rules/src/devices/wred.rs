//! WRED as devices have it: a probability that grows between two thresholds of the queue and is 1
//! above them, for each packet on its own; of an average with a weight of 2^-n.

use crate::port_setting::{Taking, whole};

/// The parameters of WRED, in the units of devices.
#[derive(PartialEq)]
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
    pub(super) fn of(port: &Taking) -> Result<Option<Self>, String> {
        match port.link.discipline.as_str() {
            "drop_tail" => Ok(None),
            "step_mark" => step_mark(port).map(Some),
            "wred" => ramp(port, ["k_min", "k_max", "p_max"]).map(Some),
            "red" if is_wred(port) => {
                ramp(port, ["min_threshold", "max_threshold", "max_p"]).map(Some)
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

fn step_mark(port: &Taking) -> Result<Wred, String> {
    let bytes = threshold(port, "threshold")?;
    let drops_others = port.flag("queue.drop_others");
    Ok(Wred { min_bytes: bytes, max_bytes: bytes, percent: 100, exponent: 0, drops_others })
}

/// RED in the special case of WRED. `wait` requires `uniform`.
fn is_wred(port: &Taking) -> bool {
    let has = |key: &str| port.has(&format!("queue.{key}"));
    !port.flag("queue.gentle")
        && !port.flag("queue.uniform")
        && !port.flag("queue.wait")
        && port.text("queue.above_max") == Some("mark")
        && ["min_threshold", "max_threshold", "weight"].into_iter().all(has)
}

fn ramp(port: &Taking, [min, max, probability]: [&str; 3]) -> Result<Wred, String> {
    let percent = percent_of(port.number(&format!("queue.{probability}")));
    if percent == 0 {
        return Err(format!("devices take whole percent, and {probability} is below 0.01"));
    }
    Ok(Wred {
        min_bytes: threshold(port, min)?,
        max_bytes: threshold(port, max)?,
        percent,
        exponent: exponent(port.number("queue.weight"))?,
        drops_others: true,
    })
}

fn threshold(port: &Taking, key: &str) -> Result<u64, String> {
    match port.amount_bytes(&format!("queue.{key}")) {
        Some(bytes) if bytes > 0 => Ok(bytes),
        _ => Err(format!("{key} is below a byte")),
    }
}

/// n of 2^-n, up to 15 (`SAI_WRED_ATTR_WEIGHT` of SAI, `time-average-factor` of SR OS).
fn exponent(weight: f64) -> Result<u32, String> {
    (0..=15)
        .find(|&n| weight.total_cmp(&0.5_f64.powi(n)).is_eq())
        .map(i32::cast_unsigned)
        .ok_or_else(|| "devices take weights of 2^-n, with n up to 15".to_owned())
}

/// Whole percent of a fraction, rounded down.
fn percent_of(fraction: f64) -> u64 {
    whole(100.0 * fraction)
}
