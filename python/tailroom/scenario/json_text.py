"""JSON that is readable and that a terminal shows as it is."""

import json
import re

CONTROLS = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]")
"""Control characters except tab and line feed, and those that reverse the direction of text."""


def json_text(content: object) -> str:
    """Returns content as JSON; equal content gives equal text.

    Letters of all languages stay as they are. Characters that a terminal would obey, and which JSON
    allows in a text, are escaped: a title may come from somebody else's file.

    Args:
        content: Tables, lists, texts, numbers and `None`, without infinite numbers.
    """
    text = json.dumps(content, indent=2, ensure_ascii=False, allow_nan=False)
    return CONTROLS.sub(lambda match: f"\\u{ord(match[0]):04x}", text) + "\n"
