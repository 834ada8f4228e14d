"""Missing readings on the command line: a state of their own, or marginalized."""

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from bncc.model.file import save_model
from tests.cli.conftest import Run
from tests.models import naive_integer, sum_of_tables

Refused = Callable[..., str]
ROWS = "pressure,light,class\n,5,c0\n-10,,c1\n200,?,c2\n,,c0\n"


@pytest.fixture
def files(tmp_path: Path) -> tuple[Path, Path]:
    model, table = tmp_path / "m.bncc", tmp_path / "t.csv"
    save_model(naive_integer(), model)
    table.write_text(ROWS)
    return model, table


def test_a_missing_reading_is_a_state_unless_it_is_asked_to_be_summed_out(
    run: Run, files: tuple[Path, Path]
) -> None:
    found = {
        rule: json.loads(run("predict", *files, "--json", "--scores", *rule).stdout)["scores"]
        for rule in ((), ("--missing", "state"), ("--missing", "marginal"))
    }
    assert found[()] == found[("--missing", "state")]
    # light alone, then pressure alone twice, then nothing but the prior
    assert found[("--missing", "marginal")] == {
        "c0": [2, 0, 15, 0], "c1": [1, 3, 15, 0], "c2": [0, 15, 0, 0],
    }  # fmt: skip


def test_evaluation_follows_the_same_rule(run: Run, files: tuple[Path, Path]) -> None:
    whole = json.loads(run("evaluate", *files, "--json", "--missing", "marginal").stdout)
    # the first row is c2 by light alone; the second is c0 by pressure alone
    assert (whole["n"], whole["errors"], whole["missing_cells"]) == (4, 2, 5)
    assert whole["log_loss"] > 0


@pytest.mark.parametrize("command", ["predict", "evaluate"])
def test_a_model_that_cannot_is_refused(refused: Refused, tmp_path: Path, command: str) -> None:
    model, table = tmp_path / "sum.bncc", tmp_path / "t.csv"
    save_model(sum_of_tables(), model)
    table.write_text("hall,volt,mode,idle,class\n1,2,run,0,c0\n")
    said = refused(command, model, table, "--missing", "marginal")
    assert "missing features cannot be summed out of a sum of tables" in said
