//! The packets that an import left out, and the reasons.

/// The reasons for which a packet or block is left out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Skip {
    /// Anything but IPv4 and IPv6, such as ARP.
    NotIp,
    /// IP with a protocol other than TCP.
    NotTcp,
    /// An IP fragment without the TCP header; the receiver's ACKs still account for its bytes.
    Fragment,
    /// The capture kept too little of the packet to hold the ports and sequence numbers.
    CutOff,
    /// Header lengths that contradict one another.
    Malformed,
    /// A sequence number further away than any window (RFC 7323 sec. 2.3).
    OutOfWindow,
    /// A link layer that this crate does not know.
    UnknownLink,
    /// A pcapng packet of an interface that no block has described.
    UnknownInterface,
    /// A pcapng Simple Packet Block, or an obsolete Packet Block.
    NoTime,
    /// A pcap packet whose time has a fraction of a second that is not below a second.
    BadTime,
    /// A pcapng block whose frame is valid and whose content is not.
    BadBlock,
}

impl Skip {
    /// Every reason, in the order of the enum, with the words for the user.
    const ALL: [(Skip, &str); 11] = [
        (Skip::NotIp, "not IP"),
        (Skip::NotTcp, "not TCP"),
        (Skip::Fragment, "IP fragments without TCP header"),
        (Skip::CutOff, "cut off before the end of the TCP header"),
        (Skip::Malformed, "malformed headers"),
        (Skip::OutOfWindow, "sequence number out of any window"),
        (Skip::UnknownLink, "unknown link layer"),
        (Skip::UnknownInterface, "undescribed interface"),
        (Skip::NoTime, "block type without time"),
        (Skip::BadTime, "time with a second or more of fraction"),
        (Skip::BadBlock, "corrupted block"),
    ];
}

/// The packets that an import read, and those that it left out.
#[derive(Clone, Debug, Default)]
pub struct Report {
    /// Packets in the capture, skipped ones included.
    pub packets: u64,
    /// Bytes that receivers acknowledged and the capture lacks; flows include them.
    pub unseen_bytes: u64,
    /// Place and reason if reading ended before the end of the file.
    pub broken: Option<(u64, String)>,
    skipped: [u64; Skip::ALL.len()],
}

impl Report {
    /// Counts a packet or block that is left out.
    pub fn skip(&mut self, reason: Skip) {
        self.skipped[reason as usize] += 1;
    }

    /// Takes back one that proved to belong to its flow.
    pub fn withdraw(&mut self, reason: Skip) {
        self.skipped[reason as usize] = self.skipped[reason as usize].saturating_sub(1);
    }

    /// Number of packets and blocks that were left out for this reason.
    pub fn skipped(&self, reason: Skip) -> u64 {
        self.skipped[reason as usize]
    }

    /// The reasons that occurred, in words, with their counts.
    pub fn reasons(&self) -> Vec<(&'static str, u64)> {
        Skip::ALL
            .iter()
            .map(|&(reason, words)| (words, self.skipped(reason)))
            .filter(|&(_, count)| count > 0)
            .collect()
    }
}
