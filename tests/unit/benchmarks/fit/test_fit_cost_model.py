"""The programs that fit weights write the modules that the package reads."""

import ast
import sys
from pathlib import Path

import pytest

from benchmarks.fit import fit_cost_model, fit_cut_costs, weight_files
from benchmarks.fit.cost_samples import Sample
from bncc.lower.cost_model import DISCRETIZERS, FAMILY, OF_FOUND, OF_READINGS, weights_of
from bncc.lower.kernels.families import FAMILIES, FOR_CUTS, FOR_TREES

FILES = weight_files.files()


def of(families):
    """Return the weights that the package reads for some families."""
    return {key: each for family in families for key, each in weights_of(family).items()}


def read(path):
    """Return what a file of weights holds, its numbers as they are written."""
    return ast.dump(ast.parse(path.read_text("utf-8")))


@pytest.fixture
def files(tmp_path, monkeypatch):
    """Let weights be written to a copy of the files of the package."""
    copies = {}
    for path, families in FILES.items():
        copy = tmp_path / path.parent.name / path.name
        copy.parent.mkdir(exist_ok=True)
        copy.write_text(path.read_text("utf-8"), "utf-8")
        copies[copy] = families
    monkeypatch.setattr(weight_files, "files", lambda: copies)
    formatted = []
    monkeypatch.setattr(
        weight_files.subprocess, "run", lambda command, check: formatted.append(command)
    )
    yield copies
    assert all(command[0] == sys.executable and command[-1] in copies for command in formatted)


def test_each_family_has_its_weights_in_its_folder():
    of_readings = (name + OF_READINGS for name in FOR_CUTS | FOR_TREES)
    of_found = (name + OF_FOUND for name in FAMILIES.keys() - FOR_TREES)
    textbook = (FAMILY, FAMILY + OF_READINGS)
    names = sorted((*FAMILIES, *of_readings, *of_found, *textbook, DISCRETIZERS))
    assert sorted(name for names in FILES.values() for name in names) == names
    for path, families in FILES.items():
        assert path.is_file()
        assert (path.parent.name == "lower") == (families == textbook)
        assert {key[0] for key in of(families)} == set(families)


@pytest.mark.parametrize("path", FILES, ids=lambda path: f"{path.parent.name}/{path.name}")
def test_the_weights_of_the_package_are_as_the_programs_write_them(path, tmp_path):
    families = FILES[path]
    written = tmp_path / "weights.py"
    written.write_text(weight_files.text_of(families, of(families)), "utf-8")
    assert read(written) == read(path)


def test_what_was_not_fitted_stays(files):
    before = {path: read(path) for path in files}
    weight_files.write({("bytes", "avr", "-Os"): ((1234.5, 0.0), (1.0, 0.25))})
    changed = [path for path in files if read(path) != before[path]]
    assert [path.parent.name for path in changed] == ["lanes"]
    names = {}
    exec(changed[0].read_text("utf-8"), names)
    expected = {**of(("bytes", "lanes")), ("bytes", "avr", "-Os"): ((1.23e03, 0), (1, 0.25))}
    assert names["WEIGHTS"] == expected
    assert list(names["WEIGHTS"]) == sorted(expected)


@pytest.mark.parametrize("program", [fit_cost_model, fit_cut_costs], ids=lambda m: m.__name__)
def test_a_program_writes_what_it_fits(files, monkeypatch, tmp_path, program):
    """Samples whose costs are known sums of their terms: those sums are found."""
    family = "cuts" if program is fit_cut_costs else "plain"
    samples = [
        Sample(
            f"{n}", "", f"model {n % 3}", family, "rv32", "-O2", 0, 0, (1.0, n), (1.0, n * n),
            100.0 + 3 * n, None, 50.0 + 2 * n * n,
        )
        for n in range(1, 9)
    ]  # fmt: skip
    if program is fit_cut_costs:
        monkeypatch.setattr(program, "samples", lambda target, level, before: iter(samples))
        monkeypatch.setattr(program, "product", lambda *each: [("rv32", "-O2")])
        words = ["--log", str(tmp_path / "log")]
    else:
        monkeypatch.setattr(program, "known_samples", lambda log: {s.key: s for s in samples})
        words = ["--data", str(tmp_path), "--fit-only"]
    assert program.main(words) == 0
    (path,) = (path for path, families in files.items() if family in families)
    names = {}
    exec(path.read_text("utf-8"), names)
    assert names["WEIGHTS"][family, "rv32", "-O2"] == ((100, 3), (50, 2))
    assert f"fitted by benchmarks/fit/{Path(program.__file__).name};" in path.read_text("utf-8")
