//! Finds the TCP header of a packet behind any link layer.

use std::fmt;
use std::net::{IpAddr, SocketAddr};

use etherparse::err::ip::LaxHeaderSliceError;
use etherparse::err::ipv6_exts::HeaderSliceError;
use etherparse::{Ipv6ExtensionSlice, LaxIpSlice, ip_number};

use crate::report::Skip;

/// One end of a connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Endpoint {
    /// IPv4 or IPv6.
    pub address: IpAddr,
    /// TCP port.
    pub port: u16,
}

impl fmt::Display for Endpoint {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        SocketAddr::new(self.address, self.port).fmt(formatter)
    }
}

/// The parts of a TCP segment that are needed to follow a flow.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Segment {
    /// The end that sent the segment.
    pub source: Endpoint,
    /// The end that receives it.
    pub destination: Endpoint,
    /// Sequence number of the first byte.
    pub sequence: u32,
    /// The sequence number that the sender expects next; valid only with the flag ACK.
    pub acknowledgment: u32,
    /// The byte of flags (RFC 9293 sec. 3.1).
    pub flags: u8,
    /// Payload as sent, whether or not the capture kept it.
    pub payload_bytes: u32,
    /// The whole IP packet as sent.
    pub ip_bytes: u32,
}

impl Segment {
    /// Whether the segment ends its direction.
    pub fn fin(&self) -> bool {
        self.flags & 0x01 != 0
    }

    /// Whether the segment opens the connection.
    pub fn syn(&self) -> bool {
        self.flags & 0x02 != 0
    }

    /// Whether the segment ends the connection.
    pub fn rst(&self) -> bool {
        self.flags & 0x04 != 0
    }

    /// Whether `acknowledgment` is valid.
    pub fn ack(&self) -> bool {
        self.flags & 0x10 != 0
    }
}

/// A frame as captured: the first bytes of `original_bytes` that were on the wire.
#[derive(Clone, Copy, Debug)]
pub struct Frame<'a> {
    /// Link-layer header type (tcpdump.org/linktypes.html).
    pub link_type: u32,
    /// The bytes that the capture kept.
    pub data: &'a [u8],
    /// Length on the wire.
    pub original_bytes: u32,
}

/// Up to the flags: ports, both numbers, data offset. The rest of the header may be cut off.
const NEEDED_TCP_BYTES: usize = 14;

/// Finds the TCP segment in a frame.
///
/// # Errors
///
/// The frame has no TCP header, or the header cannot be read; the reason says which.
pub fn read(frame: Frame<'_>) -> Result<Segment, Skip> {
    let link_bytes = link_header(frame.link_type, frame.data)?;
    let packet = &frame.data[link_bytes..];
    let (ip, stopped) = LaxIpSlice::from_slice(packet).map_err(|error| match error {
        LaxHeaderSliceError::Len(_) => Skip::CutOff,
        LaxHeaderSliceError::Content(_) => Skip::Malformed,
    })?;
    if let Some((error, _)) = stopped {
        return Err(match error {
            HeaderSliceError::Len(_) => Skip::CutOff,
            HeaderSliceError::Content(_) => Skip::Malformed,
        });
    }
    if ip.payload().ip_number != ip_number::TCP {
        return Err(Skip::NotTcp);
    }
    if ip.payload().fragmented && fragment_offset(&ip) > 0 {
        return Err(Skip::Fragment);
    }
    let on_wire = frame.original_bytes.saturating_sub(link_bytes as u32);
    let (header_bytes, ip_bytes) = ip_lengths(&ip, on_wire);
    let tcp_bytes = ip_bytes.checked_sub(header_bytes).ok_or(Skip::Malformed)?;
    tcp(&ip, tcp_bytes, ip_bytes)
}

fn tcp(ip: &LaxIpSlice<'_>, tcp_bytes: u32, ip_bytes: u32) -> Result<Segment, Skip> {
    let header: &[u8; NEEDED_TCP_BYTES] = ip.payload().payload.first_chunk().ok_or(Skip::CutOff)?;
    let short = |at: usize| u16::from_be_bytes([header[at], header[at + 1]]);
    let long = |at: usize| u32::from(short(at)) << 16 | u32::from(short(at + 2));
    let header_bytes = u32::from(header[12] >> 4) * 4;
    let payload_bytes = tcp_bytes.checked_sub(header_bytes).ok_or(Skip::Malformed)?;
    if header_bytes < 20 {
        return Err(Skip::Malformed);
    }
    Ok(Segment {
        source: Endpoint { address: ip.source_addr(), port: short(0) },
        destination: Endpoint { address: ip.destination_addr(), port: short(2) },
        sequence: long(4),
        acknowledgment: long(8),
        flags: header[13],
        payload_bytes,
        ip_bytes,
    })
}

/// Length of the link-layer header, VLAN tags included, in front of an IP packet.
fn link_header(link_type: u32, data: &[u8]) -> Result<usize, Skip> {
    match link_type {
        0 | 108 => Ok(4), // BSD loopback: an address family, then IP, which says its version itself
        1 => ether_type(data, 12),
        12 | 14 | 101 | 228 | 229 => Ok(0), // raw IP; 12 and 14 are what BSDs write for it
        113 => ether_type(data, 14),        // Linux cooked
        276 => match ether_type(data, 0)? {
            2 => Ok(20), // Linux cooked, version 2, has its EtherType in front
            _ => Err(Skip::NotIp),
        },
        _ => Err(Skip::UnknownLink),
    }
    .and_then(|length| if length > data.len() { Err(Skip::CutOff) } else { Ok(length) })
}

/// Where the IP packet begins behind the `EtherType` at `at` and any VLAN tags.
fn ether_type(data: &[u8], mut at: usize) -> Result<usize, Skip> {
    loop {
        let kind = data.get(at..at + 2).ok_or(Skip::CutOff)?;
        match u16::from_be_bytes([kind[0], kind[1]]) {
            0x0800 | 0x86dd => return Ok(at + 2),
            0x8100 | 0x88a8 | 0x9100 => at += 4, // IEEE 802.1Q, 802.1ad and its forerunner
            _ => return Err(Skip::NotIp),
        }
    }
}

/// Bytes of the IP headers, and of the whole packet.
///
/// A length of zero is filled in by the network card after the capture point, or belongs to a
/// packet beyond 64 KiB; the length on the wire is then used.
fn ip_lengths(ip: &LaxIpSlice<'_>, on_wire: u32) -> (u32, u32) {
    match ip {
        LaxIpSlice::Ipv4(ip) => {
            let header = ip.header();
            let extension = ip.extensions().auth.map_or(0, |auth| auth.slice().len());
            let total = u32::from(header.total_len());
            let total = if total == 0 { on_wire } else { total };
            ((header.slice().len() + extension) as u32, total)
        }
        LaxIpSlice::Ipv6(ip) => {
            let fixed = ip.header().slice().len() as u32;
            let payload = u32::from(ip.header().payload_length());
            let total = if payload == 0 { on_wire } else { fixed + payload };
            (fixed + ip.extensions().slice().len() as u32, total)
        }
    }
}

fn fragment_offset(ip: &LaxIpSlice<'_>) -> u16 {
    match ip {
        LaxIpSlice::Ipv4(ip) => ip.header().fragments_offset().value(),
        LaxIpSlice::Ipv6(ip) => ip
            .extensions()
            .clone()
            .into_iter()
            .find_map(|extension| match extension {
                Ipv6ExtensionSlice::Fragment(fragment) => Some(fragment.fragment_offset().value()),
                _ => None,
            })
            .unwrap_or(0),
    }
}
