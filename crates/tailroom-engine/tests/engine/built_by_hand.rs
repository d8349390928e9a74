//! What a program builds has the defaults of a scenario.

use serde_json::json;
use tailroom_engine::congestion::CongestionConfig;
use tailroom_engine::congestion::cubic::CubicParams;
use tailroom_engine::link::LinkSpec;
use tailroom_engine::network::{FlowSpec, GroupSpec, Network};
use tailroom_engine::quantity::limit::QueueLimit;
use tailroom_engine::queue::QueueConfig;
use tailroom_engine::queue::adaptive_red::AdaptiveRedParams;
use tailroom_engine::queue::drop_head::DropHeadParams;
use tailroom_engine::queue::drop_tail::DropTailParams;
use tailroom_engine::queue::dual_pi2::DualPi2Params;
use tailroom_engine::queue::fair::FairParams;
use tailroom_engine::queue::random_drop::RandomDropParams;
use tailroom_engine::queue::red::RedParams;
use tailroom_engine::queue::step_mark::StepMarkParams;
use tailroom_engine::queue::wred::WredParams;
use tailroom_engine::tcp::TcpSpec;
use tailroom_engine::units::{Rate, Time};

use crate::support::scenario_run;

#[test]
fn a_discipline_has_the_defaults_of_a_scenario() {
    let [limit, low, high] = [50, 10, 20].map(QueueLimit::packets);
    let built = [
        QueueConfig::DropTail(DropTailParams::new(limit)),
        QueueConfig::DropHead(DropHeadParams::new(limit)),
        QueueConfig::RandomDrop(RandomDropParams::new(limit)),
        QueueConfig::Red(RedParams::new(limit)),
        QueueConfig::AdaptiveRed(AdaptiveRedParams::new(limit)),
        QueueConfig::StepMark(StepMarkParams::new(limit, low)),
        QueueConfig::Wred(WredParams::new(limit, low, high)),
        QueueConfig::Fair(FairParams::new(limit)),
        QueueConfig::DualPi2(DualPi2Params::default()),
    ];
    for built in built {
        let mut text = json!({ "kind": built.name() });
        match built.name() {
            "dual_pi2" => {}
            "step_mark" => {
                text["limit"] = "50 packets".into();
                text["threshold"] = "10 packets".into();
            }
            "wred" => {
                text["limit"] = "50 packets".into();
                text["k_min"] = "10 packets".into();
                text["k_max"] = "20 packets".into();
            }
            _ => text["limit"] = "50 packets".into(),
        }
        let read: QueueConfig = serde_json::from_value(text).expect("the other keys have defaults");
        assert_eq!(built, read);
    }
}

#[test]
fn a_network_is_that_of_the_scenario_that_says_the_same() {
    let text = r#"
        duration = "10 s"
        [defaults]
        host = "plain"
        [links.link]
        rate = "20 Mbit/s"
        delay = "10 ms"
        queue = { kind = "drop_tail", limit = "50 packets" }
        [flows.bulk]
        count = 2
        path = ["link"]
        rtt = "40 ms"
        congestion = "cubic"
        send_jitter = "none"
    "#;
    let mut read = scenario_run::network(text, 1);
    // The scenario computes these two, for limits in bdp and in bytes.
    (read.links[0].bdp_bytes, read.links[0].packet_bytes) = (0.0, 1_500.0);
    let queue = QueueConfig::DropTail(DropTailParams::new(QueueLimit::packets(50)));
    let rate = Rate::from_bits_per_second(20_000_000);
    let link = LinkSpec::new(rate, Time::from_milliseconds(10), queue);
    let tcp = TcpSpec::new(CongestionConfig::Cubic(CubicParams::default()));
    let group = GroupSpec::bulk("bulk", vec![0], tcp);
    let flows = vec![FlowSpec::new(0, Time::from_milliseconds(40)); 2];
    let built = Network::new(Time::from_milliseconds(10_000), vec![link], vec![group], flows);
    assert_eq!(format!("{built:#?}"), format!("{read:#?}"));
}
