"""The terms of emitted files: a line in each that permits any use, and the user's own SPDX tag."""

import re
from pathlib import PurePosixPath

from bncc.errors import OptionError

TERMS = "This generated file may be used under any terms; see LICENSE-EXCEPTION of bncc."

_C, _CPP, _HASH = ("/* ", " */"), ("// ", ""), ("# ", "")
_COMMENTS = {
    ".c": _C,
    ".h": _C,
    ".cpp": _CPP,
    ".ino": _CPP,
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
