//! SONiC: `config_db.json`.
//!
//! Sources: `sonic-wred-profile.yang` (revision 2026-06-23), `sonic-buffer-pool.yang`,
//! `sonic-buffer-profile.yang` (`dynamic_th` is -8 to 7), `sonic-buffer-queue.yang`,
//! `sonic-buffer-pg.yang`, `sonic-queue.yang`, `sonic-scheduler.yang` (weights are 1 to 100) and `Configuration.md` ("Buffer pool", "Buffer profile",
//! "Queue") of sonic-buildimage; `saibuffer.h` of SAI. Values are texts. `size` of a profile is its
//! reserve, and `static_th` (bytes) or `dynamic_th` (n of alpha = 2^n) limits what it takes of the pool
//! beyond. The size of a pool has all reserves and shared headroom (`xoff`) in it.
//! `WRED_PROFILE` has no weight: SONiC sets 0, the queue itself (`qosorch.cpp`). Dell's Ansible module
//! `sonic_qos_buffer` takes a `dynamic_threshold` of -6 to 3 only.

use serde_json::{Map, Value, json};

use super::queue::{Ingress, IngressPool, Queue, Threshold};
use super::wred::Wred;
use super::{Device, Group, Lines, groups, members};
use crate::port_setting::Taking;

pub(super) const DEVICE: Device = Device { key: "sonic", title: "SONiC (config_db.json)", write };

/// The values of `dynamic_th` in SONiC's model, and those that Dell's module takes.
const EXPONENTS: std::ops::RangeInclusive<i32> = -8..=7;
const DELLS: std::ops::RangeInclusive<i32> = -6..=3;

#[derive(PartialEq)]
struct Port {
    /// None of an interface whose queue is not the switch's, which only sends into its ingress.
    queue: Option<Queue>,
    ingress: Option<Ingress>,
    /// Weight among the classes of its port; none if it is the only one.
    weight: Option<u64>,
}

fn write(ports: &[Taking]) -> Result<Lines, String> {
    let read = |port: &Taking| {
        let ingress = Ingress::of(port)?;
        let kind = port.link.port.0.get("queue.kind").and_then(Value::as_str);
        if ingress.is_some() && kind.is_none() {
            return Ok(Port { queue: None, ingress, weight: None });
        }
        if ingress.is_some() && kind == Some("fair") {
            port.leave(
                "queue",
                "the interface that sends into this ingress has it, not the switch",
            );
            return Ok(Port { queue: None, ingress, weight: None });
        }
        // Rates make no difference to the lines.
        let queue = Queue { rate_bps: 0, ..Queue::of(port)? };
        Ok(Port { queue: Some(queue), ingress, weight: weight(port, ports) })
    };
    let each = ports.iter().map(read).collect::<Result<Vec<Port>, String>>()?;
    let groups = groups(ports, read)?;
    let mut tables = Tables(Map::new());
    let with_ingress = groups.iter().filter(|group| group.lines.ingress.is_some());
    let of_ports: Vec<String> = with_ingress.map(port_of).collect();
    for group in &groups {
        tables.add_queue(group, &queue_place(group, ports))?;
        let has_several = of_ports.iter().filter(|name| **name == port_of(group)).count() > 1;
        tables.add_ingress(group, has_several)?;
    }
    tables.add_pools(&each);
    Ok(Lines {
        purpose:
            "PORT, QUEUE and PG, with what may follow _, stand for names as Ethernet0, 3 and 3"
                .to_owned(),
        text: format!("{:#}", Value::Object(tables.0)),
        notes: notes(&groups),
    })
}

fn line<'a>(port: &Taking<'a>) -> Option<&'a str> {
    port.link.port.0.get("line.name").and_then(Value::as_str)
}

/// The classes of the port of one of them; empty if it is the only one.
fn classes<'a, 'b>(port: &Taking, ports: &'b [Taking<'a>]) -> Vec<&'b Taking<'a>> {
    let own = line(port);
    let all: Vec<_> = ports.iter().filter(|one| own.is_some() && line(one) == own).collect();
    if all.len() > 1 { all } else { Vec::new() }
}

/// The weight of a class; none if it is no whole number of 1 to 100, or classes differ in priority.
fn weight(port: &Taking, ports: &[Taking]) -> Option<u64> {
    let number = |port: &Taking, key| port.link.port.0.get(key).and_then(Value::as_f64);
    let all = classes(port, ports);
    let own = number(port, "line.priority");
    let weight = number(port, "line.weight").filter(|one| one.fract() == 0.0)?;
    let is_sure = (1.0..=100.0).contains(&weight);
    if all.is_empty() || !is_sure || all.iter().any(|one| number(one, "line.priority") != own) {
        return None;
    }
    for key in ["line.name", "line.priority", "line.weight"] {
        port.value(key);
    }
    Some(weight as u64)
}

/// The port of a group: of `TABLE-A-switch` and `TABLE-switch-A` that to A, which all classes share.
fn port_of(group: &Group<Port>) -> String {
    let parts: Vec<&str> = group.links[0].split('-').collect();
    match parts.as_slice() {
        [_, node, "switch"] | [_, "switch", node] if !group.suffix.is_empty() => {
            format!("PORT_{node}")
        }
        _ => group.named("PORT"),
    }
}

/// The port and the queue of a group. Classes of one port share a line.
fn queue_place(group: &Group<Port>, ports: &[Taking]) -> String {
    let own = ports.iter().find(|port| port.link.name == group.links[0]);
    let has_classes = own.is_some_and(|port| !classes(port, ports).is_empty());
    let queue = if has_classes { group.named("QUEUE") } else { "QUEUE".to_owned() };
    format!("{}|{queue}", port_of(group))
}

struct Tables(Map<String, Value>);

impl Tables {
    fn row(&mut self, table: &str, name: &str, row: Value) {
        let rows = self.0.entry(table).or_insert_with(|| json!({}));
        rows[name] = row;
    }

    fn add_queue(&mut self, group: &Group<Port>, place: &str) -> Result<(), String> {
        let Some(queue) = &group.lines.queue else { return Ok(()) };
        let Queue { bytes, wred, shared, is_lossless, .. } = queue;
        let (reserved, threshold) =
            shared.as_ref().map_or((0, Threshold::Static(*bytes)), |shared| {
                (shared.reserved_bytes, shared.threshold)
            });
        let name = group.named(if *is_lossless { "egress_lossless" } else { "tailroom" });
        let profile = profile(egress_pool(queue), reserved, threshold)?;
        self.row("BUFFER_PROFILE", &name, profile);
        self.row("BUFFER_QUEUE", place, json!({ "profile": name }));
        let mut of_queue = Map::new();
        if let Some(wred) = wred {
            let name = group.named("tailroom");
            self.row("WRED_PROFILE", &name, wred_profile(wred)?);
            of_queue.insert("wred_profile".to_owned(), name.into());
        }
        if let Some(weight) = group.lines.weight {
            let name = group.named("scheduler");
            self.row("SCHEDULER", &name, json!({ "type": "DWRR", "weight": weight.to_string() }));
            of_queue.insert("scheduler".to_owned(), name.into());
        }
        if !of_queue.is_empty() {
            self.row("QUEUE", place, of_queue.into());
        }
        Ok(())
    }

    fn add_ingress(&mut self, group: &Group<Port>, has_several: bool) -> Result<(), String> {
        let Some(ingress) = &group.lines.ingress else { return Ok(()) };
        let is_shared = ingress.pool.as_ref().is_some_and(|pool| pool.headroom_bytes.is_some());
        let headroom = ingress.pause.as_ref().map_or(0, |pause| pause.headroom);
        let size = ingress.own_bytes + if is_shared { 0 } else { headroom };
        let mut profile = profile("ingress_lossless_pool", size, ingress.threshold)?;
        let name =
            group.named(if ingress.pause.is_some() { "pg_lossless" } else { "ingress_lossy" });
        if let Some(pause) = &ingress.pause {
            profile["xoff"] = pause.headroom.to_string().into();
            profile["xon"] = pause.xon.to_string().into();
            if pause.xon_offset > 0 {
                profile["xon_offset"] = pause.xon_offset.to_string().into();
            }
        }
        self.row("BUFFER_PROFILE", &name, profile);
        let pg = if has_several { group.named("PG") } else { "PG".to_owned() };
        let place = format!("{}|{pg}", port_of(group));
        self.row("BUFFER_PG", &place, json!({ "profile": name }));
        Ok(())
    }

    /// The pools whose size the scenario says.
    fn add_pools(&mut self, ports: &[Port]) {
        let pool = |kind: &str, threshold: Threshold, bytes: u64| {
            let mode =
                if matches!(threshold, Threshold::Dynamic(_)) { "dynamic" } else { "static" };
            json!({ "type": kind, "mode": mode, "size": bytes.to_string() })
        };
        let queues = || ports.iter().filter_map(|port| port.queue.as_ref());
        let own = |queue: &&Queue| queue.is_lossless && queue.shared.is_none();
        let lossless: u64 = queues().filter(own).map(|queue| queue.bytes).sum();
        if lossless > 0 {
            let row = pool("egress", Threshold::Static(0), lossless);
            self.row("BUFFER_POOL", "egress_lossless_pool", row);
        }
        for queue in queues() {
            if let Some(shared) = &queue.shared {
                let row = pool("egress", shared.threshold, shared.pool_bytes);
                self.row("BUFFER_POOL", egress_pool(queue), row);
            }
        }
        let ingresses: Vec<&Ingress> =
            ports.iter().filter_map(|port| port.ingress.as_ref()).collect();
        let Some(first) = ingresses.first() else { return };
        let memory = first.pool.as_ref();
        let (bytes, headroom) = ingress_bytes(&ingresses, memory);
        let mut row = pool("ingress", first.threshold, bytes);
        if let Some(headroom) = headroom {
            row["xoff"] = headroom.to_string().into();
        }
        self.row("BUFFER_POOL", "ingress_lossless_pool", row);
    }
}

/// The size of an ingress pool with what each ingress has to itself, and the headroom that they share.
fn ingress_bytes(ingresses: &[&Ingress], memory: Option<&IngressPool>) -> (u64, Option<u64>) {
    let shared = memory.map_or(0, |pool| pool.shared_bytes);
    let headroom = memory.and_then(|pool| pool.headroom_bytes);
    let includes = memory.is_some_and(|pool| pool.includes_headroom);
    let own: u64 = ingresses.iter().map(|one| one.own_bytes).sum();
    let pauses = ingresses.iter().filter_map(|one| one.pause.as_ref());
    let each: u64 = pauses.map(|pause| pause.headroom).sum();
    let headrooms = if includes { 0 } else { headroom.unwrap_or(each) };
    (shared + own + headrooms, headroom)
}

/// Queues that must not drop have a pool of their own, unless they share one.
fn egress_pool(queue: &Queue) -> &'static str {
    match (&queue.shared, queue.is_lossless) {
        (Some(_), _) => "egress_pool",
        (None, true) => "egress_lossless_pool",
        (None, false) => "POOL",
    }
}

fn profile(pool: &str, size: u64, threshold: Threshold) -> Result<Value, String> {
    let mut row = json!({ "pool": pool, "size": size.to_string() });
    match threshold {
        Threshold::Static(bytes) => row["static_th"] = bytes.to_string().into(),
        Threshold::Dynamic(n) if EXPONENTS.contains(&n) => row["dynamic_th"] = n.to_string().into(),
        Threshold::Dynamic(n) => {
            return Err(format!(
                "its dynamic_th is -8 to 7, alpha 1/256 to 128, and alpha is 2^{n}"
            ));
        }
    }
    Ok(row)
}

/// Packets are green unless a classifier colours them.
fn wred_profile(wred: &Wred) -> Result<Value, String> {
    if wred.exponent != 0 {
        return Err("its WRED takes the queue itself: weight = 1".to_owned());
    }
    Ok(json!({
        "ecn": "ecn_green",
        "wred_green_enable": wred.drops_others.to_string(),
        "green_min_threshold": wred.min_bytes.to_string(),
        "green_max_threshold": wred.max_bytes.to_string(),
        "green_drop_probability": wred.percent.to_string(),
    }))
}

fn notes(groups: &[Group<Port>]) -> Vec<String> {
    let any = |test: fn(&Port) -> bool| groups.iter().any(|group| test(&group.lines));
    let mut notes: Vec<String> = members(groups).into_iter().collect();
    let mut say = |is_so: bool, text: &str| notes.extend(is_so.then(|| text.to_owned()));
    let is_static = |port: &Port| port.queue.as_ref().is_some_and(|one| egress_pool(one) == "POOL");
    say(
        any(is_static),
        "POOL is an egress pool of mode static, with room for what its queues may hold at once",
    );
    let is_lossy = |port: &Port| port.ingress.as_ref().is_some_and(|one| one.pause.is_none());
    say(
        any(|port| port.queue.is_some() && port.ingress.is_none()) && !any(is_lossy),
        "a lossy queue also passes an ingress pool, which is not in these lines: it must be no smaller",
    );
    let is_lossless = |port: &Port| port.ingress.as_ref().is_some_and(|one| one.pause.is_some());
    say(
        any(is_lossless),
        "BUFFER_PG is of the port at the far end of the line, where pfc_enable of PORT_QOS_MAP has the \
         lossless priority; the maps of DSCP to priorities, queues and groups, and the PFC watchdog, are \
         not in these lines",
    );
    let is_empty = |port: &Port| {
        let pause = port.ingress.as_ref().and_then(|ingress| ingress.pause.as_ref());
        pause.is_some_and(|pause| pause.xon == 0 && pause.xon_offset == 0)
    };
    say(any(is_empty), "xon is 0 as in the scenario: the peer resumes when all bytes have left");
    let is_rare = |threshold: Threshold| match threshold {
        Threshold::Dynamic(n) => !DELLS.contains(&n),
        Threshold::Static(_) => false,
    };
    let rare = groups.iter().map(|group| &group.lines).any(|port| {
        let shared = port.queue.as_ref().and_then(|queue| queue.shared.as_ref());
        shared.is_some_and(|shared| is_rare(shared.threshold))
            || port.ingress.as_ref().is_some_and(|ingress| is_rare(ingress.threshold))
    });
    say(rare, "chips may allow less of dynamic_th: Dell's module takes -6 to 3");
    say(true, "the chip counts in whole cells");
    notes
}
