"""The style of the project's text: patterns that it avoids, and where they occur.

    python -m tests.english [--root FOLDER] [--list AREA]

counts them in Markdown, docstrings, comments, messages and templates, per area.
"""

import argparse
import ast
import io
import re
import tokenize
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent

# Headlines of docstrings are imperatives or noun phrases.
CLAUSE = re.compile(r"(What|Who|Whom|Whose|Which|Whether|How|Of|That|Where|Why)\b")
SENTENCE = re.compile(
    r"(?:(?<=[a-z0-9)`][.!?:][ \n])|(?<=\n\n)|(?<=\A)|(?<=\n- )|(?<= : bool\n))(?:Of|That|Whether)\b"
)

_CLAUSES = "of|that|how|what|which|whether|where|why|it|so|apart"
_PLACES = "in|at|on|behind|before|where|there|as|so|next|apart"
_PLACES_OF_TEXT = f"{_PLACES}|between|above|below|beyond|alone|first|last|once|twice"

# Each phrase with the standard one.
PHRASES = {
    "errs|erred|erring": "has an error rate of",
    "mend(?:s|ed|ing)?": "fix",
    "anew|afresh": "again",
    r"(?:go|goes|going|gone|went) on(?! to\b)": "resume, continue",
    f"(?:tell|tells|told|telling) (?:{_CLAUSES})": "report, warn, show, distinguish",
    "(?:is|are|was|were|be|been) told": "is reported",
    "(?:say|says|said) so": "report, warn",
    "(?:come|comes|came|coming) to nothing": "fail",
    "(?:hear|hears|heard) of": "is notified of",
    "whoever|whosoever": "users, callers",
    "beside": "compared with, with, next to",
    "rivals?": "baseline",
    "dearest|dearer": "worst-case, more expensive",
    "looked up in|look-?up,": "look-up table",
    "hand(?:s|ed|ing)? (?:over|in|back|on|out)": "pass, return",
    "judge[ds]? (?:by|on)": "evaluate on",
    "rows? (?:that (?:are|were|is|was) )?held out": "validation rows, test rows",
    f"(?:lie|lies|lay|lain) (?:{_PLACES})": "is",
    f"(?:stand|stands|stood) (?:{_PLACES_OF_TEXT})": "is",
    "whose bytes|of everything random": "noun phrase",
    "what it takes": "footprint",
    "comes? by itself|of itself|for itself": "automatically, separately",
    "nought|naught|hence(?:forth)?|thereof|therein|thereby|wherein|whereby|hereby": "plain words",
}
WORDS = re.compile("|".join(rf"(?P<p{k}>\b(?:{words})\b)" for k, words in enumerate(PHRASES)), re.I)
INSTEAD = tuple(PHRASES.values())

# Areas with their folders or files; the first that contains a file counts.
AREAS = {
    "README": ("README.md",),
    "docs": ("docs", "CHANGELOG.md", "CONTRIBUTING.md", "SECURITY.md", "firmware_examples"),
    "templates": ("templates", "bncc/_templates"),
    "benchmarks": ("benchmarks",),
    "tests": ("tests",),
    "build": ("Makefile", ".ci", "pyproject.toml"),
}
TOP = (".ci", "Makefile", "benchmarks", "bncc", "docs", "firmware_examples", "pyproject.toml")
TOP += ("templates", "tests")
MADE = {"__pycache__", "_build", "build", ".pio", "bundled"}
SKIPPED = ("tests/golden", "tests/english.py", "tests/test_english.py", "tests/fixtures")
SUFFIXES = (".md", ".rst", ".py", ".j2", ".c", ".h", ".js", ".toml", ".txt", ".ino")


@dataclass(frozen=True)
class Finding:
    """A pattern in one line of a file."""

    path: str
    line: int
    kind: str  # clause, sentence, word, message
    text: str
    instead: str


def area_of(path: str) -> str:
    """Return the area that a file counts for: a folder of documentation or a package."""
    for area, places in AREAS.items():
        if any(path == place or path.startswith(f"{place}/") for place in places):
            return area
    return "/".join(path.split("/")[: 2 if path.count("/") > 1 else 1])


def _words(path: str, line: int, text: str, kind: str) -> Iterator[Finding]:
    for found in WORDS.finditer(text):
        instead = INSTEAD[int(str(found.lastgroup)[1:])]
        yield Finding(path, line + text.count("\n", 0, found.start()), kind, found[0], instead)


def _sentences(path: str, line: int, text: str) -> Iterator[Finding]:
    for found in SENTENCE.finditer(text):
        rest = text[found.start() : found.start() + 50].split("\n")[0]
        at = line + text.count("\n", 0, found.start())
        yield Finding(path, at, "sentence", rest, "subject first")


def in_markdown(path: str, text: str) -> Iterator[Finding]:
    """Yield the patterns in prose, outside of code."""
    is_code, fence, prose = False, "", []
    for line in text.splitlines():
        mark = re.match(r"\s*(```+|~~~+)", line)
        if mark and (not is_code or line.strip().startswith(fence)):
            is_code, fence = not is_code, mark[1]
            prose.append("")
        else:
            prose.append("" if is_code else re.sub(r"`[^`]*`", "`x`", line))
    body = "\n".join(prose)
    yield from _words(path, 1, body, "word")
    for number, line in enumerate(prose, 1):
        bare = re.sub(r"^[\s>|*#-]*(\d+\. )?[*_]*", "", line)
        is_start = number == 1 or not prose[number - 2].strip() or bare != line
        yield from _sentences(path, number, bare if is_start else f" {bare}")
        heading = re.match(r"#+ (.*)", line)
        if heading and CLAUSE.match(heading[1]):
            yield Finding(path, number, "clause", heading[1], "noun phrase")


def in_python(path: str, text: str, with_messages: bool) -> Iterator[Finding]:
    """Yield the patterns in docstrings and comments, and in texts that users read."""
    tree = ast.parse(text)
    documented = (ast.Module, ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)
    docs = set()
    for node in ast.walk(tree):
        body = getattr(node, "body", None)
        if not isinstance(body, list):
            continue
        for k, child in enumerate(body):
            if not (isinstance(child, ast.Expr) and isinstance(child.value, ast.Constant)):
                continue
            value = child.value.value
            if not isinstance(value, str):
                continue
            docs.add(id(child.value))
            first = value.lstrip("\n ").split("\n")[0]
            if (k > 0 or isinstance(node, documented)) and CLAUSE.match(first):
                yield Finding(path, child.lineno, "clause", first, "noun phrase or imperative")
            yield from _words(path, child.lineno, re.sub(r"`[^`]*`", "`x`", value), "word")
            rest = re.sub(r"\n +", "\n", value)[len(first) :]
            yield from _sentences(path, child.lineno, f" {rest}")
    for token in tokenize.generate_tokens(io.StringIO(text).readline):
        if token.type == tokenize.COMMENT:
            yield from _words(path, token.start[0], token.string, "word")
            yield from _sentences(path, token.start[0], token.string.lstrip("#: "))
    if not with_messages:
        return
    inner = {id(v) for n in ast.walk(tree) if isinstance(n, ast.JoinedStr) for v in n.values[1:]}
    for node in ast.walk(tree):
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and id(node) not in docs:
            if " " not in node.value:
                continue
            yield from _words(path, node.lineno, node.value, "message")
            if id(node) not in inner:
                yield from _sentences(path, node.lineno, node.value)


def in_lines(path: str, text: str) -> Iterator[Finding]:
    """Yield the words to avoid in any other file."""
    yield from _words(path, 1, text, "word")
    for number, line in enumerate(text.splitlines(), 1):
        comment = re.match(r"\s*(?:/\*+|//|#)\s*(.*)", line)
        if comment:
            yield from _sentences(path, number, comment[1])


def files(root: Path = ROOT) -> Iterator[str]:
    """Yield the text files of a tree, in order."""
    for top in (*TOP, *sorted(path.name for path in root.glob("*.md"))):
        for path in sorted((root / top).rglob("*")) if (root / top).is_dir() else [root / top]:
            name = path.relative_to(root).as_posix()
            is_text = name.endswith(SUFFIXES) or name == "Makefile" or name.startswith(".ci/")
            is_made = MADE.intersection(name.split("/")) or name.startswith(SKIPPED)
            if is_text and not is_made and path.is_file():
                yield name


def findings(root: Path = ROOT) -> Iterator[Finding]:
    """Yield every pattern that the tree's text should avoid."""
    for path in files(root):
        text = (root / path).read_text(encoding="utf-8")
        if path.endswith((".md", ".rst")):
            yield from in_markdown(path, text)
        elif path.endswith(".py"):
            yield from in_python(path, text, with_messages=path.startswith("bncc/"))
        else:
            yield from in_lines(path, text)


def main() -> None:
    """Print the counts per area and kind, or the findings of one area."""
    parser = argparse.ArgumentParser(description=main.__doc__)
    parser.add_argument("--root", type=Path, default=ROOT, help="Tree to check.")
    parser.add_argument("--list", metavar="PREFIX", help="List findings in paths or areas.")
    options = parser.parse_args()
    found = list(findings(options.root))
    if options.list is not None:
        for f in found:
            if f.path.startswith(options.list) or area_of(f.path) == options.list:
                print(f"{f.path}:{f.line}: {f.kind}: {f.text!r} -> {f.instead}")
        return
    kinds = ("clause", "sentence", "word", "message")
    counts: dict[str, Counter[str]] = {}
    for f in found:
        counts.setdefault(area_of(f.path), Counter())[f.kind] += 1
    print(f"{'area':<20}" + "".join(f"{kind:>10}" for kind in kinds) + f"{'all':>10}")
    for area, row in sorted(counts.items()):
        print(f"{area:<20}" + "".join(f"{row[kind]:>10}" for kind in kinds) + f"{row.total():>10}")
    total = Counter(f.kind for f in found)
    print(f"{'all':<20}" + "".join(f"{total[kind]:>10}" for kind in kinds) + f"{total.total():>10}")


if __name__ == "__main__":
    main()
