//! The two hosts: network namespaces of the kernel, each with one TUN device.
//!
//! The namespaces have no name. They, their devices, addresses, routes and settings exist as long as
//! this process has them open, and no longer, whatever ends it.

use std::collections::BTreeMap;
use std::fs::{self, File};
use std::io;
use std::net::Ipv4Addr;

use serde::Serialize;

use crate::system::{self, Setting};

const DEVICE: &str = "link0";
/// Addresses of host A and host B, in a network that exists only in their namespaces.
const ADDRESSES: [Ipv4Addr; 2] = [Ipv4Addr::new(10, 77, 0, 1), Ipv4Addr::new(10, 77, 0, 2)];
/// Packets that may wait for the link to read them: more than any window, so that none is dropped.
const DEVICE_QUEUE_PACKETS: u32 = 50_000;

/// Settings of a host that are not the kernel's own, by their path below `/proc/sys/net/ipv4`.
pub const SETTINGS: &[(&str, &str)] = &[
    // Otherwise a connection inherits ssthresh from those before it.
    ("tcp_no_metrics_save", "1"),
    // Otherwise the memory of the sockets limits the window.
    ("tcp_wmem", "4096 1048576 268435456"),
    ("tcp_rmem", "4096 33554432 268435456"),
];

/// A host.
#[derive(Debug)]
pub struct Host {
    /// Its address.
    pub address: Ipv4Addr,
    /// Its network namespace.
    pub namespace: File,
    /// Its TUN device: what it sends is read from here, what it receives is written here.
    pub device: File,
}

/// Packets that a host's device has dropped or found wrong.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct DeviceCounts {
    /// Packets from the link.
    pub received_packets: u64,
    /// Of these, wrong or dropped ones.
    pub receive_drops_packets: u64,
    /// Packets to the link.
    pub sent_packets: u64,
    /// Packets to the link that were dropped because it did not read them in time.
    pub send_drops_packets: u64,
}

impl Host {
    /// Creates host 0 or 1, with packets of `mtu` bytes at most. The calling thread is in its
    /// network namespace afterwards.
    pub fn new(number: usize, mtu: u32) -> io::Result<Self> {
        system::enter_new_network()?;
        let namespace = File::open("/proc/thread-self/ns/net")?;
        let _ = fs::write("/proc/sys/net/ipv6/conf/all/disable_ipv6", "1"); // may not exist
        for (name, value) in SETTINGS {
            set(name, value)?;
        }
        let device = system::open_tun(DEVICE)?;
        let address = ADDRESSES[number];
        for setting in [
            Setting::Mtu(mtu),
            Setting::QueueLength(DEVICE_QUEUE_PACKETS),
            Setting::Address(address),
            Setting::Mask(Ipv4Addr::new(255, 255, 255, 0)),
            Setting::Up,
        ] {
            system::configure(DEVICE, setting)?;
        }
        Ok(Host { address, namespace, device })
    }

    /// What the device has counted. The calling thread is in the host's network namespace
    /// afterwards.
    pub fn counts(&self) -> io::Result<DeviceCounts> {
        system::enter_network(&self.namespace)?;
        let text = fs::read_to_string("/proc/thread-self/net/dev")?;
        parse_counts(&text).ok_or_else(|| io::Error::other(format!("no device {DEVICE}")))
    }
}

/// Every readable setting of TCP in the thread's network namespace, by name.
pub fn settings() -> BTreeMap<String, String> {
    let files = fs::read_dir("/proc/sys/net/ipv4").into_iter().flatten().flatten();
    let named = files.filter_map(|file| file.file_name().into_string().ok());
    let of_tcp = named.filter(|name| name.starts_with("tcp_"));
    let read = |name: String| {
        let value = fs::read_to_string(format!("/proc/sys/net/ipv4/{name}")).ok()?;
        Some((name, value.split_whitespace().collect::<Vec<_>>().join(" ")))
    };
    of_tcp.filter_map(read).collect()
}

/// Writes a setting of the thread's network namespace.
pub fn set(name: &str, value: &str) -> io::Result<()> {
    fs::write(format!("/proc/sys/net/ipv4/{name}"), value)
        .map_err(|error| io::Error::other(format!("net.ipv4.{name} = {value}: {error}")))
}

/// The counts of the device in the text of `/proc/net/dev`: bytes, packets, errors, drops, ... of
/// what it receives, eight in all, then the same of what it sends.
fn parse_counts(text: &str) -> Option<DeviceCounts> {
    let line = text.lines().find_map(|line| line.trim().strip_prefix(DEVICE)?.strip_prefix(':'))?;
    let values: Vec<u64> = line.split_whitespace().map_while(|word| word.parse().ok()).collect();
    let value = |at: usize| values.get(at).copied();
    Some(DeviceCounts {
        received_packets: value(1)?,
        receive_drops_packets: value(2)? + value(3)?,
        sent_packets: value(9)?,
        send_drops_packets: value(10)? + value(11)?,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn device_counts_are_read_from_the_kernels_table() {
        let text = "Inter-|   Receive    |  Transmit\n face |bytes    packets errs drop\n    \
                    lo: 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16\n \
                    link0:  1500       1    2    3    0     0          0         0  3000   20   \
                    30   40    0     0       0          0\n";
        let counts = parse_counts(text).expect("the device");
        assert_eq!((counts.received_packets, counts.receive_drops_packets), (1, 5));
        assert_eq!((counts.sent_packets, counts.send_drops_packets), (20, 70));
        assert_eq!(parse_counts("lo: 1 2 3"), None);
    }
}
