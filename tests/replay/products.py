"""Every product by its name, made in several processes."""

import traceback
from collections.abc import Iterable, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from functools import cache
from multiprocessing import get_context
from pathlib import Path

from tests.replay import commands, emissions
from tests.replay.groups import digests
from tests.replay.session import Files, LeftOut, Task


@cache
def all_tasks() -> dict[str, Task]:
    """Return the task of each product by its name."""
    return {**dict(emissions.tasks()), **dict(commands.tasks())}


@dataclass(frozen=True)
class Made:
    """
    The outcome of making a product.

    Parameters
    ----------
    digests : dict of str to str
        By group; empty where it was left out.
    left_out : str
        The reason why this machine cannot make it.
    failed : str
        The exception that ended it.
    """

    digests: dict[str, str]
    left_out: str = ""
    failed: str = ""


def made(name: str) -> Made:
    """Make a product, and catch every failure."""
    try:
        return Made(digests(all_tasks()[name]()))
    except LeftOut as reason:
        return Made({}, left_out=str(reason))
    except Exception as error:
        return Made({}, failed=repr(error))


def replay(names: Sequence[str], jobs: int) -> dict[str, Made]:
    """Make products in new interpreters, so that each has a hash seed of its own."""
    with ProcessPoolExecutor(jobs, mp_context=get_context("spawn")) as pool:
        return dict(zip(names, pool.map(made, names), strict=True))


def write_products(names: Iterable[str], folder: Path) -> None:
    """Write the files of products to folders of their names; of one that fails, the traceback."""
    for name in names:
        files: Files = {}
        try:
            files = all_tasks()[name]() if name in all_tasks() else {}
        except LeftOut:
            continue
        except Exception:
            files = {"failed.txt": traceback.format_exc()}
        for file, text in files.items():
            path = folder / name / file
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text, "utf-8", errors="surrogatepass", newline="\n")
