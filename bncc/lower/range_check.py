"""The checked entry point in the C: which readings are decided on, and the errors of the others."""

from collections.abc import Sequence
from dataclasses import dataclass

from bncc.discretize.feature import Feature, inputs_of
from bncc.discretize.float_order import float_key
from bncc.lower.c.c99 import ArrayText, array, unsigned, whole_text
from bncc.lower.raw import RawPlan, missing_text
from bncc.model.checked import ERR_MISSING, ERR_RANGE, Limits


@dataclass(frozen=True)
class ReadingCheck:
    """A function that compares a reading with two limits."""

    kind: str  # What it reads: a numeric kind, ``code8`` or ``code16``
    # c_type and limit_type: C types of the reading and of its limits; a float is compared by its
    # key
    c_type: str
    limit_type: str
    missing: str  # The reading that is missing; empty for a float, and where none is

    @property
    def reader(self) -> str:
        """Name of the function that reads a limit from flash."""
        return f"rom_{self.limit_type[:-2]}"

    @property
    def limit_bits(self) -> int:
        """Width of a limit."""
        return int(self.limit_type.strip("uint_"))


@dataclass(frozen=True)
class CheckedText:
    """The checked entry point, ready for the templates."""

    limits: tuple[Limits, ...]  # Its parts, for the reference
    checks: tuple[ReadingCheck, ...]  # One per kind of reading
    # Lower and upper limit of each feature, as C; empty where they are in arrays
    arguments: tuple[str, ...]
    arrays: tuple[ArrayText, ...]  # Lower and upper limits, where all readings have one type
    err_missing: int = ERR_MISSING  # err_missing and err_range: What it returns
    err_range: int = ERR_RANGE

    @property
    def has_floats(self) -> bool:
        """True if any reading is a float."""
        return any(check.kind == "float32" for check in self.checks)


def checked_text(
    features: Sequence[Feature], limits: tuple[Limits, ...], raw: RawPlan
) -> CheckedText:
    """Lay out the checked entry point."""
    kinds = sorted({field.kind for field in raw.inputs})
    checks = tuple(map(reading_check, kinds))
    ends = [reading_ends(*pair) for pair in zip(inputs_of(features), limits, strict=True)]
    if not raw.is_array:
        arguments = tuple(
            f"{whole_text(field.kind, low)}, {whole_text(field.kind, high)}"
            for field, (low, high) in zip(raw.inputs, ends, strict=True)
        )
        return CheckedText(limits, checks, arguments, ())
    c_type = checks[0].limit_type
    is_signed, bits = c_type.startswith("int"), checks[0].limit_bits
    of_keys = ", as an integer of the same order" if kinds == ["float32"] else ""
    arrays = tuple(
        array(name, bits, values, f"{which} reading of each feature{of_keys}.", signed=is_signed)
        for name, which, values in (
            ("lowest", "Smallest", [low for low, _ in ends]),
            ("highest", "Largest", [high for _, high in ends]),
        )
    )
    return CheckedText(limits, checks, (), arrays)


def reading_check(kind: str) -> ReadingCheck:
    """Return how readings of a kind are compared with limits."""
    if kind == "float32":
        return ReadingCheck(kind, "float", "int32_t", "")
    if kind.startswith("code"):
        bits = int(kind[4:])
        return ReadingCheck(kind, unsigned(bits), unsigned(bits), f"{2**bits - 1}U")
    return ReadingCheck(kind, f"{kind}_t", f"{kind}_t", missing_text(kind))


def reading_ends(feature: Feature, limits: Limits) -> tuple[int, int]:
    """Return limits as they are compared: those of a float by its keys."""
    if feature.kind != "float32":
        return int(limits.low), int(limits.high)
    low = float_key(limits.low)
    # -0.0 is as large as 0.0, and its key is one less.
    return low - (limits.low == 0), float_key(limits.high)
