"""Kernel to template context: the C types, arrays and expressions of one emitted file."""

from dataclasses import dataclass

from bncc.compiler.ir import Program, width_of
from bncc.compiler.lowering import PlainKernel, Term
from bncc.emit.avr import avr_error
from bncc.emit.c99 import ArrayText, array, unsigned
from bncc.emit.costs import CostArrays, cost_arrays
from bncc.emit.labels import LabelText, label_text
from bncc.emit.raw import RawPlan, float_key, plan_raw

PGM = {
    "uint8_t": "byte", "uint16_t": "word", "uint32_t": "dword", "int16_t": "word",
    "int32_t": "dword",
}  # fmt: skip
"""What avr-libc calls a read of each type from flash."""


@dataclass(frozen=True)
class EntryPoints:
    """Which functions are emitted beside ``predict``."""

    raw: bool
    scores: bool
    trusted: bool


@dataclass(frozen=True)
class TermText:
    """One summand of a row's address in C.

    Parameters
    ----------
    n_tables : int
        Tables it concerns.
    is_partial : bool
        Whether later tables do without it.
    name, place : str
        Local variables: the state, and where its product is found.
    state : str
        The state that is multiplied, an expression.
    multiples : str
        Where the multiples of its stride begin, an expression; empty when at 0.
    """

    n_tables: int
    is_partial: bool
    name: str
    place: str
    state: str
    multiples: str


@dataclass(frozen=True, eq=False)
class Layout:
    """Types, arrays and expressions of the emitted C.

    Parameters
    ----------
    name : str
        Prefix of every symbol.
    program : Program
        The program that is printed.
    kernel : PlainKernel
        Its layout for the plain kernel.
    entries : EntryPoints
        Which functions are emitted.
    raw : RawPlan or None
        The raw entry point, when there is one.
    state_bits : {8, 16}
        Width of a state in the interface.
    costs : CostArrays
        The tables.
    arrays : tuple of ArrayText
        Every constant array, the tables first.
    terms : tuple of TermText
        Summands of a row's address.
    labels : LabelText
        Class labels.
    """

    name: str
    program: Program
    kernel: PlainKernel
    entries: EntryPoints
    raw: RawPlan | None
    state_bits: int
    costs: CostArrays
    arrays: tuple[ArrayText, ...]
    terms: tuple[TermText, ...]
    labels: LabelText

    @property
    def table_bytes(self) -> int:
        """Bytes of all tables and the prior."""
        tables = {"prior", *(a.name for a in self.costs.arrays)}
        return sum(a.n_bytes for a in self.arrays if a.name in tables)

    @property
    def other_bytes(self) -> int:
        """Bytes of row addresses, limits, thresholds and labels."""
        return self.rom_bytes - self.table_bytes

    @property
    def rom_bytes(self) -> int:
        """Bytes of all constants."""
        return sum(a.n_bytes for a in self.arrays) + self.labels.n_bytes

    def template_names(self) -> dict[str, object]:
        """Return the names that the C templates use."""
        kernel, program, name = self.kernel, self.program, self.name
        types = {a.name: a.type for a in self.arrays}
        return {
            "n_features": len(program.features),
            "n_classes": program.n_classes,
            "n_tables": len(kernel.tables),
            "first_table": 1 if kernel.prior is not None else 2,
            "has_prior": kernel.prior is not None,
            "unit_exponent": -program.frac_bits,
            "largest_sum": kernel.largest_sum,
            "cost_type": unsigned(kernel.sum_bits),
            "first_cast": _first_cast(kernel, name),
            "state_type": unsigned(self.state_bits),
            "state_pgm": PGM[unsigned(self.state_bits)],
            "entry_type": unsigned(kernel.entry_bits),
            "prior_type": types.get("prior", ""),
            "offset_type": types["start"],
            "multiple_type": types["multiples"],
            "table_type": _counter(len(kernel.tables)),
            "feature_type": _counter(len(program.features)),
            "known_type": types.get("known", ""),
            "cut_type": unsigned(self.raw.cut_bits) if self.raw else "",
            "avr_error": avr_error(max(a.n_bytes for a in self.arrays), self.rom_bytes),
            "costs": self.costs,
            "arrays": self.arrays,
            "readers": _readers(self.arrays),
            "terms": self.terms,
            "place_type": unsigned(max(self.state_bits, width_of(len(kernel.multiples)))),
            "raw": self.raw,
            "raw_missing": _raw_missing(self.raw),
            "narrowing": _narrowing(self.raw),
            "with_scores": self.entries.scores,
            "with_trusted": self.entries.trusted,
            "float_inf_key": float_key(float("inf")),
            "float_minus_inf_key": float_key(float("-inf")),
            "labels": self.labels.lines,
            "label_type": types["label_start"],
        }


def lay_out(program: Program, kernel: PlainKernel, entries: EntryPoints, name: str) -> Layout:
    """Choose types and print the arrays.

    Parameters
    ----------
    program : Program
        The program after all passes.
    kernel : PlainKernel
        The same program lowered.
    entries : EntryPoints
        Which functions to emit.
    name : str
        Prefix of every symbol.

    Returns
    -------
    Layout
        For the templates.
    """
    state_bits = 8 if max(program.n_states) <= 255 else 16
    raw = plan_raw(program.features, state_bits) if entries.raw else None
    costs = cost_arrays(program, kernel)
    arrays = list(costs.arrays)
    if kernel.prior is not None:
        bits = width_of(int(kernel.prior.max()))
        meaning = "Cost of each class before any feature is read."
        arrays.append(array("prior", bits, kernel.prior.tolist(), meaning))
    meaning = f"First entry of each table{' in its array' if costs.is_split else ''}."
    arrays += [
        array("start", kernel.offset_bits, costs.starts.tolist(), meaning),
        array(
            "multiples",
            kernel.multiple_bits,
            kernel.multiples.tolist(),
            "Products 0, s, 2s, ... for every stride s.",
        ),
    ]
    terms = []
    for k, term in enumerate(kernel.terms):
        text, needed = _term(term, k, kernel, len(program.features), name)
        terms.append(text)
        arrays += needed
    last = [n - 1 for n in program.n_states]
    arrays.append(array("last_state", state_bits, last, "Largest state of each feature."))
    if raw is not None:
        arrays += raw.arrays
    labels = label_text(program.classes)
    arrays.append(labels.starts)
    return Layout(
        name, program, kernel, entries, raw, state_bits, costs, tuple(arrays), tuple(terms), labels
    )


def _term(
    term: Term, k: int, kernel: PlainKernel, n_features: int, name: str
) -> tuple[TermText, list[ArrayText]]:
    """Return the C of one summand of the row address, and the arrays it reads."""
    is_identity = k == 0 and term.features.tolist() == list(range(n_features))
    arrays = []
    state = "x[t]"
    what = ("feature", "parent")[k] if k < 2 else f"parent{k}"
    if not is_identity:
        bits = width_of(n_features - 1)
        meaning = "Feature whose state counts fastest in each table."
        if k:
            meaning = f"Feature that comes {k} before it, in each table that has one."
        arrays.append(array(what, bits, term.features.tolist(), meaning))
        state = f"x[{name}_rom_uint{bits}(&{name}_{what}[t])]"
    if k == 0:
        return TermText(term.n_tables, False, "own", "own", state, ""), arrays
    bits = width_of(int(term.multiples.max()))
    meaning = "Where the multiples of its stride begin."
    arrays.append(array(f"{what}_multiples", bits, term.multiples.tolist(), meaning))
    place = f"{name}_rom_uint{bits}(&{name}_{what}_multiples[t])"
    is_partial = term.n_tables < len(kernel.tables)
    return TermText(term.n_tables, is_partial, what, f"place{what[6:]}", state, place), arrays


def _first_cast(kernel: PlainKernel, name: str) -> str:
    """Return the cast of a sum's first operand, needed where int has 16 bits, as on AVR.

    There 16-bit operands add up in 16 bits whatever the sum is assigned to.
    """
    return f"({name}_cost_t)" if kernel.sum_bits == 32 else ""


def _counter(n: int) -> str:
    return unsigned(8 if n <= 255 else 16)


def _readers(arrays: tuple[ArrayText, ...]) -> list[dict[str, str]]:
    """Return the flash-reading functions needed, one per entry type."""
    types = dict.fromkeys(a.type for a in arrays)
    return [{"type": c_type, "pgm": PGM[c_type]} for c_type in sorted(types)]


def _raw_missing(raw: RawPlan | None) -> str:
    if raw is None or not raw.is_array:
        return ""
    kind = raw.kinds[0]
    if kind.startswith("code"):
        return "a number out of range"
    return "NaN" if kind == "float32" else f"{kind.upper()}_MIN"


def _narrowing(raw: RawPlan | None) -> str:
    """Return what a driver has to heed where readings are integers."""
    if raw is None or not any(field.kind in ("int16", "int32") for field in raw.fields):
        return ""
    return "\n * A driver that narrows wider readings has to saturate them."
