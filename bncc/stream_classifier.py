"""Estimator of recordings: fit on samples with labels, classify windows, also in a stream."""

import warnings
from collections.abc import Sequence
from dataclasses import replace
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator, clone
from sklearn.utils.validation import check_is_fitted

from bncc import _deployment, _validation
from bncc._arguments import as_arguments
from bncc._deployment import Adaptive
from bncc._types import AnyArray, IntArray, StrPath
from bncc.classifier import BNClassifier
from bncc.data.dataset import Dataset
from bncc.discretize.feature import states_of
from bncc.errors import DataError, OptionError
from bncc.model import reference
from bncc.model.model import Model
from bncc.recordings.front_end import FrontEnd
from bncc.recordings.labeled import dataset_of_windows, front_end_of
from bncc.recordings.recording import Recording, Recordings, sample_format, unbroken
from bncc.recordings.signals import signals_of
from bncc.recordings.stream import FeatureStream
from bncc.recordings.table import columns_of, feature_table, fixed, narrowed
from bncc.recordings.windows import samples_of, windows_of
from bncc.resources import Budget, size_of

_RECORDING, _LABEL = "recording", "label"


class BNStreamClassifier(Adaptive, BaseEstimator):  # type: ignore[misc]  # scikit-learn has no types
    """
    Classifier of windows of recordings, emitted as C that takes one sample at a time.

    It computes integer features of windows and classifies them; both are bit-identical to those of
    the emitted ``NAME_push``, as in ``bncc train --window``.

    Parameters
    ----------
    window : int or str
        Samples of a window, or a duration such as ``"2s"``, which needs `rate`.
    hop : int or str, optional
        Samples from a window to the next, of which `window` is a multiple; None takes `window`.
    classifier : BNClassifier, optional
        The classifier of features, with its budget if it has one: features are then chosen to fit
        the whole program in ``max_flash``. None takes ``BNClassifier()``.
    channels : sequence of str, optional
        Names of the channels; None takes ``c0``, ``c1``, and so on.
    signals, features : str, optional
        Lists as in ``bncc features``, such as ``"c0,jerk(c0,c1,c2)"`` and ``"sum,haar2"``; None
        takes all channels and all features without levels.
    sample_type : str, default="int16"
        Type or range of samples; others saturate.
    rate : float or str, optional
        Samples per second, such as ``50`` or ``"1000/7"``.
    max_ram : int or str, optional
        Bytes of state and stack of the whole program; needs ``classifier.max_flash``.
    max_cycles_per_sample, max_instructions_per_sample : float, optional
        Mean cycles per sample on avr, or instructions on other targets; likewise.
    purity : float, default=1.0
        Share of a window's samples that must have its label, above 0.5.

    Attributes
    ----------
    classifier_ : BNClassifier
        The fitted classifier of features.
    front_end_ : FrontEnd
        What computes the features from samples.
    classes_ : (n_classes,) array
        The labels, sorted, as text.

    Examples
    --------
    >>> import numpy as np
    >>> from bncc import BNClassifier, BNStreamClassifier
    >>> still, moving = np.zeros((64, 1), int), np.tile([[0], [90]], (32, 1))
    >>> clf = BNStreamClassifier(8, classifier=BNClassifier("naive", parameters="ml"))
    >>> labels = [["still"] * 64, ["moving"] * 64] * 2
    >>> clf = clf.fit([still, moving] * 2, labels, groups=["a", "a", "b", "b"])
    >>> clf.predict(moving)[:2].tolist()
    ['moving', 'moving']
    """

    def __init__(
        self,
        window: int | str,
        hop: int | str | None = None,
        *,
        classifier: BNClassifier | None = None,
        channels: Sequence[str] | None = None,
        signals: str | None = None,
        features: str | None = None,
        sample_type: str = "int16",
        rate: float | str | None = None,
        max_ram: int | str | None = None,
        max_cycles_per_sample: float | None = None,
        max_instructions_per_sample: float | None = None,
        purity: float = 1.0,
    ) -> None:
        self.window = window
        self.hop = hop
        self.classifier = classifier
        self.channels = channels
        self.signals = signals
        self.features = features
        self.sample_type = sample_type
        self.rate = rate
        self.max_ram = max_ram
        self.max_cycles_per_sample = max_cycles_per_sample
        self.max_instructions_per_sample = max_instructions_per_sample
        self.purity = purity

    def fit(
        self,
        recordings: Sequence[Any],
        labels: Sequence[Any],
        *,
        groups: Sequence[Any] | None = None,
    ) -> "BNStreamClassifier":
        """
        Learn from recordings.

        Parameters
        ----------
        recordings : sequence of (n_samples, n_channels) array-like
            Samples of gapless recordings, in time order; integers.
        labels : sequence of (n_samples,) array-like
            Label of each sample, as text; None for a sample without one. A window has the label
            that all its samples have, or a share of `purity`, and is left out without one.
        groups : sequence, optional
            Person, device or session of each recording, which no split divides; None keeps the
            windows of a recording together.

        Returns
        -------
        BNStreamClassifier
            This estimator.

        Raises
        ------
        ValueError
            If recordings are unsuitable for training, or a parameter is invalid.
        """
        with _validation.value_errors():
            of = self._recordings(recordings, labels, groups)
            length = samples_of(str(self.window), of.rate, "--window")
            hop = length if self.hop is None else samples_of(str(self.hop), of.rate, "--hop")
            windows = windows_of(length, hop)
            signals = signals_of(self.signals, of.channels)
            columns = fixed(columns_of(self.features, signals, of.channels, windows), of)
            table = narrowed(feature_table(of, columns, windows, purity=self.purity))
            dataset, front_end = dataset_of_windows(table), front_end_of(table)
            found: BNClassifier = BNClassifier() if self.classifier is None else self.classifier
            self.classifier_ = clone(found)
            model, notes, goal = self._trained(dataset, front_end, of)
        for note in notes:
            warnings.warn(as_arguments(note), UserWarning, stacklevel=2)
        assert model.front_end is not None
        self.front_end_: FrontEnd = model.front_end
        self.classes_ = np.array(model.classes)
        fitted = self.classifier_
        fitted.model_, fitted.classes_, fitted.optimize_ = model, self.classes_, goal
        fitted.notes_ = tuple(map(as_arguments, notes))
        fitted.n_features_in_ = len(model.inputs)
        fitted.feature_names_in_ = np.array([f.name for f in model.inputs], dtype=object)
        self._stream: FeatureStream | None = None
        self._last: IntArray | None = None  # States of the window that ended last in the stream
        return self

    def predict(self, samples: Any) -> AnyArray:
        """
        Return the label of each window of one gapless recording.

        Parameters
        ----------
        samples : (n_samples, n_channels) array-like
            Integer samples in time order.

        Returns
        -------
        (n_windows,) array
            Labels from `classes_`; window k begins at sample ``k * hop``.
        """
        best = reference.predict(self.to_model(), self._states(samples))
        return np.asarray(self.classes_[best])

    def predict_sequence(self, samples: Any) -> AnyArray:
        """
        Return the filtered label of each window of one gapless recording.

        The price of a switch is that of ``classifier.filter``; a filter begins with each recording.
        With its ``filter_lag``, ``NAME_push`` returns the label of a window that many windows
        later; a recording's last ones are decided at its end.

        Parameters
        ----------
        samples : (n_samples, n_channels) array-like
            Integer samples in time order.

        Returns
        -------
        (n_windows,) array
            Labels from `classes_`; window k begins at sample ``k * hop``.
        """
        states = self._states(samples)
        return self._filtered(states, np.zeros(len(states), dtype=np.int64))

    def start(self) -> None:
        """Begin a recording, or a segment after a gap, for `partial`."""
        check_is_fitted(self)
        self._stream, self._last = self.front_end_.stream(), None

    def partial(self, samples: Any, *, adapted: bool = False) -> AnyArray:
        """
        Add samples to the recording that `start` began; return the labels of windows that end.

        Parameters
        ----------
        samples : (n_samples, n_channels) array-like
            Integer samples, any number of them.
        adapted : bool, default=False
            True to decide with what `learn` and `learn_window` have learned so far, as
            `predict_adapted` does, and ``NAME_push`` of C with the entry point adapt.

        Returns
        -------
        (n_windows,) array
            Labels from `classes_` of the windows that end with one of these samples.
        """
        check_is_fitted(self)
        if self._stream is None:
            self.start()
        assert self._stream is not None
        with _validation.value_errors():
            found = _samples(samples, self.front_end_)
            values = self._stream.partial(self.front_end_.form.saturated(found))
        states = self._states_of(values)
        self._last = states[-1:] if len(states) else self._last
        if adapted:
            best = self._adapted().scores(states).argmin(axis=1)
        else:
            best = reference.predict(self.to_model(), states)
        return np.asarray(self.classes_[best])

    def learn_window(self, label: str) -> bool:
        """
        Learn the window that ended last in `partial`, as ``NAME_learn_window`` does on a device.

        Parameters
        ----------
        label : str
            Its label, of `classes_`.

        Returns
        -------
        bool
            True if offsets moved; False if its class was ahead already, or no window has ended.

        Raises
        ------
        ValueError
            If the model does not adapt, or the label is unknown.
        """
        adapted = self._adapted()
        with _validation.value_errors():
            found = _validation.checked_labels([label], self.classes_, 1)
        return self._last is not None and adapted.learn(self._last, found) > 0

    def to_model(self) -> Model:
        """
        Return the frozen integer model with its front end, for ``bncc.save_model``.

        Returns
        -------
        Model
            The model used for predictions.
        """
        check_is_fitted(self)
        model: Model = self.classifier_.to_model()
        return model

    def emit_c(self, directory: StrPath, name: str = "model", **options: Any) -> list[Path]:
        """
        Write ``NAME_start`` and ``NAME_push`` and the classifier as C99 files.

        Parameters
        ----------
        directory, name, **options
            As in `BNClassifier.emit_c`.

        Returns
        -------
        list of Path
            The files written.
        """
        check_is_fitted(self)
        files: list[Path] = self.classifier_.emit_c(directory, name, **options)
        return files

    def _trained(
        self, dataset: Dataset, front_end: FrontEnd, of: Recordings
    ) -> tuple[Model, tuple[str, ...], str]:
        """Return the model with its front end, notes, and the goal of its emission."""
        classifier = self.classifier_
        settings = _validation.settings_of(classifier)
        if classifier.max_flash is None:
            for name in ("max_ram", "max_cycles_per_sample", "max_instructions_per_sample"):
                if getattr(self, name) is not None:
                    raise OptionError(f"{name} needs a limit on flash; set max_flash of classifier")
            result, goal = _deployment.trained(classifier, dataset, settings)
            result = result.with_front_end(front_end)
            return result.model, result.notes, goal
        budget = _deployment.budget_of(classifier, _deployment.rules_of(classifier))
        ram = None if self.max_ram is None else size_of(str(self.max_ram))
        if self.max_ram is not None and ram is None:
            raise OptionError(f"max_ram is {self.max_ram!r}; use bytes such as 512 or '1k'")
        return self._within(dataset, front_end, of, replace(budget, ram=ram))

    def _within(
        self, dataset: Dataset, front_end: FrontEnd, of: Recordings, budget: Budget
    ) -> tuple[Model, tuple[str, ...], str]:
        """Choose features and train within a budget of the whole program."""
        from bncc.search.families import families_of
        from bncc.search.front_end_choice import (
            program_limits,
            samples_to_measure,
        )
        from bncc.search.program_search import ProgramSearch, search_program

        classifier = self.classifier_
        settings = _validation.settings_of(classifier)
        named = settings.structure if classifier.structure else None
        rules = _deployment.rules_of(classifier)
        families, note = families_of(settings, named, budget.extras, rules.names)
        samples = samples_to_measure((each.samples for each in of.recordings), front_end)
        limits = program_limits(
            budget,
            cycles=self.max_cycles_per_sample,
            instructions=self.max_instructions_per_sample,
        )
        program = ProgramSearch(dataset, None, front_end, limits, samples)
        prefer = _deployment.prefer_of(classifier.prefer)
        found, _ = search_program(program, settings, families, prefer=prefer, rules=rules)
        result = found.result
        notes = (*result.notes, *([note] if note else []))
        return result.model, notes, classifier.optimize or found.price.optimize

    def _recordings(
        self, recordings: Sequence[Any], labels: Sequence[Any], groups: Sequence[Any] | None
    ) -> Recordings:
        """Return recordings with the indices of their labels."""
        parts = [np.asarray(each) for each in recordings]
        if not parts:
            raise DataError("there are no recordings; pass at least one")
        n = parts[0].shape[1] if parts[0].ndim == 2 else 0
        names = [f"c{k}" for k in range(n)] if self.channels is None else list(self.channels)
        texts = [[None if each is None else str(each) for each in of] for of in labels]
        lengths = {"labels": len(texts), "groups": len(parts if groups is None else groups)}
        for name, length in lengths.items():
            if length != len(parts):
                raise DataError(f"there are {len(parts)} recordings and {name} of {length}")
        known = sorted({text for of in texts for text in of if text is not None})
        number: dict[str | None, int] = {None: -1, **{text: k for k, text in enumerate(known)}}
        form, found = sample_format(self.sample_type), []
        for k, (part, of) in enumerate(zip(parts, texts, strict=True)):
            checked = _integers(part, len(names))
            if len(of) != len(checked):
                raise DataError(
                    f"recording {k} has {len(checked)} samples and {len(of)} labels; pass a label "
                    "for each sample"
                )
            y = np.array([number[text] for text in of], dtype=np.int64)
            group = None if groups is None else str(groups[k])
            samples = form.saturated(checked)
            found.append(Recording(f"r{k}", group, samples, y, unbroken(len(checked))))
        rate = None if self.rate is None else Fraction(str(self.rate))
        group_name = None if groups is None else "group"
        return Recordings(
            tuple(found), tuple(names), form, tuple(known), rate, _RECORDING, group_name, _LABEL
        )

    def _states(self, samples: Any) -> IntArray:
        """Return the states of the windows of samples, (n_windows, n_features) int."""
        check_is_fitted(self)
        with _validation.value_errors():
            return self._states_of(self.front_end_.values(_samples(samples, self.front_end_)))

    def _states_of(self, values: IntArray) -> IntArray:
        """Return the states of windows by their features (n_windows, n_features)."""
        return states_of(self.to_model().features, self.front_end_.table(values))


def _samples(samples: Any, front_end: FrontEnd) -> IntArray:
    """Return samples of the channels of a front end."""
    return _integers(np.asarray(samples), len(front_end.channels))


def _integers(samples: AnyArray, n_channels: int) -> IntArray:
    """Refuse what is no array (n, n_channels) of integers."""
    if samples.ndim != 2 or samples.shape[1] != n_channels or n_channels == 0:
        raise DataError(
            f"samples have the shape {samples.shape}; pass an array of n_samples times "
            f"{n_channels or 'n_channels'}"
        )
    if not np.issubdtype(samples.dtype, np.integer):
        raise DataError(f"samples are {samples.dtype}; pass integers, as the sensor gives them")
    return samples.astype(np.int64)
