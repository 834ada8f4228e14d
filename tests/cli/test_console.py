"""Messages on stderr, results on stdout, no terminal escapes."""

import re
import sys

import pytest

from bncc.cli import console as module
from bncc.cli.console import Console, aligned, printable, table_text


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("plain ä 漢", "plain ä 漢"),
        ("two\nlines\ttab", r"two\nlines\ttab"),
        ("\x1b[31mred", r"\x1b[31mred"),
        ("lone \udc80", r"lone \udc80"),
        ("\u202egnp", r"\u202egnp"),
    ],
)
def test_names_cannot_steer_the_terminal(text: str, shown: str) -> None:
    assert printable(text) == shown


def test_cells_are_aligned() -> None:
    assert aligned([["a", "1"], ["bcd", "22", "x"]], right=(1,)) == "a     1\nbcd  22  x"
    assert aligned([]) == ""


def test_a_table_is_plain_columns_off_a_terminal(capsys: pytest.CaptureFixture[str]) -> None:
    rows = [["", "size"], ["flash", "1,234"], ["a\tb", "9"]]
    assert table_text("m[0]", rows, right=(1,)) == (
        "m[0]\n        size\nflash  1,234\na\\tb       9"
    )


def test_a_table_on_a_terminal_is_ruled(monkeypatch: pytest.MonkeyPatch) -> None:
    """Text that looks like markup is unchanged, and NO_COLOR is honored."""
    monkeypatch.setattr(sys.stdout, "isatty", lambda: True, raising=False)
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.delenv("NO_COLOR", raising=False)
    rows = [["", "size"], ["[bold]", "1,234"], ["a\tb", "9"]]
    shown = table_text("m[0]", rows, right=(1,))
    assert "\x1b[1m" in shown
    plain = re.sub(r"\x1b\[[\d;]*m", "", shown)
    lines = [line.rstrip() for line in plain.splitlines()]
    assert lines[0] == "m[0]"
    assert set(lines[2]) == {"─"}
    assert lines[3].split() == ["[bold]", "1,234"]
    assert lines[4].split() == ["a\\tb", "9"]
    monkeypatch.setenv("NO_COLOR", "1")
    assert "\x1b[3" not in table_text("m[0]", rows)


def test_notes_wait_and_details_do_not(capsys: pytest.CaptureFixture[str]) -> None:
    console = Console()
    console.note("later")
    console.detail("never")
    assert capsys.readouterr().err == ""
    console.flush_notes()
    assert capsys.readouterr().err == "bncc: later\n"
    loud = Console(verbose=True)
    loud.note("now")
    loud.detail("too")
    assert capsys.readouterr().err == "bncc: now\nbncc: too\n"


@pytest.mark.parametrize("is_verbose", [True, False])
def test_the_same_words_are_said_once(capsys: pytest.CaptureFixture[str], is_verbose: bool) -> None:
    """Such as what is ignored in recordings for training and for testing."""
    console = Console(verbose=is_verbose)
    for text in ("a is ignored", "a is ignored", "b is ignored"):
        console.note(text)
        console.warning(text)
    console.flush_notes()
    assert capsys.readouterr().err == "bncc: a is ignored\nbncc: b is ignored\n"


def test_quiet_says_nothing_but_what_is_essential(capsys: pytest.CaptureFixture[str]) -> None:
    console = Console(quiet=True)
    console.note("no")
    console.flush_notes()
    console.result({}, "report")
    console.result({}, "42", essential=True)
    assert capsys.readouterr() == ("42\n", "")


@pytest.mark.parametrize(
    ("console", "is_told"),
    [
        (Console(), True),
        (Console(json=True), True),
        (Console(verbose=True), True),
        (Console(quiet=True), False),
    ],
)
def test_progress_is_lines_without_a_terminal(
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
    console: Console,
    is_told: bool,
) -> None:
    """Every half minute, on stderr, without control characters."""
    line = "bncc: training: 50 %, loss \\x1b1.5\n" if is_told else ""
    for every, said in ((0.0, line), (30.0, "")):
        monkeypatch.setattr(module, "EVERY", every)
        with console.progress("training") as advance:
            advance(0.5, "loss \x1b1.5")
        assert capsys.readouterr() == ("", said)


def test_a_terminal_sees_progress(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(sys.stderr, "isatty", lambda: True, raising=False)
    monkeypatch.setenv("NO_COLOR", "1")
    monkeypatch.setenv("TERM", "xterm")
    with Console().progress("training") as advance:
        advance(0.5, "loss 1.25")
        advance(1.0, "loss 0.50")
    out, err = capsys.readouterr()
    assert out == ""
    assert "training" in err
    assert "\x1b[3" not in err, "NO_COLOR is honored"


@pytest.mark.parametrize("console", [Console(json=True), Console(quiet=True)])
def test_json_and_quiet_hide_progress(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], console: Console
) -> None:
    monkeypatch.setattr(sys.stderr, "isatty", lambda: True, raising=False)
    with console.progress("training") as advance:
        advance(1.0, "done")
    assert capsys.readouterr() == ("", "")


@pytest.mark.parametrize(
    ("is_terminal", "shown"), [(True, "a,\\x1b[2J\n\\xa0\n"), (False, "a,\x1b[2J\r\n\xa0\n")]
)
def test_documents_are_changed_for_terminals_alone(
    is_terminal: bool,
    shown: str,
    capsysbinary: pytest.CaptureFixture[bytes],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(sys.stdout, "isatty", lambda: is_terminal, raising=False)
    Console().document({}, b"a,\x1b[2J\r\n\xc2\xa0\n")
    assert capsysbinary.readouterr().out == shown.encode("utf-8")
