"""Where a study is kept: in a file, or in a database."""

from dataclasses import dataclass
from pathlib import Path

DEFAULT_NAME = "bncc"
"""Of a study in its store, unless a URL names another."""
_SQLITE = "sqlite:///"


@dataclass(frozen=True)
class Place:
    """Where a study is kept."""

    said: str  # As the user wrote it, without a password; for messages
    name: str | None  # Of the study in its store; None if the user names none
    path: Path | None  # The file of SQLite
    url: str = ""  # Of the database otherwise, as SQLAlchemy knows it

    @property
    def title(self) -> str:
        """For people: the file's name without its folder, or the name in the database."""
        return self.path.name if self.path is not None else self.name or DEFAULT_NAME


def place_of(text: str) -> Place:
    """Read what stands behind ``--study``."""
    if text.startswith(_SQLITE):
        text = text.removeprefix(_SQLITE)
    if "://" not in text:
        return Place(text, None, Path(text))
    url, _, name = text.partition("#")
    return Place(_without_password(url), name or None, None, _with_driver(url))


def _with_driver(url: str) -> str:
    """Name the driver that comes with bncc where the user names none."""
    for plain in ("postgresql://", "postgres://"):
        if url.startswith(plain):
            return f"postgresql+psycopg://{url.removeprefix(plain)}"
    return url


def _without_password(url: str) -> str:
    scheme, _, rest = url.partition("?")[0].partition("://")
    authority, slash, path = rest.partition("/")
    user, at, host = authority.rpartition("@")
    return f"{scheme}://{user.partition(':')[0]}{at}{host}{slash}{path}"
