//! Priorities of packets and of queues in memory that links share: closed forms of dynamic thresholds with
//! loss priorities, and of ABM.

use tailroom_engine::results::Summary;

use crate::pools::{PACKET, links, pool_of, stream};
use crate::support::scenario_run::run;
use crate::support::summaries::group;

/// Two groups for each of four links of a pool, of loss priorities 0 and 1, at these times the rate of a
/// link; with alpha 1 for the first, 0.25 for the second.
fn with_loss_priorities(limits: &str, size: f64, times: [f64; 2]) -> Summary {
    let policy = "kind = \"dynamic_threshold\", alpha = 1, lower_alphas = [0.25]";
    let pool = format!("size = \"{size} B\"\npolicy = {{ {policy}, limits = \"{limits}\" }}");
    let mut text = "duration = \"3 s\"\nmeasure_from = \"1 s\"\n".to_owned();
    text += &links(4, &pool, "");
    for index in 0..4 {
        for (priority, times) in times.into_iter().enumerate() {
            let stream = stream(&format!("f{index}-{priority}"), index, times, "0 s");
            let place = format!("loss_priority = {priority}\npath");
            text += &stream.replace("\"cbr\"", "\"poisson\"").replace("path", &place);
        }
    }
    run(&text, 1).summary
}

/// With thresholds for the packets of each priority, M links whose arrivals never end hold `alpha_p` B / (1 +
/// M sum alpha) of priority p, and send them in that proportion.
#[test]
fn each_loss_priority_settles_at_its_own_threshold() {
    const SIZE: f64 = 200_000.0;
    let summary = with_loss_priorities("priority", SIZE, [2.0, 2.0]);
    let found = pool_of(&summary).memory_bytes_mean / 4.0;
    let expected = 1.25 * SIZE / (1.0 + 4.0 * 1.25);
    // A priority is off by the packet that arrives next and by what another moves its threshold.
    let bound = 2.0 * (1.0 + 1.25) * PACKET;
    assert!((found - expected).abs() <= bound, "{found} B, expected {expected} B");
    for index in 0..4 {
        let sent = [0, 1].map(|priority| {
            let group = group(&summary, &format!("f{index}-{priority}"));
            2.0 * (1.0 - group.loss_fraction.expect("packets arrive"))
        });
        assert!((sent[0] - 0.8).abs() < 0.02, "link {index} sends {sent:?}");
        assert!((sent[1] - 0.2).abs() < 0.02, "link {index} sends {sent:?}");
    }
}

/// With thresholds for the whole queue, packets of high priority that fill it to `alpha_0` B / (1 + M `alpha_0`)
/// leave nothing to the others; if they alone do not fill the link, the others fill the queue to their own
/// threshold, and the first lose nothing.
#[test]
fn a_lower_loss_priority_finds_the_queue_of_a_higher_one_full() {
    const SIZE: f64 = 200_000.0;
    for (times, alpha) in [([2.0, 1.0], 1.0), ([0.5, 2.0], 0.25)] {
        let summary = with_loss_priorities("queue", SIZE, times);
        let found = pool_of(&summary).memory_bytes_mean / 4.0;
        let expected = alpha * SIZE / (1.0 + 4.0 * alpha);
        let bound = 2.0 * (1.0 + alpha) * PACKET;
        let case = format!("alpha {alpha}: {found} B, expected {expected} B");
        assert!((found - expected).abs() <= bound, "{case}");
        let losses = [0, 1].map(|priority| {
            group(&summary, &format!("f0-{priority}")).loss_fraction.expect("packets arrive")
        });
        let is_strict = if alpha < 1.0 {
            losses[0] == 0.0
        } else {
            (losses[0] - 0.5).abs() < 0.02 && losses[1] > 0.999_999
        };
        assert!(is_strict, "{case}: losses {losses:?}");
    }
}

/// A link's table with keys added.
fn with_keys(text: &str, index: usize, keys: &str) -> String {
    let table = format!("[links.l{index}]\n");
    text.replacen(&table, &format!("{table}{keys}\n"), 1)
}

/// ABM: a priority holds `alpha_p` R whatever the number of its queues, R = B / (1 + sum alpha), where each
/// queue has its port to itself.
#[test]
fn priorities_share_memory_under_abm_whatever_their_number_of_queues() {
    const SIZE: f64 = 2e6;
    let policy = "policy = { kind = \"abm\", alpha = 0.5, interval = \"10 ms\" }";
    let mut text = "duration = \"2 s\"\nmeasure_from = \"1500 ms\"\n".to_owned();
    text += &links(17, &format!("size = \"{SIZE} B\"\n{policy}"), "");
    for index in 0..17 {
        text = with_keys(&text, index, &format!("priority = {}", u32::from(index > 0)));
        text += &stream(&format!("f{index}"), index, 1.5, "0 s");
    }
    let summary = run(&text, 1).summary;
    for (index, (name, queue)) in pool_of(&summary).links.0.iter().enumerate() {
        let queues = if index == 0 { 1.0 } else { 16.0 };
        let expected = 0.5 * SIZE / 2.0 / queues;
        let found = queue.memory_bytes_mean;
        assert!((found / expected - 1.0).abs() < 0.01, "{name}: {found} B, expected {expected} B");
    }
}

/// ABM: queues that share the line of a port equally have half of its rate each: R = B / (1 + sum of half
/// alpha).
#[test]
fn queues_of_a_line_have_thresholds_in_proportion_to_their_rates_under_abm() {
    const SIZE: f64 = 1e6;
    let policy = "policy = { kind = \"abm\", alpha = 0.5, interval = \"100 ms\" }";
    let mut text = "duration = \"3 s\"\nmeasure_from = \"2 s\"\n".to_owned();
    text += &links(8, &format!("size = \"{SIZE} B\"\n{policy}"), "");
    for index in 0..8 {
        let (port, priority) = (index / 2, index % 2);
        let keys = format!("priority = {priority}\nline = {{ name = \"p{port}\" }}");
        text = with_keys(&text, index, &keys);
        text += &stream(&format!("f{index}"), index, 1.5, "0 s");
    }
    let summary = run(&text, 1).summary;
    for (name, queue) in &pool_of(&summary).links.0 {
        let (expected, found) = (0.25 * SIZE / 1.5 / 4.0, queue.memory_bytes_mean);
        assert!((found / expected - 1.0).abs() < 0.01, "{name}: {found} B, expected {expected} B");
    }
}

/// ABM: a queue that is at its threshold, a third of the memory with alpha 1/2, still takes a first window,
/// for which more memory is free.
#[test]
fn a_first_window_with_an_alpha_of_its_own_finds_room_behind_a_full_queue_under_abm() {
    const SIZE: f64 = 600e3;
    let lost = |more: &str| {
        let policy = format!("{{ kind = \"abm\", alpha = 0.5, interval = \"1 ms\"{more} }}");
        let mut text = "duration = \"1 s\"\nmeasure_from = \"500 ms\"\n".to_owned();
        text += &links(1, &format!("size = \"{SIZE} B\"\npolicy = {policy}"), "");
        text += &stream("background", 0, 1.5, "0 s");
        text += "[flows.burst]\npath = [\"l0\"]\nrtt = \"100 ms\"\nstart = \"950 ms\"\n\
                 congestion = \"reno\"\nhandshake = \"done\"\ninitial_window = 100\n";
        let summary = run(&text, 1).summary;
        group(&summary, "burst").loss_fraction.expect("packets arrive")
    };
    assert!(lost("") > 0.5);
    assert!(lost(", first_window_alpha = 1024") == 0.0);
}
