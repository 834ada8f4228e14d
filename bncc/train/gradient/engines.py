"""Choice of the descent engine: C on one core if it can be built, or torch on any device."""

from collections.abc import Callable
from importlib.util import find_spec
from typing import TypeVar

from bncc.errors import ToolchainError, extra_command
from bncc.interrupts import interrupts_deferred
from bncc.toolchain.tools import host_compilers
from bncc.train.gradient.engine import Engine, Problem, StructureEngine, StructureProblem
from bncc.train.hyperparameters import Hyperparameters

T = TypeVar("T")


def check_torch(what: str) -> None:
    """
    Raise a ToolchainError with the remedy if torch, an extra, is not installed.

    `what` requires torch, and starts the message.
    """
    if find_spec("torch") is None:
        raise ToolchainError(
            f"{what} needs torch, which is not installed; run {extra_command('torch')}"
        )


def descent_lack() -> str | None:
    """Return what gradient descent on this computer lacks, and the remedy; None if nothing."""
    if find_spec("torch") is not None:
        return None
    try:
        host_compilers()
    except ToolchainError as error:
        return f"gradient descent needs a C compiler or torch: {error}"
    return None


def engine_for(problem: Problem, hyper: Hyperparameters) -> Engine:
    """Return the requested engine, or the faster available one."""

    def native() -> Engine:
        from bncc.train.gradient.native_engine import NativeEngine

        return NativeEngine(problem, hyper)

    def torch() -> Engine:
        from bncc.train.gradient.torch_engine import TorchEngine

        return TorchEngine(problem, hyper)

    return _quicker(hyper, native, torch)


def structure_engine_for(problem: StructureProblem, hyper: Hyperparameters) -> StructureEngine:
    """Return the requested engine, or the faster available one."""

    def native() -> StructureEngine:
        from bncc.train.joint.native_engine import NativeStructureEngine

        return NativeStructureEngine(problem, hyper)

    def torch() -> StructureEngine:
        from bncc.train.joint.torch_engine import TorchStructureEngine

        return TorchStructureEngine(problem, hyper)

    return _quicker(hyper, native, torch)


def _quicker(hyper: Hyperparameters, native: Callable[[], T], torch: Callable[[], T]) -> T:
    """Return the requested engine, or C if it can be built; the callables import their engine."""
    if hyper.engine == "native" or (hyper.engine is None and hyper.device == "cpu"):
        try:
            return native()
        except ToolchainError as error:
            if hyper.engine == "native":
                raise
            check_torch(f"without the C engine ({error}), gradient descent")
    else:
        check_torch("the torch engine" if hyper.engine else f"the device '{hyper.device}'")
    # An exception in the middle of an import of torch, which takes seconds, may be lost there.
    with interrupts_deferred():
        return torch()
