//! Priorities of packets and of queues in memory that links share: closed forms of dynamic thresholds with
//! loss priorities, and of ABM.

use crate::pools::{PACKET, each};
use crate::support::case::{Case, Run, above, case, close, near, within};

/// Two groups for each of four links of a pool, of loss priorities 0 and 1, at these times the rate of a
/// link; with alpha 1 for the first, 0.25 for the second.
fn with_loss_priorities(limits: &str, times: [f64; 2]) -> Run {
    let policy = format!(
        "kind = 'dynamic_threshold', alpha = 1, lower_alphas = [0.25], limits = '{limits}'"
    );
    let groups = (0..4).flat_map(|port| [(port, 0), (port, 1)]);
    let group = |case: Case, (port, priority): (usize, usize)| {
        let name = format!("f{port}-{priority}");
        case.load(&name, port, times[priority], &format!("loss_priority = {priority}"))
            .set(format!("flows.{name}.source.kind"), "poisson")
    };
    case("3 s from 1 s")
        .ports(4, format!("size = '{SIZE} B', policy = {{ {policy} }}"), "")
        .each(groups, group)
        .run()
}

const SIZE: f64 = 200_000.0;

/// With thresholds for the packets of each priority, M links whose arrivals never end hold `alpha_p` B / (1 +
/// M sum alpha) of priority p, and send them in that proportion.
#[test]
fn each_loss_priority_settles_at_its_own_threshold() {
    // A priority is off by the packet that arrives next and by what another moves its threshold.
    let bound = 2.0 * (1.0 + 1.25) * PACKET;
    let run = with_loss_priorities("priority", [2.0, 2.0]);
    run.expect("pools.p.memory_bytes_mean", each(4, 1.25 * SIZE / (1.0 + 4.0 * 1.25), bound));
    for index in 0..4 {
        // Of twice the rate of the link, 0.8 and 0.2 of it are sent.
        run.expect(&format!("groups.f{index}-0.loss_fraction"), near(0.6, 0.01))
            .expect(&format!("groups.f{index}-1.loss_fraction"), near(0.9, 0.01));
    }
}

/// With thresholds for the whole queue, packets of high priority that fill it to `alpha_0` B / (1 + M `alpha_0`)
/// leave nothing to the others; if they alone do not fill the link, the others fill the queue to their own
/// threshold, and the first lose nothing.
#[test]
fn a_lower_loss_priority_finds_the_queue_of_a_higher_one_full() {
    let halves = (near(0.5, 0.02), above(0.999_999));
    for (times, alpha, (high, low)) in
        [([2.0, 1.0], 1.0, halves), ([0.5, 2.0], 0.25, (0.0.into(), within(..)))]
    {
        let expected = each(4, alpha * SIZE / (1.0 + 4.0 * alpha), 2.0 * (1.0 + alpha) * PACKET);
        with_loss_priorities("queue", times)
            .expect("pools.p.memory_bytes_mean", expected)
            .expect("groups.f0-0.loss_fraction", high)
            .expect("groups.f0-1.loss_fraction", low);
    }
}

/// ABM: a priority holds `alpha_p` R whatever the number of its queues, R = B / (1 + sum alpha), where each
/// queue has its port to itself.
#[test]
fn priorities_share_memory_under_abm_whatever_their_number_of_queues() {
    const SIZE: f64 = 2e6;
    let policy = "policy = { kind = 'abm', alpha = 0.5, interval = '10 ms' }";
    let ports = case("2 s from 1500 ms").ports(17, format!("size = '{SIZE} B', {policy}"), "");
    let prioritised = |case: Case, index: usize| {
        case.set(format!("links.l{index}.priority"), u32::from(index > 0))
    };
    let run = ports.each(0..17, prioritised).loads(17, 1.5, "").run();
    for index in 0..17 {
        let queues = if index == 0 { 1.0 } else { 16.0 };
        let place = format!("pools.p.links.l{index}.memory_bytes_mean");
        run.expect(&place, close(0.5 * SIZE / 2.0 / queues, 0.01));
    }
}

/// ABM: queues that share the line of a port equally have half of its rate each: R = B / (1 + sum of half
/// alpha).
#[test]
fn queues_of_a_line_have_thresholds_in_proportion_to_their_rates_under_abm() {
    const SIZE: f64 = 1e6;
    let policy = "policy = { kind = 'abm', alpha = 0.5, interval = '100 ms' }";
    let ports = case("3 s from 2 s").ports(8, format!("size = '{SIZE} B', {policy}"), "");
    let placed = |case: Case, index: usize| {
        case.set(format!("links.l{index}.priority"), index % 2)
            .set(format!("links.l{index}.line.name"), format!("p{}", index / 2))
    };
    let run = ports.each(0..8, placed).loads(8, 1.5, "").run();
    for index in 0..8 {
        let place = format!("pools.p.links.l{index}.memory_bytes_mean");
        run.expect(&place, close(0.25 * SIZE / 1.5 / 4.0, 0.01));
    }
}

/// ABM: a queue that is at its threshold, a third of the memory with alpha 1/2, still takes a first window,
/// for which more memory is free.
#[test]
fn a_first_window_with_an_alpha_of_its_own_finds_room_behind_a_full_queue_under_abm() {
    let burst = "rtt = '100 ms', start = '950 ms', congestion = 'reno', handshake = 'done'";
    let with = |more: &str| {
        let policy = format!("kind = 'abm', alpha = 0.5, interval = '1 ms'{more}");
        case("1 s from 500 ms")
            .ports(1, format!("size = '600 kB', policy = {{ {policy} }}"), "")
            .load("background", 0, 1.5, "")
            .flows("burst", "l0", format!("{burst}, initial_window = 100"))
            .run()
    };
    with("").expect("groups.burst.loss_fraction", above(0.5));
    with(", first_window_alpha = 1024").expect("groups.burst.loss_fraction", 0);
}
