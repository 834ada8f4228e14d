"""``bncc report`` on a study file written by ``bncc sweep``."""

import json
from collections.abc import Callable
from pathlib import Path

from click.testing import Result

from tests.cli.conftest import HEADER, sensor_rows, write_csv

Run = Callable[..., Result]

SPACE = """
[structure]
choices = ["naive", "chow-liu"]

[parameters]
value = "ml"

[bits]
low = 2
high = 4
"""


def test_a_study_of_a_sweep_becomes_a_page(run: Run, tmp_path: Path) -> None:
    data = write_csv(tmp_path / "data.csv", HEADER, sensor_rows(90))
    space, study = tmp_path / "space.toml", tmp_path / "s.study"
    space.write_text(SPACE)
    sweep = ("sweep", data, "--study", study, "--space", space, "--trials", 3, "--repeats", 1)
    run(*sweep, "--target", "none", "--quiet")
    facts = json.loads(run("report", study, "--format", "json").stdout)
    assert facts["finished"] == 3
    assert facts["facts"]["s.study"]["features"] == list(HEADER[:-1])
    run("report", study, "-o", tmp_path / "r.html")
    page = (tmp_path / "r.html").read_text("utf-8")
    assert "Which classifier for data?" in page
    assert "3 trials · data.csv · 90 rows, 3 features, 3 classes" in page
    best = min(facts["trials"], key=lambda trial: (trial["error_validation"], trial["bits"]))
    assert f"<small>trial {best['number']}, for " in page
