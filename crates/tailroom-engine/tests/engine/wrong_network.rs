//! Networks that a program has built wrongly: each is refused before the run, with the place of the
//! value and the remedy.

use tailroom_engine::distribution::Distribution;
use tailroom_engine::link::draws::Draws;
use tailroom_engine::link::jitter::JitterSpec;
use tailroom_engine::link::pause::PauseSpec;
use tailroom_engine::link::serializer::{RateChange, Serializer};
use tailroom_engine::link::spec::DelayChange;
use tailroom_engine::link::wire_loss::LossSpec;
use tailroom_engine::network::error::NetworkError;
use tailroom_engine::network::{FlowSpec, Network};
use tailroom_engine::observe::recorder::ArrivalLogSpec;
use tailroom_engine::pool::policy::PolicyConfig;
use tailroom_engine::pool::policy::complete_sharing::CompleteSharingParams;
use tailroom_engine::pool::policy::dynamic_threshold::DynamicThresholdParams;
use tailroom_engine::pool::policy::longest_queue_drop::LongestQueueDropParams;
use tailroom_engine::pool::policy::occamy::OccamyParams;
use tailroom_engine::pool::{PoolMember, PoolSpec};
use tailroom_engine::quantity::limit::QueueLimit;
use tailroom_engine::quantity::{BitRate, PositiveDuration, Size, SizeOrZero};
use tailroom_engine::queue::QueueConfig;
use tailroom_engine::queue::step_mark::StepMarkParams;
use tailroom_engine::simulation::Simulation;
use tailroom_engine::simulation::error::RunError;
use tailroom_engine::tcp::TcpSpec;
use tailroom_engine::traffic::bulk::BulkParams;
use tailroom_engine::traffic::cbr::CbrParams;
use tailroom_engine::units::{Rate, Time};

use crate::support::refusals::assert_refused;
use crate::support::{scenario_run, transport};

const MS: fn(u64) -> Time = Time::from_milliseconds;
const BITS: fn(u64) -> Rate = Rate::from_bits_per_second;

/// Two links, a group of two bulk flows, a group of one, a stream, and flows that arrive and depart.
fn good() -> Network {
    let text = r#"
        duration = "2 s"
        measure_from = "1 s"
        series = { interval = "100 ms" }
        [links.near]
        rate = "10 Mbit/s"
        delay = "5 ms"
        queue = { kind = "drop_tail", limit = "50 packets" }
        [links.far]
        rate = "10 Mbit/s"
        delay = "5 ms"
        queue = { kind = "drop_tail", limit = "50 packets" }
        [flows.pair]
        count = 2
        path = ["near", "far"]
        congestion = "reno"
        rtt = "40 ms"
        [flows.one]
        path = ["far"]
        reverse_path = ["near"]
        congestion = "cubic"
        rtt = "40 ms"
        [flows.stream]
        path = ["near"]
        source = { kind = "cbr", rate = "1 Mbit/s" }
        [flows.short]
        path = ["far"]
        congestion = "reno"
        rtt = "40 ms"
        source = { kind = "finite_flows", size = "20 kB", load = 0.2 }
    "#;
    scenario_run::network(text, 1)
}

fn tcp(network: &mut Network) -> &mut TcpSpec {
    network.groups[0].tcp.as_mut().expect("the flows are connections")
}

/// The network with this change is refused: by `validate`, and by the run.
#[track_caller]
fn assert_wrong(place: &str, remedies: &[&str], change: impl FnOnce(&mut Network)) {
    let mut network = good();
    change(&mut network);
    let refusal = network.validate().expect_err("the network is wrong");
    assert_refused(&refusal.to_string(), place, remedies);
    assert_eq!(Simulation::new(&network).expect_err("it does not start"), refusal);
}

#[test]
fn a_good_network_runs_and_a_refusal_is_an_error_of_a_run() {
    good().validate().expect("the network is good");
    scenario_run::finish(&good());
    let mut network = good();
    network.links[1].rate = BITS(0);
    let refusal = network.validate().expect_err("the network is wrong");
    let NetworkError::Link { link: 1, bad } = &refusal else { panic!("{refusal}") };
    assert_eq!(bad.key, "rate");
    let of_run = RunError::from(refusal.clone());
    let expected = "links[1].rate: 0 bit/s is out of range; write at least 1 bit/s and at most \
                    1000000 Tbit/s";
    assert_eq!(of_run.to_string(), expected);
}

#[test]
fn wrong_times_of_a_run_are_refused() {
    for duration in [Time::ZERO, Time::NEVER] {
        assert_wrong("duration", &["0 s", "30 days"], |network| network.duration = duration);
    }
    for from in [MS(2_000), MS(3_000), Time::NEVER] {
        let change = |network: &mut Network| network.measure_from = from;
        assert_wrong("measure_from", &["measure_from", "duration"], change);
    }
    let interval = |interval| move |network: &mut Network| network.series_interval = Some(interval);
    assert_wrong("series_interval", &["30 days"], interval(Time::ZERO));
    let picosecond = Time::from_picoseconds(1);
    assert_wrong("series_interval", &["memory_limit"], interval(picosecond));
}

#[test]
fn wrong_pools_are_refused() {
    let pool = |size_bytes, policy| PoolSpec::new(size_bytes, policy);
    let sharing = || PolicyConfig::CompleteSharing(CompleteSharingParams::default());
    let shared = |pool: PoolSpec, member: PoolMember| {
        move |network: &mut Network| {
            network.pools = vec![pool];
            network.links[1].pool = Some(member);
        }
    };
    let [first, second] = [0, 1].map(PoolMember::new);
    assert_wrong("pools[0].size", &["0 B"], shared(pool(0, sharing()), first));
    assert_wrong("pools[0].size", &["1500 B"], shared(pool(1_000, sharing()), first));
    let cells = |cell_bytes| with!(pool(9_000, sharing()), PoolSpec { cell_bytes });
    assert_wrong("pools[0].cell", &["1 B"], shared(cells(0), first));
    assert_wrong("pools[0].cell", &["size"], shared(cells(9_001), first));
    assert_wrong("links[1].pool", &["1"], shared(pool(9_000, sharing()), second));
    let own_alpha = with!(first, PoolMember { alpha: Some(2.0) });
    assert_wrong(
        "links[1].alpha",
        &["dynamic_threshold"],
        shared(pool(9_000, sharing()), own_alpha),
    );
    let thresholds = || PolicyConfig::DynamicThreshold(DynamicThresholdParams::default());
    for alpha in [0.0, -1.0, f64::NAN, f64::INFINITY] {
        let member = with!(first, PoolMember { alpha: Some(alpha) });
        assert_wrong("links[1].alpha", &["0"], shared(pool(9_000, thresholds()), member));
    }
    let port = with!(first, PoolMember { port: Some(0) });
    assert_wrong("links[1].port", &["port_alpha"], shared(pool(9_000, thresholds()), port));
    for port_alpha in [0.0, -1.0, f64::NAN] {
        let policy = PolicyConfig::DynamicThreshold(with!(
            DynamicThresholdParams::default(),
            DynamicThresholdParams { port_alpha: Some(port_alpha) }
        ));
        assert_wrong("pools[0].policy.port_alpha", &["0"], shared(pool(9_000, policy), first));
    }
    let reserves = with!(first, PoolMember { reserved_bytes: 9_001 });
    assert_wrong("pools[0].size", &["reserved"], shared(pool(9_000, sharing()), reserves));
    assert_wrong("pools[0].", &["pool"], |network| network.pools = vec![pool(9_000, sharing())]);
    let pushing = PolicyConfig::LongestQueueDrop(LongestQueueDropParams::default());
    assert_wrong("links[1].is_acted_on", &["true"], shared(pool(9_000, pushing), first));
    let occamy = |memory_rate| {
        let params = OccamyParams::default();
        PolicyConfig::Occamy(with!(params, OccamyParams { memory_rate }))
    };
    assert_wrong("links[1].is_acted_on", &["true"], shared(pool(9_000, occamy(None)), first));
    let no_rate = Some(BitRate::new(0));
    let key = "pools[0].policy.memory_rate";
    assert_wrong(key, &["1 bit/s"], shared(pool(9_000, occamy(no_rate)), first));
}

#[test]
fn wrong_pauses_are_refused() {
    let pause =
        |xoff, xon| Some(PauseSpec::new(Size::new(xoff), SizeOrZero::new(xon), Size::new(500)));
    assert_wrong("links[0].pause.xon", &["1000 B", "xoff"], |network| {
        network.links[0].pause = pause(1_000, 2_000);
    });
    assert_wrong("links[0].pause.xoff", &["1500 B"], |network| {
        network.links[0].pause = pause(900, 1);
    });
    assert_wrong("links[0].pause.response_time", &["2592000 s"], |network| {
        let response_time = Some(Time::NEVER.into());
        network.links[0].pause = pause(9_000, 1).map(|it| with!(it, PauseSpec { response_time }));
    });
    assert_wrong("links[1].is_acted_on", &["true"], |network| {
        network.links[0].pause = pause(9_000, 1);
    });
}

#[test]
fn wrong_rates_and_delays_of_a_link_are_refused() {
    for bits in [0, u64::MAX] {
        assert_wrong("links[0].rate", &["1 bit/s"], |network| network.links[0].rate = BITS(bits));
    }
    let fast = BITS(1_000_000_000_000_000);
    assert_wrong("links[1].rate", &["larger"], |network| network.links[1].rate = fast);
    assert_wrong("links[1].delay", &["30 days"], |network| network.links[1].delay = Time::NEVER);
    let rate = |at, bits| RateChange::new(MS(at), BITS(bits));
    assert_wrong("links[0].rate_changes[1].at", &["order"], |network| {
        network.links[0].rate_changes = vec![rate(2, 1), rate(1, 1)];
    });
    assert_wrong("links[0].rate_period", &["0.001 s", "30 days"], |network| {
        network.links[0].rate_period = Some(Time::from_picoseconds(1));
    });
    assert_wrong("links[0].rate_period", &["raise"], |network| {
        let link = &mut network.links[0];
        (link.rate_changes, link.rate_period) = (vec![rate(2, 1)], Some(MS(1)));
    });
    let delay = |at, delay| DelayChange::new(MS(at), delay);
    assert_wrong("links[0].delay_changes[1].at", &["order"], |network| {
        network.links[0].delay_changes = vec![delay(1, MS(1)), delay(1, MS(2))];
    });
    assert_wrong("links[0].delay_changes", &["30 days"], |network| {
        network.links[0].delay_changes = vec![delay(1, Time::NEVER)];
    });
}

/// With draws that take no time, the first packet would never leave.
#[test]
fn jitter_that_is_drawn_all_the_time_is_refused() {
    for draws in [Draws::Every(Time::ZERO), Draws::OnAverageEvery(Time::from_picoseconds(1))] {
        assert_wrong("links[0].jitter.draws", &["10 us"], |network| {
            network.links[0].jitter = Some(JitterSpec::new(Distribution::Fixed(1e9), draws));
        });
    }
}

/// A link that carries a bit in a month: nobody waits for the end of a packet.
#[test]
fn a_period_that_carries_less_than_a_byte_is_refused() {
    let month = MS(30 * 24 * 3_600 * 1_000);
    let at = |picoseconds, bits| RateChange::new(Time::from_picoseconds(picoseconds), BITS(bits));
    let changes = vec![at(0, 1), at(1, 0)];
    let mut serializer = Serializer::new(BITS(1), &changes, Some(month));
    assert_eq!(serializer.finish(Time::ZERO, 1_500), Time::NEVER);
    assert_wrong("links[0].rate_changes", &["raise", "lengthen"], |network| {
        let link = &mut network.links[0];
        (link.rate_changes, link.rate_period) = (changes, Some(month));
    });
}

#[test]
fn wrong_queues_losses_and_logs_of_a_link_are_refused() {
    assert_wrong("links[1].queue.threshold", &["10 packets"], |network| {
        network.links[1].queue = QueueConfig::StepMark(with!(
            StepMarkParams::new(QueueLimit::packets(10), QueueLimit::packets(20)),
            StepMarkParams { drop_others: true }
        ));
    });
    for (key, loss) in [
        ("probability", LossSpec::Bernoulli { probability: f64::NAN }),
        ("probability", LossSpec::Bernoulli { probability: 1.0 }),
        ("every", LossSpec::Periodic { every: 1 }),
        (
            "bad_to_good",
            LossSpec::GilbertElliott {
                good_to_bad: 0.1,
                bad_to_good: -0.1,
                loss_good: 0.0,
                loss_bad: 1.0,
            },
        ),
    ] {
        let place = format!("links[0].loss.{key}");
        let least = if key == "every" { "2" } else { "1" };
        assert_wrong(&place, &[least], |network| network.links[0].loss = loss);
    }
    assert_wrong("links[0].arrival_dispersion", &["30 days"], |network| {
        network.links[0].arrival_dispersion = Some(PositiveDuration::new(0));
    });
    let log = |from, to| ArrivalLogSpec::new(MS(from).into(), MS(to).into());
    assert_wrong("links[0].arrival_log.to", &["to"], |network| {
        network.links[0].arrival_log = Some(log(10, 10));
    });
    assert_wrong("links[0].arrival_log.from", &["duration"], |network| {
        network.links[0].arrival_log = Some(log(2_000, 3_000));
    });
    assert_wrong("links[0].bdp_bytes", &["0"], |network| network.links[0].bdp_bytes = f64::NAN);
    assert_wrong("links[0].packet_bytes", &["0"], |network| network.links[0].packet_bytes = 0.0);
    let taken = |network: &mut Network| network.links[1].name = "near".into();
    assert_wrong("links[1].name", &["another"], taken);
}

#[test]
fn wrong_paths_are_refused() {
    let path = |path: &[usize]| {
        let path = path.to_vec();
        move |network: &mut Network| network.groups[0].path = path
    };
    assert_wrong("groups[0].path[0]", &["2"], path(&[7]));
    assert_wrong("groups[0].path", &["links"], path(&[]));
    assert_wrong("groups[0].path[2]", &["once"], path(&[0, 1, 0]));
    let back = |network: &mut Network| network.groups[1].reverse_path = vec![0, 2];
    assert_wrong("groups[1].reverse_path[1]", &["2"], back);
}

#[test]
fn wrong_sizes_and_sources_of_a_group_are_refused() {
    let size = |packet, header| {
        move |network: &mut Network| {
            (network.groups[0].packet_size, network.groups[0].header_size) = (packet, header);
        }
    };
    assert_wrong("groups[0].packet_size", &["packet_size", "header_size"], size(0, 0));
    assert_wrong("groups[0].packet_size", &["packet_size", "header_size"], size(1_000, 2_000));
    assert_wrong("groups[0].header_size", &["1"], size(1_000, 0));
    assert_wrong("groups[0].packet_size", &["65535 B"], size(70_000, 40));
    assert_wrong("groups[0].tcp", &["transport"], |network| network.groups[0].tcp = None);
    assert_wrong("groups[2].tcp", &["None"], |network| {
        network.groups[2].tcp = Some(transport::reno());
    });
    assert_wrong("groups[2].reverse_path", &["empty"], |network| {
        network.groups[2].reverse_path = vec![1];
    });
    assert_wrong("groups[0].source.bytes", &["1 B"], |network| {
        network.groups[0].source = BulkParams::transfer(Size::new(0)).into();
    });
    for (bits, bound) in [(0, "1 bit/s"), (u64::MAX, "100000 Gbit/s")] {
        assert_wrong("groups[2].source.rate", &[bound], |network| {
            network.groups[2].source = CbrParams::at_once(BITS(bits)).into();
        });
    }
    assert_wrong("groups[0].send_jitter", &["30 days"], |network| {
        network.groups[0].send_jitter = Some(Time::NEVER);
    });
    let taken = |network: &mut Network| network.groups[1].name = "pair".into();
    assert_wrong("groups[1].name", &["another"], taken);
}

#[test]
fn wrong_windows_and_timeouts_are_refused() {
    assert_wrong("groups[0].tcp.initial_window", &["1"], |network| {
        tcp(network).initial_window = 0;
    });
    assert_wrong("groups[0].tcp.initial_ssthresh", &["2"], |network| {
        tcp(network).initial_ssthresh = Some(1);
    });
    assert_wrong("groups[0].tcp.max_window", &["1"], |network| tcp(network).max_window = Some(0));
    assert_wrong("groups[0].tcp.min_rto", &["60 s"], |network| {
        tcp(network).min_rto = PositiveDuration::from_milliseconds(60_001);
    });
    assert_wrong("groups[0].tcp.ack_size", &["65535 B"], |network| {
        tcp(network).ack_size = Some(Size::new(65_536));
    });
}

#[test]
fn wrong_flows_are_refused() {
    let flow = |at: usize, change: fn(&mut FlowSpec)| {
        move |network: &mut Network| change(&mut network.flows[at])
    };
    assert_wrong("flows[1].group", &["4"], flow(1, |flow| flow.group = 9));
    assert_wrong("flows[2].group", &["sort"], flow(1, |flow| flow.group = 2));
    assert_wrong("flows[3].group", &["remove"], flow(3, |flow| flow.group = 3));
    assert_wrong("flows[0].rtt", &["20 ms"], flow(0, |flow| flow.rtt = MS(19)));
    assert_wrong("flows[0].rtt", &["30 days"], flow(0, |flow| flow.rtt = Time::NEVER));
    assert_wrong("flows[0].rtt", &["100 ms"], |network| {
        network.links.iter_mut().for_each(|link| link.delay = Time::ZERO);
        network.flows[0].rtt = Time::ZERO;
    });
    assert_wrong("flows[2].start", &["start"], flow(2, |flow| flow.start = MS(2_000)));
    let no_rate = |flow: &mut FlowSpec| flow.access_rate = Some(BITS(0));
    assert_wrong("flows[2].access_rate", &["1 bit/s"], flow(2, no_rate));
}
