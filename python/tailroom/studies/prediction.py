"""The predictions of all models for a scenario."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from math import isinf
from typing import TYPE_CHECKING, Any

from tailroom import models
from tailroom.arguments import SIMULATED
from tailroom.errors import NotApplicableError
from tailroom.field_docs import with_field_docs
from tailroom.models import Assumption, Bottleneck, Model, Prediction, Requirement
from tailroom.scenario.axis import Axis
from tailroom.scenario.custom_controls import Congestion
from tailroom.scenario.named_values import nearest
from tailroom.scenario.scenario import Scenario, ScenarioLike
from tailroom.scenario.trust import allowing
from tailroom.simulation.any_result import AnyResult, Tables
from tailroom.simulation.run_warnings import once, warn, warning
from tailroom.studies.setting_columns import setting_column
from tailroom.written_numbers import number, without_exponents

if TYPE_CHECKING:
    import pyarrow as pa

    from tailroom.execution.progress import RunProgress
    from tailroom.simulation.result_types import RunWarning
    from tailroom.statistics.intervals import Interval

QUANTITIES = (
    "utilization",
    "loss_fraction",
    "queue_packets_mean",
    "queue_delay_s_mean",
    "required_packets",
)
"""Fields of a `Prediction` that are quantities."""


@with_field_docs
@dataclass(frozen=True)
class Answer:
    """The prediction of a model, and whether its assumptions hold."""

    model: Model
    """The model."""
    prediction: Prediction | None
    """`None` if the model does not apply."""
    why_not: str = ""
    """Reason why the model does not apply; empty if it applies."""
    assumptions: tuple[Assumption, ...] = ()
    """Assumptions of the model; empty if the model does not apply."""

    @property
    def failing(self) -> list[Assumption]:
        """The assumptions that do not hold."""
        return [assumption for assumption in self.assumptions if not assumption.holds]


@with_field_docs
@dataclass(frozen=True)
class Predictions(AnyResult):
    """The predictions of models for one link of a scenario.

    Their table `models` has one row per model: `model`, a column per quantity (null if the model
    does not predict it), `required_for`, `failing` (the number of assumptions that do not hold),
    and `why_not` (the reason why a model does not apply). Their table `assumptions` has a row per
    model and assumption: `model`, `statement`, `holds`, and `found` (what the scenario has
    instead). The picture is the required buffers.
    """

    link: Bottleneck
    """The link and its traffic."""
    target: Requirement
    """The requirement that the required buffers meet."""
    answers: tuple[Answer, ...]
    """One answer per model."""

    def __repr__(self) -> str:
        """The number of models that apply, and the buffers that they require."""
        applying = [answer for answer in self.answers if answer.prediction]
        required = [
            f"{answer.model.name} {_required(answer.prediction.required_packets)}"
            for answer in applying
            if answer.prediction and answer.prediction.required_packets is not None
        ]
        buffers = f"\n  required packets: {', '.join(required)}" if required else ""
        return (
            f"<Predictions for link {self.link.name}: "
            f"{len(applying)} of {len(self.answers)} models apply{buffers}>"
        )

    @property
    def warnings(self) -> tuple["RunWarning", ...]:
        """The assumptions that do not hold, a warning per model that predicts all the same."""
        return tuple(map(_warning, (one for one in self.answers if one.failing)))

    @property
    def _tables(self) -> Tables:
        return {
            "models": lambda: _table(self.answers),
            "assumptions": lambda: _assumptions(self.answers),
        }

    def __getitem__(self, name: str) -> Prediction:
        """The prediction of the model of this name.

        Raises:
            KeyError: There is no answer of such a model; the message suggests names.
            NotApplicableError: The model does not apply.
        """
        answer = self._answer(name)
        if answer.prediction is None:
            raise NotApplicableError(answer.why_not)
        return answer.prediction

    def value(self, name: str, quantity: str) -> float | None:
        """Returns a quantity of a model's `Prediction`; `None` if the model does not predict it.

        Args:
            name: Name of the model.
            quantity: Name of a field of `Prediction`, such as `utilization` (a fraction) or
                `queue_delay_s_mean`.

        Raises:
            KeyError: There is no answer of such a model, or no such quantity; the message suggests
                names.
        """
        _check_quantity(quantity)
        prediction = self._answer(name).prediction
        value: float | None = getattr(prediction, quantity) if prediction else None
        return value

    def fails(self, name: str) -> bool:
        """Returns whether an assumption of a model does not hold.

        Args:
            name: Name of the model.

        Raises:
            KeyError: There is no answer of such a model; the message suggests names.
        """
        return bool(self._answer(name).failing)

    def models_predicting(self, quantity: str) -> list[str]:
        """Returns the names of the models that predict a quantity.

        Args:
            quantity: Name of a field of `Prediction`, such as `utilization`.

        Raises:
            KeyError: There is no such quantity; the message suggests names.
        """
        _check_quantity(quantity)
        names = [answer.model.name for answer in self.answers]
        return [name for name in names if self.value(name, quantity) is not None]

    def _answer(self, name: str) -> Answer:
        for answer in self.answers:
            if answer.model.name == name:
                return answer
        names = [answer.model.name for answer in self.answers]
        raise KeyError(f"{name}: there is no answer of such a model; {nearest(str(name), names)}")

    def as_dict(self) -> dict[str, Any]:
        """The object that `tailroom model --json` prints."""
        return {
            "link": self.link.name,
            "target": {
                "utilization": self.target.utilization,
                "loss_fraction": self.target.loss_fraction,
            },
            "models": {answer.model.name: _as_dict(answer, self.link) for answer in self.answers},
        }


def predict(  # noqa: PLR0913 - keyword arguments
    scenario: ScenarioLike,
    *,
    link: str | None = None,
    target: Requirement | None = None,
    models: Iterable[str] | None = None,
    seed: int | None = None,
    set: Mapping[str, object] | None = None,  # noqa: A002
    congestion: Congestion | None = None,
    allow_code: bool = False,
    allow_files: bool = False,
) -> Predictions:
    """Evaluates the analytic models of the literature for a scenario, without simulation.

    Args:
        scenario: Path of a scenario file, or a scenario built in Python.
        link: Name of the link; if left out, the link that its traffic fills first.
        target: The requirement on utilization and loss that the required buffers meet.
        models: Names of the models to evaluate, which warn where an assumption does not hold; all
            models if left out.
        seed: Replaces the scenario's seed.
        set: Replaces values of the scenario, as `tailroom.run` does.
        congestion: Congestion controls by group, or one for the only group, as `tailroom.run` takes
            them.
        allow_code: Load the code in Python that the scenario file names (controls, disciplines,
            sources); code that arguments name is always loaded.
        allow_files: Read the files that the scenario file names outside its directory.

    Raises:
        ScenarioError: The scenario is wrong, or has no such link.
        ArgumentError: There is no such model.
    """
    with allowing(code=allow_code, files=allow_files):
        source = Scenario.of(scenario, set, congestion)
    found = predict_source(source, link=link, target=target, only=models, seed=seed)
    if models is not None:
        warn(found.warnings)
    return found


def predict_source(
    source: Scenario,
    *,
    link: str | None = None,
    target: Requirement | None = None,
    only: Iterable[str] | None = None,
    seed: int | None = None,
) -> Predictions:
    """Evaluates the models for a scenario that has been read; the arguments are those of `predict`.

    Args:
        source: The scenario.
        link: Name of the link.
        target: The requirement that the required buffers meet.
        only: Names of the models to evaluate.
        seed: Replaces the scenario's seed.

    Raises:
        ScenarioError: The scenario is wrong, or has no such link.
        ArgumentError: There is no such model.
    """
    bottleneck = models.read_bottleneck(source, link, seed)
    target = target or Requirement()
    chosen = models.models_named(models.MODELS if only is None else only)
    answers = tuple(ask(model, bottleneck, target) for model in chosen)
    return Predictions(bottleneck, target, answers)


@with_field_docs
@dataclass(frozen=True)
class Curves(AnyResult):
    """The predictions of models at each value of a key.

    Their table `curves` has one row per value and model: the value under the key, then the columns
    of the table of `Predictions`. The picture is utilization, loss and queueing delay over the key,
    one line per model.
    """

    axis: Axis
    """The key and its values."""
    points: tuple[Predictions, ...]
    """Predictions at each value of the axis, in its order."""
    simulated: tuple[Mapping[str, "Interval"], ...] = ()
    """Simulated metrics at each value, by their full names; empty without simulation."""

    def __repr__(self) -> str:
        """The key and the number of its values."""
        return f"<Curves over {self.axis.key}: predictions at {len(self.points)} values>"

    @property
    def warnings(self) -> tuple["RunWarning", ...]:
        """The assumptions that do not hold at some value, a warning per model."""
        return once(one for point in self.points for one in point.warnings)

    @property
    def _tables(self) -> Tables:
        return {"curves": self._table}

    def _table(self) -> "pa.Table":
        pairs = list(zip(self.axis.values, self.points, strict=True))
        table = _table([answer for _, point in pairs for answer in point.answers])
        by_row = [value for value, point in pairs for _ in point.answers]
        column = setting_column(self.axis.key, by_row, self.axis.bare_unit)
        return table.add_column(0, *column)

    def models_predicting(self, quantity: str) -> list[str]:
        """Returns the names of the models that predict a quantity at any of the points.

        Args:
            quantity: Name of a field of `Prediction`, such as `utilization`.

        Raises:
            KeyError: There is no such quantity; the message suggests names.
        """
        names = (name for point in self.points for name in point.models_predicting(quantity))
        return list(dict.fromkeys(names))

    def values(self, name: str, quantity: str) -> list[float | None]:
        """Returns a model's prediction of a quantity at each point; `None` where there is none.

        Args:
            name: Name of the model.
            quantity: Name of a field of `Prediction`, such as `utilization`.

        Raises:
            KeyError: There is no answer of such a model, or no such quantity; the message suggests
                names.
        """
        return [point.value(name, quantity) for point in self.points]

    def simulation(self, quantity: str) -> "list[Interval | None]":
        """Returns the simulated mean of a quantity at each point; `None` where there is none.

        Args:
            quantity: Name of a metric of links, such as `utilization`.
        """
        name = f"links.{self.points[0].link.name}.{quantity}"
        return [metrics.get(name) for metrics in self.simulated]

    def as_dict(self) -> dict[str, Any]:
        """The object that `tailroom model --over --json` prints."""
        pairs = zip(self.axis.values, self.points, strict=True)
        points = [{"value": value, **predictions.as_dict()} for value, predictions in pairs]
        for quantity in QUANTITIES:
            for point, interval in zip(points, self.simulation(quantity), strict=False):
                if interval:
                    point.setdefault("simulation", {})[quantity] = interval.as_dict()
        return {"key": self.axis.key, "points": points}


def predict_over(  # noqa: PLR0913 - keyword arguments
    scenario: ScenarioLike,
    axis: Axis,
    *,
    link: str | None = None,
    target: Requirement | None = None,
    models: Iterable[str] | None = None,
    seed: int | None = None,
    set: Mapping[str, object] | None = None,  # noqa: A002
    congestion: Congestion | None = None,
    seeds: int = 0,
    progress: "Callable[[RunProgress], object] | None" = None,
    allow_code: bool = False,
    allow_files: bool = False,
) -> Curves:
    """Evaluates the models at each value of a key.

    Args:
        scenario: Path of a scenario file, or a scenario built in Python.
        axis: The key with its values: `tr.Axis("links.core.queue.limit", ("1 bdp", "2 bdp"))`, or
            `tr.Axis("links.core.queue.limit", (10, 20))` for packets.
        link: Name of the link; if left out, the link that its traffic fills first.
        target: The requirement on utilization and loss that the required buffers meet.
        models: Names of the models to evaluate, which warn where an assumption does not hold; all
            models if left out.
        seed: Replaces the scenario's seed.
        set: Replaces values of the scenario, as `tailroom.run` does.
        congestion: Congestion controls by group, or one for the only group, as `tailroom.run` takes
            them.
        seeds: Number of simulations per value, with consecutive seeds, to compare the models with;
            0 for none.
        progress: Called with a `RunProgress` after each simulation.
        allow_code: Load the code in Python that the scenario file names (controls, disciplines,
            sources); code that arguments name is always loaded.
        allow_files: Read the files that the scenario file names outside its directory.

    Raises:
        ScenarioError: The scenario, the key or a value is wrong, or there is no such link.
        ArgumentError: There is no such model, or `seeds` is out of range.
        RunError: A simulation failed.
    """
    SIMULATED.check("seeds", seeds)
    names = None if models is None else list(models)
    with allowing(code=allow_code, files=allow_files):
        source = Scenario.of(scenario, set, congestion)
    axis = axis.in_scenario(source)
    points = (
        predict_source(
            source.with_({axis.key: value}), link=link, target=target, only=names, seed=seed
        )
        for value in axis.values
    )
    curves = Curves(axis, tuple(points), _simulated(source, axis, seed, seeds, progress))
    if names is not None:
        warn(curves.warnings)
    return curves


def _simulated(
    source: Scenario,
    axis: Axis,
    seed: int | None,
    seeds: int,
    progress: "Callable[[RunProgress], object] | None",
) -> "tuple[Mapping[str, Interval], ...]":
    if not seeds:
        return ()
    from tailroom.studies.choice_study.study import choices  # noqa: PLC0415 - loads Arrow

    found = choices(source, {axis.key: axis}, seeds=seeds, seed=seed, progress=progress)
    return tuple(choice.metrics for choice in found.choices)


def ask(model: Model, link: Bottleneck, target: Requirement) -> Answer:
    """Evaluates one model for a link; an answer without prediction if it does not apply."""
    try:
        prediction = model.predict(link, target)
        return Answer(model, prediction, assumptions=tuple(model.assumptions(link)))
    except NotApplicableError as error:
        return Answer(model, None, why_not=str(error))


def _warning(answer: Answer) -> "RunWarning":
    name, failing = answer.model.name, answer.failing
    statements = "; ".join(
        f"{one.statement} (here {without_exponents(one.found)})" for one in failing
    )
    return warning("assumptions_fail", name, f"{name}: does not hold here: {statements}")


def _assumptions(answers: Sequence[Answer]) -> "pa.Table":
    import pyarrow as pa  # noqa: PLC0415 - predictions alone need no tables

    rows = [(answer.model.name, one) for answer in answers for one in answer.assumptions]
    return pa.table(
        {
            "model": pa.array([name for name, _ in rows], pa.string()),
            "statement": pa.array([one.statement for _, one in rows], pa.string()),
            "holds": pa.array([one.holds for _, one in rows], pa.bool_()),
            "found": pa.array([one.found for _, one in rows], pa.string()),
        }
    )


def _table(answers: Sequence[Answer]) -> "pa.Table":
    import pyarrow as pa  # noqa: PLC0415 - predictions alone need no tables

    predicted = [answer.prediction for answer in answers]
    quantities = {
        name: pa.array([getattr(one, name, None) for one in predicted], pa.float64())
        for name in QUANTITIES
    }
    return pa.table(
        {
            "model": [answer.model.name for answer in answers],
            **quantities,
            "required_for": [one.required_for if one else None for one in predicted],
            "failing": [len(answer.failing) for answer in answers],
            "why_not": [answer.why_not or None for answer in answers],
        }
    )


def _as_dict(answer: Answer, link: Bottleneck) -> dict[str, Any]:
    model, prediction = answer.model, answer.prediction
    described: dict[str, Any] = {"title": model.title, "source": model.source}
    if prediction is None:
        return {**described, "applies": False, "why_not": answer.why_not}
    packets = prediction.required_packets
    finite = None if packets is None or isinf(packets) else packets
    return {
        **described,
        "applies": True,
        "utilization": prediction.utilization,
        "loss_fraction": prediction.loss_fraction,
        "queue_packets_mean": prediction.queue_packets_mean,
        "queue_delay_s_mean": prediction.queue_delay_s_mean,
        "required_for": prediction.required_for or None,
        "required_exists": None if packets is None else finite is not None,
        "required_packets": finite,
        "required_bytes": None if finite is None else finite * link.packet_bytes,
        "required_s": None if finite is None else finite / link.capacity_pps,
        "required_bdp": finite / link.bdp_packets if finite and link.bdp_packets else None,
        "details": {name: _finite(value) for name, value in prediction.details.items()},
        "assumptions": [
            {
                "statement": assumption.statement,
                "holds": assumption.holds,
                "found": assumption.found,
            }
            for assumption in answer.assumptions
        ],
    }


def _check_quantity(quantity: str) -> None:
    """Refuses a name that is not that of a predicted quantity.

    Raises:
        KeyError: There is no such quantity.
    """
    if quantity not in QUANTITIES:
        raise KeyError(
            f"{quantity}: models predict no such quantity; {nearest(str(quantity), QUANTITIES)}"
        )


def _required(packets: float) -> str:
    return "no finite buffer" if isinf(packets) else number(packets)


def _finite(value: float) -> float | None:
    """The value, or `None` for an infinite value or NaN, which JSON does not have."""
    return None if isinf(value) or value != value else float(value)  # noqa: PLR0124 - NaN
