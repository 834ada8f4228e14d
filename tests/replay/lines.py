"""The lines in which products differ from those whose digests are committed."""

import os
import subprocess
import sys
import tarfile
from collections.abc import Iterator, Sequence
from difflib import unified_diff
from pathlib import Path
from tempfile import TemporaryDirectory

from tests.replay import record
from tests.replay.products import write_products
from tests.replay.session import ROOT

MOST = 40
"""Lines that are shown of a product."""
WIDEST = 200
"""Columns of a line that are shown."""


def base_products(names: Sequence[str], folder: Path) -> str:
    """Write the products of the tree whose digests are committed; return its commit."""
    commit = git("log", "-1", "--format=%H", "--", str(record.FOLDER.relative_to(ROOT))).strip()
    with TemporaryDirectory() as tree:
        git("archive", "--output", f"{tree}/tree.tar", commit)
        with tarfile.open(f"{tree}/tree.tar") as archive:
            archive.extractall(tree, filter="data")
        subprocess.run(
            [sys.executable, "-m", "tests.replay", "--write", str(folder), "--", *names],
            cwd=tree, env={**os.environ, "PYTHONPATH": tree}, check=True,
        )  # fmt: skip
    return commit[:9]


def show(names: Sequence[str]) -> None:
    """Print the first lines of what differs in products since their digests were committed."""
    if not names:
        return
    with TemporaryDirectory() as before, TemporaryDirectory() as after:
        try:
            commit = base_products(names, Path(before))
        except (OSError, subprocess.CalledProcessError) as error:
            print(f"no lines to show, for the committed tree cannot be run: {error}")
            return
        write_products(names, Path(after))
        for name in names:
            lines = [*_diff(Path(before), Path(after), name)]
            print(f"\n{name}, against {commit}" + ("" if lines else _SAME))
            print("\n".join(lines[:MOST]))
            if len(lines) > MOST:
                print(f"... {len(lines) - MOST} more lines")


_SAME = """: that commit makes the same here
Its digests are of another tree, as after a rebase, or the product depends on the machine."""


def _diff(before: Path, after: Path, name: str) -> Iterator[str]:
    """Yield the differences in a product's files; for a removed file only its name."""
    old, new = (_texts(root, name) for root in (before, after))
    for file in sorted({*old, *new}, key=lambda file: (file not in new, file)):
        if file not in new:
            yield f"--- before/{file} is gone"
            continue
        texts = (old.get(file, []), new[file])
        for line in unified_diff(*texts, f"before/{file}", f"after/{file}", n=2, lineterm=""):
            yield line[:WIDEST]


def _texts(root: Path, name: str) -> dict[str, list[str]]:
    files = (path for path in (root / name).rglob("*") if path.is_file())
    return {
        str(path.relative_to(root)): path.read_text("utf-8", "surrogatepass").split("\n")
        for path in files
    }


def git(*words: str) -> str:
    """Return the output of a git command."""
    done = subprocess.run(["git", *words], cwd=ROOT, check=True, capture_output=True, text=True)
    return done.stdout
