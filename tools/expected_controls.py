"""Computes what congestion controls should do in a round trip, from the published formulas alone.

python tools/expected_controls.py [--check]

Writes crates/tailroom-engine/tests/data/expected_controls.json, which the engine's test
`published_windows` compares with. Nothing here knows the engine: a case says what happens to a
flow, step by step, and what its window must be afterwards.

* `hold`: that many round trips, in which every packet is acknowledged alone and the window is kept
  where it is, so that whatever the control estimates settles.
* `loss`: a loss at that window.
* `grow`: that many round trips, in which the window follows the control.
* `fall`: congestion, and the window that the control falls to.

A first ACK of one packet comes before the first step. The ACKs of a round trip are spread evenly
over it, the last one at its end.
"""

import argparse
import json
import math
import sys
from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

DATA = Path(__file__).parents[1] / "crates/tailroom-engine/tests/data/expected_controls.json"

WINDOWS = (10, 50, 500, 5000, 80000)
RTTS_MS = (10.0, 100.0, 300.0)
HALF = 0.5  # RFC 5681 sec. 3.1, Eq. 4

Step = dict[str, Any]
PerAck = Callable[[float, int], float]
"""The increase by one acknowledged packet, from the window before it and the ACK's number."""


@dataclass
class Case:
    """What happens to a flow, and what comes of its window.

    `expected` is the growth of the window, in packets, or the window that it falls to.
    """

    control: str
    source: str
    steps: list[Step]
    expected: float
    parameters: dict[str, Any] = field(default_factory=dict)
    error: float = 0.0
    """How far the engine's arithmetic may be off on purpose, relative to the change."""


def hold(rounds: int, window: float, rtt_ms: float, marked: float = 0.0) -> Step:
    """Round trips at one window, with this share of the packets marked."""
    return {"hold": [rounds, window, rtt_ms, marked]}


def loss(window: float) -> Step:
    """A loss before the step that counts."""
    return {"loss": window}


def grow(rounds: int, window: float, rtt_ms: float) -> Step:
    """The last step: growth from this window."""
    return {"grow": [rounds, window, rtt_ms]}


def fall(window: float, cause: str = "loss") -> Step:
    """The last step: congestion at this window, `loss` or `mark`."""
    return {"fall": [window, cause]}


def growth(window: float, per_ack: PerAck, law: float | None = None) -> float:
    """Growth in a round trip: an ACK for each packet of the window, each by the law at its window.

    Where the source states the law per round trip, g, the sum must be near it: each of the w ACKs
    adds g / w at a window that has meanwhile grown by the share g / w at most, which for a g that
    rises no faster than w^2 changes the sum by no more than g^2 / w.
    """
    cwnd = window
    for index in range(int(window)):
        cwnd += per_ack(cwnd, index)
    change = cwnd - window
    if law is not None and abs(law) <= window / 10:
        assert abs(change - law) <= law * law / window + 1e-6, (window, change, law)
    return change


def constant(increase: float) -> PerAck:
    """RFC 5681 sec. 3.1, Eq. 3, times `increase`: w <- w + a / w for each packet."""
    return lambda cwnd, _: increase / cwnd


def queueing_ms(queued: float, window: float, rtt_ms: float) -> float:
    """The delay that `queued` packets of the window make, in whole nanoseconds.

    Brakmo and Peterson 1995, (Expected - Actual) BaseRTT: queued = w (RTT - BaseRTT) / RTT.
    """
    return round(rtt_ms * queued / (window - queued), 6)


def spacing_s(rtt_ms: float, acks: int) -> float:
    """Time between the ACKs of a round trip; times are whole picoseconds."""
    return round(rtt_ms * 1e9) // acks / 1e12


def standard() -> Iterator[Case]:
    """Reno, AIMD, a fixed window, DCTCP and Westwood+ without congestion."""
    for window in WINDOWS:
        for rtt in RTTS_MS:
            settle, end = hold(8, window, rtt), grow(1, window, rtt)
            reno = growth(window, constant(1.0), law=1.0)
            yield Case("reno", "RFC 5681 Eq. 3", [settle, end], reno)
            yield Case("dctcp", "RFC 8257 sec. 3.4", [settle, end], reno)
            yield Case("westwood", "Grieco, Mascolo 2004: as Reno", [settle, end], reno)
        yield Case("reno", "RFC 5681 Eq. 4", [hold(8, window, 100.0), fall(window)], HALF * window)
        for increase, decrease in ((0.25, 0.125), (3.0, 0.5)):
            parameters = {"increase": increase, "decrease": decrease}
            source = "Chiu, Jain 1989: w + a a round trip, (1 - b) w"
            up = growth(window, constant(increase), law=increase)
            steps = [hold(2, window, 100.0), grow(1, window, 100.0)]
            yield Case("aimd", source, steps, up, parameters)
            steps = [hold(2, window, 100.0), fall(window)]
            yield Case("aimd", source, steps, (1 - decrease) * window, parameters)
        fixed = {"window": float(window)}
        steps = [hold(2, window, 100.0), grow(1, window, 100.0)]
        yield Case("fixed_window", "by definition", steps, 0.0, fixed)
        yield Case("fixed_window", "by definition", [*steps[:1], fall(window)], window, fixed)


def highspeed_decrease(window: float) -> float:
    """RFC 3649 sec. 5: b(w), with W_L = 38, W_H = 83000, B_H = 0.1."""
    position = math.log(window / 38) / math.log(83000 / 38)
    return 0.5 if window <= 38 else (0.1 - 0.5) * position + 0.5


def highspeed_increase(window: float) -> float:
    """RFC 3649 sec. 5: a(w) = w^2 p(w) 2 b(w) / (2 - b(w)), p on a line from 1e-3 to 1e-7."""
    if window <= 38:
        return 1.0
    b = highspeed_decrease(window)
    position = math.log(window / 38) / math.log(83000 / 38)
    p = math.exp(position * math.log(1e-7 / 1e-3) + math.log(1e-3))
    return max(1.0, window**2 * p * 2 * b / (2 - b))


CHORD = 1e-4
"""a(w) is a straight line inside cells of 2 %: (0.02^2 / 8) 0.8 * 0.2 of it, and more for b(w)."""


def fhstcp_growth(factor: float) -> PerAck:
    """Su et al. 2005: c RTT a(w), and not more than slow start."""
    return lambda cwnd, _: min(1.0, factor * highspeed_increase(cwnd) / cwnd)


def highspeed() -> Iterator[Case]:
    """HighSpeed TCP, and FHSTCP, which multiplies its increase by c RTT."""
    for window in WINDOWS:
        up = growth(window, lambda w, _: highspeed_increase(w) / w, highspeed_increase(window))
        down = (1 - highspeed_decrease(window)) * window
        source = "RFC 3649 sec. 5"
        steps = [hold(2, window, 100.0), grow(1, window, 100.0)]
        yield Case("highspeed", source, steps, up, error=CHORD)
        for control in ("highspeed", "fhstcp"):
            yield Case(control, source, [hold(2, window, 100.0), fall(window)], down)
        for rtt in RTTS_MS:
            factor = 10.0 * rtt / 1e3  # c = 10 / s
            up = growth(window, fhstcp_growth(factor))
            steps = [hold(2, window, rtt), grow(1, window, rtt)]
            yield Case("fhstcp", "Su et al. 2005, Fig. 1", steps, up, error=CHORD)


def scalable() -> Iterator[Case]:
    """Scalable TCP: a = 0.01 a packet, b = 0.125; Reno up to the legacy window of 16."""
    for window in WINDOWS:
        is_legacy = window <= 16
        per_ack = constant(1.0) if is_legacy else lambda *_: 0.01
        for rtt in RTTS_MS:
            steps = [hold(2, window, rtt), grow(1, window, rtt)]
            law = 1.0 if is_legacy else 0.01 * window
            yield Case("scalable", "Kelly 2003", steps, growth(window, per_ack, law))
        down = window * (HALF if is_legacy else 1 - 0.125)
        yield Case("scalable", "Kelly 2003", [hold(2, window, 100.0), fall(window)], down)


def bic_increment(window: float, goal: float | None) -> float:
    """Packets a round trip: Xu, Harfoush, Rhee 2004, with Linux's S_max 16 and B 4.

    Close to the goal, at less than 2 B packets, Linux takes 20 round trips for B packets.
    """
    if window <= 14:
        return 1.0
    if goal is None:
        return max(min(window / 3, 16.0), 0.05 * window)
    if window < goal:
        distance = (goal - window) / 4
        return 0.2 if distance < 2 else min(distance, 16.0)
    beyond = window - goal
    return 0.2 if beyond < 4 else min(beyond / 3, 16.0)


def bic_growth(goal: float | None) -> PerAck:
    """At most one packet for each acknowledged one."""
    return lambda cwnd, _: min(1.0, bic_increment(cwnd, goal) / cwnd)


def bic() -> Iterator[Case]:
    """BIC: the search below, at and above the window of the last loss, and before the first one."""
    source = "Xu, Harfoush, Rhee 2004; Linux tcp_bic.c"
    for window in WINDOWS:
        for distance in (None, 6, 40, 200, -2, -30, -100):
            goal = None if distance is None else window + distance
            if goal is not None and goal <= 14:
                continue
            for rtt in RTTS_MS if distance == 40 else (100.0,):
                steps = [hold(2, window, rtt)]
                steps += [] if goal is None else [loss(goal), hold(1, window, rtt)]
                up = growth(window, bic_growth(goal))
                yield Case("bic", source, [*steps, grow(1, window, rtt)], up)
        down = window * (HALF if window <= 14 else 819 / 1024)
        yield Case("bic", source, [hold(2, window, 100.0), fall(window)], down)


def htcp_alpha(since_s: float, beta: float, min_rtt_ms: float) -> float:
    """Leith, Shorten 2004: alpha = 2 (1 - beta) f(D), f = 1 + 10 (D - 1) + ((D - 1) / 2)^2.

    draft-leith-tcp-htcp and Linux: f in proportion to RTT / 100 ms, by 0.1 to 2.
    """
    late = max(0.0, since_s - 1.0)
    scale = min(max(min_rtt_ms / 100, 0.1), 2.0)
    return 2 * (1 - beta) * max(1.0, (1 + 10 * late + (late / 2) ** 2) * scale)


def htcp_growth(window: int, rtt_ms: float, rounds: int) -> PerAck:
    """Growth in the round trip that comes so many round trips after a loss."""

    def per_ack(cwnd: float, index: int) -> float:
        since = (rounds * window + index + 1) * spacing_s(rtt_ms, window)
        return min(1.0, htcp_alpha(since, HALF, rtt_ms) / cwnd)

    return per_ack


def htcp() -> Iterator[Case]:
    """H-TCP: growth by the time since the last loss, backoff to the ratio of the RTTs."""
    source = "Leith, Shorten 2004; draft-leith-tcp-htcp"
    for window in WINDOWS:
        for rtt in RTTS_MS:
            for since_s in (0.3, 3.0, 9.0) if window <= 5000 else (3.0,):
                rounds = round(since_s * 1e3 / rtt)

                up = growth(window, htcp_growth(window, rtt, rounds))
                steps = [hold(4, window, rtt), loss(window), hold(rounds, window, rtt)]
                yield Case("htcp", source, [*steps, grow(1, window, rtt)], up)
        for queue_share in (0.1, 0.6, 3.0):
            # The second loss comes at the throughput of the first one, so the backoff adapts.
            beta = min(max(1 / (1 + queue_share), 0.5), 0.8)
            epoch = [hold(6, window, 100.0), hold(1, window, 100.0 * (1 + queue_share))]
            steps = [*epoch, loss(window), *epoch, fall(window)]
            yield Case("htcp", source, steps, beta * window)


def cubic_window(rounds: int, most: float, rtt_ms: float) -> float:
    """RFC 9438 sec. 4.2 to 4.5 ACK by ACK, from a loss at `most` on."""
    c, beta = 0.4, 0.7
    cwnd = estimate = beta * most
    plateau_s = ((most - cwnd) / c) ** (1 / 3)
    now = -1.0  # the stage begins with its first ACK
    for _ in range(rounds):
        acks = int(cwnd)
        for _ in range(acks):
            now = 0.0 if now < 0 else now + spacing_s(rtt_ms, acks)
            alpha = 3 * (1 - beta) / (1 + beta) if estimate < most else 1.0
            estimate += alpha / cwnd
            if c * (now - plateau_s) ** 3 + most < estimate:
                cwnd = max(estimate, cwnd)
                continue
            target = c * (now + rtt_ms / 1e3 - plateau_s) ** 3 + most
            cwnd += (min(max(target, cwnd), 1.5 * cwnd) - cwnd) / cwnd
    return cwnd


def cubic() -> Iterator[Case]:
    """CUBIC after a loss: for some round trips, and for small windows beyond the plateau."""
    lengths = {10: (3, 40), 50: (3, 40, 80), 500: (3, 40, 100), 5000: (3, 40), 80000: (2,)}
    for most, all_rounds in lengths.items():
        for rtt in RTTS_MS:
            for rounds in all_rounds:
                up = cubic_window(rounds, most, rtt) - 0.7 * most
                steps = [hold(2, most, rtt), loss(most), grow(rounds, 0.7 * most, rtt)]
                yield Case("cubic", "RFC 9438 sec. 4.2 and 4.3", steps, up)
        steps = [hold(2, most, 100.0), fall(most)]
        yield Case("cubic", "RFC 9438 sec. 4.6", steps, 0.7 * most)


def dctcp() -> Iterator[Case]:
    """DCTCP: alpha after n windows with a share F of marks, (1 - g)^n of the way from 1 to F."""
    for window in WINDOWS:
        for share, rounds in ((0.0, 1), (0.0, 20), (0.1, 20), (0.5, 60), (1.0, 5)):
            # The first ACK ends a window of one packet, which is marked only if all are.
            alpha = math.floor(share) + (1 - math.floor(share)) * (1 - 1 / 16)
            alpha = share + (alpha - share) * (1 - 1 / 16) ** rounds
            steps = [hold(rounds, window, 100.0, share), fall(window, "mark")]
            down = window * (1 - alpha / 2)
            yield Case("dctcp", "RFC 8257 sec. 3.3", steps, down)
        steps = [hold(2, window, 100.0), fall(window)]
        yield Case("dctcp", "RFC 8257 sec. 3.5", steps, HALF * window)


def prague() -> Iterator[Case]:
    """Prague past its transition: DCTCP whose flows of up to 25 ms grow as one of 25 ms would.

    The virtual window is M = 25 ms / RTT times the actual one, grows by a packet in 25 ms, and so
    the actual one by 1 / M^2 in its round trip. Alpha is 1 until the first mark; a loss halves.
    """
    source = "draft-briscoe-iccrg-prague-congestion-control-04 sec. 2.4"
    parameters = {"transition_rounds": 0}
    for window in WINDOWS:
        for rtt in RTTS_MS:
            increase = min(1.0, rtt / 25) ** 2
            up = growth(window, constant(increase), law=increase)
            steps = [hold(4, window, rtt), grow(1, window, rtt)]
            yield Case("prague", source, steps, up, parameters)
        steps = [hold(4, window, 100.0), fall(window)]
        yield Case("prague", source, steps, HALF * window, parameters)
        steps = [hold(4, window, 100.0), fall(window, "mark")]
        yield Case("prague", source, steps, HALF * window, parameters)


def vegas() -> Iterator[Case]:
    """Vegas: one packet a round trip up below 2 queued packets, down above 4."""
    source = "Brakmo, Peterson 1995 sec. 3.2; alpha 2, beta 4 as Linux"
    for window in WINDOWS:
        for base in RTTS_MS:
            for queued, change in ((0.0, 1.0), (1.0, 1.0), (3.0, 0.0), (5.0, -1.0)):
                rtt = base + queueing_ms(queued, window, base)
                steps = [hold(4, window, base), grow(1, window, rtt)]
                yield Case("vegas", source, steps, change)
        yield Case("vegas", source, [hold(4, window, 100.0), fall(window)], HALF * window)


def fast() -> Iterator[Case]:
    """FAST: w <- min(2 w, (1 - g) w + g (base / RTT w + alpha)) once in two round trips."""
    source = "Jin, Wei, Low 2004"
    for window in WINDOWS:
        for base in RTTS_MS:
            # Without a queue each ACK adds a packet, as in slow start.
            steps = [hold(8, window, base), grow(1, window, base)]
            yield Case("fast", "ns-2 tcp-fast.cc, mi_threshold", steps, window)
            for queued in (30.0, 100.0, 300.0):
                # 30 rounds: the mean RTT, of 3 / w an ACK, has forgotten e^-90 of the empty path.
                queue = base * 9 if queued >= window else queueing_ms(queued, window, base)
                if queue < 1.0:
                    continue  # below the threshold of 0.75 ms it would double
                rtt = base + queue
                target = 0.5 * window + 0.5 * (base / rtt * window + 100.0)
                change = min(2.0 * window, target) - window
                steps = [hold(1, window, base), hold(30, window, rtt), grow(2, window, rtt)]
                yield Case("fast", source, steps, change)
        yield Case("fast", "as Reno", [hold(4, window, 100.0), fall(window)], HALF * window)


def illinois() -> Iterator[Case]:
    """Illinois: alpha from 10 to 0.3 and beta from 1/8 to 1/2 by the mean queueing delay."""
    source = "Liu, Basar, Srikant 2006; alpha_min and window of Linux"
    for window in WINDOWS:
        for base in RTTS_MS:
            longest = 2 * base  # dm
            for share in (0.0, 0.05, 0.3, 0.9, 1.0):
                low, mean = 0.01 * longest, share * longest
                k1 = (longest - low) * 0.3 * 10 / (10 - 0.3)
                k2 = (longest - low) * 0.3 / (10 - 0.3) - low
                alpha = 10.0 if mean <= low else k1 / (k2 + mean)
                beta = 0.125 + (0.5 - 0.125) * min(max((share - 0.1) / 0.7, 0.0), 1.0)
                if window < 15:
                    alpha, beta = 1.0, 0.5
                settle = [hold(2, window, base), hold(2, window, base + longest)]
                settle += [hold(6, window, base + mean)]
                up = growth(window, constant(alpha), alpha)
                yield Case("illinois", source, [*settle, grow(1, window, base + mean)], up)
                yield Case("illinois", source, [*settle, fall(window)], (1 - beta) * window)


def compound() -> Iterator[Case]:
    """Compound TCP: Reno and alpha W^k - 1 on top; less the queued packets once they are 30."""
    source = "Tan et al. 2006; draft-sridharan-tcpm-ctcp"
    rounds = 20
    for window in WINDOWS:
        step = max(0.0, 0.125 * (window + 1 / window) ** 0.75 - 1)
        delay_window = 0.0
        for _ in range(rounds):
            delay_window = min(delay_window, window + 1 / window - 1) + step
        reno = growth(window, constant(1.0))
        for base in RTTS_MS:
            settle = hold(rounds, window, base)
            after = window + reno
            up = reno + max(0.0, 0.125 * after**0.75 - 1)
            yield Case("compound", source, [settle, grow(1, window, base)], up)
            if window < 50:
                continue
            # 40 of the window are queued; a little more of what the ACKs have made of it.
            rtt = base + queueing_ms(40.0, window, base)
            queued = after * (rtt - base) / rtt
            change = reno - min(queued, delay_window, after - 1)
            yield Case("compound", source, [settle, grow(1, window, rtt)], change)
        yield Case("compound", source, [hold(4, window, 100.0), fall(window)], HALF * window)


def yeah() -> Iterator[Case]:
    """YeAH: fast as Scalable TCP, slow as Reno, and drains what it has queued above 80 packets."""
    source = "Baiocchi, Castellani, Vacirca 2007; Linux tcp_yeah.c"
    for window in WINDOWS:
        reno = growth(window, constant(1.0))
        for base in RTTS_MS:
            fast_mode = growth(window, lambda w, _: 1 / min(w, 100.0))
            steps = [hold(4, window, base), grow(1, window, base)]
            yield Case("yeah", source, steps, fast_mode)
            if window <= 50:
                # A fifth of the RTT is queueing: above one in eight of the RTT without it.
                rtt = 1.25 * base
                steps = [hold(4, window, base), hold(2, window, rtt), grow(1, window, rtt)]
                yield Case("yeah", source, steps, reno)
            else:
                rtt = base + queueing_ms(100.0, window, base)
                after = window + reno
                drained = min(after * (rtt - base) / rtt, after / 2)
                steps = [hold(4, window, base), hold(2, window, rtt), grow(1, window, rtt)]
                yield Case("yeah", source, steps, reno - drained)
        for queued in (0.0, 0.2 * window, 0.7 * window):
            rtt = 100.0 + queueing_ms(queued, window, 100.0)
            steps = [hold(4, window, 100.0), hold(2, window, rtt), fall(window)]
            # The estimate is taken with what the last ACK has made of the window.
            mode = 1 / min(window, 100) if queued == 0 else 1 / window
            estimate = (window + mode) * (rtt - 100.0) / rtt
            down = window - max(min(estimate, window / 2), window / 8)
            yield Case("yeah", source, steps, down)


def ledbat() -> Iterator[Case]:
    """LEDBAT: GAIN (TARGET - queueing delay) / TARGET packets a round trip."""
    source = "RFC 6817 sec. 2.4.2; TARGET 100 ms, GAIN 1"
    for window in WINDOWS:
        for base in RTTS_MS:
            for queue_ms in (0.0, 50.0, 100.0, 150.0):
                off_target = (100.0 - queue_ms) / 100.0
                up = growth(window, constant(off_target), off_target)
                rtt = base + queue_ms
                steps = [hold(2, window, base), hold(2, window, rtt), grow(1, window, rtt)]
                yield Case("ledbat", source, steps, up)
        yield Case("ledbat", source, [hold(2, window, 100.0), fall(window)], HALF * window)


def hybla() -> Iterator[Case]:
    """Hybla: rho^2 packets a round trip, rho = RTT / 25 ms and at least 1."""
    source = "Caini, Firrincieli 2004"
    for window in WINDOWS:
        for rtt in RTTS_MS:
            rho = max(rtt / 25.0, 1.0)
            up = growth(window, constant(rho**2), rho**2)
            steps = [hold(2, window, rtt), grow(1, window, rtt)]
            yield Case("hybla", source, steps, up)
        yield Case("hybla", "as Reno", [hold(2, window, 100.0), fall(window)], HALF * window)


def westwood() -> Iterator[Case]:
    """Westwood+: falls to bandwidth times smallest RTT, which is base / RTT of the window."""
    source = "Grieco, Mascolo 2004"
    for window in WINDOWS:
        for base in RTTS_MS:
            for queue_share in (0.0, 0.25, 2.0):
                rtt = base * (1 + queue_share)
                # One round trip without a queue; after 250 samples, each of a round trip or 50 ms,
                # the filter has forgotten it to 0.9^250.
                rounds = 250 * math.ceil(50 / rtt)
                steps = [hold(1, window, base), hold(rounds, window, rtt), fall(window)]
                down = window / (1 + queue_share)
                if window <= 500:
                    yield Case("westwood", source, steps, down)


LAWS = (
    standard, highspeed, scalable, bic, htcp, cubic, dctcp, prague, vegas, fast, illinois, compound,
    yeah, ledbat, hybla, westwood,
)  # fmt: skip


def text() -> str:
    """The data file: one case a line.

    Nine digits, so that the last digits of another platform's logarithm make no difference.
    """
    cases = [case for law in LAWS for case in law()]
    lines = []
    for case in cases:
        entry = asdict(case) | {"expected": float(f"{case.expected:.9g}")}
        lines.append(json.dumps(entry, separators=(",", ":")))
    return "[\n" + ",\n".join(lines) + "\n]\n"


def main() -> int:
    """Writes the file, or says whether it is what would be written."""
    parser = argparse.ArgumentParser(description="Expected windows, from the published formulas.")
    parser.add_argument("--check", action="store_true", help="change nothing, fail if stale")
    expected = text()
    if not parser.parse_args().check:
        DATA.write_text(expected, encoding="utf-8")
        return 0
    if DATA.read_text(encoding="utf-8") == expected:
        return 0
    print(f"{DATA.name} is not what tools/expected_controls.py writes", file=sys.stderr)
    return 1


if __name__ == "__main__":
    sys.exit(main())
