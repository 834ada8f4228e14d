"""Where a study is kept, a file or a database: named, opened, its errors in one sentence."""

import sqlite3
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from importlib import import_module
from json import JSONDecodeError
from pathlib import Path
from traceback import walk_tb
from typing import TYPE_CHECKING, Any

from bncc.errors import StudyError, extra_command

if TYPE_CHECKING:
    from optuna.storages import RDBStorage

DEFAULT_NAME = "bncc"
"""Of a study in its store, unless a URL names another."""
_SQLITE = "sqlite:///"
_MAGIC = b"SQLite format 3\0"
_PATIENCE = 60.0
"""Seconds to wait for another process to let go of a file of SQLite."""
NEEDED = f"a study needs optuna and SQLAlchemy; run {extra_command('sweep')}"


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


def check_optuna() -> None:
    """Make optuna silent, and refuse to go on without it."""
    try:
        import optuna

        import_module("sqlalchemy")  # optuna does without it until there is a store
    except ImportError as error:
        raise StudyError(NEEDED) from error
    optuna.logging.set_verbosity(optuna.logging.CRITICAL)


@contextmanager
def quiet() -> Iterator[None]:
    """Keep optuna's warnings of what is experimental to come from those who read this program."""
    from optuna.exceptions import ExperimentalWarning

    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ExperimentalWarning)
        yield


@contextmanager
def opened(place: Place, *, new: bool = False) -> Iterator["RDBStorage"]:
    """Open the store of a study; let go of it behind the block."""
    check_optuna()
    if place.path is not None:
        _check_file(place.path)
    with _in_words(place), _storage(place.path, place.url, new=new) as storage:
        yield storage


@contextmanager
def _in_words(place: Place) -> Iterator[None]:
    """Raise what a store raises as one sentence."""
    from optuna.exceptions import StorageInternalError
    from sqlalchemy.exc import SQLAlchemyError

    try:
        yield
    except (SQLAlchemyError, StorageInternalError) as error:
        raise StudyError(_sentence(place, error)) from error
    except (JSONDecodeError, RecursionError) as error:  # the latter of JSON that is nested deeply
        raise StudyError(damaged(place.said)) from error
    except ImportError as error:
        raise StudyError(
            f"'{place.said}' needs a driver that is not installed; install the one that "
            "SQLAlchemy names for it, or keep the study in a file"
        ) from error
    except RuntimeError as error:
        if "table schema" not in str(error):
            raise
        raise StudyError(
            f"'{place.said}' is of another version of optuna; run `optuna storage upgrade` on it, "
            "or name another --study"
        ) from error
    except (ValueError, LookupError, TypeError, AttributeError) as error:
        if not _is_raised_in(error, "optuna", "sqlalchemy"):
            raise
        raise StudyError(damaged(place.said)) from error  # a cell that holds something else


def _is_raised_in(error: BaseException, *packages: str) -> bool:
    """Return whether an error comes from code of one of some packages."""
    frames = [frame for frame, _ in walk_tb(error.__traceback__)]
    module = str(frames[-1].f_globals.get("__name__"))
    return module.partition(".")[0] in packages


@contextmanager
def opened_half(path: Path) -> Iterator["RDBStorage"]:
    """Make a file of SQLite that appears whole, behind the block, or not at all."""
    check_optuna()
    half = path.with_name(f".{path.name}.half")
    journal = half.with_name(f"{half.name}-journal")
    for left in (half, journal):
        left.unlink(missing_ok=True)
    try:
        with _in_words(Place(str(path), None, path)), _storage(half, "", new=True) as storage:
            yield storage
        half.replace(path)
    finally:
        for left in (half, journal):
            left.unlink(missing_ok=True)


@contextmanager
def _storage(path: Path | None, url: str, *, new: bool) -> Iterator["RDBStorage"]:
    """Open a store, and close all its connections behind the block, also where it fails."""
    from optuna.storages import RDBStorage

    connections: list[sqlite3.Connection] = []
    engine: dict[str, Any] = {}
    if path is not None:
        # A name with a question mark or a percent sign would be none in a URL.
        file = f"{path.absolute().as_uri()}?mode={'rwc' if new else 'rw'}"

        def connected() -> sqlite3.Connection:
            found = sqlite3.connect(file, uri=True, timeout=_PATIENCE, check_same_thread=False)
            connections.append(found)
            return found

        engine, url = {"creator": connected}, "sqlite:///study"
    elif url.startswith("postgresql") and "client_encoding=" not in url:
        # A cluster made under LC_ALL=C has no encoding: text would come back as bytes.
        engine = {"connect_args": {"client_encoding": "utf8"}}
    storage = None
    try:
        with quiet():
            storage = RDBStorage(url, engine_kwargs=engine, skip_table_creation=not new)
        yield storage
    finally:
        if storage is not None:
            storage.remove_session()
            storage.engine.dispose()  # optuna leaves it open
        for connection in connections:
            connection.close()


def _check_file(path: Path) -> None:
    if not path.exists():
        raise StudyError(f"there is no '{path}'; name the file or URL of a study")
    if not path.is_file():
        raise StudyError(f"'{path}' is not a regular file; name the file of a study")
    with path.open("rb") as file:
        if file.read(len(_MAGIC)) != _MAGIC:
            raise StudyError(no_study(str(path)))


def no_study(said: str) -> str:
    """Return the sentence for a file or database that holds something else."""
    return f"'{said}' holds no study of bncc; name another file or URL"


def damaged(said: str) -> str:
    """Return the sentence for a study of which something was overwritten or lost."""
    return f"the study '{said}' is damaged; bring back a copy of it, or name another --study"


def _sentence(place: Place, error: BaseException) -> str:
    from sqlalchemy.exc import (
        ArgumentError,
        NoSuchModuleError,
        OperationalError,
        SQLAlchemyError,
    )

    if not isinstance(error, SQLAlchemyError):
        error = error.__cause__ or error

    if place.path is not None:
        reason = str(getattr(error, "orig", error))
        if "malformed" in reason:
            return damaged(place.said)
        if any(text in reason for text in ("locked", "disk", "readonly", "full", "unable to open")):
            return f"'{place.said}' cannot be used ({reason}); check the disk and its permissions"
        return no_study(place.said)
    if isinstance(error, ArgumentError | NoSuchModuleError):
        return f"'{place.said}' is no URL of a database, as postgresql://user@host/name is"
    if isinstance(error, OperationalError) and "no such table" not in str(error):
        return f"the database '{place.said}' does not answer; start it, or correct --study"
    return no_study(place.said)
