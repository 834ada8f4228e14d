"""``bncc demo``: the whole workflow on data that is part of bncc."""

import csv
import gzip
import io
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from time import perf_counter
from typing import Any

import click

from bncc.cli import bench, demo_choice, prove
from bncc.cli.console import Console
from bncc.cli.demo_text import Narrator, summary
from bncc.cli.evaluate import evaluation
from bncc.cli.lowering import Emissions, Lowering
from bncc.cli.options import force_option, speaks
from bncc.cli.output import check_free, staged_directory
from bncc.cli.results import facts_of, report_text
from bncc.cli.verify import sentence
from bncc.data.dataset import Dataset
from bncc.data.files import file_digest
from bncc.data.readers import bundled_path, read_table
from bncc.data.splits import stratified_holdout
from bncc.data.target import dataset_of
from bncc.device.agreement import Agreement
from bncc.device.cross import find_toolchain
from bncc.device.machine import HarnessError
from bncc.device.measure import bench_inputs
from bncc.discretize.feature import states_of
from bncc.emit.emitter import Emission, EmitOptions, emit_c
from bncc.emit.options import emit_command, words_of
from bncc.errors import OptionError, ToolchainError
from bncc.model.file import model_digest, save_model
from bncc.model.model import Model
from bncc.on_device import TargetReport, verify
from bncc.pricing import entries_of
from bncc.prove.build import chosen_entries, require_decoder, verdict_of
from bncc.prove.verdict import Verdict
from bncc.resources import Budget
from bncc.search.trial_result import Study
from bncc.toolchain.tools import host_compilers
from bncc.train.effort import with_default
from bncc.train.settings import TrainSettings
from bncc.train.train_model import train_model

NAME = "robot"
SETTINGS = with_default(TrainSettings(structure="naive"))
SEED = 0
N_RANDOM = 100_000
BENCHED = ("x86", "cortex-m0", "avr")
"""Targets to measure on if their tools are installed."""
PROVED = ("cortex-m0", "rv32")
"""Targets to prove for, the first one whose tools are installed."""
PROOF_SECONDS = 60.0
"""Time limit of a proof."""


@click.command("demo")
@click.option(
    "-o", "--output", default="demo", show_default=True, metavar="DIR", help="Output directory."
)
@force_option
@speaks
def command(console: Console, output: str, force: bool) -> None:
    """
    Train a classifier on real sensor data, emit C, verify it, measure it, compare alternatives.

    A robot follows a wall with 24 ultrasonic sensors; the class is the direction to turn. The data
    is bundled with bncc. All files are written to DIR. The C is measured on the simulated x86,
    Cortex-M0 and AVR, and its machine code is proved, as far as the tools are installed. A final
    report compares alternatives.
    """
    begin = perf_counter()
    check_free(output, force=force, directory=True)
    if not force and Path(output).is_dir() and any(Path(output).iterdir()):
        raise OptionError(f"'{output}' is not empty; use --force to replace files in it")
    host_compilers("all")  # refuse at once where nothing can be built
    with staged_directory(output, force=force) as folder:
        tell = Narrator(console, output)
        train, test = _split(folder, tell)
        model = _train(train, test, folder, tell, console)
        found = _evaluate(model, test, tell)
        emission = _emit(model, folder, tell)
        outcome = _verify(model, test, emission, tell)
        reports = _bench(model, test, tell, console)
        verdicts = _prove(model, tell, console)
        study = demo_choice.sweep(train, test, folder, tuple(reports), tell, console)
        page = None if study is None else demo_choice.report(study, folder, tell)
    payload = {
        "directory": output,
        "n_train": train.n_rows,
        "n_test": test.n_rows,
        "error_test": found["error"],
        "table_bytes": emission.table_bytes,
        "agree": outcome.agree,
        "checked": outcome.checked,
        "mismatches": outcome.mismatches,
        "strength": outcome.strength,
        "toolchain": outcome.toolchain,
        "bench": {target: facts_of(report) for target, report in reports.items()},
        "prove": {
            target: {verdict.entry: verdict.to_json() for verdict in found}
            for target, found in verdicts.items()
        },
        "trials": 0 if study is None else len(study.points),
        "failed": [] if study is None else _failed(study),
        "report": page,
        "seconds": round(perf_counter() - begin, 1),
    }
    console.result(payload, summary(payload, NAME))
    is_refuted = any(each.status == "refuted" for found in verdicts.values() for each in found)
    if is_refuted or not outcome.agree:
        click.get_current_context().exit(1)


def _failed(study: Study) -> list[dict[str, Any]]:
    """Return the failed trials of a study as JSON values."""
    return [{"number": n, "reason": reason} for n, reason in sorted(study.failed.items())]


def _split(folder: Path, tell: Narrator) -> tuple[Dataset, Dataset]:
    """Write two thirds of the bundled rows to train.csv and the rest to test.csv."""
    tell.step(
        "1. Data: 24 ultrasonic distances of a wall-following robot; the class is the direction "
        "to turn"
    )
    source = bundled_path(NAME)
    y = dataset_of(read_table(source)).y
    kept, held = stratified_holdout(y, 1 / 3, SEED)
    with gzip.open(source, "rt", encoding="utf-8", newline="") as stream:
        header, *rows = list(csv.reader(stream))
    parts = []
    for name, numbers in (("train.csv", kept), ("test.csv", held)):
        chosen = [rows[k] for k in numbers]
        (folder / name).write_text(_csv_text(header, chosen), encoding="utf-8", newline="")
        part = dataset_of(read_table(folder / name))
        parts.append(replace(part, digest=file_digest(folder / name)))
        tell.say(f"{len(chosen)} rows in {tell.path(name)}")
    return parts[0], parts[1].with_classes(parts[0].classes)


def _csv_text(header: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    text = io.StringIO()
    csv.writer(text, lineterminator="\n").writerows([header, *rows])
    return text.getvalue()


def _train(train: Dataset, test: Dataset, folder: Path, tell: Narrator, console: Console) -> Model:
    data, held, path = tell.path("train.csv"), tell.path("test.csv"), tell.path(f"{NAME}.bncc")
    tell.step(
        "2. Train", f"bncc train {data} --test {held} --structure {SETTINGS.structure} -o {path}"
    )
    with console.progress("training") as advance:
        result = train_model(
            train,
            SETTINGS,
            test=test,
            progress=advance,
        )
    model = result.model
    save_model(model, folder / f"{NAME}.bncc")
    entries = sum(table.size for table in model.tables) + model.n_classes
    tell.say(
        f"{model.n_features} features, {model.n_classes} classes; {entries} table entries of "
        f"{model.q_format.bits} bits ({model.q_format}), in {result.seconds:.1f} s"
    )
    return model


def _evaluate(model: Model, test: Dataset, tell: Narrator) -> dict[str, Any]:
    path, held = tell.path(f"{NAME}.bncc"), tell.path("test.csv")
    tell.step("3. Evaluate on unseen rows", f"bncc evaluate {path} {held}")
    found = evaluation(model, states_of(model.features, test.table), test.y)
    tell.say(
        f"error rate {100 * found['error']:.2f} % ({found['errors']} of {found['n']} rows); most "
        f"frequent class alone: {100 * (1 - _largest_share(found)):.2f} %"
    )
    return found


def _largest_share(found: dict[str, Any]) -> float:
    counts = [sum(row) for row in found["confusion"]]
    return float(max(counts) / found["n"])


def _emit(model: Model, folder: Path, tell: Narrator) -> Emission:
    entries = frozenset({"scores", "trusted", "raw"})
    words = " ".join(f"--with {entry}" for entry in sorted(entries))
    path, place = tell.path(f"{NAME}.bncc"), tell.path("c")
    tell.step("4. Compile to C99", f"bncc emit-c {path} -o {place} {words}")
    options = EmitOptions(name=NAME, entries=entries)
    emission = emit_c(model, replace(options, command=emit_command(NAME, words_of(options))))
    (folder / "c").mkdir()
    for file, text in emission.files.items():
        (folder / "c" / file).write_text(text, encoding="utf-8", newline="\n")
    tell.say(
        f"{len(emission.files)} files, {emission.table_bytes} bytes of tables, an estimated "
        f"{emission.estimate.flash} bytes of flash for all functions on a Cortex-M0; the kernel "
        f"in {tell.path(f'c/{NAME}.c')}:\n"
    )
    tell.say(kernel_excerpt(emission.files[f"{NAME}.c"]))
    return emission


def kernel_excerpt(source: str) -> str:
    """Return the function that adds the costs, from emitted C."""
    lines = source.split("\n")
    starts = [k for k, line in enumerate(lines) if line.startswith("static") and "_sum(" in line]
    if not starts:
        return ""
    end = next(k for k in range(starts[0], len(lines)) if lines[k] == "}")
    first = starts[0] - 1 if lines[starts[0] - 1].startswith("/*") else starts[0]
    return "\n".join(f"    {line}".rstrip() for line in lines[first : end + 1])


def _verify(model: Model, test: Dataset, emission: Emission, tell: Narrator) -> Agreement:
    path, held = tell.path(f"{NAME}.bncc"), tell.path("test.csv")
    tell.step(
        "5. Build with every compiler installed here and compare with Python",
        f"bncc verify {path} --data {held} --compiler all --random {N_RANDOM}",
    )
    outcome = verify(model, table=test.table, compiler="all", n_random=N_RANDOM, emission=emission)
    tell.say(sentence("host", outcome))
    return outcome


def _bench(
    model: Model, test: Dataset, tell: Narrator, console: Console
) -> dict[str, TargetReport]:
    """Measure on the targets whose tools are installed, on test rows."""
    machines = [target for target in BENCHED if _is_ready(target)]
    title = "6. Measure on targets, compared with the textbook implementation"
    if not machines:
        tell.step(title)
        tell.say("no simulated target is installed; run `pip install ziglang unicorn`")
        return {}
    path, held = tell.path(f"{NAME}.bncc"), tell.path("test.csv")
    words = " ".join(f"--target {target}" for target in machines)
    tell.step(title, f"bncc bench {path} --data {held} {words}")
    inputs = bench_inputs(model, test.table)
    emissions = Emissions(model, Lowering())
    reports: dict[str, TargetReport] = {}
    for target in machines:
        try:
            reports |= bench.measure(
                emissions, [target], inputs, console, entries=entries_of(model, Budget(None))
            )
        except HarnessError:
            raise
        except ToolchainError as error:
            tell.say(f"skipped, {error}")
    if reports:
        tell.say(report_text(reports, len(inputs.X)))
    return reports


def _is_ready(target: str) -> bool:
    return _missing(target) is None


def _missing(target: str) -> str | None:
    """Return the tools that a target lacks, with the remedy; None if it is ready."""
    try:
        find_toolchain(bench.machine_of(target))
    except ToolchainError as error:
        return str(error)
    return None


def _prove(model: Model, tell: Narrator, console: Console) -> dict[str, list[Verdict]]:
    """Prove the machine code for the first target whose tools are installed."""
    title = "7. Prove that the machine code decides as the model does, for every input"
    target = next((target for target in PROVED if _is_ready(target)), PROVED[0])
    try:
        require_decoder()
        missing = _missing(target)
    except ToolchainError as error:
        missing = str(error)
    if missing is not None:
        tell.step(title)
        tell.say(f"skipped, {missing}")
        return {}
    limit = f"--time-limit {PROOF_SECONDS:.0f}"
    tell.step(title, f"bncc prove {tell.path(f'{NAME}.bncc')} --target {target} {limit}")
    entries = chosen_entries(model, ())
    emissions = prove.emissions_of(model, entries, Lowering())
    try:
        (program,) = prove.built(emissions, [target], entries, None, None, console)
    except ToolchainError as error:
        tell.say(f"skipped, {error}")
        return {}
    digest = model_digest(model)
    found = [
        verdict_of(model, program, entry, time_limit=PROOF_SECONDS, digest=digest)
        for entry in entries
    ]
    tell.say("\n".join(verdict.sentence for verdict in found))
    return {target: found}
