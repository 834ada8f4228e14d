"""
Numbers, code and text of a product, separated: together they contain every byte of it.

`code` is the product with every number replaced by ``0``, every comment by an empty one and every
piece of prose by nothing between its marks; the other two hold what was taken out, in order. So a
changed table entry changes the numbers alone, a changed comment the text alone, and no byte can
change without one of the three.
"""

import re
from collections.abc import Mapping
from hashlib import sha256
from pathlib import PurePath

GROUPS = ("numbers", "code", "text")
Groups = Mapping[str, str]
"""Content of each group that is not empty."""

_NUMBER = r"(?P<numbers>(?:(?<![\w.])\.)?\d(?:[eEpP][+-]|[\w.])*)"
_WORD = r"[A-Za-z_]\w*"
_C = re.compile(
    r"/\*(?P<text>.*?)\*/|//(?P<line>[^\n]*)"
    r"|\"(?:\\.|[^\"\\\n])*\"|'(?:\\.|[^'\\\n])*'|" + f"{_WORD}|{_NUMBER}",
    re.DOTALL,
)
_DATA = re.compile(rf"\"(?:\\.|[^\"\\\n])*\"|{_WORD}|{_NUMBER}", re.DOTALL)
_JSON = re.compile(
    rf"\"(?:\\.|[^\"\\])*\"(?=\s*:)|\"(?P<text>(?:\\.|[^\"\\])*)\"|{_WORD}|{_NUMBER}"
)
_MARKUP = re.compile(rf">(?P<text>[^<>]+)(?=<)|#[0-9a-f]{{3,8}}\b|{_WORD}|{_NUMBER}")
_PROSE = re.compile(r"(?P<text>.+)", re.DOTALL)
_SYNTAX = {
    ".c": _C, ".h": _C, ".ino": _C, ".cpp": _C,
    ".json": _JSON, ".bncc": _JSON,
    ".csv": _DATA, ".ir": _DATA, ".dot": _DATA, ".bif": _DATA,
    ".html": _MARKUP, ".svg": _MARKUP,
}  # fmt: skip
"""By a file's ending; any other file is prose."""


def split(name: str, text: str) -> Groups:
    """Return the groups of a file by its ending."""
    taken: dict[str, list[str]] = {"numbers": [], "text": []}

    def take(found: re.Match[str]) -> str:
        for key, group in (("numbers", "numbers"), ("text", "text"), ("line", "text")):
            if found.groupdict().get(key) is not None:
                taken[group].append(found[key])
                begin, end = (place - found.start() for place in found.span(key))
                return found[0][:begin] + "0" * (group == "numbers") + found[0][end:]
        return found[0]

    code = _SYNTAX.get(PurePath(name).suffix, _PROSE).sub(take, text)
    groups = {"numbers": " ".join(taken["numbers"]), "code": code, "text": "\0".join(taken["text"])}
    return {group: groups[group] for group in GROUPS if groups[group]}


def digests(files: Mapping[str, str]) -> dict[str, str]:
    """Return the digest of each group of a product's files that is not empty."""
    contents: dict[str, list[str]] = {group: [] for group in GROUPS}
    for name, text in files.items():
        for group, content in split(name, text).items():
            contents[group] += [name, content]
    return {group: _digest(parts) for group, parts in contents.items() if parts}


def _digest(parts: list[str]) -> str:
    return sha256("\0".join(parts).encode("utf-8", "surrogatepass")).hexdigest()[:12]
