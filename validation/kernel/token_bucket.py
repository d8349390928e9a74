"""Records `tbf`, the token bucket of Linux, so that a shaper can be compared with it.

python -m validation.kernel.token_bucket [--out DIRECTORY]

needs root, /dev/net/tun, iproute2 and the kernel's `sch_tbf`, and takes half a minute on a quiet
machine. A host in a network namespace of its own sends UDP packets of given sizes at given times
into a TUN device whose queueing discipline is `tbf`. A recording is a CSV file: when each packet
was handed to the kernel, its size, and when the device had it (nothing if the bucket's queue
dropped it).
"""

import argparse
import ctypes
import fcntl
import os
import select
import socket
import struct
import subprocess
import time
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from itertools import pairwise
from multiprocessing import get_context
from multiprocessing.connection import Connection
from multiprocessing.context import ForkProcess
from pathlib import Path
from random import Random

RECORDED = Path(__file__).parent / "recorded" / "token_bucket"
NEW_NETWORK = 0x40000000  # CLONE_NEWNET
SET_INTERFACE = 0x400454CA  # TUNSETIFF
TUN_WITHOUT_HEADER = 0x1001  # IFF_TUN | IFF_NO_PI
IP_AND_UDP_BYTES = 28
PORT = 9000
QUIET_S = 0.5
"""No packet for so long: the queue is empty."""
FORK = get_context("fork")
LOOK_S = 100e-6
MOST_HELD_UP_NS = 500_000
SIZES = (100, 300, 600, 1_000)
ATTEMPTS = 50
WARM_UP = b"\xff" * 4

Packets = Sequence[tuple[float, int]]
"""When each packet is sent, in seconds, and its size with its IP header."""


Rows = list[tuple[int, int, int | None]]
"""When each packet was sent, in ns, its size, and when it left unless it was dropped."""


@dataclass(frozen=True)
class TokenBucket:
    """Parameters of `tbf`, by the names that tc-tbf(8) gives them."""

    rate_bps: int
    burst_bytes: int
    limit_bytes: int
    peak_rate_bps: int | None = None

    def arguments(self, largest_bytes: int) -> list[str]:
        """Return the words after `tc qdisc add dev DEVICE root`."""
        words = ["tbf", "rate", f"{self.rate_bps}bit", "burst", f"{self.burst_bytes}b"]
        words += ["limit", f"{self.limit_bytes}b"]
        if self.peak_rate_bps:
            words += ["peakrate", f"{self.peak_rate_bps}bit", "mtu", f"{largest_bytes}b"]
        return words


def recordings() -> dict[str, tuple[TokenBucket, Packets]]:
    """Return what is recorded, by name; a packet of 1,000 B takes 1 ms at the rate."""
    rate_bps = 8_000_000
    wide = TokenBucket(rate_bps, 20_000, 1_000_000)
    narrow = TokenBucket(rate_bps, 20_000, 10_000)
    burst = [(0.0, 1_000)] * 100
    return {
        "full-bucket": (wide, burst),
        "peak-rate": (TokenBucket(rate_bps, 20_000, 1_000_000, 32_000_000), burst),
        "drops": (narrow, _overload([1_000])),
        "sizes": (wide, _overload(SIZES)),
        "sizes-and-drops": (narrow, _overload(SIZES)),
    }


def _overload(sizes: Sequence[int]) -> Packets:
    """Poisson packets of 1.5 times the rate, for 0.3 s."""
    random = Random(1)
    packets, at = [], 0.0
    mean_gap_s = sum(sizes) / len(sizes) * 1e-6 / 1.5
    while at < 0.3:
        packets.append((at, random.choice(sizes)))
        at += random.expovariate(1 / mean_gap_s)
    return packets


def record(bucket: TokenBucket, packets: Packets) -> Rows:
    """Send the packets through `tbf`: when each was sent, its size, and when it left, in ns.

    The process gets a network namespace of its own.

    Raises:
        OSError: Root, the device or `tbf` is missing.
        RuntimeError: The sender, the reader or the timer of `tbf` was held up, so that the times
            are not those of the packets.
    """
    if ctypes.CDLL(None, use_errno=True).unshare(NEW_NETWORK):
        raise OSError(ctypes.get_errno(), "no network namespace: root is needed")
    Path("/proc/sys/net/ipv6/conf/default/disable_ipv6").write_text("1")
    device = os.open("/dev/net/tun", os.O_RDWR | os.O_NONBLOCK)
    fcntl.ioctl(device, SET_INTERFACE, struct.pack("16sH", b"tun0", TUN_WITHOUT_HEADER))
    largest = max(size for _, size in packets)
    for command in (
        ["ip", "address", "add", "10.0.0.1/24", "dev", "tun0"],
        ["ip", "link", "set", "tun0", "up"],
        ["tc", "qdisc", "add", "dev", "tun0", "root", *bucket.arguments(largest)],
    ):
        subprocess.run(command, check=True)
    os.sched_setscheduler(0, os.SCHED_FIFO, os.sched_param(10))
    # A process of its own: two threads would wait for each other's interpreter lock.
    receiving, sending = FORK.Pipe(duplex=False)
    sender = FORK.Process(target=_send, args=(packets, sending))
    sender.start()
    left, held_up = _departures(device, sender)
    times = receiving.recv()
    held_up = max(held_up, *(after - before for before, after in times))
    sent = zip(packets, times, strict=True)
    rows = [(at, size, left.get(n)) for n, ((_, size), (at, _)) in enumerate(sent)]
    held_up = max(held_up, _timer_lateness_ns(bucket.rate_bps, rows))
    if held_up > MOST_HELD_UP_NS:
        raise RuntimeError(f"sender, reader or timer stood still for {held_up / 1e6:.1f} ms")
    return rows


def _timer_lateness_ns(rate_bps: int, rows: Rows) -> float:
    """The longest time by which a packet that waits leaves later than its tokens allow.

    Its tokens arrive within its time at the rate from when the packet before it left: the timer of
    the kernel that ends the wait may be delayed by other work.
    """
    departed = [(at, size, left) for at, size, left in rows if left is not None]
    return max(
        left - max(at, before) - size * 8e9 / rate_bps
        for (_, _, before), (at, size, left) in pairwise(departed)
    )


def _send(packets: Packets, sending: Connection) -> None:
    times = []
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as host:
        host.setsockopt(socket.SOL_SOCKET, 32, 1 << 26)  # SO_SNDBUFFORCE
        # The first packet of a socket takes a millisecond more. The bucket fills up again.
        host.sendto(WARM_UP, ("10.0.0.2", PORT))
        start = time.monotonic() + QUIET_S / 2
        for number, (at, size) in enumerate(packets):
            time.sleep(max(0.0, start + at - time.monotonic()))
            payload = struct.pack("!I", number).ljust(size - IP_AND_UDP_BYTES, b"\0")
            before = time.monotonic_ns()
            with suppress(
                OSError
            ):  # The queue was full: the kernel tells a sender on the same host.
                host.sendto(payload, ("10.0.0.2", PORT))
            times.append((before, time.monotonic_ns()))
    sending.send(times)


def _departures(device: int, sender: ForkProcess) -> tuple[dict[int, int], int]:
    """When each packet left, and the longest time in which this process did not look."""
    left: dict[int, int] = {}
    looked = busy = time.monotonic_ns()
    longest = 0
    while sender.is_alive() or looked - busy < QUIET_S * 1e9:
        is_there = bool(select.select([device], [], [], LOOK_S)[0])
        now = time.monotonic_ns()
        longest, looked = max(longest, now - looked), now
        if is_there:
            payload = os.read(device, 2_000)[IP_AND_UDP_BYTES:][:4]
            busy = now
            if payload != WARM_UP:
                left[struct.unpack("!I", payload)[0]] = now
    return left, longest


def _record_file(file: Path, bucket: TokenBucket, packets: Packets) -> None:
    rows = record(bucket, packets)
    origin = rows[0][0]
    lines = [
        f"# Linux {os.uname().release.split('-')[0]}: tbf, rate {bucket.rate_bps} bit/s, burst "
        f"{bucket.burst_bytes} B, limit {bucket.limit_bytes} B"
        + (f", peakrate {bucket.peak_rate_bps} bit/s" if bucket.peak_rate_bps else ""),
        "arrival_ns,bytes,departure_ns",
        *(
            f"{at - origin},{size},{'' if left is None else left - origin}"
            for at, size, left in rows
        ),
    ]
    file.write_text("\n".join(lines) + "\n", encoding="utf-8")


def main() -> None:
    """Record everything.

    Raises:
        SystemExit: A recording failed in every attempt.
    """
    parser = argparse.ArgumentParser(description=__doc__, usage=argparse.SUPPRESS)
    parser.add_argument("--out", type=Path, default=RECORDED)
    directory = parser.parse_args().out
    directory.mkdir(parents=True, exist_ok=True)
    for name, (bucket, packets) in recordings().items():
        for _ in range(ATTEMPTS):
            arguments = (directory / f"{name}.csv", bucket, packets)
            process = FORK.Process(target=_record_file, args=arguments)
            process.start()
            process.join()
            if process.exitcode == 0:
                break
        else:
            raise SystemExit(f"{name} was not recorded in {ATTEMPTS} attempts")


if __name__ == "__main__":
    main()
