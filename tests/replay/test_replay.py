"""Replay notices each byte of a product, and separates numbers, code and text."""

import random
import shutil
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from bncc.cli import inspect as inspect_command
from bncc.cli.main import COMMANDS
from bncc.emit import environment
from tests import models as hand
from tests.replay import __main__ as gate
from tests.replay import emissions, groups, lines, products, record
from tests.replay.session import as_json

GOLDEN = Path(__file__).parents[1] / "golden"
TAN = (GOLDEN / "tan_float" / "tan_float.c").read_text("utf-8")


def changed(before: dict[str, str], after: dict[str, str]) -> list[str]:
    """Return the groups in which two products of one file differ."""
    first, second = groups.digests(before), groups.digests(after)
    return [group for group in groups.GROUPS if first.get(group) != second.get(group)]


@pytest.mark.parametrize(
    ("file", "before", "after", "expected"),
    [
        ("m.c", "int a[] = {1, 25U}; /* 3 */\n", "int a[] = {1, 26U}; /* 3 */\n", ["numbers"]),
        ("m.c", "uint8_t a;\nuint8_t b;\n", "uint8_t b;\nuint8_t a;\n", ["code"]),
        ("m.c", "x = 1; /* one */\n", "x = 1; /* two */\n", ["text"]),
        ("m.c", "x = 1; /* one */\n", "/* one */ x = 1;\n", ["code"]),
        ("m.c", 's = "/* 1 */";', 's = "/* 2 */";', ["code"]),
        ("m.c", "x = 0x1.8p+1f;", "x = 0x1.8p-1f;", ["numbers"]),
        ("f.json", as_json({"flash": 3}), as_json({"bytes": 3}), ["code"]),
        ("f.json", as_json({"flash": 3}), as_json({"flash": 4}), ["numbers"]),
        ("f.json", as_json({"how": "a"}), as_json({"how": "b"}), ["text"]),
        ("f.json", as_json({"a": 1, "b": 2}), as_json({"b": 1, "a": 2}), ["code"]),
        ("help.txt", "--bits B  Bits of a cost.", "--bits B  Bits of costs.", ["text"]),
        ("r.svg", '<text x="1">a</text>', '<text x="2">a</text>', ["numbers"]),
        ("r.svg", '<text x="1">a</text>', '<text x="1">b</text>', ["text"]),
    ],
)
def test_what_changed_is_told(file: str, before: str, after: str, expected: list[str]) -> None:
    assert changed({file: before}, {file: after}) == expected


@pytest.mark.parametrize("file", ["m.c", "m.json", "m.html", "m.ir", "m.txt"])
def test_no_byte_changes_unnoticed(file: str) -> None:
    text, rng = TAN[:4000], random.Random(0)
    for _ in range(150):
        place = rng.randrange(len(text))
        other = rng.choice([c for c in " 01a/*\"'\n<>" if c != text[place]])
        assert changed({file: text}, {file: text[:place] + other + text[place + 1 :]})
        assert changed({file: text}, {file: text[:place] + text[place + 1 :]})


def test_a_file_counts_with_its_name() -> None:
    assert changed({"a.c": TAN}, {"b.c": TAN}) == list(groups.GROUPS)


@pytest.fixture
def replayed(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Callable[..., int]:
    """Return a function that runs the gate in this process, with digests of its own."""
    monkeypatch.setattr(record, "FOLDER", tmp_path / "digests")
    monkeypatch.setattr(gate, "replay", lambda names, jobs: {n: products.made(n) for n in names})
    monkeypatch.setattr(gate, "git", lambda *words: "")
    monkeypatch.setattr(gate, "ROOT", tmp_path)
    monkeypatch.setattr(gate, "show", lambda names: print("shown:", *names))
    names = "^(emit/naive_integer|model/ties|help/bncc)$"
    return lambda *words: gate.main(["--only", names, *words])


def _entry(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    def model() -> Any:
        model = hand.naive_integer()
        table = model.tables[0].copy()
        table[1, 2] = 6
        return replace(model, tables=(table, *model.tables[1:]))

    monkeypatch.setitem(emissions.MODELS, "naive_integer", model)


def _line(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    folder = tmp_path / "templates"
    shutil.copytree(environment.template_folder(), folder)
    source = (folder / "emit/model.c.j2").read_text("utf-8")
    text = source.replace('#include "{{ name }}.h"', '#include "{{ name }}.h"\n\n', 1)
    assert text != source
    (folder / "emit/model.c.j2").write_text(text, "utf-8")
    monkeypatch.setattr(environment, "template_folder", lambda: folder)
    environment.environment.cache_clear()


def _field(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    facts = inspect_command.facts_of
    monkeypatch.setattr(
        inspect_command,
        "facts_of",
        lambda *given: {("known" if k == "given" else k): v for k, v in facts(*given).items()},
    )


def _help(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setitem(COMMANDS, "train", ("train", "Learn a classifier from a table of reading."))


@pytest.mark.parametrize(
    ("change", "expected"),
    [
        (_entry, "emit/naive_integer: numbers"),
        (_line, "emit/naive_integer: code"),
        (_field, "model/ties: code"),
        (_help, "help/bncc: text"),
    ],
)
def test_a_change_is_noticed_and_accepted(
    replayed: Callable[..., int], capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path,
    change: Callable[[pytest.MonkeyPatch, Path], None], expected: str,
) -> None:  # fmt: skip
    assert replayed("--accept") == 0
    assert replayed() == 0
    assert "3 products in " in capsys.readouterr().out
    try:
        change(monkeypatch, tmp_path)
        assert replayed() == 1
        said = capsys.readouterr().out
        assert "1 of 3 products differ" in said
        assert expected in said
        assert f"shown: {expected.split(':')[0]}" in said
        assert replayed("--accept") == 0
        assert replayed() == 0
    finally:
        environment.environment.cache_clear()


def test_what_fails_is_named_and_never_accepted(
    replayed: Callable[..., int], capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:  # fmt: skip
    assert replayed("--accept") == 0
    monkeypatch.setitem(emissions.MODELS, "ties", lambda: 1 / 0)
    assert replayed() == 1
    assert "failed: model/ties: ZeroDivisionError" in capsys.readouterr().out
    assert replayed("--accept") == 1


def test_what_a_machine_cannot_make_keeps_its_digests(
    replayed: Callable[..., int], capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:  # fmt: skip
    def missing() -> Any:
        raise products.LeftOut("no compiler")

    assert replayed("--accept") == 0
    before = record.read()
    monkeypatch.setitem(emissions.MODELS, "ties", missing)
    assert replayed() == 0
    assert "left out: model/ties: no compiler" in capsys.readouterr().out
    assert replayed("--accept") == 0
    assert record.read() == before


def test_differing_lines_are_shown(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Compared with the committed tree, which here had another entry in a table."""

    def base(names: list[str], folder: Path) -> str:
        products.write_products(names, folder)
        path = folder / "model/ties/passes.ir"
        path.write_text(path.read_text("utf-8").replace("3 classes", "4 classes"), "utf-8")
        return "0123456"

    monkeypatch.setattr(lines, "base_products", base)
    lines.show(["model/ties", "model/all_zero"])
    said = capsys.readouterr().out.splitlines()
    assert "model/ties, against 0123456" in said
    assert any(line.startswith("-program: 2 features, 4 classes") for line in said)
    assert any(line.startswith("+program: 2 features, 3 classes") for line in said)
    assert "model/all_zero, against 0123456: that commit makes the same here" in said


def test_the_committed_digests_are_of_these_products() -> None:
    committed = record.read()
    assert set(committed) == set(products.all_tasks())
    for group in groups.GROUPS:
        names = [name for name, found in committed.items() if group in found]
        assert len(names) > 400
