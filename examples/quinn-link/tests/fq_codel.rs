//! An upload under quinn's CUBIC, behind a long tail-drop queue and through FQ-CoDel.

use std::sync::Arc;

use quinn_link::{Report, Upload};
use quinn_proto::congestion::CubicConfig;
use tailroom_engine::link::LinkSpec;
use tailroom_engine::quantity::limit::QueueLimit;
use tailroom_engine::queue::QueueConfig;
use tailroom_engine::queue::drop_tail::DropTailParams;
use tailroom_engine::queue::fq_codel::FqCodelParams;
use tailroom_engine::units::{Rate, Time};

const MS: fn(u64) -> Time = Time::from_milliseconds;

/// Twenty seconds of an upload over a link of 10 Mbit/s with a round trip of 40 ms.
fn upload(queue: QueueConfig) -> Report {
    let spec = LinkSpec::new(Rate::from_bits_per_second(10_000_000), MS(20), queue);
    let upload = Upload::new(&spec, Arc::new(CubicConfig::default())).expect("the link is valid");
    upload.run(MS(20_000))
}

fn mean_ms(waits: &[Time]) -> f64 {
    1e3 * waits.iter().map(|wait| wait.seconds()).sum::<f64>() / waits.len() as f64
}

/// Of 10 Mbit/s, 96 % are payload: 1,228 bytes with their headers carry some 1,180.
fn goodput_bps(report: &Report) -> f64 {
    report.received_bytes as f64 * 8.0 / 20.0
}

#[test]
fn fq_codel_keeps_the_delay_of_quinn_s_cubic_short_and_the_link_busy() {
    let report = upload(QueueConfig::FqCodel(FqCodelParams::default()));
    assert!(goodput_bps(&report) > 8.5e6, "{}", goodput_bps(&report));
    assert!(mean_ms(&report.waits) < 20.0, "{} ms", mean_ms(&report.waits));
    // quinn sends ECN-capable packets, so that the queue marks them.
    assert!(report.marks > 10, "{} marks, {} drops", report.marks, report.drops);
    // A thin flow waits for the packet in transmission: a packet takes 1 ms.
    let longest = report.thin_waits.iter().max().expect("thin packets arrive");
    assert!(*longest < MS(3), "{longest}");
    assert!(report.thin_waits.len() > 990);
}

#[test]
fn behind_tail_drop_all_wait_for_the_buffer_that_quinn_s_cubic_fills() {
    let limit = QueueLimit::packets(300);
    let report = upload(QueueConfig::DropTail(DropTailParams::new(limit)));
    assert!(goodput_bps(&report) > 8.5e6, "{}", goodput_bps(&report));
    assert!(report.drops > 0 && report.marks == 0);
    // 300 packets take 295 ms.
    for waits in [&report.waits, &report.thin_waits] {
        assert!(mean_ms(waits) > 100.0, "{} ms", mean_ms(waits));
        assert!(waits.iter().all(|wait| *wait < MS(300)));
    }
}
