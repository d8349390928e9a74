"""The declared types of a summary are those of the summaries of runs."""

from types import NoneType, UnionType
from typing import Any, Literal, Union, cast, get_args, get_origin, get_type_hints, is_typeddict

import tailroom as tr
from shortened_scenarios import shipped_scenarios_in_less_time, shortened
from tailroom.simulation.result_types import Summary


def problems(value: object, declared: Any, place: str) -> list[str]:
    """Where a value is not of the declared type, or has other keys."""
    origin, inner = get_origin(declared), get_args(declared)
    if declared is Any:
        return []
    if is_typeddict(declared):
        if not isinstance(value, dict):
            return [f"{place}: not a dict"]
        hints = get_type_hints(declared)
        found = [f"{place}.{key}: not declared" for key in value.keys() - hints.keys()]
        missing = declared.__required_keys__ - value.keys()
        found += [f"{place}.{key}: missing" for key in missing]
        known = value.keys() & hints.keys()
        return found + [
            one for key in known for one in problems(value[key], hints[key], f"{place}.{key}")
        ]
    if origin in (Union, UnionType):
        tried = [problems(value, one, place) for one in inner]
        return [] if [] in tried else tried[0]
    if origin is Literal:
        return [] if value in inner else [f"{place}: {value!r}"]
    if origin is list:
        if not isinstance(value, list):
            return [f"{place}: not a list"]
        return [one for item in value for one in problems(item, inner[0], f"{place}[]")]
    if origin is dict:
        if not isinstance(value, dict):
            return [f"{place}: not a dict"]
        return [one for key in value for one in problems(value[key], inner[1], f"{place}.{key}")]
    kinds: dict[Any, tuple[type, ...]] = {int: (int,), float: (float,), str: (str,), bool: (bool,)}
    allowed = kinds.get(declared, (NoneType,))
    is_right = isinstance(value, allowed) and isinstance(value, bool) == (declared is bool)
    return [] if is_right else [f"{place}: {value!r} is not {declared}"]


def test_a_summary_has_exactly_the_declared_keys_and_types() -> None:
    for name, document in shipped_scenarios_in_less_time():
        result = tr.run(cast("Any", shortened(document, 100_000)))
        assert problems(result.summary, Summary, name) == []


def test_a_key_that_is_not_declared_is_a_problem() -> None:
    summary = tr.run("first", set={"duration": "1 s", "measure_from": "0.5 s"}).summary
    assert problems({**summary, "extra": 1}, Summary, "summary") == ["summary.extra: not declared"]
    assert problems({**summary, "seed": "1"}, Summary, "summary") == [
        "summary.seed: '1' is not <class 'int'>"
    ]
