//! The sizes of ACKs: those of the headers of data, whatever sets these.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on fails")]

use crate::support::scenario_text::{base_with, resolve};

const RTT: &str = "rtt = \"80 ms\"";

/// IPv4 and TCP have 20 B each, timestamps 12 B (Linux `TCPOLEN_TSTAMP_ALIGNED`), Ethernet 14 B.
#[test]
fn an_ack_is_as_large_as_the_headers_of_data() {
    for (keys, bytes) in [
        ("", 52),
        ("host = \"data_center\"", 52),
        ("host = \"plain\"", 40),
        ("host = \"ns2\"", 40),
        ("rtt_samples = \"karn\"", 40),
        ("header_size = \"66 B\"", 66),
        ("header_size = \"66 B\"\nack_size = \"64 B\"", 64),
        ("header_size = \"40 B\"", 52),
        ("host = \"plain\"\nack_size = \"20 B\"", 20),
    ] {
        let network = resolve(&base_with(RTT, &format!("{RTT}\n{keys}")));
        assert_eq!(network.groups[0].ack_sizes().unwrap().least, bytes, "{keys}");
    }
}
