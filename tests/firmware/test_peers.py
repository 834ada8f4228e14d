"""
Our counts for the textbook naive Bayes agree with those of an independent measurement.

`figures/PEERS.md` measured a hand-written naive Bayes with 8-bit tables with its own runners; a
mistake in ours would show here as a difference.
"""

import pytest

from benchmarks.code.target_figures import PEERS, peers_count
from benchmarks.shared.reference_models import Recipe, reference
from bncc.targets import TARGETS

pytestmark = [pytest.mark.firmware, pytest.mark.shared]

COMPARED = [
    pytest.param(data_set, target, id=f"{data_set}-{target}")
    for data_set in PEERS
    for target in PEERS[data_set]
    if target != "x86"
]


def test_the_figures_are_theirs(shared_data):
    """Each is read from the row of the naive Bayes below the heading of the data set."""
    text = (shared_data.parent / "figures" / "PEERS.md").read_text("utf-8")
    columns = {
        "instr M0": "cortex-m0",
        "instr M3": "cortex-m3",
        "instr M4": "cortex-m4",
        "instr rv32": "rv32",
        "AVR cycles": "avr",
        "x86 instr": "x86",
    }
    for data_set, figures in PEERS.items():
        rows = text.split(f"\n## {data_set}\n")[1].split("\n## ")[0].splitlines()
        head, row = (
            [cell.strip() for cell in line.split("|")]
            for line in rows
            if line.startswith(("| model ", "| bn_nb_b8 "))
        )
        theirs = dict(zip(head, row, strict=True))
        found = {target: int(theirs[name].replace(" ", "")) for name, target in columns.items()}
        assert found == figures


@pytest.mark.parametrize(("data_set", "target"), COMPARED)
def test_counts_agree_within_five_percent(shared_data, require_bench, data_set, target):
    """At -O2, without checks, the mean of 100 test rows."""
    require_bench(target, next(iter(TARGETS[target].flags)))  # gcc, as they had
    known = reference(Recipe(data_set, "naive", 8), shared_data)
    assert peers_count(known, target) == pytest.approx(PEERS[data_set][target], rel=0.05)


@pytest.mark.parametrize("data_set", PEERS)
def test_on_x86_an_addition_takes_one_instruction_less(shared_data, require_bench, data_set):
    """Theirs is position-independent, with one instruction more for each feature and class."""
    require_bench("x86", "gcc")
    known = reference(Recipe(data_set, "naive", 8), shared_data)
    n_features, n_classes = known.model.n_features, len(known.model.classes)
    count = peers_count(known, "x86") + n_features * (n_classes + 1)
    assert count == pytest.approx(PEERS[data_set]["x86"], rel=0.01)
