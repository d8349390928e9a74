//! SONiC: `config_db.json`.
//!
//! Sources: `sonic-wred-profile.yang` (revision 2026-06-23), `sonic-buffer-queue.yang`,
//! `sonic-queue.yang` and `Configuration.md` ("Buffer pool", "Buffer profile", "Queue") of
//! sonic-buildimage; `saibuffer.h` of SAI. Values are texts. `size` of a profile is its reserve, and
//! `static_th` (bytes) or `dynamic_th` (n of alpha = 2^n) limits what it takes of the pool beyond.
//! `WRED_PROFILE` has no weight: SONiC sets 0, the queue itself (`qosorch.cpp`).

use serde_json::{Value, json};

use super::wred::Wred;
use super::{Device, Lines, Pool, Queue};

pub(super) const DEVICE: Device =
    Device { key: "sonic", title: "SONiC (config_db.json)", write, share: Some(share) };

fn write(queue: &Queue) -> Result<Lines, String> {
    let mut tables = profile("POOL", "static_th", &queue.bytes.to_string());
    if let Some(wred) = &queue.wred {
        if wred.exponent != 0 {
            return Err("its WRED takes the queue itself: weight = 1".to_owned());
        }
        tables["WRED_PROFILE"] = json!({ "tailroom": wred_profile(wred) });
        tables["QUEUE"] = json!({ "PORT|QUEUE": { "wred_profile": "tailroom" } });
    }
    Ok(Lines {
        purpose: "POOL is an egress pool of mode static, and the chip counts in whole cells"
            .to_owned(),
        text: format!("{tables:#}"),
    })
}

/// `dynamic_th` is an `int8`; chips allow less, as -7 to 3.
fn share(pool: &Pool) -> Lines {
    let mut tables = profile("tailroom", "dynamic_th", &pool.exponent.to_string());
    let size = pool.bytes.to_string();
    tables["BUFFER_POOL"] =
        json!({ "tailroom": { "type": "egress", "mode": "dynamic", "size": size } });
    let purpose = "the chip counts in whole cells, and may allow less of dynamic_th".to_owned();
    Lines { purpose, text: format!("{tables:#}") }
}

fn profile(pool: &str, threshold: &str, value: &str) -> Value {
    json!({
        "BUFFER_PROFILE": { "tailroom": { "pool": pool, "size": "0", threshold: value } },
        "BUFFER_QUEUE": { "PORT|QUEUE": { "profile": "tailroom" } },
    })
}

/// Packets are green unless a classifier colours them.
fn wred_profile(wred: &Wred) -> Value {
    json!({
        "ecn": "ecn_green",
        "wred_green_enable": wred.drops_others.to_string(),
        "green_min_threshold": wred.min_bytes.to_string(),
        "green_max_threshold": wred.max_bytes.to_string(),
        "green_drop_probability": wred.percent.to_string(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The lossy egress pool of `Configuration.md`: alpha 8 is 3, and the pool of 9,243,812 bytes.
    #[test]
    fn a_pool_has_the_fields_of_the_manual() {
        let shown: Value = serde_json::from_str(&DEVICE.pool(9_243_812, 8.0).text).expect("JSON");
        let documented = json!({ "type": "egress", "mode": "dynamic", "size": "9243812" });
        assert_eq!(shown["BUFFER_POOL"]["tailroom"], documented);
        let documented = json!({ "pool": "tailroom", "size": "0", "dynamic_th": "3" });
        assert_eq!(shown["BUFFER_PROFILE"]["tailroom"], documented);
    }
}
