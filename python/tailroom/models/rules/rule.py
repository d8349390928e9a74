"""A rule that the engine computes, as a model."""

from dataclasses import dataclass

from tailroom import _engine
from tailroom.models.bottleneck import Bottleneck
from tailroom.models.model import Assumption, Model, Prediction, Requirement


@dataclass(frozen=True)
class _Rule:
    name: str

    def predict(self, link: Bottleneck, target: Requirement) -> Prediction:
        return Prediction(
            **_engine.rule_prediction(self.name, link, target.utilization, target.loss_fraction)
        )

    def assumptions(self, link: Bottleneck) -> list[Assumption]:
        return [Assumption(*one) for one in _engine.rule_assumptions(self.name, link)]


def rule(name: str) -> Model:
    """Returns the model of a rule.

    Args:
        name: Its name, which is that of its file in `crates/tailroom-rules/src/rules`.
    """
    title, source = _engine.rule_words(name)
    of = _Rule(name)
    return Model(
        name=name, title=title, source=source, assumptions=of.assumptions, predict=of.predict
    )
