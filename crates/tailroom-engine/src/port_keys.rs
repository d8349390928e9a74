//! All that shapes the packets of a port, as flat keys: what a configuration of another tool or a
//! device must carry, or say that it leaves out.
//!
//! [`of`] takes every structure apart by name, so that a new field does not compile before it is
//! decided whether it shapes a port.

use serde::Serialize;
use serde_json::{Map, Value};

use crate::link::LinkSpec;
use crate::link::ingress_pool::{IngressMember, IngressMemory};
use crate::link::wire_loss::LossSpec;
use crate::network::Network;
use crate::pool::{Frees, PoolMember, PoolSpec};
use crate::quantity::limit::QueueLimit;
use crate::quantity::{BitRate, Duration, Size, SizeOrZero};

/// Values by key. A key is that of the scenario below `links.NAME`; those of the tables that the link
/// names follow `pool` and `ingress.pool`. Quantities are texts with their unit; amounts of the queue
/// are in packets or bytes, as the discipline counts them. Of changes it has their number, of jitter when
/// it is drawn.
pub fn of(network: &Network, spec: &LinkSpec) -> Map<String, Value> {
    let LinkSpec {
        name: _,
        rate,
        delay,
        queue,
        loss,
        rate_changes,
        rate_period,
        delay_changes,
        jitter,
        reorder,
        shaper,
        policer,
        line,
        pause,
        pause_frames_over,
        ingress,
        pool,
        // These observe.
        packet_log: _,
        arrival_dispersion: _,
        arrival_log: _,
        admission,
        // Results do not depend on it.
        is_acted_on: _,
        // Amounts are resolved with them.
        bdp_bytes: _,
        packet_bytes: _,
    } = spec;
    let mut keys = Keys::default();
    keys.text("rate", &BitRate::new(rate.bits_per_second()));
    keys.text("delay", &Duration::new(delay.picoseconds()));
    let mut queue = queue.clone();
    for (_, amount) in queue.parameters_mut().amounts() {
        *amount = QueueLimit::from(spec.limit(*amount));
    }
    keys.table("queue", &queue);
    if *loss != LossSpec::None {
        keys.table("loss", loss);
    }
    if !rate_changes.is_empty() {
        // A trace may have a million.
        let often = if rate_period.is_some() { " in each period" } else { "" };
        keys.add("changes.rate", format!("{} changes{often}", rate_changes.len()).into());
    }
    if !delay_changes.is_empty() {
        keys.add("changes.delay", format!("{} changes", delay_changes.len()).into());
    }
    if let Some(jitter) = jitter {
        keys.add("jitter", format!("{:?}", jitter.draws).into());
    }
    keys.optional("reorder", reorder.as_ref());
    keys.optional("shaper", shaper.as_ref());
    keys.optional("policer", policer.as_ref());
    keys.optional("line", line.as_ref());
    keys.optional("pause", pause.as_ref());
    if let Some(link) = pause_frames_over {
        keys.add("pause_frames_over", network.links[*link].name.clone().into());
    }
    if let Some(member) = ingress {
        keys.ingress(member, network.ingress_pools[member.pool]);
    }
    if let Some(member) = pool {
        keys.pool(member, &network.pools[member.pool]);
    }
    keys.optional("admission", admission.as_ref());
    keys.0
}

#[derive(Default)]
struct Keys(Map<String, Value>);

impl Keys {
    fn add(&mut self, key: &str, value: Value) {
        match value {
            Value::Null => {}
            Value::Object(table) => {
                for (name, value) in table {
                    self.add(&format!("{key}.{name}"), value);
                }
            }
            Value::Array(list) => {
                self.0.insert(key.to_owned(), Value::Array(list).to_string().into());
            }
            value => drop(self.0.insert(key.to_owned(), value)),
        }
    }

    fn text(&mut self, key: &str, value: &impl ToString) {
        self.add(key, value.to_string().into());
    }

    /// The keys of a table, defaults included.
    fn table(&mut self, key: &str, table: &impl Serialize) {
        self.add(key, serde_json::to_value(table).unwrap_or_default());
    }

    fn optional(&mut self, key: &str, table: Option<&impl Serialize>) {
        if let Some(table) = table {
            self.table(key, table);
        }
    }

    fn ingress(&mut self, member: &IngressMember, memory: IngressMemory) {
        let IngressMember { pool, alpha, xon_offset } = *member;
        let IngressMemory { size, headroom, includes_headroom } = memory;
        self.add("ingress.pool", pool.into());
        self.text("ingress.pool.size", &size);
        if let Some(headroom) = headroom {
            self.text("ingress.pool.headroom", &headroom);
        }
        if includes_headroom {
            self.add("ingress.pool.includes_headroom", true.into());
        }
        self.add("ingress.alpha", alpha.into());
        if xon_offset > 0 {
            self.text("ingress.xon_offset", &SizeOrZero::new(xon_offset));
        }
    }

    fn pool(&mut self, member: &PoolMember, memory: &PoolSpec) {
        let PoolMember { pool: _, reserved_bytes, alpha, port, priority } = *member;
        let PoolSpec { name, size_bytes, cell_bytes, policy, frees, mark_above_bytes } = memory;
        self.add("pool", name.clone().into());
        self.text("pool.size", &Size::new(*size_bytes));
        if *cell_bytes > 1 {
            self.text("pool.cell", &Size::new(u64::from(*cell_bytes)));
        }
        self.table("pool.policy", policy);
        if *frees != Frees::default() {
            self.table("pool.frees", frees);
        }
        if let Some(bytes) = mark_above_bytes {
            self.text("pool.mark_above", &Size::new(*bytes));
        }
        if reserved_bytes > 0 {
            self.text("reserved", &Size::new(reserved_bytes));
        }
        // A link has its own alpha or that of the policy.
        let parameters = policy.parameters();
        self.0.remove("pool.policy.alpha");
        if let Some(of_policy) = parameters.alpha() {
            self.add("alpha", alpha.unwrap_or(of_policy).into());
        }
        if let Some(port) = port.filter(|_| parameters.has_ports()) {
            self.add("port", port.into());
        }
        if let Some(priority) = priority.filter(|_| parameters.look_interval().is_some()) {
            self.add("priority", priority.into());
        }
    }
}
