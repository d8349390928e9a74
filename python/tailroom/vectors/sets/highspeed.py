"""The table of HighSpeed TCP, to its last row."""

import math
from collections.abc import Iterator

from tailroom.vectors.scripts import Occurrence, SenderScript
from tailroom.vectors.vector import Expectation, Vector

TABLE = """
38:1:.50 118:2:.44 221:3:.41 347:4:.38 495:5:.37 663:6:.35 851:7:.34 1058:8:.33 1284:9:.32
1529:10:.31 1793:11:.30 2076:12:.29 2378:13:.28 2699:14:.28 3039:15:.27 3399:16:.27 3778:17:.26
4177:18:.26 4596:19:.25 5036:20:.25 5497:21:.24 5979:22:.24 6483:23:.23 7009:24:.23 7558:25:.22
8130:26:.22 8726:27:.22 9346:28:.21 9991:29:.21 10661:30:.21 11358:31:.20 12082:32:.20 12834:33:.20
13614:34:.19 14424:35:.19 15265:36:.19 16137:37:.19 17042:38:.18 17981:39:.18 18955:40:.18
19965:41:.17 21013:42:.17 22101:43:.17 23230:44:.17 24402:45:.16 25618:46:.16 26881:47:.16
28193:48:.16 29557:49:.15 30975:50:.15 32450:51:.15 33986:52:.15 35586:53:.14 37253:54:.14
38992:55:.14 40808:56:.14 42707:57:.13 44694:58:.13 46776:59:.13 48961:60:.13 51258:61:.13
53677:62:.12 56230:63:.12 58932:64:.12 61799:65:.12 64851:66:.11 68113:67:.11 71617:68:.11
75401:69:.10 79517:70:.10 84035:71:.10 89053:72:.10 94717:73:.09
"""
"""RFC 3649 appendix B: window, increase a(w), decrease b(w)."""
RTT_S = 0.1
LOW, HIGH = 38, 83000
PARAMETERS = {
    "low_window": float(LOW),
    "high_window": float(HIGH),
    "high_p": 1e-7,
    "high_decrease": 0.1,
}


def vectors() -> Iterator[Vector]:
    """A vector per row: growth at the window of the row, and the answer to a loss."""
    for row in TABLE.split():
        window, increase, decrease = (float(number) for number in row.split(":"))
        yield _row(int(window), increase, decrease)


def increase_by_formula(window: float) -> float:
    """a(w) = w^2 p(w) 2 b(w) / (2 - b(w)), with log p and b on lines over log w."""
    position = math.log(window / LOW) / math.log(HIGH / LOW)
    decrease = 0.5 + position * (0.1 - 0.5)
    loss = math.exp(math.log(1e-3) + position * math.log(1e-7 / 1e-3))
    return window**2 * loss * 2 * decrease / (2 - decrease)


def _row(window: int, increase: float, decrease: float) -> Vector:
    # The second flight has at least w + a - 1 packets; its middle is lost.
    formula = increase_by_formula(window)
    largest = window + 2 * formula + 1
    return Vector(
        id=f"highspeed.row-{window}",
        title=f"a({window}) = {increase:g}, b({window}) = {decrease:g}",
        source="RFC 3649 sec. 5 and appendix B",
        url="https://www.rfc-editor.org/rfc/rfc3649",
        script=SenderScript(
            control="highspeed",
            parameters=PARAMETERS,
            rtt_s=RTT_S,
            initial_cwnd_packets=window,
            initial_ssthresh_packets=window,
            lost_packets=(window + window // 2,),
            duration_s=2.3 * RTT_S,
        ),
        expect=(
            Expectation(
                quantity="cwnd_packets",
                at=(1.5 * RTT_S, 1.5 * RTT_S),
                value=(window + increase - 0.1, window + formula + 0.15),
                why=f"cwnd += a(w) / cwnd per ACK is a(w) in a round trip, less a^2 / 2w; a(w) = "
                f"{increase:g} in the table, {formula:.2f} by the formulas of sec. 5 (the table "
                "rounds p(w) to 0.078 / w^1.2)",
            ),
            Expectation(
                quantity="ssthresh_packets",
                at=(0.01, 0.05),
                after=Occurrence("reduction"),
                value=(
                    (1 - decrease - 0.005) * window - 1,
                    (1 - decrease + 0.005) * largest,
                ),
                why="(1 - b(w)) w; the table has two digits of b(w), and the window has grown for "
                "one to two round trips",
            ),
        ),
    )
