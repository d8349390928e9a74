"""JSON from files, and JSON that is readable and that a terminal shows as it is."""

import json
import re
from functools import lru_cache
from typing import Any

from tailroom.scenario.named_values import NamedValues

CONTROLS = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]")
"""Control characters except tab and line feed, and those that reverse the direction of text."""


def json_text(content: object) -> str:
    """Returns content as JSON; equal content gives equal text.

    Letters of all languages stay as they are. Characters that a terminal would obey, and which JSON
    allows in a text, are escaped: a title may come from somebody else's file.

    Args:
        content: Tables, lists, texts, numbers and `None`, without infinite numbers.
    """
    text = _indented(content, "\n")
    return CONTROLS.sub(lambda match: f"\\u{ord(match[0]):04x}", text) + "\n"


def read_json(text: str) -> Any:
    """Reads JSON from a file, whose tables suggest similar keys where one is missing.

    Args:
        text: The content of the file.

    Raises:
        ValueError: The text is no JSON, or nested too deeply.
    """
    try:
        return json.loads(text, object_pairs_hook=NamedValues)
    except RecursionError:
        raise ValueError("its tables are nested too deeply") from None


def _indented(value: Any, line: str) -> str:
    """Returns what `json.dumps(value, indent=2)` returns, in a quarter of its time.

    With `indent`, the standard library visits each number in Python. Here it visits tables and
    lists only; one without others in it is encoded as a whole.

    Args:
        value: What is encoded.
        line: The line feed and the indentation before the end of a table or list.
    """
    is_table = isinstance(value, dict)
    if not (is_table or isinstance(value, (list, tuple))) or not value:
        return json.dumps(value, ensure_ascii=False, allow_nan=False)
    inner = f"{line}  "
    parts = list(value.values()) if is_table else list(value)
    if not any(isinstance(part, (dict, list, tuple)) for part in parts):
        whole = _encoder(inner).encode(value)
        return f"{whole[0]}{inner}{whole[1:-1]}{line}{whole[-1]}"
    texts = (_indented(part, inner) for part in parts)
    if is_table:
        keys = (json.dumps(key, ensure_ascii=False) for key in value)
        texts = (f"{key}: {text}" for key, text in zip(keys, texts, strict=True))
    first, last = "{}" if is_table else "[]"
    return f"{first}{inner}{f',{inner}'.join(texts)}{line}{last}"


@lru_cache
def _encoder(line: str) -> json.JSONEncoder:
    return json.JSONEncoder(ensure_ascii=False, allow_nan=False, separators=(f",{line}", ": "))
