"""Estimator methods beyond scikit-learn's: budgets and targets, C code, and verification."""

from abc import abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, Self, get_args

import numpy as np
from sklearn.utils.validation import check_is_fitted

from bncc import _validation
from bncc._types import AnyArray, FloatArray, IntArray, StrPath
from bncc.data.dataset import Dataset
from bncc.device.agreement import Agreement
from bncc.discretize.feature import states_of
from bncc.emit import emitter
from bncc.emit.options import emit_command, words_of
from bncc.emit.rust import RUST, emit_crate
from bncc.errors import OptionError
from bncc.lower import request
from bncc.model import reference
from bncc.model.adapted import AdaptedModel
from bncc.model.atomic import write_all
from bncc.model.explanation import contributions
from bncc.model.model import Model
from bncc.on_device import verify
from bncc.option_ranges import plain
from bncc.resources import DEFAULT_TARGET, PREFERENCES, Budget, Optimize, Preference, size_of
from bncc.targets import TARGETS, target_of
from bncc.train.decision_rules import DecisionRules
from bncc.train.effort import with_default
from bncc.train.filter_choice import price_of
from bncc.train.settings import TrainSettings
from bncc.train.train_model import TrainResult, train_model
from bncc.train.transitions import check_transitions

ENTRIES = ("scores", "trusted")
"""Entry points besides ``predict`` that are emitted by default."""


def trained(
    estimator: Any, dataset: Dataset, settings: TrainSettings
) -> tuple[TrainResult, Optimize]:
    """Train on rows, within the estimator's budget if it has one."""
    rules = rules_of(estimator)
    goal, budget = goal_of(estimator.optimize), budget_of(estimator, rules)
    rules.check(dataset)
    if budget.flash is None and budget.instructions is None:
        settings = with_default(settings)
        result = train_model(dataset, settings)
        return rules.applied(result, dataset, settings), goal
    from bncc.pricing import with_resources  # local: it builds and measures
    from bncc.search.budget_search import search, with_rules
    from bncc.search.families import families_of, refuse_searched

    refuse_searched(settings)
    named = settings.structure if estimator.structure else None
    families, note = families_of(settings, named, budget.extras, rules.names)
    found = search(dataset, settings, budget, families=families, prefer=prefer_of(estimator.prefer))
    notes = (*found.result.notes, *([note] if note else []))
    model = with_resources(found.result.model, found.price)
    found = replace(found, result=replace(found.result, model=model, notes=notes))
    found = with_rules(found, rules, dataset, budget)
    result = found.result
    return result, goal if estimator.optimize else goal_of(found.price.optimize)


def rules_of(estimator: Any) -> DecisionRules:
    """Return the rules for decisions of an estimator."""
    return DecisionRules(
        price_of(estimator.filter),
        estimator.confidence,
        estimator.max_error,
        estimator.unknown,
        estimator.counters,
        _switch("adapt", estimator.adapt),
        plain(estimator.filter_hold),
        check_transitions(estimator.filter_transitions, price_of(estimator.filter)),
        plain(estimator.filter_lag),
    )


def _switch(name: str, value: Any) -> bool:
    if not isinstance(value, bool | np.bool_):
        raise OptionError(f"{name} is {value!r}; it must be True or False")
    return bool(value)


def budget_of(estimator: Any, rules: DecisionRules) -> Budget:
    """Return the budget of an estimator with its rules; its limits are None if it has none."""
    machine = machine_of(estimator.target)
    extras = entries_of(estimator, () if estimator.entries is None else None) | rules.names
    flash, instructions = _bytes(estimator.max_flash), _count(estimator.max_instructions)
    target = machine or DEFAULT_TARGET
    return Budget(target, flash, instructions, extras=extras, filter=rules.filter_form)


def goal_of(optimize: str | None) -> Optimize:
    """Return a goal, ``balanced`` for None; raise an OptionError for an unknown one."""
    goals: tuple[Optimize, ...] = get_args(Optimize)
    for goal in goals:
        if goal == (optimize or "balanced"):
            return goal
    raise OptionError(f"optimize is {optimize!r}; it must be one of {', '.join(goals)}")


def prefer_of(prefer: str) -> Preference:
    """Return a preference; raise an OptionError for an unknown one."""
    for known in PREFERENCES:
        if known == prefer:
            return known
    raise OptionError(f"prefer is {prefer!r}; it must be one of {', '.join(PREFERENCES)}")


def machine_of(target: str | None) -> str | None:
    """Return the target of a name or a part, None for generic C; raise an error if unknown."""
    if target is None or target == "host":
        return None
    machine = target_of(str(target))
    if machine not in TARGETS:
        known = ", ".join(TARGETS)
        raise OptionError(
            f"target is {target!r}; it must be host, {known}, or a part such as nrf52832"
        )
    return machine


def entries_of(estimator: Any, entries: Sequence[str] | None) -> frozenset[str]:
    """Return the entry points to emit: those given, else the estimator's, else the default."""
    if entries is None:
        entries = getattr(estimator, "entries", None)
    chosen = ENTRIES if entries is None else entries
    if isinstance(chosen, str):
        raise OptionError(f"entries is {chosen!r}; use a list such as ['scores']")
    unknown = sorted(set(chosen) - request.ENTRIES)
    if unknown:
        known = ", ".join(sorted(request.ENTRIES))
        raise OptionError(f"entries contains the unknown {unknown[0]!r}; choose from {known}")
    return frozenset(chosen)


def _bytes(size: int | str | None) -> int | None:
    if size is None:
        return None
    found = size_of(str(size))
    if found is None or isinstance(size, bool):
        raise OptionError(f"max_flash is {size!r}; use bytes such as 2048, '2k' or '1.5k'")
    return found


def _count(number: Any) -> int | None:
    number = plain(number)
    if number is not None and (type(number) is not int or number < 1):
        raise OptionError(f"max_instructions is {number!r}; it must be an integer above 0")
    return None if number is None else int(number)


def emitted_files(model: Model, options: emitter.EmitOptions) -> Mapping[str, str]:
    """Return the files of a package: C, or a Rust crate, which has no target and no goal."""
    if options.package != RUST:
        return _emitted(model, options).files
    words = words_of(replace(options, target=None, optimize="balanced"))
    return emit_crate(model, replace(options, command=emit_command(options.name, words))).files


def _emitted(model: Model, options: emitter.EmitOptions) -> emitter.Emission:
    """Emit C, in the layout that a search for a budget chose if it is for this goal and target."""
    from bncc.pricing import emitted_as_recorded, recorded_layout  # local: it builds and measures

    plain = replace(options, command=emit_command(options.name, words_of(options)))
    found = recorded_layout(model, options.target, options.optimize)
    if found is None:
        return emitter.emit_c(model, plain)
    words = words_of(replace(options, max_flash=found.room))
    words += [("--entry", entry) for entry in found.entries]
    command = emit_command(options.name, words)
    emission = emitted_as_recorded(model, found, replace(options, command=command))
    return emission or emitter.emit_c(model, plain)


class Adaptive:
    """An estimator whose model may have a filter, and may adapt."""

    classes_: AnyArray

    @abstractmethod
    def to_model(self) -> Model:
        """Return the frozen integer model."""

    @abstractmethod
    def _states(self, X: Any) -> IntArray:
        """Return the states of what is classified, (n, n_features) int."""

    def learn(self, X: Any, y: Any) -> int:
        """
        Learn labeled inputs one after the other, as ``NAME_learn`` does on a device.

        Only `predict_adapted`, and `partial` of a `BNStreamClassifier`, depend on what is learned;
        `fit` and `forget` undo it.

        Parameters
        ----------
        X : array-like or data frame
            What `predict` takes, in the order in which a device learns it: readings, or samples of
            a gapless recording, whose windows are learned.
        y : (n,) array-like, or str
            Label of each reading or window, of `classes_`, or a text for all. Those of a
            `BNStreamClassifier` are text: pass ``"1"`` for a class that was 1 in `fit`.

        Returns
        -------
        int
            Number of inputs that moved offsets; the classes of the others were ahead already.

        Raises
        ------
        ValueError
            If the model does not adapt, missing readings are marginalized, a label is unknown, or
            inputs are malformed.
        """
        adapted, states = self._adapted(), self._states(X)
        y = [y] * len(states) if isinstance(y, str) else y
        with _validation.value_errors():
            labels = _validation.checked_labels(y, self.classes_, len(states))
        return adapted.learn(states, labels)

    def forget(self) -> Self:
        """
        Undo all that was learned by `learn`, as ``NAME_forget`` does.

        Returns
        -------
        object
            This estimator.
        """
        self._adapted().forget()
        return self

    def predict_adapted(self, X: Any) -> AnyArray:
        """
        Return the labels with what was learned, as ``NAME_adapted_class`` does.

        Parameters
        ----------
        X : array-like or data frame
            What `predict` takes.

        Returns
        -------
        (n,) array
            Labels from `classes_`, of readings or windows.

        Raises
        ------
        ValueError
            If the model does not adapt, missing readings are marginalized, or inputs are malformed.
        """
        adapted = self._adapted()
        return np.asarray(self.classes_[adapted.scores(self._states(X)).argmin(axis=1)])

    def _filtered(self, states: IntArray, sequences: IntArray) -> AnyArray:
        """Return the filtered labels of states (n, n_features) in sequences (n,), in time order."""
        with _validation.value_errors():
            found = reference.predict_sequences(self.to_model(), states, sequences)
        return np.asarray(self.classes_[found])

    def _adapted(self) -> AdaptedModel:
        """Return the model with what was learned since the last `fit`."""
        if getattr(self, "missing", None) == "marginal":
            raise ValueError("learn does not marginalize missing readings; use missing='state'")
        check_is_fitted(self)
        found: AdaptedModel | None = self.__dict__.get("_learned")
        if found is None or found.model is not self.to_model():
            with _validation.value_errors():
                found = AdaptedModel(self.to_model())
            self._learned = found
        return found


class Deployable(Adaptive):
    """An estimator with an integer model that can be emitted as C."""

    def contributions(self, X: Any) -> FloatArray:
        """Return the contributions of the prior and of each table to each class.

        Parameters
        ----------
        X : (n_samples, n_features) array-like or data frame
            Readings; a missing one takes its state in training, whatever ``missing`` is.

        Returns
        -------
        (n_samples, 1 + n_tables, n_classes) float64
            Contributions in nats, the prior first, each with mean 0 over classes. The prediction is
            the class with the largest sum over the second axis, except for ties and marginalized
            features.
        """
        model = self.to_model()
        with _validation.value_errors():
            table = _validation.checked_readings(self, X)
        return contributions(model, states_of(model.features, table))

    def emit_c(
        self,
        directory: StrPath,
        name: str = "model",
        *,
        entries: Sequence[str] | None = None,
        package: str = "plain",
        spdx: str | None = None,
        target: str | None = None,
        optimize: str | None = None,
        overwrite: bool = False,
    ) -> list[Path]:
        """Write the classifier as C99 files.

        Parameters
        ----------
        directory : path
            Output directory; created if absent.
        name : str, default="model"
            Prefix of files and symbols.
        entries : sequence of str, optional
            Entry points besides ``predict``, as in ``bncc emit-c --with``: adapt, checked,
            confidence, counters, filter, missing, raw, scores, scores-raw, stream, trusted,
            unknown; ``raw`` is always included if there are thresholds. None for those of the
            estimator, else scores and trusted.
        package : str, default="plain"
            Build system of the emitted library: plain, cmake, arduino, platformio, zephyr, esp-idf
            or micropython; or rust, for a crate instead of C.
        spdx : str, optional
            License expression for ``SPDX-License-Identifier`` in every file, such as ``MIT``.
        target, optimize : str, optional
            As in ``bncc emit-c``; None for those of the estimator.
        overwrite : bool, default=False
            True to replace existing files; otherwise they raise a FileExistsError.

        Returns
        -------
        list of Path
            The files written.
        """
        model = self.to_model()
        with _validation.value_errors():
            options = emitter.EmitOptions(
                name=name,
                entries=entries_of(self, entries),
                package=package,
                optimize=goal_of(optimize or getattr(self, "optimize_", None)),
                target=machine_of(target or getattr(self, "target", None)),
                spdx=spdx,
            )
            files = emitted_files(model, options)
        return write_all(directory, files, overwrite=overwrite)

    def verify(self, X: Any = None, **options: Any) -> Agreement:
        """Build the emitted C on this computer and compare it with `predict`.

        Parameters
        ----------
        X : (n_samples, n_features) array-like or data frame, optional
            Readings to test in addition to generated ones.
        **options
            ``compiler``, ``opt_level``, ``sanitize``, ``n_random``, ``exhaustive`` and ``seed``
            of `bncc.on_device.verify`.

        Returns
        -------
        Agreement
            Number of comparisons and differences, and strength of the check.
        """
        model = self.to_model()
        with _validation.value_errors():
            table = None if X is None else _validation.checked_readings(self, X)
            return verify(model, table=table, **options)
