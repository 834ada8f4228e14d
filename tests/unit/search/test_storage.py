"""Storage of a study: files, URLs, and no password shown."""

from pathlib import Path

import pytest

from bncc.search.storage import Place, place_of


@pytest.mark.parametrize("text", ["a#b.db", "folder/s.db", "s?.db"])
def test_a_file_is_taken_as_it_is(text: str) -> None:
    place = place_of(text)
    assert place == Place(text, None, Path(text))
    assert place.title == Path(text).name


def test_a_url_of_sqlite_is_a_file() -> None:
    assert place_of("sqlite:///x/s.db") == place_of("x/s.db")


def test_a_url_may_name_its_study() -> None:
    place = place_of("mysql://h/db#wifi")
    assert (place.url, place.name, place.title) == ("mysql://h/db", "wifi", "wifi")
    assert place_of("mysql://h/db").name is None
    assert place_of("mysql://h/db").title == "bncc"


@pytest.mark.parametrize("scheme", ["postgres", "postgresql"])
def test_postgresql_is_reached_by_the_driver_at_hand(scheme: str) -> None:
    assert place_of(f"{scheme}://h/db").url == "postgresql+psycopg://h/db"
    assert place_of("postgresql+pg8000://h/db").url == "postgresql+pg8000://h/db"


@pytest.mark.parametrize(
    ("url", "said"),
    [
        ("postgresql://me:secret@host:5432/db#x", "postgresql://me@host:5432/db"),
        ("postgresql://me:s@cret@host/db", "postgresql://me@host/db"),
        ("postgresql://host/db?user=me&password=secret", "postgresql://host/db"),
    ],
)
def test_a_password_is_not_shown(url: str, said: str) -> None:
    assert place_of(url).said == said
