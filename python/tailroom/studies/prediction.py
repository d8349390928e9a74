"""The predictions of all models for a scenario."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from math import isinf
from typing import TYPE_CHECKING, Any

from tailroom import models
from tailroom.errors import NotApplicableError
from tailroom.field_docs import with_field_docs
from tailroom.models import Assumption, Bottleneck, Model, Prediction, Requirement
from tailroom.scenario.axis import Axis
from tailroom.scenario.custom_controls import Congestion
from tailroom.scenario.named_values import nearest
from tailroom.scenario.scenario import Scenario, ScenarioLike
from tailroom.scenario.trust import allowing

if TYPE_CHECKING:
    from matplotlib.figure import Figure

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
class Predictions:
    """The predictions of models for one link of a scenario."""

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

    def _repr_html_(self) -> str:
        """A table and a picture, for notebooks."""
        from tailroom.reports.notebook import predictions_html  # noqa: PLC0415 - matplotlib takes a second

        return predictions_html(self)

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
    only: Iterable[str] | None = None,
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
        only: Names of the models to evaluate; all models if left out.
        seed: Replaces the scenario's seed.
        set: Replaces values of the scenario, as `tailroom.run` does.
        congestion: Congestion controls by group, or one for the only group, as `tailroom.run` takes
            them.
        allow_code: Whether the scenario file may name controls in Python; what arguments name is
            always allowed.
        allow_files: Whether the scenario file may name files outside its directory.

    Raises:
        ScenarioError: The scenario is wrong, or has no such link.
        ArgumentError: There is no such model.
    """
    with allowing(code=allow_code, files=allow_files):
        source = Scenario.of(scenario, set, congestion)
    return predict_source(source, link=link, target=target, only=only, seed=seed)


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
class Curves:
    """The predictions of models at each value of a key."""

    axis: Axis
    """The key and its values."""
    points: tuple[Predictions, ...]
    """Predictions at each value of the axis, in its order."""

    def __repr__(self) -> str:
        """The key and the number of its values."""
        return f"<Curves over {self.axis.key}: predictions at {len(self.points)} values>"

    def _repr_html_(self) -> str:
        """A table and a picture, for notebooks."""
        from tailroom.reports.notebook import curves_html  # noqa: PLC0415 - matplotlib takes a second

        return curves_html(self)

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

    def as_dict(self) -> dict[str, Any]:
        """The object that `tailroom model --over --json` prints."""
        pairs = zip(self.axis.values, self.points, strict=True)
        points = [{"value": value, **predictions.as_dict()} for value, predictions in pairs]
        return {"key": self.axis.key, "points": points}

    def plot(self) -> "Figure":
        """Draws utilization, loss and queueing delay, one line per model."""
        from tailroom.plots import model_curves  # noqa: PLC0415 - matplotlib takes a second

        return model_curves.draw(self)


def predict_over(  # noqa: PLR0913 - keyword arguments
    scenario: ScenarioLike,
    axis: Axis,
    *,
    link: str | None = None,
    target: Requirement | None = None,
    only: Iterable[str] | None = None,
    seed: int | None = None,
    set: Mapping[str, object] | None = None,  # noqa: A002
    congestion: Congestion | None = None,
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
        only: Names of the models to evaluate; all models if left out.
        seed: Replaces the scenario's seed.
        set: Replaces values of the scenario, as `tailroom.run` does.
        congestion: Congestion controls by group, or one for the only group, as `tailroom.run` takes
            them.
        allow_code: Whether the scenario file may name controls in Python; what arguments name is
            always allowed.
        allow_files: Whether the scenario file may name files outside its directory.

    Raises:
        ScenarioError: The scenario, the key or a value is wrong, or there is no such link.
        ArgumentError: There is no such model.
    """
    names = None if only is None else list(only)
    with allowing(code=allow_code, files=allow_files):
        source = Scenario.of(scenario, set, congestion)
    axis = axis.in_scenario(source)
    points = (
        predict_source(
            source.with_({axis.key: value}), link=link, target=target, only=names, seed=seed
        )
        for value in axis.values
    )
    return Curves(axis, tuple(points))


def ask(model: Model, link: Bottleneck, target: Requirement) -> Answer:
    """Evaluates one model for a link; an answer without prediction if it does not apply."""
    try:
        prediction = model.predict(link, target)
        return Answer(model, prediction, assumptions=tuple(model.assumptions(link)))
    except NotApplicableError as error:
        return Answer(model, None, why_not=str(error))


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
    return "no finite buffer" if isinf(packets) else f"{packets:,.0f}"


def _finite(value: float) -> float | None:
    """The value, or `None` for an infinite value or NaN, which JSON does not have."""
    return None if isinf(value) or value != value else float(value)  # noqa: PLR0124 - NaN
