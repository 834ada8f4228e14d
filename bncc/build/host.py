"""The emitted C as a shared library of this machine, called through cffi without Python headers."""

from collections.abc import Mapping
from pathlib import Path
from tempfile import TemporaryDirectory
from types import TracebackType
from typing import Any

import cffi
import numpy as np

from bncc._types import AnyArray, FloatArray, IntArray
from bncc.build.raw import pack, row_dtype, state_dtype
from bncc.build.sources import Sources, check_raw_size, cost_dtype, sources, support_file
from bncc.build.toolchain import STRICT_C_FLAGS, STRICT_FLAGS, Tool, host_compilers, run
from bncc.errors import ToolchainError
from bncc.model.model import Model

_DECLARATIONS = """
uint32_t bncc_cost_size(void);
uint32_t bncc_raw_size(void);
void bncc_predict(const void *x, int16_t *y, uint32_t n_rows);
void bncc_trusted(const void *x, int16_t *y, uint32_t n_rows);
void bncc_scores(const void *x, int16_t *y, void *s, uint32_t n_rows);
void bncc_raw(const void *x, int16_t *y, uint32_t n_rows);
"""


class HostLibrary:
    """An emitted model loaded into this process; answers arrays of inputs.

    Parameters
    ----------
    model : Model
        The model that was emitted.
    built : Sources
        Its sources.
    library : Path
        The shared library; may be deleted once this is made.
    toolchain : str
        Compiler, version and level, for people.
    """

    def __init__(self, model: Model, built: Sources, library: Path, toolchain: str) -> None:
        self.entries = built.entries
        self.toolchain = toolchain
        self._ffi: Any = cffi.FFI()
        self._ffi.cdef(_DECLARATIONS)
        self._library = _load(self._ffi, library, toolchain)
        self._n_features, self._n_classes = model.n_features, model.n_classes
        self._state_dtype = state_dtype(model.n_states)
        self._row_dtype = row_dtype(model.features)
        if "scores" in self.entries:
            self._cost_dtype = cost_dtype(self._library.bncc_cost_size())
        if "raw" in self.entries:
            check_raw_size(model, self._library.bncc_raw_size())

    def __enter__(self) -> "HostLibrary":
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()

    def close(self) -> None:
        """Unload the library; no call may follow."""
        self._ffi.dlclose(self._library)

    def predict(self, X: IntArray) -> IntArray:
        """Return ``m_predict`` of each row of states.

        Parameters
        ----------
        X : (n, n_features) int
            States as the C takes them, in range or not.

        Returns
        -------
        (n,) int16
            Class indices, or M_ERR_STATE.
        """
        return self._classes(self._library.bncc_predict, self._states(X))

    def trusted(self, X: IntArray) -> IntArray:
        """Return ``m_predict_trusted`` of each row; every state must be in range.

        Parameters
        ----------
        X : (n, n_features) int
            States.

        Returns
        -------
        (n,) int16
            Class indices.
        """
        return self._classes(self._library.bncc_trusted, self._states(X))

    def scores(self, X: IntArray) -> tuple[IntArray, IntArray]:
        """Return ``m_scores`` of each row.

        Parameters
        ----------
        X : (n, n_features) int
            States as the C takes them, in range or not.

        Returns
        -------
        y : (n,) int16
            Class indices, or M_ERR_STATE.
        scores : (n, n_classes) unsigned
            Scores; all ones in the rows of an error.
        """
        x = self._states(X)
        y = np.empty(len(x), dtype=np.int16)
        s = np.full((len(x), self._n_classes), -1, dtype=np.int64).astype(self._cost_dtype)
        buffer = self._ffi.from_buffer
        self._library.bncc_scores(buffer(x), buffer("int16_t[]", y), buffer(s), len(x))
        return y, s

    def raw(self, R: FloatArray) -> IntArray:
        """Return ``m_predict_raw`` of each row of raw readings.

        Parameters
        ----------
        R : (n, n_features) float64
            Values of the C types.

        Returns
        -------
        (n,) int16
            Class indices.
        """
        return self.raw_rows(pack(R, self._row_dtype))

    def raw_rows(self, rows: AnyArray) -> IntArray:
        """Return ``m_predict_raw`` of rows that lie in memory as the C wants them.

        Parameters
        ----------
        rows : (n,) array of `row_dtype`
            Any bytes will do.

        Returns
        -------
        (n,) int16
            Class indices.
        """
        return self._classes(self._library.bncc_raw, rows)

    def _states(self, X: IntArray) -> AnyArray:
        return np.ascontiguousarray(X, dtype=self._state_dtype)

    def _classes(self, entry: Any, rows: AnyArray) -> IntArray:
        y = np.empty(len(rows), dtype=np.int16)
        buffer = self._ffi.from_buffer
        entry(buffer(rows), buffer("int16_t[]", y), len(rows))
        return y


def _load(ffi: Any, library: Path, toolchain: str) -> Any:
    try:
        return ffi.dlopen(str(library))
    except OSError:
        raise ToolchainError(
            f"this Python cannot load what {toolchain} built; choose another compiler"
        ) from None


def build_library(
    model: Model,
    files: Mapping[str, str],
    *,
    compiler: Tool | None = None,
    opt_level: str = "-O2",
) -> HostLibrary:
    """Compile an emission for this machine and load it.

    Parameters
    ----------
    model : Model
        The model that was emitted.
    files : mapping of str to str
        The emission's files.
    compiler : Tool or None
        What to compile with; None for the first host compiler.
    opt_level : str
        ``-O0`` .. ``-O3`` or ``-Os``.

    Returns
    -------
    HostLibrary
        The loaded library.

    Raises
    ------
    ToolchainError
        If there is no compiler, or the code does not compile under the strict flags.
    """
    tool = compiler or host_compilers()[0]
    built = sources(model, files)
    with TemporaryDirectory(prefix="bncc-") as folder:
        write_sources(Path(folder), built, "driver.c")
        flags = ("-std=c99", *STRICT_FLAGS, *STRICT_C_FLAGS, opt_level, "-fPIC", "-shared")
        run((*tool.command, *flags, built.main, "driver.c", "-o", "model.so"), Path(folder))
        return HostLibrary(model, built, Path(folder) / "model.so", f"{tool} {opt_level}")


def write_sources(folder: Path, built: Sources, *support: str) -> None:
    """Write a model's sources and some of the C that ships with bncc into a folder.

    Parameters
    ----------
    folder : Path
        An empty folder.
    built : Sources
        The model.
    *support : str
        Names for `support_file`.
    """
    for name, text in built.files.items():
        (folder / name).write_text(text, encoding="utf-8", newline="\n")
    for name in support:
        (folder / name).write_text(support_file(name), encoding="utf-8", newline="\n")
