//! Thresholds of pause frames that move with memory, headroom outside and in it, and lossy packets that take
//! of the same memory, against closed forms.

use tailroom_engine::results::WarningKind;

use crate::support::case::{Case, NULL, Run, above, case, check, near};
use crate::support::paused_links::{STOPPED, value};
use crate::support::refusals::assert_refused;

const PAUSE: &str = "pause = { xoff = '5 kB', xon = '4 kB', headroom = '20 kB' }";

/// Four links to switches whose next links stand still, in Gbit/s from a time in milliseconds on; the ingress
/// of each has 5 kB to itself and half of the free memory of 400 kB.
fn shared_memory(headroom: &str, opens_at: [Option<f64>; 4]) -> Case {
    let ingress = "ingress = { pool = 'memory', alpha = 0.5, xon_offset = '1 kB' }";
    let keys = format!("{PAUSE}, {ingress}");
    let add = |case: Case, (index, opens_at): (usize, Option<f64>)| match opens_at {
        None => pair(case, "", index, &keys, STOPPED),
        Some(at) => {
            let opens = format!("{{ at = '{at} ms', rate = '10 Gbit/s' }}");
            let changes = STOPPED.replace(" }]", &format!(" }}, {opens}]"));
            pair(case, "", index, &keys, &changes).set(format!("flows.f{index}.stop"), "5 ms")
        }
    };
    case("40 ms")
        .table("ingress_pools.memory", format!("size = '400 kB', {headroom}"))
        .each(opens_at.into_iter().enumerate(), add)
}

/// A link to a switch, the next one, and a stream over both, with these keys.
fn pair(case: Case, prefix: &str, index: usize, first: &str, next: &str) -> Case {
    let [from, to] = ["in", "out"].map(|end| format!("{prefix}{end}{index}"));
    let stream = format!("{prefix}f{index}");
    let keys = ("cbr", 10.0);
    case.wire(&from, 10.0, first).wire(&to, 10.0, next).packets(stream, [from, to].join(" "), keys)
}

/// What the ingress of a link has taken of the shared memory when nothing moves any more, in bytes.
fn shared_bytes(run: &Run, index: usize) -> f64 {
    let [most, headroom] =
        ["ingress", "headroom"].map(|name| run.get(&format!("links.in{index}.{name}_bytes_max")));
    most - headroom - 5_000.0
}

/// The drops of the first links out for want of headroom.
fn headroom_drops(run: &Run, links: usize) -> u64 {
    let of = |index| run.link(&format!("out{index}")).by_reason.drops_headroom_packets;
    (0..links).map(of).sum()
}

/// The closed form of Choudhury and Hahne 1998: n queues at their thresholds of alpha times the free
/// memory B hold alpha B / (1 + n alpha) each. While one is filled up to its threshold the others may
/// still take a packet each, which moves it by alpha packets.
#[test]
fn ingresses_that_share_memory_stop_at_the_dynamic_threshold() {
    let run = shared_memory("", [None; 4]).run();
    for index in 0..4 {
        let expected = near(0.5 * 400e3 / (1.0 + 4.0 * 0.5), 1_000.0 + 4.0 * 500.0);
        check(index, shared_bytes(&run, index), expected);
        run.expect(&format!("links.out{index}.drops_packets"), 0);
    }
}

#[test]
fn shared_headroom_is_too_short_if_no_link_could_stop_in_time_alone() {
    let run = shared_memory("headroom = '1 kB'", [None; 4]).run();
    let short = run.warning(WarningKind::ShortHeadroom).expect("it is reported");
    assert!(short.place.starts_with("links.in0.ingress.pool, links.in1.ingress.pool"), "{short:?}");
    // 2 d C + 84 B + 60 quanta and two packets of 1,000 B less a byte.
    let needed = 2_500.0 + 84.0 + 60.0 * 64.0 + 1_999.0;
    assert_eq!((value(short, "headroom_bytes"), value(short, "needed_bytes")), (1_000.0, needed));
}

/// When two of the ports drain, the thresholds of the others rise to alpha B / (1 + 2 alpha), and their
/// links resume although nothing has left them.
#[test]
fn a_paused_link_resumes_when_others_drain() {
    let run = shared_memory("", [None, None, Some(20.0), Some(20.0)]).run();
    for index in 0..2 {
        let expected = near(0.5 * 400e3 / (1.0 + 2.0 * 0.5), 2_000.0 + 2.0 * 500.0);
        check(index, shared_bytes(&run, index), expected);
        run.expect(&format!("links.in{index}.pause_frames"), above(1.0))
            .expect(&format!("links.out{index}.departures_packets"), 0);
    }
}

/// What arrives of each link after its threshold, 2 d C + 84 B + 60 quanta and a packet, is between 6,424 and
/// 8,424 B: four times as much is enough, and twice is not.
#[test]
fn headroom_may_be_shared() {
    for (headroom, is_enough) in [(34, true), (16, false)] {
        let run = shared_memory(&format!("headroom = '{headroom} kB'"), [None; 4]).run();
        assert_eq!(headroom_drops(&run, 4) == 0, is_enough, "{headroom} kB");
    }
}

/// The same links with headroom in the memory, of this size, which begin to send at these times in
/// milliseconds.
fn memory_with_headroom(size: &str, starts: [f64; 4]) -> Run {
    shared_memory("includes_headroom = true", [None; 4])
        .set("ingress_pools.memory.size", size)
        .each(starts.into_iter().enumerate(), |case, (index, start)| {
            case.set(format!("flows.f{index}.start"), format!("{start} ms"))
        })
        .run()
}

/// Links that stop one after another. Of F bytes that are free, a link takes s = alpha F / (1 + alpha) up
/// to its threshold and h of headroom, and leaves F / (1 + alpha) - h to the next; h is between 6,424 and
/// 8,424 B. The packet that crosses a threshold moves it by alpha packets, so that s is off by 1,500 B.
#[test]
fn headroom_in_the_memory_lowers_the_thresholds_of_those_that_follow() {
    let run = memory_with_headroom("400 kB", [0.0, 1.0, 2.0, 3.0]);
    let (mut free, mut free_bound) = (400e3, 0.0);
    for index in 0..4 {
        let expected = near(0.5 * free / 1.5, free_bound / 3.0 + 1_500.0);
        check(index, shared_bytes(&run, index), expected);
        (free, free_bound) = (free / 1.5 - 7_424.0, free_bound / 1.5 + 1_500.0 + 1_000.0);
        run.expect(&format!("links.out{index}.drops_packets"), 0);
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
    let together = |size| memory_with_headroom(size, [0.0; 4]);
    assert_eq!(headroom_drops(&together("102 kB"), 4), 0); // 12 x 8,424 B
    let short_of_headroom = together("48 kB"); // 12 x (6,424 B - 2,250 B) and a packet less
    assert!(headroom_drops(&short_of_headroom, 4) > 0);
    assert_eq!(short_of_headroom.warning(WarningKind::ShortHeadroom), None);
    let run = together("12 kB");
    let short = run.warning(WarningKind::ShortHeadroom).expect("it is reported");
    assert!(short.place.starts_with("links.in0.ingress.pool"), "{short:?}");
    assert_eq!(value(short, "headroom_bytes") as u64, 8_000);
}

/// Lossy ingresses whose next links stand still, without a pool there: each stops at its threshold of alpha
/// times the free memory B, as ingresses with pauses do, and drops the rest.
#[test]
fn lossy_ingresses_that_share_memory_drop_above_the_dynamic_threshold() {
    for alpha in [0.125, 0.5, 4.0] {
        let ingress = format!("ingress = {{ pool = 'memory', alpha = {alpha} }}");
        let memory = case("5 ms").table("ingress_pools.memory", "size = '300 kB'");
        let run = memory.each(0..3, |case, index| pair(case, "", index, &ingress, STOPPED)).run();
        // As of a queue in a pool: a packet, and alpha packets of what the others take meanwhile.
        let held = near(alpha * 300e3 / (1.0 + 3.0 * alpha), 1e3 * (1.0 + 3.0 * alpha));
        for index in 0..3 {
            let drops = run.get(&format!("links.out{index}.drops_packets"));
            run.expect(&format!("links.in{index}.ingress_bytes_max"), held)
                .expect(&format!("links.in{index}.pause_frames"), NULL)
                .expect(&format!("links.out{index}.drops_headroom_packets"), above(1_000.0))
                .expect(&format!("links.out{index}.drops_headroom_packets"), drops);
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
    fn case(self) -> Case {
        let ((lossy, egress_alpha, egress), (lossless, alpha, memory)) =
            (self.lossy, self.lossless);
        let policy = format!("{{ kind = 'dynamic_threshold', alpha = {egress_alpha} }}");
        let lossy_pair = |case: Case, index: usize| {
            let ingress = "ingress = { pool = 'memory', alpha = 1e6 }";
            let case = pair(case, "lossy-", index, ingress, "pool = 'egress'");
            case.set(format!("links.lossy-out{index}.rate"), "5 Gbit/s")
                .set(format!("links.lossy-in{index}.queue.limit"), "1 MB")
                .set(format!("links.lossy-out{index}.queue.limit"), "1 MB")
        };
        let keys = format!("{PAUSE}, ingress = {{ pool = 'memory', alpha = {alpha} }}");
        let lossless_pair = |case: Case, index: usize| {
            pair(case, "", index, &keys, STOPPED).set(format!("flows.f{index}.start"), "10 ms")
        };
        case("40 ms from 5 ms")
            .table(
                "pools.egress",
                format!("size = '{egress} B', frees = 'at start', policy = {policy}"),
            )
            .table("ingress_pools.memory", format!("size = '{memory} B'"))
            .each(0..lossy, lossy_pair)
            .each(0..lossless, lossless_pair)
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
        let run = Coupled { lossy, lossless }.case().run();
        let ((queues, egress_alpha, egress), (links, alpha, memory)) = (lossy, lossless);
        let (queues, links, pressure) = (queues as f64, links as f64, queues as f64 * egress_alpha);
        let total = egress * pressure / (1.0 + pressure);
        // Each queue is off by a packet, and the threshold by alpha packets.
        let total_bound = queues * (1.0 + egress_alpha) * 1e3;
        run.expect("pools.egress.memory_bytes_mean", near(total, total_bound));
        let both = (1.0 + links * alpha) * (1.0 + pressure);
        let threshold = alpha * (memory + pressure * (memory - egress)) / both;
        // A packet of each lossless link, as without lossy ones, and the share of what is off there.
        let bound = 1e3 * (1.0 + links * alpha) + alpha * total_bound / (1.0 + links * alpha);
        let without = alpha * memory / (1.0 + links * alpha);
        assert!(without - threshold > 2.0 * bound, "{lossy:?}, {lossless:?} tell nothing");
        for index in 0..lossless.0 {
            check(
                format!("{lossy:?}, {lossless:?}"),
                shared_bytes(&run, index),
                near(threshold, bound),
            );
            run.expect(&format!("links.out{index}.drops_packets"), 0);
        }
        for index in 0..lossy.0 {
            run.expect(&format!("links.lossy-out{index}.drops_headroom_packets"), 0);
        }
    }
}

/// Lossy packets that have filled half of the memory leave it: the paused links get what is then free.
#[test]
fn a_paused_link_resumes_when_lossy_packets_have_left() {
    let coupled = Coupled { lossy: (1, 4.0, 200e3), lossless: (2, 0.5, 300e3) };
    let run = coupled.case().set("flows.lossy-f0.stop", "20 ms").run();
    for index in 0..2 {
        let expected = near(0.5 * 300e3 / (1.0 + 2.0 * 0.5), 2_000.0);
        check(index, shared_bytes(&run, index), expected);
        run.expect(&format!("links.in{index}.pause_frames"), above(1.0));
    }
}

#[test]
fn wrong_ingress_pools_are_refused_with_the_key_and_a_remedy() {
    // The text is changed, so that the refusal names a line: the memory is in the second.
    let shared = shared_memory("", [None; 4]);
    let without_pauses = shared.replaced(PAUSE, "").replaced(", ,", ",");
    let lossy = without_pauses.replaced(", xon_offset = '1 kB'", "");
    let unused = "duration = '40 ms'\ningress_pools.unused = { size = '1 kB' }";
    for (case, problems, place, remedies) in [
        (shared.replaced("'memory'", "'memry'"), 4, "pool", &["`memory`"][..]),
        (shared.replaced("alpha = 0.5", "alpha = 0"), 4, "alpha", &["0"]),
        (without_pauses, 1, "xon_offset", &["`pause`"]),
        (lossy.replaced("[\"in0\", \"out0\"]", "[\"in0\"]"), 1, "", &["path"]),
        (lossy.replaced("{ size = '400 kB'", "{ size = '900 B'"), 1, "pool", &["\"1000 B\""]),
    ] {
        let refusal = case.refusal();
        let lines: Vec<&str> = refusal.lines().collect();
        assert_eq!(lines.len(), problems, "{refusal}");
        let place = format!("line 3, links.in0.ingress.{place}");
        assert_refused(lines[0], place.trim_end_matches('.'), remedies);
    }
    let refusal = shared.replaced("duration = '40 ms'", unused).refusal();
    assert_refused(&refusal, "line 2, ingress_pools.unused", &["remove", "ingress"]);
}
