"""The plain kernel as C: row addresses as sums of look-ups."""

from dataclasses import dataclass

from bncc.lower.c.c99 import ArrayText, array, counter, unsigned
from bncc.lower.kernels.base import KernelText
from bncc.lower.kernels.plain.layout import PlainKernel, Term
from bncc.lower.kernels.shared.rows import cost_arrays
from bncc.program.ir import Program, width_of


@dataclass(frozen=True)
class TermText:
    """One summand of a row's address in C."""

    n_tables: int  # Tables it concerns
    is_partial: bool  # True if later tables lack it
    name: str  # name and place: Local variables: the state, and where its product is found
    place: str
    state: str  # The state that is multiplied, an expression
    multiples: str  # Where the multiples of its stride begin, an expression; empty when at 0


def plain_text(program: Program, kernel: PlainKernel, name: str, state_bits: int) -> KernelText:
    """Print the arrays and expressions of the plain kernel."""
    costs = cost_arrays(program, kernel.tables, kernel.entry_bits)
    tables = list(costs.arrays)
    prior_bits = 0
    if kernel.prior is not None:
        prior_bits = width_of(int(kernel.prior.max()))
        meaning = "Prior cost of each class."
        tables.append(array("prior", prior_bits, kernel.prior.tolist(), meaning))
    meaning = f"First entry of each table{' in its array' if costs.is_split else ''}."
    start = array("start", kernel.offset_bits, costs.starts.tolist(), meaning)
    meaning = "Look-up table of the multiples 0, s, 2s, ... of every stride s."
    if any(table.maps for table in kernel.tables):
        meaning += " States whose rows are equal share one."
    multiples = array("multiples", kernel.multiple_bits, kernel.multiples.tolist(), meaning)
    terms, needed = [], []
    for k, term in enumerate(kernel.terms):
        text, arrays = _term(term, k, kernel, len(program.features), name)
        terms.append(text)
        needed += arrays
    return KernelText(
        template="lower/kernels/plain.c.j2",
        arrays=(*tables, start, multiples, *needed),
        table_bytes=sum(a.n_bytes for a in tables),
        context={
            "n_tables": len(kernel.tables),
            "first_table": 1 if kernel.prior is not None else 2,
            "has_prior": kernel.prior is not None,
            "first_cast": _first_cast(kernel, prior_bits, name),
            "entry_type": unsigned(kernel.entry_bits),
            "prior_type": tables[-1].type if kernel.prior is not None else "",
            "offset_type": start.type,
            "start_array": start.name,
            "multiple_type": multiples.type,
            "table_type": counter(len(kernel.tables)),
            "costs": costs,
            "terms": tuple(terms),
            "place_type": unsigned(max(state_bits, width_of(len(kernel.multiples)))),
        },
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
        meaning = "Fastest-varying feature of each table."
        if k:
            meaning = f"Feature {k} positions before it, in each table that has one."
        arrays.append(array(what, bits, term.features.tolist(), meaning))
        state = f"x[{name}_rom_uint{bits}(&{name}_{what}[t])]"
    if k == 0 and not term.multiples.any():
        return TermText(term.n_tables, False, "own", "own", state, ""), arrays
    bits = width_of(int(term.multiples.max()))
    meaning = "Index of the first multiple of its stride."
    arrays.append(array(f"{what}_multiples", bits, term.multiples.tolist(), meaning))
    place = f"{name}_rom_uint{bits}(&{name}_{what}_multiples[t])"
    is_partial = term.n_tables < len(kernel.tables)
    local, place_name = (what, f"place{what[6:]}") if k else ("own", "own_place")
    return TermText(term.n_tables, is_partial, local, place_name, state, place), arrays


def _first_cast(kernel: PlainKernel, prior_bits: int, name: str) -> str:
    """
    Return the cast of a sum's first operand, needed where a sum is wider than its entries.

    Where int has 16 bits, as on AVR, 16-bit operands add up in 16 bits whatever the sum is
    assigned to.
    """
    is_narrower = max(kernel.entry_bits, prior_bits) < kernel.sum_bits
    return f"({name}_cost_t)" if is_narrower or kernel.sum_bits == 32 else ""
