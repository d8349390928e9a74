//! Thresholds of pause frames that move with memory, headroom outside and in it, and lossy packets that take
//! of the same memory, against closed forms.

use std::fmt::Write;

use tailroom_engine::results::{Results, WarningKind};

use crate::support::paused_links::{stream, value, warning, wire};
use crate::support::refusals::assert_refused;
use crate::support::scenario_run::{refusal, run};
use crate::support::summaries::link;

/// Four links to switches whose next links stand still, in Gbit/s from a time in milliseconds on; the ingress
/// of each has 5 kB to itself and half of the free memory of 400 kB.
fn shared_memory(headroom: &str, opens_at: [Option<f64>; 4]) -> String {
    let mut text =
        format!("duration = \"40 ms\"\n[ingress_pools.memory]\nsize = \"400 kB\"\n{headroom}\n");
    for (index, opens_at) in opens_at.iter().enumerate() {
        let opens = opens_at.map(|at| format!(", {{ at = \"{at} ms\", rate = \"10 Gbit/s\" }}"));
        let stop = format!(
            "changes = [{{ at = \"0 s\", rate = \"0 bit/s\" }}{}]",
            opens.unwrap_or_default()
        );
        let keys = "pause = { xoff = \"5 kB\", xon = \"4 kB\", headroom = \"20 kB\" }
            ingress = { pool = \"memory\", alpha = 0.5, xon_offset = \"1 kB\" }";
        text += &wire(&format!("in{index}"), 10.0, keys);
        text += &wire(&format!("out{index}"), 10.0, &stop);
        let name = format!("f{index}");
        text += &stream(&name, &format!("[\"in{index}\", \"out{index}\"]"), "cbr", 10.0);
        text += if opens_at.is_some() { "stop = \"5 ms\"\n" } else { "" };
    }
    text
}

/// What the ingress of a link has taken of the shared memory when nothing moves any more, in bytes.
fn shared_bytes(results: &Results, index: usize) -> f64 {
    let summary = link(&results.summary, &format!("in{index}"));
    let [most, headroom] = [summary.ingress_bytes_max, summary.headroom_bytes_max];
    most.expect("it is measured") - headroom.expect("it is measured") - 5_000.0
}

/// The closed form of Choudhury and Hahne 1998: n queues at their thresholds of alpha times the free
/// memory B hold alpha B / (1 + n alpha) each. While one is filled up to its threshold the others may
/// still take a packet each, which moves it by alpha packets.
#[test]
fn ingresses_that_share_memory_stop_at_the_dynamic_threshold() {
    let results = run(&shared_memory("", [None; 4]), 1);
    for index in 0..4 {
        let shared = shared_bytes(&results, index);
        let (expected, bound) = (0.5 * 400e3 / (1.0 + 4.0 * 0.5), 1_000.0 + 4.0 * 500.0);
        assert!((shared - expected).abs() < bound, "{shared}, expected {expected}");
        assert_eq!(link(&results.summary, &format!("out{index}")).drops_packets, 0);
    }
}

#[test]
fn shared_headroom_is_too_short_if_no_link_could_stop_in_time_alone() {
    let results = run(&shared_memory("headroom = \"1 kB\"", [None; 4]), 1);
    let short = warning(&results, WarningKind::ShortHeadroom).expect("it is reported");
    assert!(short.place.starts_with("links.in0.ingress.pool, links.in1.ingress.pool"), "{short:?}");
    // 2 d C + 84 B + 60 quanta and two packets of 1,000 B less a byte.
    let needed = 2_500.0 + 84.0 + 60.0 * 64.0 + 1_999.0;
    assert_eq!((value(short, "headroom_bytes"), value(short, "needed_bytes")), (1_000.0, needed));
}

/// When two of the ports drain, the thresholds of the others rise to alpha B / (1 + 2 alpha), and their
/// links resume although nothing has left them.
#[test]
fn a_paused_link_resumes_when_others_drain() {
    let results = run(&shared_memory("", [None, None, Some(20.0), Some(20.0)]), 1);
    for index in 0..2 {
        let shared = shared_bytes(&results, index);
        let (expected, bound) = (0.5 * 400e3 / (1.0 + 2.0 * 0.5), 2_000.0 + 2.0 * 500.0);
        assert!((shared - expected).abs() < bound, "{shared}, expected {expected}");
        assert!(link(&results.summary, &format!("in{index}")).pause_frames > Some(1));
        assert_eq!(link(&results.summary, &format!("out{index}")).departures_packets, 0);
    }
}

/// What arrives of each link after its threshold, 2 d C + 84 B + 60 quanta and a packet, is between 6,424 and
/// 8,424 B: four times as much is enough, and twice is not.
#[test]
fn headroom_may_be_shared() {
    for (headroom, is_enough) in [(34, true), (16, false)] {
        let results = run(&shared_memory(&format!("headroom = \"{headroom} kB\""), [None; 4]), 1);
        let drops = (0..4).map(|index| {
            link(&results.summary, &format!("out{index}")).by_reason.drops_headroom_packets
        });
        assert_eq!(drops.sum::<u64>() == 0, is_enough, "{headroom} kB");
    }
}

/// The same links with headroom in the memory, of this size, which begin to send at these times in
/// milliseconds.
fn memory_with_headroom(size: &str, starts: [f64; 4]) -> String {
    let mut text = shared_memory("includes_headroom = true", [None; 4])
        .replace("\"400 kB\"\nincludes", &format!("\"{size}\"\nincludes"));
    for (index, start) in starts.iter().enumerate() {
        let group = format!("[flows.f{index}]\n");
        text = text.replace(&group, &format!("{group}start = \"{start} ms\"\n"));
    }
    text
}

/// Links that stop one after another. Of F bytes that are free, a link takes s = alpha F / (1 + alpha) up
/// to its threshold and h of headroom, and leaves F / (1 + alpha) - h to the next; h is between 6,424 and
/// 8,424 B. The packet that crosses a threshold moves it by alpha packets, so that s is off by 1,500 B.
#[test]
fn headroom_in_the_memory_lowers_the_thresholds_of_those_that_follow() {
    let results = run(&memory_with_headroom("400 kB", [0.0, 1.0, 2.0, 3.0]), 1);
    let (mut free, mut free_bound) = (400e3, 0.0);
    for index in 0..4 {
        let (shared, expected) = (shared_bytes(&results, index), 0.5 * free / 1.5);
        let bound = free_bound / 3.0 + 1_500.0;
        assert!((shared - expected).abs() < bound, "{index}: {shared}, expected {expected}");
        (free, free_bound) = (free / 1.5 - 7_424.0, free_bound / 1.5 + 1_500.0 + 1_000.0);
        assert_eq!(link(&results.summary, &format!("out{index}")).drops_packets, 0);
    }
    // Outside the memory, headroom leaves more to the last link than the formula allows.
    let outside = 400e3 / 1.5_f64.powi(3) * 0.5 / 1.5;
    let (last, bound) = (0.5 * (free + 7_424.0), (free_bound - 2_500.0) * 1.5 / 3.0 + 1_500.0);
    assert!(outside - last > bound, "{outside}, {last}, {bound}");
}

/// n links that stop together leave B / (1 + n alpha) of the memory B for headroom: enough if it is n
/// times the 8,424 B that may arrive of each, and not if it is less than n times 6,424 B, by more than
/// the alpha (n - 1) 3 packets that a link takes less if it crosses its threshold last.
#[test]
fn headroom_in_the_memory_needs_what_the_thresholds_leave() {
    let together = |size| run(&memory_with_headroom(size, [0.0; 4]), 1);
    let drops = |results: &Results| -> u64 {
        let next = (0..4).map(|index| link(&results.summary, &format!("out{index}")));
        next.map(|next| next.by_reason.drops_headroom_packets).sum()
    };
    assert_eq!(drops(&together("102 kB")), 0); // 12 x 8,424 B
    assert!(drops(&together("48 kB")) > 0); // 12 x (6,424 B - 2,250 B) and a packet less
    let results = together("12 kB");
    let short = warning(&results, WarningKind::ShortHeadroom).expect("it is reported");
    assert!(short.place.starts_with("links.in0.ingress.pool"), "{short:?}");
    assert_eq!(value(short, "headroom_bytes") as u64, 8_000);
    assert_eq!(warning(&together("48 kB"), WarningKind::ShortHeadroom), None);
}

/// Lossy ingresses whose next links stand still, without a pool there: each stops at its threshold of alpha
/// times the free memory B, as ingresses with pauses do, and drops the rest.
#[test]
fn lossy_ingresses_that_share_memory_drop_above_the_dynamic_threshold() {
    for alpha in [0.125, 0.5, 4.0] {
        let mut text =
            "duration = \"5 ms\"\n[ingress_pools.memory]\nsize = \"300 kB\"\n".to_owned();
        for index in 0..3 {
            let ingress = format!("ingress = {{ pool = \"memory\", alpha = {alpha} }}");
            text += &wire(&format!("in{index}"), 10.0, &ingress);
            let stop = "changes = [{ at = \"0 s\", rate = \"0 bit/s\" }]";
            text += &wire(&format!("out{index}"), 10.0, stop);
            let path = format!("[\"in{index}\", \"out{index}\"]");
            text += &stream(&format!("f{index}"), &path, "cbr", 10.0);
        }
        let summary = run(&text, 1).summary;
        for index in 0..3 {
            let held = link(&summary, &format!("in{index}")).ingress_bytes_max;
            // As of a queue in a pool: a packet, and alpha packets of what the others take meanwhile.
            let (expected, bound) =
                (alpha * 300e3 / (1.0 + 3.0 * alpha), 1e3 * (1.0 + 3.0 * alpha));
            let held = held.expect("it is measured");
            assert!((held - expected).abs() < bound, "alpha {alpha}: {held}, expected {expected}");
            let next = link(&summary, &format!("out{index}"));
            assert!(next.by_reason.drops_headroom_packets > 1_000, "{next:?}");
            assert_eq!(next.by_reason.drops_headroom_packets, next.drops_packets);
            assert_eq!(link(&summary, &format!("in{index}")).pause_frames, None);
        }
    }
}

/// A switch that counts lossy and lossless packets in one memory, as SONiC does.
#[derive(Clone, Copy, Debug)]
struct Coupled {
    /// Number, alpha and memory in bytes of lossy queues, which the egress limits.
    lossy: (usize, f64, f64),
    /// Number, alpha and memory in bytes of lossless ingresses, whose next links stand still.
    lossless: (usize, f64, f64),
}

impl Coupled {
    /// Lossy ingresses have the largest alpha, so that the egress limits them. Lossless packets arrive once
    /// the lossy queues are full.
    fn text(self) -> String {
        let ((lossy, egress_alpha, egress), (lossless, alpha, memory)) =
            (self.lossy, self.lossless);
        let mut text = format!(
            "duration = \"40 ms\"\nmeasure_from = \"5 ms\"
            [pools.egress]\nsize = \"{egress} B\"\nfrees = \"at start\"
            policy = {{ kind = \"dynamic_threshold\", alpha = {egress_alpha} }}
            [ingress_pools.memory]\nsize = \"{memory} B\"\n"
        );
        for index in 0..lossy {
            let ingress = "ingress = { pool = \"memory\", alpha = 1e6 }";
            text += &wire(&format!("lossy-in{index}"), 10.0, ingress);
            text += &wire(&format!("lossy-out{index}"), 5.0, "pool = \"egress\"");
            let path = format!("[\"lossy-in{index}\", \"lossy-out{index}\"]");
            text += &stream(&format!("lossy{index}"), &path, "cbr", 10.0);
        }
        text = text.replace("limit = \"400 kB\"", "limit = \"1 MB\"");
        for index in 0..lossless {
            let keys = format!(
                "pause = {{ xoff = \"5 kB\", xon = \"4 kB\", headroom = \"20 kB\" }}
                ingress = {{ pool = \"memory\", alpha = {alpha} }}"
            );
            text += &wire(&format!("in{index}"), 10.0, &keys);
            let stop = "changes = [{ at = \"0 s\", rate = \"0 bit/s\" }]";
            text += &wire(&format!("out{index}"), 10.0, stop);
            let path = format!("[\"in{index}\", \"out{index}\"]");
            text += &stream(&format!("f{index}"), &path, "cbr", 10.0);
            let _ = writeln!(text, "start = \"10 ms\"");
        }
        text
    }
}

/// The analysis of SONiC's buffer model (Addanki et al., "Reverie", NSDI 2024), with e for the lossy queues at
/// the egress and i for the lossless ingresses: lossy packets take L = Be ne ae / (1 + ne ae) of their egress
/// memory Be, and as much of the memory Bi of the ingresses, whose thresholds are then
/// ai (Bi + ne ae (Bi - Be)) / ((1 + ni ai) (1 + ne ae)).
#[test]
fn lossy_packets_lower_the_thresholds_of_pauses_as_coupled_pools_do() {
    for (lossy, lossless) in [
        ((4, 1.0, 200e3), (2, 0.5, 400e3)),
        ((2, 4.0, 300e3), (1, 1.0, 300e3)),
        ((3, 0.5, 500e3), (4, 0.125, 600e3)),
        ((6, 0.125, 400e3), (3, 2.0, 300e3)),
    ] {
        let results = run(&Coupled { lossy, lossless }.text(), 1);
        let ((queues, egress_alpha, egress), (links, alpha, memory)) = (lossy, lossless);
        let (queues, links, pressure) = (queues as f64, links as f64, queues as f64 * egress_alpha);
        let total = egress * pressure / (1.0 + pressure);
        let (_, pool) = &results.summary.pools.0[0];
        // Each queue is off by a packet, and the threshold by alpha packets.
        let total_bound = queues * (1.0 + egress_alpha) * 1e3;
        let found = pool.memory_bytes_mean;
        assert!((found - total).abs() < total_bound, "{lossy:?}: {found}, expected {total}");
        let both = (1.0 + links * alpha) * (1.0 + pressure);
        let threshold = alpha * (memory + pressure * (memory - egress)) / both;
        // A packet of each lossless link, as without lossy ones, and the share of what is off there.
        let bound = 1e3 * (1.0 + links * alpha) + alpha * total_bound / (1.0 + links * alpha);
        let without = alpha * memory / (1.0 + links * alpha);
        assert!(without - threshold > 2.0 * bound, "{lossy:?}, {lossless:?} tell nothing");
        for index in 0..lossless.0 {
            let shared = shared_bytes(&results, index);
            let case = format!("{lossy:?}, {lossless:?}: {shared}, expected {threshold}");
            assert!((shared - threshold).abs() < bound, "{case}");
            assert_eq!(link(&results.summary, &format!("out{index}")).drops_packets, 0);
        }
        let at_ingress = |index| link(&results.summary, &format!("lossy-out{index}"));
        assert!((0..lossy.0).all(|index| at_ingress(index).by_reason.drops_headroom_packets == 0));
    }
}

/// Lossy packets that have filled half of the memory leave it: the paused links get what is then free.
#[test]
fn a_paused_link_resumes_when_lossy_packets_have_left() {
    let coupled = Coupled { lossy: (1, 4.0, 200e3), lossless: (2, 0.5, 300e3) };
    let text = coupled.text().replace("[flows.lossy0]", "[flows.lossy0]\nstop = \"20 ms\"");
    let results = run(&text, 1);
    for index in 0..2 {
        let (shared, expected) = (shared_bytes(&results, index), 0.5 * 300e3 / (1.0 + 2.0 * 0.5));
        assert!((shared - expected).abs() < 2_000.0, "{shared}, expected {expected}");
        assert!(link(&results.summary, &format!("in{index}")).pause_frames > Some(1));
    }
}

#[test]
fn wrong_ingress_pools_are_refused_with_the_key_and_a_remedy() {
    let text = shared_memory("", [None; 4]);
    let message = refusal(&text.replace("pool = \"memory\"", "pool = \"memry\""));
    assert_refused(
        message.lines().next().unwrap_or_default(),
        "line 10, links.in0.ingress.pool",
        &["`memory`"],
    );
    let message = refusal(&text.replace("alpha = 0.5", "alpha = 0"));
    assert_refused(
        message.lines().next().unwrap_or_default(),
        "line 10, links.in0.ingress.alpha",
        &["0"],
    );
    let unused = "duration = \"40 ms\"\n[ingress_pools.unused]\nsize = \"1 kB\"";
    let message = refusal(&text.replace("duration = \"40 ms\"", unused));
    assert_refused(&message, "line 2, ingress_pools.unused", &["remove", "ingress"]);
    let without = text.replace("pause = {", "#");
    let message = refusal(&without);
    assert_refused(&message, "line 10, links.in0.ingress.xon_offset", &["`pause`"]);
    let lossy = without.replace(", xon_offset = \"1 kB\"", "");
    let nothing_waits = lossy.replace("[\"in0\", \"out0\"]", "[\"in0\"]");
    assert_refused(&refusal(&nothing_waits), "line 10, links.in0.ingress", &["path"]);
    let tiny = lossy.replace("size = \"400 kB\"", "size = \"900 B\"");
    assert_refused(&refusal(&tiny), "line 10, links.in0.ingress.pool", &["\"1000 B\""]);
}
