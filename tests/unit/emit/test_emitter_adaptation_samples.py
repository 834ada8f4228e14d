"""A model with a front end learns windows: NAME_push, NAME_learn_window and Python agree."""

from dataclasses import replace

import pytest

from bncc.device.sample_agreement import verify_samples
from bncc.device.samples import stream_cost
from bncc.emit.emitter import Emission, EmitOptions, emit_c
from bncc.lower.sample_estimate import shares_code
from bncc.model.adaptation import Adaptation
from bncc.model.confidence import Confidence
from bncc.model.counters import Counters, Counts
from bncc.model.filter import Filter
from bncc.model.model import Model
from bncc.model.unknown import Unknown
from bncc.on_device import decision_sources, hostile_samples
from tests.front_ends import front_end
from tests.unit.emit.test_emitter_samples import trained

pytestmark = pytest.mark.cc

ENTRIES = [
    ("adapt",),
    ("adapt", "filter"),
    ("adapt", "confidence", "counters", "filter", "unknown"),
    ("adapt", "confidence", "counters", "unknown"),
]


def adapting(structure: str, features: str = "sum,range,change", signals: str = "x,y") -> Model:
    """Return a model with a front end and all rules."""
    tested = front_end("int16", 32, 16, features, signals)
    more = {"structure_options": {"tables": "5"}, "parameters": "hybrid", "bits": 4}
    model = trained(tested, 300, structure=structure, **(more if structure == "tables" else {}))
    names = [feature.name for feature in model.inputs]
    counts = Counts((3,) * model.n_classes, (4, 5), stays=7, switches=2, unknown=1)
    tables = (0, 2) if structure == "tables" else ()
    return replace(
        model,
        front_end=tested,
        adaptation=Adaptation(tables, 4, 6),
        confidence=Confidence((0, 9), (60, 90), 5),
        filter=Filter(9),
        unknown=Unknown({names[0]: ((-9, 900), None, (0, 40))}, 3, -4),
        counters=Counters((0, 8), counts),
    )


def emitted(model: Model, entries: tuple[str, ...]) -> Emission:
    """Return the C of a model with some rules."""
    return emit_c(model, EmitOptions("m", entries=frozenset(entries)))


@pytest.mark.parametrize("entries", ENTRIES)
@pytest.mark.parametrize("structure", ["naive", "tables"])
def test_windows_that_are_learned_agree(structure: str, entries: tuple[str, ...]) -> None:
    model = adapting(structure)
    emission = emitted(model, entries)
    built = decision_sources(model.front_end, emission)
    assert built.ratings[-1] == "moved"
    found = verify_samples(model, built, "host", hostile_samples(model), sanitize=True)
    assert found.agree, found.first_mismatch


def test_channels_that_share_code_agree() -> None:
    model = adapting("naive", "sum,max,range,change,haar2,crossings", "x,y,z")
    assert shares_code(model.front_end)
    built = decision_sources(model.front_end, emitted(model, ("adapt", "filter", "counters")))
    assert verify_samples(model, built, "host", hostile_samples(model), sanitize=True).agree


@pytest.mark.parametrize("target", ["cortex-m0", "rv32", "avr"])
def test_targets_agree_and_the_header_states_their_bytes(require_bench, target: str) -> None:
    bench = require_bench(target)
    model = adapting("tables")
    emission = emitted(model, ("adapt", "filter"))
    built = decision_sources(model.front_end, emission)
    parts = hostile_samples(model)[:4]
    found = verify_samples(model, built, target, parts, opt_level="-Os")
    assert found.agree, found.first_mismatch
    cost = stream_cost(built, bench, [part.samples[:80] for part in parts], "-Os")
    header = " ".join(emission.files["m.h"].replace("*", " ").split())
    stated = header.partition("A m_stream_t needs ")[2].split(" bytes")[0]
    aligned = header.partition(f"A m_stream_t needs {stated} bytes, ")[2].split(" with alignment")
    assert cost.state == int(stated if target == "avr" or len(aligned) == 1 else aligned[0])


@pytest.mark.parametrize(
    ("entries", "old", "new"),
    [
        (("adapt",), "m_adapted_class(&s->adaptation, s->state, s->score)", "m_predict(s->state)"),
        (("adapt",), "s->has_window = 0U;", "s->has_window = 1U;"),
        (("adapt",), "m_learn(&s->adaptation, s->state, s->score, c)", "(c & 0U)"),
        (("adapt", "filter"), "(&s->filter, adapted)", "(&s->filter, s->score)"),
        (("adapt", "filter"), "if (cost < least) {\n            least = cost;\n        }", ""),
    ],
)
def test_a_wrong_statement_is_found(entries: tuple[str, ...], old: str, new: str) -> None:
    model = adapting("tables")
    emission = emitted(model, entries)
    text = emission.files["m.c"]
    assert old in text
    files = {**emission.files, "m.c": text.replace(old, new)}
    built = decision_sources(model.front_end, replace(emission, files=files))
    assert not verify_samples(model, built, "host", hostile_samples(model)).agree


def test_only_models_that_learn_keep_the_last_window() -> None:
    model = adapting("tables")
    plain = emitted(model, ("filter",)).files["m.h"]
    assert "has_window" not in plain
    assert "m_adapted_scores" not in emitted(model, ("adapt",)).files["m.h"]
    both = emitted(model, ("adapt", "filter"))
    assert both.layout.adaptation is not None
    assert both.layout.filter is not None
    added = 15 * 2 * 4
    assert both.layout.filter.largest == both.layout.largest_sum + added
    assert both.layout.kernel.sum_bits >= (both.layout.largest_sum + added).bit_length()
