"""Values by key in a file of lines of JSON: what an earlier run computed is not computed again."""

import json
from collections.abc import Callable
from dataclasses import asdict, dataclass
from pathlib import Path
from subprocess import run
from typing import Any

from benchmarks.shared.log import appending, last_results


@dataclass(frozen=True)
class Known:
    """A line of the file."""

    key: str
    value: Any  # JSON value


class Memory:
    """Values of earlier runs and of this one."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._known = {key: one.value for key, one in last_results(path, Known).items()}

    def __contains__(self, key: str) -> bool:
        return key in self._known

    def __getitem__(self, key: str) -> Any:
        return self._known[key]

    def get(self, key: str, compute: Callable[[], Any]) -> Any:
        """Return a value, computed and written to the file if it is unknown."""
        if key not in self._known:
            self.put(key, compute())
        return self._known[key]

    def compact(self) -> None:
        """Keep one line per key in the file, in the order of keys."""
        lines = [json.dumps(asdict(Known(key, self._known[key]))) for key in sorted(self._known)]
        self._path.write_text("\n".join(lines) + "\n", "utf-8")

    def put(self, key: str, value: Any) -> None:
        """Write a value to the file, instead of an earlier one if there is any."""
        with appending(self._path) as add:
            add(Known(key, value))
        self._known[key] = value


def commit() -> str:
    """Return the version of this repository, which results are kept with."""
    here = str(Path(__file__).resolve().parent)
    command = ("git", "-C", here, "rev-parse", "--short=8", "HEAD")
    return run(command, check=True, capture_output=True, text=True).stdout.strip()
