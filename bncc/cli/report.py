"""``bncc report``: footprints and error rates of the trials of studies, as one page."""

import json
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import click

from bncc.cli.console import Console
from bncc.cli.options import budget, force_option, speaks
from bncc.cli.output import check_free, write_file
from bncc.errors import DataError, OptionError
from bncc.report.table_files import FORMS, check_form, table_bytes
from bncc.wording import counted

if TYPE_CHECKING:
    from bncc.report.sheets import Sheet
    from bncc.search.trial_result import Study

FORMATS = ("html", "md", "csv", "parquet", "json", "svg")
_ENDINGS = {".htm": "html", ".markdown": "md", **{f".{name}": name for name in FORMATS}}


def _budgets(ctx: click.Context, param: click.Parameter, values: Sequence[str]) -> tuple[int, ...]:
    found = tuple(budget(ctx, param, value) or 0 for value in values)
    if 0 in found:
        raise click.BadParameter("0 bytes cannot hold a classifier; choose at least 1")
    return found


@click.command("report")
@click.argument("studies", metavar="STUDY...", nargs=-1, required=True)
@click.option("-o", "--output", metavar="FILE", help="Output file; its suffix selects the format.")
@click.option(
    "--format",
    "form",
    type=click.Choice(FORMATS),
    help="Output format [default: by the suffix of FILE].",
)
@click.option("--target", metavar="T", help="Target shown first [default: the study's].")
@click.option(
    "--budget",
    "budgets",
    multiple=True,
    callback=_budgets,
    metavar="N[k]",
    help="Flash budget in bytes to recommend a model for, repeatable [default: powers of two].",
)
@click.option("--title", metavar="TEXT", help="Title of the page.")
@force_option
@speaks
def command(
    console: Console,
    studies: tuple[str, ...],
    output: str | None,
    form: str | None,
    target: str | None,
    budgets: tuple[int, ...],
    title: str | None,
    force: bool,
) -> None:
    """
    Report accuracy and footprint of the trials of one or more STUDY files.

    STUDY is a file or a database URL, as for `bncc sweep --study`.

    The page recommends a model for each flash budget, plots error against flash, time and bits
    with their Pareto fronts, lists all trials with the command that reproduces each, and describes
    the methods. It needs no network. Markdown, CSV, Parquet, JSON and SVG contain the same results;
    without -o they go to stdout, but HTML and Parquet need a file.
    """
    form = form or _form_of(output)
    if form is None and not console.json:
        raise OptionError(
            "no output file is named; add one such as -o report.html, or choose --format md"
        )
    if form in ("html", "parquet") and output is None:
        raise OptionError(f"--format {form} needs an output file; add one such as -o report.{form}")
    if form == "parquet":
        check_form(form)
    if output is not None:
        check_free(output, force=force, sources=studies)
    from bncc.report.formats import report_json
    from bncc.report.sheets import sheets_of

    found = _read(studies, console)
    _check_target(target, found)
    sheets = sheets_of(found, target, budgets)
    content = b"" if form is None else _written(form, sheets, title or _title(found))
    if output is not None:
        write_file(output, content, force=force)
        failed = sum(len(study.failed) for study in found)
        also = f", {failed:,} failed" if failed else ""
        n_trials = sum(len(study.points) for study in found)
        console.note(f"wrote {output}: {counted(n_trials, 'trial')}{also}")
    payload = report_json(sheets) if console.json else {}
    if output is not None:
        payload |= {"report": output, "format": form}
    if output is None:
        console.document(payload, content.rstrip(b"\n") + b"\n")
    else:
        console.result(payload, "")


def _form_of(output: str | None) -> str | None:
    if output is None:
        return None
    form = _ENDINGS.get(Path(output).suffix.lower())
    if form is None:
        raise OptionError(
            f"the suffix of '{output}' selects no format; use .{', .'.join(FORMATS)}, or add "
            "--format"
        )
    return form


def _read(places: Sequence[str], console: Console) -> "list[Study]":
    """Read the studies, leave out empty ones, and give each a unique name."""
    from bncc.search.study import read_study

    found: list[Study] = []
    taken: set[str] = set()
    named: dict[object, str] = {}
    for place in places:
        named.setdefault(_where(place), place)
    for place in named.values():
        for study in read_study(place):
            if not study.points:
                console.note(f"{study.name} has no finished trial and is skipped")
                continue
            names = (study.name if k == 1 else f"{study.name} ({k})" for k in range(1, 10**6))
            name = next(name for name in names if name not in taken)
            taken.add(name)
            found.append(replace(study, name=name))
    if not found:
        some = places[0] if len(places) == 1 else "none of the studies"
        has = f"'{some}' has no" if len(places) == 1 else f"{some} has a"
        raise DataError(f"{has} finished trial; run `bncc sweep` first")
    return found


def _where(place: str) -> object:
    """Return a common value for all spellings of a file; a URL has one spelling."""
    from bncc.search.storage import place_of

    path = place_of(place).path
    return place if path is None else path.resolve()


def _check_target(target: str | None, studies: "Sequence[Study]") -> None:
    from bncc.report.panels import targets_of

    known = targets_of([point for study in studies for point in study.points])
    if target is not None and target not in known:
        told = (
            f"choose one of {', '.join(known)}"
            if known
            else "none was measured; leave out --target"
        )
        raise OptionError(f"no trial was measured on '{target}'; {told}")


def _title(studies: "Sequence[Study]") -> str:
    files = {Path(str(study.facts.get("data") or study.name)).name for study in studies}
    names = {file.split(".")[0] for file in files}
    return f"Which classifier for {names.pop()}?" if len(names) == 1 else "Which classifier?"


def _written(form: str, sheets: "Sequence[Sheet]", title: str) -> bytes:
    from bncc.report import formats

    if form in FORMS.values():
        return table_bytes(formats.trial_records([sheet.study for sheet in sheets]), form)
    if form == "html":
        from bncc.report.page import page_html

        return page_html(sheets, title).encode("utf-8", "backslashreplace")
    writers: dict[str, Callable[[], str]] = {
        "md": lambda: formats.report_md(sheets, title),
        "svg": lambda: formats.report_svg(sheets, title),
        "json": lambda: json.dumps(formats.report_json(sheets), allow_nan=False, indent=1) + "\n",
    }
    return writers[form]().encode("utf-8", "backslashreplace")
