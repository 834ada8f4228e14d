"""Replay: make every product again, and compare it with the digests that were committed."""

import argparse
import re
import subprocess
import sys
import time
from collections.abc import Sequence
from pathlib import Path

from tests.replay import record
from tests.replay.lines import git, show
from tests.replay.products import all_tasks, replay, write_products
from tests.replay.session import ROOT

SHOWN = 3
"""Products whose difference is shown."""
NAMED = 30
"""Products that differ and are named one by one; more are counted by kind."""


def main(words: Sequence[str] | None = None) -> int:
    """Run the gate; return 0 where all products are as committed or accepted, else 1."""
    asked = _arguments(words)
    if asked.write is not None:
        write_products(asked.names or all_tasks(), asked.write.resolve())
        return 0
    begun = time.monotonic()
    names = [name for name in all_tasks() if re.search(asked.only, name)]
    made = replay(names, asked.jobs)
    committed = record.read()
    now = {name: each.digests for name, each in made.items() if not each.left_out}
    for name, each in made.items():
        if each.left_out:
            print(f"left out: {name}: {each.left_out}")
        if each.failed:
            print(f"failed: {name}: {each.failed}")
    took = f"{len(now)} products in {time.monotonic() - begun:.0f} s"
    if asked.accept:
        if any(each.failed for each in made.values()):
            print("nothing is accepted while products fail")
            return 1
        others = {n: each for n, each in committed.items() if not re.search(asked.only, n)}
        left_out = {n: committed[n] for n in made if n not in now and n in committed}
        accept({**others, **left_out, **now})
        print(took)
        return 0
    expected = {
        name: each
        for name, each in committed.items()
        if re.search(asked.only, name) and not (name in made and made[name].left_out)
    }
    changed = record.differences(expected, now)
    if not changed:
        print(f"{took}, all as committed")
        return 0
    print(record.summary(changed, expected, now, NAMED))
    show(record.first_of_each_kind(changed, asked.show))
    print(f"\n{took}; accept what is meant with `make replay-accept`")
    return 1


def accept(digests: record.Digests) -> None:
    """Write the digests and print a diffstat."""
    record.write(digests)
    try:
        print(git("diff", "--stat", "HEAD", "--", str(record.FOLDER.relative_to(ROOT))), end="")
    except (OSError, subprocess.CalledProcessError):
        print("no diffstat: this is no git checkout")


def _arguments(words: Sequence[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m tests.replay", description=__doc__)
    parser.add_argument("--accept", action="store_true", help="renew the digests")
    parser.add_argument("--only", metavar="REGEX", default="", help="products of such names alone")
    parser.add_argument("--jobs", type=int, default=2, help="processes [default: 2]")
    parser.add_argument("--show", type=int, default=SHOWN, help="products whose lines are shown")
    parser.add_argument("--write", type=Path, metavar="FOLDER", help="write products there")
    parser.add_argument("names", nargs="*", help="with --write: which products [default: all]")
    return parser.parse_args(words)


if __name__ == "__main__":
    sys.exit(main())
