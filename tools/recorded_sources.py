"""Scenarios of `compare_results.py` about what applications send."""

from collections.abc import Iterator

from small_scenario import MIX, Document, dumbbell

SIZES: dict[str, object] = {
    "fixed": "40 kB",
    "uniform": {"kind": "uniform", "from": "3 kB", "to": "80 kB"},
    "exponential": {"kind": "exponential", "mean": "40 kB"},
    "lognormal": {"kind": "lognormal", "mean": "40 kB", "sigma": 1.0},
    "pareto": {"kind": "pareto", "shape": 1.5, "mean": "40 kB"},
    "bounded_pareto": {"kind": "bounded_pareto", "shape": 1.2, "min": "4 kB", "max": "4 MB"},
    "weibull": {"kind": "weibull", "shape": 0.7, "mean": "40 kB"},
    "mix": {"kind": "mix", "values": ["3 kB", "30 kB", "300 kB"], "weights": [7, 4, 1]},
    "empirical": {"kind": "empirical", "file": "sizes.csv"},
    "published": {"kind": "published", "name": "storage"},
}
"""Each distribution, of the sizes of flows."""

SHORT: Document = {"congestion": "cubic", "rtt": {"uniform": ["20 ms", "80 ms"]}}
"""What flows that arrive and leave have in addition to their source."""

WEB: Document = {
    "kind": "web",
    "pages": {"kind": "geometric", "mean": 3.0},
    "think_time": {"kind": "exponential", "mean": "500 ms"},
    "main_object": "20 kB",
    "parsing_time": "30 ms",
    "embedded_objects": {"kind": "mix", "values": [0, 4, 9], "weights": [1, 2, 1]},
    "embedded_object": {"kind": "lognormal", "mean": "10 kB", "sigma": 1.2},
    "parallel": 3,
    "arrivals_per_second": 4.0,
    "flow_log": 500,
}

FABRIC: Document = {
    "leaves": 2,
    "hosts": 3,
    "spines": 2,
    "rate": "50 Mbit/s",
    "delay": "1 ms",
    "uplink_rate": "80 Mbit/s",
    "uplink_delay": "2 ms",
    "nic_queue": {"kind": "drop_tail", "limit": "200 packets"},
    "queue": {"kind": "step_mark", "limit": "100 packets", "threshold": "20 packets"},
}
"""A fabric for groups between hosts."""

BETWEEN_HOSTS: Document = {"congestion": "dctcp", "ecn": "accurate", "from": "dc"}
"""What groups between the hosts of a fabric have in addition to their source."""

GROUPS: dict[str, dict[str, Document]] = {
    "bulk": {
        "": {"congestion": "cubic"},
        "permutation": {**BETWEEN_HOSTS, "pairs": "permutation"},
        "bytes": {"congestion": "cubic", "source": {"kind": "bulk", "bytes": "3 MB"}},
    },
    "objects": {
        size: {
            "count": 3,
            "congestion": "cubic",
            "slow_start_after_idle": size == "exponential",
            "source": {"kind": "objects", "size": SIZES[size], "arrivals_per_second": 3.0},
        }
        for size in ("fixed", "exponential")
    }
    | {
        "arrivals": {
            "congestion": "cubic",
            "source": {"kind": "objects", "size": "900 kB", "arrivals": ["0 s", "3 s", "3100 ms"]},
        }
    },
    "finite_flows": {
        **{
            name: {**SHORT, "source": {"kind": "finite_flows", "size": size, "load": 0.6}}
            for name, size in SIZES.items()
        },
        "arrivals_per_second": {
            **SHORT,
            "access_rate": {"kind": "lognormal", "mean": "20 Mbit/s", "sigma": 1.0},
            "host": "linux",
            "source": {
                "kind": "finite_flows",
                "size": "90 kB",
                "arrivals_per_second": 40.0,
                "flow_log": 200,
            },
        },
        "period": {
            **SHORT,
            "source": {"kind": "finite_flows", "size": "90 kB", "period": "100 ms"},
        },
        "hosts": {
            **BETWEEN_HOSTS,
            "to": ["dc.h5", "dc.leaf0"],
            "source": {"kind": "finite_flows", "size": SIZES["exponential"], "load": 0.4},
        },
        "arrivals": {
            **SHORT,
            "source": {
                "kind": "finite_flows",
                "size": "2 MB",
                "arrivals": ["1 s", "1500 ms", "5 s"],
                "flow_log": 3,
            },
        },
    },
    "trace": {"": {**SHORT, "source": {"kind": "trace", "file": "flows.csv", "flow_log": 100}}},
    "streaming": {
        "load": {
            "packet_size": "500 B",
            "rtt": {"uniform": ["20 ms", "80 ms"]},
            "source": {
                "kind": "streaming",
                "rate": {"kind": "uniform", "from": "200 kbit/s", "to": "2 Mbit/s"},
                "duration": {"kind": "exponential", "mean": "2 s"},
                "load": 0.4,
                "flow_log": 100,
            },
        },
        "arrivals_per_second": {
            "source": {
                "kind": "streaming",
                "rate": "1 Mbit/s",
                "duration": "3 s",
                "arrivals_per_second": 5.0,
            },
        },
        "period": {
            "source": {
                "kind": "streaming",
                "rate": "1 Mbit/s",
                "duration": "3 s",
                "period": "700 ms",
            },
        },
        "arrivals": {
            "source": {
                "kind": "streaming",
                "rate": "1 Mbit/s",
                "duration": "3 s",
                "arrivals": ["0 s", "500 ms", "500 ms", "6 s"],
            },
        },
    },
    "web": {
        "ieee80216m": {
            **SHORT,
            "source": {"kind": "web", "model": "ieee80216m", "pages": 3, "load": 0.4},
        },
        "ns3": {**SHORT, "source": {"kind": "web", "model": "ns3", "pages": 3, "load": 0.4}},
        "own": {**SHORT, "source": WEB},
        "period": {
            **SHORT,
            "source": {"kind": "web", "model": "ns3", "pages": 2, "period": "900 ms"},
        },
        "arrivals": {
            **SHORT,
            "source": {
                "kind": "web",
                "model": "ns3",
                "pages": 2,
                "arrivals": [f"{number} s" for number in range(10)],
            },
        },
    },
    "incast": {
        "follow": {
            **SHORT,
            "source": {"kind": "incast", "fan_in": 8, "size": "20 kB", "think_time": "50 ms"},
        },
        "period": {
            **SHORT,
            "source": {
                "kind": "incast",
                "fan_in": 5,
                "size": SIZES["exponential"],
                "service_time": {"kind": "exponential", "mean": "20 ms"},
                "period": "300 ms",
                "flow_log": 100,
            },
        },
        **{
            key: {**SHORT, "source": {"kind": "incast", "fan_in": 5, "size": "20 kB", key: value}}
            for key, value in {
                "load": 0.5,
                "arrivals_per_second": 8.0,
                "arrivals": ["1 s", "1500 ms"],
            }.items()
        },
    },
    "collective": {
        operation: {
            **BETWEEN_HOSTS,
            "source": {
                "kind": "collective",
                "operation": operation,
                "size": "300 kB",
                "compute_time": "20 ms",
                "flow_log": 100,
            },
        }
        for operation in ("ring_all_reduce", "all_to_all", "permutation")
    },
    "poisson": {
        name: {"source": {"kind": "poisson", "rate": "20 Mbit/s", "sizes": sizes}}
        for name, sizes in {
            "fixed": "fixed",
            "exponential": "exponential",
            "mix": {"kind": "mix", "values": ["40 B", "576 B", "1500 B"], "weights": [7, 4, 1]},
        }.items()
    },
    "cbr": {"": {"count": 3, "source": {"kind": "cbr", "rate": "8 Mbit/s"}, "start": "100 ms"}},
    "on_off": {
        "fixed": {
            "source": {"kind": "on_off", "rate": "30 Mbit/s", "on": "80 ms", "off": "150 ms"}
        },
        "pareto": {
            "count": 4,
            "packet_size": "1000 B",
            "source": {
                "kind": "on_off",
                "rate": "20 Mbit/s",
                "on": {"kind": "pareto", "shape": 1.5, "mean": "100 ms"},
                "off": {"kind": "weibull", "shape": 0.8, "mean": "200 ms"},
            },
        },
    },
}
"""Groups of flows by the kind of their source, then by what is special about them."""


def source_scenarios(components: list[Document]) -> Iterator[tuple[str, Document]]:
    """Each source alongside one Reno flow."""
    for component in components:
        kind = component["kind"]
        if kind.startswith("custom_"):
            continue  # tests/test_user_source.py has such sources
        groups = GROUPS.get(kind, {"": {"source": {"kind": kind}}})
        for label, group in groups.items():
            flows = {"tested": group, "reno": MIX["reno"]}
            name = "/".join(part for part in ("source", kind, label) if part)
            document = dumbbell(flows, {})
            if "from" in group:
                document["fabrics"] = {"dc": FABRIC}
                del document["flows"]["tested"]["path"]
            yield name, document
