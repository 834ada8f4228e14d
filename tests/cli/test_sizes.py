"""Numbers of bytes on the command line."""

import click
import pytest

from bncc.cli.options import budget, large_size


def read(text: str) -> int | None:
    return budget(click.Context(click.Command("c")), click.Option(["--max-flash"]), text)


@pytest.mark.parametrize(
    ("text", "n_bytes"),
    [("900", 900), ("1536", 1536), ("4k", 4096), ("1.5k", 1536), ("0.75K", 768), ("1.1k", 1126)],
)
def test_sizes_are_bytes_or_parts_of_1024(text: str, n_bytes: int) -> None:
    assert read(text) == n_bytes


@pytest.mark.parametrize("text", ["1.5", "k", ".5k", "1.k", "-1k", "1e3", "1,5k", "2M", ""])
def test_what_is_no_size_is_refused_with_an_example(text: str) -> None:
    with pytest.raises(click.BadParameter, match=r"is not a number of bytes such as 900, 4k"):
        read(text)


@pytest.mark.parametrize(("text", "n_bytes"), [("1M", 2**20), ("0.5M", 2**19), ("1.5k", 1536)])
def test_large_sizes_are_parts_of_1024_times_1024_too(text: str, n_bytes: int) -> None:
    assert large_size(click.Context(click.Command("c")), click.Option(["--m"]), text) == n_bytes
