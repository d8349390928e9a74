//! Records of pcap and pcapng files, read as a stream.
//!
//! `pcap-parser` reads headers, records, blocks and options. The frame of a block (type and length)
//! is checked here first, so that a block with damaged content can be skipped.

use std::io::{self, Read};

use pcap_parser::pcapng::{parse_block_be, parse_block_le};
use pcap_parser::{
    Block, InterfaceDescriptionBlock, PcapHeader, PcapNGOption, parse_pcap_frame,
    parse_pcap_frame_be, parse_pcap_header,
};

use crate::report::Skip;
use crate::segment::Frame;

/// Largest part of a packet that libpcap keeps (`MAXIMUM_SNAPLEN`).
const LONGEST_PACKET: u32 = 262_144;
/// Longest block that libpcap and Wireshark read.
const LONGEST_BLOCK: usize = 16 << 20;
const READ_AHEAD: usize = 256 << 10;
const NS_PER_S: i128 = 1_000_000_000;

const SECTION_HEADER: u32 = 0x0a0d_0d0a;
const BYTE_ORDER_MAGIC: u32 = 0x1a2b_3c4d;
const OBSOLETE_PACKET: u32 = 2;
const INTERFACE_TIME_OFFSET: u16 = 14;
const PCAP_HEADER_BYTES: usize = 24;
const RECORD_HEADER_BYTES: usize = 16;
const SMALLEST_BLOCK: usize = 12;

/// The reasons for which reading ends before the end of the file.
#[derive(Debug)]
pub enum Stop {
    /// The operating system cannot read the file any further.
    Io(io::Error),
    /// The bytes at this place are not part of a capture.
    Broken(String),
}

impl From<io::Error> for Stop {
    fn from(error: io::Error) -> Self {
        Stop::Io(error)
    }
}

/// The content of a record.
#[derive(Debug)]
pub enum Record<'a> {
    /// A packet and its time since 1970.
    Packet(i64, Frame<'a>),
    /// A packet or block that cannot be used.
    Skipped(Skip),
    /// A record that is not a packet.
    Other,
}

/// A capture file, read record by record.
pub struct CaptureFile<R> {
    input: Window<R>,
    format: Format,
}

enum Format {
    Pcap { header: PcapHeader, link_type: u32 },
    PcapNg { big_endian: bool, interfaces: Vec<Interface> },
}

#[derive(Clone, Copy)]
struct Interface {
    link_type: u32,
    units_per_s: i128,
    offset_s: i64,
}

impl<R: Read> CaptureFile<R> {
    /// Recognizes the format by the first bytes.
    ///
    /// # Errors
    ///
    /// The file cannot be read, or is not a capture.
    pub fn new(input: R) -> Result<Self, Stop> {
        let mut input = Window { input, buffer: Vec::new(), start: 0, offset: 0 };
        input.require(PCAP_HEADER_BYTES)?;
        let data = input.data();
        if data.is_empty() {
            return Err(Stop::Broken("the file is empty".to_owned()));
        }
        let format = if data.starts_with(&SECTION_HEADER.to_be_bytes()) {
            Format::PcapNg { big_endian: false, interfaces: Vec::new() }
        } else if let Ok((_, header)) = parse_pcap_header(data) {
            let link_type = (header.network.0 as u32) & 0xffff; // above: length of a checksum
            input.consume(PCAP_HEADER_BYTES);
            Format::Pcap { header, link_type }
        } else {
            return Err(Stop::Broken(not_a_capture(data).to_owned()));
        };
        Ok(CaptureFile { input, format })
    }

    /// Byte offset of the next record.
    pub fn offset(&self) -> u64 {
        self.input.offset
    }

    /// The next record, or `None` at the end of the file.
    ///
    /// # Errors
    ///
    /// The file cannot be read any further, or the next bytes are not a record.
    pub fn next_record(&mut self) -> Result<Option<Record<'_>>, Stop> {
        let available = self.input.require(SMALLEST_BLOCK)?;
        if available == 0 {
            return Ok(None);
        }
        match &mut self.format {
            Format::Pcap { header, link_type } => {
                pcap_record(&mut self.input, header, *link_type).map(Some)
            }
            Format::PcapNg { big_endian, interfaces } => {
                pcapng_block(&mut self.input, big_endian, interfaces).map(Some)
            }
        }
    }
}

fn not_a_capture(data: &[u8]) -> &'static str {
    match data {
        [0x1f, 0x8b, ..] => "it is compressed; unpack it first, with gunzip",
        [0x28, 0xb5, 0x2f, 0xfd, ..] => "it is compressed; unpack it first, with zstd -d",
        _ if data.len() < PCAP_HEADER_BYTES
            && parse_pcap_header(data).is_err_and(|e| e.is_incomplete()) =>
        {
            "it ends within the header of a capture"
        }
        _ => "it is not a packet capture; give a file in the format pcap or pcapng",
    }
}

fn pcap_record<'a, R: Read>(
    input: &'a mut Window<R>,
    header: &PcapHeader,
    link_type: u32,
) -> Result<Record<'a>, Stop> {
    let available = input.require(RECORD_HEADER_BYTES)?;
    if available < RECORD_HEADER_BYTES {
        return Err(cut_off());
    }
    let word: [u8; 4] = input.data()[8..12].try_into().unwrap_or_default();
    let big_endian = header.is_bigendian();
    let kept = if big_endian { u32::from_be_bytes(word) } else { u32::from_le_bytes(word) };
    if kept > LONGEST_PACKET {
        return Err(Stop::Broken(format!("a packet of {kept} bytes")));
    }
    // The "modified" format of old Linux patches has eight more bytes in front of each packet.
    let extra = if header.is_modified_format() { 8 } else { 0 };
    let length = RECORD_HEADER_BYTES + extra + kept as usize;
    if input.require(length)? < length {
        return Err(cut_off());
    }
    let data = input.take(length);
    let parse = if big_endian { parse_pcap_frame_be } else { parse_pcap_frame };
    let (_, record) = parse(data).map_err(|_| cut_off())?;
    let nanosecond = header.is_nanosecond_precision();
    let fraction = i64::from(record.ts_usec) * if nanosecond { 1 } else { 1000 };
    if fraction >= NS_PER_S as i64 {
        return Ok(Record::Skipped(Skip::BadTime));
    }
    let time_ns = i64::from(record.ts_sec) * NS_PER_S as i64 + fraction;
    let data = &data[RECORD_HEADER_BYTES + extra..];
    let frame = Frame { link_type, data, original_bytes: record.origlen };
    Ok(Record::Packet(time_ns, frame))
}

fn pcapng_block<'a, R: Read>(
    input: &'a mut Window<R>,
    big_endian: &mut bool,
    interfaces: &mut Vec<Interface>,
) -> Result<Record<'a>, Stop> {
    if input.data().len() < SMALLEST_BLOCK {
        return Err(cut_off());
    }
    let word = |at: usize, big: bool| {
        let bytes: [u8; 4] = input.data()[at..at + 4].try_into().unwrap_or_default();
        if big { u32::from_be_bytes(bytes) } else { u32::from_le_bytes(bytes) }
    };
    let kind = word(0, *big_endian);
    if kind == SECTION_HEADER {
        *big_endian = word(8, true) == BYTE_ORDER_MAGIC;
        interfaces.clear();
    }
    let length = word(4, *big_endian) as usize;
    if !(SMALLEST_BLOCK..=LONGEST_BLOCK).contains(&length) || !length.is_multiple_of(4) {
        return Err(Stop::Broken(format!("a block of {length} bytes")));
    }
    if input.require(length)? < length {
        return Err(cut_off());
    }
    let big = *big_endian;
    let data = input.data();
    if data[4..8] != data[length - 4..length] {
        return Err(Stop::Broken("a block whose two lengths differ".to_owned()));
    }
    let data = input.take(length);
    let parse = if big { parse_block_be } else { parse_block_le };
    let Ok((_, block)) = parse(data) else {
        if kind == SECTION_HEADER {
            return Err(Stop::Broken("a damaged section header".to_owned()));
        }
        return Ok(Record::Skipped(Skip::BadBlock));
    };
    Ok(match block {
        Block::InterfaceDescription(description) => {
            interfaces.push(Interface::new(&description, big));
            Record::Other
        }
        Block::EnhancedPacket(packet) => {
            let Some(interface) = interfaces.get(packet.if_id as usize) else {
                return Ok(Record::Skipped(Skip::UnknownInterface));
            };
            let ticks = u64::from(packet.ts_high) << 32 | u64::from(packet.ts_low);
            let kept = packet.data.len().min(packet.caplen as usize);
            let frame = Frame {
                link_type: interface.link_type,
                data: &packet.data[..kept],
                original_bytes: packet.origlen,
            };
            Record::Packet(interface.time_ns(ticks), frame)
        }
        Block::SimplePacket(_) => Record::Skipped(Skip::NoTime),
        Block::Unknown(_) if kind == OBSOLETE_PACKET => Record::Skipped(Skip::NoTime),
        _ => Record::Other,
    })
}

impl Interface {
    fn new(description: &InterfaceDescriptionBlock<'_>, big_endian: bool) -> Self {
        // pcap-parser 0.17 knows only decimal resolutions, and reads the offset as little-endian.
        let exponent = u32::from(description.if_tsresol & 0x7f);
        let base = if description.if_tsresol & 0x80 == 0 { 10_i128 } else { 2 };
        let offset = |option: &PcapNGOption<'_>| {
            let bytes: [u8; 8] = option.value().try_into().ok()?;
            Some(if big_endian { i64::from_be_bytes(bytes) } else { i64::from_le_bytes(bytes) })
        };
        Interface {
            link_type: description.linktype.0 as u32,
            units_per_s: base.checked_pow(exponent).unwrap_or(i128::MAX),
            offset_s: description
                .options
                .iter()
                .find(|option| option.code.0 == INTERFACE_TIME_OFFSET)
                .and_then(offset)
                .unwrap_or(0),
        }
    }

    fn time_ns(self, ticks: u64) -> i64 {
        let time = i128::from(ticks) * NS_PER_S / self.units_per_s;
        let time = time + i128::from(self.offset_s) * NS_PER_S;
        time.clamp(i128::from(i64::MIN), i128::from(i64::MAX)) as i64
    }
}

fn cut_off() -> Stop {
    Stop::Broken("the file ends in the middle of a record".to_owned())
}

/// The part of a file that is in memory.
struct Window<R> {
    input: R,
    buffer: Vec<u8>,
    /// Where unread bytes begin in the buffer.
    start: usize,
    /// The same place in the file.
    offset: u64,
}

impl<R: Read> Window<R> {
    fn data(&self) -> &[u8] {
        &self.buffer[self.start..]
    }

    /// Reads until the buffer has `length` bytes or the file ends; returns the number of bytes.
    fn require(&mut self, length: usize) -> io::Result<usize> {
        if self.data().len() < length {
            self.buffer.drain(..self.start);
            self.start = 0;
            let missing = length.max(READ_AHEAD) - self.buffer.len();
            self.input.by_ref().take(missing as u64).read_to_end(&mut self.buffer)?;
        }
        Ok(self.data().len())
    }

    fn consume(&mut self, length: usize) {
        self.start += length;
        self.offset += length as u64;
    }

    fn take(&mut self, length: usize) -> &[u8] {
        let start = self.start;
        self.consume(length);
        &self.buffer[start..start + length]
    }
}
