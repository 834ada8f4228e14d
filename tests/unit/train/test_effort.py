"""The effort of gradient descent: what it fills in, and what stays as given."""

from dataclasses import replace
from typing import Any

import pytest

from bncc.data.dataset import Dataset
from bncc.data.readers import bundled_path, read_table
from bncc.data.target import dataset_of
from bncc.errors import diverged
from bncc.progress import silence
from bncc.train import effort_search
from bncc.train.effort import INT_BITS, LEAST_GAMMA, gamma_of, settled, with_recipe
from bncc.train.learn_network import Task
from bncc.train.settings import TrainSettings
from bncc.train.train_model import train_model
from bncc.train.unused_options import idle_notes

SETTINGS = TrainSettings(structure="naive", bits=4, effort="default")
THOROUGH = replace(SETTINGS, effort="thorough", epochs=3, lr=0.07, seed=3)


@pytest.fixture(scope="module")
def dataset() -> Dataset:
    """Return the bundled table of signal strengths."""
    return dataset_of(read_table(str(bundled_path("wifi"))))


@pytest.mark.parametrize("effort", [None, "quick"])
def test_quick_changes_nothing(dataset: Dataset, effort: str | None) -> None:
    settings = replace(SETTINGS, effort=effort)
    assert settled(settings, dataset, silence) == (settings, silence)


@pytest.mark.parametrize("parameters", ["ml", "bdeu", "margin"])
def test_no_effort_without_descent(dataset: Dataset, parameters: str) -> None:
    settings = replace(SETTINGS, parameters=parameters, effort="thorough")
    assert settled(settings, dataset)[0] is settings
    assert f"--effort has no effect with --parameters {parameters}" in idle_notes(settings)


def test_the_recipe_fills_in_what_is_open() -> None:
    found = with_recipe(SETTINGS, 10_000, 16)
    assert (found.epochs, found.lr, found.lambda_, found.batch_size) == (100, 0.2, 500.0, 100)
    assert (found.jitter, found.average, found.dropout) == (0.06, 0.9, 0.0)
    assert (found.int_bits, found.frac_bits, found.gamma) == (INT_BITS, None, 4.0)


def test_given_options_win() -> None:
    given = {
        "epochs": 7, "lr": 0.01, "lambda_": 2.0, "gamma": 0.5, "dropout": 0.3, "jitter": 0.0,
        "average": 0.0, "quantize_from": 0.75, "batch_size": 11, "int_bits": 2,
    }  # fmt: skip
    settings = replace(SETTINGS, **given)
    assert with_recipe(settings, 10_000, 16) == settings
    assert with_recipe(replace(SETTINGS, frac_bits=2), 100, 4).int_bits is None


@pytest.mark.parametrize(
    ("options", "n_features", "gamma"),
    [
        ({"bits": 8}, 16, LEAST_GAMMA),
        ({"bits": 2}, 16, 8.0),
        ({"bits": 2, "int_bits": 2}, 16, 4.0),
        ({"bits": 4, "frac_bits": 2}, 4, 2.0),
        ({"bits": 2}, 64, 16.0),
        ({"bits": 2}, 10_000, 32.0),
        ({"bits": None, "float_": True}, 256, 8.0),
    ],
)
def test_margins_grow_with_the_unit_and_the_terms(
    options: dict[str, object], n_features: int, gamma: float
) -> None:
    assert gamma_of(replace(SETTINGS, **options), n_features) == gamma


def test_trees_and_few_rows() -> None:
    found = with_recipe(replace(SETTINGS, structure="chow-liu"), 150, 32)
    assert (found.jitter, found.batch_size, found.dropout) == (0.12, 32, 0.125)
    narrow = with_recipe(SETTINGS, 150, 12), with_recipe(SETTINGS, 150, 4)
    assert [each.jitter for each in narrow] == [0.03, 0.0]
    floats = with_recipe(replace(SETTINGS, bits=None, float_=True), 150, 32)
    assert (floats.int_bits, floats.gamma) == (None, LEAST_GAMMA * 2**0.5)
    crossed = with_recipe(replace(SETTINGS, parameters="cross-entropy"), 150, 32)
    assert (crossed.gamma, crossed.lambda_) == (None, None)


def test_the_model_records_the_settings_and_the_effort(dataset: Dataset) -> None:
    model = train_model(dataset, replace(SETTINGS, epochs=2)).model
    assert model.training["effort"] == "default"
    assert (model.training["epochs"], model.training["lr"]) == (2, 0.2)
    assert model.q_format.int_bits == INT_BITS
    assert "effort" not in train_model(dataset, TrainSettings("naive", epochs=1)).model.training


@pytest.fixture
def few(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let a search try few settings."""
    monkeypatch.setattr(effort_search, "MOST_SETTINGS", 8)


def test_a_search_depends_on_the_seed_alone(dataset: Dataset, few: None) -> None:
    told: list[float] = []
    found, _ = settled(THOROUGH, dataset, lambda share, _: told.append(share))
    assert found == settled(THOROUGH, dataset)[0]
    assert (found.epochs, found.lr, found.bits) == (3, 0.07, 4)
    assert told == sorted(told)
    assert len(told) == 8 + 3 * 2 + 3 * 2
    assert told[-1] == pytest.approx(0.9)


def test_a_search_takes_the_lowest_error(
    dataset: Dataset, few: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(effort_search._Split, "error", lambda _, tried: tried.dropout)
    found, _ = settled(THOROUGH, dataset)
    recipe, _ = settled(replace(THOROUGH, effort="default"), dataset)
    assert found.dropout == recipe.dropout == 0.0
    monkeypatch.setattr(effort_search._Split, "error", lambda _, tried: -tried.dropout)
    found, _ = settled(THOROUGH, dataset)
    assert 0.0 < found.dropout <= 0.4


def test_a_setting_that_diverges_is_not_chosen(
    dataset: Dataset, few: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    learn, recipe = effort_search.fit_in_turn, settled(replace(THOROUGH, effort="default"), dataset)

    def diverging_like_the_recipe(task: Task, *rest: Any) -> Any:
        if task.settings.average == recipe[0].average:
            raise diverged(0.07)
        return learn(task, *rest)

    monkeypatch.setattr(effort_search, "fit_in_turn", diverging_like_the_recipe)
    assert settled(THOROUGH, dataset)[0].average != recipe[0].average


def test_a_structure_before_counts_is_not_searched(dataset: Dataset) -> None:
    joint = replace(THOROUGH, structure="tan-subset", parameters="ml")
    recipe = with_recipe(joint, dataset.n_rows, len(dataset.table.columns))
    assert settled(joint, dataset)[0] == recipe
    assert recipe.int_bits is None
    assert "--effort thorough has no effect with --parameters ml" in idle_notes(joint)
    assert not idle_notes(replace(joint, effort="default", lr=None, epochs=None))
    assert not idle_notes(replace(THOROUGH, structure="tan-subset"))
