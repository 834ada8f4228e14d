"""Help in two levels: common options under ``--help``, all of them under ``--help-all``."""

from collections.abc import Sequence
from typing import Any

import click

_SHOWS_ALL = "bncc.help_all"
"""Key of a context's `meta`: whether the help that is being written is the long one."""


class LongCommand(click.Command):
    """A command with more options than fit a screen."""

    def __init__(self, *args: Any, common: Sequence[str], **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.common = tuple(common)
        """Names of the parameters that ``--help`` shows, in this order."""
        self.params.append(
            click.Option(
                ["--help-all"],
                is_flag=True,
                is_eager=True,
                expose_value=False,
                callback=_print_all,
                help="Show all options and exit.",
            )
        )

    def format_options(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the common options, ``--help-all`` last, and the others where all are requested."""
        params = {param.name: param for param in self.params}
        common: list[click.Parameter] = [params[name] for name in self.common]
        help_option, help_all = self.get_help_option(ctx), params["help_all"]
        others = [each for each in self.params if each not in (*common, help_all)]
        first = [*common, *([] if help_option is None else [help_option]), help_all]
        shows_all = ctx.meta.get(_SHOWS_ALL, False)
        _write(ctx, formatter, "Common options" if shows_all else "Options", first)
        if shows_all:
            _write(ctx, formatter, "Further options", others)


def _write(
    ctx: click.Context,
    formatter: click.HelpFormatter,
    title: str,
    params: Sequence[click.Parameter],
) -> None:
    options = [param for param in params if isinstance(param, click.Option)]
    records = [record for each in options if (record := each.get_help_record(ctx)) is not None]
    with formatter.section(title):
        formatter.write_dl(records)


def _print_all(ctx: click.Context, param: click.Parameter, value: bool) -> None:
    if not value or ctx.resilient_parsing:
        return
    ctx.meta[_SHOWS_ALL] = True
    click.echo(ctx.get_help(), color=ctx.color)
    ctx.exit()
