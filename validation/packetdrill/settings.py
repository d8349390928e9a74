"""The sysctls and commands of a script as keys of a flow on a Linux host."""

import re
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from validation.packetdrill.script import NotExpressibleError

SYSCTL = re.compile(r"(?:net[./])?ipv4[./](tcp_\w+)\s*=\s*\"?([^\s\"]+)")
HYSTART = re.compile(r"echo\s+(\d+)\s*>\s*/sys/module/tcp_cubic/parameters/hystart_detect")
DEFAULTS = re.compile(r"(\S*defaults\.sh)")
RESTORED = re.compile(r"/tmp/sysctl_restore")
NO_EFFECT = {
    *("tcp_rmem", "tcp_wmem", "tcp_syn_retries", "tcp_synack_retries", "tcp_dsack", "tcp_fack"),
    *("tcp_reordering", "tcp_fastopen", "tcp_fastopen_key", "tcp_syncookies", "tcp_ecn_option"),
    "tcp_fastopen_blackhole_timeout_sec",
    *("tcp_notsent_lowat", "tcp_early_retrans", "tcp_mtu_probing", "tcp_min_snd_mss"),
    *("tcp_moderate_rcvbuf", "tcp_autocorking", "tcp_limit_output_bytes"),
}
"""Sysctls of what these scripts do not show: where `tcp_early_retrans = 0` forbids tail loss
probes, none is due."""
EXPECTED = {"tcp_pacing_ss_ratio": "200", "tcp_pacing_ca_ratio": "120"}
"""Sysctls that are constants here."""


@dataclass
class Settings:
    """Keys of the flow, and what the host offers in the handshake."""

    flow: dict[str, Any] = field(
        default_factory=lambda: {"congestion": {"kind": "cubic", "variant": "linux"}}
    )
    has_sack: bool = True
    has_timestamps: bool = True
    has_ecn: bool = False

    def take(self, command: str, folder: Path) -> None:
        """Takes in the lines of a shell.

        Raises:
            NotExpressibleError: They set something that tailroom does not have.
        """
        if RESTORED.search(command):
            return
        for name in DEFAULTS.findall(command):
            for setting in SYSCTL.findall((folder / name).read_text(encoding="utf-8")):
                self._set(*setting)
        for setting in SYSCTL.findall(command):
            self._set(*setting)
        if found := HYSTART.search(command):
            self._set_hystart(found[1])
        if "ip route" in command or "initcwnd" in command:
            raise NotExpressibleError("a route with settings of its own")
        if "ip tcp_metrics" in command or "nstat" in command:
            raise NotExpressibleError("another tool of Linux")
        if re.search(r"tc qdisc.*limit 0", command):
            raise NotExpressibleError("a local queue that drops")
        if re.search(r"tc qdisc.*root fq", command):
            self.flow["pacing"] = True

    def _set(self, name: str, value: str) -> None:
        match name:
            case "tcp_slow_start_after_idle":
                # tcp_cwnd_validate() asks for the same sysctl before it shrinks a window.
                is_on = value == "1"
                self.flow |= {"slow_start_after_idle": is_on, "window_validation": is_on}
            case "tcp_congestion_control":
                self.flow["congestion"] = _control(value)
            case "tcp_tso_win_divisor" if int(value) >= 10:
                self.flow["send_burst"] = 1
            case "tcp_min_tso_segs" if int(value) > 2:
                self.flow["send_burst"] = int(value)
            case "tcp_recovery" if value == "0":
                self.flow["recovery"] = "sack"
            case "tcp_frto" if value == "0":
                self.flow["frto"] = False
            case "tcp_sack":
                self.has_sack = value == "1"
            case "tcp_timestamps":
                self.has_timestamps = value == "1"
            case "tcp_ecn":
                if int(value) > 2:
                    raise NotExpressibleError("AccECN")
                self.has_ecn = value != "0"
            case "tcp_tso_win_divisor" | "tcp_min_tso_segs" | "tcp_recovery" | "tcp_frto":
                pass
            case _ if name not in NO_EFFECT and EXPECTED.get(name) != value:
                raise NotExpressibleError(f"sysctl {name} = {value}")

    def _set_hystart(self, value: str) -> None:
        if value == "0":
            self.flow["slow_start"] = "standard"
        elif value != "3":
            raise NotExpressibleError("HyStart with one of its two rules")


def _control(name: str) -> dict[str, Any] | str:
    if name == "cubic":
        return {"kind": "cubic", "variant": "linux"}
    if name == "reno":
        return name
    raise NotExpressibleError(f"congestion control {name}")
