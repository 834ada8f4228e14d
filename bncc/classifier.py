"""The scikit-learn estimator of the whole pipeline: fit, predict, emit C, verify it."""

import warnings
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils import Tags
from sklearn.utils.validation import check_is_fitted

from bncc import _deployment, _validation
from bncc._arguments import as_arguments, with_option_arguments
from bncc._deployment import Deployable
from bncc._types import AnyArray, BoolArray, FloatArray, IntArray
from bncc.discretize.feature import states_of
from bncc.model import missing, reference
from bncc.model.confidence import margins_of
from bncc.model.confidence import required as rated
from bncc.model.counters import required as counting
from bncc.model.model import Model
from bncc.model.unknown import required as knowing
from bncc.train.unused_options import idle_notes


@with_option_arguments(before="engine")
# scikit-learn has no types
class BNClassifier(Deployable, ClassifierMixin, BaseEstimator):  # type: ignore[misc]
    """
    Quantized Bayesian-network classifier that is emitted as C.

    Predictions are bit-identical to those of the emitted C, because after `fit` only the frozen
    integer model is used.

    Parameters
    ----------
    structure : str, optional
        Any of ``bncc train --structure``; ``tan-*`` learn structure and tables together, and
        ``tables`` are boosted tables, an additive ensemble trained by gradient boosting. None takes
        ``chow-liu``, with a budget the best of all that are searched.
    parameters : {"hybrid", "ml", "bdeu", "margin", "cross-entropy", "free"}, default="hybrid"
        Parameter learning; ``ml``, ``bdeu`` and ``margin`` need no torch except for ``tan-*``.
    discretize : {"mdl", "quantile", "width", "median", "none"}, optional
        Discretization of numbers into bins; with ``none`` they are states already, counted from 0.
        None takes ``mdl``, and for the structure ``tables`` quantiles, of which it tries more than
        `n_bins`. Text, and the categorical columns of a data frame, are categories whatever the
        method.
    n_bins : int, default=8
        Bins of ``quantile`` and ``width``.
    bits, int_bits, frac_bits : int, optional
        Width of a cost, 1 .. 8, and the bits on both sides of its binary point. If fewer than two
        of them are given, ``bits`` is 6, or 3 for ``tables``, whose split follows from the width.
        If neither side is given, ``int_bits`` is 4, or 3 to 5 with the effort ``thorough``; the
        effort ``quick``, and `parameters` without gradient descent, choose the split on validation
        rows.
    quantize : bool, default=True
        False trains without quantization and freezes the model in 24 bits.
    structure_options : mapping, optional
        Options of the structure learner, such as ``{"parents": 8, "order": "none"}``.
    size_weight : float, default=0.0
        Penalty of a table entry, or with ``price=bits`` of a bit, in the loss of ``tan-*``.
    class_weight : {"balanced"} or mapping, optional
        ``balanced`` gives all classes the same total weight, however few rows they have; a mapping
        gives the weight of a row by its label, 1 if absent.
    validation : float, default=0.1
        Fraction of rows for the validation set, on which the effort ``quick`` and `parameters`
        without gradient descent choose the split of the bits; tables use all rows.
    effort : {"quick", "default", "thorough"}, optional
        Settings of gradient descent that no other argument gives: quick defaults, a recipe with
        regularization, or a search on validation rows, which takes seconds for small sets and
        several minutes for large ones with trees. None takes ``default``.
    {arguments} : number
        Settings of gradient descent and its margin (lambda, gamma, eta), as in ``bncc train``; None
        takes the defaults.
    engine : {"native", "torch"}, optional
        Engine of gradient descent; None takes C if a compiler is found.
    missing : {"state", "marginal"}, default="state"
        Treatment of missing readings: their state in training, or marginalized (summed out) as by
        ``predict_missing``.
    filter : int or "auto", optional
        Price of a switch in the filter of ``predict_sequence``, in units of a cost; ``auto`` takes
        that of the fewest errors on held-out groups, or blocks with `ordered`. It needs the
        `groups` of `fit`, whose rows are one sequence in time order each, or `ordered`.
    filter_hold : int, default=1
        Decisions in a row that a switch of the filter needs.
    filter_lag : int, default=0
        Rows of a sequence that a decision of the filter waits for.
    filter_transitions : {"switch", "dwell", "matrix"}, default="switch"
        Prices of the filter: one of every switch, or one of each transition, the largest of which
        is ``filter``, learned from how long classes last, or from how often each transition was
        seen. The latter two learn the script of a recording.
    confidence : bool, default=False
        Calibrate `predict_confidence` on held-out rows.
    max_error : float, optional
        Largest error, 0 < `max_error` < 1, of the decisions that `accepts` returns True for; it
        implies `confidence`.
    unknown : float, optional
        Rate of false alarms, 0 < `unknown` < 1, of `knows`.
    counters : bool, default=False
        Record what ``bncc drift`` compares the counters of a device with.
    adapt : bool, default=False
        Choose by held-out groups how `learn` adapts the model to a person; it needs the `groups` of
        `fit`.
    ordered : bool, default=False
        Rows are in time order: validation rows and the folds of learners are blocks of rows.
    random_state : int, RandomState instance or None, default=None
        Random seed; an int is that of ``bncc train --seed``.
    max_flash : int or str, optional
        Budget in bytes, such as ``2048`` or ``"2k"``: `fit` searches families and sizes for the
        best classifier that fits `target`, as ``bncc train --max-flash`` does.
    max_instructions : int, optional
        Likewise, the budget of the slowest call over the inputs tried; cycles on AVR.
    prefer : {"balanced", "error"}, default="balanced"
        With a budget, the fastest classifier within one standard error of the most accurate one (or
        one that is up to three times as fast, the more the less accurate, and not clearly worse, or
        one that is ten times as fast and not clearly worse than the best of so many), or the most
        accurate one.
    target : str, optional
        Target or part of the budget and of `emit_c`; None is generic C, and ``cortex-m0`` with a
        budget.
    optimize : {"balanced", "size", "speed"}, optional
        Optimization goal of `emit_c`; None takes the one that met the budget, else ``balanced``.
    entries : sequence of str, optional
        Entry points that `emit_c` emits besides ``predict``; None for scores and trusted.

    Attributes
    ----------
    model_ : Model
        The frozen integer model.
    classes_ : (n_classes,) array
        The labels as in `y`, sorted; the model contains their text.
    n_features_in_, feature_names_in_ : int and array of str
        Number of columns seen in `fit`; their names, if X had names.
    notes_ : tuple of str
        Notes on the training for the user.
    optimize_ : str
        The optimization goal of `emit_c`.

    Examples
    --------
    >>> from bncc import BNClassifier
    >>> X = [[0.1, 5], [0.2, 4], [0.3, 5], [2.1, 5], [2.2, 4], [2.3, 5]]
    >>> clf = BNClassifier(structure="naive", parameters="ml").fit(X, ["a"] * 3 + ["b"] * 3)
    >>> clf.predict([[0.0, 4], [9.9, 4]]).tolist()
    ['a', 'b']
    """

    def __init__(
        self,
        structure: str | None = None,
        parameters: str = "hybrid",
        discretize: str | None = None,
        *,
        n_bins: int = 8,
        bits: int | None = None,
        int_bits: int | None = None,
        frac_bits: int | None = None,
        quantize: bool = True,
        structure_options: Mapping[str, Any] | None = None,
        size_weight: float = 0.0,
        class_weight: str | Mapping[Any, float] | None = None,
        validation: float = 0.1,
        effort: str | None = None,
        engine: str | None = None,
        missing: str = "state",
        filter: int | str | None = None,
        filter_hold: int = 1,
        filter_lag: int = 0,
        filter_transitions: str = "switch",
        confidence: bool = False,
        max_error: float | None = None,
        unknown: float | None = None,
        counters: bool = False,
        adapt: bool = False,
        ordered: bool = False,
        random_state: int | np.random.RandomState | None = None,
        max_flash: int | str | None = None,
        max_instructions: int | None = None,
        prefer: str = "balanced",
        target: str | None = None,
        optimize: str | None = None,
        entries: Sequence[str] | None = None,
        **options: float | None,
    ) -> None:
        self.__dict__.update(options)
        self.structure = structure
        self.parameters = parameters
        self.discretize = discretize
        self.n_bins = n_bins
        self.bits = bits
        self.int_bits = int_bits
        self.frac_bits = frac_bits
        self.quantize = quantize
        self.structure_options = structure_options
        self.size_weight = size_weight
        self.class_weight = class_weight
        self.validation = validation
        self.effort = effort
        self.engine = engine
        self.missing = missing
        self.filter = filter
        self.filter_hold = filter_hold
        self.filter_lag = filter_lag
        self.filter_transitions = filter_transitions
        self.confidence = confidence
        self.max_error = max_error
        self.unknown = unknown
        self.counters = counters
        self.adapt = adapt
        self.ordered = ordered
        self.random_state = random_state
        self.max_flash = max_flash
        self.max_instructions = max_instructions
        self.prefer = prefer
        self.target = target
        self.optimize = optimize
        self.entries = entries

    def fit(
        self, X: Any, y: Any, sample_weight: Any = None, *, groups: Any = None
    ) -> "BNClassifier":
        """
        Learn from readings.

        Parameters
        ----------
        X : (n_samples, n_features) array-like or data frame
            Readings: integers, floats, text or categories; NaN and None are missing.
        y : (n_samples,) array-like
            Class labels.
        sample_weight : (n_samples,) array-like, optional
            Weight of each row, >= 0. Only the thresholds of numbers weight all rows equally,
            except those of weight 0.
        groups : (n_samples,) array-like, optional
            Person, device or recording of each row, not a column of X: rows of one group are never
            on both sides of a split, neither for validation nor inside a learner.

        Returns
        -------
        BNClassifier
            This estimator.

        Raises
        ------
        ValueError
            If the readings are unsuitable for training, or a parameter is invalid.
        """
        with _validation.value_errors():
            classes, dataset = _validation.checked_dataset(self, X, y, sample_weight, groups)
            settings = _validation.settings_of(self)
            for note in idle_notes(settings):
                warnings.warn(as_arguments(note), UserWarning, stacklevel=2)
            result, goal = _deployment.trained(self, dataset, settings)
        self.classes_ = classes
        self.model_: Model = result.model
        self.notes_ = tuple(map(as_arguments, result.notes))
        self.optimize_: str = goal
        return self

    def predict(self, X: Any) -> AnyArray:
        """
        Return the label of the class with the smallest cost, the first one on ties.

        Parameters
        ----------
        X : (n_samples, n_features) array-like or data frame
            Readings.

        Returns
        -------
        (n_samples,) array
            Labels from `classes_`.
        """
        best = self._ask(X, "costs").argmin(axis=1)
        return np.asarray(self.classes_[best])

    def predict_sequence(self, X: Any, groups: Any = None) -> AnyArray:
        """
        Return the filtered label of each row: that of all rows of its sequence so far.

        This is what ``NAME_filter_next`` returns for the scores of the rows in turn. With
        `filter_lag` it returns the label of a row that many rows later; a sequence's last ones are
        decided at its end.

        Parameters
        ----------
        X : (n_samples, n_features) array-like or data frame
            Readings, in time order within each sequence.
        groups : (n_samples,) array-like, optional
            Sequence of each row, such as its recording; None takes all rows as one sequence.

        Returns
        -------
        (n_samples,) array
            Labels from `classes_`.
        """
        if self.missing == "marginal":
            raise ValueError(
                "predict_sequence does not marginalize missing readings; use missing='state'"
            )
        check_is_fitted(self)
        states = self._states(X)
        return self._filtered(states, _validation.checked_sequences(groups, len(states)))

    def predict_confidence(self, X: Any) -> IntArray:
        """
        Return the probability that each decision is right.

        This is what ``NAME_confidence`` returns for the scores of the row. It is calibrated on
        held-out rows by the margin of the scores, in few levels.

        Parameters
        ----------
        X : (n_samples, n_features) array-like or data frame
            Readings.

        Returns
        -------
        (n_samples,) int64
            Percentages, 0 .. 100.

        Raises
        ------
        ValueError
            If the model has no confidence, or readings are malformed.
        """
        margins = margins_of(self._ask(X, "costs"))
        with _validation.value_errors():
            return rated(self.model_.confidence).percent_of(margins)

    def accepts(self, X: Any) -> BoolArray:
        """
        Return which decisions are accepted, as ``NAME_sure_class`` does.

        With `max_error`, the error of accepted decisions is at most that, with 95 % confidence, on
        rows that are exchangeable with the held-out ones.

        Parameters
        ----------
        X : (n_samples, n_features) array-like or data frame
            Readings.

        Returns
        -------
        (n_samples,) bool
            False where the decision is rejected.

        Raises
        ------
        ValueError
            If the model has no confidence, or readings are malformed.
        """
        margins = margins_of(self._ask(X, "costs"))
        with _validation.value_errors():
            return rated(self.model_.confidence).accepts(margins)

    def knows(self, X: Any) -> BoolArray:
        """
        Return which readings are of a known class, as ``NAME_known_class`` does.

        At most a share of about `unknown` is False, on rows that are exchangeable with the training
        rows.

        Parameters
        ----------
        X : (n_samples, n_features) array-like or data frame
            Readings.

        Returns
        -------
        (n_samples,) bool
            False where a reading is of no known class.

        Raises
        ------
        ValueError
            If the model has no rule for unknown readings, missing readings are marginalized, or
            readings are malformed.
        """
        if self.missing == "marginal":
            raise ValueError("knows does not marginalize missing readings; use missing='state'")
        check_is_fitted(self)
        with _validation.value_errors():
            model = self.model_
            rule = knowing(model.unknown)
            table = _validation.checked_readings(self, X)
            scores = reference.scores(model, states_of(model.features, table))
            return rule.knows(model.features, table, scores)

    def count(self, X: Any, groups: Any = None) -> dict[str, int]:
        """
        Return the counters after decisions, as ``NAME_count`` leaves them.

        Parameters
        ----------
        X : (n_samples, n_features) array-like or data frame
            Readings, in time order within each sequence.
        groups : (n_samples,) array-like, optional
            Sequence of each row, such as its recording; None takes all rows as one sequence.

        Returns
        -------
        dict of str to int
            Numbers of decisions by the names of the members of ``NAME_counters_t``, a row of a
            table for ``bncc drift``; readings of no known class if the model has a rule for them.

        Raises
        ------
        ValueError
            If the model has no counters, missing readings are marginalized, or readings are
            malformed.
        """
        if self.missing == "marginal":
            raise ValueError("count does not marginalize missing readings; use missing='state'")
        check_is_fitted(self)
        with _validation.value_errors():
            model = self.model_
            counters, rule = counting(model.counters), model.unknown
            table = _validation.checked_readings(self, X)
            scores = reference.scores(model, states_of(model.features, table))
            is_known = None if rule is None else rule.knows(model.features, table, scores)
        sequences = None if groups is None else _validation.checked_sequences(groups, len(scores))
        return counters.counted(scores, is_known, sequences).columns

    def predict_log_proba(self, X: Any) -> FloatArray:
        """
        Return the normalized log-probabilities represented by the integer costs.

        Parameters
        ----------
        X : (n_samples, n_features) array-like or data frame
            Readings.

        Returns
        -------
        (n_samples, n_classes) float64
            Natural logarithms, <= 0.
        """
        return self._ask(X, "log_proba")

    def predict_proba(self, X: Any) -> FloatArray:
        """
        Return the probabilities represented by the integer costs.

        Parameters
        ----------
        X : (n_samples, n_features) array-like or data frame
            Readings.

        Returns
        -------
        (n_samples, n_classes) float64
            Each row sums to one; if arcs form a cycle (``order=none``), they are meaningless.
        """
        return np.asarray(np.exp(self.predict_log_proba(X)))

    def decision_function(self, X: Any) -> FloatArray:
        """
        Return the negative integer costs, as floats for scikit-learn.

        Parameters
        ----------
        X : (n_samples, n_features) array-like or data frame
            Readings.

        Returns
        -------
        (n_samples, n_classes) float64, or (n_samples,) float64 for two classes
            Negative costs, whole numbers in ``2**-frac_bits`` nats; for two classes, the first
            cost minus the second.
        """
        costs = self._ask(X, "costs").astype(np.float64)
        return costs[:, 0] - costs[:, 1] if costs.shape[1] == 2 else 0.0 - costs

    def to_model(self) -> Model:
        """
        Return the frozen integer model, for ``bncc.save_model``.

        Returns
        -------
        Model
            The model used for predictions; its labels are text.
        """
        check_is_fitted(self)
        return self.model_

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = True
        tags.input_tags.string = True
        tags.input_tags.categorical = True
        return tags

    def _ask(self, X: Any, what: str) -> AnyArray:
        if self.missing != "marginal":
            return np.asarray(getattr(reference, what)(self.to_model(), self._states(X)))
        return _validation.without_gaps(self, X, getattr(missing, what))

    def _states(self, X: Any) -> IntArray:
        with _validation.value_errors():
            return states_of(self.model_.features, _validation.checked_readings(self, X))
