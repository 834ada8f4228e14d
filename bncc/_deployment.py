"""What an estimator offers beyond scikit-learn: its C, and the proof that the C agrees."""

from abc import abstractmethod
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from bncc import _validation
from bncc._types import StrPath
from bncc.build.agreement import Agreement, verify
from bncc.emit import emitter
from bncc.model.atomic import write_all
from bncc.model.model import Model


class Deployable:
    """An estimator with an integer model that becomes C."""

    @abstractmethod
    def to_model(self) -> Model:
        """Return the frozen integer model."""

    def emit_c(
        self,
        directory: StrPath,
        name: str = "model",
        *,
        entries: Sequence[str] = ("scores", "trusted"),
        package: str = "plain",
        overwrite: bool = False,
    ) -> list[Path]:
        """Write the classifier as C99 files.

        Parameters
        ----------
        directory : path
            Where to; made if absent.
        name : str, default="model"
            Prefix of files and symbols.
        entries : sequence of {"raw", "scores", "trusted"}, default=("scores", "trusted")
            Entry points beside ``predict``; ``raw`` is there whenever there are thresholds.
        package : {"plain", "cmake", "arduino", "platformio", "zephyr", "esp-idf"}, default="plain"
            The build system whose library it becomes.
        overwrite : bool, default=False
            Whether existing files may be replaced; a FileExistsError is raised else.

        Returns
        -------
        list of Path
            The files written.
        """
        model = self.to_model()
        with _validation.value_errors():
            options = emitter.EmitOptions(name=name, entries=frozenset(entries), package=package)
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
            of `bncc.build.agreement.verify`.

        Returns
        -------
        Agreement
            What was compared, how often it differed, and how strong the check was.
        """
        model = self.to_model()
        with _validation.value_errors():
            table = None if X is None else _validation.checked_readings(self, X)
            return verify(model, table=table, **options)
