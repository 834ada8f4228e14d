"""Models in packages, for the tests of each build system."""

import re
import subprocess
from collections.abc import Mapping
from functools import cache
from pathlib import Path

from bncc.emit.emitter import EmitOptions, emit_c
from tests import models as hand
from tests.agreement.large import mixed_kinds

NAME = "gait"
KINDS = {
    "array": hand.tan_float,
    "struct": mixed_kinds,
    "states": hand.wide_states,
    "hostile": hand.hostile_names,
}
"""Models whose readings are an array of floats, a struct, or states; and one with hostile names."""


@cache
def files_of(kind: str, package: str, name: str = NAME) -> Mapping[str, str]:
    """Return the files of a model in a package, with every entry point that it can have."""
    entries = frozenset({"scores", "stream", "trusted"})
    return emit_c(KINDS[kind](), EmitOptions(name, entries, package=package)).files


def write_package(folder: Path, kind: str, package: str, *, corrupt: bool = False) -> Path:
    """Write a package below a folder, optionally with a wrong expected class; return its root."""
    root = folder / NAME
    for path, text in files_of(kind, package).items():
        (root / path).parent.mkdir(parents=True, exist_ok=True)
        is_corrupted = corrupt and path.endswith("_vectors.h")
        (root / path).write_text(with_a_wrong_class(text) if is_corrupted else text, "utf-8")
    return root


def n_vectors(kind: str) -> int:
    """Return the number of test vectors of a packaged model."""
    (text,) = (text for file, text in files_of(kind, "plain").items() if "_vectors.h" in file)
    (number,) = re.findall(r"_N_VECTORS (\d+)U", text)
    return int(number)


def with_a_wrong_class(vectors: str) -> str:
    """Return vectors whose first expected class is one that no model here has."""
    wrong, n = re.subn(r"(_vector_classes\[\d+\] \w+ = \{\n +)\d+U", r"\g<1>200U", vectors)
    assert n == 1
    return wrong


def call(*command: object, folder: Path, ok: bool = True) -> str:
    """Run a command that must succeed, or fail, and return its output."""
    words = [str(word) for word in command]
    done = subprocess.run(
        words, cwd=folder, capture_output=True, text=True, check=False, timeout=120
    )
    said = done.stdout + done.stderr
    assert (done.returncode == 0) == ok, f"{' '.join(words)}\n{said[-3000:]}"
    return said
