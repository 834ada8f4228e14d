"""Deliberate mistakes in emitted C, for testing that a check detects them."""

import re

from bncc.device.agreement import Agreement, verify_sources
from bncc.device.inputs.cases import Effort
from bncc.device.sources import sources


def verify_files(model, files, target="host", *, n_random=1000, **how) -> Agreement:
    """Compare C with a model, as `bncc.on_device.verify` does what it emits."""
    return verify_sources(model, sources(model, files), target, effort=Effort(n_random), **how)


def numbers_of(text: str, array: str) -> re.Match[str]:
    """Return the match of an array in the C, with its body as group 1."""
    found = re.search(rf"m_{array}\[\d+\] M_ROM = \{{(.*?)\}};", text, re.DOTALL)
    assert found, f"the C has no array m_{array}"
    return found


def bumped(text: str, array: str, k: int, by: int = 1) -> str:
    """Return the C with entry k of an array changed."""
    body = numbers_of(text, array)
    number = list(re.finditer(r"-?\d+(?=U?,)", without_comments(body.group(1))))[k]
    start = body.start(1) + number.start()
    return f"{text[:start]}{int(number.group()) + by}{text[start + len(number.group()) :]}"


def without_comments(text: str) -> str:
    """Return the C with comments replaced by blanks, so that positions are kept."""
    return re.sub(r"/\*.*?\*/", lambda m: " " * len(m.group()), text, flags=re.DOTALL)


def replaced(text: str, old: str, new: str) -> str:
    """Return the C with the only occurrence of some text replaced."""
    assert text.count(old) == 1, f"the C has {old!r} {text.count(old)} times"
    return text.replace(old, new)
