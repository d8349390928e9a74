//! The increase a(w) and decrease b(w) of `HighSpeed` TCP against the table and formulas of RFC
//! 3649, and against the tables in Linux and ns-3.

use tailroom_engine::congestion::highspeed::{
    Highspeed, HighspeedParams, IncreaseRule, published_table,
};
use tailroom_engine::congestion::{CongestionEvent, CongestionKind, WindowLaw};
use tailroom_engine::units::Time;

/// RFC 3649 appendix B: window, increase a(w), decrease b(w).
const TABLE: &str = "\
    38:1:.50 118:2:.44 221:3:.41 347:4:.38 495:5:.37 663:6:.35 851:7:.34 1058:8:.33 1284:9:.32 \
    1529:10:.31 1793:11:.30 2076:12:.29 2378:13:.28 2699:14:.28 3039:15:.27 3399:16:.27 \
    3778:17:.26 4177:18:.26 4596:19:.25 5036:20:.25 5497:21:.24 5979:22:.24 6483:23:.23 \
    7009:24:.23 7558:25:.22 8130:26:.22 8726:27:.22 9346:28:.21 9991:29:.21 10661:30:.21 \
    11358:31:.20 12082:32:.20 12834:33:.20 13614:34:.19 14424:35:.19 15265:36:.19 16137:37:.19 \
    17042:38:.18 17981:39:.18 18955:40:.18 19965:41:.17 21013:42:.17 22101:43:.17 23230:44:.17 \
    24402:45:.16 25618:46:.16 26881:47:.16 28193:48:.16 29557:49:.15 30975:50:.15 32450:51:.15 \
    33986:52:.15 35586:53:.14 37253:54:.14 38992:55:.14 40808:56:.14 42707:57:.13 44694:58:.13 \
    46776:59:.13 48961:60:.13 51258:61:.13 53677:62:.12 56230:63:.12 58932:64:.12 61799:65:.12 \
    64851:66:.11 68113:67:.11 71617:68:.11 75401:69:.10 79517:70:.10 84035:71:.10 89053:72:.10 \
    94717:73:.09";

#[test]
fn the_rebuilt_table_equals_the_published_table() {
    let published: Vec<[f64; 3]> = TABLE
        .split_whitespace()
        .map(|row| {
            let numbers: Vec<f64> =
                row.split(':').map(|number| number.parse().expect("a number")).collect();
            numbers.try_into().expect("three numbers")
        })
        .collect();
    let rebuilt: Vec<[f64; 3]> =
        published_table().iter().map(|row| [row.window, row.increase, row.decrease]).collect();
    assert_eq!(published.len(), 73);
    assert_eq!(rebuilt, published);
}

/// a(w) and b(w) by the table that `increase` selects.
fn row_of(increase: IncreaseRule, window: f64) -> (f64, f64) {
    let params = with!(HighspeedParams::default(), HighspeedParams { increase });
    let mut control = Highspeed::new(&params);
    let event = CongestionEvent {
        now: Time::ZERO,
        kind: CongestionKind::Loss,
        cwnd_packets: window,
        is_slow_start: false,
    };
    (control.increase(window), 1.0 - control.on_congestion(&event) / window)
}

/// RFC 3649: a row applies from its window on. Linux (`net/ipv4/tcp_highspeed.c`, unchanged from
/// 2.6.24 to 5.18) takes the row `i` with the smallest window that is not below the current window;
/// its a(w) is i + 1. The table has 72 rows; the last is 89053, with 24 of 256. ns-3
/// (`tcp-highspeed.cc`) applies the same rows up to their windows, and has a 73rd row with 0.09.
#[test]
fn linux_and_ns3_use_the_next_row_of_the_table() {
    for (window, ours, linux, ns3) in [
        (30.0, (1.0, 0.5), (1.0, 128.0), (1.0, 0.5)),
        (100.0, (1.0, 0.5), (2.0, 112.0), (2.0, 0.44)),
        (117.9, (1.0, 0.5), (2.0, 112.0), (2.0, 0.44)),
        (1_000.0, (7.0, 0.34), (8.0, 83.0), (8.0, 0.33)),
        (5_400.0, (20.0, 0.25), (21.0, 61.0), (21.0, 0.24)),
        (12_000.0, (31.0, 0.20), (32.0, 51.0), (32.0, 0.20)),
        (40_000.0, (55.0, 0.14), (56.0, 35.0), (56.0, 0.14)),
        (83_000.0, (70.0, 0.10), (71.0, 25.0), (71.0, 0.10)),
        (89_000.0, (71.0, 0.10), (72.0, 24.0), (72.0, 0.10)),
        (89_054.0, (72.0, 0.10), (72.0, 24.0), (73.0, 0.09)),
        (200_000.0, (73.0, 0.09), (72.0, 24.0), (73.0, 0.09)),
    ] {
        let linux = (linux.0, linux.1 / 256.0);
        for (rule, expected) in [
            (IncreaseRule::Table, ours),
            (IncreaseRule::LinuxTable, linux),
            (IncreaseRule::Ns3Table, ns3),
        ] {
            let (increase, decrease) = row_of(rule, window);
            assert!((increase - expected.0).abs() < 1e-12, "{rule:?} at {window}: {increase}");
            assert!((decrease - expected.1).abs() < 1e-12, "{rule:?} at {window}: {decrease}");
        }
    }
}

/// a(w) and b(w) by the formulas of RFC 3649 sec. 7 with `low_p` = 1.5 / 38^2, as ns-2 computes
/// them.
#[test]
fn the_continuous_law_has_the_values_that_ns2_computes() {
    let params = with!(HighspeedParams::default(), HighspeedParams { low_p: 1.5 / (38.0 * 38.0) });
    for (window, increase, decrease) in [
        (118.0, 2.0945, 0.44105),
        (1_058.0, 8.3137, 0.32695),
        (10_661.0, 30.938, 0.20676),
        (83_000.0, 72.516, 0.1),
    ] {
        let (found_increase, found_decrease) = (params.increase(window), params.decrease(window));
        let close = |found: f64, expected: f64| (found / expected - 1.0).abs() < 2e-5;
        assert!(close(found_increase, increase), "a({window}) = {found_increase}");
        assert!(close(found_decrease, decrease), "b({window}) = {found_decrease}");
    }
    // The end points: b is 0.5 at low_window and high_decrease at high_window, p is low_p and
    // high_p.
    let params = HighspeedParams::default();
    assert!((params.increase(38.0) - 1.0).abs() < 1e-12);
    assert!((params.decrease(38.0) - 0.5).abs() < 1e-12);
    assert!((params.decrease(83_000.0) - 0.1).abs() < 1e-12);
    assert!((params.loss_fraction(38.0) / 1e-3 - 1.0).abs() < 1e-12);
    assert!((params.loss_fraction(83_000.0) / 1e-7 - 1.0).abs() < 1e-12);
}

/// RFC 3649 sec. 5: the mean window at loss fraction p is 0.12 / p^0.835, and p(w) is the inverse
/// of this response function. The RFC gives two digits.
#[test]
fn the_loss_fraction_is_the_inverse_of_the_response_function() {
    let params = HighspeedParams::default();
    for window in [40.0, 100.0, 1_000.0, 10_000.0, 80_000.0] {
        let response = 0.12 / params.loss_fraction(window).powf(0.835);
        assert!((response / window - 1.0).abs() < 0.02, "{window}: {response}");
    }
}

/// A control interpolates a(w) within cells of the window. The relative error is below 0.001, both
/// for a window that moves slowly through the cells and for a window that jumps.
#[test]
fn the_interpolated_increase_is_within_a_thousandth_of_the_law() {
    let params = HighspeedParams::default();
    let mut control = Highspeed::new(&params);
    let mut slow = 38.0;
    let mut worst = (0.0, 0.0);
    while slow < 100_000.0 {
        let jump = 38.0 + (slow * 7_919.0) % 99_962.0;
        for window in [slow, slow + 0.3, jump] {
            let error = control.increase(window) / params.increase(window) - 1.0;
            if error.abs() > worst.0 {
                worst = (error.abs(), window);
            }
        }
        slow *= 1.0003;
    }
    assert!(worst.0 < 1e-3, "{worst:?}");
    assert!(worst.0 > 0.0, "windows inside cells are interpolated");
}
