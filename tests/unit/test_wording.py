"""Numbers with their nouns."""

import pytest

from bncc.wording import counted


@pytest.mark.parametrize(
    ("n", "words"), [(0, "0 cells"), (1, "1 cell"), (2, "2 cells"), (1000, "1,000 cells")]
)
def test_one_is_singular(n: int, words: str) -> None:
    assert counted(n, "cell") == words
