"""``bncc structures``: the structures that can be learned, and their options."""

from typing import Any

import click

from bncc.cli.console import Console, aligned
from bncc.cli.options import speaks
from bncc.structure.catalog import STRUCTURES
from bncc.structure.learner import OptionText
from bncc.train.structure_texts import structure_text


@click.command("structures")
@speaks
def command(console: Console) -> None:
    """
    List the values of --structure and the --structure-option keys of each.

    Every structure also accepts alpha with `--parameters bdeu`.
    """
    facts = [_facts(name) for name in STRUCTURES]
    payload = {"default": STRUCTURES[0], "structures": facts}
    console.result(payload, _report(), essential=True)


def _facts(name: str) -> dict[str, Any]:
    found = structure_text(name)
    return {
        "name": name,
        "aliases": list(found.aliases),
        "description": found.text,
        "options": [
            {
                "key": key,
                "values": option.values,
                "default": option.default,
                "description": option.text,
            }
            for key, option in found.options.items()
        ],
    }


def _report() -> str:
    """Return one paragraph per structure: its name and text, then a line per option."""
    return "\n\n".join(map(_paragraph, STRUCTURES))


def _paragraph(name: str) -> str:
    found = structure_text(name)
    marks = [f"alias {alias}" for alias in found.aliases]
    marks += ["default"] if name == STRUCTURES[0] else []
    head = f"{name} ({', '.join(marks)})" if marks else name
    rows = [[f"  {_synopsis(key, each)}", _words(each)] for key, each in found.options.items()]
    return "\n".join([f"{head}: {found.text}", *([aligned(rows)] if rows else [])])


def _synopsis(key: str, option: OptionText) -> str:
    return f"{key}={option.values}"


def _words(option: OptionText) -> str:
    return f"{option.text.removesuffix('.')} [default: {option.default}]."
