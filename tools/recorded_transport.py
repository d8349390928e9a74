"""Scenarios of `compare_results.py` about the keys of a group's transport."""

from collections.abc import Iterator

from small_scenario import Document, dumbbell

TRANSPORTS: dict[str, Document] = {
    "recovery_newreno": {"recovery": "newreno"},
    "recovery_sack": {"recovery": "sack"},
    "recovery_rack": {"recovery": "rack"},
    "rack_prr": {"recovery": "rack", "prr": True},
    "prr": {"prr": True},
    "count_lost_in_pipe": {"count_lost_in_pipe": True},
    "newreno_delayed_ack": {"recovery": "newreno", "delayed_ack": True},
    "delayed_ack": {"delayed_ack": True},
    "delayed_ack_of_4": {"delayed_ack": {"packets": 4, "timeout": "20 ms"}},
    "ack_aggregation": {"ack_aggregation": "5 ms"},
    "initial_window": {"initial_window": 3},
    "initial_ssthresh": {"initial_ssthresh": 20},
    "handshake": {"handshake": True},
    "handshake_done": {"handshake": "done"},
    "initial_rto": {"handshake": True, "initial_rto": "3 s"},
    "quick_acks": {"delayed_ack": True, "quick_acks": 16},
    "sack_compression": {"sack_compression": True},
    "timestamp_tick": {"timestamp_tick": "1 ms"},
    "rack_timer_margin": {"recovery": "rack", "rack_timer_margin": "2 ms"},
    "window_validation": {"window_validation": True},
    "send_burst_auto": {"send_burst": "auto"},
    "min_rto": {"min_rto": "1 s"},
    "rto_granularity": {"rto_granularity": "10 ms", "min_rto": "100 ms"},
    "restart_rto": {"restart_rto_at_retransmission": False},
    "rtt_samples": {"rtt_samples": "karn"},
    "max_window": {"max_window": 30},
    "pacing": {"pacing": True},
    "pacing_send_burst": {"pacing": True, "send_burst": 8},
    "send_burst": {"send_burst": 16},
    "forget_sack_at_timeout": {"forget_sack_at_timeout": True},
    "undo": {"undo": True},
    "frto": {"undo": True, "frto": True},
    "rack_frto": {"recovery": "rack", "prr": True, "undo": True, "frto": True},
    "send_jitter_none": {"send_jitter": "none"},
    "send_jitter_auto": {"send_jitter": "auto"},
    "send_jitter_2_ms": {"send_jitter": "2 ms"},
    "packet_size": {"packet_size": "700 B"},
    "header_size": {"header_size": "66 B"},
    "access_rate": {"access_rate": "30 Mbit/s"},
    "access_rate_drawn": {"access_rate": {"kind": "exponential", "mean": "40 Mbit/s"}},
    "sender_side_0": {"sender_side": 0.0},
    "sender_side_1": {"sender_side": 1.0},
    "rtt_uniform": {"rtt": {"uniform": ["20 ms", "90 ms"]}},
    "rtt_lognormal": {"rtt": {"kind": "lognormal", "mean": "60 ms", "sigma": 0.4}},
    "start_spread": {"start": {"from": "0 s", "to": "4 s"}},
    "start_exponential": {"start": {"kind": "exponential", "mean": "500 ms"}},
    "stop": {"stop": "8 s"},
    "count_50": {"count": 50},
}
"""Keys of a group of CUBIC flows, over a lossy link."""

UNDER_TIMEOUTS = (
    "recovery_newreno",
    "recovery_sack",
    "recovery_rack",
    "rack_prr",
    "prr",
    "count_lost_in_pipe",
    "min_rto",
    "rto_granularity",
    "restart_rto",
    "rtt_samples",
    "forget_sack_at_timeout",
    "undo",
    "frto",
    "rack_frto",
)
"""Those of `TRANSPORTS` that matter where many packets are lost."""

UNDER_PATH_MODEL = (
    "recovery_rack",
    "handshake",
    "quick_acks",
    "sack_compression",
    "timestamp_tick",
    "rack_timer_margin",
    "delayed_ack",
    "ack_aggregation",
    "initial_window",
    "rtt_samples",
    "max_window",
    "rack_frto",
    "send_jitter_none",
    "packet_size",
    "access_rate",
    "rtt_uniform",
    "count_50",
)
"""Those of `TRANSPORTS` that a control which models the path has too."""

FEEDBACK: dict[str, Document] = {
    "off": {"ecn": "off"},
    "classic": {"ecn": "classic"},
    "accurate": {"ecn": "accurate"},
    "classic_abe": {"ecn": "classic", "congestion": {"kind": "cubic", "abe": True}},
    "accurate_dctcp": {"ecn": "accurate", "congestion": "dctcp"},
    "classic_delayed_ack": {"ecn": "classic", "delayed_ack": True},
    "accurate_delayed_ack": {"ecn": "accurate", "congestion": "dctcp", "delayed_ack": True},
    "l4s": {"ecn": "l4s", "congestion": "prague"},
}
"""Kinds of ECN, over a queue that marks."""

SLOW_STARTS_UNDER = ("reno", "cubic", "highspeed")
HOSTS_UNDER = ("reno", "cubic", "bbr3", "vegas")


def transport_scenarios(
    slow_starts: list[Document], hosts: list[Document]
) -> Iterator[tuple[str, Document]]:
    """Each key of the transport, each slow start and each host."""
    for name, keys in TRANSPORTS.items():
        yield f"transport/{name}", _over_loss(keys)
    for name in UNDER_TIMEOUTS:
        yield f"timeouts/{name}", _over_loss(TRANSPORTS[name], good_to_bad=0.02)
    for name in UNDER_PATH_MODEL:
        yield f"path_model/{name}", _over_loss({**TRANSPORTS[name], "congestion": "bbr3"})
    for name, keys in FEEDBACK.items():
        for queue in ("red", "codel", "dual_pi2"):
            over = {"kind": queue, "limit": "100 packets"}
            yield f"ecn/{name}_{queue}", dumbbell({"tested": _group(keys)}, {"queue": over})
    for control in SLOW_STARTS_UNDER:
        for component in slow_starts:
            kind = component["kind"]
            parameters = {"max_ssthresh": 40} if kind == "limited" else {}
            keys = {"congestion": control, "slow_start": {"kind": kind, **parameters}}
            yield f"slow_start/{kind}_{control}", _over_loss({**keys, "start": "500 ms"})
    for control in HOSTS_UNDER:
        for component in hosts:
            keys = {"congestion": control, "host": component["kind"]}
            yield f"host/{component['kind']}_{control}", _over_loss(keys)


def _over_loss(keys: Document, good_to_bad: float = 0.0005) -> Document:
    """Some flows over a link that loses in bursts, so that timeouts occur too."""
    loss = {"kind": "gilbert_elliott", "good_to_bad": good_to_bad, "bad_to_good": 0.05}
    return dumbbell({"tested": _group(keys)}, {"loss": loss})


def _group(keys: Document) -> Document:
    return {"count": 3, "congestion": "cubic", "rtt": {"from": "20 ms", "to": "60 ms"}, **keys}
