"""The program as a whole: its commands, its exit codes and its one line on errors."""

import errno
import signal
import subprocess
import sys
import warnings
from collections.abc import Callable
from pathlib import Path

import click
import pytest
from click.testing import CliRunner, Result

from bncc.cli import evaluate
from bncc.cli import main as main_module
from bncc.cli.main import COMMANDS, main

Refused = Callable[..., str]


def test_help_lists_every_command_of_this_version() -> None:
    result = CliRunner().invoke(main, ["--help"])
    assert result.exit_code == 0
    commands = result.stdout.split("Commands:")[1].split("Exit codes")[0]
    listed = [line.split()[0] for line in commands.splitlines() if line.strip()]
    assert listed == [
        "features", "train", "evaluate", "predict", "drift", "explain", "inspect", "import-bif",
        "export-bif", "emit-c", "pack", "verify", "prove", "bench", "targets", "structures",
        "demo", "sweep", "baseline", "report", "reproduce",
    ]  # fmt: skip


@pytest.mark.parametrize("name", COMMANDS)
def test_every_command_takes_the_three_common_options(name: str) -> None:
    result = CliRunner().invoke(main, [name, "--help"])
    assert result.exit_code == 0
    for option in ("--json", "--quiet", "-v, --verbose"):
        assert option in result.stdout


def test_the_version_is_that_of_the_package() -> None:
    from bncc import __version__

    assert CliRunner().invoke(main, ["--version"]).stdout == f"bncc, version {__version__}\n"


@pytest.mark.parametrize(
    ("args", "message"),
    [
        ([], "Missing command"),
        (["frobnicate"], "No such command 'frobnicate'"),
        (["train"], "Missing argument 'DATA'"),
        (["evaluate", "m.bncc"], "Missing argument 'DATA'"),
        (["predict", "m.bncc", "d.csv", "--fold", "x"], "'x' is not a whole number; see"),
        (["drift", "c.csv", "--model", "m.bncc", "--alpha", "x"], "'x' is not a number; see"),
        (["pack", "m.bncc", "--sequence", "x"], "'x' is not a whole number; see"),
        (["targets", "--nonsense"], "No such option"),
        (["train", "d.csv", "-o", "m.bncc", "--structure", "oak"], "'oak' is not one of"),
    ],
)
def test_bad_usage_is_one_line_and_exit_code_2(
    refused: Refused, args: list[str], message: str
) -> None:
    line = refused(*args)
    assert message in line
    assert line.endswith("--help'")


def fail_with(monkeypatch: pytest.MonkeyPatch, error: BaseException, *options: str) -> Result:
    def broken(path: str) -> None:
        raise error

    monkeypatch.setattr(evaluate, "load_model", broken)
    return CliRunner().invoke(main, ["evaluate", "m.bncc", "d.csv", *options])


@pytest.mark.parametrize(
    ("error", "code", "message"),
    [
        (KeyboardInterrupt(), 130, "interrupted"),
        (click.Abort(), 130, "interrupted"),
        (MemoryError(), 2, "not enough memory"),
        (OSError(errno.ENOSPC, "No space left on device", "m.bncc"), 2, "the disk is full"),
        (PermissionError(errno.EACCES, "Permission denied", "d.csv"), 2, "permission denied"),
        (OSError(errno.EIO, "Input/output error"), 2, "Input/output error"),
        (OSError("odd"), 2, "odd"),
        (RecursionError("too deep"), 70, "internal error (RecursionError: too deep)"),
        (ValueError("first\nsecond"), 70, r"first\nsecond"),
        (click.ClickException("plain"), 2, "plain"),
    ],
)
def test_any_failure_is_one_line(
    monkeypatch: pytest.MonkeyPatch, error: BaseException, code: int, message: str
) -> None:
    result = fail_with(monkeypatch, error)
    assert result.exit_code == code
    assert result.stdout == ""
    (line,) = result.stderr.splitlines()
    assert line.startswith("bncc: error: ")
    assert message in line


def test_a_reader_that_went_away_is_silent(monkeypatch: pytest.MonkeyPatch) -> None:
    result = fail_with(monkeypatch, BrokenPipeError(errno.EPIPE, "Broken pipe"))
    assert result.exit_code == 141
    assert result.output == ""


@pytest.mark.parametrize(("value", "code"), [(3, 3), (None, 0)])
def test_a_system_exit_keeps_its_code(
    monkeypatch: pytest.MonkeyPatch, value: int | None, code: int
) -> None:
    assert fail_with(monkeypatch, SystemExit(value)).exit_code == code


def test_an_internal_error_shows_its_traceback_under_v(monkeypatch: pytest.MonkeyPatch) -> None:
    result = fail_with(monkeypatch, ZeroDivisionError("oops"), "-v")
    assert result.exit_code == 70
    assert "Traceback" in result.stderr
    assert result.stderr.splitlines()[-1].startswith("bncc: error: internal error (Zero")


def test_notes_of_a_command_that_fails_stay_unsaid(
    refused: Refused, model: Path, tmp_path: Path
) -> None:
    """A failing command prints one line: earlier notes do not matter any more."""
    data = tmp_path / "d.csv"
    data.write_text("light,slope,class\n1,2,kind 1\n1,2,?\n")
    assert "'color'" in refused("evaluate", model, data)


def shell(command: str, cwd: Path) -> subprocess.CompletedProcess[str]:
    script = f'bncc() {{ "{sys.executable}" -m bncc "$@"; }}\n{command}'
    return subprocess.run(
        ["bash", "-c", script], capture_output=True, text=True, cwd=cwd, timeout=60, check=False
    )


def test_a_full_stdout_is_one_line(model: Path) -> None:
    if not Path("/dev/full").exists():
        pytest.skip("this system has no /dev/full")
    done = shell(f"bncc inspect {model} > /dev/full", model.parent)
    assert done.returncode == 2
    (line,) = done.stderr.splitlines()
    assert "the disk is full" in line


def test_a_closed_pipe_is_silent(model: Path, tmp_path: Path) -> None:
    (tmp_path / "d.csv").write_text("light,slope,color\n" + "1,2,red\n" * 100)
    for command in (f"predict {model} d.csv", f"inspect {model}", "--help"):
        done = shell(f"bncc {command} | true; exit ${{PIPESTATUS[0]}}", tmp_path)
        assert done.returncode == 141, command
        assert done.stderr == ""


def test_a_terminal_without_unicode_gets_escapes(model: Path, tmp_path: Path) -> None:
    """The stream's encoding must not decide whether a command succeeds."""
    (tmp_path / "d.csv").write_text("light,slope,color,class\n1,2,red,für\n", encoding="utf-8")
    done = shell(f"PYTHONIOENCODING=ascii bncc evaluate {model} d.csv", tmp_path)
    assert done.returncode == 0, done.stderr


def test_a_process_reads_its_own_arguments(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(sys, "argv", ["bncc", "--version"])
    monkeypatch.setattr(sys, "warnoptions", [])
    monkeypatch.setattr(signal, "signal", lambda number, handler: None)
    with warnings.catch_warnings(), pytest.raises(SystemExit) as done:
        main()
    assert done.value.code == 0
    assert capsys.readouterr().out.startswith("bncc, version ")


def test_a_stream_that_failed_is_not_flushed_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with (tmp_path / "out").open("w") as stream:
        stream.write("never arrives")
        monkeypatch.setattr(sys, "stdout", stream)
        main_module._abandon_stdout()
        monkeypatch.undo()
    assert (tmp_path / "out").read_text() == ""


def test_help_tells_the_exit_codes() -> None:
    said = " ".join(CliRunner().invoke(main, ["--help"]).stdout.split())
    assert "0 success, 1 a check failed or a budget was exceeded, 2 bad usage" in said
    assert "3 not decided (proofs)" in said


def test_python_m_bncc_is_the_same_program(tmp_path: Path) -> None:
    done = shell("bncc --version", tmp_path)
    assert done.stdout.startswith("bncc, version ")


def test_completion_scripts_come_from_click(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("_BNCC_COMPLETE", "bash_source")
    result = CliRunner().invoke(main, [])
    assert "_bncc_completion" in result.stdout


def test_every_listed_module_holds_its_command() -> None:
    context = click.Context(main)
    for name in COMMANDS:
        command = main.get_command(context, name)
        assert command is not None
        assert command.name == name
    assert main.get_command(context, "frobnicate") is None
    assert main_module.EXIT_INTERNAL == 70
