"""A study in PostgreSQL: killed, continued, locked against others, read back."""

import os
import pwd
import shutil
import signal
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path
from secrets import token_hex
from typing import NoReturn

import pytest

from bncc.data.readers import bundled_path
from bncc.search.study import read_study
from tests.cli.sweeping import Sweeps, found_in, wait_for

pytestmark = [
    pytest.mark.postgres,
    pytest.mark.skipif(sys.platform != "linux", reason="starts a server of Debian's package"),
]

Refused = Callable[..., str]


def _programs() -> Path | None:
    """Return the folder of the newest server installed by Debian or found on the path."""
    found = sorted(Path("/usr/lib/postgresql").glob("*/bin/initdb"))
    if found:
        return found[-1].parent
    initdb = shutil.which("initdb")
    return Path(initdb).parent if initdb else None


@pytest.fixture(scope="module")
def server(missing: Callable[[str], NoReturn]) -> Iterator[str]:
    """Return the URL of a fresh server, without a database."""
    programs = _programs()
    if programs is None:
        missing("PostgreSQL is not installed; run `apt-get install postgresql`")
    # The server refuses to run as root, and has no access to pytest's folders then.
    is_root = os.geteuid() == 0
    if is_root and not _has_user("postgres"):
        missing("there is no user postgres, and root may run no PostgreSQL")
    user = "postgres" if is_root else None
    folder = Path(tempfile.mkdtemp(prefix="pg-"))
    if is_root:
        shutil.chown(folder, "postgres", "postgres")

    def run(program: str, *words: str) -> None:
        subprocess.run(
            [str(programs / program), *words], user=user, check=True, cwd=folder,
            stdout=subprocess.DEVNULL, timeout=120,
        )  # fmt: skip

    data = str(folder / "data")
    run("initdb", "-D", data, "-U", "postgres", "--auth=trust", "--no-sync")
    options = f"-k {folder} -c listen_addresses= -c fsync=off"
    run("pg_ctl", "-D", data, "-w", "-l", str(folder / "log"), "-o", options, "start")
    try:
        yield f"postgresql://postgres@/{{}}?host={folder}"
    finally:
        run("pg_ctl", "-D", data, "-m", "immediate", "stop")
        shutil.rmtree(folder)


def _has_user(name: str) -> bool:
    try:
        pwd.getpwnam(name)
    except KeyError:
        return False
    return True


@pytest.fixture
def database(server: str) -> str:
    """Return the URL of a database of this test."""
    import psycopg

    name = f"db_{token_hex(8)}"
    with psycopg.connect(server.format("postgres"), autocommit=True) as connection:
        connection.execute(f"CREATE DATABASE {name}".encode())
    return server.format(name)


@pytest.mark.long
def test_a_study_killed_and_continued_is_the_one_in_a_file(
    database: str, sweeps: Sweeps, tmp_path: Path
) -> None:
    for _ in range(2):
        process = sweeps.start(f"{database}#wifi")
        assert wait_for(process, ": trial")
        process.send_signal(signal.SIGKILL)
        process.communicate()
        sweeps.await_end()
    sweeps.finish(f"{database}#wifi")
    sweeps.finish(tmp_path / "file.db")
    assert sorted(found_in(database)) == list(range(12))
    assert found_in(database) == found_in(tmp_path / "file.db")


def test_a_database_without_an_encoding_serves(server: str, sweeps: Sweeps) -> None:
    """The encoding of a cluster that was created under ``LC_ALL=C``."""
    import psycopg

    name = f"db_{token_hex(8)}"
    with psycopg.connect(server.format("postgres"), autocommit=True) as connection:
        connection.execute(
            f"CREATE DATABASE {name} TEMPLATE template0 ENCODING 'SQL_ASCII' "
            "LC_COLLATE 'C' LC_CTYPE 'C'".encode()
        )
    sweeps.finish(server.format(name), "--trials", 2)
    assert sorted(found_in(server.format(name))) == [0, 1]


def test_two_studies_in_a_database_are_told_apart(
    database: str, sweeps: Sweeps, tmp_path: Path
) -> None:
    sweeps.finish(f"{database}#one", "--trials", 2)
    sweeps.finish(f"{database}#two", "--trials", 3, "--seed", 5)
    one, two = read_study(database)
    assert (one.name, len(one.points), two.name, len(two.points)) == ("one", 2, "two", 3)
    (again,) = read_study(f"{database}#two")
    assert again == two


def test_one_process_at_a_time_works_on_a_study(
    database: str, refused: Refused, sweeps: Sweeps, tmp_path: Path
) -> None:
    process = sweeps.start(database, "--repeats", 100)
    assert wait_for(process, ": trial")
    options = ("--target", "none", "--space", tmp_path / "space.toml", "--repeats", 100)
    line = refused("sweep", bundled_path("wifi"), "--study", database, *options)
    assert line.startswith("another bncc is using the study 'postgresql://postgres@/db")
    assert process.poll() is None


def test_a_server_that_does_not_answer_is_refused(refused: Refused, tmp_path: Path) -> None:
    url = f"postgresql://someone:secret@/x?host={tmp_path}"
    line = refused("sweep", bundled_path("wifi"), "--study", url, "--target", "none")
    assert line == (
        "the database 'postgresql://someone@/x' does not respond; start it, or correct --study"
    )
