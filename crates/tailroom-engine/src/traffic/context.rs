//! What a source may know about the group of flows that it belongs to.

use crate::distribution::Distribution;
use crate::distribution::config::FileTexts;
use crate::fabric::HostPairs;
use crate::random::{Stream, stream};
use crate::units::{Rate, Time};

/// Draws from which [`Group::mean_excess`] is estimated. Only what the last packet of a flow has
/// too much is, less than a packet, so that a load is off by less than one part in 10,000 (in the
/// scenarios of the papers by 2e-5 at most). [`Distribution::mean_steps`] has the exact mean, which
/// models read; with it here, every arrival of a published run would come at another time.
const DRAWS: u32 = 10_000;

/// A group of flows: its name, the root of its random streams, and its packets.
#[derive(Clone, Copy, Debug)]
pub struct Group<'a> {
    /// Key in the scenario's `[flows]` table, which names random streams.
    pub name: &'a str,
    /// Root of every random stream.
    pub seed: u64,
    /// Size of a data packet on the wire, in bytes.
    pub packet_bytes: u32,
    /// Part of it that is header.
    pub header_bytes: u32,
    /// The hosts between which its flows run, if they have no path.
    pub hosts: Option<&'a HostPairs>,
}

impl Group<'_> {
    /// Payload of a full packet, in bytes.
    pub fn payload_bytes(&self) -> f64 {
        f64::from(self.packet_bytes) - f64::from(self.header_bytes)
    }

    /// The stream from which a source of flows draws one quantity, such as `"sizes"`. A stream for
    /// each quantity: changing one leaves the others alone.
    pub fn stream(&self, quantity: &str) -> Stream {
        stream(self.seed, &format!("{quantity} of flows of {}", self.name))
    }

    /// Mean bytes on the wire of a flow whose payload is drawn from `size`: a header for each
    /// packet.
    pub fn mean_wire_bytes(&self, size: &Distribution) -> f64 {
        size.mean() + f64::from(self.header_bytes) * size.mean_steps(self.payload_bytes())
    }

    /// The same, estimated from draws: loads go by it.
    pub fn estimated_wire_bytes(&self, size: &Distribution) -> f64 {
        let (header, payload) = (f64::from(self.header_bytes), self.payload_bytes());
        let excess = self.mean_excess("size", |stream| {
            let packets = libm::ceil(size.sample(stream)).max(1.0) / payload;
            (packets, libm::ceil(packets))
        });
        size.mean() + header * (size.mean() / payload + excess)
    }

    /// How much larger the second number of a draw is than the first, on average.
    pub fn mean_excess(
        &self,
        quantity: &str,
        mut draw: impl FnMut(&mut Stream) -> (f64, f64),
    ) -> f64 {
        let mut stream = self.stream(&format!("mean {quantity}"));
        let excess = (0..DRAWS).map(|_| {
            let (exact, rounded) = draw(&mut stream);
            rounded - exact
        });
        excess.sum::<f64>() / f64::from(DRAWS)
    }

    /// Draws of a size for analytic models, from a stream of their own.
    pub fn model_draws(&self, count: usize, what: &str, size: &Distribution) -> Vec<f64> {
        let mut random = stream(self.seed, &format!("outline of {what} of {}", self.name));
        (0..count).map(|_| size.sample(&mut random)).collect()
    }
}

/// What the parameters of a source are resolved against.
#[derive(Clone, Debug)]
pub struct GroupContext<'a> {
    /// The group.
    pub group: Group<'a>,
    /// Name and initial rate of each link on the path, in order; a link without a rate is refused
    /// elsewhere.
    pub links: Vec<(&'a str, Option<Rate>)>,
    /// What the interfaces of all hosts that send, or of all that receive if that is less, carry
    /// together.
    pub hosts_rate: Option<Rate>,
    /// Files that the scenario names, by their path.
    pub files: &'a FileTexts,
    /// What the keys of the group say of flows that arrive and depart.
    pub flows: DynamicFlows,
}

/// What the keys of a group say of flows that arrive and depart; a source of another kind does not
/// read it.
#[derive(Clone, Debug)]
pub struct DynamicFlows {
    /// When the first one may arrive.
    pub start: Time,
    /// From when on none arrives; [`Time::NEVER`] if there is no such time.
    pub stop: Time,
    /// Two-way propagation delay, in picoseconds.
    pub rtt: Distribution,
    /// Rate of a flow's own access link, in bit/s; `None` for one that takes no time.
    pub access_rate: Option<Distribution>,
}

impl Default for DynamicFlows {
    fn default() -> Self {
        let (start, stop) = (Time::ZERO, Time::NEVER);
        DynamicFlows { start, stop, rtt: Distribution::Fixed(0.0), access_rate: None }
    }
}

/// A permanent flow, as its packet source starts.
#[derive(Clone, Copy, Debug)]
pub struct StartingFlow<'a> {
    /// Its name, which names random streams.
    pub name: &'a str,
    /// Root of every random stream.
    pub seed: u64,
    /// Size of a data packet on the wire, in bytes.
    pub packet_bytes: u32,
    /// When it starts.
    pub start: Time,
}

impl StartingFlow<'_> {
    /// The stream from which the flow draws one quantity, such as `"gaps"`. A stream for each
    /// quantity: changing one leaves the others alone.
    pub fn stream(&self, quantity: &str) -> Stream {
        stream(self.seed, &format!("{quantity} of {}", self.name))
    }
}
