//! The queue and the ingress of a port, in the units of devices.

use super::wred::Wred;
use crate::port_setting::Taking;

/// The queue of a port.
#[derive(PartialEq)]
pub(super) struct Queue {
    /// Its limit.
    pub(super) bytes: u64,
    pub(super) rate_bps: u64,
    /// None behind a tail drop.
    pub(super) wred: Option<Wred>,
    /// None if the memory is the port's own.
    pub(super) shared: Option<Shared>,
    /// Whether the far end pauses the port, so that it must not drop.
    pub(super) is_lossless: bool,
}

/// The place of a queue in memory that ports share.
#[derive(PartialEq)]
pub(super) struct Shared {
    /// Memory of the pool, with all reserves.
    pub(super) pool_bytes: u64,
    pub(super) reserved_bytes: u64,
    pub(super) threshold: Threshold,
}

/// What a queue may take of shared memory beyond its reserve.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Threshold {
    /// 2^n times what is free.
    Dynamic(i32),
    Static(u64),
}

/// What a port may take at the far end of its line.
#[derive(PartialEq)]
pub(super) struct Ingress {
    /// Memory that it has to itself.
    pub(super) own_bytes: u64,
    pub(super) threshold: Threshold,
    /// None without pause frames: what does not fit is dropped.
    pub(super) pause: Option<Pause>,
    /// None if the ingress shares nothing.
    pub(super) pool: Option<IngressPool>,
}

/// Amounts in bytes.
#[derive(PartialEq)]
pub(super) struct Pause {
    pub(super) xon: u64,
    pub(super) xon_offset: u64,
    pub(super) headroom: u64,
}

/// Memory that ingresses share.
#[derive(PartialEq)]
pub(super) struct IngressPool {
    /// Without what each has to itself.
    pub(super) shared_bytes: u64,
    /// Headroom that they share; none if each has its own.
    pub(super) headroom_bytes: Option<u64>,
    pub(super) includes_headroom: bool,
}

impl Queue {
    pub(super) fn of(port: &Taking) -> Result<Self, String> {
        let queue = Queue {
            bytes: port.amount_bytes("queue.limit").ok_or("the queue has no limit")?,
            rate_bps: port.bits_per_second("rate").unwrap_or_default(),
            wred: Wred::of(port)?,
            shared: Shared::of(port)?,
            is_lossless: port.has("pause.xoff"),
        };
        port.text("queue.kind");
        if queue.shared.as_ref().is_some_and(|shared| queue.bytes < shared.pool_bytes) {
            port.leave("queue.limit", "the threshold in the pool is the only limit of its queues");
        }
        Ok(queue)
    }

    /// The time in which the link sends the limit, in whole microseconds; none if they are so few
    /// that one of them is more than 1 %.
    pub(super) fn microseconds(&self) -> Option<u64> {
        let us = u128::from(self.bytes) * 8_000_000 / u128::from(self.rate_bps.max(1));
        (us >= 100).then_some(us as u64)
    }

    /// An amount in whole percent of the limit.
    pub(super) fn percent(&self, bytes: u64) -> u64 {
        (u128::from(bytes) * 100 / u128::from(self.bytes.max(1))) as u64
    }
}

impl Shared {
    fn of(port: &Taking) -> Result<Option<Self>, String> {
        if port.text("pool").is_none() {
            return Ok(None);
        }
        let pool_bytes = port.bytes("pool.size").unwrap_or_default();
        let threshold = match port.text("pool.policy.kind").unwrap_or_default() {
            "dynamic_threshold" => {
                // All packets of the queue count, as on devices.
                port.built_in("pool.policy.limits", "queue");
                Threshold::Dynamic(exponent(port, "alpha")?)
            }
            "static_threshold" => {
                Threshold::Static(port.bytes("pool.policy.threshold").unwrap_or_default())
            }
            "complete_sharing" => Threshold::Static(pool_bytes),
            other => {
                return Err(format!("devices have dynamic and static thresholds, not {other}"));
            }
        };
        for key in ["pool.cell", "pool.frees"] {
            port.leave(key, "a property of the chip, and no setting");
        }
        let reserved_bytes = port.bytes("reserved").unwrap_or_default();
        Ok(Some(Shared { pool_bytes, reserved_bytes, threshold }))
    }
}

impl Ingress {
    /// None without pause frames and shared memory.
    pub(super) fn of(port: &Taking) -> Result<Option<Self>, String> {
        if !port.has("pause.xoff") && !port.has("ingress.pool") {
            return Ok(None);
        }
        let pause = port.bytes("pause.headroom").map(|headroom| Pause {
            xon: port.bytes("pause.xon").unwrap_or_default(),
            xon_offset: port.bytes("ingress.xon_offset").unwrap_or_default(),
            headroom,
        });
        let pool = port.value("ingress.pool").map(|_| IngressPool {
            shared_bytes: port.bytes("ingress.pool.size").unwrap_or_default(),
            headroom_bytes: port.bytes("ingress.pool.headroom"),
            includes_headroom: port.flag("ingress.pool.includes_headroom"),
        });
        let threshold = match pool {
            Some(_) => Threshold::Dynamic(exponent(port, "ingress.alpha")?),
            None => Threshold::Static(0),
        };
        port.leave(
            "ingress.pool.includes_headroom",
            "devices set headroom apart: the size is the same, and less of it is shared",
        );
        port.leave("pause.response_time", "a property of the peer, and no setting");
        port.leave("pause_frames_over", "a property of the peer, and no setting");
        let own_bytes = port.bytes("pause.xoff").unwrap_or_default();
        Ok(Some(Ingress { own_bytes, threshold, pause, pool }))
    }
}

/// n of alpha = 2^n.
fn exponent(port: &Taking, key: &str) -> Result<i32, String> {
    let alpha = port.number(key);
    let found = (-128..=127).find(|&n| alpha.total_cmp(&2_f64.powi(n)).is_eq());
    found.ok_or_else(|| format!("devices have an alpha of 2^n, and {key} is {alpha}"))
}

#[cfg(test)]
mod tests {
    use super::Queue;

    /// A queue behind a tail drop.
    fn queue(bytes: u64, rate_bps: u64) -> Queue {
        Queue { bytes, rate_bps, wred: None, shared: None, is_lossless: false }
    }

    #[test]
    fn a_limit_in_microseconds_is_the_largest_whole_number_that_does_not_exceed_it() {
        for rate_bps in [7_000, 1_000_000_000, 400_000_000_000] {
            for bytes in [1, 1499, 1500, 502_500, 16_000_000_000] {
                let bits = |us: u128| us * u128::from(rate_bps);
                let exact = u128::from(bytes) * 8 * 1_000_000;
                match queue(bytes, rate_bps).microseconds().map(u128::from) {
                    Some(us) => assert!(bits(us) <= exact && exact < bits(us + 1)),
                    None => assert!(exact < bits(100)),
                }
            }
        }
        assert_eq!(queue(502_500, 1_000_000_000).microseconds(), Some(4020));
    }

    #[test]
    fn percent_are_of_the_limit_and_rounded_down() {
        assert_eq!(queue(25_500, 1).percent(15_000), 58); // 58.8
        assert_eq!(queue(25_500, 1).percent(25_500), 100);
    }
}
