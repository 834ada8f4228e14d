"""The last steps of ``bncc demo``: many classifiers of the same data, and a page about them."""

import shlex
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from bncc.cli.console import Console
from bncc.cli.demo_text import Narrator
from bncc.cli.inputs import rows_to_classify
from bncc.cli.sweep_options import NO_TARGET, toolchains_of
from bncc.cli.sweep_work import swept
from bncc.data.dataset import Dataset
from bncc.data.files import printable
from bncc.errors import OptionError, StudyError
from bncc.interrupts import StopRequest
from bncc.search.config import source_words
from bncc.search.fingerprint import study_facts
from bncc.search.objective import default_objectives
from bncc.search.pool import local_processes
from bncc.search.space import PRESETS, read_space
from bncc.search.storage import Place, check_optuna
from bncc.search.study import read_study
from bncc.search.trial import Workload, measured_rows, run_trial
from bncc.search.trial_result import Study

if TYPE_CHECKING:
    from bncc.report.sheets import Sheet

DATA, TEST, STUDY, PAGE = "train.csv", "test.csv", "study.db", "report.html"
SPACE = PRESETS[0]
N_TRIALS, N_JOBS, REPEATS, SEED = 50, 2, 3, 0
"""All but the first two are the defaults of ``bncc sweep``."""
TITLE = "Which classifier for the robot?"
PREFERRED = ("cortex-m0", "x86", "avr")
SMALL = 8 * 1024
"""Largest budget, in bytes, of which the page's recommendations are printed."""


def sweep(
    train: Dataset,
    test: Dataset,
    folder: Path,
    machines: Sequence[str],
    tell: Narrator,
    console: Console,
) -> Study | None:
    """Train and measure classifiers of many kinds, as ``bncc sweep`` does."""
    targets = tuple(target for target in PREFERRED if target in machines)[:1]
    title = f"8. Try {N_TRIALS} others, from small to accurate"
    try:
        check_optuna()
    except StudyError as error:
        tell.step(title)
        tell.say(f"skipped, {error}")
        return None
    words = ["--test", tell.place(TEST), "--study", tell.place(STUDY), "--trials", str(N_TRIALS)]
    words += ["--jobs", str(N_JOBS), "--target", *(targets or (NO_TARGET,))]
    tell.step(title, shlex.join(["bncc", "sweep", tell.place(DATA), *words]))
    tell.say("the longest step, a few minutes; -v shows progress")
    source, bench_source = source_words(tell.place(DATA), test=tell.place(TEST))
    readings = rows_to_classify(str(folder / DATA), None, None, console) if targets else None
    work = Workload(
        train, test, None if readings is None else measured_rows(readings), source, bench_source,
        SEED, REPEATS, targets,
    )  # fmt: skip
    space = read_space(SPACE)
    facts = study_facts(
        train, test, space, data=DATA, fold=None, seed=SEED, repeats=REPEATS, sampler="random",
        objectives=default_objectives(targets), targets=targets,
        toolchains=toolchains_of(targets),
    )  # fmt: skip
    place = Place(tell.place(STUDY), None, folder / STUDY)
    swept(
        console, place, space, facts, N_TRIALS, StopRequest(),
        lambda: local_processes(work, N_JOBS, run_trial),
    )  # fmt: skip
    (study,) = read_study(str(folder / STUDY))
    errors = [point.validation.mean for point in study.points]
    tell.say(
        f"{len(errors)} classifiers, each trained {REPEATS} times; error rates on validation "
        f"rows from {100 * min(errors):.1f} to {100 * max(errors):.1f} %"
    )
    for number, reason in sorted(study.failed.items()):
        tell.say(f"trial {number} failed: {printable(reason)}")
    return study


def report(study: Study, folder: Path, tell: Narrator) -> str | None:
    """Write the page about a study, as ``bncc report`` does, and print the gist of it."""
    from bncc.report.page import page_html
    from bncc.report.sheets import sheets_of

    words = ["bncc", "report", tell.place(STUDY), "--title", TITLE, "-o", tell.place(PAGE)]
    tell.step("9. Choose from the report", shlex.join(words))
    sheets = sheets_of([study])
    try:
        text = page_html(sheets, TITLE)
    except OptionError as error:
        tell.say(f"skipped, {error}")
        return None
    (folder / PAGE).write_bytes(text.encode("utf-8"))
    tell.say("\n".join(gist(sheets[0])))
    return tell.place(PAGE)


def gist(sheet: "Sheet") -> tuple[str, ...]:
    """Return the page's conclusions for a small budget and for a larger one."""
    advice = sheet.views[0].advice
    small = [one for one in advice if one.budget <= SMALL] or advice
    return tuple(dict.fromkeys(one.sentences[0] for one in (small[0], small[-1])))
