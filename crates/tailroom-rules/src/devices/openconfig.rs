//! OpenConfig: `openconfig-qos`, as JSON of RFC 7951, in which 64-bit numbers are texts.
//!
//! Source: `openconfig-qos-mem-mgmt.yang` (0.11.1): `buffer-allocation-profiles` and
//! `queue-management-profiles`. A time is that of the port's rate and of the queue's guaranteed
//! share of it. `weight` is n of 2^-n. A pool's size is no key.

use serde_json::{Map, Value, json};

use super::wred::Wred;
use super::{Device, Lines, Pool, Queue};

pub(super) const DEVICE: Device =
    Device { key: "openconfig", title: "OpenConfig (openconfig-qos)", write, share: Some(share) };

#[expect(clippy::unnecessary_wraps, reason = "the signature that all systems have")]
fn write(queue: &Queue) -> Result<Lines, String> {
    let (leaf, amount, purpose) = match queue.microseconds() {
        Some(us) => {
            let purpose = "in whole microseconds at the port's rate, which the queue has alone";
            ("dedicated-buffer-temporal", us, purpose)
        }
        None => ("dedicated-buffer", queue.bytes, "in bytes, since microseconds are too coarse"),
    };
    let buffer = json!({ leaf: amount.to_string(), "use-shared-buffer": false });
    let mut qos = buffer_allocation(buffer);
    if let Some(wred) = &queue.wred {
        let profile = named("wred", json!({ "uniform": { "config": uniform(wred) } }));
        qos["queue-management-profiles"] = json!({ "queue-management-profile": [profile] });
    }
    Ok(Lines { purpose: purpose.to_owned(), text: document(&qos) })
}

fn share(pool: &Pool) -> Lines {
    let qos = buffer_allocation(json!({
        "use-shared-buffer": true,
        "shared-buffer-limit-type": "DYNAMIC_BASED_ON_SCALING_FACTOR",
        "dynamic-limit-scaling-factor": pool.exponent,
    }));
    let purpose = "the size of the pool is the chip's".to_owned();
    Lines { purpose, text: document(&qos) }
}

fn buffer_allocation(mut config: Value) -> Value {
    config["name"] = "QUEUE".into();
    let queue = json!({ "name": "QUEUE", "config": config });
    let profile = named("queues", json!({ "queue": [queue] }));
    json!({ "buffer-allocation-profiles": { "buffer-allocation-profile": [profile] } })
}

/// A profile with one container.
fn named(container: &str, value: Value) -> Value {
    let mut profile = Map::new();
    profile.insert("name".to_owned(), "tailroom".into());
    profile.insert("config".to_owned(), json!({ "name": "tailroom" }));
    profile.insert(container.to_owned(), value);
    profile.into()
}

fn uniform(wred: &Wred) -> Value {
    json!({
        "min-threshold": wred.min_bytes.to_string(),
        "max-threshold": wred.max_bytes.to_string(),
        "max-drop-probability-percent": wred.percent,
        "weight": wred.exponent,
        "enable-ecn": true,
        "drop": wred.drops_others,
    })
}

fn document(qos: &Value) -> String {
    format!("{:#}", json!({ "openconfig-qos:qos": qos }))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The example of the model: 10 MB are free, and a factor of 3 allows 80 MB.
    #[test]
    fn a_scaling_factor_of_three_is_alpha_eight() {
        let shown: Value = serde_json::from_str(&DEVICE.pool(1, 80.0 / 10.0).text).expect("JSON");
        let profiles = &shown["openconfig-qos:qos"]["buffer-allocation-profiles"];
        let queue = &profiles["buffer-allocation-profile"][0]["queues"]["queue"][0]["config"];
        assert_eq!(queue["dynamic-limit-scaling-factor"], 3);
        assert_eq!(queue["shared-buffer-limit-type"], "DYNAMIC_BASED_ON_SCALING_FACTOR");
    }
}
