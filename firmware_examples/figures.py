"""
Run all examples and write their figures into the table of docs/firmware.md.

    make firmware-page

Counts are the same in every run with the same compilers.
"""

import json
import os
import re
import shlex
import subprocess
import sys
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

HERE = Path(__file__).resolve().parent
PAGE = HERE.parent / "docs" / "firmware.md"
BEGIN, END = "<!-- figures of make firmware-page -->\n", "<!-- end of the figures -->\n"

BOARDS = {
    "uno": "Arduino Uno",
    "microbit": "micro:bit",
    "netduinoplus2": "STM32F4",
    "rv32_virt": "RV32",
}
HEAD = ("example", "board", "test error", "flash", "RAM", "time", "vectors", "rows")
TEST_ROWS = {
    "data/test.csv.gz": (),
    "data/failing.csv.gz": ("--missing", "marginal"),
}
"""Places of an example's test rows, and options of `bncc evaluate` for them."""
RECORDED = ("--recording", "recording")
"""Options of `bncc evaluate` for test recordings."""
UNO_CYCLES_PER_MS = 16_000

SAID = re.compile(
    r"flash: (?P<flash>\d+) bytes, RAM: (?P<ram>\d+) bytes and the stack\n.*?"
    r"(^samples: \d+, windows: \d+, \w+ per sample: (?P<mean>\d+) on average, "
    r"at most (?P<worst>\d+)\n)?"
    r"^vectors: (?P<vectors>\d+), wrong: 0\n"
    r"rows: (?P<rows>\d+), unlike Python: 0, right: (?P<right>\d+), .*?\n"
    r"(?P<unit>\w+) per decision: (?P<least>\d+) \.\. (?P<most>\d+)\n"
    r"stack: (?P<stack>\d+) bytes\nPASS\n",
    re.DOTALL | re.MULTILINE,
)


@dataclass(frozen=True)
class Figures:
    """
    Figures of the run of an example.

    Parameters
    ----------
    name : str
        The example's folder.
    board : str
        A folder of boards/.
    error : float or None
        Share of all test rows that are decided wrongly; None where no rows were held out.
    flash, ram, stack : int
        Bytes of the whole program, of its variables, of the deepest stack.
    unit : str
        What is counted.
    least, most : int
        Counts of a decision from readings.
    vectors, rows, right : int
        Vectors and rows decided on the board, and rows whose label that is.
    mean, worst : int or None
        Counts of a sample where the model takes samples; None otherwise.
    """

    name: str
    board: str
    error: float | None
    flash: int
    ram: int
    stack: int
    unit: str
    least: int
    most: int
    vectors: int
    rows: int
    right: int
    mean: int | None = None
    worst: int | None = None


def names() -> list[str]:
    """Return the folders of all examples."""
    return sorted(path.parent.name for path in HERE.glob("*_*/Makefile"))


def board_of(folder: Path) -> str:
    """Return the board that an example's Makefile names."""
    makefile = (folder / "Makefile").read_text("utf-8")
    (board,) = re.findall(r"^BOARD := (\w+)$", makefile, re.MULTILINE)
    return board


def takes_samples(folder: Path) -> bool:
    """Return whether an example's Makefile puts recordings into the image."""
    return "\nN_RECORDINGS := " in (folder / "Makefile").read_text("utf-8")


def measure(folder: Path, bncc: str) -> Figures:
    """
    Build and simulate an example.

    Parameters
    ----------
    folder : Path
        The example.
    bncc : str
        The command that starts bncc.

    Returns
    -------
    Figures
        What it said.

    Raises
    ------
    subprocess.CalledProcessError
        If the run failed.
    """
    said = _output(["make", "run", f"BNCC={bncc}"], folder)
    found = SAID.search(said)
    assert found is not None, said
    of_run = found.groupdict()
    unit = of_run.pop("unit")
    counts = {key: int(value) for key, value in of_run.items() if value is not None}
    return Figures(folder.name, board_of(folder), _error(folder, bncc), unit=unit, **counts)


def _error(folder: Path, bncc: str) -> float | None:
    rows = next((path for path in TEST_ROWS if (folder / path).exists()), None)
    if rows is None:
        return None
    (model,) = folder.glob("*.bncc")
    options = (*TEST_ROWS[rows], *(RECORDED if takes_samples(folder) else ()))
    command = [*shlex.split(bncc), "evaluate", str(model), rows, *options, "--json"]
    return float(json.loads(_output(command, folder))["error"])


def _output(command: list[str], folder: Path) -> str:
    done = subprocess.run(command, cwd=folder, stdout=subprocess.PIPE, text=True, check=True)
    return done.stdout


def line(figures: Figures) -> str:
    """Return an example's row of the table."""
    error = "" if figures.error is None else f"{100 * figures.error:.2f} %"
    return _row(
        [
            f"`{figures.name}`",
            BOARDS[figures.board],
            error,
            f"{figures.flash:,} B",
            f"{figures.ram} + {figures.stack} B",
            _time(figures),
            f"{figures.vectors}",
            f"{figures.right} of {figures.rows}",
        ]
    )


def _time(figures: Figures) -> str:
    """Return the counts of a decision, or of a sample."""
    most = figures.most if figures.worst is None else figures.worst
    time = f" ({most / UNO_CYCLES_PER_MS:.2f} ms)" if figures.unit == "cycles" else ""
    if figures.mean is None:
        return f"{figures.least:,} .. {most:,} {figures.unit}{time}"
    return f"{figures.mean:,} per sample, at most {most:,} {figures.unit}{time}"


def table(all_figures: Iterable[Figures]) -> str:
    """Return the table in Markdown."""
    rule = _row(["---", "---", *["--:"] * (len(HEAD) - 2)])
    return "\n".join([_row(HEAD), rule, *map(line, all_figures)]) + "\n"


def renewed(page: str, new: str) -> str:
    """Return a page with a new table between its marks."""
    before, _, rest = page.partition(BEGIN)
    _, _, after = rest.partition(END)
    return f"{before}{BEGIN}{new}{END}{after}"


def _row(cells: Iterable[str]) -> str:
    return f"| {' | '.join(cells)} |"


def main() -> None:
    """Measure and write."""
    bncc = os.environ.get("BNCC", "bncc")
    found = []
    for name in names():
        found.append(measure(HERE / name, bncc))
        print(line(found[-1]), file=sys.stderr, flush=True)
    PAGE.write_text(renewed(PAGE.read_text("utf-8"), table(found)), "utf-8", newline="\n")


if __name__ == "__main__":
    main()
