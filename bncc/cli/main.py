"""The program ``bncc``: a group of commands, each loaded when it is called."""

import os
import signal
import sys
import warnings
from collections.abc import Sequence
from importlib import import_module
from typing import Any

import click

from bncc import __version__
from bncc.cli.console import Console, printable
from bncc.cli.output import INTERRUPTED, os_error_sentence
from bncc.errors import BnccError

EXIT_USAGE = 2
EXIT_INTERNAL = 70
"""An error in bncc itself, ``EX_SOFTWARE`` of sysexits.h."""
EXIT_INTERRUPTED = 130
EXIT_BROKEN_PIPE = 141
EXIT_TERMINATED = 143

COMMANDS = {
    "features": ("features", "Compute features of windows of recordings, as a table."),
    "train": ("train", "Train a classifier on a table of sensor readings."),
    "evaluate": ("evaluate", "Measure the error rate of a model on labeled readings."),
    "predict": ("predict", "Classify readings."),
    "drift": ("drift", "Compare the counters of a device with training."),
    "explain": ("explain", "Explain a model's prediction for one row."),
    "inspect": ("inspect", "Show a model's structure, tables and sizes."),
    "import-bif": ("import_bif", "Convert a Bayesian network from a BIF file to a model."),
    "export-bif": ("export_bif", "Export a model as a Bayesian network in a BIF file."),
    "emit-c": ("emit_c", "Compile a model to dependency-free C99."),
    "pack": ("pack", "Pack a model into a blob that a firmware loads at run time."),
    "verify": ("verify", "Verify that the emitted C agrees with the model, bit for bit."),
    "prove": ("prove", "Prove that the machine code decides as the model, always."),
    "bench": ("bench", "Measure footprint and speed of the emitted C on a target."),
    "targets": ("targets", "List targets, parts, and installed compilers and simulators."),
    "structures": ("structures", "List structures and their options."),
    "demo": ("demo", "Run the complete workflow on bundled data."),
    "sweep": ("sweep", "Train and measure many classifiers to choose from."),
    "baseline": ("baseline", "Train and measure baselines such as trees or neural networks."),
    "report": ("report", "Report accuracy and footprint of a study's trials on one page."),
    "reproduce": ("reproduce", "Reproduce a paper's experiment and compare the results."),
}
"""Command name -> module of `bncc.cli` with the command as `command`, and its line of help."""


class LazyGroup(click.Group):
    """A click group that imports a command when it is called and prints errors in one line."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        """Return the command names in the order of a typical workflow."""
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """Import a command's module and return the command, or None if there is none."""
        if cmd_name not in COMMANDS:
            return None
        command = import_module(f"bncc.cli.{COMMANDS[cmd_name][0]}").command
        assert isinstance(command, click.Command)
        return command

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """List the commands without importing them."""
        with formatter.section("Commands"):
            formatter.write_dl([(name, text) for name, (_, text) in COMMANDS.items()])

    def main(  # type: ignore[override]  # click's overloads only tell standalone modes apart
        self, args: Sequence[str] | None = None, prog_name: str | None = None, **extra: Any
    ) -> None:
        """Run one command line and exit."""
        if "_BNCC_COMPLETE" in os.environ:
            super().main(args, "bncc", "_BNCC_COMPLETE")
        if args is None:
            args = sys.argv[1:]
            _prepare_process()
        extra.pop("standalone_mode", None)
        console = Console()
        try:
            code = self._run(list(args), console, extra)
        except BaseException as error:
            code = _say(error, console)
        sys.exit(code)

    def _run(self, args: list[str], console: Console, extra: dict[str, Any]) -> int:
        with self.make_context("bncc", args, obj=console, **extra) as ctx:
            try:
                self.invoke(ctx)
                code = 0
            except click.exceptions.Exit as done:
                code = done.exit_code
        console.flush_notes()
        sys.stdout.flush()
        return code


def _prepare_process() -> None:
    """Set up the process: warnings, the encodings of streams, a graceful kill."""
    if not sys.warnoptions:
        warnings.simplefilter("ignore")
    _open_closed_streams()
    for stream in (sys.stdout, sys.stderr):
        if hasattr(stream, "reconfigure"):
            stream.reconfigure(errors="backslashreplace")
    # As an exception it allows half-written outputs to be removed.
    signal.signal(signal.SIGTERM, lambda number, frame: sys.exit(EXIT_TERMINATED))


def _open_closed_streams() -> None:
    """
    Replace standard streams that the caller has closed, as ``>&-`` does.

    Otherwise the next file that is opened gets the number of such a stream, and with it what is
    printed. What is written to a closed standard output fails, as in other programs; text for
    a closed standard error is lost.
    """
    if sys.stdin is None:
        sys.stdin = os.fdopen(os.open(os.devnull, os.O_RDONLY), encoding="utf-8")
    if sys.stdout is None:
        sys.stdout = os.fdopen(os.open(os.devnull, os.O_RDONLY), "w", encoding="utf-8")
    if sys.stderr is None:
        sys.stderr = os.fdopen(os.open(os.devnull, os.O_WRONLY), "w", encoding="utf-8")


def _say(error: BaseException, console: Console) -> int:
    """Print an error as one line on stderr and return the exit code."""
    code, sentence = _verdict(error)
    if console.verbose and code == EXIT_INTERNAL:
        import traceback

        click.echo("".join(traceback.format_exception(error)), err=True, nl=False)
    if isinstance(error, OSError):
        _abandon_stdout()
    if sentence:
        click.echo(f"bncc: error: {printable(sentence)}", err=True)
    return code


_NUMBERS = {
    "float range": "number", "float": "number", "integer range": "whole number",
    "integer": "whole number",
}  # fmt: skip
"""Names of number types in click's messages, and in ours."""


def _verdict(error: BaseException) -> tuple[int, str]:
    """Return the exit code and the message for an exception."""
    if isinstance(error, click.exceptions.Exit):
        return error.exit_code, ""
    if isinstance(error, SystemExit):
        return (error.code if isinstance(error.code, int) else 0), ""
    if isinstance(error, click.ClickException):
        return EXIT_USAGE, _usage(error)
    if isinstance(error, BnccError):
        return error.exit_code, str(error)
    if isinstance(error, KeyboardInterrupt | click.Abort):
        return EXIT_INTERRUPTED, str(error) or INTERRUPTED
    if isinstance(error, BrokenPipeError):
        return EXIT_BROKEN_PIPE, ""
    if isinstance(error, OSError):
        return EXIT_USAGE, os_error_sentence(error)
    if isinstance(error, MemoryError):
        return EXIT_USAGE, "not enough memory; use fewer rows or columns, or a smaller structure"
    name = type(error).__name__
    return EXIT_INTERNAL, (
        f"internal error ({name}: {str(error)[:200]}); please report it with the command and its "
        "output under -v"
    )


def _usage(error: click.ClickException) -> str:
    """Return click's message as one sentence, with a reference to the help."""
    message = " ".join(error.format_message().split()).rstrip(".")
    for name, plain in _NUMBERS.items():
        message = message.replace(f"is not a valid {name}", f"is not a {plain}")
    context = error.ctx if isinstance(error, click.UsageError) else None
    return f"{message}; see '{context.command_path} --help'" if context else message


def _abandon_stdout() -> None:
    """Keep the interpreter from flushing again into a closed pipe or a full disk at exit."""
    try:
        descriptor = sys.stdout.fileno()
    except (OSError, ValueError):
        return
    nowhere = os.open(os.devnull, os.O_WRONLY)
    os.dup2(nowhere, descriptor)
    os.close(nowhere)


@click.group(
    cls=LazyGroup,
    no_args_is_help=False,
    context_settings={"help_option_names": ["-h", "--help"]},
    epilog="Exit codes: 0 success, 1 a check failed or a budget was exceeded, 2 bad usage or bad "
    "input, 3 not decided (proofs), 70 internal error, 130 interrupted, 141 broken pipe, 143 "
    "terminated.",
)
@click.version_option(__version__, prog_name="bncc")
def main() -> None:
    """Train boosted tables and Bayesian-network classifiers; compile them to verified C99."""
