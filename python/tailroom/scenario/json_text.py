"""JSON from files, and JSON that is readable and that a terminal shows as it is."""

import json
from functools import lru_cache
from typing import Any

from tailroom.given_files import values_of_json
from tailroom.quoting import CONTROLS
from tailroom.scenario.named_values import NamedValues

MOST_VALUES = 10_000_000
"""Values of JSON; a summary of the longest scenario has fewer."""


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
        ValueError: The text is no JSON, nested too deeply, or has too many values.
    """
    if values_of_json(text) > MOST_VALUES:
        raise ValueError(f"it has more than {MOST_VALUES:,} values")
    try:
        return json.loads(text, object_pairs_hook=NamedValues)
    except RecursionError:
        raise ValueError("its tables are nested too deeply") from None


def _indented(value: Any, line: str) -> str:
    """Returns what `json.dumps(value, indent=2)` returns, in a tenth of its time.

    With `indent`, the standard library visits each number in Python. Here it visits tables and
    lists only; what else one of them holds is encoded as a whole, and split at the line feeds, of
    which JSON has none in a text.

    Args:
        value: What is encoded.
        line: The line feed and the indentation before the end of a table or list.
    """
    inner = f"{line}  "
    encode = _encoder(inner).encode
    if not _is_nested(value):
        return encode(value)
    is_table = isinstance(value, dict)
    entries = value.items() if is_table else enumerate(value)
    plain = {key: part for key, part in entries if not _is_nested(part)}
    whole = encode(plain if is_table else list(plain.values()))
    texts = whole[1:-1].split(f",{inner}")
    if len(plain) < len(value):
        encoded = iter(texts)
        texts = [
            (f"{encode(key)}: " if is_table else "") + _indented(part, inner)
            if _is_nested(part)
            else next(encoded)
            for key, part in (value.items() if is_table else enumerate(value))
        ]
    return f"{whole[0]}{inner}{f',{inner}'.join(texts)}{line}{whole[-1]}"


def _is_nested(value: object) -> bool:
    """Whether a value is a table or a list with entries, each of which gets a line."""
    return isinstance(value, (dict, list, tuple)) and len(value) > 0


@lru_cache
def _encoder(line: str) -> json.JSONEncoder:
    return json.JSONEncoder(ensure_ascii=False, allow_nan=False, separators=(f",{line}", ": "))
