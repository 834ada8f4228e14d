"""``bncc train`` with a budget: search families and sizes for the best classifier that fits."""

from collections.abc import Iterator
from contextlib import AbstractContextManager, ExitStack, contextmanager, nullcontext
from dataclasses import dataclass, replace
from functools import partial
from hashlib import sha256
from itertools import chain
from pathlib import Path
from time import perf_counter
from typing import TYPE_CHECKING, Any

import click

from bncc.cli.budget_options import check_reserve
from bncc.cli.checkpointing import EXIT_SIGNAL, tell_of_the_end
from bncc.cli.console import Console
from bncc.cli.notes import dropped_front, print_notes
from bncc.cli.output import INTERRUPTED, check_free
from bncc.cli.results import (
    used_facts,
)
from bncc.cli.search_report import report_of
from bncc.cli.timing_options import TimeLimit, limited_time, worst_facts
from bncc.cli.train_report import front_end_facts
from bncc.data.dataset import Dataset
from bncc.errors import CheckpointError, OptionError
from bncc.interrupts import first_signal_noted
from bncc.locks import folder_locked
from bncc.model.card import model_facts
from bncc.model.file import save_model, to_bytes
from bncc.resources import DEFAULT_TARGET, PLAIN_FILTER, Budget, FilterForm, Preference, Resources
from bncc.train.decision_rules import DecisionRules
from bncc.train.settings import TrainSettings

if TYPE_CHECKING:  # imported only where needed: it builds and measures
    from bncc.search.budget_search import Found
    from bncc.search.evaluation import Evaluation, SearchInput
    from bncc.search.log import Log
    from bncc.search.pool import Execution
    from bncc.search.program_search import Attempt, ProgramSearch
    from bncc.timing.timebase import Timebase

_LOG = "search.log"
"""Name of the file in the folder of ``--checkpoint``."""
_WRITTEN = "written"
"""Key in the log of the digest of the last written model file."""


def limits_of(
    flash: int | None,
    instructions: int | None,
    target: str | None,
    *,
    reserve: int | None,
    priced: tuple[str, ...],
    entries: tuple[str, ...],
    base: "Timebase | None" = None,
    time: TimeLimit | None = None,
    provable: bool = False,
    over_time: FilterForm = PLAIN_FILTER,
) -> Budget:
    """Return the budget of some options; refuse a reserve that leaves nothing."""
    if provable:
        from bncc.prove.build import check_entries, check_target  # only here: they load what builds

        check_target(target or DEFAULT_TARGET)
        check_entries(priced)
    return Budget(
        target or DEFAULT_TARGET,
        flash,
        **limited_time(base, instructions, time),
        reserve=check_reserve(reserve, flash),
        entries=tuple(dict.fromkeys(priced)),
        extras=frozenset(entries),
        provable=provable,
        filter=over_time,
    )


@dataclass(frozen=True)
class SearchWork:
    """Log and workers of a search."""

    folder: str | None  # Folder of the log
    resume: bool
    force: bool
    jobs: int
    scheduler: str | None  # Address of a cluster

    @property
    def path(self) -> Path | None:
        """The log."""
        return None if self.folder is None else Path(self.folder, _LOG)

    def check(self) -> None:
        """Refuse a folder with other contents, before any work is done."""
        if self.path is None:
            if self.resume:
                raise OptionError("--resume needs a checkpoint folder; add --checkpoint")
            return
        if self.path.parent.exists() and not self.path.parent.is_dir():
            raise OptionError(f"'{self.folder}' is not a directory; name one with --checkpoint")
        if self.path.exists() and not (self.resume or self.force):
            raise OptionError(
                f"'{self.folder}' contains the log of a search; use --resume to continue it, "
                "--force to start over, or another --checkpoint"
            )

    def log(self, given: "SearchInput", families: tuple[str, ...], lock: ExitStack) -> "Log":
        """Return the log of the search, and lock it against other processes."""
        from bncc.search.budget_search import open_log

        if self.path is not None:
            lock.enter_context(folder_locked(self.path.parent))
            if not self.resume:
                try:
                    self.path.unlink(missing_ok=True)
                except OSError as error:
                    raise CheckpointError(
                        f"cannot restart '{self.path}' ({error.strerror or error}); name another "
                        "folder with --checkpoint"
                    ) from error
        return open_log(self.path, given, families)

    @property
    def goes_on(self) -> str:
        """The remedy for a search that was stopped, empty without a log."""
        if self.path is None:
            return ""
        return f"; repeat the command with --resume to continue from '{self.folder}'"

    @contextmanager
    def told_when_interrupted(self) -> Iterator[None]:
        """Say how to continue where a search is interrupted before it has a model."""
        try:
            yield
        except (KeyboardInterrupt, click.Abort):
            if self.path is None:
                raise
            raise KeyboardInterrupt(f"{INTERRUPTED}{self.goes_on}") from None

    def workers(self, given: "SearchInput") -> AbstractContextManager["Execution | None"]:
        """Return the workers of evaluations; None for evaluation in this process."""
        from bncc.search.evaluation import evaluate

        if self.scheduler is not None:
            from bncc.search.cluster import dask_cluster

            goes_on = "with --checkpoint and --resume to continue"
            return dask_cluster(given, self.scheduler, evaluate, goes_on)
        if self.jobs > 1:
            from bncc.search.pool import local_processes

            return local_processes(given, self.jobs, evaluate)
        return nullcontext()


def refuse_with_budget(settings: TrainSettings, *, repeats: int) -> None:
    """Refuse options without meaning in a search."""
    from bncc.search.families import refuse_searched

    if repeats > 1:
        raise OptionError("--repeats does not apply to a budget search; leave it out")
    refuse_searched(settings)


def families_to_try(
    console: Console,
    settings: TrainSettings,
    named: str | None,
    budget: Budget,
    rules: frozenset[str] = frozenset(),
) -> tuple[str, ...]:
    """Return the structures to try, without those that do not support the user's options."""
    from bncc.search.families import families_of

    families, note = families_of(settings, named, budget.emitted(budget.entries), rules)
    if note is not None:
        console.note(note)
    return families


def train_within(
    console: Console,
    train: Dataset,
    test: Dataset | None,
    settings: TrainSettings,
    budget: Budget,
    families: tuple[str, ...],
    output: str,
    *,
    work: SearchWork,
    choose_by: str | None = None,
    prefer: Preference = "balanced",
    program: "ProgramSearch | None" = None,
    rules: DecisionRules,
    base: "Timebase | None" = None,
    spent: float = 0.0,
) -> None:
    """
    Search, write the model, and report it; for a program, its features are chosen first.

    Some seconds of the reported time may have been spent before.
    """
    begin = perf_counter() - spent
    from bncc.search.budget_search import open_log, searched, with_rules
    from bncc.search.program_search import Attempt, first_fitting
    from bncc.search.split_folds import default_choice
    from bncc.search.unmeasured import Unmeasured

    unmeasured = Unmeasured()
    if program is None:
        attempts: Iterator[Attempt] = iter([Attempt(train, test, budget)])
        first = next(attempts)
    else:
        with console.progress("choosing features") as advance:
            attempts = program.attempts(
                settings, choose_by=choose_by, prefer=prefer, tell=advance, unmeasured=unmeasured
            )
            first = next(attempts)
    with ExitStack() as lock:
        log = work.log(_input_of(first, settings, choose_by), families, lock)
        is_ours = work.resume and _WRITTEN in log and log[_WRITTEN] == _digest_of(Path(output))
        check_free(output, force=work.force or is_ours)
        stops = first_signal_noted(partial(tell_of_the_end, console, "candidate"))
        with work.told_when_interrupted(), stops as stop:

            def found_in(attempt: Attempt) -> "Found":
                given = _input_of(attempt, settings, choose_by)
                of_attempt = log if attempt is first else open_log(None, given, families)
                with console.progress("searching") as advance:
                    return searched(
                        given, families, of_attempt, work.workers,
                        tell=advance, stop=stop, prefer=prefer,
                    )  # fmt: skip

            attempt, found, cost = first_fitting(
                chain([first], attempts), found_in, stop, unmeasured
            )
            if rules.any:
                with console.progress("cross-validating") as advance:
                    found = with_rules(
                        found, rules, attempt.train, attempt.budget,
                        test=attempt.test, tell=advance, stop=stop,
                    )  # fmt: skip
                cost = attempt.cost(found.result.model, found.price)
        found = replace(found, seconds=max(found.seconds, perf_counter() - begin))
        model = found.result.model
        log.add(_WRITTEN, {"sha256": sha256(to_bytes(model)).hexdigest()})
        save_model(model, output, overwrite=work.force or is_ours)
        if not found.is_short:
            log.remove()
    choose_by = choose_by or default_choice(settings)
    print_notes(console, found.result.notes)
    facts = {**_facts(found, budget, output), "choose_by": choose_by}
    facts |= worst_facts(found.price, base)
    if cost is not None:
        facts |= front_end_facts(model)
        facts["program"] = cost.to_json()
        facts["resources"] |= {f"{cost.unit}_per_sample": cost.mean, "ram": cost.state}
    console.result(facts, report_of(found, attempt, output, cost, base))
    if not attempt.budget.admits(found.price):
        console.note(
            f"'{output}' exceeds the budget with its rules for decisions; repeat the command with "
            "a larger --reserve"
        )
    if not attempt.admits(cost):
        console.note(f"'{output}' exceeds a limit, as the search was stopped before one fits")
    if found.is_short and stop.signal is not None:
        tried = f"{len(found.tried)} candidate" + "s" * (len(found.tried) > 1)
        console.warning(f"stopped after {tried}; '{output}' is the best of them{work.goes_on}")
        raise click.exceptions.Exit(EXIT_SIGNAL + stop.signal)


def _input_of(attempt: "Attempt", settings: TrainSettings, choose_by: str | None) -> "SearchInput":
    from bncc.search.budget_search import search_input

    return search_input(
        attempt.train, settings, attempt.budget, test=attempt.test, choose_by=choose_by
    )


def _digest_of(path: Path) -> dict[str, str] | None:
    """Return the log entry of a model file, None if there is none."""
    return {"sha256": sha256(path.read_bytes()).hexdigest()} if path.is_file() else None


def _facts(found: "Found", budget: Budget, output: str) -> dict[str, Any]:
    from bncc.search.budget_search import HALF, TWICE

    return {
        "model": output,
        **model_facts(found.result.model),
        **used_facts(found.result.model),
        **dropped_front(found.result.notes),
        "seconds": round(found.seconds, 3),
        "budget": {
            **_limits(budget),
            "target": budget.target,
            **({"reserve": budget.reserve} if budget.reserve else {}),
        },
        "resources": found.price.to_json(),
        "price": _price(found.price),
        "prefer": found.prefer,
        "tried": [_candidate(one) for one in found.tried],
        "front": [{**_candidate(one), "chosen": one is found.chosen} for one in found.front],
        "half": _outlook(found.half, budget, HALF),
        "twice": _outlook(found.twice, budget, TWICE),
    }


def _limits(budget: Budget) -> dict[str, int | None]:
    if budget.core is None:
        return {"flash": budget.flash, "instructions": budget.instructions}
    return {"flash": budget.flash, "instructions": None, "cycles": budget.instructions}


def _candidate(one: "Evaluation") -> dict[str, Any]:
    return {
        "structure": one.settings.structure,
        "structure_options": dict(one.settings.structure_options),
        "bits": one.settings.total_bits,
        **one.refit,
        "error_validation": one.error,
        "choice": sum(one.choice) / len(one.choice),
        "folds": len(one.errors),
        "price": _price(one.resources),
    }


def _outlook(one: "Evaluation | None", budget: Budget, factor: float) -> dict[str, Any] | None:
    """Return the best known candidate in a part or a multiple of the budget."""
    from bncc.search.budget_search import scaled

    if one is None:
        return None
    other = scaled(budget, factor)
    return {
        "budget": _limits(other),
        **_candidate(one),
    }


def _price(price: Resources) -> dict[str, Any]:
    slowest = price.slowest
    return {
        "flash": price.flash,
        **({"instructions": slowest} if price.core is None else {"cycles": slowest}),
        "mean": price.typical,
        "optimize": price.optimize,
        "measured": price.how == "measured",
    }
