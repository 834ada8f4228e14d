"""SHA-256 of emitted C without comments, name and digest: figures of one C hold for another."""

import re
from collections.abc import Mapping
from hashlib import sha256
from pathlib import PurePosixPath

_COMMENT = re.compile(r"/\*.*?\*/", re.DOTALL)


def code_files(files: Mapping[str, str], name: str) -> dict[str, str]:
    """Return the header and the source of an emission, without the folders of a package."""
    kept = (f"{name}.h", f"{name}.c")
    paths = {PurePosixPath(path).name: path for path in files}
    return {file: files[paths[file]] for file in kept}  # others are printed when asked for


def code_digest(files: Mapping[str, str], name: str) -> str:
    """Return the digest of the code of an emission."""
    texts = code_files(files, name).values()
    return sha256("\f".join(_code(text, name) for text in texts).encode()).hexdigest()


def _code(text: str, name: str) -> str:
    figures = r"_DIGEST\b|#define \w+_(STACK|INSTRUCTIONS|CYCLES) \d+U$"
    lines = (line for line in _COMMENT.sub(" ", text).splitlines() if not re.search(figures, line))
    neutral = re.sub(rf"\b{name}(?=[_.])", "m", "\n".join(lines))
    neutral = re.sub(rf"\b{name.upper()}(?=_)", "M", neutral)
    return " ".join(neutral.split())
