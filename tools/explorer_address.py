"""The address of a scenario in the explorer."""

import json
import zlib
from base64 import urlsafe_b64encode
from collections.abc import Mapping


def address(text: str, link: str | None = None, targets: Mapping[str, float] | None = None) -> str:
    """The part of the explorer's address behind the #, as `page/src/keep/address.ts` reads it.

    Args:
        text: A scenario, as TOML.
        link: The link whose buffer is asked for; the busiest if left out.
        targets: Bounds on all packets of the link: `utilization` and `loss` as fractions, `delayS`
            in seconds.
    """
    state = {"text": text, "link": link, "targets": targets or {}}
    compressed = zlib.compress(json.dumps(state).encode(), level=9, wbits=-zlib.MAX_WBITS)
    return "1." + urlsafe_b64encode(compressed).decode().rstrip("=")
