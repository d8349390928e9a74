"""The interpreter of packetdrill scripts, with scripts of this project."""

from collections.abc import Mapping
from pathlib import Path
from typing import Protocol

import pytest

from tests.validation import packetdrill
from tests.validation.packetdrill import Row, changes, page, recorded, renewed
from validation.packetdrill.assertions import Assertions
from validation.packetdrill.run import Outcome, judge
from validation.packetdrill.script import Call, Code, NotExpressibleError, Segment, read


class Judge(Protocol):
    """Judges a script after its handshake."""

    def __call__(self, *parts: str, before: str = "") -> Outcome: ...


HANDSHAKE = """
   0 socket(..., SOCK_STREAM, IPPROTO_TCP) = 3
  +0 bind(3, ..., ...) = 0
  +0 listen(3, 1) = 0
  +0 < S 0:0(0) win 30000 <mss 1000,sackOK,nop,nop,nop,wscale 7>
  +0 > S. 0:0(0) ack 1 <...>
+.05 < . 1:1(0) ack 1 win 900
  +0 accept(3, ..., ...) = 4
"""
THREE = """
  +0 write(4, ..., 3000) = 3000
  +0 > P. 1:3001(3000) ack 1
"""
LOST = """
  +0 write(4, ..., 5000) = 5000
  +0 > P. 1:5001(5000) ack 1
+.05 < . 1:1(0) ack 1 win 900 <sack 1001:2001,nop,nop>
  +0 < . 1:1(0) ack 1 win 900 <sack 1001:3001,nop,nop>
  +0 %{ assert tcpi_ca_state == TCP_CA_Disorder }%
  +0 < . 1:1(0) ack 1 win 900 <sack 1001:4001,nop,nop>
  +0 > . 1:1001(1000) ack 1
  +0 %{
       assert tcpi_ca_state == TCP_CA_Recovery, tcpi_ca_state
       assert tcpi_sacked == 3 and tcpi_lost == 1
       assert tcpi_unacked - tcpi_sacked == 2
       assert tcpi_reordering == 99, 'of a stack that has it'
  }%
"""


@pytest.fixture
def outcome(tmp_path: Path) -> Judge:
    """Judges a script that is written into a file."""

    def judged(*parts: str, before: str = "") -> Outcome:
        file = tmp_path / "own.pkt"
        file.write_text(before + HANDSHAKE + "".join(parts), encoding="utf-8")
        return judge(file)

    return judged


def test_a_script_that_the_sender_follows_passes(outcome: Judge) -> None:
    assert outcome(THREE) == Outcome("passes")
    assert outcome(LOST) == Outcome("passes")
    assert outcome(THREE, "+.05 < . 1:1(0) ack 3001 win 900\n+0 close(4) = 0\n") == Outcome(
        "passes"
    )


@pytest.mark.parametrize(
    ("parts", "found"),
    [
        (
            (THREE.replace("+0 > P.", "+.01 > P."),),
            "line 11: packet 1 at 0.050 s instead of packet 1 at 0.060 s",
        ),
        (
            (THREE, "+0 > P. 1:1001(1000) ack 1\n"),
            "line 12: packet 1 at 0.050 s does not leave up to 0.054 s",
        ),
        (
            (THREE, "+.01 %{ assert tcpi_snd_cwnd == 7, tcpi_snd_cwnd }%\n"),
            "line 12: tcpi_snd_cwnd is 10; expected tcpi_snd_cwnd == 7",
        ),
        (
            (LOST.replace("> . 1:1001", "> . 2001:3001"),),
            "line 16: packet 1 again at 0.100 s instead of packet 3 at 0.100 s",
        ),
        (
            # Neither the probe after two round trips nor the timeout is as early as 70 ms.
            (THREE, "+.07 > P. 2001:3001(1000) ack 1\n"),
            "line 12: packet 3 at 0.120 s does not leave up to 0.124 s",
        ),
    ],
)
def test_what_differs_is_named_with_its_line(
    outcome: Judge, parts: tuple[str, ...], found: str
) -> None:
    assert outcome(*parts) == Outcome("differs", found)


def test_a_timer_is_waited_for_and_its_range_of_times_is_kept(outcome: Judge) -> None:
    """2 round trips of 50 ms, and 2 ms: RFC 8985 sec. 7.2, `TCP_TIMEOUT_MIN`."""
    assert outcome(THREE, "+.09~+.11 > P. 2001:3001(1000) ack 1\n").kind == "passes"
    assert outcome(THREE, "+.11~+.2 > P. 2001:3001(1000) ack 1\n").kind == "differs"


@pytest.mark.parametrize(
    ("line", "reason"),
    [
        ("+.05 < . 1:1(0) ack 1001 win 0\n", "a window of 0"),
        ("+.05 < . 1:1(0) ack 1500 win 900\n", "an ACK inside a packet"),
        ("+.05 < . 1:1(0) ack 1 win 900 <sack 1500:2001,nop,nop>\n", "SACK inside a packet"),
        ("+0 sendfile(4, 5, [0], 5) = 5\n", "sendfile()"),
        ("+0 write(4, ..., 200000) = 200000\n+.05 < . 1:1(0) ack 3001 win 2\n", "the receiver's"),
        ("+0 `tc qdisc replace dev tun0 root pfifo limit 0`\n", "a local queue that drops"),
        ("+0 %{ open('x', 'w') }%\n+0 %{ assert open('x') }%\n", "code that does more than"),
        ("+0 < icmp unreachable [1:1(0)]\n", "a packet that is no plain TCP segment (icmp)"),
        ("+0 setsockopt(4, SOL_TCP, TCP_CORK, [1], 4) = 0\n", "socket option TCP_CORK"),
        ("+0 %{\n", "a bracket stays open"),
        ("+0 words\n", "unknown line"),
    ],
)
def test_what_the_sender_does_not_have_cannot_be_expressed(
    outcome: Judge, line: str, reason: str
) -> None:
    found = outcome(THREE, line)
    assert found.kind == "cannot be expressed"
    assert found.detail.startswith(reason)


def test_a_script_without_data_says_nothing_about_a_sender(outcome: Judge) -> None:
    assert outcome("") == Outcome("cannot be expressed", "nothing about a sender of data")


def test_sysctls_of_the_script_and_of_its_defaults_are_those_of_the_host(
    outcome: Judge,
    tmp_path: Path,
) -> None:
    """After two idle seconds a window of 18 or more begins at 10 again, if the sysctl says so."""
    (tmp_path / "defaults.sh").write_text("sysctl -q net.ipv4.tcp_slow_start_after_idle=0\n")
    events = """
  +0 write(4, ..., 40000) = 40000
+.05 < . 1:1(0) ack 5001 win 900
+.01 < . 1:1(0) ack 10001 win 900
+.05 < . 1:1(0) ack 15001 win 900
+.01 < . 1:1(0) ack 20001 win 900
+.05 < . 1:1(0) ack 30001 win 900
+.05 < . 1:1(0) ack 40001 win 900
  +2 write(4, ..., 20000) = 20000
  +0 %{ assert (tcpi_unacked == 10) == IDLE }%
"""
    idle = "`sysctl -q net.ipv4.tcp_slow_start_after_idle=1`\n"
    for before, has_restarted in (("`./defaults.sh`\n", "False"), (idle, "True")):
        assert outcome(events.replace("IDLE", has_restarted), before=before).kind == "passes"
    late = outcome(THREE, idle)
    assert late.detail == "a setting that changes on an open connection"


def test_all_kinds_of_lines_are_read() -> None:
    script = read(
        "--tolerance_usecs=20000\n// words\n`sysctl -q a=b`\n 0 socket(..., X) = 3 // more\n"
        "+.1~+.2 > P. 1:1001(1000) ack 1 <TS val 100 ecr 0>\n"
        "+0 < [ect0] E. 1:1(0) ack 1001 win 5 <sack 1:2 3:4,nop>\n+0 %{ x = 1 }%\n"
        "+0.2...0.3 write(3,\n  ..., 10) = 10\n"
    )
    assert script.options == {"tolerance_usecs": "20000"}
    _, call, out, heard, code, write = [event.what for event in script.events]
    assert call == Call("socket", "..., X", "3")
    assert isinstance(out, Segment)
    assert (out.is_inbound, out.first, out.last) == (False, 1, 1001)
    assert (script.events[2].when.first, script.events[2].when.last) == (0.1, 0.2)
    assert isinstance(heard, Segment)
    assert (heard.flags, heard.blocks, heard.window) == ("E.", ((1, 2), (3, 4)), 5)
    assert isinstance(code, Code)
    assert isinstance(write, Call)
    assert write.name == "write"


def test_code_keeps_its_variables_and_calls_nothing() -> None:
    assertions = Assertions()
    info: Mapping[str, float] = {"tcpi_snd_cwnd": 8}
    assert not assertions.run("cwnd = 7; print(tcpi_snd_cwnd)", info)
    assert not assertions.run("cwnd += 1; assert tcpi_snd_cwnd == cwnd, tcpi_snd_cwnd", info)
    assert "expected tcpi_snd_cwnd == cwnd" in assertions.run(
        "cwnd += 1\nassert tcpi_snd_cwnd == cwnd", info
    )
    assert assertions.compared == 2
    for code in ("assert ().__class__", "x = open('y')", "import os", "assert [1][0]"):
        with pytest.raises(NotExpressibleError):
            assertions.run(code, info)


def test_the_list_says_what_has_changed() -> None:
    expected = {
        "a": Row("a", "passes", ""),
        "b": Row("b", "differs", "on purpose"),
    }
    same = {"a": Outcome("passes"), "b": Outcome("differs", "line 3: x")}
    assert not [*changes(expected, same)]
    found = {"a": Outcome("differs", "line 3: x"), "b": Outcome("passes"), "c": Outcome("passes")}
    assert [*changes(expected, found)] == [
        "a: differs: line 3: x; packetdrill.csv says that it passes",
        "b: passes; packetdrill.csv says that it differs",
        "c: is not in packetdrill.csv; passes",
    ]
    assert [row.reason for row in renewed(expected, same)] == ["", "on purpose"]
    assert [row.reason for row in renewed(expected, found)] == ["not explained yet", "", ""]


def test_every_recorded_difference_is_explained_and_the_page_shows_the_list() -> None:
    rows = recorded()
    assert all(row.reason for row in rows.values() if row.outcome != "passes")
    assert not [row for row in rows.values() if row.reason == packetdrill.NOT_EXPLAINED]
    assert packetdrill.PAGE.read_text(encoding="utf-8") == page([*rows.values()])


def test_without_scripts_the_list_is_printed(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.delenv("TAILROOM_PACKETDRILL", raising=False)
    assert packetdrill.main([]) == 0
    assert "as recorded" in capsys.readouterr().out


def test_a_folder_without_scripts_is_no_success(tmp_path: Path) -> None:
    assert packetdrill.main(["--scripts", str(tmp_path)]) == 1


def test_a_script_passes_up_to_a_command_that_cannot_be_followed(outcome: Judge) -> None:
    drops = "+0 `tc qdisc replace dev tun0 root pfifo limit 0`\n+0 > P. 9:99(90) ack 1\n"
    assert outcome(LOST, drops) == Outcome("passes", "up to a local queue that drops")
    assert outcome(THREE, drops).kind == "cannot be expressed"
