//! The scenario that the benchmarks share: flows over one link.

/// Switches off the random delay that senders have by default.
pub(crate) const NO_JITTER: &str = "send_jitter = \"none\"\n";

/// A dumbbell of `flows` permanent flows; their sizes, RTTs and the limit of the buffer are texts of
/// the scenario format.
#[expect(clippy::too_many_arguments, reason = "a table of cases reads best as rows")]
pub(crate) fn dumbbell(
    rate: &str,
    flows: u32,
    congestion: &str,
    packet_size: &str,
    shortest: &str,
    longest: &str,
    limit: &str,
    duration_s: u32,
) -> String {
    format!(
        r#"
title = "bench"
duration = "{duration_s} s"
memory_limit = "16 GB"
[defaults]
host = "plain"
[links.bottleneck]
rate = "{rate}"
delay = "10 ms"
queue = {{ kind = "drop_tail", limit = "{limit}" }}
[flows.tcp]
count = {flows}
path = ["bottleneck"]
congestion = {{ kind = "{congestion}" }}
packet_size = "{packet_size}"
rtt = {{ from = "{shortest}", to = "{longest}" }}
access_rate = "40 Gbit/s"
start = {{ from = "0 s", to = "0.5 s" }}
{NO_JITTER}"#
    )
}
