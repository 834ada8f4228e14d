"""The folder of a sample of mutations: mutants, the tests that reach them, and the results."""

import json
import os
from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

from benchmarks.campaigns.mutation_operators import Site

STAGES = ("test", "ci", "replay", "all")
GROUPS = (
    ("tests/unit", "tests/property"), ("tests/test_", "tests/replay"), ("tests/agreement",),
    ("tests/docs",), ("tests/firmware",), ("tests/cli",), ("tests/browser",), ("tests/printed",),
)  # fmt: skip
"""Folders of tests, the quickest first."""
FIRST, SECOND = 5, 40
"""Numbers of files of a group with processes of their own, so that few are collected."""


@dataclass(frozen=True)
class Mutant:
    """A mutation, numbered from 0."""

    k: int
    path: str
    site: Site
    before: str

    @property
    def place(self) -> str:
        """Return file and line."""
        return f"{self.path}:{self.site.line}"


class Folder:
    """The results: lists of mutants and tests, and a line for each stage of a mutant."""

    def __init__(self, path: Path) -> None:
        self.path = path.resolve()
        self.path.mkdir(parents=True, exist_ok=True)

    def write(self, name: str, value: object) -> None:
        """Write a file of JSON atomically."""
        place = self.path / f"{name}.json"
        part = place.with_suffix(f".{os.getpid()}")
        part.write_text(json.dumps(value, indent=1) + "\n", encoding="utf-8")
        part.replace(place)

    def read(self, name: str) -> Any:
        """Read a file of JSON."""
        return json.loads((self.path / f"{name}.json").read_text("utf-8"))

    def has(self, name: str) -> bool:
        """Return whether a step is finished."""
        return (self.path / f"{name}.json").exists()

    @cached_property
    def mutants(self) -> list[Mutant]:
        """The sampled mutants."""
        return [
            Mutant(k, path, Site(**site), before)
            for k, (path, site, before) in enumerate(self.read("mutants")["drawn"])
        ]

    def results(self) -> dict[tuple[int, str, int], dict[str, Any]]:
        """Return the results of mutants, by number, stage and group of tests."""
        file = self.path / "results.jsonl"
        lines = file.read_text("utf-8").splitlines() if file.exists() else []
        each = [json.loads(line) for line in lines]
        return {(one["k"], one["stage"], one["group"]): one for one in each}

    def outcome(self, k: int, stage: str) -> dict[str, Any] | None:
        """Return the result that caught a mutant, {} if none did, None if unfinished."""
        known = self.results()
        groups = [0] if stage == "replay" else range(len(GROUPS))
        found = [known[k, stage, g] for g in groups if (k, stage, g) in known]
        return next(
            (one for one in found if one["caught"]), {} if len(found) == len(groups) else None
        )

    def why(self, k: int) -> str:
        """Return the reason that ended the tests of a surviving mutant: a hang, a time limit."""
        known = self.results().items()
        return next((one["by"] for at, one in known if at[0] == k and one["by"]), "")

    def add(self, **result: object) -> None:
        """Append a result in one write, so that a kill leaves no partial line."""
        with (self.path / "results.jsonl").open("a", encoding="utf-8") as file:
            file.write(json.dumps(result) + "\n")


def change(mutant: Mutant) -> str:
    """Return the text before and after in one line."""
    before, after = (" ".join(text.split()) for text in (mutant.before, mutant.site.after))
    if mutant.site.operator == "lines swapped":
        return f"swap: {before}"
    if after in ("", "pass"):
        return f"delete: {before}"
    if mutant.site.operator == "condition negated":
        return f"negate: {before}"
    return f"{before} -> {after}"


def reached(group: Sequence[str]) -> str:
    """Return the name of the file that marks a known reach of a group of tests."""
    return f"reached-{group[0].replace('/', '-')}"


@dataclass(frozen=True)
class Plan:
    """All tests, the tests that reach each mutant, and their times."""

    tiers: dict[str, list[str]]
    reach: dict[int, set[str]]
    seconds: dict[str, float]
    broken: frozenset[str]
    groups: frozenset[str]

    @classmethod
    def read(cls, folder: Folder) -> "Plan":
        """Read the results of `reach`, without the tests that fail on unmutated code."""
        groups = frozenset(path.stem for path in folder.path.glob("reached-*.json"))
        reach: dict[int, set[str]] = defaultdict(set)
        tiers = {tier: folder.read(f"tests-{tier}") for tier in ("test", "ci", "all")}
        by_file: dict[str, list[str]] = defaultdict(list)
        for test in tiers["ci"]:
            by_file[test.split("::")[0]].append(test)
        for line in (folder.path / "reach.txt").read_text("utf-8").splitlines():
            k, test = line.split("\t", 1)
            name, _, phase = test.rpartition(" ")
            reach[int(k)].update(by_file[name] if phase == "(collect)" else [name])
        seconds: dict[str, float] = defaultdict(float)
        for line in (folder.path / "times.jsonl").read_text("utf-8").splitlines():
            test, _, _, took = json.loads(line)
            seconds[test] += took
        broken = folder.read("broken") if folder.has("broken") else []
        return cls(tiers, reach, seconds, frozenset(broken), groups)

    def tests(self, mutant: Mutant, stage: str) -> list[str]:
        """Return the tests of a stage that no earlier stage has run."""
        reached = self.reach[mutant.k]
        before = {"test": (), "ci": self.tiers["test"], "all": self.tiers["ci"]}[stage]
        asked = set(self.tiers[stage]) - set(before) - self.broken
        if stage != "all":
            return [test for test in self.tiers[stage] if test in asked & reached]
        files = {test.split("::")[0] for test in reached}
        functions = {test.split("[")[0] for test in reached}
        others = {test.split("[")[0] for test in self.tiers["ci"]} - functions
        return [
            test
            for test in self.tiers["all"]
            if test in asked
            and (
                test.split("[")[0] in functions
                or (test.split("::")[0] in files and test.split("[")[0] not in others)
            )
        ]

    def chunks(self, mutant: Mutant, stage: str, group: int) -> Iterator[list[str]]:
        """Yield lists of tests for one process each, the quickest files first."""
        mirror = "test_" + Path(mutant.path).stem.split(".")[0] + ".py"
        files: dict[str, list[str]] = defaultdict(list)
        for test in self.tests(mutant, stage):
            if test.startswith(GROUPS[group]):
                files[test.split("::")[0]].append(test)
        cost = {file: sum(self.seconds[test] for test in files[file]) for file in files}
        names = sorted(files, key=lambda name: (Path(name).name != mirror, cost[name]))
        for part in (names[:FIRST], names[FIRST:SECOND], names[SECOND:]):
            if part:
                yield [test for name in part for test in files[name]]
