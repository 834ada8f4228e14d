"""The options of training on the command line, made from the table `bncc.train.options`."""

from collections.abc import Callable, Mapping
from typing import Any

import click

from bncc.cli.options import Command
from bncc.structure.catalog import canonical_name
from bncc.train.options import OPTIONS

FIRST = (
    "discretize", "n_bins", "readings", "structure", "structure_options", "parameters", "bits",
    "int_bits", "frac_bits", "float_", "size_weight", "class_weight",
)  # fmt: skip
"""Options that the help of ``bncc train`` lists first."""
LAST = ("device", "engine", "threads", "validation")
"""Options that it lists last, after ``--seed``."""
BETWEEN = tuple(name for name in OPTIONS if name not in (*FIRST, *LAST, "seed"))
"""All other options; new ones are added automatically."""


class StructureChoice(click.Choice[str]):
    """A structure, by its name or an alias; the value is its name."""

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> str:
        """Return the name of a structure, or refuse an unknown one."""
        return super().convert(canonical_name(str(value)), param, ctx)


def training_options(*names: str, help: str | None = None) -> Callable[[Command], Command]:
    """Add training options to a command, with the table's help or another."""

    def decorate(command: Command) -> Command:
        for name in reversed(names):
            command = _decorator(name, help)(command)
        return command

    return decorate


def key_values(
    ctx: click.Context, param: click.Parameter, values: tuple[str, ...]
) -> dict[str, str]:
    """Parse pairs such as ``alpha=10``."""
    options: dict[str, str] = {}
    for value in values:
        key, separator, text = value.partition("=")
        if not key or not separator:
            raise click.BadParameter(f"{value!r} is not of the form KEY=VALUE, such as parents=8")
        if key in options:
            raise click.BadParameter(f"{key!r} is given twice; give it once")
        options[key] = text
    return options


def _decorator(name: str, help: str | None) -> Callable[[Command], Command]:
    option = OPTIONS[name]
    facts: dict[str, Any] = {"type": click.Choice(option.shown) if option.shown else option.kind}
    if name == "structure":
        facts = {"type": StructureChoice(option.shown)}
    if option.kind is bool:
        facts = {"is_flag": True}
    elif option.kind is Mapping:
        facts = {"callback": key_values, "multiple": True}
    elif option.default is not None:
        facts |= {"default": option.default, "show_default": option.shows_default}
    return click.option(
        option.flag, name, metavar=option.metavar, help=help or option.help_text, **facts
    )
