"""
The Jinja2 set-up, and the terms in each file: every number comes computed.

It knows no layout, since pages of `report/` and the C of baselines are rendered as well.
"""

import re
from functools import cache
from pathlib import Path, PurePosixPath

from jinja2 import Environment, FileSystemLoader, StrictUndefined

from bncc.errors import OptionError
from bncc.lower.c.c99 import cast, comment, counted

TERMS = "This generated file may be used under any terms; see LICENSE-EXCEPTION of bncc."

_C, _CPP, _HASH = ("/* ", " */"), ("// ", ""), ("# ", "")
_COMMENTS = {
    ".c": _C,
    ".h": _C,
    ".cpp": _CPP,
    ".ino": _CPP,
    ".rs": _CPP,
    ".ini": ("; ", ""),
    ".md": ("<!-- ", " -->"),
}
"""Begin and end of a comment, by suffix; `#` begins all others."""
_ID = r"\(*[A-Za-z0-9][A-Za-z0-9.+:-]*\)*"
_EXPRESSION = re.compile(rf"{_ID}( (AND|OR|WITH) {_ID})*")


def check_spdx(expression: str) -> str:
    """Return an SPDX license expression that can be printed in any comment."""
    if not _EXPRESSION.fullmatch(expression):
        raise OptionError(
            f"{expression!r} is not an SPDX license expression; write one such as MIT, "
            "LicenseRef-ours or 'MIT OR Apache-2.0'"
        )
    return expression


def with_terms(path: str, text: str, spdx: str | None = None) -> str:
    """Return an emitted file with its terms."""
    suffix = PurePosixPath(path).suffix
    if suffix == ".json":
        return text
    begin, end = _COMMENTS.get(suffix, _HASH)
    tag = "" if spdx is None else f"{begin}SPDX-License-Identifier: {spdx}{end}\n"
    if suffix == ".md":
        return f"{tag}{text}\n{TERMS}\n"
    return f"{tag}{begin}{TERMS}{end}\n{text}"


def template_folder() -> Path:
    """Return the folder of the templates: in the wheel, or next to the package in a checkout."""
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
