"""Hostile tables: each gives a one-line error, or C that is correct."""

import subprocess
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from click.testing import Result

from tests.cli.conftest import write_csv

Run = Callable[..., Result]
RunJson = Callable[..., dict[str, Any]]
Refused = Callable[..., str]
QUICK = ("--parameters", "ml")

NAMES = (
    'quote " name', "single ' name", "*/ int x; /*", "// slashes", "back\\slash\\", "two\nlines",
    "tab\tname", "ünïcode", "漢字", "\U0001f600", "int", "while", "class_", "main", "x[0]",
    "%s%n", "??/", "#define X", "a" * 300, "  ", "RAW_T", "x", "raw_t", "0", "-1", "{{ 7*7 }}",
    "{% raw %}", "$(touch pwned)", "`id`", "\u202eright", "a,b", "a;b",
)  # fmt: skip
"""Column names that would break C, comments, templates, shells or terminals if unescaped."""


def hostile_rows(n_columns: int, labels: Sequence[str], n: int = 120) -> list[list[object]]:
    rng = np.random.default_rng(1)
    rows: list[list[object]] = []
    for k in range(n):
        c = k % len(labels)
        cells: list[object] = []
        for i in range(n_columns):
            noise = rng.integers(0, 3)
            kinds = (int(10 * c + noise), float(c + noise / 8 + 0.1), NAMES[(c + noise) % 20])
            cells.append(kinds[i % 3])
        rows.append([*cells, labels[c]])
    return rows


def usable(names: Sequence[str]) -> list[str]:
    """Leave out the blank name, which a table may not have."""
    return [name for name in names if name.strip()]


@pytest.mark.cc
@pytest.mark.parametrize("structure", ["naive", "chow-liu"])
@pytest.mark.parametrize(
    "labels",
    [NAMES[:8], NAMES[8:20], ("int", "while", "return"), tuple(NAMES[20:])],
    ids=["quotes", "unicode", "keywords", "rest"],
)
def test_hostile_names_give_correct_c(
    run: Run,
    run_json: RunJson,
    require_tool: Callable[[str], str],
    tmp_path: Path,
    structure: str,
    labels: Sequence[str],
) -> None:
    gcc = require_tool("gcc")
    names = usable(NAMES)
    labels = usable(labels)
    data = write_csv(tmp_path / "d.csv", [*names, "class"], hostile_rows(len(names), labels))
    model, out = tmp_path / "m.bncc", tmp_path / "c"
    run("train", data, "-o", model, *QUICK, "--structure", structure)
    assert run_json("verify", model, "--data", data, "--random", 100)["agree"] is True
    run("emit-c", model, "-o", out, "--with", "scores", "--with", "trusted")
    flags = ["-std=c99", "-pedantic", "-Wall", "-Wextra", "-Wconversion", "-Werror", "-trigraphs"]
    sources = ["m.c", "m_selftest.c"]
    subprocess.run([gcc, *flags, *sources, "-o", "selftest"], cwd=out, check=True)
    subprocess.run([out / "selftest"], check=True, timeout=60)
    run_json("inspect", model, "--dot", "--ir", "--svg", tmp_path / "s.svg")
    found = run_json("predict", model, data, "--scores")
    assert set(found["prediction"]) <= {label.strip() for label in labels} | set(labels)
    assert not (out / "pwned").exists()
    run("evaluate", model, data)
    run("predict", model, data)


def test_class_labels_reach_the_csv_and_back(run: Run, run_json: RunJson, tmp_path: Path) -> None:
    """Predictions of a model on its own table, read again as classes, have no error."""
    labels = ['a"b', "c,d", "e\nf", "ü"]
    rows = [[k % 4, labels[k % 4]] for k in range(40)]
    data = write_csv(tmp_path / "d.csv", ["x", "class"], rows)
    run("train", data, "-o", tmp_path / "m", *QUICK)
    run("predict", tmp_path / "m", data, "-o", tmp_path / "p.csv")
    import csv

    with (tmp_path / "p.csv").open(encoding="utf-8", newline="") as stream:
        said = [row["prediction"] for row in csv.DictReader(stream)]
    assert said == [row[1] for row in rows]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "empty"),
        ("a,class\n", "no rows"),
        ("a,a,class\n1,2,x\n1,2,y\n", "two columns named 'a'"),
        ("a,,class\n1,2,x\n1,2,y\n", "has no name"),
        ("a,class\n1,x\n2,x\n", "single class"),
        ("a,class\n1,?\n2,?\n", "no row with a class"),
        ("class\nx\ny\n", "no feature column"),
        ("a,class\ninf,x\n2,y\n", "infinite"),
        ("a,class\n-inf,x\n2,y\n", "infinite"),
        ("a,class\n1e300,x\n2,y\n", "float32"),
        ("a,class\n1,x,9\n2,y\n", "found 3"),
        ("a;class\n1;x\n2;y\n", "semicolons"),
        ("a,class\n1,x\n\x00,y\n", "not text"),
        ("a,class\n" + "".join(f"1,c{k}\n" for k in range(256)), "255"),
    ],
)
def test_a_table_that_cannot_be_learned_is_one_line(
    refused: Refused, tmp_path: Path, text: str, message: str
) -> None:
    (tmp_path / "d.csv").write_text(text)
    assert message in refused("train", tmp_path / "d.csv", "-o", tmp_path / "m", *QUICK)
    assert not (tmp_path / "m").exists()


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("d.csv.gz", b"not gzip", "not gzip"),
        ("d.csv.gz", b"\x1f\x8b\x08\x00broken", "truncated or corrupt gzip data"),
        ("d.npz", b"PK\x03\x04", "truncated or corrupt npz file"),
        ("d.arff", b"@relation x\n@data\n1,2\n", "d.arff"),
        ("d.xlsx", b"PK", "no suffix of a supported table format"),
        ("d.parquet", b"PAR1", "d.parquet"),
    ],
)
def test_a_damaged_file_is_one_line(
    refused: Refused, tmp_path: Path, name: str, content: bytes, message: str
) -> None:
    (tmp_path / name).write_bytes(content)
    assert message in refused("train", tmp_path / name, "-o", tmp_path / "m", *QUICK)


@pytest.mark.parametrize("cell", ["nan", "NaN", "?", ""])
def test_missing_cells_are_learned_and_agree(
    run: Run, run_json: RunJson, require_tool: Callable[[str], str], tmp_path: Path, cell: str
) -> None:
    require_tool("gcc")
    rows = [[k % 5 if k % 4 else cell, 0.5 * (k % 3) if k % 7 else cell, k % 2] for k in range(90)]
    data = write_csv(tmp_path / "d.csv", ["a", "b", "class"], rows)
    run("train", data, "-o", tmp_path / "m", *QUICK)
    assert run_json("verify", tmp_path / "m", "--data", data, "--random", 50)["agree"] is True


def test_constant_columns_are_learned_and_agree(
    run: Run, run_json: RunJson, require_tool: Callable[[str], str], tmp_path: Path
) -> None:
    require_tool("gcc")
    rows = [[7, 0.25, "same", "?", k % 3, k % 3] for k in range(60)]
    header = ["whole", "real", "text", "absent", "a", "class"]
    data = write_csv(tmp_path / "d.csv", header, rows)
    for structure in ("naive", "chow-liu"):
        out = tmp_path / "m"
        run("train", data, "-o", out, *QUICK, "--structure", structure, "--force")
        assert run_json("evaluate", out, data)["errors"] == 0
        assert run_json("verify", out, "--data", data, "--random", 50)["agree"] is True


def test_only_constant_columns_still_make_a_classifier(
    run: Run, run_json: RunJson, require_tool: Callable[[str], str], tmp_path: Path
) -> None:
    """Uninformative rows: the most frequent class is the answer."""
    require_tool("gcc")
    rows = [[7, "same", "x" if k % 3 else "y"] for k in range(60)]
    data = write_csv(tmp_path / "d.csv", ["a", "b", "class"], rows)
    run("train", data, "-o", tmp_path / "m", *QUICK)
    assert run_json("evaluate", tmp_path / "m", data)["errors"] == 20
    assert run_json("verify", tmp_path / "m", "--data", data)["agree"] is True


@pytest.mark.slow
@pytest.mark.cc
def test_ten_thousand_columns_agree_bit_for_bit(
    run: Run, run_json: RunJson, require_tool: Callable[[str], str], tmp_path: Path
) -> None:
    require_tool("gcc")
    rng = np.random.default_rng(0)
    n = 10_000
    cells = rng.integers(0, 9, size=(30, n))
    cells[:, 5] = np.arange(30) % 2
    rows = [[*row, k % 2] for k, row in enumerate(cells.tolist())]
    data = write_csv(tmp_path / "d.csv", [*(f"f{i}" for i in range(n)), "class"], rows)
    run("train", data, "-o", tmp_path / "m", *QUICK, "--structure", "naive")
    found = run_json("verify", tmp_path / "m", "--data", data, "--random", 10, "--opt-level", "0")
    assert found["agree"] is True


@pytest.mark.cc
def test_ten_thousand_columns_pass_their_own_test(
    run: Run, require_tool: Callable[[str], str], tmp_path: Path
) -> None:
    gcc = require_tool("gcc")
    header = [*(f"f{i}" for i in range(10_000)), "class"]
    rows = [[*[(k + i) % 2 for i in range(10_000)], k % 2] for k in range(6)]
    data = write_csv(tmp_path / "d.csv", header, rows)
    model = tmp_path / "m.bncc"
    run("train", data, "-o", model, *QUICK, "--structure", "naive", "--discretize", "none")
    run("emit-c", model, "-o", tmp_path)
    subprocess.run([gcc, "m.c", "m_selftest.c", "-o", "selftest"], cwd=tmp_path, check=True)
    subprocess.run([tmp_path / "selftest"], check=True, timeout=60)


@pytest.mark.slow
def test_a_tree_over_ten_thousand_columns_is_refused_or_learned(
    tmp_path: Path,
) -> None:
    """All pairs of 10,000 columns exceed some machines' memory: a one-line error, or a model."""
    from tests.cli.conftest import invoke

    rows = [[*([k % 2] * 10_000), k % 2] for k in range(6)]
    data = write_csv(tmp_path / "d.csv", [*(f"f{i}" for i in range(10_000)), "class"], rows)
    result = invoke("train", data, "-o", tmp_path / "m", *QUICK)
    if result.exit_code:
        assert result.exit_code == 2
        assert len(result.stderr.splitlines()) == 1
    else:
        assert (tmp_path / "m").is_file()
