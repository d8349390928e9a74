//! Configuration of a port's buffer, of WRED with ECN, and of memory that ports share, on switches and
//! routers.
//!
//! Each file names the manual or model that its lines follow; no line was tried on a device.
//! `PORT`, `QUEUE`, `PG`, `POOL`, `POLICY` and `CLASS` stand for names of the device, `tailroom` for new
//! profiles. Ports with the same setting have a profile in common; of several profiles, each ends with the
//! name of its first link. Amounts are rounded down to the step of the device.

mod eos;
mod ios_xr;
mod junos;
pub mod openconfig;
mod queue;
pub mod sonic;
mod sr_os;
mod wred;

use std::collections::{BTreeMap, BTreeSet};

use crate::bottleneck::Bottleneck;
use crate::port_setting::{Equivalent, LeftOut, Taking};
use queue::Queue;

/// A system of switches or routers.
pub struct Device {
    /// Its short name, such as `sonic`.
    pub key: &'static str,
    /// Its name, and the form of its configuration.
    title: &'static str,
    write: fn(&[Taking]) -> Result<Lines, String>,
}

/// The systems in whose words a buffer is written.
pub const DEVICES: [Device; 6] =
    [sonic::DEVICE, openconfig::DEVICE, ios_xr::DEVICE, junos::DEVICE, eos::DEVICE, sr_os::DEVICE];

impl Device {
    /// The configuration of a port, or of the ports that share memory, or a sentence that says why the
    /// system has none.
    pub fn equivalent(&self, links: &[Bottleneck]) -> Equivalent {
        let ports: Vec<Taking> = links.iter().map(Taking::of).collect();
        let mut written = match (self.write)(&ports) {
            Ok(found) => found,
            Err(reason) => return Equivalent::none(self.title, &reason),
        };
        written.notes.extend(never_reached(&ports));
        let each = ports.iter().map(presupposed).collect::<BTreeSet<String>>();
        let each = each.into_iter().collect::<Vec<String>>().join(" and ");
        Equivalent {
            tool: self.title.to_owned(),
            purpose: format!("not tried on a device; for {each}; {}", written.purpose),
            text: written.text,
            notes: written.notes,
            left_out: self.left_out(links, &ports),
        }
    }
}

impl Device {
    /// What the lines do not carry; with the names of the links where it is not of all of them.
    fn left_out(&self, links: &[Bottleneck], ports: &[Taking]) -> Vec<LeftOut> {
        let mut of: BTreeMap<LeftOut, Vec<&str>> = BTreeMap::new();
        for (link, port) in links.iter().zip(ports) {
            for left in port.left_out(self.title) {
                of.entry(left).or_default().push(&link.name);
            }
        }
        of.into_iter()
            .flat_map(|(left, names)| {
                if names.len() == links.len() {
                    return vec![left];
                }
                let in_full = |name: &&str| format!("links.{name}.{}", left.key);
                let keys = names.iter().map(in_full);
                keys.map(|key| LeftOut { key, reason: left.reason.clone() }).collect()
            })
            .collect()
    }
}

/// Rate and delay of a port, which its lines presuppose.
fn presupposed(port: &Taking) -> String {
    let rate = port.text("rate").unwrap_or_default();
    let delay = port.text("delay").unwrap_or_default();
    format!("ports of {rate} whose cables have a delay of {delay}")
}

/// The upper thresholds that lie above the limit of their queue, or above all its memory.
fn never_reached(ports: &[Taking]) -> BTreeSet<String> {
    let of = |port: &Taking| {
        let queue = Queue::of(port).ok()?;
        let memory = queue.shared.as_ref().map_or(u64::MAX, |shared| shared.pool_bytes);
        let (most, limit) = (queue.wred?.max_bytes, queue.bytes.min(memory));
        (most > limit).then(|| {
            format!(
                "the upper threshold of {most} bytes is above the limit of {limit} bytes and is never \
                 reached"
            )
        })
    };
    ports.iter().filter_map(of).collect()
}

/// What is written for a system.
struct Lines {
    /// Where the lines belong.
    purpose: String,
    text: String,
    /// What else they need or do, a sentence each.
    notes: Vec<String>,
}

/// Ports that have the same lines.
struct Group<T> {
    /// End of the names of its profiles; empty if there is one group.
    suffix: String,
    /// Its links.
    links: Vec<String>,
    lines: T,
}

impl<T> Group<T> {
    fn named(&self, name: &str) -> String {
        format!("{name}{}", self.suffix)
    }
}

/// The ports by what `write` makes of each, in order.
fn groups<T: PartialEq>(
    ports: &[Taking],
    write: impl Fn(&Taking) -> Result<T, String>,
) -> Result<Vec<Group<T>>, String> {
    let mut groups: Vec<Group<T>> = Vec::new();
    for port in ports {
        let (lines, link) = (write(port)?, port.link.name.clone());
        match groups.iter_mut().find(|group| group.lines == lines) {
            Some(group) => group.links.push(link),
            None => groups.push(Group { suffix: format!("_{link}"), links: vec![link], lines }),
        }
    }
    if let [only] = groups.as_mut_slice() {
        only.suffix.clear();
    }
    Ok(groups)
}

/// Which links the profiles are for, if there are several.
fn members<T>(groups: &[Group<T>]) -> Option<String> {
    let each = groups.iter().map(|group| {
        let (first, more) = (&group.links[0], group.links.len() - 1);
        let others = if more == 0 { String::new() } else { format!(" and {more} more") };
        format!("{} is for link {first}{others}", group.named("tailroom"))
    });
    (groups.len() > 1).then(|| each.collect::<Vec<_>>().join("; "))
}

/// Commands, one a line.
fn commands(lines: &[String]) -> String {
    lines.join("\n")
}

/// Why a system that knows the queue of a port alone has no lines for a pool.
fn no_pool(queue: &Queue) -> Result<(), String> {
    match queue.shared {
        None => Ok(()),
        Some(_) => {
            Err("tailroom has no source for its configuration of memory that ports share".into())
        }
    }
}
