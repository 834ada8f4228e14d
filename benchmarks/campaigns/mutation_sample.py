"""
Random mutations of bncc and its templates, and the tiers of tests that catch them.

Run ``python -m benchmarks.campaigns.mutation_sample STEP --folder F`` for these steps in turn:

    draw   [--seed 0] [--n 60]
    reach  [--jobs 2] [--data ../shared/data]
    run    [--part 1/2] [--stages test ci replay all]
    broken
    table  [--verdicts FILE]

`draw` lists the mutants. `reach` runs the tier `ci` and the replay once in an instrumented copy of
the tree, which takes as long as they do, and writes the tests that execute each mutated line. `run`
applies one mutation at a time to a copy and runs the tests that reach it, the quickest first, to
the first failure: the tests of `make test`, then the others of `.ci/run`, the products of the
replay, and, if both miss it, the other cases of the same test functions in `make test-all`, for
some minutes. All results stay in the folder, and each step resumes. Several runs may share a
folder.

Not covered: a line that only a process without PYTEST_CURRENT_TEST or without PYTHONPATH executes.
"""

import argparse
import json
import os
import shutil
import subprocess
import sys
import time
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

from benchmarks.campaigns.mutation_operators import draw, is_mutable
from benchmarks.campaigns.mutation_reach import instrument
from benchmarks.campaigns.mutation_results import (
    GROUPS,
    STAGES,
    Folder,
    Mutant,
    Plan,
    change,
    reached,
)
from benchmarks.shared.markdown import table

ROOT = Path(__file__).resolve().parents[2]
BEFORE: dict[str, tuple[str, ...]] = {
    "test": (), "ci": ("test",), "replay": (), "all": ("test", "ci", "replay"),
}  # fmt: skip
"""Stages that must miss a mutant before it is tried in another."""
PRODUCTS = 12
"""Number of products that the replay makes before all others that reach a mutation."""
GATE = """
import sys
from tests.replay import __main__ as gate
gate.show = lambda names: None
if __name__ == "__main__":
    sys.exit(gate.main())
"""
"""The replay without the output of differing lines, which would take longer than the comparison."""
FLAGS = ("-x", "-q", "-p", "no:randomly", "-p", "no:cacheprovider", "-p", "mutation_probe")


def git(*words: str) -> str:
    """Return the output of a git command in the repository."""
    done = subprocess.run(["git", *words], cwd=ROOT, check=True, capture_output=True, text=True)
    return done.stdout.strip()


def copy_tree(folder: Folder, name: str, data: Path | None) -> Path:
    """Return a copy of the committed tree, with this environment, the data and the plugin."""
    tree = folder.path / name / "tree"
    if tree.exists():
        shutil.rmtree(tree.parent)
    tree.parent.mkdir(parents=True)
    subprocess.run(["git", "clone", "-q", ROOT, tree], check=True)
    commit = folder.read("mutants")["commit"]
    subprocess.run(["git", "-C", tree, "checkout", "-q", "--detach", commit], check=True)
    (tree / ".venv").symlink_to(sys.prefix)
    if data is not None:
        (tree.parent / "shared").mkdir()
        (tree.parent / "shared" / "data").symlink_to(data.resolve())
    shutil.copy(Path(__file__).with_name("mutation_probe.py"), tree / "mutation_probe.py")
    return tree


def environment(tree: Path, **more: str) -> dict[str, str]:
    """Return the environment variables for the tests of a copy."""
    fixed = {"PYTHONPATH": str(tree), "OMP_NUM_THREADS": "1", "PYTHONDONTWRITEBYTECODE": ""}
    return {**os.environ, **fixed, **more}


def draw_step(folder: Folder, n: int, n_printed: int, seed: int) -> None:
    """Sample the mutants, and more in C and templates, which have few lines; list them."""
    if not folder.has("mutants"):
        paths = [path for path in git("ls-files", "bncc", "templates").split() if is_mutable(path)]
        texts = {path: (ROOT / path).read_bytes() for path in paths}
        found = draw([*texts.items()], n, seed)
        c_texts = [(path, text) for path, text in texts.items() if not path.endswith(".py")]
        more = [each for each in draw(c_texts, n_printed, seed) if each not in found]
        drawn = [
            (path, asdict(site), texts[path][site.start : site.end].decode())
            for path, site in (*found, *more)
        ]
        commit = git("rev-parse", "HEAD")
        folder.write("mutants", {"commit": commit, "seed": seed, "n": n, "drawn": drawn})
    for mutant in folder.mutants:
        print(mutant.k, mutant.place, mutant.site.operator, change(mutant), sep="\t")


def collected(tree: Path, tier: str) -> list[str]:
    """Return the tests of a tier."""
    words = ["-m", "pytest", "--collect-only", *FLAGS[1:6], "--tier", tier]
    done = subprocess.run(
        [sys.executable, *words], cwd=tree, env=environment(tree), capture_output=True, text=True
    )
    return [line for line in done.stdout.splitlines() if line.startswith("tests/") and "::" in line]


def reach_step(folder: Folder, jobs: int, data: Path | None, kinds: Sequence[str]) -> None:
    """Run the tier `ci` and the replay in an instrumented copy, and list the reaching tests."""
    tree = copy_tree(folder, f"reach-{os.getpid()}", data)
    for tier in ("test", "ci", "all"):
        if not folder.has(f"tests-{tier}"):
            folder.write(f"tests-{tier}", collected(tree, tier))
    out, times = folder.path / "reach.txt", folder.path / "times.jsonl"
    places = [(mutant.path, mutant.site) for mutant in folder.mutants]
    files = instrument(tree, places)
    (tree / "mutation_probe.json").write_text(json.dumps({"out": str(out), "files": files}))
    environ = environment(tree, MUTATION_TIMES=str(times))
    (folder.path / "logs").mkdir(exist_ok=True)
    if not folder.has("reached-replay"):
        code = "import mutation_probe; mutation_probe.replay()"
        subprocess.run([sys.executable, "-c", code], cwd=tree, env=environ, check=True)
        folder.write("reached-replay", True)
    for group in GROUPS:
        if kinds and group[0] not in kinds:
            continue
        done = reached(group)
        files = sorted({test.split("::")[0] for test in folder.read("tests-ci")})
        files = [file for file in files if file.startswith(group)]
        if folder.has(done):
            continue
        words = ["-m", "pytest", "-n", str(jobs), *FLAGS[1:], "--tier", "ci"]
        with (folder.path / "logs" / f"{done}.txt").open("w") as log:
            subprocess.run(
                [sys.executable, *words, "--hypothesis-seed=0", *files],
                cwd=tree, env=environ, stdout=log, check=False,
            )  # fmt: skip
        folder.write(done, True)
        print(done, flush=True)


class Bench:
    """A copy of the tree in which one mutation after the other is tried."""

    def __init__(self, folder: Folder, name: str, data: Path | None) -> None:
        self.folder = folder
        self.tree = copy_tree(folder, name, data)
        self.now = self.tree.parent / "now"

    def put(self, path: str, source: bytes) -> None:
        """Write a file, and delete its bytecode."""
        place = self.tree / path
        place.write_bytes(source)
        for cached in place.parent.glob(f"__pycache__/{place.stem}.*.pyc"):
            cached.unlink()

    def run(self, words: Sequence[str], until: float, log: Path, **more: str) -> int | str:
        """Return the exit code of a Python program, or the hanging test, or `TOO_LONG`."""
        environ = environment(self.tree, MUTATION_NOW=str(self.now), **more)
        self.now.write_text(f"{time.time()}\t", encoding="utf-8")
        with log.open("a") as out, subprocess.Popen(
            [sys.executable, *words], cwd=self.tree, env=environ, stdout=out, stderr=out,
            stdin=subprocess.DEVNULL, start_new_session=True,
        ) as child:  # fmt: skip
            while child.poll() is None:
                time.sleep(0.1)
                since, _, test = (self.now.read_text("utf-8") or "0\t").partition("\t")
                is_stuck = bool(test) and time.time() - float(since) > HANG
                if time.time() > until or is_stuck:
                    os.killpg(child.pid, 9)
                    return test if is_stuck else TOO_LONG
        return child.returncode

    def tests(
        self, plan: Plan, mutant: Mutant, stage: str, group: int, limit: float
    ) -> dict[str, Any]:
        """Run the tests of a stage and a group to the first failure."""
        until, n, hangs = time.time() + limit, 0, ""
        log = self.folder.path / "logs" / f"{mutant.k:02}-{stage}-{group}.txt"
        log.parent.mkdir(exist_ok=True)
        log.unlink(missing_ok=True)
        left = [*plan.chunks(mutant, stage, group)]
        while left:
            tests = left.pop(0)
            asked = self.tree.parent / "tests.json"
            asked.write_text(json.dumps({"tests": tests, "known": plan.tiers["all"]}))
            files = sorted({test.split("::")[0] for test in tests})
            words = ["-m", "pytest", *FLAGS, "--tier", stage, "--hypothesis-seed=0", *files]
            code = self.run(words, until, log, MUTATION_TESTS=str(asked))
            if code == -9:  # neither this script nor a mutant sends SIGKILL
                raise SystemExit(f"mutant {mutant.k}: pytest was killed; run again")
            n += len(tests)
            if code in (TOO_LONG, NOTHING_RAN):
                return {"caught": False, "by": str(code), "tests": n}
            if isinstance(code, str):  # other tests may catch it
                hangs = hangs or f"hangs in {code}"
                left[:0] = [rest] if (rest := tests[tests.index(code) + 1 :]) else []
            elif code != 0:
                return {"caught": True, "by": first_failure(log, code), "tests": n}
        return {"caught": False, "by": hangs, "tests": n}

    def replay(self, plan: Plan, mutant: Mutant, limit: float) -> dict[str, Any]:
        """Make the products that reach a mutation."""
        names = sorted(
            test.split("::", 1)[1] for test in plan.reach[mutant.k] if test.startswith("replay::")
        )
        first = names[:: max(1, len(names) // PRODUCTS)]
        log = self.folder.path / "logs" / f"{mutant.k:02}-replay.txt"
        log.parent.mkdir(exist_ok=True)
        for part in (first, [name for name in names if name not in first]):
            pattern = "^(" + "|".join(part) + ")$"
            words = ["-c", GATE, "--jobs", "1", "--only", pattern]
            code = self.run(words, time.time() + limit, log) if part else 0
            if code != 0:
                return {"caught": code != TOO_LONG, "by": str(code), "tests": len(names)}
        return {"caught": False, "by": "", "tests": len(names)}


TOO_LONG = "time limit"
NOTHING_RAN = 5
"""Exit code of pytest that collected none of the tests."""
HANG = 300.0
"""Seconds after which a single test counts as hanging."""


def first_failure(log: Path, code: int) -> str:
    """Return the test that failed first, or the exit code of pytest."""
    for line in log.read_text("utf-8", errors="replace").splitlines():
        if line.startswith(("FAILED tests", "ERROR tests")):
            return line.split(" - ")[0].split(" ", 1)[1]
    return f"pytest ended with {code}"


def run_step(folder: Folder, options: argparse.Namespace) -> None:
    """Try mutants in the selected stages, as far as their reach is known."""
    part, parts = map(int, options.part.split("/"))
    bench = Bench(folder, f"bench-{os.getpid()}", options.data)
    for stage in options.stages:
        for mutant in folder.mutants:
            if mutant.k % parts != part - 1 or (options.only and mutant.k not in options.only):
                continue
            if any(folder.outcome(mutant.k, each) != {} for each in BEFORE[stage]):
                continue
            if folder.outcome(mutant.k, stage) is not None:
                continue
            plan = Plan.read(folder)  # `reach` may still be running
            source = (bench.tree / mutant.path).read_bytes()
            bench.put(mutant.path, mutant.site.applied(source))
            try_stage(folder, bench, plan, mutant, stage, options)
            bench.put(mutant.path, source)


def try_stage(
    folder: Folder,
    bench: Bench,
    plan: Plan,
    mutant: Mutant,
    stage: str,
    options: argparse.Namespace,
) -> None:
    """Run the remaining tests of a stage until one fails."""
    groups = [("replay",)] if stage == "replay" else GROUPS
    for g, group in enumerate(groups):
        if folder.outcome(mutant.k, stage) is not None:
            return
        if (mutant.k, stage, g) in folder.results() or reached(group) not in plan.groups:
            continue
        begun = time.time()
        if stage == "replay":
            found = bench.replay(plan, mutant, options.limit)
        else:
            limit = options.limit
            if stage == "all":  # limit for all groups together
                known = folder.results().items()
                before = [one["seconds"] for at, one in known if at[:2] == (mutant.k, stage)]
                limit = max(options.limit_all - sum(before), 5.0)
            found = bench.tests(plan, mutant, stage, g, limit)
        took = round(time.time() - begun, 1)
        folder.add(k=mutant.k, stage=stage, group=g, seconds=took, **found)
        print(mutant.k, mutant.place, stage, group[0], found, took, flush=True)


def broken_step(folder: Folder, data: Path | None) -> None:
    """List the tests that fail in the instrumented copy and in an unmutated one."""
    lines = (folder.path / "times.jsonl").read_text("utf-8").splitlines()
    failed = sorted({line[0] for line in map(json.loads, lines) if line[2] == "failed"})
    tree = copy_tree(folder, "clean", data)
    times = folder.path / "clean.jsonl"
    if failed:
        asked = tree.parent / "tests.json"
        asked.write_text(json.dumps({"tests": failed, "known": folder.read("tests-all")}))
        files = sorted({test.split("::")[0] for test in failed})
        words = ["-m", "pytest", *FLAGS[1:], "--tier", "ci", *files]
        environ = environment(tree, MUTATION_TESTS=str(asked), MUTATION_TIMES=str(times))
        subprocess.run([sys.executable, *words], cwd=tree, env=environ)
    again = times.read_text("utf-8").splitlines() if times.exists() else []
    folder.write("broken", sorted({x[0] for x in map(json.loads, again) if x[2] == "failed"}))


def is_caught(found: Mapping[str, Any], *stages: str) -> bool | None:
    """Return whether one of some stages caught a mutant; None if some are unfinished."""
    if any(found[stage] for stage in stages):
        return True
    return None if any(found[stage] is None for stage in stages) else False


def table_step(folder: Folder, verdicts: Path | None) -> None:
    """Print the shares and a row for each mutant."""
    words = json.loads(verdicts.read_text("utf-8")) if verdicts else {}
    drawn = folder.read("mutants")
    rows, caught = [], []
    for mutant in folder.mutants:
        each = {stage: folder.outcome(mutant.k, stage) for stage in STAGES}
        found = {stage: one or {} for stage, one in each.items()}
        replay = is_caught(each, "replay")
        of_ci = is_caught(each, "test", "ci", "replay")
        caught.append(
            (is_caught(each, "test"), of_ci, replay, is_caught(each, "test", "ci", "all"))
        )
        by = next((found[s]["by"] for s in ("test", "ci", "all") if found[s]), "")
        by = by or ("the replay" if replay else folder.why(mutant.k) or "nothing")
        if str(mutant.k) in words:
            by = f"{by}; {words[str(mutant.k)]}"
        text = change(mutant).replace("|", "\\|")
        short = text if len(text) <= WIDTH else f"{text[: WIDTH - 3]}..."
        marks = [MARKS[one] for one in caught[-1]]
        rows.append([str(mutant.k), mutant.place, f"`{short}`", *marks, by.replace("tests/", "")])
    n = drawn["n"]
    print(HEAD.format(commit=drawn["commit"][:9], seed=drawn["seed"], n=n))
    parts = [caught[:n], caught[n:]]
    shares = [
        [gate, *(f"{sum(one[g] is True for one in part)} of {len(part)}" for part in parts)]
        for g, gate in enumerate(("`make test`", "`.ci/run`", "`make replay`", "`make test-all`"))
    ]
    head = ["caught by", f"{n} lines of all", f"{len(rows) - n} lines of C and templates"]
    print(table(head, shares))
    print(table(["k", "place", "change", "test", "ci", "replay", "all", "caught first by"], rows))


HEAD = """# Detection of random mutations

Printed by `benchmarks/campaigns/mutation_sample.py`, which describes the sampling of mutants.
Commit {commit}, seed {seed}. The first {n} are lines of all code, the others lines of C and
templates.

`.ci/run` includes its tests and its replay, without linters, coverage and the bare machine. A `-`
is an unfinished run, and does not count as caught. `make test-all` is the tests alone; its cases
beyond those of `.ci/run` run if `.ci/run` catches nothing.
"""
WIDTH = 60
MARKS = {True: "yes", False: "no", None: "-"}


def main(words: Iterable[str] | None = None) -> None:
    """Run a step."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("step", choices=("draw", "reach", "broken", "run", "table"))
    parser.add_argument("--folder", type=Path, required=True)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--n", type=int, default=60)
    parser.add_argument("--n-printed", type=int, default=20, help="mutants of C and templates")
    parser.add_argument("--jobs", type=int, default=2, help="processes of `reach`")
    parser.add_argument("--groups", nargs="*", default=[], help="for `reach`, such as tests/cli")
    parser.add_argument("--data", type=Path, help="folder of the shared data")
    parser.add_argument("--part", default="1/1", help="part K/N of all mutants")
    parser.add_argument("--only", type=int, nargs="*", help="numbers of mutants")
    parser.add_argument("--stages", nargs="*", choices=STAGES, default=STAGES)
    parser.add_argument("--limit", type=float, default=900.0, help="seconds per group of tests")
    parser.add_argument("--limit-all", type=float, default=360.0, help="seconds of stage all")
    parser.add_argument("--verdicts", type=Path, help="JSON with comments on survivors, by number")
    options = parser.parse_args(words)
    folder = Folder(options.folder)
    if options.step == "draw":
        draw_step(folder, options.n, options.n_printed, options.seed)
    elif options.step == "reach":
        reach_step(folder, options.jobs, options.data, options.groups)
    elif options.step == "broken":
        broken_step(folder, options.data)
    elif options.step == "run":
        run_step(folder, options)
    else:
        table_step(folder, options.verdicts)


if __name__ == "__main__":
    main()
