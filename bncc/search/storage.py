"""Store of a study, a file or a database: naming, opening, and one-sentence errors."""

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
"""Name of a study in its store, unless a URL has another."""
_SQLITE = "sqlite:///"
_MAGIC = b"SQLite format 3\0"
_PATIENCE = 60.0
"""Timeout in seconds for a locked SQLite file."""
NEEDED = f"a study needs optuna and SQLAlchemy; run {extra_command('sweep')}"


@dataclass(frozen=True)
class Place:
    """Location of a study."""

    said: str  # As the user wrote it, without a password; for messages
    name: str | None  # Name of the study in its store; None if the user gives none
    path: Path | None  # The SQLite file
    url: str = ""  # URL of another database, in SQLAlchemy's form

    @property
    def title(self) -> str:
        """Name for display: the file's name without its folder, or the name in the database."""
        return self.path.name if self.path is not None else self.name or DEFAULT_NAME


def place_of(text: str) -> Place:
    """Parse the value of ``--study``."""
    if text.startswith(_SQLITE):
        text = text.removeprefix(_SQLITE)
    if "://" not in text:
        return Place(text, None, Path(text))
    url, _, name = text.partition("#")
    return Place(_without_password(url), name or None, None, _with_driver(url))


def _with_driver(url: str) -> str:
    """Add the driver that comes with bncc if the user names none."""
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
    """Silence optuna, and raise an error if it is missing."""
    try:
        import optuna

        import_module("sqlalchemy")  # optuna needs it only once there is a store
    except ImportError as error:
        raise StudyError(NEEDED) from error
    optuna.logging.set_verbosity(optuna.logging.CRITICAL)


@contextmanager
def quiet() -> Iterator[None]:
    """Suppress optuna's warnings about its experimental features."""
    from optuna.exceptions import ExperimentalWarning

    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ExperimentalWarning)
        yield


@contextmanager
def opened(place: Place, *, new: bool = False) -> Iterator["RDBStorage"]:
    """Open the store of a study; release it after the block."""
    check_optuna()
    if place.path is not None:
        _check_file(place.path)
    with _in_words(place), _storage(place.path, place.url, new=new) as storage:
        yield storage


@contextmanager
def _in_words(place: Place) -> Iterator[None]:
    """Convert the exceptions of a store to one sentence."""
    from optuna.exceptions import StorageInternalError
    from sqlalchemy.exc import SQLAlchemyError

    try:
        yield
    except (SQLAlchemyError, StorageInternalError) as error:
        raise StudyError(_sentence(place, error)) from error
    except (JSONDecodeError, RecursionError) as error:  # the latter from deeply nested JSON
        raise StudyError(damaged(place.said)) from error
    except ImportError as error:
        raise StudyError(
            f"'{place.said}' needs a driver that is not installed; install the one that "
            "SQLAlchemy names for it, or use a file as the study"
        ) from error
    except RuntimeError as error:
        if "table schema" not in str(error):
            raise
        raise StudyError(
            f"'{place.said}' was written by another version of optuna; run `optuna storage "
            "upgrade` on it, or name another --study"
        ) from error
    except (ValueError, LookupError, TypeError, AttributeError) as error:
        if not _is_raised_in(error, "optuna", "sqlalchemy"):
            raise
        raise StudyError(damaged(place.said)) from error  # a cell with an unexpected value


def _is_raised_in(error: BaseException, *packages: str) -> bool:
    """Return whether an error comes from code of one of some packages."""
    frames = [frame for frame, _ in walk_tb(error.__traceback__)]
    module = str(frames[-1].f_globals.get("__name__"))
    return module.partition(".")[0] in packages


@contextmanager
def opened_half(path: Path) -> Iterator["RDBStorage"]:
    """Create an SQLite file that appears complete after the block, or not at all."""
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
    """Open a store, and close all its connections after the block, even if it fails."""
    from optuna.storages import RDBStorage

    connections: list[sqlite3.Connection] = []
    engine: dict[str, Any] = {}
    if path is not None:
        # A name with a question mark or a percent sign would be invalid in a URL.
        file = f"{path.absolute().as_uri()}?mode={'rwc' if new else 'rw'}"

        def connected() -> sqlite3.Connection:
            found = sqlite3.connect(file, uri=True, timeout=_PATIENCE, check_same_thread=False)
            connections.append(found)
            return found

        engine, url = {"creator": connected}, "sqlite:///study"
    elif url.startswith("postgresql") and "client_encoding=" not in url:
        # A cluster created under LC_ALL=C has no encoding: text would be returned as bytes.
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
        raise StudyError(f"'{path}' does not exist; name the file or URL of a study")
    if not path.is_file():
        raise StudyError(f"'{path}' is not a regular file; name the file of a study")
    with path.open("rb") as file:
        if file.read(len(_MAGIC)) != _MAGIC:
            raise StudyError(no_study(str(path)))


def no_study(said: str) -> str:
    """Return the sentence for a file or database that holds something else."""
    return f"'{said}' contains no study of bncc; name another file or URL"


def damaged(said: str) -> str:
    """Return the sentence for a study of which something was overwritten or lost."""
    return f"the study '{said}' is corrupt; restore a copy of it, or name another --study"


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
        return f"'{place.said}' is not a database URL; use one such as postgresql://user@host/name"
    if isinstance(error, OperationalError) and "no such table" not in str(error):
        return f"the database '{place.said}' does not respond; start it, or correct --study"
    return no_study(place.said)
