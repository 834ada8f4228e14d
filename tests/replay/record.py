"""The committed digests of all products, and the differences of the current ones."""

from collections import Counter
from collections.abc import Iterable, Mapping
from pathlib import Path

from tests.replay.groups import GROUPS

FOLDER = Path(__file__).resolve().parent / "digests"
Digests = Mapping[str, Mapping[str, str]]
"""Digest by product and group."""


def read() -> dict[str, dict[str, str]]:
    """Return the committed digests; none where there are no files."""
    found: dict[str, dict[str, str]] = {}
    for group in GROUPS:
        path = FOLDER / f"{group}.txt"
        for line in path.read_text("utf-8").splitlines() if path.exists() else ():
            digest, name = line.split(" ", 1)
            found.setdefault(name, {})[group] = digest
    return found


def write(digests: Digests) -> None:
    """Write one file per group, one line per product."""
    FOLDER.mkdir(exist_ok=True)
    for group in GROUPS:
        lines = [
            f"{found[group]} {name}\n" for name, found in sorted(digests.items()) if group in found
        ]
        (FOLDER / f"{group}.txt").write_text("".join(lines), "utf-8", newline="\n")


def differences(before: Digests, after: Digests) -> dict[str, list[str]]:
    """Return the differing groups of each product that differs."""
    found = {}
    for name in sorted({*before, *after}):
        old, new = before.get(name, {}), after.get(name, {})
        groups = [group for group in GROUPS if old.get(group) != new.get(group)]
        if groups:
            found[name] = groups
    return found


def summary(changed: Mapping[str, list[str]], before: Digests, after: Digests, most: int) -> str:
    """Return the number of products that differ, and in what: by name, or by kind if many."""
    states = {
        name: "new" if name not in before else "gone" if name not in after else ", ".join(groups)
        for name, groups in changed.items()
    }
    by_kind = Counter(f"{name.split('/')[0]}: {state}" for name, state in states.items())
    named = [f"  {name}: {state}" for name, state in states.items()]
    counted = [f"  {n} of {each}" for each, n in by_kind.items()]
    counts = (f"{sum(g in found for found in changed.values())} in {g}" for g in GROUPS)
    first = f"{len(changed)} of {len({*before, *after})} products differ: {', '.join(counts)}"
    return "\n".join([first, *(named if len(named) <= most else counted)])


def first_of_each_kind(names: Iterable[str], n: int) -> list[str]:
    """Return n names, of as many kinds as possible; the kind is the part before the first slash."""
    names = list(names)
    kinds = {name.split("/")[0]: name for name in reversed(names)}
    firsts = [name for name in names if name in kinds.values()]
    return sorted([*firsts, *(name for name in names if name not in firsts)][:n])
