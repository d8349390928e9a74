//! Parameters of CAKE, named as in tc-cake(8).

use super::framing::FramingKeyword;
use super::isolation::Isolation;
use super::tins::Diffserv;
use crate::derives::{Deserialize, JsonSchema, Ranges, Serialize};
use crate::framing::{Cells, Framing, MOST_OVERHEAD_BYTES};
use crate::packet::addresses::Headers;
use crate::quantity::limit::QueueLimit;
use crate::quantity::{BitRate, PositiveDuration, Size, SizeOrZero};
use crate::queue::{BadParameter, LinkInfo, Parameters};
use crate::units::Rate;

/// The least memory of a shaped queue, and the packets of the largest size that no default exceeds.
const LEAST_MEMORY_BYTES: u64 = 4 << 20;
const MOST_PACKETS: u64 = 10_240;
/// The round trip that CAKE assumes of the internet.
const RTT: PositiveDuration = PositiveDuration::from_milliseconds(100);

/// Parameters of CAKE.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema, Ranges)]
#[serde(default, deny_unknown_fields)]
#[non_exhaustive]
pub struct CakeParams {
    /// Rate of the shaper (`bandwidth` of tc), at most that of the link; sizes count with their framing.
    /// Left out, CAKE does not shape (`unlimited`).
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(example = "45 Mbit/s")]
    pub rate: Option<BitRate>,
    /// Follow the rate at which packets arrive: the rate is 15/16 of a mean of its peaks, and changes
    /// every 250 ms at most (`autorate-ingress`). It begins at `rate`.
    pub autorate_ingress: bool,
    /// The round trip that is assumed (100 ms, `internet`; `lan` is 1 ms, `metro` 10 ms, `regional` 30 ms,
    /// `oceanic` 300 ms, `satellite` 1 s). A twentieth of it may persist as delay.
    pub rtt: PositiveDuration,
    /// How code points (`dscp` of a group) are sorted into tins.
    pub diffserv: Diffserv,
    /// What has queues and shares of its own; hosts are those of `hosts` of a group.
    pub isolation: Isolation,
    /// Overhead and cells of a kind of line, instead of `overhead`, `mpu` and `cells` (`raw`).
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(example = &"docsis")]
    pub framing: Option<FramingKeyword>,
    /// Bytes that the line adds to each packet; at most 256 B.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(example = "18 B")]
    pub overhead: Option<SizeOrZero>,
    /// Fewest bytes of a packet on the line, with its overhead; at most 256 B.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(example = "64 B")]
    pub mpu: Option<Size>,
    /// Cells of the line.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(example = &"ptm")]
    pub cells: Option<Cells>,
    /// Shape what has crossed the bottleneck before (`ingress`): drops are charged, too, and more bulk
    /// flows are allowed more delay.
    pub ingress: bool,
    /// Memory of the packets, at least one of the largest, counted as Linux does: a packet of 1500 B takes
    /// 2304 B. When it is full, packets leave the head of the longest queue. Default: four times what `rate`
    /// sends in `rtt`, at least 4 MiB, at most 10240 of the largest packets; without a rate, these.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(example = "8 MB")]
    pub memlimit: Option<Size>,
    /// Size of all queues together, as other disciplines count it. The default leaves the limit to
    /// `memlimit`, as in Linux.
    pub limit: QueueLimit,
}

impl Default for CakeParams {
    fn default() -> Self {
        CakeParams {
            rate: None,
            autorate_ingress: false,
            rtt: RTT,
            diffserv: Diffserv::default(),
            isolation: Isolation::default(),
            framing: None,
            overhead: None,
            mpu: None,
            cells: None,
            ingress: false,
            memlimit: None,
            limit: QueueLimit::bytes(MOST_PACKETS * u64::from(super::ETHERNET_BYTES)),
        }
    }
}

impl CakeParams {
    /// The framing by its keyword or by its parts.
    pub(super) fn line(&self) -> Framing {
        if let Some(keyword) = self.framing {
            return keyword.framing();
        }
        // A network built by hand is asked before it is checked.
        let bytes = |bytes: u64| bytes.min(MOST_OVERHEAD_BYTES) as u32;
        Framing {
            overhead: bytes(self.overhead.map_or(0, SizeOrZero::bytes)),
            mpu: bytes(self.mpu.map_or(0, Size::bytes)),
            cells: self.cells,
        }
    }

    /// Memory of the packets at this rate, where the largest has so many bytes.
    pub(super) fn memory(&self, rate: Option<Rate>, packet_bytes: u32) -> u64 {
        let most = MOST_PACKETS * u64::from(packet_bytes);
        let four_round_trips = |rate: Rate| rate.bytes_in(self.rtt.time()).saturating_mul(4);
        let default =
            || rate.map_or(most, |rate| four_round_trips(rate).clamp(LEAST_MEMORY_BYTES, most));
        self.memlimit.map_or_else(default, Size::bytes)
    }
}

/// Memory that Linux counts for a packet: its data with 64 B before and 320 B behind it, rounded up to a power
/// of two, and 256 B that describe it.
pub(super) fn true_size(packet_bytes: u32) -> u64 {
    u64::from((packet_bytes + 64 + 320).next_power_of_two()) + 256
}

impl Parameters for CakeParams {
    fn limit(&self) -> QueueLimit {
        self.limit
    }

    fn amounts(&mut self) -> Vec<(&'static str, &mut QueueLimit)> {
        vec![("limit", &mut self.limit)]
    }

    fn binding(&self) -> &'static [&'static str] {
        &["rtt"]
    }

    fn validate(&self, link: &LinkInfo) -> Result<(), BadParameter> {
        if let Some(rate) = self.rate
            && rate.rate() > link.rate
        {
            let link_rate = BitRate::new(link.rate.bits_per_second());
            let problem = format!("{rate} is above the rate of the link, {link_rate}");
            let remedy =
                "lower it to what the line carries, or remove it: CAKE then does not shape";
            return Err(BadParameter::new("rate", problem, remedy));
        }
        if self.framing.is_some() {
            let parts = [
                ("overhead", self.overhead.is_some()),
                ("mpu", self.mpu.is_some()),
                ("cells", self.cells.is_some()),
            ];
            if let Some((key, _)) = parts.into_iter().find(|(_, is_given)| *is_given) {
                let problem = "contradicts `framing`, which has its own";
                return Err(BadParameter::new(
                    key,
                    problem,
                    format!("remove `framing` or `{key}`"),
                ));
            }
        }
        let sizes = [
            ("overhead", self.overhead.map_or(0, SizeOrZero::bytes)),
            ("mpu", self.mpu.map_or(0, Size::bytes)),
        ];
        for (key, bytes) in sizes {
            if bytes > MOST_OVERHEAD_BYTES {
                let problem = format!("{bytes} B is out of range");
                let remedy = format!("write at most \"{MOST_OVERHEAD_BYTES} B\"");
                return Err(BadParameter::new(key, problem, remedy));
            }
        }
        let tells_hosts = !matches!(
            self.isolation,
            Isolation::Flowblind | Isolation::Flows | Isolation::TripleIsolate
        );
        if tells_hosts && !link.headers.is_empty() && !link.headers.iter().any(Headers::names_hosts)
        {
            let problem = "tells hosts apart, and each flow of the link has hosts of its own";
            let remedy = "give a group `hosts = { sources = 2 }`, or write \"flows\"";
            return Err(BadParameter::new("isolation", problem, remedy));
        }
        let needed = true_size(link.packet_bytes);
        if let Some(memory) = self.memlimit.filter(|memory| memory.bytes() < needed) {
            let problem = format!("{memory} hold no packet of {} B", link.packet_bytes);
            let remedy =
                format!("write at least \"{needed} B\", the memory that Linux counts for one");
            return Err(BadParameter::new("memlimit", problem, remedy));
        }
        Ok(())
    }
}
