//! Headers of packets: which flow a packet belongs to, its ECN field, and what TCP says in it.

use tailroom_engine::packet::Ecn;

const TCP: u8 = 6;
const UDP: u8 = 17;
const LEAST_HEADER: usize = 20;
/// Fragment offset: 13 bits. Only the first fragment has the ports.
const OFFSET_BITS: u16 = 0x1fff;
/// Byte of the TCP header whose upper half is the header's length in words.
const OFFSET_BYTE: usize = 12;
const FLAGS_BYTE: usize = 13;
const SYN: u8 = 2;
const NO_OPERATION: u8 = 1;
const SACK: u8 = 5;
const TIMESTAMPS: u8 = 8;

/// What the link reads of a packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Header {
    /// The ECN field.
    pub ecn: Ecn,
    /// Port of the host that sent the packet.
    pub source_port: u16,
    /// Port of the host that will receive the packet.
    pub destination_port: u16,
}

/// Reads the header of an IPv4 packet (RFC 791) with TCP or UDP in it; `None` for other packets.
pub fn parse(packet: &[u8]) -> Option<Header> {
    let word = |at: usize| Some(u16::from_be_bytes([*packet.get(at)?, *packet.get(at + 1)?]));
    let first = *packet.first()?;
    let header_bytes = usize::from(first & 0xf) * 4;
    if first >> 4 != 4 || header_bytes < LEAST_HEADER || word(6)? & OFFSET_BITS != 0 {
        return None;
    }
    matches!(*packet.get(9)?, TCP | UDP).then_some(())?;
    Some(Header {
        ecn: Ecn::from_bits(u32::from(packet[1])),
        source_port: word(header_bytes)?,
        destination_port: word(header_bytes + 2)?,
    })
}

/// What the link reads of a TCP segment.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Segment {
    /// Sequence number of the first byte, or of the SYN.
    pub sequence: u32,
    /// The next byte that the sender of the segment expects; 0 in the first segment of all.
    pub acknowledgment: u32,
    /// Whether it is the first one of its sender.
    pub is_syn: bool,
    /// Payload.
    pub payload_bytes: u32,
}

/// Reads the TCP header (RFC 9293) of an IPv4 packet; `None` for other packets.
pub fn segment(packet: &[u8]) -> Option<Segment> {
    parse(packet)?;
    let start = usize::from(packet[0] & 0xf) * 4;
    let word = |at: usize| {
        let bytes = packet.get(start + at..start + at + 4)?;
        bytes.try_into().ok().map(u32::from_be_bytes)
    };
    let header_bytes = usize::from(*packet.get(start + OFFSET_BYTE)? >> 4) * 4;
    let is_tcp = packet[9] == TCP && header_bytes >= LEAST_HEADER;
    let payload = packet.len().checked_sub(start + header_bytes)?;
    is_tcp.then_some(Segment {
        sequence: word(4)?,
        acknowledgment: word(8)?,
        is_syn: packet.get(start + FLAGS_BYTE)? & SYN != 0,
        payload_bytes: payload as u32,
    })
}

/// Options of a TCP segment.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Options {
    /// Value and echo of the timestamps (RFC 7323).
    pub timestamps: Option<[u32; 2]>,
    /// SACK blocks (RFC 2018), each the first sequence number and the one after the last.
    pub blocks: Vec<[u32; 2]>,
}

/// Reads the options of a TCP segment ([`segment`]); those behind a damaged one are left out.
pub fn options(packet: &[u8]) -> Options {
    let mut found = Options::default();
    let start = packet.first().map_or(0, |first| usize::from(first & 0xf) * 4);
    let header_bytes = usize::from(packet.get(start + OFFSET_BYTE).map_or(0, |byte| byte >> 4)) * 4;
    let mut rest = packet.get(start + LEAST_HEADER..start + header_bytes).unwrap_or_default();
    while let Some((&kind, behind)) = rest.split_first() {
        if kind == NO_OPERATION {
            rest = behind;
            continue;
        }
        let length = behind.first().map_or(0, |&length| usize::from(length));
        let Some((option, next)) = rest.split_at_checked(length).filter(|_| length >= 2) else {
            break; // the end of the list too
        };
        let (pairs, _) = option[2..].as_chunks::<8>();
        let mut pairs = pairs.iter().map(|pair| {
            let number = |at: usize| u32::from_be_bytes([0, 1, 2, 3].map(|byte| pair[at + byte]));
            [number(0), number(4)]
        });
        match kind {
            TIMESTAMPS => found.timestamps = pairs.next(),
            SACK => found.blocks = pairs.collect(),
            _ => {}
        }
        rest = next;
    }
    found
}

/// Whether a packet carries payload of TCP.
pub fn is_data(packet: &[u8]) -> bool {
    segment(packet).is_some_and(|segment| segment.payload_bytes > 0)
}

/// Sets the ECN field of an IPv4 packet to Congestion Experienced, and corrects the checksum.
pub fn mark(packet: &mut [u8]) {
    let [version, fields, ..] = *packet else { return };
    let marked = fields | Ecn::Ce as u8;
    let (old, new) = (u16::from_be_bytes([version, fields]), u16::from_be_bytes([version, marked]));
    let checksum = u16::from_be_bytes([packet[10], packet[11]]);
    packet[1] = marked;
    packet[10..12].copy_from_slice(&corrected(checksum, old, new).to_be_bytes());
}

/// The checksum of a header in which one word has changed (RFC 1624 eqn. 3).
fn corrected(checksum: u16, old: u16, new: u16) -> u16 {
    let sum = u32::from(!checksum) + u32::from(!old) + u32::from(new);
    let once = (sum & 0xffff) + (sum >> 16);
    !((once & 0xffff) + (once >> 16)) as u16
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A SYN of 60 bytes from 10.77.0.1:40000 to 10.77.0.2:10003, with the checksum left out.
    fn packet(ecn: Ecn) -> Vec<u8> {
        let mut packet = vec![0x45, ecn as u8, 0, 60, 0x12, 0x34, 0x40, 0, 64, TCP, 0, 0];
        packet.extend([10, 77, 0, 1, 10, 77, 0, 2, 0x9c, 0x40, 0x27, 0x13]);
        packet.resize(60, 0);
        let checksum = !sum(&packet);
        packet[10..12].copy_from_slice(&checksum.to_be_bytes());
        packet
    }

    /// The ones' complement sum of the words of the header; all ones if the checksum is right.
    fn sum(packet: &[u8]) -> u16 {
        let words = packet[..20].chunks(2).map(|pair| u32::from(pair[0]) << 8 | u32::from(pair[1]));
        let mut sum: u32 = words.sum();
        while sum > 0xffff {
            sum = (sum & 0xffff) + (sum >> 16);
        }
        sum as u16
    }

    #[test]
    fn reads_ports_and_ecn_field() {
        let header = parse(&packet(Ecn::Ect0)).expect("a TCP packet");
        assert_eq!((header.source_port, header.destination_port), (40_000, 10_003));
        assert_eq!(header.ecn, Ecn::Ect0);
        // Options move the ports.
        let mut longer = packet(Ecn::NotEct);
        longer[0] = 0x46;
        longer.splice(20..20, [1, 1, 1, 1]);
        assert_eq!(parse(&longer).expect("a TCP packet").destination_port, 10_003);
    }

    #[test]
    fn a_segment_tells_its_numbers_and_its_payload() {
        let mut syn = packet(Ecn::NotEct);
        syn[24..28].copy_from_slice(&7_u32.to_be_bytes());
        syn[32..34].copy_from_slice(&[10 << 4, SYN]);
        let none = Segment { sequence: 7, acknowledgment: 0, is_syn: true, payload_bytes: 0 };
        assert_eq!(segment(&syn), Some(none));
        assert!(!is_data(&syn));
        let mut data = syn.clone();
        data.resize(1_500, 0);
        data[28..32].copy_from_slice(&9_u32.to_be_bytes());
        data[32..34].copy_from_slice(&[8 << 4, 0x10]);
        let all = Segment { sequence: 7, acknowledgment: 9, is_syn: false, payload_bytes: 1_448 };
        assert_eq!(segment(&data), Some(all));
        assert!(is_data(&data));
        data[9] = UDP;
        assert_eq!(segment(&data), None);
        assert!((0..60).all(|bytes| segment(&syn[..bytes]).is_none()));
    }

    /// As Linux writes them: two bytes of padding, the timestamps, two more, and the blocks.
    #[test]
    fn options_are_timestamps_and_blocks() {
        let mut ack = packet(Ecn::NotEct)[..40].to_vec();
        ack.extend([1, 1, TIMESTAMPS, 10, 0, 0, 0, 3, 0, 0, 1, 2, 1, 1, SACK, 18]);
        ack.extend([0, 0, 0, 7, 0, 0, 0, 9, 255, 255, 255, 255, 0, 0, 0, 5]);
        ack[32] = ((ack.len() as u8 - 20) / 4) << 4;
        let all = Options { timestamps: Some([3, 258]), blocks: vec![[7, 9], [u32::MAX, 5]] };
        assert_eq!(options(&ack), all);
        ack[55] = 200; // longer than the header
        assert_eq!(options(&ack), Options { blocks: Vec::new(), ..all });
        assert!((0..40).all(|bytes| options(&ack[..bytes]) == Options::default()));
    }

    #[test]
    fn other_packets_have_no_header() {
        let changed = |at: usize, value: u8| {
            let mut packet = packet(Ecn::NotEct);
            packet[at] = value;
            parse(&packet)
        };
        assert_eq!(changed(0, 0x65), None, "IPv6");
        assert_eq!(changed(0, 0x44), None, "a header too short");
        assert_eq!(changed(9, 1), None, "ICMP");
        assert_eq!(changed(7, 1), None, "a later fragment");
        let whole = packet(Ecn::NotEct);
        assert!((0..24).all(|bytes| parse(&whole[..bytes]).is_none()));
        assert!(parse(&whole[..24]).is_some());
    }

    #[test]
    fn a_mark_changes_the_ecn_field_and_keeps_the_checksum_right() {
        for ecn in [Ecn::Ect0, Ecn::Ect1, Ecn::Ce] {
            for identification in [0, 1, 0x7fff, 0xfffe, 0xffff_u16] {
                let mut marked = packet(ecn);
                marked[4..6].copy_from_slice(&identification.to_be_bytes());
                marked[10..12].fill(0);
                let checksum = !sum(&marked);
                marked[10..12].copy_from_slice(&checksum.to_be_bytes());
                let before = marked.clone();
                mark(&mut marked);
                assert_eq!(parse(&marked).expect("a TCP packet").ecn, Ecn::Ce);
                assert_eq!(sum(&marked), 0xffff);
                let differ = |at: &usize| marked[*at] != before[*at];
                assert!((0..marked.len()).filter(differ).all(|at| [1, 10, 11].contains(&at)));
            }
        }
    }
}
