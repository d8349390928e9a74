"""What `--config` writes for SONiC and OpenConfig, against their public YANG models.

The models are not part of this repository. Whoever validates gives the folder that holds two
checkouts, or links to them, in `--models` or in TAILROOM_YANG_MODELS:

* `sonic`: `src/sonic-yang-models` of https://github.com/sonic-net/sonic-buildimage;
* `openconfig`: https://github.com/openconfig/public.

`yanglint` of libyang reads them. `yang.csv` has the verdicts of yanglint 2.1.30 with
sonic-buildimage 086b03b (August 2026) and openconfig/public 94f5896 (July 2026); without models or
yanglint, this program says so and prints them.

    python -m tests.validation.yang [FILE...] [--models DIR] [--write]

A FILE has lines that `--config` printed, for SONiC or for OpenConfig, or other configuration in
those tables; only the files are then validated.
"""

import argparse
import csv
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import tailroom as tr
from tailroom.export.devices import Device, on_devices, sharing
from tailroom.pfc_headroom.formats import openconfig, sonic_profile
from tailroom.scenario.scenario import Scenario

RECORDED = Path(__file__).with_suffix(".csv")
HEADINGS = ("case", "sonic", "openconfig")
GROUP = {"congestion": "cubic", "rtt": "40 us", "count": 4}
WRED = {"kind": "wred", "limit": "8 MB", "k_min": "100 kB", "k_max": "400 kB", "p_max": 0.2}
STATIC = {"kind": "static_threshold", "threshold": "1 MB"}
PAUSE = {"xoff": "20 kB", "xon": "18 kB", "headroom": "90 kB"}
POOL = {"asic": {"size": "16 MB", "policy": {"kind": "dynamic_threshold", "alpha": 1}}}
LINK = {"rate": "25 Gbit/s", "delay": "1 us", "queue": {"kind": "drop_tail", "limit": "8 MB"}}
CASES: dict[str, dict[str, Any]] = {
    "tail drop": {"links": {"a": LINK}},
    "step": {
        "links": {
            "a": {**LINK, "queue": {"kind": "step_mark", "limit": "8 MB", "threshold": "300 kB"}}
        },
    },
    "WRED": {"links": {"a": {**LINK, "queue": WRED}}},
    "pool": {"pools": POOL, "links": {"a": {**LINK, "pool": "asic"}}},
    "two alphas, a reserve, marks": {
        "pools": POOL,
        "links": {
            "a": {**LINK, "queue": WRED, "pool": "asic", "alpha": 0.25, "reserved": "18 kB"},
            "b": {**LINK, "pool": "asic"},
        },
    },
    "static threshold": {
        "pools": {
            "asic": {"size": "9 MB", "policy": {"kind": "static_threshold", "threshold": "1 MB"}}
        },
        "links": {"a": {**LINK, "pool": "asic"}},
    },
    "lossless, headroom of each": {
        "ingress_pools": {"tor": {"size": "8 MB"}},
        "links": {"a": {**LINK, "pause": PAUSE, "ingress": {"pool": "tor", "alpha": 0.125}}},
    },
    "lossless, shared headroom, next to lossy": {
        "pools": POOL,
        "ingress_pools": {"tor": {"size": "8 MB", "headroom": "1 MB"}},
        "links": {
            "a": {
                **LINK,
                "pause": PAUSE,
                "ingress": {"pool": "tor", "alpha": 0.5, "xon_offset": "2 kB"},
            },
            "b": {**LINK, "pool": "asic", "ingress": {"pool": "tor", "alpha": 2}},
        },
    },
}
OF_TABLES = {
    "BUFFER_POOL": ("sonic-buffer-pool", ("name",)),
    "BUFFER_PROFILE": ("sonic-buffer-profile", ("name",)),
    "BUFFER_QUEUE": ("sonic-buffer-queue", ("port", "qindex")),
    "BUFFER_PG": ("sonic-buffer-pg", ("port", "pg_num")),
    "QUEUE": ("sonic-queue", ("ifname", "qindex")),
    "WRED_PROFILE": ("sonic-wred-profile", ("name",)),
    "SCHEDULER": ("sonic-scheduler", ("name",)),
    "PORT": ("sonic-port", ("name",)),
}
"""Model and keys of each table of `config_db.json`."""
POOL_OF_SWITCH = {"type": "egress", "mode": "static", "size": "100000000"}
"""A pool that the lines name, but the switch has."""


def written(case: dict[str, Any], device: Device) -> str:
    """The lines of a case."""
    links = {**case["links"], "out": LINK}
    flows = {f"of_{link}": {**GROUP, "path": [link, "out"]} for link in case["links"]}
    scenario: Any = {"duration": "1 s", "flows": flows, **case, "links": links}
    return on_devices(*sharing(Scenario.of(scenario), "a"))[device].text


def as_yang(config: dict[str, Any]) -> dict[str, Any]:
    """`config_db.json` as RFC 7951 has the data of SONiC's models."""
    data: dict[str, Any] = {}
    for table, rows in config.items():
        module, keys = OF_TABLES[table]
        entries = []
        for name, row in rows.items():
            parts = dict(zip(keys, name.split("|"), strict=True))
            typed = {
                leaf: int(value)
                if leaf in ("dynamic_th", "speed", "weight")
                else {"true": True, "false": False}.get(value, value)
                for leaf, value in row.items()
            }
            entries.append({**parts, **typed})
        data[f"{module}:{module}"] = {table: {f"{table}_LIST": entries}}
    return data


def of_headroom() -> Iterator[tuple[str, str, str]]:
    """What `headroom --format` writes, by case: for SONiC, and for OpenConfig."""
    for name, headroom in (
        ("headroom of each", tr.headroom("400G", "100m")),
        ("headroom, shared", tr.headroom("100G", "300m", table="sn5640", ports=64, buffer="64MB")),
    ):
        yield name, sonic_profile(headroom), openconfig(headroom)


def placed(text: str) -> dict[str, Any]:
    """The lines with names of a switch in place of PORT, QUEUE and PG, and what they refer to."""
    ports = sorted(set(re.findall(r'"(PORT[\w-]*)\|', text)))
    for number, port in enumerate(ports):
        text = text.replace(f'"{port}|', f'"Ethernet{number}|')
    for number, queue in enumerate(sorted(set(re.findall(r"\|(QUEUE[\w-]*)", text))), start=3):
        text = text.replace(f'|{queue}"', f'|{number}"')
    config: dict[str, Any] = json.loads(text.replace("|PG", "|3"))
    config["PORT"] = {
        f"Ethernet{number}": {"lanes": str(number), "speed": "25000"}
        for number in range(len(ports))
    }
    pools = config.setdefault("BUFFER_POOL", {})
    for row in config["BUFFER_PROFILE"].values():
        pools.setdefault(row["pool"], POOL_OF_SWITCH)
    return config


def rendered(models: Path, into: Path) -> Path:
    """SONiC's models, with the templates as its Python library reads them."""
    for model in (models / "yang-models").glob("*.yang"):
        shutil.copy(model, into)
    block = re.compile(
        r'{% if yang_model_type == "cvl" %}.*?(?:{% else %}(.*?))?{% endif %}', re.DOTALL
    )
    for template in (models / "yang-templates").glob("*.j2"):
        text = block.sub(lambda found: found.group(1) or "", template.read_text(encoding="utf-8"))
        (into / template.stem).write_text(text, encoding="utf-8")
    return into


def verdict(folders: Sequence[Path], modules: Sequence[Path], data: dict[str, Any]) -> str:
    """`valid`, or the first error of yanglint."""
    with tempfile.NamedTemporaryFile("w", suffix=".json", encoding="utf-8") as file:
        json.dump(data, file)
        file.flush()
        paths = [word for folder in folders for word in ("-p", str(folder))]
        command = ["yanglint", *paths, *map(str, modules), "-t", "config", file.name]
        ended = subprocess.run(command, capture_output=True, text=True, check=False)
    errors = [line for line in ended.stderr.splitlines() if "err :" in line]
    return "valid" if ended.returncode == 0 else (errors or ["not valid"])[0]


class Models:
    """The public models of both, for as long as the folder of the rendered ones exists."""

    def __init__(self, models: Path, into: str) -> None:
        checkout = (models / "openconfig").resolve()
        self._folders = sorted({path.parent for path in checkout.rglob("*.yang")})
        self._openconfig = checkout / "release" / "models" / "qos" / "openconfig-qos.yang"
        self._sonic = rendered(models / "sonic", Path(into))

    def of_sonic(self, text: str) -> str:
        """The verdict on tables of `config_db.json`."""
        names = ("sonic-device_metadata", *(module for module, _ in OF_TABLES.values()))
        modules = [self._sonic / f"{module}.yang" for module in names]
        return verdict([self._sonic], modules, as_yang(placed(text)))

    def of_openconfig(self, text: str) -> str:
        """The verdict on data of openconfig-qos."""
        return verdict(self._folders, [self._openconfig], json.loads(text))

    def of_file(self, path: str) -> tuple[str, str, str]:
        """A file with its verdict, by the names of its tables."""
        text = Path(path).read_text(encoding="utf-8")
        if any(name.startswith("openconfig-") for name in json.loads(text)):
            return path, "", self.of_openconfig(text)
        return path, self.of_sonic(text), ""

    def of_cases(self) -> Iterator[tuple[str, str, str]]:
        """Each case with its two verdicts."""
        of_size = (
            (name, written(case, Device.SONIC), written(case, Device.OPENCONFIG))
            for name, case in CASES.items()
        )
        for name, config, qos in (*of_size, *of_headroom()):
            yield name, self.of_sonic(config), self.of_openconfig(qos)


def main(arguments: Sequence[str]) -> int:
    """Validates every case, or the files; 0 if all are valid, or were when they were recorded."""
    parser = argparse.ArgumentParser(prog="tests.validation.yang")
    parser.add_argument("files", nargs="*", metavar="FILE", help="lines of --config to validate")
    parser.add_argument("--models", type=Path, default=os.environ.get("TAILROOM_YANG_MODELS"))
    parser.add_argument("--write", action="store_true", help=f"renew {RECORDED.name}")
    given, _ = parser.parse_known_args(arguments)
    if given.models is None or shutil.which("yanglint") is None:
        missing = "YANG: no --models (TAILROOM_YANG_MODELS) or no yanglint"
        if given.files:
            print(f"{missing}; files cannot be validated without them", file=sys.stderr)
            return 2
        print(f"{missing}; as recorded:")
        rows = list(csv.reader(RECORDED.read_text(encoding="utf-8").splitlines()))[1:]
    else:
        with tempfile.TemporaryDirectory() as into:
            models = Models(Path(given.models), into)
            found = map(models.of_file, given.files) if given.files else models.of_cases()
            rows = [list(row) for row in found]
        if given.write and not given.files:
            with RECORDED.open("w", encoding="utf-8", newline="") as file:
                csv.writer(file, lineterminator="\n").writerows([HEADINGS, *rows])
    for name, sonic, of_openconfig in rows:
        said = {"SONiC": sonic, "OpenConfig": of_openconfig}
        print(f"{name}: " + ", ".join(f"{who} {what}" for who, what in said.items() if what))
    return int(any(one not in ("valid", "") for row in rows for one in row[1:]))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
