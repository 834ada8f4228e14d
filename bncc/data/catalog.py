"""Data sets that ship with the package."""

from pathlib import Path

from bncc.errors import DataError

_BUNDLED = {
    "robot": "robot_wall_following_24.csv.gz",
    "wifi": "wifi_localization.csv.gz",
}


def bundled_names() -> tuple[str, ...]:
    """Return the names that `bundled_path` knows."""
    return tuple(_BUNDLED)


def bundled_path(name: str) -> Path:
    """Return the file of a bundled data set."""
    if name not in _BUNDLED:
        raise DataError(f"there is no bundled data set {name!r}; choose from {', '.join(_BUNDLED)}")
    return Path(__file__).with_name("bundled") / _BUNDLED[name]
