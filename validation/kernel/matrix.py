"""The experiments that tailroom is compared with, the most telling first, and their recording.

python -m validation.kernel.matrix --list
python -m validation.kernel.matrix --out DIRECTORY [--at-once 4] [--only TEXT] [--anew] [--keep]

Recording goes on where it stopped: experiments that are recorded, in DIRECTORY or in `recorded`,
are left alone; with `--anew` only those in DIRECTORY are. With `--keep`, files of DIRECTORY whose
runs are all valid are compressed into `recorded`, which tests/validation/kernel.py compares with.
"""

import argparse
import json
import lzma
import random
import signal
import sys
import threading
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path

from validation.kernel.experiment import Experiment
from validation.kernel.harness import RecordingError, record

RECORDED = Path(__file__).parent / "recorded"
REPETITIONS = 3
MOST_AT_ONCE = 5
"""More would keep two cores from being on time."""
MOST_FAST_AT_ONCE = 2
"""The same at the rates of FAST."""
FAST = ("100 Mbit/s", "200 Mbit/s")

LINK = """\
title = "{title}"
duration = "{duration_s} s"
measure_from = "{warm_up_s} s"

[defaults]
path = ["bottleneck"]
host = "linux"
packet_size = "1500 B"
header_size = "52 B"                     # IPv4, TCP and time stamps
sender_side = 1                          # all other delay is behind the last link, on the way back

[links.bottleneck]
rate = "{rate}"
delay = "5 ms"
queue = {queue}
"""
FLOWS = """
[flows.{name}]
congestion = {control}
rtt = "{rtt_ms} ms"
send_burst = 2                           # no segmentation offload; an ACK covers two packets
"""
LOSS = 'loss = {{ kind = "bernoulli", probability = {probability} }}\n'
STARTS = 'start = { uniform = ["0 s", "1 s"] }\n'
REQUESTS = """\
stop = "{stop_s} s"
source = {{ kind = "finite_flows", size = "{bytes} B", {arrivals}, flow_log = 100000 }}
"""
RESPONSES = """\
source = {{ kind = "objects", size = "{bytes} B", arrivals = [{arrivals}] }}
"""
PAYLOAD_BYTES = 1_448
"""Of a full packet, as LINK has it."""
KERNEL_NAMES = {"bbr1": "bbr"}
TAILROOM_CONTROLS = {"cubic": '{ kind = "cubic", variant = "linux" }'}


def _experiment(  # noqa: PLR0913 - an experiment has these parts
    name: str,
    *,
    rate: str,
    queue: str,
    flows: Sequence[tuple[str, str, float, str]],
    duration_s: int,
    warm_up_s: int,
    loss: float = 0.0,
    link: str = "",
    is_coarse: bool = False,
) -> Experiment:
    """An experiment with one link.

    Args:
        name: Name of the experiment.
        rate: Rate of the link.
        queue: Queue discipline of the link.
        flows: Name, control, RTT in ms and further keys of each group.
        duration_s: Length of a run.
        warm_up_s: What is not measured at its beginning.
        loss: Probability that the link loses a packet at random.
        link: Further keys of the link, and further links.
        is_coarse: As [`Experiment.is_coarse`].
    """
    text = LINK.format(
        title=name, duration_s=duration_s, warm_up_s=warm_up_s, rate=rate, queue=queue
    )
    if loss:
        text += LOSS.format(probability=loss)
    text += link
    for group, control, rtt_ms, further in flows:
        of_tailroom = TAILROOM_CONTROLS.get(control, f'"{control}"')
        text += FLOWS.format(name=group, control=of_tailroom, rtt_ms=rtt_ms) + further
    controls = {
        group: KERNEL_NAMES[control] for group, control, _, _ in flows if control in KERNEL_NAMES
    }
    return Experiment(name, text, controls, REPETITIONS, is_coarse)


def _drop_tail(limit: str) -> str:
    return f'{{ kind = "drop_tail", limit = "{limit}" }}'


def _alone() -> Iterator[Experiment]:
    """One flow: utilization over whole cycles, loss interval, peaks and troughs."""
    for rate, limits in (("50 Mbit/s", (100, 20, 625)), ("200 Mbit/s", (100, 625))):
        for limit in limits:
            for control in ("reno", "cubic", "bbr1"):
                yield _experiment(
                    f"alone-{control}-{rate.split()[0]}-mbit-{limit}-packets",
                    rate=rate,
                    queue=_drop_tail(f"{limit} packets"),
                    flows=[("flow", control, 20, "")],
                    duration_s=150 if limit == 625 else 70,
                    warm_up_s=30 if limit == 625 else 10,
                )


def _alongside_bbr() -> Iterator[Experiment]:
    """CUBIC alongside BBR, from a tenth of a bandwidth-delay product to eight."""
    for limit in (1, 0.25, 4, 0.5, 2, 8, 0.1):
        yield _experiment(
            f"cubic-beside-bbr-{limit}-bdp",
            rate="50 Mbit/s",
            queue=_drop_tail(f"{limit} bdp"),
            flows=[("cubic", "cubic", 40, ""), ("bbr", "bbr1", 40, "")],
            duration_s=120,
            warm_up_s=30,
        )


def _managed() -> Iterator[Experiment]:
    """Each active queue management with CUBIC and with BBR."""
    for kind in ("codel", "pie", "fq_codel", "dual_pi2"):
        for control in ("cubic", "bbr1"):
            yield _experiment(
                f"{kind}-{control}",
                rate="50 Mbit/s",
                queue=f'{{ kind = "{kind}" }}',
                flows=[("flow", control, 40, "count = 2\n")],
                duration_s=60,
                warm_up_s=15,
            )


def _two_rtts() -> Iterator[Experiment]:
    """Two and eight flows whose round trips are as 1 to 2.5."""
    for control in ("reno", "cubic"):
        for count in (1, 4):
            further = f"count = {count}\n"
            yield _experiment(
                f"two-rtts-{control}-{2 * count}-flows",
                rate="100 Mbit/s",
                queue=_drop_tail("250 packets"),
                flows=[("near", control, 20, further), ("far", control, 50, further)],
                duration_s=120,
                warm_up_s=30,
            )


def _joining() -> Iterator[Experiment]:
    """A flow that joins another one, and leaves."""
    for control in ("reno", "cubic", "bbr1"):
        yield _experiment(
            f"joining-{control}",
            rate="50 Mbit/s",
            queue=_drop_tail("1 bdp"),
            flows=[
                ("first", control, 40, ""),
                ("second", control, 40, 'start = "20 s"\nstop = "60 s"\n'),
            ],
            duration_s=80,
            warm_up_s=10,
        )


def _two_way() -> Iterator[Experiment]:
    """A flow each way; the ACKs of each wait behind the packets of the other."""
    for control in ("reno", "cubic"):
        for queue in (_drop_tail("100 packets"), '{ kind = "fq_codel" }'):
            kind = "fq_codel" if "fq_codel" in queue else "drop_tail"
            there, back = (
                f'path = ["{path}"]\nreverse_path = ["{reverse}"]\n'
                for path, reverse in (("bottleneck", "back"), ("back", "bottleneck"))
            )
            one_way = _experiment(
                f"two-way-{control}-{kind}",
                rate="50 Mbit/s",
                queue=queue,
                flows=[("there", control, 40, there), ("back", control, 40, back)],
                duration_s=80,
                warm_up_s=20,
            )
            link = f'[links.back]\nrate = "50 Mbit/s"\ndelay = "5 ms"\nqueue = {queue}\n'
            text = one_way.scenario.replace("\n[flows.there]", f"\n{link}\n[flows.there]")
            yield replace(one_way, scenario=text)


def _requests(packets: int, arrivals: str, stop_s: int) -> str:
    """The keys of a group of finite flows.

    Args:
        packets: Packets of each.
        arrivals: The key that says when they arrive.
        stop_s: From when on none arrives.
    """
    return REQUESTS.format(stop_s=stop_s, bytes=packets * PAYLOAD_BYTES, arrivals=arrivals)


def _lossy() -> Iterator[Experiment]:
    """One flow under random loss: packets that are sent again are lost as well."""
    for percent in (5, 10, 1, 3, 15, 8, 12, 20):
        for control in ("bbr1", "cubic", "reno"):
            yield _experiment(
                f"lossy-{control}-{percent}-percent",
                rate="10 Mbit/s",
                queue=_drop_tail("1 bdp"),
                flows=[("flow", control, 100, "")],
                duration_s=60,
                warm_up_s=10,
                loss=percent / 100,
                is_coarse=True,
            )
    yield _experiment(
        "lossy-4-bbr1-2-percent",
        rate="100 Mbit/s",
        queue=_drop_tail("1 bdp"),
        flows=[("flow", "bbr1", 40, f"count = 4\n{STARTS}")],
        duration_s=30,
        warm_up_s=6,
        loss=0.02,
        is_coarse=True,
    )


def _many() -> Iterator[Experiment]:
    """Four and ten flows behind small buffers, and four BBR alongside four CUBIC flows.

    Four CUBIC flows behind a tenth of a bandwidth-delay product are left out: it holds what they
    send in 4 ms, and a sender that the machine holds up for so long sends it in one burst.
    """
    for count, rate in ((10, "20 Mbit/s"), (4, "100 Mbit/s")):
        for limit in (0.25, 0.1, 1):
            for control in ("bbr1", "cubic") if (count, limit) != (4, 0.1) else ("bbr1",):
                yield _experiment(
                    f"many-{count}-{control}-{limit}-bdp",
                    rate=rate,
                    queue=_drop_tail(f"{limit} bdp"),
                    flows=[("flow", control, 40, f"count = {count}\n{STARTS}")],
                    duration_s=40,
                    warm_up_s=10,
                    is_coarse=True,
                )
    for limit in (0.25, 1):
        yield _experiment(
            f"four-cubic-beside-four-bbr-{limit}-bdp",
            rate="100 Mbit/s",
            queue=_drop_tail(f"{limit} bdp"),
            flows=[
                ("cubic", "cubic", 40, f"count = 4\n{STARTS}"),
                ("bbr", "bbr1", 40, f"count = 4\n{STARTS}"),
            ],
            duration_s=60,
            warm_up_s=15,
            is_coarse=True,
        )


def _short() -> Iterator[Experiment]:
    """Requests under random loss without a queue, and behind a buffer that long flows fill."""
    for packets, per_second in ((10, 40), (100, 20)):
        for percent in (2, 5, 0.5):
            requests = _requests(packets, f"arrivals_per_second = {per_second}", 57)
            yield _experiment(
                f"requests-{packets}-packets-{percent}-percent",
                rate="1 Gbit/s",
                queue=_drop_tail("1000 packets"),
                flows=[("requests", "cubic", 20, requests)],
                duration_s=60,
                warm_up_s=2,
                loss=percent / 100,
                is_coarse=True,
            )
    for limit in ("20 packets", "1 bdp"):
        for count in (1, 2):
            requests = _requests(10, "arrivals_per_second = 5", 87)
            yield _experiment(
                f"requests-beside-{count}-cubic-{limit.replace(' ', '-')}",
                rate="20 Mbit/s",
                queue=_drop_tail(limit),
                flows=[
                    ("long", "cubic", 40, f"count = {count}\n"),
                    ("requests", "cubic", 40, requests),
                ],
                duration_s=90,
                warm_up_s=10,
                is_coarse=True,
            )


def _download() -> Iterator[Experiment]:
    """Downloads of 20 MB one after the other: slow start fills the buffer and overshoots."""
    arrivals = ", ".join(f'"{second} s"' for second in range(0, 100, 5))
    yield _experiment(
        "download-cubic-1-bdp",
        rate="100 Mbit/s",
        queue=_drop_tail("1 bdp"),
        flows=[("requests", "cubic", 40, _requests(13_812, f"arrivals = [{arrivals}]", 100))],
        duration_s=100,
        warm_up_s=0,
        is_coarse=True,
    )


def _reordered() -> Iterator[Experiment]:
    """One flow some of whose packets arrive late, with and without losses at random."""
    periodic = 'reorder = {{ kind = "periodic", every = {}, extra_delay = "{} ms" }}\n'.format
    random = 'reorder = {{ kind = "bernoulli", probability = {}, extra_delay = "{} ms" }}\n'.format
    for name, control, link, loss in (
        ("every-200-30-ms", "cubic", periodic(200, 30), 0),
        ("every-200-30-ms", "reno", periodic(200, 30), 0),
        ("10-percent-15-ms", "cubic", random(0.1, 15), 0),
        ("1-percent-15-ms", "cubic", random(0.01, 15), 0),
        ("1-percent-15-ms", "bbr1", random(0.01, 15), 0),
        ("1-percent-2-ms", "cubic", random(0.01, 2), 0),
        ("5-percent-10-ms-lossy", "cubic", random(0.05, 10), 0.002),
        ("5-percent-10-ms-lossy", "reno", random(0.05, 10), 0.002),
    ):
        yield _experiment(
            f"reordered-{control}-{name}",
            rate="20 Mbit/s",
            queue=_drop_tail("1 bdp"),
            flows=[("flow", control, 40, "")],
            duration_s=40,
            warm_up_s=8,
            loss=loss,
            link=link,
            is_coarse=True,
        )


def _slow_acks() -> Iterator[Experiment]:
    """One flow whose ACKs have a slow link to themselves."""
    for rate in (0.25, 0.4, 0.15):
        back = (
            f'\n[links.back]\nrate = "{rate} Mbit/s"\ndelay = "5 ms"\n'
            f"queue = {_drop_tail('20 packets')}\n"
        )
        for control in ("bbr1", "cubic"):
            yield _experiment(
                f"slow-acks-{control}-{1000 * rate:g}-kbit",
                rate="20 Mbit/s",
                queue=_drop_tail("1 bdp"),
                flows=[("flow", control, 40, 'path = ["bottleneck"]\nreverse_path = ["back"]\n')],
                duration_s=50,
                warm_up_s=10,
                link=back,
                is_coarse=True,
            )


def _downloads_with_a_flow() -> Iterator[Experiment]:
    """Downloads of 1 MB and 100 kB next to a long flow that fills the buffer."""
    for packets, arrivals in ((691, 0.25), (69, 1)):
        for limit in (1, 4, 0.25):
            for control in ("cubic", "reno") if packets == 691 and limit >= 1 else ("cubic",):
                requests = _requests(packets, f"arrivals_per_second = {arrivals}", 110)
                yield _experiment(
                    f"requests-{packets}-packets-beside-{control}-{limit}-bdp",
                    rate="20 Mbit/s",
                    queue=_drop_tail(f"{limit} bdp"),
                    flows=[("long", control, 40, ""), ("requests", control, 40, requests)],
                    duration_s=120,
                    warm_up_s=10,
                    is_coarse=True,
                )


def _policed() -> Iterator[Experiment]:
    """One flow at a policer whose bucket is small."""
    for burst in (20, 40):
        for control in ("bbr1", "cubic"):
            yield _experiment(
                f"policed-{control}-{burst}-kb",
                rate="50 Mbit/s",
                queue=_drop_tail("1000 packets"),
                flows=[("flow", control, 40, "")],
                duration_s=50,
                warm_up_s=10,
                link=f'policer = {{ rate = "10 Mbit/s", burst = "{burst} kB" }}\n',
                is_coarse=True,
            )


def _arrivals(mean_s: float, stop_s: int) -> list[float]:
    """Times of a Poisson process until `stop_s`, in hundredths of a second."""
    draws = random.Random(1)
    times, now = [], 0.0
    while (now := now + draws.expovariate(1 / mean_s)) < stop_s:
        times.append(round(now, 2))
    return times


def _responses() -> Iterator[Experiment]:
    """Responses of 100 kB and 1 MB on an open connection, next to a flow that fills the buffer.

    Their times are part of the scenario, so that both sides know when the application writes. At
    about every second write the connection has been idle for longer than its timeout.
    """
    for packets, mean_s in ((69, 1.0), (691, 4.0)):
        arrivals = ", ".join(f'"{time:g} s"' for time in _arrivals(mean_s, 84))
        responses = RESPONSES.format(bytes=packets * PAYLOAD_BYTES, arrivals=arrivals)
        for limit in (1, 4):
            yield _experiment(
                f"responses-{packets}-packets-beside-cubic-{limit}-bdp",
                rate="20 Mbit/s",
                queue=_drop_tail(f"{limit} bdp"),
                flows=[("long", "cubic", 40, ""), ("responses", "cubic", 40, responses)],
                duration_s=90,
                warm_up_s=10,
                is_coarse=True,
            )


def experiments() -> list[Experiment]:
    """All experiments: steady flows, loss recovery, then other paths; the most telling first."""
    steady = (_alone, _alongside_bbr, _managed, _two_rtts, _joining, _two_way)
    recovery = (_lossy, _many, _short, _download)
    paths = (_reordered, _slow_acks, _downloads_with_a_flow, _policed, _responses)
    return [one for some in (*steady, *recovery, *paths) for one in some()]


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="validation.kernel.matrix", description=__doc__)
    parser.add_argument("--list", action="store_true", help="print the names and end")
    parser.add_argument("--out", type=Path, help="directory of the results")
    parser.add_argument("--at-once", type=int, default=4, help="recordings at a time (default: 4)")
    parser.add_argument("--only", default="", help="experiments whose name holds this text")
    parser.add_argument("--anew", action="store_true", help="also what `recorded` holds")
    parser.add_argument("--keep", action="store_true", help="keep what is recorded in `recorded`")
    return parser.parse_args()


def _is_fast(experiment: Experiment) -> bool:
    return any(f'rate = "{rate}"' in experiment.scenario for rate in FAST)


def _is_kept(experiment: Experiment) -> bool:
    path = RECORDED / f"{experiment.name}.json.xz"
    if not path.exists():
        return False
    kept = json.loads(lzma.decompress(path.read_bytes()))
    return bool(kept["scenario"] == experiment.scenario)


def _keep(directory: Path) -> None:
    RECORDED.mkdir(exist_ok=True)
    for path in sorted(directory.glob("*.json")):
        if any(run["invalid"] for run in json.loads(path.read_bytes())["runs"]):
            print(f"{path.name}: not kept, a run is invalid", file=sys.stderr)
            continue
        (RECORDED / f"{path.name}.xz").write_bytes(lzma.compress(path.read_bytes()))


def main() -> int:
    """Record what is asked for; the exit status is 1 if an experiment could not be recorded."""
    arguments = _arguments()
    chosen = [one for one in experiments() if arguments.only in one.name]
    if arguments.list or arguments.out is None:
        print("\n".join(one.name for one in chosen))
        return 0
    failed = threading.Event()

    def perform(experiment: Experiment) -> None:
        try:
            record(experiment, arguments.out)
            print(f"{experiment.name}: recorded", flush=True)
        except RecordingError as error:
            failed.set()
            print(f"{experiment.name}: {error}", file=sys.stderr, flush=True)

    todo = [one for one in chosen if arguments.anew or not _is_kept(one)]
    for is_fast, most in ((False, MOST_AT_ONCE), (True, MOST_FAST_AT_ONCE)):
        with ThreadPoolExecutor(min(arguments.at_once, most)) as recordings:
            list(recordings.map(perform, [one for one in todo if _is_fast(one) == is_fast]))
    if arguments.keep:
        _keep(arguments.out)
    return int(failed.is_set())


if __name__ == "__main__":
    signal.signal(signal.SIGINT, signal.SIG_DFL)  # the links end with this process
    sys.exit(main())
