//! OpenConfig: `openconfig-qos`, as JSON of RFC 7951, in which 64-bit numbers are texts.
//!
//! Source: `openconfig-qos-mem-mgmt.yang` (0.11.1): `buffer-allocation-profiles` and
//! `queue-management-profiles`; `openconfig-qos-elements.yang`: `queues`, which the name of a queue in a
//! profile refers to. A time is that of the port's rate and of the queue's guaranteed share of it.
//! `weight` is n of 2^-n. A pool's size is no key.

use serde_json::{Map, Value, json};

use super::queue::{Queue, Shared, Threshold};
use super::wred::Wred;
use super::{Device, Group, Lines, groups, members};
use crate::port_setting::Taking;

pub(super) const DEVICE: Device =
    Device { key: "openconfig", title: "OpenConfig (openconfig-qos)", write };

fn write(ports: &[Taking]) -> Result<Lines, String> {
    let groups = groups(ports, Queue::of)?;
    for port in ports {
        port.leave("pool.size", "the size of the pool is the chip's");
    }
    let each = |of: fn(&Group<Queue>) -> Option<Value>| groups.iter().filter_map(of).collect();
    let (queues, buffers, marking): (Vec<Value>, Vec<Value>, Vec<Value>) =
        (each(name_of), each(buffer_allocation), each(queue_management));
    let mut qos = json!({
        "queues": { "queue": queues },
        "buffer-allocation-profiles": { "buffer-allocation-profile": buffers },
    });
    if !marking.is_empty() {
        qos["queue-management-profiles"] = json!({ "queue-management-profile": marking });
    }
    let shared = groups.iter().any(|group| group.lines.shared.is_some());
    let coarse = groups.iter().any(|group| group.lines.microseconds().is_none());
    let purpose = match (shared, coarse) {
        (true, _) => "each queue in addition to what it reserves",
        (false, true) => "in bytes, since microseconds are too coarse",
        (false, false) => "in whole microseconds at the port's rate, which the queue has alone",
    };
    Ok(Lines {
        purpose: purpose.to_owned(),
        text: format!("{:#}", json!({ "openconfig-qos:qos": qos })),
        notes: members(&groups).into_iter().collect(),
    })
}

#[expect(clippy::unnecessary_wraps, reason = "the signature that all containers have")]
fn name_of(group: &Group<Queue>) -> Option<Value> {
    let name = group.named("QUEUE");
    Some(json!({ "name": name, "config": { "name": name } }))
}

#[expect(clippy::unnecessary_wraps, reason = "the signature that all containers have")]
fn buffer_allocation(group: &Group<Queue>) -> Option<Value> {
    let queue = &group.lines;
    let mut config = match (&queue.shared, queue.microseconds()) {
        (Some(shared), _) => of_pool(shared),
        (None, Some(us)) => {
            json!({ "dedicated-buffer-temporal": us.to_string(), "use-shared-buffer": false })
        }
        (None, None) => {
            json!({ "dedicated-buffer": queue.bytes.to_string(), "use-shared-buffer": false })
        }
    };
    let name = group.named("QUEUE");
    config["name"] = name.clone().into();
    let queue = json!({ "name": name, "config": config });
    Some(named(&group.named("tailroom"), "queues", json!({ "queue": [queue] })))
}

fn of_pool(shared: &Shared) -> Value {
    let mut config = match shared.threshold {
        Threshold::Dynamic(n) => json!({
            "shared-buffer-limit-type": "DYNAMIC_BASED_ON_SCALING_FACTOR",
            "dynamic-limit-scaling-factor": n,
        }),
        Threshold::Static(bytes) => json!({
            "shared-buffer-limit-type": "STATIC",
            "static-shared-buffer-limit": bytes.min(u64::from(u32::MAX)),
        }),
    };
    config["use-shared-buffer"] = true.into();
    if shared.reserved_bytes > 0 {
        config["dedicated-buffer"] = shared.reserved_bytes.to_string().into();
    }
    config
}

fn queue_management(group: &Group<Queue>) -> Option<Value> {
    let uniform = json!({ "uniform": { "config": uniform(group.lines.wred.as_ref()?) } });
    Some(named(&group.named("tailroom"), "wred", uniform))
}

/// A profile with one container.
fn named(name: &str, container: &str, value: Value) -> Value {
    let mut profile = Map::new();
    profile.insert("name".to_owned(), name.into());
    profile.insert("config".to_owned(), json!({ "name": name }));
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
