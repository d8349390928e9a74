"""What a script says of `tcp_info`, in lines of Python of which a few forms are evaluated."""

import ast
import textwrap
from collections.abc import Mapping

from validation.packetdrill.script import NotExpressibleError

UNLIMITED = 0x7FFFFFFF
STATES = ("Open", "Disorder", "CWR", "Recovery", "Loss")
CONSTANTS = {f"TCP_CA_{name}": number for number, name in enumerate(STATES)}
NUMBER_OF = {"open": 0, "disorder": 1, "reduced": 2, "recovery": 3, "loss": 4}
HARMLESS = (
    *(ast.Module, ast.Assert, ast.Assign, ast.AugAssign, ast.Expr, ast.Name, ast.Constant),
    *(ast.Compare, ast.BoolOp, ast.BinOp, ast.UnaryOp, ast.operator, ast.unaryop, ast.cmpop),
    *(ast.boolop, ast.expr_context),
)


def variables(info: Mapping[str, float | str], mss: int) -> dict[str, float]:
    """The variables of `tcp_info` that tailroom's sender has."""
    ssthresh = float(info["ssthresh_packets"])
    return {
        "tcpi_ca_state": NUMBER_OF[str(info["state"])],
        "tcpi_snd_cwnd": int(info["cwnd_packets"]),
        "tcpi_snd_ssthresh": UNLIMITED if ssthresh == float("inf") else int(ssthresh),
        "tcpi_unacked": int(info["unacked_packets"]),
        "tcpi_sacked": int(info["sacked_packets"]),
        "tcpi_lost": int(info["lost_packets"]),
        "tcpi_retrans": int(info["retransmitted_packets"]),
        "tcpi_snd_mss": mss,
    }


class Assertions:
    """The code of a script; variables that it sets keep their values."""

    def __init__(self) -> None:
        self.compared = 0
        """Assertions that have been evaluated."""
        self._own: dict[str, float] = {}

    def run(self, code: str, info: Mapping[str, float]) -> str:
        """Evaluates code; returns the first assertion that fails, or an empty text.

        An assertion about something that tailroom's sender does not have is skipped.

        Raises:
            NotExpressibleError: The code does more than compare and assign.
        """
        for statement in _read(code).body:
            if isinstance(statement, ast.Assert):
                if fault := self._fault(statement.test, info):
                    return fault
            elif not isinstance(statement, ast.Expr):  # what is printed
                self._assign(statement, info)
        return ""

    def _fault(self, test: ast.expr, info: Mapping[str, float]) -> str:
        _check(test)
        known = {**CONSTANTS, **info, **self._own}
        names = [node.id for node in ast.walk(test) if isinstance(node, ast.Name)]
        if any(name not in known for name in names):
            return ""
        self.compared += 1
        if _value(test, known):
            return ""
        seen = ", ".join(f"{name} is {known[name]}" for name in names if name in info)
        return f"{seen}; expected {ast.unparse(test)}"

    def _assign(self, statement: ast.stmt, info: Mapping[str, float]) -> None:
        _check(statement)
        module = ast.fix_missing_locations(ast.Module([statement], []))
        scope = {**CONSTANTS, **info, **self._own}
        try:
            exec(compile(module, "script", "exec"), {"__builtins__": {}}, scope)
        except NameError:
            return  # of something that tailroom's sender does not have
        self._own = {name: scope[name] for name in scope if name not in {**CONSTANTS, **info}}


def _read(code: str) -> ast.Module:
    try:
        return ast.parse(textwrap.dedent(code).strip())
    except SyntaxError:
        return _read_joined(code)


def _read_joined(code: str) -> ast.Module:
    # Lines of Python that are indented as the script is.
    lines = [line.strip() for line in code.replace("\\\n", "").splitlines()]
    try:
        return ast.parse("\n".join(lines))
    except SyntaxError as error:
        raise NotExpressibleError(f"code that is no plain Python: {error.msg}") from None


def _check(node: ast.AST) -> None:
    # Refuses what calls or reads anything: scripts are other people's code.
    for part in ast.walk(node):
        if not isinstance(part, HARMLESS):
            raise NotExpressibleError("code that does more than compare and assign")


def _value(test: ast.expr, known: Mapping[str, float]) -> object:
    code = compile(ast.fix_missing_locations(ast.Expression(test)), "script", "eval")
    return eval(code, {"__builtins__": {}}, dict(known))
