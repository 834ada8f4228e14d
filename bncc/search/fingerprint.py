"""Fingerprint of a study or a search, and the check whether a command resumes it."""

from collections.abc import Mapping, Sequence
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

import bncc
from bncc.data.dataset import Dataset
from bncc.errors import StudyError, ToolchainError
from bncc.resources import PLAIN_FILTER
from bncc.search.log import Head
from bncc.search.space import Space
from bncc.search.storage import damaged
from bncc.train.checkpoint.folder import data_digest, difference, identity_of

if TYPE_CHECKING:  # trains and measures, which readers of a study do not need
    from bncc.search.evaluation import SearchInput
    from bncc.timing.timebase import Timebase

Facts = Mapping[str, Any]

_COMPARED = {
    "bncc": "the version of bncc",
    "class": "the class column",
    "fold": "--fold",
    "groups": "--groups",
    "ordered": "--ordered",
    "seed": "--seed",
    "repeats": "--repeats",
    "sampler": "--sampler",
    "objectives": "--objective",
    "targets": "--target",
    "entries": "--entry",
    "part": "--part",
    "clock": "--clock",
}
"""Facts that must be equal, with values that a message can show."""
_COMPARED_WHOLE = {"digest": "rows", "test_digest": "test rows", "space": "space"}
"""Facts that must be equal, and are too long for a message."""

_COUNTS = ("n_rows", "n_test", "n_features", "n_classes", "seed", "repeats")
_LISTS = ("features", "objectives", "targets")


def study_facts(
    train: Dataset,
    test: Dataset | None,
    space: Space,
    *,
    data: str,
    fold: int | None,
    seed: int,
    repeats: int,
    sampler: str,
    objectives: Sequence[str],
    targets: Sequence[str],
    toolchains: Mapping[str, str],
    entries: Sequence[str] = (),
    base: "Timebase | None" = None,
) -> dict[str, Any]:
    """Return the facts of a study."""
    return {
        "data": data,
        "digest": data_digest(train),
        "test_digest": None if test is None else data_digest(test),
        "class": train.class_name,
        "n_rows": train.n_rows,
        "n_test": 0 if test is None else test.n_rows,
        "n_features": len(train.table.columns),
        "features": list(train.table.names),
        "n_classes": len(train.classes),
        "fold": fold,
        # None if unused, as in studies without these facts.
        "groups": None if train.split.groups is None else train.split.column,
        "ordered": True if train.split.ordered else None,
        "seed": seed,
        "repeats": repeats,
        "sampler": sampler,
        "objectives": list(objectives),
        "targets": list(targets),
        "entries": list(entries) or ["default"],
        "toolchains": dict(toolchains),
        "bncc": bncc.__version__,
        "space": space.to_json(),
        # Absent without a part, as in studies of earlier versions.
        **({} if base is None else {"part": base.part, "clock": base.clock}),
    }


def checked_facts(found: object, said: str) -> Facts:
    """Restore the return value of `study_facts` from a store."""
    if isinstance(found, dict):
        kinds = (*((key, int) for key in _COUNTS), *((key, list) for key in _LISTS))
        kinds = (*kinds, ("sampler", str), ("toolchains", dict))
        if all(isinstance(found.get(key), kind) for key, kind in kinds):
            return found
    raise StudyError(damaged(said))


def check_same(ours: Facts, theirs: Facts, said: str) -> None:
    """Refuse to resume a study with other facts."""
    for key, what in _COMPARED.items():
        if ours.get(key) != theirs.get(key):
            difference = (
                f"{what} is {_shown(theirs.get(key))} there and {_shown(ours.get(key))} here"
            )
            raise StudyError(
                f"'{said}' is another study: {difference}; repeat its options, or name another "
                "--study"
            )
    for key, what in _COMPARED_WHOLE.items():
        if ours.get(key) != theirs.get(key):
            raise StudyError(
                f"'{said}' is another study: its {what} "
                f"{'differs' if key == 'space' else 'differ'} from "
                f"{'that' if key == 'space' else 'those'} of this command; name another --study"
            )


def _shown(value: object) -> str:
    if isinstance(value, list | tuple):
        return " and ".join(map(str, value)) or "none"
    return "absent" if value is None else "given" if value is True else str(value)


def search_head(given: "SearchInput", families: Sequence[str]) -> Head:
    """Return the fingerprint of a budget search."""
    dataset, budget, test = given.dataset, given.budget, given.test
    return {
        **identity_of(dataset, given.base),
        "test_rows": None if test is None else data_digest(test),
        "file": dataset.digest,
        "units": dict(dataset.units),
        "groups": None if dataset.split.groups is None else dataset.split.column,
        "choose_by": given.choose_by,
        "families": list(families),
        "max_flash": budget.flash,
        "max_instructions": budget.instructions,
        "reserve": budget.reserve,
        "target": budget.target,
        "entry": list(budget.entries),
        "with": sorted(budget.extras),
        "engine": given.base.engine or _engine(),
        "toolchain": given.toolchain,
        # Absent if unused, as in the logs of earlier versions.
        **({} if budget.ram is None else {"max_ram": budget.ram}),
        **({} if budget.core is None else {"core": asdict(budget.core)}),
        **({"provable": True} if budget.provable else {}),
        **({} if budget.filter == PLAIN_FILTER else {"filter": asdict(budget.filter)}),
    }


def search_difference(ours: Head, theirs: Head) -> str:
    """Describe the first difference between two searches."""
    if not theirs:
        return "it is not the log of a search"
    if ours["data"] == theirs.get("data"):
        for name, what in {"test_rows": "test rows", "file": "bytes of the data file"}.items():
            if ours[name] != theirs.get(name):
                return f"the {what} differ"
    return difference(ours, theirs)


def _engine() -> str:
    """Return the training engine where the options leave it open."""
    from bncc.native import DESCENT
    from bncc.toolchain.library import native_library

    try:
        native_library(DESCENT)
    except ToolchainError:
        return "torch"
    return "native"
