"""The claim of bit-exactness on the papers' data, by the script that measures it."""

import pytest

from benchmarks.agreement_matrix import full_matrix, quick_matrix, run

pytestmark = [pytest.mark.cc, pytest.mark.shared]


def check(tasks, require_tool) -> None:
    for compiler in ("gcc", "clang"):
        require_tool(compiler)
    total = run(tasks)
    assert total.models == len(tasks)
    assert total.builds == sum(len(task.builds) for task in tasks)
    assert total.inputs > 10_000 * len(tasks)
    assert total.mismatches == 0, total.stories


def test_a_subset_agrees(shared_data, require_tool):
    """Three widths, three kinds of reading, all data sets and structures, few builds."""
    check(quick_matrix(shared_data), require_tool)


@pytest.mark.slow
def test_the_whole_matrix_agrees(shared_data, require_tool):
    """1 to 8 bits, splits of every kind, all compilers, levels and sanitizers."""
    check(full_matrix(shared_data), require_tool)
