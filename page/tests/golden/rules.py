"""Writes rules.json and exports.json: what the Python package says, for the tests of the page.

Usage: python page/tests/golden/rules.py, with tailroom installed.
"""

import json
from dataclasses import asdict
from math import isfinite
from pathlib import Path
from typing import Any

from tailroom import _engine
from tailroom.errors import NotApplicableError
from tailroom.export.other_tools import equivalents
from tailroom.models import MODELS, Bottleneck, Requirement
from tailroom.models.bottleneck import _at, _busiest

HERE = Path(__file__).parent
SCENARIOS = HERE.parents[2] / "python" / "tailroom" / "scenarios"
RULES = (
    "rule_of_thumb",
    "square_root_rule",
    "decrease_rule",
    "tiny_buffers",
    "burst_cliff",
    "stability",
    "loss_and_delay_bounds",
    "bbr_buffer",
    "dctcp_threshold",
)
LIMIT = 335
"""Queue limit of the exports, in packets."""
TARGETS = (Requirement(), Requirement(utilization=0.9, loss_fraction=1e-4))

TEMPLATE = """
duration = "10 s"
[defaults]
host = "plain"
[links.l]
rate = "{rate}"
delay = "1 ms"
queue = {queue}
[flows.f]
count = {count}
path = ["l"]
congestion = "{control}"
rtt = {rtt}
{more}
"""
DROP_TAIL = '{ kind = "drop_tail", limit = "100 packets" }'
TINY = '{ kind = "drop_tail", limit = "20 packets" }'
STEP = '{ kind = "step_mark", limit = "400 packets", threshold = "65 packets" }'
NEAR = '{ from = "20 ms", to = "60 ms" }'
SAME = '"40 ms"'
SETTINGS: list[dict[str, Any]] = [
    {"rate": "100 Mbit/s", "count": 10, "control": "reno", "rtt": NEAR},
    {"rate": "100 Mbit/s", "count": 1, "control": "reno", "rtt": SAME},
    {"rate": "1 Gbit/s", "count": 200, "control": "reno", "rtt": NEAR},
    {"rate": "1 Gbit/s", "count": 200, "control": "reno", "rtt": NEAR, "queue": TINY},
    {"rate": "1 Gbit/s", "count": 10, "control": "cubic", "rtt": NEAR, "more": "pacing = true"},
    {"rate": "1 Gbit/s", "count": 10, "control": "cubic", "rtt": NEAR, "more": "send_burst = 16"},
    {"rate": "1 Gbit/s", "count": 10, "control": "bbr3", "rtt": NEAR},
    {"rate": "1 Gbit/s", "count": 1, "control": "bbr1", "rtt": SAME},
    {"rate": "1 Gbit/s", "count": 4, "control": "bbr1", "rtt": SAME},
    {"rate": "1 Gbit/s", "count": 10, "control": "highspeed", "rtt": NEAR},
    {"rate": "1 Gbit/s", "count": 2, "control": "scalable", "rtt": NEAR},
    {"rate": "1 Gbit/s", "count": 2, "control": "bic", "rtt": NEAR},
    {"rate": "10 Gbit/s", "count": 4, "control": "dctcp", "rtt": '"4 ms"', "queue": STEP,
     "more": 'ecn = "accurate"'},
    {"rate": "1 Gbit/s", "count": 20, "control": "reno", "rtt": NEAR,
     "more": 'access_rate = "5 Mbit/s"'},
]  # fmt: skip


SHORT = {"rate": "100 Mbit/s", "count": 10, "control": "reno", "rtt": SAME, "more": ""}
QUEUES = [
    '{ kind = "drop_head", limit = "1 bdp" }',
    '{ kind = "codel" }',
    '{ kind = "codel", target = "1.5 ms", interval = "30 ms" }',
    '{ kind = "codel", target = "1500 ns" }',
    '{ kind = "fq_codel", flows = 64, quantum = "3 kB" }',
    '{ kind = "fq_codel", target = "1500 ns", quantum = "3 kB" }',
    '{ kind = "pie" }',
    '{ kind = "pie", alpha = 0.1, max_burst = "0 s", derandomize = false }',
    '{ kind = "pie", target = "1500 ns" }',
    '{ kind = "fq_pie" }',
    '{ kind = "fq_pie", mark_up_to = 0.125 }',
    '{ kind = "red", limit = "1 bdp" }',
    '{ kind = "dual_pi2" }',
    '{ kind = "fair", limit = "1 bdp" }',
]
"""Queues whose lines for other tools are compared, besides those of SETTINGS."""


def scenarios() -> dict[str, str]:
    """Returns the texts by name."""
    texts = {
        name: (SCENARIOS / f"{name}.toml").read_text(encoding="utf-8")
        for name in ("first", "home-router", "peering", "barman-2004/figure-3", "parking-lot")
    }
    for number, setting in enumerate(SETTINGS):
        values = {"queue": DROP_TAIL, "more": "", **setting}
        texts[f"setting {number}: {setting['control']}"] = TEMPLATE.format(**values)
    return texts


def advice(link: Bottleneck, name: str, target: Requirement) -> dict[str, Any]:
    """Returns what a rule says, as the page's `adviceFor` does."""
    model = MODELS[name]
    try:
        prediction = model.predict(link, target)
    except NotApplicableError as error:
        return {"rule": name, "applies": False, "words": str(error)}
    packets = prediction.required_packets
    return {
        "rule": name,
        "applies": True,
        "packets": packets if packets is not None and isfinite(packets) else None,
        "words": prediction.required_for,
        "assumptions": [
            [assumption.statement, assumption.holds, assumption.found]
            for assumption in model.assumptions(link)
        ],
    }


def export(text: str) -> dict[str, Any]:
    """Returns the lines for other tools, as the page's `equivalents` does, and their input."""
    model_input = json.loads(_engine.Scenario(text, SCENARIOS, []).model_input())
    link = _at(model_input, _busiest(model_input))
    for group in model_input["groups"]:
        group["source"].pop("sizes_bytes", None)
    lines = [asdict(line) for line in equivalents(link, LIMIT)]
    return {"input": model_input, "link": link.name, "limit": LIMIT, "lines": lines}


def main() -> None:
    """Writes the files."""
    rules = []
    for name, text in scenarios().items():
        model_input = json.loads(_engine.Scenario(text, SCENARIOS, []).model_input())
        link = _at(model_input, _busiest(model_input))
        for group in model_input["groups"]:
            group["source"].pop("sizes_bytes", None)
        rules.append(
            {
                "name": name,
                "input": model_input,
                "link": link.name,
                "targets": [
                    {
                        "utilization": target.utilization,
                        "loss": target.loss_fraction,
                        "advice": [advice(link, rule, target) for rule in RULES],
                    }
                    for target in TARGETS
                ],
            }
        )
    texts = [*scenarios().values(), *(TEMPLATE.format(**SHORT, queue=queue) for queue in QUEUES)]
    exports = [export(text) for text in texts]
    for file, content in (("rules", rules), ("exports", exports)):
        text = json.dumps(content, separators=(",", ":"), allow_nan=False)
        (HERE / f"{file}.json").write_text(text + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
