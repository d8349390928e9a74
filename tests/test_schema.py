"""The published JSON Schema agrees with the check about what a queue needs."""

from __future__ import annotations

import json
import tomllib
from functools import cache

import pytest
from jsonschema import Draft202012Validator  # comes with nbformat

import tailroom as tr
from tailroom import _engine

TEXT = """
duration = "1 s"
[pools.memory]
size = "100 kB"
policy = "complete_sharing"
[links.port]
rate = "10 Mbit/s"
delay = "1 ms"
queue = QUEUE
pool = "memory"
[flows.f]
path = ["port"]
congestion = "cubic"
"""
SWITCH = """
duration = "1 s"
[switches.s]
hosts = 2
rate = "10 Mbit/s"
delay = "1 ms"
queue = QUEUE
pool = { size = "100 kB", policy = "complete_sharing" }
[flows.f]
from = "s"
congestion = "cubic"
"""
NEED_LIMIT = ["drop_tail", "red", "adaptive_red", "drop_head", "random_drop", "fair"]
HAVE_LIMIT = ["codel", "pie", "dual_pi2", "fq_codel", "fq_pie", "cake"]


@cache
def validator() -> Draft202012Validator:
    schema = json.loads(_engine.schema())
    Draft202012Validator.check_schema(schema)
    return Draft202012Validator(schema)


def is_valid(text: str) -> bool:
    """Whether a scenario is valid by the schema, which the check must confirm."""
    by_schema: bool = validator().is_valid(tomllib.loads(text))
    try:
        tr.Scenario.from_toml(text).check()
        by_check = True
    except tr.ScenarioError:
        by_check = False
    assert by_schema == by_check, text
    return by_schema


def without_pool(text: str) -> str:
    table = '[pools.memory]\nsize = "100 kB"\npolicy = "complete_sharing"\n'
    lines = text.replace(table, "").splitlines()
    return "\n".join(line for line in lines if not line.startswith("pool"))


@pytest.mark.parametrize("text", [TEXT, SWITCH])
@pytest.mark.parametrize("kind", NEED_LIMIT + HAVE_LIMIT)
def test_a_queue_needs_a_limit_unless_a_pool_limits_it(kind: str, text: str) -> None:
    for queue in (f'"{kind}"', f'{{ kind = "{kind}" }}'):
        written = text.replace("QUEUE", queue)
        assert is_valid(written)
        assert is_valid(without_pool(written)) == (kind in HAVE_LIMIT)
    limited = text.replace("QUEUE", f'{{ kind = "{kind}", limit = "20 packets" }}')
    assert is_valid(limited)
    assert is_valid(without_pool(limited))


def test_the_interfaces_of_hosts_need_limits_with_a_pool_too() -> None:
    switch = SWITCH.replace("QUEUE", '"drop_tail"')
    assert not is_valid(switch.replace("hosts = 2", 'hosts = 2\nnic_queue = "drop_tail"'))
    assert is_valid(switch.replace("hosts = 2", 'hosts = 2\nnic_queue = "codel"'))
