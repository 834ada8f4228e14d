"""Report of ``bncc train`` with a budget, for people."""

import shlex
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from bncc.cli.console import aligned
from bncc.cli.results import (
    error_mark,
    error_words,
    feature_words,
    resource_words,
    trained_confusion,
)
from bncc.cli.timing_options import worst_words
from bncc.model.card import decision_rows, model_facts, number_words, structure_words
from bncc.model.model import Model
from bncc.model.rules import own_entries
from bncc.model.training_record import search_words
from bncc.wording import counted

if TYPE_CHECKING:  # imported only where needed: it builds and measures
    from bncc.program_pricing import ProgramCost
    from bncc.search.budget_search import Found
    from bncc.search.evaluation import Evaluation
    from bncc.search.program_search import Attempt
    from bncc.timing.timebase import Timebase

_SHOWN = 8
"""Most candidates in the report, the best first."""


def report_of(
    found: "Found",
    attempt: "Attempt",
    output: str,
    cost: "ProgramCost | None",
    base: "Timebase | None",
) -> str:
    """Return the report of a search, that of a whole program with its cost."""
    model, price, budget = found.result.model, found.price, attempt.budget
    train, test = attempt.train, attempt.test
    facts = model.training
    known = model_facts(model)
    words = {"validation": f"validation ({search_words(facts)})"}
    errors = [
        f"{100 * facts[f'error_{part}']:.2f} % {words.get(part, part)}{error_mark(known, part)}"
        for part in ("train", "validation", "test")
        if facts[f"error_{part}"] is not None
    ]
    path, folder = shlex.quote(output), shlex.quote(str(Path(output).with_suffix("")))
    verified, emitted = _next_options(found, attempt, base)
    takes = [*resource_words(price), *worst_words(price, base)]
    if price.how == "estimated":
        takes.append("`bncc targets` lists the tools that can measure it")
    rows = [
        ["rows", f"{train.n_rows}" + (f" and {test.n_rows} for testing" if test else "")],
        ["features", feature_words(model)],
        ["classes", str(model.n_classes)],
        ["structure", f"{facts['structure']}, {structure_words(model)}"],
        ["numbers", number_words(model)],
        [price.how, takes[0]],
        *(["", line] for line in takes[1:]),
        *_reserve_rows(attempt),
        ["error", ", ".join(errors)],
        *([["", of_test]] if (of_test := error_words(known)) else []),
        *decision_rows(model),
        *_others(found, price.unit),
        ["took", f"{found.seconds:.1f} s"],
        ["wrote", output],
        ["next", f"bncc verify {path} {verified}{' --prove' if budget.provable else ''}"],
        ["", f"bncc emit-c {path} -o {folder} {emitted}"],
    ]
    lines = [aligned(rows), *trained_confusion(model), "", *_table(found), *_front(found)]
    return "\n".join([*lines, *([] if cost is None else ["", _program(model, cost)])])


def _next_options(found: "Found", attempt: "Attempt", base: "Timebase | None") -> tuple[str, str]:
    """Return the options of ``verify`` and ``emit-c`` for the C that was priced."""
    price, is_within = found.price, found.price.limit is not None
    is_within |= attempt.budget.admits(price)
    budget = attempt.budget if attempt.program is None else attempt.program.limits.budget
    chosen = f"--target {budget.target} --optimize {price.optimize}"
    chosen += " --provable" if budget.provable else ""
    names = sorted(budget.extras.union(own_entries(found.result.model)))
    others = [] if base is None else [f"--part {base.part} --clock {base.clock}"]
    others += [*(f"--with {name}" for name in names), *(f"--entry {e}" for e in budget.entries)]
    has_limit = base is not None and budget.instructions is not None and is_within
    timed = [*others, *([f"--max-cycles {budget.instructions}"] if has_limit else [])]
    if budget.flash is None or not is_within:
        return " ".join([chosen, *others]), " ".join([chosen, *timed])
    reserved = [f"--reserve {budget.reserve}"] if budget.reserve else []
    of_ram = [] if budget.ram is None else [f"--max-ram {budget.ram}"]
    verified = [chosen, f"--max-flash {budget.room}", *of_ram, *others]
    limited = [chosen, f"--max-flash {budget.flash}", *reserved, *of_ram]
    return " ".join(verified), " ".join([*limited, *timed])


def _reserve_rows(attempt: "Attempt") -> list[list[str]]:
    """Return the bytes of a flash limit that are not the classifier's, and what takes them."""
    limit = attempt.budget if attempt.program is None else attempt.program.limits.budget
    of_code = attempt.budget.reserve - limit.reserve
    rows = []
    if limit.reserve:
        rows.append(f"{limit.reserve:,} bytes of flash for your own code (--reserve)")
    if of_code:
        rows.append(
            f"{of_code:,} bytes of flash for the code from samples to features, before the "
            "classifier was searched"
        )
    return [["reserved", rows[0]], *(["", each] for each in rows[1:])] if rows else []


def _table(found: "Found") -> list[str]:
    """Return the candidates, the best first."""
    order = sorted(found.tried, key=lambda one: one.order)
    more = len(order) - _SHOWN
    tail = [f"... and {more} more; --json has all"] if more > 0 else []
    return [_lines("tried", order[:_SHOWN], found), *tail]


def _front(found: "Found") -> list[str]:
    """Return the candidates that no other one beats in error, flash and time."""
    front = [one for one in found.front if one.resources.slowest is not None]
    if len(front) < 2:
        return []
    # The chosen one is shown, however many there are.
    shown = front[:_SHOWN]
    if found.chosen in front and found.chosen not in shown:
        shown[-1] = found.chosen
    more = len(front) - len(shown)
    tail = [f"... and {more} more; --json has all"] if more > 0 else []
    return ["", _lines("trade-offs", shown, found), *tail]


def _lines(head: str, shown: Sequence["Evaluation"], found: "Found") -> str:
    rows = [[head, "error", "folds", "flash", f"{found.price.unit}, mean", "at most"]]
    rows += [
        [
            _words(one) + (" (chosen)" if one is found.chosen else ""),
            f"{100 * one.error:.2f} %",
            f"{len(one.errors)}",
            f"{one.resources.flash:,}",
            _time(one.resources.typical),
            _time(one.resources.slowest),
        ]
        for one in shown
    ]
    return aligned(rows, right=(1, 2, 3, 4, 5))


def _words(one: "Evaluation") -> str:
    """Describe a candidate; the bits of boosted tables are a limit, as costs may need fewer."""
    bits = counted(one.settings.total_bits, "bit")
    return f"{one.words_without_bits} {'at most ' * one.settings.is_boosted}{bits}"


def _time(time: float | None) -> str:
    return "-" if time is None else f"{time:,.0f}"


def _others(found: "Found", unit: str) -> list[list[str]]:
    """Return the rows of the report about half and twice the budget."""
    rows = [
        [
            name,
            f"{100 * one.error:.2f} % validation, {one.resources.flash:,} bytes, "
            f"{_time(one.resources.typical)} {unit}: {_words(one)}",
        ]
        for name, one in (("half", found.half), ("twice", found.twice))
        if one is not None
    ]
    if rows:
        where = "each in a layout that fits there, which may differ from that below"
        rows.append(["", f"of the budget: the best of the candidates below, {where}; not searched"])
    return rows


def _program(model: Model, cost: "ProgramCost") -> str:
    """Return the rows of the report about the program from samples to decisions."""
    assert model.front_end is not None
    rows = [
        ["samples", model.front_end.words],
        ["features", model.front_end.feature_words],
        ["program", cost.words],
    ]
    return aligned(rows)
