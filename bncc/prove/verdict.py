"""Verdict of a proof about one entry point in machine code."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import isfinite, prod
from typing import Any, Literal

from bncc.discretize.readings import raw_dtypes, state_dtype
from bncc.model.model import Model
from bncc.prove.specification import OF_READINGS

Status = Literal["proved", "refuted", "undecided"]
EXIT_CODES: Mapping[Status, int] = {"proved": 0, "refuted": 1, "undecided": 3}
"""Exit code of ``bncc prove`` by status."""
_OTHER_CODE = "another --compiler, --opt-level or --kernel"
_OTHER_FILE = "check that the program is that of the model"
REMEDIES: Mapping[str, str] = {
    "time-limit": "a longer --time-limit",
    "steps": "another --kernel",
    **dict.fromkeys(("unknown-instruction", "operation", "flags", "bits"), _OTHER_CODE),
    **dict.fromkeys(("memory", "pointers", "jump", "alignment"), _OTHER_CODE),
    **dict.fromkeys(("cells", "undefined"), "another --optimize, --opt-level or --kernel"),
    **dict.fromkeys(("wrong-class", "wrong-error", "sums-differ"), _OTHER_FILE),
}
"""Remedies by reason."""


@dataclass(frozen=True)
class Verdict:
    """Outcome of a proof: proved, refuted by an input or an access, or undecided."""

    status: Status
    entry: str  # As in ``--entry``
    target: str
    reason: str = ""  # Code such as ``sums-differ`` or ``time-limit``; empty if proved
    detail: str = ""  # One sentence without a full stop; empty if proved
    instructions: int | None = None  # Most instructions of a call, if the code is known to end
    stack: int | None = None  # Most bytes of stack below the caller's, if known
    # Counterexample, by feature name: a reading or a state
    input: Mapping[str, float | int | str] | None = None
    expected: int | str | None = None  # Answer of the model for that input
    actual: int | str | None = None  # Answer of the machine code
    seconds: float = 0.0
    toolchain: str | None = None  # Compiler and level; None for an ELF file of the user
    elf: str = ""  # SHA-256 of the ELF file
    model: str = ""  # Digest of the model's content

    @property
    def exit_code(self) -> int:
        """Exit code of a command with this verdict alone."""
        return EXIT_CODES[self.status]

    @property
    def remedy(self) -> str | None:
        """Option that may decide the program; None if it is decided."""
        return REMEDIES.get(self.reason) if self.status == "undecided" else None

    @property
    def sentence(self) -> str:
        """Verdict for display."""
        who, time = f"{self.target}: {self.entry}", f" ({self.seconds:.1f} s)"
        if self.status == "proved":
            return f"{who} decides as the model does for every input{self._bounds}{time}"
        why = ": ".join(part for part in (self.reason, self.detail) if part)
        if self.status == "undecided":
            return f"{who} is NOT DECIDED: {why}{time}"
        return f"{who} DOES NOT decide as the model does: {self._counterexample or why}{time}"

    @property
    def _bounds(self) -> str:
        parts = [
            f"{number:,} {unit}"
            for number, unit in (
                (self.instructions, "instructions"),
                (self.stack, "bytes of stack"),
            )
            if number is not None
        ]
        return f": {' and '.join(parts)} at most" if parts else ""

    @property
    def _counterexample(self) -> str:
        if self.input is None:
            return ""
        values = ", ".join(f"{name} = {value}" for name, value in self.input.items())
        if self.expected is None and self.actual is None:
            why = self.detail or self.reason
            return f"{why}; for {values}"
        return f"for {values} the code returns {self.actual}, the model {self.expected}"

    def to_json(self) -> dict[str, Any]:
        """Return the JSON object of one target and entry point."""
        counterexample = None
        if self.input is not None:
            counterexample = {
                "input": {name: _plain(value) for name, value in self.input.items()},
                "expected": self.expected,
                "actual": self.actual,
            }
        return {
            "verdict": self.status,
            "reason": self.reason or None,
            "detail": self.detail or None,
            "remedy": self.remedy,
            "instructions": None if self.instructions is None else {"max": self.instructions},
            "stack": self.stack,
            "counterexample": counterexample,
            "toolchain": self.toolchain,
            "elf": self.elf,
            "model": self.model,
            "seconds": round(self.seconds, 3),
        }


def _plain(value: float | int | str) -> float | int | str:
    """Return a value that JSON can hold: infinities and NaN as text."""
    return str(value) if isinstance(value, float) and not isfinite(value) else value


def exit_code_of(verdicts: Sequence[Verdict]) -> int:
    """Return the exit code of several verdicts: 1 if any is refuted, else 3 if any is undecided."""
    codes = {verdict.exit_code for verdict in verdicts}
    return next((code for code in (1, 3) if code in codes), 0)


def n_inputs(model: Model, entry: str) -> int:
    """Return the number of inputs that an entry point can get, which a proof covers."""
    if entry in OF_READINGS:
        return prod(_n_values(kind.itemsize) for kind in raw_dtypes(model.features))
    if entry == "trusted":
        return prod(model.n_states)
    return _n_values(state_dtype(model.n_states).itemsize * model.n_features)


def _n_values(n_bytes: int) -> int:
    """Return the number of values of some bytes."""
    return 1 << 8 * n_bytes
