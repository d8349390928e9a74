//! The words that people type for the names of this project.

/// Words in lower case without hyphens and underscores, and the names that they may mean, the most likely first. Names of a scenario,
/// of metrics, of units and of options are in one table: what is no candidate where a word is typed
/// does not count there.
const SYNONYMS: &[(&str, &[&str])] = &[
    // Metrics, keys and options.
    ("bandwidth", &["rate", "rate_bps", "goodput_bps", "capacity_bps"]),
    ("buffer", &["limit", "queue"]),
    ("buffersize", &["limit", "size"]),
    ("delay", &["queue_delay_s_p99", "queue_delay_s_mean", "rtt"]),
    ("droprate", &["loss_fraction"]),
    ("fairness", &["jain_index"]),
    ("fct", &["completion_time_s_p99", "completion_time_s_mean"]),
    ("jct", &["completion_time_s_p99", "completion_time_s_mean"]),
    ("lag", &["queue_delay_s_p99", "queue_delay_s_mean"]),
    ("latency", &["queue_delay_s_p99", "queue_delay_s_mean", "delay", "rtt"]),
    ("lossrate", &["loss_fraction"]),
    ("packetloss", &["loss_fraction"]),
    ("ping", &["rtt", "rtt_s_mean"]),
    ("sojourn", &["queue_delay_s_p99", "queue_delay_s_mean"]),
    ("speed", &["rate"]),
    ("aqm", &["queue"]),
    ("cc", &["congestion"]),
    ("congestioncontrol", &["congestion"]),
    ("discipline", &["queue"]),
    ("qdisc", &["queue"]),
    ("tcp", &["congestion"]),
    ("throughput", &["goodput_bps", "utilization"]),
    ("ports", &["hosts"]),
    ("servers", &["hosts"]),
    ("mtu", &["packet_size"]),
    ("cwnd", &["cwnd_packets", "max_window"]),
    ("time", &["duration"]),
    ("cpus", &["workers"]),
    ("jobs", &["workers"]),
    ("threads", &["workers"]),
    ("output", &["out"]),
    ("repeat", &["seeds"]),
    ("runs", &["seeds"]),
    // Kinds of components.
    ("bbr", &["bbr1"]),
    ("bbrv1", &["bbr1"]),
    ("bbrv2", &["bbr3"]),
    ("bbrv3", &["bbr3"]),
    ("hstcp", &["highspeed"]),
    ("newreno", &["reno"]),
    ("hystart++", &["hystart_plus_plus"]),
    ("fifo", &["drop_tail"]),
    ("pfifo", &["drop_tail"]),
    ("bfifo", &["drop_tail"]),
    ("dualq", &["dual_pi2"]),
    ("sqm", &["cake"]),
    ("drr", &["fair"]),
    ("fq", &["fair", "fq_codel"]),
    ("sfq", &["fair", "fq_codel"]),
    ("threshold", &["step_mark"]),
    ("dt", &["dynamic_threshold"]),
    ("ftp", &["bulk"]),
    ("greedy", &["bulk"]),
    ("http", &["web", "objects"]),
    ("udp", &["cbr"]),
    ("video", &["streaming"]),
    ("voip", &["cbr"]),
    // Units; those that differ in case alone need no line.
    ("k", &["kbit/s", "kB"]),
    ("m", &["Mbit/s", "MB"]),
    ("g", &["Gbit/s", "GB"]),
    ("gbe", &["Gbit/s"]),
    ("kb/s", &["kbit/s"]),
    ("mb/s", &["Mbit/s"]),
    ("gb/s", &["Gbit/s"]),
    ("mbits", &["Mbit/s"]),
    ("gbits", &["Gbit/s"]),
    ("byte", &["B"]),
    ("bytes", &["B"]),
    ("pkt", &["packets"]),
    ("pkts", &["packets"]),
    ("p", &["packets"]),
    ("hour", &["h"]),
    ("hours", &["h"]),
    ("minute", &["min"]),
    ("minutes", &["min"]),
    ("millisecond", &["ms"]),
    ("milliseconds", &["ms"]),
    ("msec", &["ms"]),
    ("sec", &["s"]),
    ("second", &["s"]),
    ("seconds", &["s"]),
    ("usec", &["us"]),
    ("µs", &["us"]),
    ("μs", &["us"]),
];

/// Words whose meaning here needs a sentence: the word, the name that must be a candidate, and the
/// sentence.
const REMARKS: &[(&str, &str, &str)] = &[
    ("bbr", "bbr1", "Linux's `bbr` is version 1"),
    ("bbrv2", "bbr3", "Version 2 became version 3"),
    ("ports", "hosts", "The switch has a port per host and per uplink"),
];

/// The names that a word means, the most likely first.
pub(super) fn of(word: &str) -> &'static [&'static str] {
    SYNONYMS.iter().find(|(typed, _)| *typed == word).map_or(&[], |(_, names)| names)
}

/// What to say about a word where `name` is what it means.
pub(super) fn remark(word: &str, name: &str) -> Option<&'static str> {
    let found = REMARKS.iter().find(|(typed, meant, _)| *typed == word && *meant == name);
    found.map(|(.., remark)| *remark)
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use super::*;

    #[test]
    fn a_word_stands_once_and_as_names_are_compared() {
        let words: HashSet<&str> = SYNONYMS.iter().map(|(word, _)| *word).collect();
        assert_eq!(words.len(), SYNONYMS.len());
        assert!(words.iter().all(|word| *word == super::super::plain(word)));
    }

    #[test]
    fn a_remark_is_about_what_a_word_means() {
        for (word, name, _) in REMARKS {
            assert!(of(word).contains(name), "{word}");
        }
    }
}
