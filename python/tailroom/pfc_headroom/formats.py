"""A headroom as configuration of SONiC and of OpenConfig."""

import json
from collections.abc import Callable
from typing import Any

from tailroom.pfc_headroom.result import Headroom

LOOKUP_HEADING = "# speed cable size xon xoff threshold"


def sonic(headroom: Headroom) -> str:
    """Returns a row of `pg_profile_lookup.ini`, and a BUFFER_PROFILE of `config_db.json`.

    What SONiC cannot say, and why xon is 0, are comments between the two: JSON has none.

    Args:
        headroom: The result.
    """
    comments = "".join(f"# {remark}\n" for remark in remarks(headroom, "sonic"))
    return f"{sonic_row(headroom)}\n{comments}{sonic_profile(headroom)}"


def sonic_row(headroom: Headroom) -> str:
    """Returns a row of `pg_profile_lookup.ini` below its heading.

    Args:
        headroom: The result.
    """
    amounts = (headroom.size_bytes, headroom.xon_bytes, headroom.xoff_bytes)
    row = " ".join(map(str, (headroom.speed_mbps, headroom.cable, *amounts, 0)))
    if headroom.xon_offset_bytes is None:
        return f"{LOOKUP_HEADING}\n{row}\n"
    return f"{LOOKUP_HEADING} xon_offset\n{row} {headroom.xon_offset_bytes}\n"


def sonic_profile(headroom: Headroom) -> str:
    """Returns a BUFFER_PROFILE as JSON, for `config_db.json`.

    If the ports share the headroom and their number is known, a BUFFER_POOL has its `xoff`, and the
    memory of the switch as `size` if it is known.

    Args:
        headroom: The result.
    """
    profile = {
        "pool": "ingress_lossless_pool",
        "size": str(headroom.size_bytes),
        "xon": str(headroom.xon_bytes),
        "xoff": str(headroom.xoff_bytes),
        "dynamic_th": "0",
    }
    if headroom.xon_offset_bytes is not None:
        profile["xon_offset"] = str(headroom.xon_offset_bytes)
    name = f"pg_lossless_{headroom.speed_mbps}_{headroom.cable}_profile"
    tables: dict[str, Any] = {"BUFFER_PROFILE": {name: profile}}
    if headroom.is_shared and headroom.pool_bytes is not None:
        pool = {"type": "ingress", "mode": "dynamic", "xoff": str(headroom.pool_bytes)}
        if headroom.buffer_bytes is not None:
            pool["size"] = str(headroom.buffer_bytes)
        tables = {"BUFFER_POOL": {profile["pool"]: pool}, **tables}
    return json.dumps(tables, indent=2) + "\n"


def openconfig(headroom: Headroom) -> str:
    """Returns a buffer allocation profile of openconfig-qos as JSON (RFC 7951).

    The model has no leaf for a headroom, nor for one that ports share: the dedicated buffer of each
    queue has it, so that nothing is lost.

    Args:
        headroom: The result.
    """
    name = f"lossless-{headroom.speed}-{headroom.cable}"
    config = {
        "name": "lossless",
        "dedicated-buffer": str(_with_headroom(headroom)),
        "use-shared-buffer": True,
        "shared-buffer-limit-type": "DYNAMIC_BASED_ON_SCALING_FACTOR",
        "dynamic-limit-scaling-factor": 0,
    }
    queue = {"name": "lossless", "config": config}
    profile = {"name": name, "config": {"name": name}, "queues": {"queue": [queue]}}
    qos = {
        # What the name of a queue in a profile refers to.
        "queues": {"queue": [{"name": "lossless", "config": {"name": "lossless"}}]},
        "buffer-allocation-profiles": {"buffer-allocation-profile": [profile]},
    }
    return json.dumps({"openconfig-qos:qos": qos}, indent=2) + "\n"


def _with_headroom(headroom: Headroom) -> int:
    """What a priority reserves if ports share no headroom."""
    return headroom.size_bytes + (headroom.xoff_bytes if headroom.is_shared else 0)


def too_large(headroom: Headroom, name: str) -> str:
    """Returns why the memory of the switch cannot hold a configuration; empty if it can.

    Without the number of ports or the memory, nothing is known. No switch has a pool whose `xoff`
    is larger than the pool.

    Args:
        headroom: The result.
        name: Name of the format.
    """
    ports, memory = headroom.ports, headroom.buffer_bytes
    if ports is None or memory is None:
        return ""
    each = _with_headroom(headroom)
    own = ports * headroom.priorities * each
    needed = own if name == "openconfig" else headroom.all_bytes or 0
    if needed < memory:
        return ""
    return (
        f"{ports:,} ports x {headroom.priorities} priorities set apart {needed:,} B, which does "
        f"not fit into {memory:,} B"
    )


def remarks(headroom: Headroom, name: str) -> list[str]:
    """Returns what a reader of the configuration must know, a sentence each.

    Args:
        headroom: The result.
        name: Name of the format.
    """
    found = []
    if name == "sonic":
        if headroom.why_xon_is_0:
            found.append(headroom.why_xon_is_0)
        found.append("dynamic_th 0 is alpha = 1: what a group may take is no part of the headroom")
    if headroom.verdict:
        found.append(headroom.verdict)
    if headroom.is_shared and name == "openconfig":
        xoff = f"{headroom.xoff_bytes:,} B"
        found.append(
            f"OpenConfig has no headroom that ports share: each queue has its xoff of {xoff}"
        )
    elif headroom.is_shared and headroom.pool_bytes is None:
        found.append("ports share the headroom: give --ports for its BUFFER_POOL")
    elif headroom.is_shared and headroom.buffer_bytes is None:
        found.append(
            "BUFFER_POOL has no size: add that of the switch, which includes xoff (--buffer)"
        )
    return found


FORMATS: dict[str, Callable[[Headroom], str]] = {"sonic": sonic, "openconfig": openconfig}
"""Functions that write a headroom, by format."""
