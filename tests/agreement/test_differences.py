"""Differences of readings in the C: every kernel decides as the reference, by any comparison."""

import numpy as np
import pytest

from bncc.data.dataset import Column, Dataset, Table
from bncc.emit.emitter import EmitOptions, emit_c
from bncc.emit.textbook import textbook_c
from bncc.errors import OptionError
from bncc.lower.kernels.families import FAMILIES, FOR_CUTS, FOR_TREES
from bncc.model.model import Model
from bncc.on_device import verify
from bncc.train.fit_tables import fit_sum
from bncc.train.settings import TrainSettings
from tests.agreement.mistakes import verify_files
from tests.models import DIFFERENCES
from tests.ranged import ranged

pytestmark = pytest.mark.cc
ALL = frozenset({"raw", "scores", "trusted", "stream"})


def trained(kind: str, leaves: int = 0, n_rows: int = 600) -> Model:
    """Return tables trained on columns whose difference decides, with readings of a kind."""
    rng = np.random.default_rng(5)
    low, high = (-120, 120) if kind == "int8" else (0, 250) if kind == "uint8" else (-9000, 9000)
    X = rng.integers(low, high, (n_rows, 4))
    y = 1 * (X[:, 0] - X[:, 1] > (high - low) // 8) + 2 * (X[:, 2] > X[:, 3])
    is_present = np.zeros(n_rows, bool)
    columns = tuple(Column(f"x{i}", "integer", X[:, i], is_present) for i in range(4))
    form = {"leaves": str(leaves)} if leaves else {"rows": "8"}
    options = {"tables": "6", "differences": "3", **form}
    settings = TrainSettings(structure="tables", structure_options=options, readings=kind)
    return fit_sum(Dataset(Table(columns), y, ("a", "b", "c", "d"), "class"), settings)


TRAINED = [(kind, leaves) for kind in ("int8", "uint8", "int16") for leaves in (0, 8)]


@pytest.mark.parametrize(("kind", "leaves"), TRAINED)
@pytest.mark.parametrize("optimize", ["size", "speed"])
def test_trained_models_agree(require_tool, kind, leaves, optimize):
    require_tool("gcc")
    model = trained(kind, leaves)
    assert model.has_differences
    entries = frozenset({"raw", "scores", "trusted", "checked"})
    emission = emit_c(ranged(model), EmitOptions("m", entries, optimize=optimize))
    outcome = verify(ranged(model), emission=emission, sanitize=True, n_random=300)
    assert outcome.agree, outcome.first_mismatch


def _ways() -> list[tuple[str, str, str]]:
    return [
        (name, family, way)
        for name in DIFFERENCES
        for family in FAMILIES
        for way in ("states", "readings")
        if way == "states" or family in FOR_CUTS | FOR_TREES
    ]


@pytest.mark.parametrize(("name", "family", "way"), _ways())
def test_every_kernel_agrees(require_tool, name, family, way):
    """Cuts at all ends of the types, where a narrower subtraction would wrap around."""
    require_tool("gcc")
    model = DIFFERENCES[name]()
    try:
        emission = emit_c(model, EmitOptions("m", ALL - {"stream"}, kernel=family, compare=way))
    except OptionError:
        pytest.skip("the family has no layout for the model, or compares states alone")
    outcome = verify(model, emission=emission, sanitize=True, n_random=300)
    assert outcome.agree, outcome.first_mismatch
    assert (emission.layout.direct is not None) == (way == "readings")


@pytest.mark.parametrize("name", [name for name in DIFFERENCES if "trees" not in name])
def test_other_entry_points_agree(require_tool, name):
    """States of differences are fed like others; readings beyond limits are checked as inputs."""
    require_tool("gcc")
    model = ranged(DIFFERENCES[name]())
    for entries in ({"stream", "scores"}, {"checked"}):
        emission = emit_c(model, EmitOptions("m", frozenset(entries)))
        assert "m_feed_raw(" not in emission.files["m.h"]
        outcome = verify(model, emission=emission, sanitize=True, n_random=200)
        assert outcome.agree, outcome.first_mismatch


def test_the_textbook_classifier_agrees(require_tool):
    require_tool("gcc")
    model = DIFFERENCES["trees_of_differences"]()
    outcome = verify_files(model, textbook_c(model, "m").files, sanitize=True, n_random=300)
    assert outcome.agree, outcome.first_mismatch
