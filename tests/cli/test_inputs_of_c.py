"""``--inputs``: C of all features, or of those that decisions depend on."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from click.testing import Result

from bncc.fixed_point import QFormat
from bncc.model.file import load_model, save_model
from bncc.structure.graph import forest
from tests.cli.conftest import write_csv
from tests.models import feature, model_of, sum_of_tables
from tests.ranged import ranged

Run = Callable[..., Result]
RunJson = Callable[..., dict[str, Any]]
Refused = Callable[..., str]
HEADER = ("idle", "mode", "volt", "hall")
ROWS = [[k, ("idle", "run", "stop")[k % 3], k, 40 * k - 300] for k in range(20)]


@pytest.fixture
def files(tmp_path: Path) -> tuple[Path, Path]:
    """Return boosted tables that read three of four features, and rows in another order."""
    model = tmp_path / "m.bncc"
    save_model(ranged(sum_of_tables()), model)
    return model, write_csv(tmp_path / "t.csv", HEADER, ROWS)


def header(folder: Path) -> str:
    return (folder / "m.h").read_text()


def test_the_c_has_only_the_features_that_are_used(
    run: Run, files: tuple[Path, Path], tmp_path: Path
) -> None:
    model, table = files
    for which in ("all", "used"):
        output = tmp_path / which
        run("emit-c", model, "-o", output, "--inputs", which, "--data", table, "--with", "checked")
    every, used = header(tmp_path / "all"), header(tmp_path / "used")
    assert "#define M_N_FEATURES 4U" in every
    assert "int16_t idle;" in every
    assert "#define M_N_FEATURES 3U" in used
    assert "int16_t idle;" not in used
    assert "--inputs used" in used
    assert "--inputs" not in every
    digests = [text.partition("#define M_DIGEST ")[2][:10] for text in (every, used)]
    assert digests[0] != digests[1]


@pytest.mark.cc
@pytest.mark.parametrize("more", [(), ("--with", "checked"), ("--constant-time",)])
def test_the_c_agrees_on_the_columns_that_are_used(
    run_json: RunJson, files: tuple[Path, Path], more: tuple[str, ...]
) -> None:
    model, table = files
    for which in ("all", "used"):
        assert run_json("verify", model, "--data", table, "--inputs", which, *more)["agree"]


@pytest.mark.firmware
def test_fewer_inputs_are_measured(run_json: RunJson, files: tuple[Path, Path]) -> None:
    model, table = files
    options = ("--target", "cortex-m0", "--kernel", "plain")  # the same layout of both
    found = [
        run_json("bench", model, "--data", table, "--inputs", which, *options)
        for which in ("all", "used")
    ]
    flash = [each["targets"]["cortex-m0"]["flash"] for each in found]
    assert flash[1] <= flash[0]


def test_missing_features_need_their_neighbors(refused: Refused, tmp_path: Path) -> None:
    tables = [[[1, 1], [2, 2]], [[0, 3], [3, 0]]]
    model = model_of(
        [feature("a", 2), feature("b", 2)], forest([None, None]), QFormat(2, 0), [0, 0], tables
    )
    save_model(model, tmp_path / "m.bncc")
    for option in ("--with", "--entry"):
        options = (tmp_path / "m.bncc", "--inputs", "used", option, "missing")
        remedy = "leave out --inputs used, or 'missing' of --with and --entry"
        assert remedy in refused("emit-c", *options, "-o", tmp_path / "c")
        assert remedy in refused("verify", *options)
    assert len(load_model(tmp_path / "m.bncc").features) == 2
