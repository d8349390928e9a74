//! Random networks that use every option of the engine and have many simultaneous events.

use std::sync::Arc;

use proptest::option;
use proptest::prelude::*;
use proptest::sample::select;
use tailroom_engine::congestion::CongestionConfig;
use tailroom_engine::congestion::highspeed::{HighspeedParams, IncreaseRule};
use tailroom_engine::congestion::reno::RenoParams;
use tailroom_engine::distribution::{Count, Distribution, Empirical};
use tailroom_engine::framing::Cells;
use tailroom_engine::link::LinkSpec;
use tailroom_engine::link::draws::Draws;
use tailroom_engine::link::ingress_pool::{IngressMember, IngressMemory};
use tailroom_engine::link::jitter::JitterSpec;
use tailroom_engine::link::line::LineSpec;
use tailroom_engine::link::pause::PauseSpec;
use tailroom_engine::link::policer::PolicerSpec;
use tailroom_engine::link::reorder::ReorderSpec;
use tailroom_engine::link::serializer::RateChange;
use tailroom_engine::link::shaper::ShaperSpec;
use tailroom_engine::link::spec::{DelayChange, FlowAdmissionSpec};
use tailroom_engine::link::wire_loss::LossSpec;
use tailroom_engine::network::{FlowSpec, GroupSpec, Network};
use tailroom_engine::observe::recorder::ArrivalLogSpec;
use tailroom_engine::packet::addresses::FlowHosts;
use tailroom_engine::packet::dscp::Dscp;
use tailroom_engine::packet::ties::Ties;
use tailroom_engine::private_path::delays::SenderSide;
use tailroom_engine::quantity::limit::Limit;
use tailroom_engine::quantity::{BitRate, Duration, PositiveDuration, Size, SizeOrZero};
use tailroom_engine::queue::QueueConfig;
use tailroom_engine::queue::cake::CakeParams;
use tailroom_engine::queue::cake::isolation::Isolation;
use tailroom_engine::queue::cake::tins::Diffserv;
use tailroom_engine::tcp::TcpSpec;
use tailroom_engine::tcp::receiver::DelayedAck;
use tailroom_engine::tcp::sender::ecn::EcnMode;
use tailroom_engine::tcp::sender::rtt::RttSamples;
use tailroom_engine::traffic::arrivals::FlowArrivals;
use tailroom_engine::traffic::bulk::BulkParams;
use tailroom_engine::traffic::cbr::CbrParams;
use tailroom_engine::traffic::finite_flows::FiniteFlowsSpec;
use tailroom_engine::traffic::objects::ObjectsSpec;
use tailroom_engine::traffic::on_off::OnOffSpec;
use tailroom_engine::traffic::poisson::{PacketSizes, PoissonSpec};
use tailroom_engine::traffic::streaming::StreamingSpec;
use tailroom_engine::traffic::trace::{TraceFlow, TraceSpec};
use tailroom_engine::traffic::web::WebSpec;
use tailroom_engine::traffic::{SourceSpec, class_of};
use tailroom_engine::units::{Rate, Time};

use crate::support::random_pools::{
    member, policy_of_flows_and_heads, pool_with, prioritize, random_pool, share,
};
use crate::support::{controls, disciplines, networks, random_transports};

/// Times that mostly lie on a grid of milliseconds, so that many of them are equal.
fn time(most_milliseconds: u64) -> impl Strategy<Value = Time> {
    prop_oneof![
        4 => (0..=most_milliseconds).prop_map(Time::from_milliseconds),
        1 => (0..=most_milliseconds * 1_000_000_000).prop_map(Time::from_picoseconds),
    ]
}

fn queue() -> impl Strategy<Value = QueueConfig> {
    let packets = ["1 packet", "2 packets", "5 packets", "20 packets", "100 packets"];
    let many = ["1000 packets", "100000 packets"];
    let bytes = ["1500 B", "10 kB", "100 kB", "10 MB"];
    let limit = select([&packets[..], &many, &bytes].concat());
    let any = limit.prop_flat_map(|limit| select(disciplines::valid(limit)));
    // Simultaneous events are most frequent at tail-drop queues.
    let plain = select(vec![1, 2, 5, 20, 100, 1_000, 100_000]).prop_map(Limit::Packets);
    prop_oneof![4 => any, 4 => plain.prop_map(networks::drop_tail), 1 => cake()]
}

/// CAKE with a shaper slower than any link, or without.
fn cake() -> impl Strategy<Value = QueueConfig> {
    let rate = option::of(select(vec![300_000, 100_001])).prop_map(|rate| rate.map(BitRate::new));
    let diffserv = select(vec![Diffserv::Besteffort, Diffserv::Diffserv3, Diffserv::Diffserv8]);
    let isolation = select(vec![Isolation::Flows, Isolation::Flowblind, Isolation::TripleIsolate]);
    let memlimit = option::of(select(vec![5_000, 40_000])).prop_map(|size| size.map(Size::new));
    (rate, diffserv, isolation, memlimit, any::<[bool; 2]>()).prop_map(
        |(rate, diffserv, isolation, memlimit, [ingress, autorate_ingress])| {
            QueueConfig::Cake(with!(
                CakeParams::default(),
                CakeParams { rate, diffserv, isolation, memlimit, ingress, autorate_ingress }
            ))
        },
    )
}

fn loss() -> impl Strategy<Value = LossSpec> {
    prop_oneof![
        3 => Just(LossSpec::None),
        1 => select(vec![0.001, 0.01, 0.1])
            .prop_map(|probability| LossSpec::Bernoulli { probability }),
        1 => (2_u64..300).prop_map(|every| LossSpec::Periodic { every }),
        1 => Just(LossSpec::GilbertElliott {
            good_to_bad: 0.005,
            bad_to_good: 0.2,
            loss_good: 0.001,
            loss_bad: 0.5,
        }),
    ]
}

/// Rate changes in the first two seconds. Some of them stop the link for good.
fn rate_changes() -> impl Strategy<Value = (Vec<RateChange>, Option<Time>)> {
    let change = (time(1_500), select(vec![0, 0, 500_000, 3_000_000, 20_000_000]));
    let changes = prop::collection::vec(change, 0..4).prop_map(|mut changes| {
        changes.sort_unstable();
        changes.dedup_by_key(|(at, _)| *at);
        let rate = Rate::from_bits_per_second;
        changes.into_iter().map(|(at, bits)| RateChange::new(at, rate(bits))).collect()
    });
    let period =
        option::of(select(vec![1_600, 2_500])).prop_map(|ms| ms.map(Time::from_milliseconds));
    prop_oneof![
        2 => Just((Vec::new(), None)),
        1 => (changes, period).prop_map(|(mut changes, period): (Vec<RateChange>, _)| {
            let period = period.filter(|_| !changes.is_empty());
            if period.is_some() {
                // A schedule that repeats must begin at time zero with a rate above 0.
                changes[0] = RateChange::new(Time::ZERO, Rate::from_bits_per_second(2_000_000));
            }
            (changes, period)
        }),
    ]
}

fn delay_changes() -> impl Strategy<Value = Vec<DelayChange>> {
    let change = (time(1_500), time(40));
    let changes = prop::collection::vec(change, 0..4).prop_map(|mut changes| {
        changes.sort_unstable();
        changes.dedup_by_key(|(at, _)| *at);
        changes.into_iter().map(|(at, delay)| DelayChange::new(at, delay)).collect()
    });
    prop_oneof![3 => Just(Vec::new()), 1 => changes]
}

fn jitter() -> impl Strategy<Value = JitterSpec> {
    let draws = prop_oneof![
        Just(Draws::AtNoTime),
        Just(Draws::Every(Time::from_milliseconds(100))),
        Just(Draws::OnAverageEvery(Time::from_milliseconds(5))),
    ];
    draws.prop_map(|draws| {
        // Whole milliseconds meet other events.
        let extra_delay = Empirical::mix(&[0.0, 1e9, 7e9], &[2.0, 1.0, 1.0]);
        JitterSpec::new(Distribution::Empirical(extra_delay), draws)
    })
}

/// Whole milliseconds and the time of a packet meet other events.
fn reorder() -> impl Strategy<Value = ReorderSpec> {
    let extra_delay = select(vec![1_000_000_000, 12_000_000_000, 1_500_000_000, 77])
        .prop_map(PositiveDuration::new);
    let bernoulli = (select(vec![0.01, 0.3, 0.9]), extra_delay.clone())
        .prop_map(|(probability, extra_delay)| ReorderSpec::Bernoulli { probability, extra_delay });
    let periodic = (select(vec![2, 7, 50]), extra_delay)
        .prop_map(|(every, extra_delay)| ReorderSpec::Periodic { every, extra_delay });
    prop_oneof![bernoulli, periodic]
}

/// A shaper at a third of the rate of a link to all of it, and a policer; packets have at most
/// 1500 B.
fn token_buckets() -> impl Strategy<Value = (Option<ShaperOfLink>, Option<PolicerSpec>)> {
    let peak = option::weighted(0.3, select(vec![1.0, 1.7]));
    let tick = option::weighted(0.3, select(vec![1, 10]));
    let tick = tick.prop_map(|tick| tick.map(PositiveDuration::from_milliseconds));
    let cells =
        prop_oneof![2 => Just(None), 1 => Just(Some(Cells::Atm)), 1 => Just(Some(Cells::Ptm))];
    let overhead = option::of(Just(Size::new(40)));
    let burst = select(vec![1_749, 6_000, 33_333]).prop_map(Size::new);
    let shaper = (select(vec![0.3, 0.9, 1.0]), burst.clone(), peak, tick, overhead, cells)
        .prop_map(|(share, burst, peak, granularity, overhead, cells)| ShaperOfLink {
            share,
            peak,
            of_rate: with!(
                ShaperSpec::new(BitRate::new(1), burst),
                ShaperSpec { granularity, overhead, cells }
            ),
        });
    let rate = select(vec![500_000, 3_333_333, 8_000_000]).prop_map(BitRate::new);
    let policer = (rate, burst).prop_map(|(rate, burst)| PolicerSpec::new(rate, burst));
    (option::weighted(0.3, shaper), option::weighted(0.2, policer))
}

/// A shaper whose rates depend on the link.
#[derive(Clone, Debug)]
struct ShaperOfLink {
    share: f64,
    peak: Option<f64>,
    of_rate: ShaperSpec,
}

impl ShaperOfLink {
    fn at(self, rate: Rate) -> ShaperSpec {
        let rate_of = |share| BitRate::new((share * rate.bits_per_second() as f64) as u64);
        let peak_rate = self.peak.map(|peak| rate_of(self.share * peak));
        with!(self.of_rate, ShaperSpec { rate: rate_of(self.share), peak_rate })
    }
}

fn random_link() -> impl Strategy<Value = LinkSpec> {
    let rate = select(vec![1_000_000, 4_000_000, 8_000_000, 20_000_000, 7_777_777]);
    let dispersion = option::of(select(vec![1, 3, 10]).prop_map(Time::from_milliseconds));
    let changes =
        (rate_changes(), delay_changes(), option::weighted(0.2, jitter()), token_buckets());
    let fair_rate = option::of(select(vec![300_000, 2_000_000]));
    let admission = (select(vec![10, 100]), fair_rate, option::of(select(vec![0.1, 0.6])));
    let admission = admission.prop_map(|(interval, fair_rate, max_priority_load)| {
        with!(
            FlowAdmissionSpec::default(),
            FlowAdmissionSpec {
                interval: PositiveDuration::from_milliseconds(interval),
                min_fair_rate: fair_rate.map(BitRate::new),
                max_priority_load
            }
        )
    });
    let others = (dispersion, option::weighted(0.3, admission), option::weighted(0.2, reorder()));
    (rate, time(20), queue(), loss(), changes, others).prop_map(
        |(rate_bps, delay, queue, loss, changes, others)| {
            with!(
                networks::link("", rate_bps, delay, Limit::Packets(1)),
                LinkSpec {
                    queue,
                    loss,
                    shaper: changes
                        .3
                        .0
                        .filter(|_| changes.0.0.is_empty())
                        .map(|shaper| shaper.at(Rate::from_bits_per_second(rate_bps))),
                    policer: changes.3.1,
                    rate_changes: changes.0.0,
                    rate_period: changes.0.1,
                    delay_changes: changes.1,
                    jitter: changes.2,
                    reorder: others.2,
                    packet_log: 20_000,
                    arrival_dispersion: others
                        .0
                        .map(|base: Time| PositiveDuration::new(base.picoseconds())),
                    arrival_log: Some(ArrivalLogSpec::new(
                        Time::from_milliseconds(100).into(),
                        Time::from_milliseconds(1_500).into()
                    )),
                    admission: others.1,
                    bdp_bytes: 12_345.0,
                    packet_bytes: 1_500.0
                }
            )
        },
    )
}

fn congestion() -> impl Strategy<Value = CongestionConfig> {
    let highspeed = |low_window, increase, halve_in_slow_start| {
        CongestionConfig::Highspeed(with!(
            HighspeedParams::default(),
            HighspeedParams { low_window, increase, halve_in_slow_start }
        ))
    };
    let any_control: Vec<CongestionConfig> =
        controls::all().into_iter().map(|(_, config)| config).collect();
    prop_oneof![
        3 => select(any_control),
        1 => any::<bool>().prop_map(|abe| CongestionConfig::Reno(with!(RenoParams::default(), RenoParams { abe }))),
        1 => Just(highspeed(38.0, IncreaseRule::Continuous, false)),
        // A low threshold, which the small windows of these runs exceed.
        1 => Just(highspeed(4.0, IncreaseRule::Continuous, true)),
        1 => Just(highspeed(38.0, IncreaseRule::Table, false)),
    ]
}

fn delayed_ack() -> impl Strategy<Value = DelayedAck> {
    let timeout = select(vec![1, 10, 40, 200]).prop_map(PositiveDuration::from_milliseconds);
    option::of((2_u32..5, timeout)).prop_map(|rule| {
        rule.map_or(DelayedAck::OFF, |(packets, timeout)| DelayedAck::Set { packets, timeout })
    })
}

fn tcp() -> impl Strategy<Value = TcpSpec> {
    let recovery = random_transports::repair();
    let slow_start = random_transports::slow_start(8);
    let windows = (1_u32..20, option::of(2_u32..50), option::weighted(0.3, 1_u64..60));
    let times = (
        delayed_ack(),
        option::weighted(0.3, select(vec![1, 3, 10]).prop_map(PositiveDuration::from_milliseconds)),
        select(vec![50, 200, 1_000]).prop_map(PositiveDuration::from_milliseconds),
        select(vec![1, 1_000_000_000, 200_000_000_000]).prop_map(PositiveDuration::new),
        select(vec![RttSamples::Timestamps, RttSamples::Karn]),
    );
    let ecn = select(vec![EcnMode::Off, EcnMode::Classic, EcnMode::Accurate, EcnMode::L4s]);
    let bursts = random_transports::bursts();
    let switches = (any::<bool>(), bursts, any::<bool>(), any::<bool>(), ecn, any::<bool>());
    let host =
        (random_transports::beginning(), random_transports::acks(), random_transports::undo());
    (congestion(), recovery, slow_start, windows, times, switches, host).prop_map(
        |(congestion, repair, slow_start, windows, times, switches, host)| {
            with!(
                TcpSpec::new(congestion),
                TcpSpec {
                    recovery: repair.0,
                    prr: repair.1,
                    count_lost_in_pipe: repair.2,
                    delayed_ack: times.0,
                    ack_aggregation: times.1,
                    initial_window: windows.0,
                    initial_ssthresh: windows.1,
                    min_rto: times.2,
                    rto_granularity: Some(times.3),
                    rtt_samples: times.4,
                    max_window: windows.2,
                    slow_start,
                    pacing: switches.0,
                    send_burst: switches.1,
                    handshake: host.0.0,
                    initial_rto: host.0.1,
                    quick_acks: host.1.0,
                    sack_compression: host.1.1,
                    window_validation: host.1.1,
                    timestamp_tick: host.1.2,
                    rack_timer_margin: host.1.2,
                    undo: host.2.0,
                    frto: host.2.1,
                    forget_sack_at_timeout: switches.2,
                    restart_rto_at_retransmission: switches.3,
                    ecn: switches.4,
                    slow_start_after_idle: switches.5,
                    reverse_path: Vec::new(),
                    ack_size: None
                }
            )
        },
    )
}

fn source() -> impl Strategy<Value = SourceSpec> {
    let rate = || select(vec![80_000, 800_000, 2_000_000]).prop_map(Rate::from_bits_per_second);
    let mix = Distribution::Empirical(Empirical::mix(&[40.0, 64.0, 100.0], &[7.0, 4.0, 1.0]));
    let sizes = vec![PacketSizes::Fixed, PacketSizes::Exponential, PacketSizes::Drawn(mix)];
    let ten_milliseconds = 1e10;
    let periods = vec![
        Distribution::Fixed(ten_milliseconds),
        Distribution::Exponential { mean: ten_milliseconds },
        Distribution::pareto(1.5, ten_milliseconds),
    ];
    prop_oneof![
        4 => option::of(1_u64..200_000).prop_map(|bytes| {
            with!(BulkParams::default(), BulkParams { bytes: bytes.map(Size::new) }).into()
        }),
        1 => objects(),
        1 => (rate(), select(sizes))
            .prop_map(|(rate, sizes)| PoissonSpec::new(rate, sizes).into()),
        1 => (rate(), any::<bool>()).prop_map(|(rate, is_drawn)| {
            if is_drawn { CbrParams::new(rate) } else { CbrParams::at_once(rate) }.into()
        }),
        3 => dynamic_flows(),
        1 => (rate(), select(periods.clone()), select(periods))
            .prop_map(|(rate, on, off)| OnOffSpec::new(rate, on, off).into()),
    ]
}

/// Objects of a few packets, with idle times that are long enough for a restart between some of
/// them.
fn objects() -> impl Strategy<Value = SourceSpec> {
    let mean = select(vec![1_000.0, 5_000.0, 50_000.0]);
    let size = (mean, any::<bool>()).prop_map(|(mean, is_fixed)| {
        if is_fixed { Distribution::Fixed(mean) } else { Distribution::pareto(1.2, mean) }
    });
    let times = prop::collection::vec(time(1_900), 1..9).prop_map(|mut times| {
        times.sort_unstable();
        times
    });
    let arrivals = (select(vec![1.0, 5.0, 50.0]), option::weighted(0.3, times));
    (size, arrivals).prop_map(|(size, (per_second, times))| {
        let rate_bps = per_second * 8.0 * size.mean();
        with!(ObjectsSpec::new(size, per_second, rate_bps), ObjectsSpec { times }).into()
    })
}

/// Dynamic flows: a few hundred short ones per run.
fn dynamic_flows() -> impl Strategy<Value = SourceSpec> {
    let grid = prop::collection::vec(time(1_900), 0..50).prop_map(|mut times| {
        times.sort_unstable();
        FlowArrivals::Given(times)
    });
    let arrivals = prop_oneof![
        1 => grid,
        2 => select(vec![5.0, 50.0])
            .prop_map(|per_second| FlowArrivals::Poisson {
                per_second,
                start: Time::ZERO,
                stop: Time::from_milliseconds(1_500),
            }),
    ];
    let size = prop_oneof![
        select(vec![1_000.0, 5_000.0, 20_000.0]).prop_map(Distribution::Fixed),
        select(vec![1_000.0, 5_000.0, 20_000.0])
            .prop_map(|mean| Distribution::Exponential { mean }),
    ];
    let peak_rate = option::of(select(vec![500_000.0, 8_000_000.0]).prop_map(Distribution::Fixed));
    let listed = prop::collection::vec((time(1_900), 1_u64..30_000, any::<bool>()), 0..50);
    let span = || select(vec![1e10, 1e11]).prop_map(Distribution::Fixed);
    let pages = select(vec![
        Count::Rounded(Distribution::Fixed(3.0)),
        Count::Geometric { least: 1, mean: 4.0 },
    ]);
    let objects = (0_u64..8, 1_u32..4, any::<bool>(), span(), span());
    (0..4_u32, arrivals, size, member_rtt(), peak_rate, (listed, pages, objects)).prop_map(
        |(kind, arrivals, size, rtt, peak_rate, (listed, pages, objects))| {
            let rtt = Distribution::Fixed(rtt.picoseconds() as f64);
            let flow_log = 1_000_000;
            match kind {
                0 => {
                    let flows = FiniteFlowsSpec::new(arrivals, size, rtt);
                    with!(flows, FiniteFlowsSpec { peak_rate, flow_log }).into()
                }
                1 => {
                    let flows = TraceSpec::new(list(listed), rtt);
                    with!(flows, TraceSpec { peak_rate, flow_log }).into()
                }
                2 => {
                    let duration = Distribution::Exponential { mean: 1e11 };
                    let rate = peak_rate.unwrap_or(Distribution::Fixed(80_000.0));
                    let media = StreamingSpec::new(arrivals, duration, rate, rtt);
                    with!(media, StreamingSpec { flow_log }).into()
                }
                _ => {
                    let (embedded, parallel, is_fixed, think_time, parsing_time) = objects;
                    let embedded = embedded as f64;
                    let embedded_objects = if is_fixed {
                        Count::Rounded(Distribution::Fixed(embedded))
                    } else {
                        Count::Geometric { least: 0, mean: embedded }
                    };
                    with!(
                        WebSpec::new(arrivals, pages, think_time, size, rtt),
                        WebSpec { parsing_time, embedded_objects, parallel, peak_rate, flow_log }
                    )
                    .into()
                }
            }
        },
    )
}

/// A list of flows, some of which have their own rate and RTT.
fn list(mut flows: Vec<(Time, u64, bool)>) -> Arc<[TraceFlow]> {
    flows.sort_unstable();
    let flows = flows.into_iter().map(|(start, bytes, is_known)| TraceFlow {
        start,
        bytes,
        rate: is_known.then(|| Rate::from_bits_per_second(2_000_000)),
        rtt: is_known.then(|| Time::from_milliseconds(8)),
    });
    flows.collect()
}

/// A group, the access rate of its flows, and for each flow its start and the part of its RTT
/// beyond the propagation of the path.
type Members = (GroupSpec, Option<Rate>, Vec<(Time, Time)>);

fn group(links: usize) -> impl Strategy<Value = Members> {
    let path = |least| {
        prop::sample::subsequence((0..links).collect::<Vec<_>>(), least..=links).prop_shuffle()
    };
    let reverse = prop_oneof![2 => Just(Vec::new()), 1 => path(0)];
    let access = option::of(select(vec![500_000, 8_000_000, 100_000_000]));
    let stop = option::weighted(0.2, time(1_500));
    let flow = || (prop_oneof![3 => Just(Time::ZERO), 1 => time(500)], member_rtt());
    let members = prop_oneof![
        // Equal flows, whose packets arrive at the same instants.
        (1_usize..5, flow()).prop_map(|(count, flow)| vec![flow; count]),
        prop::collection::vec(flow(), 1..4),
    ];
    let size = select(vec![1_000_u32, 1_000, 1_500, 100]);
    let jitter = option::weighted(0.3, select(vec![1, 1_000_000, 2_500_000_000]));
    let jitter = jitter.prop_map(|most| most.map(Time::from_picoseconds));
    let fraction = option::of(select(vec![0.0, 0.25, 1.0 / 3.0, 0.75, 1.0]));
    let hosts = [FlowHosts::default(), FlowHosts::named(&["a", "b"], &["c"])];
    let headers = (select(vec![Dscp::Be, Dscp::Cs1, Dscp::Ef]), select(hosts.to_vec()));
    let times =
        (stop, jitter, fraction.prop_map(|fraction| fraction.map(SenderSide::new)), headers);
    (path(1), reverse, source(), access, times, size, tcp(), members).prop_map(
        |(path, reverse_path, source, access, times, packet_size, tcp, members)| {
            let (stop, send_jitter, sender_side, (dscp, flow_hosts)) = times;
            let class = class_of(source.name()).expect("a kind of the registry");
            let is_controlled = class.is_responsive();
            let group = with!(
                networks::bulk("", tcp),
                GroupSpec {
                    path,
                    reverse_path: if is_controlled { reverse_path } else { Vec::new() },
                    source,
                    stop: stop.map(|stop| stop + Time::from_milliseconds(501)),
                    packet_size,
                    sender_side,
                    send_jitter,
                    dscp,
                    flow_hosts
                }
            );
            // These have no window: without marks, as many packets arrive as the access link carries.
            let control = group.tcp.as_ref().map(|tcp| tcp.congestion.name());
            let is_paced = control.is_some_and(|control| ["dcqcn", "timely"].contains(&control));
            let group = if is_controlled { group } else { with!(group, GroupSpec { tcp: None }) };
            let access = access.map(|rate| if is_paced { rate.min(8_000_000) } else { rate });
            (group, access.map(Rate::from_bits_per_second), members)
        },
    )
}

/// The part of an RTT beyond the propagation of the path. For a multiple of 4 ms, each private
/// delay is a whole number of milliseconds.
fn member_rtt() -> impl Strategy<Value = Time> {
    prop_oneof![
        1 => Just(Time::ZERO),
        3 => (1_u64..30).prop_map(|quarter| Time::from_milliseconds(4 * quarter)),
        1 => time(100),
    ]
}

/// Pause frames that are frequent and whose headroom is too small for some links.
fn pause() -> impl Strategy<Value = PauseSpec> {
    let xoff = select(vec![1_500_u32, 3_000, 9_000, 40_000]);
    let headroom = select(vec![1, 1_500, 20_000, 1_000_000]);
    (xoff, select(vec![0.0, 0.5, 1.0]), headroom, option::of(time(5))).prop_map(
        |(xoff, xon, headroom, response)| {
            let xon = SizeOrZero::new((f64::from(xoff) * xon) as u64);
            let [xoff, headroom] = [xoff.into(), headroom].map(Size::new);
            let response_time = response.map(Duration::from);
            with!(PauseSpec::new(xoff, xon, headroom), PauseSpec { response_time })
        },
    )
}

/// Memory that ingresses share, and their places there.
fn ingress_pool() -> impl Strategy<Value = (IngressMemory, Vec<Option<IngressMember>>)> {
    let headroom = option::of(select(vec![0, 3_000, 1_000_000]));
    let sizes = (select(vec![0, 4_000, 30_000]), headroom, any::<bool>());
    let memory = sizes.prop_map(|(size, headroom, includes_headroom)| {
        let memory = IngressMemory::new(Size::new(size));
        let headroom = headroom.map(Size::new);
        with!(memory, IngressMemory { headroom, includes_headroom })
    });
    let member =
        (select(vec![0.1, 1.0, 8.0]), select(vec![0, 1_000])).prop_map(|(alpha, xon_offset)| {
            with!(IngressMember::new(0, alpha), IngressMember { xon_offset })
        });
    (memory, prop::collection::vec(option::of(member), 3))
}

/// A network in which links are paused or share memory at their ingresses, in the direction of the packets
/// or of the ACKs.
pub(crate) fn network_with_pauses() -> impl Strategy<Value = Network> {
    let pauses = prop::collection::vec(option::weighted(0.7, pause()), 3);
    let over = prop::collection::vec(option::weighted(0.3, 1_usize..3), 3);
    (network(), (pauses, over), ingress_pool()).prop_map(
        |(mut network, (pauses, over), (memory, members))| {
            let packets: Vec<u32> =
                network.link_facts().iter().map(|facts| facts.packet_bytes).collect();
            let links = network.links.iter_mut().zip(pauses).zip(members);
            for (((link, pause), member), packet) in links.zip(packets) {
                link.pause = pause.filter(|pause| pause.memory_bytes() >= packet.into());
                link.ingress = member;
                if link.pause.is_none() {
                    // A lossy ingress has no pauses to end, and holds a packet.
                    let fits = memory.size.bytes() >= packet.into();
                    link.ingress = member.filter(|_| fits);
                    link.ingress.iter_mut().for_each(|member| member.xon_offset = 0);
                }
            }
            for (link, further) in over.into_iter().enumerate().take(network.links.len()) {
                let other = further.map_or(link, |further| (link + further) % network.links.len());
                if other != link && network.links[link].pause.is_some() {
                    network.links[link].pause_frames_over = Some(other);
                    network.links[other].is_acted_on = true;
                }
            }
            network.ingress_pools = vec![memory];
            let behind = network.behind_ingresses();
            network.links.iter_mut().zip(behind).for_each(|(link, is)| link.is_acted_on |= is);
            network
        },
    )
}

/// A network whose links share a small pool that favours short flows, or drops heads of queues, with
/// disciplines that decide at arrival.
pub(crate) fn network_with_flows_and_heads() -> impl Strategy<Value = Network> {
    let pool = pool_with(policy_of_flows_and_heads(), vec![6_000, 10_000, 40_000]);
    let members = prop::collection::vec(member().prop_map(Some), 3);
    (network(), pool, members).prop_map(|(mut network, pool, members)| {
        for link in &mut network.links {
            link.pool = None;
            if link.queue.is_scheduler() {
                link.queue = networks::drop_tail(Limit::Packets(1_000));
            }
        }
        network.groups.iter_mut().for_each(|group| group.loss_priority = 0);
        network.pools = share(&mut network.links, &pool, &members);
        network
    })
}

/// A network in which all links share a line, and some of them are paused.
pub(crate) fn network_with_lines() -> impl Strategy<Value = Network> {
    let place = (0_u32..2, select(vec![0.3, 1.0]));
    (network_with_pauses(), prop::collection::vec(place, 3)).prop_map(|(mut network, places)| {
        let links = || network.links.iter();
        let rate = links().map(|link| link.rate).max().expect("it has a link");
        let delay = links().map(|link| link.delay).min().expect("it has a link");
        for (link, (priority, weight)) in network.links.iter_mut().zip(places) {
            (link.rate, link.delay) = (rate, delay);
            (link.rate_changes, link.rate_period) = (Vec::new(), None);
            link.line = Some(with!(LineSpec::new("line"), LineSpec { priority, weight }));
        }
        network
    })
}

/// A network of one to three links and one to four groups that runs for two seconds.
pub(crate) fn network() -> impl Strategy<Value = Network> {
    let topology = (1_usize..4).prop_flat_map(|links| {
        (prop::collection::vec(random_link(), links), prop::collection::vec(group(links), 1..5))
    });
    let series = option::of(select(vec![10, 100, 333]));
    let members = prop::collection::vec(option::weighted(0.7, member()), 3);
    let shared = (random_pool(), prop_oneof![Just(vec![None; 3]), members]);
    (topology, any::<u64>(), time(1_900), series, shared).prop_map(
        |((mut links, groups), seed, measure_from, series, (pool, members))| {
            let series_interval = series.map(Time::from_milliseconds);
            let pools = share(&mut links, &pool, &members);
            let mut network = assemble(links, groups, seed, measure_from, series_interval);
            prioritize(&mut network, &pool);
            with!(network, Network { pools })
        },
    )
}

fn assemble(
    mut links: Vec<LinkSpec>,
    members: Vec<Members>,
    seed: u64,
    measure_from: Time,
    series_interval: Option<Time>,
) -> Network {
    for (index, link) in links.iter_mut().enumerate() {
        link.name = format!("link{index}");
    }
    let delay = |path: &[usize]| path.iter().fold(Time::ZERO, |sum, &link| sum + links[link].delay);
    let (mut groups, mut flows) = (Vec::new(), Vec::new());
    for (index, (mut group, access_rate, members)) in members.into_iter().enumerate() {
        let forward = delay(&group.path);
        let back = if group.reverse_path.is_empty() { forward } else { delay(&group.reverse_path) };
        let is_dynamic = group.source.dynamic_rtt().is_some();
        if is_dynamic {
            group.stop = None;
        }
        let members = if is_dynamic { Vec::new() } else { members };
        flows.extend(members.into_iter().map(|(start, beyond)| {
            with!(
                FlowSpec::new(index, (forward + back + beyond).max(Time::from_milliseconds(1))),
                FlowSpec { start, access_rate }
            )
        }));
        group.name = format!("group{index}");
        groups.push(group);
    }
    with!(
        Network::new(Time::from_milliseconds(2_000), links, groups, flows),
        Network {
            measure_from,
            seed, // A quarter of the networks have the order that the seed does not decide.
            ties: if seed.is_multiple_of(4) { Ties::AsDeclared } else { Ties::ByChance },
            memory_limit_bytes: u64::MAX,
            series_interval
        }
    )
}

/// A network whose permanent flows begin after hours in which dynamic flows, if there are any, end or wait
/// for a link that stands still; with a few samples in these hours.
pub(crate) fn network_with_silence() -> impl Strategy<Value = Network> {
    (network(), 1_u64..4, any::<bool>(), option::of(1_u64..40)).prop_map(
        |(mut network, hours, is_measured, samples)| {
            let silence = Time::from_milliseconds(hours * 3_600_000);
            network.duration += silence;
            if !is_measured {
                network.measure_from += silence;
            }
            let samples = samples.map(|samples| silence.picoseconds() / samples);
            network.series_interval = samples.map(Time::from_picoseconds);
            for group in &mut network.groups {
                group.stop = group.stop.map(|stop| stop + silence);
            }
            for flow in &mut network.flows {
                flow.start += silence;
            }
            for link in &mut network.links {
                link.rate_period = None;
                let interval = PositiveDuration::from_milliseconds(1_000);
                link.admission.iter_mut().for_each(|admission| admission.interval = interval);
            }
            network
        },
    )
}
