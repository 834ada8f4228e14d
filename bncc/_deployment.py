"""What an estimator offers beyond scikit-learn: its C, and the proof that the C agrees."""

from abc import abstractmethod
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from bncc import _validation, _within
from bncc._types import FloatArray, StrPath
from bncc.device.agreement import Agreement
from bncc.discretize.feature import states_of
from bncc.emit import emitter
from bncc.emit.options import emit_command, words_of
from bncc.model.atomic import write_all
from bncc.model.explanation import contributions
from bncc.model.model import Model
from bncc.on_device import verify


class Deployable:
    """An estimator with an integer model that becomes C."""

    @abstractmethod
    def to_model(self) -> Model:
        """Return the frozen integer model."""

    def contributions(self, X: Any) -> FloatArray:
        """Return what the prior and each table say for each class.

        Parameters
        ----------
        X : (n_samples, n_features) array-like or data frame
            Readings; a missing one is its state in training, whatever ``missing`` is.

        Returns
        -------
        (n_samples, 1 + n_tables, n_classes) float64
            In nats, the prior first, each 0 in the mean over classes; the class of the largest sum
            over the second axis is the prediction, but for ties and what is summed out.
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
            Where to; made if absent.
        name : str, default="model"
            Prefix of files and symbols.
        entries : sequence of str, optional
            Entry points besides ``predict``, as in ``bncc emit-c --with``: checked, missing, raw,
            scores, stream, trusted; ``raw`` is there whenever there are thresholds. None for those
            of the estimator, else scores and trusted.
        package : {"plain", "cmake", "arduino", "platformio", "zephyr", "esp-idf"}, default="plain"
            The build system whose library it becomes.
        spdx : str, optional
            License expression for ``SPDX-License-Identifier`` in every file, such as ``MIT``.
        target, optimize : str, optional
            As in ``bncc emit-c``; None for those of the estimator.
        overwrite : bool, default=False
            Whether existing files may be replaced; a FileExistsError is raised else.

        Returns
        -------
        list of Path
            The files written.
        """
        model = self.to_model()
        with _validation.value_errors():
            options = emitter.EmitOptions(
                name=name,
                entries=_within.entries_of(self, entries),
                package=package,
                optimize=_within.goal_of(optimize or getattr(self, "optimize_", None)),
                target=_within.machine_of(target or getattr(self, "target", None)),
                spdx=spdx,
            )
            options = replace(options, command=emit_command(name, words_of(options)))
            files = emitter.emit_c(model, options).files
        return write_all(directory, files, overwrite=overwrite)

    def verify(self, X: Any = None, **options: Any) -> Agreement:
        """Build the emitted C on this machine and compare it with `predict`.

        Parameters
        ----------
        X : (n_samples, n_features) array-like or data frame, optional
            Readings to try besides what is generated.
        **options
            ``compiler``, ``opt_level``, ``sanitize``, ``n_random``, ``exhaustive`` and ``seed``
            of `bncc.on_device.verify`.

        Returns
        -------
        Agreement
            What was compared, how often it differed, and how strong the check was.
        """
        model = self.to_model()
        with _validation.value_errors():
            table = None if X is None else _validation.checked_readings(self, X)
            return verify(model, table=table, **options)
