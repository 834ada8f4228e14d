"""Standard streams that the caller has closed, as ``bncc ... >&-`` does."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

LINES = {
    "--help": ["--help"],
    "--version": ["--version"],
    "train --help": ["train", "--help"],
    "train": ["train", "d.csv", "-o", "new.bncc", "--parameters", "ml"],
    "evaluate": ["evaluate", "m.bncc", "d.csv"],
    "predict": ["predict", "m.bncc", "d.csv"],
    "predict into a file": ["predict", "m.bncc", "d.csv", "-o", "p.csv"],
    "explain": ["explain", "m.bncc", "d.csv"],
    "inspect": ["inspect", "m.bncc"],
    "inspect as JSON": ["inspect", "m.bncc", "--json"],
    "inspect --ir": ["inspect", "m.bncc", "--ir"],
    "export-bif": ["export-bif", "m.bncc", "-o", "n.bif"],
    "import-bif": ["import-bif", "n.bif", "--class", "class", "-o", "n.bncc"],
    "emit-c": ["emit-c", "m.bncc", "-o", "c"],
    "targets": ["targets"],
    "report": ["report", "no.db", "--format", "md"],
    "unknown": ["nosuch"],
    "silent": ["export-bif", "m.bncc", "-o", "n.bif", "--force", "--quiet"],
}
"""Command lines by name, in this order."""

EACH_IN_A_CHILD = """
import json, os, sys
from bncc.cli.main import main

for name, arguments in json.loads(sys.argv[1]).items():
    said = f"{name.replace(' ', '_')}.stderr"
    if not (child := os.fork()):
        if sys.argv[2] == "stdout":
            os.dup2(os.open(said, os.O_CREAT | os.O_WRONLY), 2)
        sys.argv = ["bncc", *arguments]
        main()
    code = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    with open("codes", "a", encoding="utf-8") as file:
        print(json.dumps([name, code]), file=file)
"""


def codes(folder: Path, closed: str, lines: dict[str, list[str]]) -> dict[str, int]:
    """Return the exit code of each command line, started without a standard stream."""
    redirection = {"stdout": ">&-", "stderr": "2>&-", "stdin": "<&-"}[closed]
    subprocess.run(
        ["sh", "-c", f'exec "$0" "$@" {redirection}', sys.executable, "-c", EACH_IN_A_CHILD,
         json.dumps(lines), closed],
        cwd=folder, check=True, timeout=300, capture_output=closed == "stdin",
    )  # fmt: skip
    found = [json.loads(line) for line in (folder / "codes").read_text("utf-8").splitlines()]
    return dict(found)


@pytest.fixture
def folder(readings: Path, model: Path, tmp_path: Path) -> Path:
    """Return a folder with rows and a model."""
    readings.rename(tmp_path / "d.csv")
    model.rename(tmp_path / "m.bncc")
    return tmp_path


def test_output_that_nobody_takes_is_one_line(folder: Path) -> None:
    found = codes(folder, "stdout", LINES)
    assert found.keys() == LINES.keys()
    for name, code in found.items():
        said = (folder / f"{name.replace(' ', '_')}.stderr").read_text("utf-8").splitlines()
        said = [line for line in said if line.startswith("bncc: error: ")]
        if name == "silent":
            assert (code, said) == (0, []), name
        elif name in ("report", "unknown"):
            assert (code, len(said)) == (2, 1), name
        else:
            assert (code, said) == (
                2,
                ["bncc: error: standard output is closed; redirect it to a file, or to /dev/null"],
            ), name
    assert (folder / "p.csv").read_text("utf-8").count("\n") == 241


@pytest.mark.parametrize("closed", ["stderr", "stdin"])
def test_messages_that_nobody_takes_are_no_error(folder: Path, closed: str) -> None:
    some = ("train", "inspect", "targets", "emit-c")
    assert codes(folder, closed, {name: LINES[name] for name in some}) == dict.fromkeys(some, 0)
