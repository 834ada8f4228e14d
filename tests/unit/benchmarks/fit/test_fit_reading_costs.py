"""The fit of what comparing readings costs: weights of least squared relative error."""

import numpy as np
import pytest

from benchmarks.fit import fit_reading_costs as module
from benchmarks.fit.cost_samples import Sample
from benchmarks.fit.reading_samples import cases, unmeasured
from bncc.lower.cost_model import OF_READINGS, weights_for
from bncc.lower.kernels.families import FOR_CUTS, FOR_TREES


def test_weights_of_sums_are_found_again():
    rng = np.random.default_rng(0)
    work, code = (7.0, 0.0, 3.0, 11.0, 0.0), (40.0, 0.0, 2.0, 0.0, 30.0)
    samples = []
    for n in range(60):
        of_work, of_code = rng.integers(1, 50, (2, len(work))).tolist()
        spent, flash = float(np.dot(of_work, work)), 100.0 + float(np.dot(of_code, code))
        samples.append(
            Sample(
                f"{n}", "", f"model {n % 9}", "cut-packed" + OF_READINGS, "cortex-m4", "-O2", 100,
                0, tuple(of_work), tuple(of_code), spent, None, flash,
            )
        )  # fmt: skip
    found = module.fit(samples)["cut-packed" + OF_READINGS, "cortex-m4", "-O2"]
    assert found[0] == pytest.approx(work, rel=0.01, abs=0.05)
    assert found[1] == pytest.approx(code, rel=0.01, abs=0.2)


def test_a_term_that_no_sample_has_has_no_weight():
    terms = np.array([[1.0, 0.0, 2.0], [1.0, 0.0, 3.0]])
    found = module.fitted(terms, terms @ [2.0, 0.0, 1.0])
    assert found[1] == 0
    assert terms @ found == pytest.approx([4.0, 5.0], rel=0.01)


def test_errors_of_a_model_that_is_left_out_are_those_of_the_others_weights():
    terms, wanted = np.array([[1.0], [1.0], [2.0]]), np.array([1.0, 1.0, 4.0])
    together, apart = module.errors(terms, wanted, ["a", "a", "b"])
    assert together == pytest.approx([0.667, 0.667, -0.667], abs=0.01)
    assert apart == pytest.approx([1.0, 1.0, -2.0], abs=0.01)


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
