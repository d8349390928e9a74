"""The abstract of the report, with numbers from the runs."""

from collections.abc import Mapping

from tailroom_papers.framework import *
from tailroom_papers.today import background, barman_today, hardware
from tailroom_papers.today.background import TEN, TWO_HUNDRED, share_of_residual
from tailroom_papers.today.buffer_curves import CONTROL
from tailroom_papers.today.network import LIMIT


def abstract(parts: Mapping[str, PartResults]) -> str:
    """What was asked, what was found, what follows; empty without the conclusions."""
    if "conclusions" not in parts:
        return ""
    conclusions = parts["conclusions"]

    def carried(control: str, limit: str) -> str:
        point = conclusions.study("10g").at({CONTROL: control, LIMIT: limit})
        return f"{100 * point.mean(barman_today.UTILIZATION):.0f} %"

    def share(control: str) -> str:
        study = conclusions.study(background.name(TEN))
        residual = background.at(study, control, TWO_HUNDRED).mean(share_of_residual)
        return f"{100 * residual:.0f} %"

    small, tenth = barman_today.TINY, barman_today.TENTH
    text = (
        "Do the papers' answers of 2004 to 2006 hold for CUBIC and BBR on links of 10 and 100 "
        "Gbit/s? With a buffer of 10 % of the bandwidth-delay product, ten CUBIC flows carry "
        f"{carried('cubic', tenth)} of 10 Gbit/s and ten BBRv3 flows {carried('bbr3', tenth)}; "
        f"with 2 %, {carried('cubic', small)} and {carried('bbr3', small)}. Next to a background "
        f"of half the rate and a buffer of 200 packets, one CUBIC flow gets {share('cubic')} of "
        f"the residual capacity, one Reno flow {share('reno')} and one BBRv3 flow "
        f"{share('bbr3')}. "
    )
    if "hardware" in parts:
        switch = parts["hardware"]
        amount = hardware.fitted(switch)
        close = [hardware.close_cells(switch, one) for one in (amount, *hardware.rivals(switch))]
        of = len(hardware.cells(switch, for_fit=False))
        also = "".join(f" ({one} with one that fits nearly as well)" for one in close[1:2])
        text += (
            "With the jitter fitted on half of a Tofino switch's measurements, the smallest "
            f"sufficient buffer is the switch's, or next to it, in {close[0]} of the {of} others"
            f"{also}. "
        )
    return text + (
        "Practitioners should ask for a buffer in bandwidth-delay products for loss-based flows, "
        "expect losses with BBR in small buffers, and isolate the two by fair queueing."
    )
