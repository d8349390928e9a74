"""The experiments of the Linux kernel's TCP (validation/kernel/matrix.py), named in words."""

import re

WORDS = {
    "bbr1": "BBR",
    "cubic": "CUBIC",
    "reno": "Reno",
    "codel": "CoDel",
    "drop_tail": "tail drop",
    "dual_pi2": "DualPI2",
    "fq_codel": "FQ-CoDel",
    "pie": "PIE",
}
FORMS = (
    (r"alone-(\w+)-(\d+)-mbit-(\d+)-packets", "1 {} flow, {} Mbit/s, {} packets"),
    (r"(codel|pie|fq_codel|dual_pi2)-(\w+)", "2 {1} flows, {0}"),
    (r"cubic-beside-bbr-([\d.]+)-bdp", "1 CUBIC and 1 BBR flow, {} BDP"),
    (r"download-cubic-1-bdp", "CUBIC downloads of 20 MB, 1 BDP"),
    (r"four-cubic-beside-four-bbr-([\d.]+)-bdp", "4 CUBIC and 4 BBR flows, {} BDP"),
    (r"joining-(\w+)", "2 {} flows, the second joins and leaves"),
    (r"lossy-(\d+)-(\w+)-(\d+)-percent", "{} {} flows, {} % random loss"),
    (r"lossy-(\w+)-(\d+)-percent", "1 {} flow, {} % random loss"),
    (r"many-(\d+)-(\w+)-([\d.]+)-bdp", "{} {} flows, {} BDP"),
    (r"requests-(\d+)-packets-([\d.]+)-percent", "requests of {} packets, {} % random loss"),
    (r"policed-(\w+)-(\d+)-kb", "1 {} flow, policer with a bucket of {} kB"),
    (r"reordered-(\w+)-every-(\d+)-(\d+)-ms", "1 {} flow, every {}th packet {} ms late"),
    (r"reordered-(\w+)-(\d+)-percent-(\d+)-ms", "1 {} flow, {} % of the packets {} ms late"),
    (
        r"reordered-(\w+)-(\d+)-percent-(\d+)-ms-lossy",
        "1 {} flow, {} % of the packets {} ms late, 0.2 % random loss",
    ),
    (
        r"requests-(\d+)-packets-beside-(\w+)-([\d.]+)-bdp",
        "requests of {} packets and 1 {} flow, {} BDP",
    ),
    (
        r"responses-(\d+)-packets-beside-(\w+)-([\d.]+)-bdp",
        "responses of {} packets and 1 {} flow, {} BDP",
    ),
    (r"slow-acks-(\w+)-(\d+)-kbit", "1 {} flow, ACKs over {} kbit/s"),
    (r"requests-beside-1-cubic-(\d+)-(bdp|packets)", "requests and 1 CUBIC flow, {} {}"),
    (r"requests-beside-2-cubic-(\d+)-(bdp|packets)", "requests and 2 CUBIC flows, {} {}"),
    (r"two-rtts-(\w+)-(\d)-flows", "{1} {0} flows with two RTTs"),
    (r"two-way-(\w+)-(\w+)", "2 {} flows in both directions, {}"),
)
"""Form of an experiment's name, and its words."""


def words(name: str) -> str:
    """The words for the name of an experiment, such as `1 BBR flow, 5 % random loss`.

    Raises:
        ValueError: The name has none of the forms.
    """
    for form, text in FORMS:
        if found := re.fullmatch(form, name):
            parts = (WORDS.get(part, part) for part in found.groups())
            return text.format(*parts).replace("bdp", "BDP")
    raise ValueError(f"{name}: has none of the forms of FORMS; add its form there")


def order(text: str) -> list[tuple[bool, float, str]]:
    """The key that sorts texts with their numbers by value."""
    parts = re.findall(r"\d+\.?\d*|\D+", text)
    return [(False, float(p), "") if p[0].isdigit() else (True, 0.0, p) for p in parts]
