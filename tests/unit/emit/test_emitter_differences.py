"""The text of C that subtracts readings."""

from dataclasses import replace

import numpy as np
import pytest

from bncc.discretize.feature import Feature
from bncc.emit.emitter import EmitOptions, emit_c
from bncc.emit.textbook import textbook_c
from bncc.emit.vectors import drawn_vectors
from bncc.lower.kernels.families import FOR_CUTS
from bncc.model.model import check_model
from bncc.structure.decision_tables import DecisionTable, TableEnsemble
from tests.models import DIFFERENCES, products_of_differences
from tests.ranged import ranged

OPTIONS = EmitOptions("m")


def files_of(name, **options):
    entries = frozenset(options.pop("entries", ()))
    return emit_c(ranged(DIFFERENCES[name]()), EmitOptions("m", entries, **options)).files


def test_the_header_names_differences_and_counts_readings():
    header = files_of("differences_of_bytes")["m.h"]
    assert "#define M_N_FEATURES 4U" in header
    assert "    M_N_READINGS = 2\n" in header
    assert "reading 1 minus reading 0" in header
    assert "Features from 2 on are differences of two readings." in header
    assert "/* From 2 raw readings. Any values are safe. */" in header


@pytest.mark.parametrize("name", DIFFERENCES)
def test_differences_are_no_members_of_the_struct(name):
    header = files_of(name)["m.h"]
    of_one_type = ("differences_of_bytes", "differences_of_words")
    assert ("typedef struct" in header) == (name not in of_one_type)
    struct = header.partition("typedef struct")[2].partition("m_raw_t;")[0]
    assert "rise" not in struct
    assert "fall" not in struct


@pytest.mark.parametrize("family", sorted(FOR_CUTS))
@pytest.mark.parametrize("name", ["differences_of_bytes", "differences_of_words"])
def test_kernels_of_cuts_subtract_the_readings_themselves(name, family):
    text = files_of(name, kernel=family, compare="readings")["m.c"]
    wide = "int16_t" if name == "differences_of_bytes" else "int32_t"
    decision = text.partition("int16_t m_predict_raw(")[2] + text.partition("m_states(")[0]
    assert f"({wide})x[0] - ({wide})x[1]" in decision


def test_a_difference_is_never_compared_by_its_high_byte():
    """A reading in memory is: one of its bytes is not loaded then."""
    inputs = (Feature("a", "int8", 1), Feature("b", "int8", 1))
    fall = Feature("d", "int16", 2, (-1,), difference=(0, 1))
    model = replace(
        products_of_differences(("int16",), n_classes=2),
        features=(*inputs, fall),
        structure=TableEnsemble((DecisionTable((2,), ((0,),)),)),
        tables=(np.array([[0, 3], [3, 0]]),),
    )
    check_model(model)
    emission = emit_c(model, EmitOptions("m", kernel="cuts", compare="readings"))
    assert "high_byte" not in emission.files["m.c"]


def test_other_entry_points_take_the_states_of_differences():
    files = files_of("differences_of_bytes", entries={"stream", "checked"})
    assert "m_feed(" in files["m.h"]
    assert "m_feed_raw(" not in files["m.h"]
    assert "Some features need two readings here" in files["m.h"]
    assert "(i < 2U) && (answer == 0)" in files["m.c"]
    selftest = files_of("differences_in_a_struct", entries={"checked"})["m_selftest.c"]
    assert "for (i = 0U; i < 8U; i++) {\n            m_copy_reading(" in selftest


def test_an_input_of_differences_alone_is_not_called_unused():
    features = (*(Feature(n, "uint8", 1) for n in "abc"),)
    features += (Feature("d", "int16", 2, (0,), difference=(0, 1)),)
    model = replace(
        products_of_differences(("int16",), n_classes=2),
        features=features,
        structure=TableEnsemble((DecisionTable((3,), ((0,),)),)),
        tables=(np.array([[0, 3], [3, 0]]),),
    )
    header = emit_c(model, OPTIONS).files["m.h"]
    assert header.count("read in differences alone") == 2
    assert header.count("not used") == 1
    mixed = replace(model, features=(*features[:2], Feature("c", "int16", 1), features[3]))
    struct = emit_c(mixed, OPTIONS).files["m.h"].partition("typedef struct")[2]
    assert struct.count("read in differences alone") == 2
    assert struct.count("not used") == 1


def test_the_textbook_classifier_subtracts_too():
    files = textbook_c(DIFFERENCES["trees_of_differences"](), "m").files
    assert "state_of_int16((int16_t)((int16_t)x->" in files["m.c"]
    assert "rise" not in files["m.h"]


@pytest.mark.parametrize("name", DIFFERENCES)
def test_test_vectors_have_ends_of_differences(name):
    """Some vector is next to some cut of each difference."""
    model = DIFFERENCES[name]()
    vectors = drawn_vectors(model)
    for k in range(len(model.inputs), model.n_features):
        first, second = model.features[k].difference
        found = set((vectors.readings[:, first] - vectors.readings[:, second]).tolist())
        cuts = model.features[k].thresholds
        assert found & {end for cut in cuts for end in (cut, cut + 1)}, (name, k)
