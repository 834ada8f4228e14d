"""
Size of the package at a revision: files, code, docstrings, classes, options, imports.

Run ``python -m benchmarks.house_size`` for the working tree, or name revisions to compare:
``python -m benchmarks.house_size 942ac92 HEAD``.
"""

import argparse
import ast
import io
import subprocess
import sys
import tarfile
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from statistics import median

ROOT = Path(__file__).resolve().parent.parent
SMALL = 60
"""Lines of code below which a file needs a reason."""


@dataclass(frozen=True)
class Size:
    """Counts of one Python file."""

    code: int
    docstrings: int
    classes: int
    options: int
    imports: tuple[str, ...]


def size_of(text: str) -> Size:
    """Return the counts of a file; lines of code exclude docstrings, comments and blank lines."""
    tree = ast.parse(text)
    strings = [
        node.value
        for node in ast.walk(tree)
        if isinstance(node, ast.Expr)
        and isinstance(node.value, ast.Constant)
        and isinstance(node.value.value, str)
    ]
    documented = {n for s in strings for n in range(s.lineno, (s.end_lineno or s.lineno) + 1)}
    code = sum(
        n not in documented and bool(line.strip()) and not line.lstrip().startswith("#")
        for n, line in enumerate(text.splitlines(), 1)
    )
    nodes = [*ast.walk(tree)]
    calls = [ast.unparse(node.func) for node in nodes if isinstance(node, ast.Call)]
    return Size(
        code,
        len(documented),
        sum(isinstance(node, ast.ClassDef) for node in nodes),
        sum(call in ("click.option", "option", "Option") for call in calls),
        tuple(_imported(nodes)),
    )


def _imported(nodes: list[ast.AST]) -> Iterator[str]:
    for node in nodes:
        if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("bncc"):
            yield node.module or ""
        elif isinstance(node, ast.Import):
            yield from (each.name for each in node.names if each.name.startswith("bncc"))


def sources(revision: str | None) -> Mapping[str, str]:
    """Return the text of every file of the package, in the working tree or at a revision."""
    if revision is None:
        paths = sorted((ROOT / "bncc").rglob("*.py"))
        return {str(path.relative_to(ROOT)): path.read_text("utf-8") for path in paths}
    command = ("git", "archive", revision, "bncc")
    packed = subprocess.run(command, cwd=ROOT, capture_output=True, check=True).stdout
    found = {}
    with tarfile.open(fileobj=io.BytesIO(packed)) as archive:
        for member in archive.getmembers():
            file = archive.extractfile(member) if member.name.endswith(".py") else None
            if file is not None:
                found[member.name] = file.read().decode("utf-8")
    return found


def package_of(path: str) -> str:
    """Return the package of a file: its first folder below bncc, or the file itself."""
    return path.removeprefix("bncc/").removesuffix(".py").split("/")[0]


def summary(files: Mapping[str, str]) -> dict[str, float]:
    """Return the counts of all files together."""
    sizes = {path: size_of(text) for path, text in files.items()}
    arrows = Counter(
        (package_of(path), name.split(".")[1])
        for path, size in sizes.items()
        for name in size.imports
        if "." in name and name.split(".")[1] != package_of(path)
    )
    codes = [size.code for path, size in sizes.items() if not path.endswith("__init__.py")]
    return {
        "packages": len({package_of(path) for path in files if path.count("/") > 1}),
        "files": len(files),
        "lines of code": sum(size.code for size in sizes.values()),
        "lines of docstrings": sum(size.docstrings for size in sizes.values()),
        "lines of code per file, mean": round(sum(codes) / len(codes), 1),
        "lines of code per file, median": median(codes),
        "lines of code, longest file": max(codes),
        f"files of fewer than {SMALL} lines of code": sum(code < SMALL for code in codes),
        "imports between packages": sum(arrows.values()),
        "arrows between packages": len(arrows),
        "classes": sum(size.classes for size in sizes.values()),
        "option definitions": sum(size.options for size in sizes.values()),
    }


def main() -> int:
    """Print one column for each revision."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.house_size", description=__doc__)
    parser.add_argument("revisions", nargs="*", help="of git [default: the working tree]")
    names = parser.parse_args().revisions or [None]
    columns = [summary(sources(name)) for name in names]
    print(" " * 40 + "".join(f"{name or 'working tree':>14}" for name in names))
    for row in columns[0]:
        print(f"{row:40}" + "".join(f"{column[row]:14,}" for column in columns))
    return 0


if __name__ == "__main__":
    sys.exit(main())
