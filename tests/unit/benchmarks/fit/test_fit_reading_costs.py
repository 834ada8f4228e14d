"""The fit of what comparing readings costs: drawn to the weights of the kernels of states."""

import numpy as np
import pytest

from benchmarks.fit import fit_reading_costs as module
from benchmarks.fit.cost_samples import Sample
from benchmarks.fit.reading_samples import cases, unmeasured
from bncc.lower.cost_model import OF_READINGS, weights_for
from bncc.lower.kernels.families import FOR_CUTS, FOR_TREES


def test_sums_by_the_weights_of_states_are_found_again():
    rng = np.random.default_rng(0)
    of_states = weights_for("cut-packed", "cortex-m4", "-O2")
    added = (7.0, 0.0, 0.0, 11.0, 0.0), (40.0, 0.0, 0.0, 0.0, 30.0)
    samples = []
    for n in range(60):
        work = tuple(rng.integers(1, 50, len(of_states[0]) + 5).tolist())
        code = tuple(rng.integers(1, 50, len(of_states[1]) + 5).tolist())
        spent = float(np.dot(work, of_states[0] + added[0]))
        flash = 100.0 + float(np.dot(code, of_states[1] + added[1]))
        samples.append(
            Sample(
                f"{n}", "", f"model {n % 9}", "cut-packed" + OF_READINGS, "cortex-m4", "-O2", 100,
                0, work, code, spent, None, flash,
            )
        )  # fmt: skip
    found = module.fit(samples)["cut-packed" + OF_READINGS, "cortex-m4", "-O2"]
    for which in (0, 1):
        n_terms = len(of_states[which])
        wanted = np.array([*of_states[which], *added[which]])
        assert np.array(found[which])[:n_terms] == pytest.approx(wanted[:n_terms], rel=0.2, abs=4)
        assert np.array(found[which])[n_terms:] == pytest.approx(wanted[n_terms:], rel=0.2, abs=4)


def test_a_term_that_no_sample_has_keeps_its_weight_of_states():
    terms = np.array([[1.0, 0.0, 2.0, 0.0], [1.0, 0.0, 3.0, 0.0]])
    found = module.fitted(terms, terms @ [2.0, 0.0, 1.0, 0.0], (2.0, 5.0))
    assert found[1] == pytest.approx(5.0)
    assert found[3] == 0
    assert terms @ found == pytest.approx([4.0, 5.0], rel=0.01)


@pytest.mark.no_cover
def test_every_family_is_sampled_with_the_terms_that_the_package_weights():
    seen = set()
    for case in cases():
        sample = unmeasured(case, "cortex-m4", "-Os")
        weights = weights_for(sample.family, "cortex-m4", "-Os")
        assert [len(each) for each in weights] == [len(sample.work), len(sample.code)]
        seen.add((case.kernel.family, case.compare))
    of_keys = {(family, "keys") for family in ("branches", "cut-lanes", "cut-loop", "cut-packed")}
    assert seen == {(family, "readings") for family in FOR_CUTS | FOR_TREES} | of_keys
