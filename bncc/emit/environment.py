"""The Jinja2 set-up: templates hold loops and names, every number comes computed."""

from functools import cache
from pathlib import Path

from jinja2 import Environment, FileSystemLoader, StrictUndefined

from bncc.lower.c.c99 import cast
from bncc.lower.c.prose import comment, counted


def template_folder() -> Path:
    """Return the folder of the templates: inside the wheel, or beside the package in a checkout."""
    package = Path(__file__).resolve().parents[1]
    installed = package / "_templates"
    return installed if installed.is_dir() else package.parent / "templates"


@cache
def environment() -> Environment:
    """Return the environment that all templates are rendered with."""
    made = Environment(
        loader=FileSystemLoader(template_folder()),
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
        autoescape=False,  # the output is C: names from data go through c_text
    )
    made.filters |= {"cast": cast, "comment": comment, "counted": counted}
    return made


def render(template: str, **context: object) -> str:
    """Render a template to text."""
    text = environment().get_template(template).render(**context)
    return "\n".join(line.rstrip() for line in text.split("\n"))
