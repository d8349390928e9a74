"""Questions of the page: the JSON of a request, and the answers that need no run."""

import json
import re
from dataclasses import dataclass
from typing import Any

from tailroom import _engine
from tailroom.arguments import LARGEST_SEED
from tailroom.errors import ControlError, RunError, ScenarioError
from tailroom.explore.opened import PLACE, Opened, memory_limit_bytes
from tailroom.scenario.source import ScenarioSource

PROBLEM = re.compile(
    r"(?:line (?P<line>\d+)(?:, (?P<key>[^:]*))?|(?:(?:--)?set )?(?P<set>[^: ]*)): "
)
"""Place of a problem of a scenario: the line, or the key of a value that replaces another."""


class BadQuestionError(ValueError):
    """A request that the page does not send; the message says what is wrong with it."""


@dataclass(frozen=True)
class Question:
    """A scenario that the page asks about, and the seed if it is not that of the scenario."""

    source: ScenarioSource
    seed: int | None
    most_memory_bytes: float

    @classmethod
    def read(cls, body: bytes, opened: Opened) -> "Question":
        """Reads the JSON of a request.

        Raises:
            BadQuestionError: It does not have the keys `text`, `set` and `seed`, or not these
                types.
        """
        try:
            asked = json.loads(body)
            json.dumps(asked, ensure_ascii=False).encode()  # which half a surrogate pair cannot be
        except (ValueError, RecursionError) as error:
            raise BadQuestionError(f"the request is not JSON: {error}") from None
        if not isinstance(asked, dict) or set(asked) != {"text", "set", "seed"}:
            raise BadQuestionError("the request must have the keys text, set and seed")
        text, values, seed = asked["text"], asked["set"], asked["seed"]
        is_set = isinstance(values, dict) and all(isinstance(to, str) for to in values.values())
        if not isinstance(text, str) or not is_set:
            raise BadQuestionError("text must be a text, and set an object of texts")
        is_seed = isinstance(seed, int) and not isinstance(seed, bool)
        if seed is not None and not (is_seed and 0 <= seed <= LARGEST_SEED):
            raise BadQuestionError(f"seed must be null, or a whole number from 0 to {LARGEST_SEED}")
        return cls(opened.ask(text, values), seed, opened.most_memory_bytes)

    def identity(self) -> dict[str, str]:
        """Returns the scenario with every default filled in, and its hash.

        Raises:
            ScenarioError: The scenario is wrong.
            ControlError: The module of a control raised an exception.
        """
        scenario = self.source.resolve(self.seed)
        if memory_limit_bytes(scenario) > self.most_memory_bytes:
            raise ScenarioError(
                f"{PLACE}: memory_limit: is more than the {self.most_memory_bytes / 1e9:g} GB that "
                "this server gives a run; lower it, or raise it in the scenario file of `tailroom "
                "explore`"
            )
        return {"scenario": scenario, "hash": self.source.hash()}

    def model_input(self) -> str:
        """Returns the input of the analytic models as JSON.

        Raises:
            ScenarioError: The scenario is wrong.
            ControlError: The module of a control raised an exception.
        """
        source = self.source
        with source.named_in_errors():
            return _engine.model_input(
                source.text,
                source.directory,
                source.overrides,
                self.seed,
                source.controls.find,
                source.permitted_files,
            )


def fault(error: Exception) -> dict[str, Any]:
    """Returns why a question has no answer, as the page shows it.

    Args:
        error: A `ScenarioError`, `ControlError`, `RunError` or `MemoryError`.
    """
    if isinstance(error, ScenarioError):
        lines = str(error).splitlines()
        return {"kind": "scenario", "problems": [_problem(line) for line in lines]}
    message = str(error) or "out of memory"
    if isinstance(error, ControlError) and error.__cause__ is not None:
        message = f"{message}: {type(error.__cause__).__name__}: {error.__cause__}"
    return {"kind": "run", "message": message}


FAULTS = (ScenarioError, RunError, MemoryError)
"""Exceptions for which a question has no answer; `ControlError` is a `RunError`."""


def _problem(line: str) -> dict[str, Any]:
    text = line.removeprefix(f"{PLACE}: ")
    place = PROBLEM.match(text)
    problem, _, remedy = text[place.end() if place else 0 :].rpartition("; ")
    return {
        "line": int(place["line"]) if place and place["line"] else None,
        "key": (place["key"] or place["set"] or "") if place else "",
        "problem": problem or remedy,
        "remedy": remedy if problem else "",
        "text": text,
    }
