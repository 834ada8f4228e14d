"""
Shared fixtures and options: the data next to the repository, golden files, and toolchains.

Options
-------
--update-golden
    Rewrite the files under tests/golden from the current output, then review the diff.
--require-toolchains
    A missing compiler or simulator fails the test instead of skipping it.
--tier
    ``bare``, ``test``, ``ci`` or ``all``, see `tests.tiers`; ``ci`` where files are named, else
    ``test``.
"""

import os
import shutil
import signal
from collections.abc import Callable
from pathlib import Path
from typing import NoReturn, Protocol

import pytest
from coverage import Coverage
from hypothesis import settings

from bncc.device.cross import Toolchain, find_toolchain
from bncc.emit import near_ties
from bncc.errors import ToolchainError
from bncc.targets import find_target
from tests.tiers import FEWER_EXAMPLES, TIERS, Tier, chosen

# A busy machine is not a failure. Numbers of examples are for the tier `all`; see `tests.tiers`.
settings.register_profile("all", deadline=None)
settings.register_profile("bncc", deadline=None, max_examples=FEWER_EXAMPLES)
settings.load_profile("bncc")

# Tests run in several processes; nested thread pools would only fight over the cores.
for _variable in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ.setdefault(_variable, "1")

# Large models are emitted hundreds of times here; the tests of the search itself undo this.
WHOLE_SEARCH = near_ties.ALL_CELLS
near_ties.ALL_CELLS = 2 * near_ties.ROUND_CELLS

# A shell's background lets its programs ignore Ctrl-C, which tests send to bncc.
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)

ROOT = Path(__file__).resolve().parent.parent
GOLDEN = ROOT / "tests" / "golden"


def pytest_addoption(parser: pytest.Parser) -> None:
    """Add the options named at the top."""
    group = parser.getgroup("bncc")
    group.addoption("--update-golden", action="store_true", help="rewrite tests/golden")
    group.addoption(
        "--require-toolchains",
        action="store_true",
        help="fail, do not skip, where a compiler, simulator is missing",
    )
    group.addoption("--tier", choices=TIERS, help="how much to run: bare, test (more), ci, all")


def tier_of(config: pytest.Config) -> Tier:
    """Return the tier that is asked for, or that of what is named."""
    is_named = config.args_source is pytest.Config.ArgsSource.ARGS
    return config.getoption("--tier") or ("ci" if is_named else "test")


def pytest_configure(config: pytest.Config) -> None:
    """Choose the number of examples before any test module is imported."""
    settings.load_profile("all" if tier_of(config) == "all" else "bncc")


@pytest.hookimpl(tryfirst=True)
def pytest_sessionstart(session: pytest.Session) -> None:
    """
    Stop the coverage that pytest-cov starts in a worker as if that were the main process.

    It then starts the worker's own, whose pause for a test marked ``no_cover`` resumes the first.
    """
    first = Coverage.current()
    if first is not None and hasattr(session.config, "workerinput"):
        first.stop()


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Deselect the tests that are not in the tier, and begin with those marked ``long``."""
    kept = chosen(items, tier_of(config))
    left = set(items) - set(kept)
    config.hook.pytest_deselected(items=[item for item in items if item in left])
    # Stable: an order that plugins have drawn stays.
    items[:] = sorted(kept, key=lambda item: item.get_closest_marker("long") is None)


@pytest.fixture(scope="session")
def missing(pytestconfig: pytest.Config) -> Callable[[str], NoReturn]:
    """
    Return the function to call when something outside the repository is missing.

    It skips the test with the given reason, or fails it under ``--require-toolchains``.
    """

    def give_up(reason: str) -> NoReturn:
        if pytestconfig.getoption("--require-toolchains"):
            pytest.fail(f"{reason} (--require-toolchains)", pytrace=False)
        pytest.skip(reason)

    return give_up


@pytest.fixture(scope="session")
def require_tool(missing: Callable[[str], NoReturn]) -> Callable[[str], str]:
    """
    Return ``require_tool(name) -> path``: the program, or a skip that names it.

    Examples
    --------
    >>> def test_it_compiles(require_tool):
    ...     gcc = require_tool("gcc")
    """

    def find(name: str) -> str:
        path = shutil.which(name)
        return path if path is not None else missing(f"{name} is not installed")

    return find


class HasTools(Protocol):
    """A target for which tests compile and disassemble."""

    @property
    def tools(self) -> tuple[str, ...]:
        """Return the names of its programs."""


@pytest.fixture(scope="session")
def require_machine(require_tool: Callable[[str], str]) -> Callable[[HasTools], None]:
    """Return ``require_machine(machine)``: its compiler and binutils, or a skip naming one."""

    def find(machine: HasTools) -> None:
        for tool in machine.tools:
            require_tool(tool)

    return find


@pytest.fixture(scope="session")
def require_bench(missing: Callable[[str], NoReturn]) -> Callable[..., Toolchain]:
    """
    Return ``require_bench(target, compiler, simulator)``: both tools, or a skip naming one.

    Without compiler or simulator it is the preferred one that is installed. Wheels count as tools.

    Examples
    --------
    >>> def test_it_runs(require_bench):
    ...     bench = require_bench("cortex-m0", simulator="unicorn")
    """

    def find(target: str, compiler: str | None = None, simulator: str | None = None) -> Toolchain:
        try:
            (bench,) = find_toolchain(find_target(target), compiler=compiler, simulator=simulator)
        except ToolchainError as error:
            if "is installed; run `" not in str(error):
                raise
            missing(str(error))
        return bench

    return find


@pytest.fixture(scope="session")
def require_gcc(require_bench: Callable[..., Toolchain]) -> Callable[[str], Toolchain]:
    """
    Return ``require_gcc(target)``: the target's GCC and unicorn, or a skip naming one.

    For tests of machine code of a known shape: a compiler that is a wheel makes other code.
    """

    def find(target: str) -> Toolchain:
        gcc = next(name for name in find_target(target).flags if name.endswith("-gcc"))
        return require_bench(target, compiler=gcc, simulator="unicorn")

    return find


@pytest.fixture(scope="session")
def shared_data() -> Path:
    """Return ``../shared/data``, the data sets of the papers; skip where they are absent."""
    path = ROOT.parent / "shared" / "data"
    if not path.is_dir():
        pytest.skip("needs ../shared/data, which lies beside the repository of its authors only")
    return path


@pytest.fixture(scope="session")
def golden(pytestconfig: pytest.Config) -> Callable[[str, str], None]:
    """
    Return ``golden(name, text)``: compare text with ``tests/golden/name``, or renew it.

    Examples
    --------
    >>> def test_the_program_prints_like_this(golden):
    ...     golden("iris.ir", print_program(program))
    """

    def check(name: str, text: str) -> None:
        path = GOLDEN / name
        if pytestconfig.getoption("--update-golden"):
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text, encoding="utf-8", newline="\n")
        assert path.is_file(), f"tests/golden/{name} is missing; run pytest --update-golden"
        assert text == path.read_text(encoding="utf-8"), (
            f"tests/golden/{name} differs; run pytest --update-golden and review the diff"
        )

    return check
