"""The abstract of the report, from its results."""

from collections.abc import Mapping

from tailroom_papers.dctcp_2010 import figure_13, figure_18, figure_19, figure_20
from tailroom_papers.dctcp_2010.queries import with_timeout
from tailroom_papers.framework import *


def abstract(results: Mapping[str, PartResults]) -> str:
    """Returns the abstract; empty without Figures 13 and 18 to 20."""
    if not {"13", "18", "19", "20"} <= set(results):
        return ""
    queues = {
        control: figure_13.at(results["13"], control, 2).mean(figure_13.median_packets)
        for control in ("dctcp", "reno")
    }
    static = {
        (control, servers): 100 * figure_18.at(results["18"], control, servers).mean(with_timeout)
        for control, servers in (("reno", 20), ("dctcp", 30), ("dctcp", 40))
    }
    dynamic = {
        control: 100 * figure_19.at(results["19"], control, 40).mean(with_timeout)
        for control in ("dctcp", "reno")
    }
    everyone = {
        control: 100 * figure_20.at(results["20"], control).mean(figure_20.late)
        for control in ("dctcp", "reno")
    }
    return (
        "Does a queue that marks at 20 packets spare queries the timeouts that TCP has when many "
        "servers answer at once? With two long flows the median queue is "
        f"{queues['dctcp']:.0f} packets under DCTCP and {queues['reno']:.0f} under TCP. At ports "
        f"of 100 kB, {static['reno', 20]:.0f} % of the queries to 20 servers have a timeout under "
        f"TCP; under DCTCP, {static['dctcp', 30]:.0f} % of those to 30 servers and "
        f"{static['dctcp', 40]:.0f} % of those to 40. If the ports share 4 MB, "
        f"{dynamic['reno']:.0f} % of the queries to 40 servers have one under TCP, where the paper "
        f"has timeouts, and {dynamic['dctcp']:.0f} % under DCTCP; if all machines ask all others, "
        f"{everyone['reno']:.0f} and {everyone['dctcp']:.0f} %. Under DCTCP, give a port the first "
        "windows of all servers that answer at once, or let the ports share memory."
    )
