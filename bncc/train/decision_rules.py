"""Rules for decisions, chosen after a training on rows that no training of theirs has seen."""

from dataclasses import dataclass

from bncc.data.dataset import Dataset
from bncc.errors import DataError
from bncc.interrupts import StopRequest
from bncc.model.model import Model
from bncc.model.rules import own_entries
from bncc.progress import Progress, silence
from bncc.resources import FilterForm
from bncc.train.adaptation_choice import check_groups, with_adaptation
from bncc.train.confidence_choice import check_max_error, with_confidence
from bncc.train.counters_choice import with_counters
from bncc.train.filter_choice import (
    AUTO,
    OverTime,
    check_hold,
    check_lag,
    check_sequences,
    with_filter,
)
from bncc.train.repeats import DEFAULT_FOLDS, HeldOut, held_out_scores
from bncc.train.settings import TrainSettings
from bncc.train.train_model import TrainResult
from bncc.train.transitions import Transitions, check_transitions
from bncc.train.unknown_choice import check_false_alarms, with_unknown


@dataclass(frozen=True)
class DecisionRules:
    """The rules for decisions that a model is to have, its counters, and whether it is to adapt."""

    over_time: OverTime = None  # Price of a switch in a filter
    confidence: bool = False
    max_error: float | None = None  # Largest error of decisions that are accepted
    unknown: float | None = None  # Rate of false alarms of a rule for unknown readings
    counters: bool = False
    adapts: bool = False
    hold: int = 1  # Decisions in a row that a switch in the filter needs
    transitions: Transitions = "switch"  # What the prices of a filter are learned from
    lag: int = 0  # Rows that a decision of the filter waits for

    @property
    def is_rated(self) -> bool:
        """True if the model is to have a confidence."""
        return self.confidence or self.max_error is not None

    @property
    def names(self) -> frozenset[str]:
        """Names of what is to be chosen, of `bncc.model.rules.EXTRAS`."""
        asked = {
            "confidence": self.is_rated,
            "filter": self.over_time is not None,
            "unknown": self.unknown is not None,
            "counters": self.counters,
            "adapt": self.adapts,
        }
        return frozenset(name for name, is_asked in asked.items() if is_asked)

    @property
    def filter_form(self) -> FilterForm:
        """Options of the filter besides its price."""
        return FilterForm(self.hold, self.lag, self.transitions != "switch")

    @property
    def any(self) -> bool:
        """True if there is something to choose."""
        return bool(self.names)

    @property
    def need_held_out(self) -> bool:
        """True if trainings on parts of the rows are needed."""
        others = self.unknown is not None or self.counters or self.adapts
        return self.is_rated or self.over_time == AUTO or others

    def are_those_of(self, model: Model) -> bool:
        """Return whether a model has all that was asked for; it lacks some after a stop."""
        return self.names <= set(own_entries(model))

    def check(self, dataset: Dataset) -> None:
        """Refuse rows on which nothing can be chosen, before any training."""
        check_hold(self.hold, self.over_time)
        check_transitions(self.transitions, self.over_time)
        check_lag(self.lag, self.over_time)
        if self.over_time is not None:
            check_sequences(dataset)
        if self.adapts:
            check_groups(dataset)
        check_max_error(self.max_error, dataset.n_rows)
        check_false_alarms(self.unknown, dataset.n_rows)
        option = "--unknown" if self.unknown is not None else "--counters" * self.counters
        if option and dataset.split.most_folds(dataset.n_rows) < 2:
            raise DataError(
                f"{option} needs rows that a training has not seen, and all rows are of one group; "
                "add rows of others, or leave out --groups"
            )

    def applied(
        self,
        result: TrainResult,
        dataset: Dataset,
        settings: TrainSettings,
        *,
        held: HeldOut | None = None,
        test: Dataset | None = None,
        tell: Progress = silence,
        stop: StopRequest | None = None,
    ) -> TrainResult:
        """
        Return a training whose model has what was asked for; the same one if it was stopped.

        `held` are scores of the rows by trainings without them; they are computed if None.
        """
        if not self.any:
            return result
        if held is None and self.need_held_out:
            held = held_out_scores(dataset, settings, DEFAULT_FOLDS, tell, stop)
            if held is None:
                return result
        if self.over_time is not None:
            result = with_filter(
                result, dataset, settings, self.over_time, hold=self.hold, how=self.transitions,
                lag=self.lag, held=held, test=test,
            )  # fmt: skip
        if self.is_rated:
            assert held is not None
            result = with_confidence(result, held, max_error=self.max_error, test=test)
        if self.unknown is not None:
            assert held is not None
            result = with_unknown(result, held, self.unknown, test=test)
        if self.counters:
            assert held is not None
            result = with_counters(result, held)  # Behind the rule, whose unknown readings count
        if self.adapts:
            assert held is not None
            result = with_adaptation(result, held, test=test)
        return result
