"""
Classifiers from other tools, and the program of bncc's that each is compared with.

    python -m benchmarks.peers.peer_points --stage select --jobs 2
    python -m benchmarks.peers.peer_points --stage test

A baseline is a point of test error, flash on a Cortex-M4 at -Os and instructions on a Cortex-M0 at
-O2, in ``peers.csv``. The candidates are the forms of `benchmarks.peers.peer_forms`, each emitted
in several ways. Each pair is one program: one C file, whose ``predict_raw`` takes readings of
uint8, measured in the same two builds as the baselines.

The first stage trains the forms, validates and measures them, and writes ``peer_choices.json``:
for each baseline, of the programs that need no more flash and no more instructions, the one of
lowest validation error. It computes no test error. Commit that file before the second stage, which
reads test errors and writes ``docs/peers.md``. Interrupted measurements resume; all take an hour.
Remove their folder when the compiler or the learner changes.
"""

from collections.abc import Mapping, Sequence
from pathlib import Path

import click

from benchmarks.peers import equal_resources
from benchmarks.peers.peer_choices import (
    CHOICES,
    Choices,
    Chosen,
    choose,
    form_of,
    programs_of,
    read_choices,
    write_choices,
)
from benchmarks.peers.peer_forms import emissions, way_of
from benchmarks.peers.peer_models import measure, model_path, train_form
from benchmarks.peers.peer_page import Row, tables_of
from benchmarks.peers.peers import peers_of
from benchmarks.peers.uint8_sets import FOLDER, SETS, archive_of, write_sets
from benchmarks.shared.markdown import renew
from bncc.data.dataset import Dataset
from bncc.data.readers import read_table
from bncc.data.target import fold_parts
from bncc.emit.emitter import emit_c
from bncc.emit.provenance import code_digest
from bncc.model.file import load_model
from bncc.train.holdout import decided

PAGE = Path(__file__).resolve().parents[2] / "docs" / "peers.md"


def select(folder: Path, sets: Sequence[str], jobs: int, output: Path) -> None:
    """Measure all programs, and write the choice for each baseline."""
    ours: dict[str, list[Chosen]] = {name: [] for name in sets}
    for one, done, total in measure(folder, sets, jobs):
        found = programs_of(one, f"{FOLDER}/{one.set}.npz")
        ours[one.set] += found
        sizes = ", ".join(f"{each.flash} B and {each.instructions:.0f}" for each in found)
        print(f"[{done}/{total}] {one.key}: {one.validation:.2f} %, {sizes}", flush=True)
    write_choices(output, {name: choose(peers_of(name), ours[name]) for name in sets})


def rows_of(folder: Path, name: str, choices: Choices) -> list[Row]:
    """Return the rows of a set's table, with test errors."""
    _, test = fold_parts(read_table(archive_of(folder, name), fold=1), None, 1)
    assert test is not None
    programs = {one.key: one for one in choices.values() if one is not None}
    errors = {key: test_error(folder, name, one, test) for key, one in programs.items()}
    return [
        Row(peer, one, None if one is None else errors[one.key])
        for peer in peers_of(name)
        for one in (choices[peer.model],)
    ]


def test_error(folder: Path, name: str, one: Chosen, test: Dataset) -> float:
    """Return the test error of a program in percent, trained again if its model is missing."""
    form = form_of(one.form)
    path = model_path(folder, name, form)
    if not path.exists():
        train_form(folder, name, form)
    model = load_model(path)
    (options,) = (options for options in emissions(form) if way_of(options) == one.way)
    emission = emit_c(model, options)
    if code_digest(emission.files, emission.name) != one.code:
        raise click.ClickException(
            f"the C of {path} is not that of the chosen program; remove {folder} if the compiler "
            "has changed, and run --stage select again"
        )
    y, decisions = decided(model, test)
    return 100 * float((decisions != y).mean())


def write_page(found: Mapping[str, Sequence[Row]], page: Path) -> None:
    """Update the tables of the page, and with the usual page those of the README."""
    renew(page, tables_of(found))
    if page == PAGE:
        equal_resources.write()


@click.command()
@click.option("--data", default="../shared/data", help="Folder with `paper/letter.npz` etc.")
@click.option("--folder", default=FOLDER, help="Folder of archives, models and measurements.")
@click.option("--stage", type=click.Choice(("select", "test")), required=True)
@click.option("--set", "names", multiple=True, type=click.Choice(SETS), help="For select only.")
@click.option("--jobs", default=2, help="Trainings at a time.")
@click.option("--choices", default=str(CHOICES), help="File of the choices.")
@click.option(
    "-o",
    "--output",
    default=str(PAGE),
    help="Page to update; the default one together with the README.",
)
def main(
    data: str, folder: str, stage: str, names: tuple[str, ...], jobs: int, choices: str, output: str
) -> None:
    """Choose programs without test rows, or compare those chosen."""
    write_sets(Path(data), Path(folder))
    if stage == "select":
        select(Path(folder), names or SETS, jobs, Path(choices))
        return
    chosen = read_choices(Path(choices))
    write_page({name: rows_of(Path(folder), name, chosen[name]) for name in SETS}, Path(output))


if __name__ == "__main__":
    main()
