"""Help in two levels: ``--help`` fits a screen, ``--help-all`` shows every option."""

from collections.abc import Iterator

import click
import pytest
from click.testing import CliRunner

from bncc.cli.long_help import LongCommand
from bncc.cli.main import COMMANDS, main

SCREEN = 40


def commands() -> Iterator[tuple[str, click.Command]]:
    """Yield every command with its name."""
    context = click.Context(main)
    for name in COMMANDS:
        command = main.get_command(context, name)
        assert command is not None
        yield name, command


LONG = [name for name, command in commands() if isinstance(command, LongCommand)]


def shown(*words: str, width: int = 80) -> str:
    """Return what a command line prints on a terminal of some width."""
    result = CliRunner().invoke(main, words, terminal_width=width)
    assert result.exit_code == 0, result.output
    return result.stdout


def test_train_sweep_emit_c_and_bench_have_two_levels() -> None:
    assert {"train", "sweep", "emit-c", "bench"} <= set(LONG)


def test_the_budget_of_the_c_is_in_the_short_help_of_every_command_that_has_it() -> None:
    for name in ("emit-c", "bench", "verify", "prove"):
        assert "--max-flash" in shown(name, "--help")


@pytest.mark.parametrize("name", COMMANDS)
def test_help_fits_a_screen(name: str) -> None:
    assert len(shown(name, "--help").splitlines()) <= SCREEN


@pytest.mark.parametrize("name", LONG)
def test_short_help_ends_with_the_name_of_the_long_one(name: str) -> None:
    assert "--help-all" in shown(name, "--help").splitlines()[-1]


@pytest.mark.parametrize("name", LONG)
def test_long_help_lists_every_option_once(name: str) -> None:
    command = dict(commands())[name]
    text = shown(name, "--help-all", width=9999)
    listed = [line.split()[0].rstrip(",") for line in text.splitlines() if line.startswith("  -")]
    options = [param for param in command.params if isinstance(param, click.Option)]
    assert sorted(listed) == sorted([*(option.opts[0] for option in options), "-h"])


@pytest.mark.parametrize("name", LONG)
def test_short_help_lists_a_part(name: str) -> None:
    short, long = shown(name, "--help"), shown(name, "--help-all")
    assert short.count("\n  -") < long.count("\n  -")


def test_required_options_are_common() -> None:
    for name, command in commands():
        if isinstance(command, LongCommand):
            required = {each.name for each in command.params if each.required}
            arguments = {each.name for each in command.params if isinstance(each, click.Argument)}
            assert required - arguments <= set(command.common), name


def test_every_option_has_a_help_text() -> None:
    for name, command in commands():
        for param in command.params:
            if isinstance(param, click.Option):
                assert param.help, f"bncc {name} {param.opts[0]}"
