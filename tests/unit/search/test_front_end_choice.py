"""A front end is chosen by errors and price, and leaves room for a classifier."""

import math
from collections.abc import Callable
from dataclasses import replace
from itertools import islice
from typing import Any

import numpy as np
import pytest

from bncc.data.dataset import Dataset
from bncc.device.cross import Toolchain
from bncc.device.samples import stream_cost
from bncc.errors import BudgetError, DataError, MeasurementError, OptionError
from bncc.lower.sample_estimate import estimate_samples
from bncc.on_device import stream_sources
from bncc.recordings.front_end import FrontEnd
from bncc.recordings.labeled import dataset_of_windows, front_end_of
from bncc.resources import Budget
from bncc.search import front_end_choice
from bncc.search.feature_elimination import SIZES, FeatureSet
from bncc.search.front_end_choice import (
    ChosenFeatures,
    ProgramLimits,
    dataset_part,
    front_end_cost,
    front_ends,
    program_limits,
    samples_to_measure,
)
from bncc.search.unmeasured import Unmeasured
from bncc.targets import find_target
from bncc.train.settings import TrainSettings
from tests.cli.conftest import no_tools
from tests.recorded import recordings, windows_table

BASE = TrainSettings(seed=0, validation=0.2)
FEATURES = "sum,range,haar1,crossings"


@pytest.fixture(scope="module")
def whole() -> tuple[Dataset, FrontEnd]:
    table = windows_table(features=FEATURES)
    return dataset_of_windows(table), front_end_of(table)


@pytest.fixture
def without_tools(monkeypatch: pytest.MonkeyPatch) -> None:
    """Estimate all costs, of two front ends whose tables are trained."""
    no_tools(monkeypatch)
    monkeypatch.setattr(front_end_choice, "FINALISTS", 2)


def limits(
    flash: int, ram: int | None = None, time: float | None = None, target: str = "cortex-m0"
) -> ProgramLimits:
    return ProgramLimits(Budget(target, flash, ram=ram), time)


def choices(
    whole: tuple[Dataset, FrontEnd], of: ProgramLimits, n: int | None = None, **options: Any
) -> list[ChosenFeatures]:
    """Return the first n choices, or all; each further one takes a training and a layout."""
    dataset, front_end = whole
    samples = [recordings().recordings[0].samples[:320]]
    return list(islice(front_ends(dataset, front_end, BASE, of, samples, **options), n))


@pytest.mark.no_cover
@pytest.mark.usefixtures("without_tools")
@pytest.mark.parametrize(("flash", "ram", "time"), [(2000, None, None), (2000, 90, None),
                                                    (4000, None, 60)])  # fmt: skip
def test_choices_are_within_the_limits(
    whole: tuple[Dataset, FrontEnd], flash: int, ram: int | None, time: float | None
) -> None:
    found = choices(whole, limits(flash, ram, time), 3)
    assert len(found) > 1
    for one in found:
        assert one.front_end == whole[1].part(one.columns)
        assert one.cost.how == "estimated"
        assert one.cost.flash < flash
        assert ram is None or one.cost.state <= ram
        assert time is None or one.cost.mean <= time


@pytest.mark.no_cover
@pytest.mark.usefixtures("without_tools")
def test_noise_is_not_computed(whole: tuple[Dataset, FrontEnd]) -> None:
    (first,) = choices(whole, limits(3000), 1)
    names = [column.name for column in first.front_end.columns]
    assert names
    assert all(name.startswith("x.") for name in names)


def stand_ins(monkeypatch: pytest.MonkeyPatch, errors: dict[tuple[int, ...], float]) -> None:
    """Give sets of features some errors on 1,000 validation rows, whatever the rows are."""

    def eliminated(*_: object) -> list[FeatureSet]:
        row = np.arange(1000)
        return [
            FeatureSet(columns, np.tile(row < 1000 * error, (len(SIZES), 1)).astype(float))
            for columns, error in errors.items()
        ]

    monkeypatch.setattr(front_end_choice, "eliminations", eliminated)
    monkeypatch.setattr(
        front_end_choice,
        "_losses_behind",
        lambda chosen, *_: (np.arange(1000) < 1000 * errors[chosen.columns]).astype(float),
    )


@pytest.mark.usefixtures("without_tools")
def test_the_fastest_of_close_ones_comes_first(
    whole: tuple[Dataset, FrontEnd], monkeypatch: pytest.MonkeyPatch
) -> None:
    sets = {(0, 1, 2, 4): 0.05, (0, 1): 0.0505, (0,): 0.2}
    stand_ins(monkeypatch, sets)
    found = choices(whole, limits(4000))
    assert [one.columns for one in found] == [(0, 1), (0, 1, 2, 4), (0,)]
    by_error = choices(whole, limits(4000), prefer="error")
    assert [one.columns for one in by_error] == [(0, 1, 2, 4), (0, 1), (0,)]


@pytest.mark.usefixtures("without_tools")
def test_a_program_may_take_all_of_the_ram(
    whole: tuple[Dataset, FrontEnd], monkeypatch: pytest.MonkeyPatch
) -> None:
    """State and stack of the smallest program just fit, and leave the classifier its own stack."""
    columns = (0, 1, 2, 4)
    stand_ins(monkeypatch, {columns: 0.05, (0,): 0.5})
    free, _ = choices(whole, limits(4000))
    of = limits(4000, ram=free.cost.ram)
    found, _ = choices(whole, of)
    assert (found.columns, found.cost) == (columns, free.cost)
    left = found.left_of(of.budget, slack=0.5)
    assert left.ram == free.cost.stack - found.stack
    assert left.room == 4000 - math.ceil(1.5 * found.cost.flash)
    (smaller,) = choices(whole, limits(4000, ram=free.cost.ram - 1))
    assert smaller.columns == (0,)


@pytest.mark.usefixtures("without_tools")
def test_features_whose_c_fails_are_left_out_and_named(
    whole: tuple[Dataset, FrontEnd], monkeypatch: pytest.MonkeyPatch
) -> None:
    real = front_end_choice.front_end_cost

    def cost(front_end: FrontEnd, *rest: Any) -> Any:
        if len(front_end.columns) == 2:
            raise MeasurementError("gcc failed: internal compiler error")
        return real(front_end, *rest)

    monkeypatch.setattr(front_end_choice, "front_end_cost", cost)
    stand_ins(monkeypatch, {(0, 1): 0.05, (0,): 0.2})
    unmeasured = Unmeasured()
    (found,) = choices(whole, limits(4000), unmeasured=unmeasured)
    assert found.columns == (0,)
    (note,) = unmeasured.notes
    names = [column.name for column in whole[1].part((0, 1)).columns]
    assert note.endswith(f"'{', '.join(names)}': gcc failed: internal compiler error")
    stand_ins(monkeypatch, {(0, 1): 0.05})
    with pytest.raises(MeasurementError, match=r"no features can be measured: .* internal"):
        choices(whole, limits(4000))


@pytest.mark.usefixtures("without_tools")
def test_errors_are_those_of_tables_that_fit_beside_the_features(
    whole: tuple[Dataset, FrontEnd], monkeypatch: pytest.MonkeyPatch
) -> None:
    """More features are better with many tables, and worse with the few that then fit."""
    monkeypatch.setattr(front_end_choice, "FINALISTS", 0)
    errors = [[0.3 if size <= 10 else 0.1] for size in SIZES]
    many = FeatureSet(tuple(range(8)), np.repeat(errors, 1000, axis=1))
    few = FeatureSet((0,), np.full((len(SIZES), 1000), 0.2))
    monkeypatch.setattr(front_end_choice, "eliminations", lambda *_: [many, few])
    estimate = estimate_samples(whole[1].part(many.columns), find_target("cortex-m0"))
    for more, first in ((550, few), (6000, many)):
        found = choices(whole, limits(int(estimate.flash) + more), prefer="error")
        assert found[0].columns == first.columns


@pytest.mark.no_cover
@pytest.mark.usefixtures("without_tools")
def test_limits_below_the_smallest_front_end_are_refused(whole: tuple[Dataset, FrontEnd]) -> None:
    with pytest.raises(BudgetError, match=r"'x\.\w+' alone takes about \d+ bytes of flash"):
        choices(whole, limits(60))
    with pytest.raises(BudgetError, match="raise --max-flash, --max-ram or --max-instructions-per"):
        choices(whole, limits(4000, time=5))


@pytest.mark.no_cover
@pytest.mark.usefixtures("without_tools")
def test_sets_of_low_error_are_judged_again(
    whole: tuple[Dataset, FrontEnd], monkeypatch: pytest.MonkeyPatch
) -> None:
    """The tables that would be trained decide between noise and a useful feature."""
    names = [column.name for column in whole[1].columns]
    telling, noise = (names.index("x.range"),), (names.index("y.crossings"),)
    found = [FeatureSet(noise, np.zeros((len(SIZES), 1000)))]
    found += [FeatureSet(telling, np.full((len(SIZES), 1000), 0.5))]
    monkeypatch.setattr(front_end_choice, "eliminations", lambda *_: found)
    first, second = choices(whole, limits(3000), prefer="error")
    assert (first.columns, second.columns) == (telling, noise)


@pytest.mark.parametrize(
    ("target", "wrong", "right"),
    [("avr", "instructions", "cycles"), ("cortex-m0", "cycles", "instructions")],
)
def test_a_limit_on_time_is_in_the_unit_of_the_target(target: str, wrong: str, right: str) -> None:
    budget = Budget(target, 4000)
    assert program_limits(budget, **{right: 50.0}) == ProgramLimits(budget, 50.0)
    with pytest.raises(OptionError, match=f"bncc counts {right}; use --max-{right}-per-sample"):
        program_limits(budget, **{wrong: 50.0})


def test_a_single_person_is_not_enough(whole: tuple[Dataset, FrontEnd]) -> None:
    dataset, front_end = whole
    alone = dataset.take(np.flatnonzero(dataset.split.groups == 0))
    with pytest.raises(DataError, match="too few windows for a validation set"):
        choices((alone, front_end), limits(4000))


@pytest.mark.firmware
@pytest.mark.parametrize("target", ["cortex-m0", "avr"])
def test_prices_are_measured_where_tools_are(
    whole: tuple[Dataset, FrontEnd], target: str, require_bench: Callable[..., Toolchain]
) -> None:
    """A model reads narrower features than those of a front end alone, which takes some code."""
    bench = require_bench(target)
    columns = (0, 1, 4, 7)
    front_end, part = whole[1].part(columns), dataset_part(whole[0], columns)
    samples = [recordings().recordings[0].samples[:320]]
    cost, _ = front_end_cost(front_end, part, BASE, limits(4000, target=target), samples)
    alone = stream_cost(stream_sources(front_end), bench, samples)
    assert cost.how == "measured"
    assert cost.state == alone.state
    assert 0.9 * alone.flash < cost.flash < 1.5 * alone.flash
    assert 0.95 * alone.samples.mean() < cost.mean < 1.3 * alone.samples.mean()
    estimate = estimate_samples(front_end, find_target(target))
    assert 0.6 < estimate.flash / cost.flash < 1.7
    assert 0.6 < estimate.time / cost.mean < 1.7
    small = replace(cost, state=0, stack=0)
    assert limits(cost.flash).admits(small)
    assert not limits(cost.flash - 1).admits(small)
    assert limits(10**6, time=cost.mean).admits(small)
    assert not limits(10**6, time=cost.mean / 2).admits(small)


def test_the_longest_segment_is_measured_in_whole_hops(whole: tuple[Dataset, FrontEnd]) -> None:
    parts = [np.zeros((n, 2), dtype=np.int64) for n in (40, 5001, 300)]
    (found,) = samples_to_measure(iter(parts), whole[1])
    assert len(found) == 2000
    (short,) = samples_to_measure(iter(parts[:1]), whole[1])
    assert len(short) == 32
