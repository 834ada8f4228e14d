"""Training end to end: from readings to an integer model and its figures."""

import json
import subprocess
import sys
from dataclasses import replace

import numpy as np
import pytest

from bncc.data import splits
from bncc.data.dataset import Column, Dataset, Table
from bncc.discretize.feature import states_of
from bncc.errors import DataError, OptionError
from bncc.fixed_point import QFormat
from bncc.model import reference
from bncc.model.file import load_model, save_model
from bncc.structure.catalog import learn_structure
from bncc.train import fit_network as fit
from bncc.train import learn_network as learn
from bncc.train import train_model as training
from bncc.train.holdout import tells_apart
from bncc.train.maximum_likelihood import ml_log_tables
from bncc.train.options import METHODS
from bncc.train.settings import FLOAT_FORMAT, TrainSettings
from bncc.train.train_model import train_model

ML = TrainSettings(structure="naive", parameters="ml")
SILENT = (
    "1 of 3 features are unused and carry no information about the class in these rows: "
    "sensor 2; each is constant, or its mutual information with the class is not above "
    "chance, alone and given any other feature; to save their sensors, emit C of the used "
    "features with `bncc emit-c --inputs used`, or train without the others with --drop"
)


def readings(n_samples=300, n_classes=3, seed=0):
    """Return three sensors, two of which determine the class, and noise."""
    generator = np.random.default_rng(seed)
    y = np.arange(n_samples) % n_classes
    columns = [
        y * 4 + generator.integers(0, 5, n_samples),
        y * 2 + generator.normal(0.0, 1.0, n_samples),
        generator.integers(0, 9, n_samples),
    ]
    table = Table(
        tuple(
            Column(
                f"sensor {i}",
                "float" if values.dtype == np.float64 else "integer",
                values,
                np.zeros(n_samples, dtype=np.bool_),
            )
            for i, values in enumerate(columns)
        )
    )
    return Dataset(table, y, tuple(f"c{c}" for c in range(n_classes)), "class")


def states(columns, y):
    """Return a data set whose columns are states already, with classes ``0, 1, ...``."""
    missing = np.zeros(len(y), dtype=np.bool_)
    table = Table(tuple(Column(f"s{i}", "state", v, missing) for i, v in enumerate(columns)))
    return Dataset(table, y, tuple(str(c) for c in range(y.max() + 1)), "class")


TRAIN, TEST = readings(), readings(seed=1)


@pytest.mark.parametrize("parameters", METHODS)
@pytest.mark.parametrize(
    "structure", ["naive", "chow-liu", "forest", "random", "tan-subset", "tan-all"]
)
def test_every_structure_trains_with_every_kind_of_parameters(structure, parameters):
    settings = TrainSettings(
        structure=structure,
        parameters=parameters,
        epochs=None if parameters in ("ml", "bdeu") and structure[:4] != "tan-" else 4,
    )
    result = train_model(TRAIN, settings, test=TEST)
    model, figures = result.model, result.model.training
    assert model.q_format.bits == 6
    assert result.seconds > 0
    assert set(result.notes) <= {SILENT}
    assert (figures["structure"], figures["parameters"]) == (structure, parameters)
    assert figures["class_name"] == "class"
    assert figures["error_test"] < 0.2
    assert figures["error_train"] < 0.2
    assert 0 <= figures["error_validation"] < 0.4
    assert (figures["n_train"], figures["n_validation"], figures["n_test"]) == (300, 30, 300)
    assert figures["epochs"] == settings.epochs
    assert json.loads(json.dumps(dict(figures))) == dict(figures)


def test_errors_are_those_of_the_integer_model():
    result = train_model(TRAIN, ML, test=TEST)
    decisions = reference.predict(result.model, states_of(result.model.features, TEST.table))
    assert result.model.training["error_test"] == np.mean(decisions != TEST.y)


def test_the_final_tables_count_every_training_row():
    model = train_model(TRAIN, TrainSettings(parameters="ml", int_bits=4, frac_bits=4)).model
    X = states_of(model.features, TRAIN.table)
    structure = learn_structure("chow-liu", X, TRAIN.y, model.n_states, 3)
    _, tables = ml_log_tables(X, TRAIN.y, structure, model.n_states, 3)
    assert model.structure == structure
    assert np.array_equal(model.tables[1], np.minimum(np.rint(-tables[1] * 16), 255))


def test_error_validation_belongs_to_tables_that_never_saw_its_rows(monkeypatch):
    seen = []
    count = learn.ml_log_tables
    monkeypatch.setattr(
        learn, "ml_log_tables", lambda X, *a, **k: seen.append(len(X)) or count(X, *a, **k)
    )
    figures = train_model(TRAIN, TrainSettings(parameters="ml", validation=0.25)).model.training
    assert seen == [225, 300]
    assert figures["n_validation"] == 75


def test_thresholds_and_structure_never_see_the_validation_rows(monkeypatch):
    seen = []
    cut = fit.fit_features
    monkeypatch.setattr(
        fit, "fit_features", lambda table, *a, **k: seen.append(table.n_rows) or cut(table, *a, **k)
    )
    train_model(TRAIN, TrainSettings(parameters="ml", validation=0.25))
    assert seen == [225, 300]


def test_error_validation_is_the_error_on_the_rows_held_out(monkeypatch):
    """Held-out rows contradict the others: all of them are wrong, a third of the whole."""
    rows = np.arange(300)
    monkeypatch.setattr(splits, "stratified_holdout", lambda *_: (rows[:200], rows[200:]))
    y = np.where(rows < 200, rows % 3, (rows + 1) % 3)
    figures = train_model(states([rows % 3], y), ML).model.training
    assert figures["error_validation"] == 1.0
    assert figures["error_train"] == pytest.approx(1 / 3)


@pytest.mark.parametrize("ordered", [True, False])
def test_one_block_in_time_does_not_choose_the_bits(monkeypatch, ordered):
    """All held-out rows are of one class here, which the coarsest costs decide as well as any."""
    y = np.arange(300) % 3
    rest, held = np.flatnonzero(np.arange(300) < 240), np.arange(240, 300)
    y[held] = 0
    noise = np.random.default_rng(3).integers(0, 3, (6, 300))
    columns = [np.where(np.random.default_rng(k).random(300) < 0.5, y, noise[k]) for k in range(6)]
    monkeypatch.setattr(splits.SplitRule, "holdout", lambda *_: (rest, held))
    judged = []
    monkeypatch.setattr(
        training, "best_format", lambda formats, *given: judged.append(given[5]) or formats[2]
    )
    train_model(replace(states(columns, y), split=splits.SplitRule(ordered=ordered)), ML)
    assert [len(np.unique(each)) for each in judged] == [3 if ordered else 1]


def test_without_validation_rows_the_bits_are_chosen_on_training_rows():
    figures = train_model(TRAIN, TrainSettings(parameters="ml", validation=0.0)).model.training
    assert figures["error_validation"] is None
    assert figures["n_validation"] == 0


@pytest.mark.parametrize(
    ("options", "fmt"),
    [
        ({"int_bits": 3, "frac_bits": -1}, QFormat(3, -1)),
        ({"bits": 4, "frac_bits": 1}, QFormat(3, 1)),
        ({"float_": True}, FLOAT_FORMAT),
    ],
)
@pytest.mark.parametrize("parameters", ["ml", "hybrid"])
def test_a_format_that_was_asked_for_is_kept(options, fmt, parameters):
    epochs = None if parameters == "ml" else 2
    model = train_model(TRAIN, TrainSettings(parameters=parameters, epochs=epochs, **options)).model
    assert model.q_format == fmt
    assert model.training["quantized"] == (fmt != FLOAT_FORMAT)


@pytest.mark.parametrize("parameters", ["ml", "hybrid"])
def test_the_same_seed_gives_the_same_model_file(tmp_path, parameters):
    settings = TrainSettings(parameters=parameters, epochs=None if parameters == "ml" else 3)
    files = []
    for name in ("a", "b"):
        save_model(train_model(TRAIN, settings).model, tmp_path / name)
        files.append((tmp_path / name).read_bytes())
    assert files[0] == files[1]
    assert load_model(tmp_path / "a").training["seed"] == 0


def test_progress_runs_through_both_trainings():
    reports = []
    train_model(TRAIN, TrainSettings(epochs=3), progress=lambda share, _: reports.append(share))
    assert reports == pytest.approx([k / 6 for k in range(1, 7)])


@pytest.mark.parametrize("parameters", ["ml", "hybrid"])
@pytest.mark.parametrize("n_samples", [2, 3, 10])
def test_a_handful_of_rows_trains(n_samples, parameters):
    """Three classes of one to four rows: some cannot spare a validation row, or none can."""
    data = readings(n_samples, n_classes=min(n_samples, 3))
    settings = TrainSettings(parameters=parameters, epochs=None if parameters == "ml" else 2)
    result = train_model(data, settings)
    figures = result.model.training
    assert (figures["error_validation"] is None) == (figures["n_validation"] == 0)
    assert any("too few rows" in note for note in result.notes) == (figures["n_validation"] == 0)


def test_classes_without_training_rows_are_never_decided():
    data = Dataset(TRAIN.table, TRAIN.y, ("c0", "c1", "c2", "unseen"), "class")
    for settings in (ML, TrainSettings(epochs=2)):
        model = train_model(data, settings).model
        assert model.n_classes == 4
        assert reference.predict(model, states_of(model.features, TRAIN.table)).max() < 3


def test_a_test_row_of_an_unknown_class_counts_as_an_error():
    alien = Dataset(TEST.table, TEST.y * 0, ("alien",), "class")
    assert train_model(TRAIN, ML, test=alien).model.training["error_test"] == 1.0
    assert (
        train_model(TRAIN, ML, test=alien.take(np.arange(0))).model.training["error_test"] is None
    )


def test_states_given_explicitly_to_a_discretizer_are_cut():
    values = np.repeat(np.arange(60), 5)
    column = Column("s", "state", values, np.zeros(300, dtype=np.bool_))
    data = Dataset(Table((column,)), (values > 29).astype(np.int64), ("lo", "hi"), "class")
    kept = train_model(data, TrainSettings(parameters="ml")).model
    cut = train_model(data, TrainSettings(parameters="ml", discretize="mdl")).model
    assert (kept.n_states, cut.n_states) == ((60,), (2,))


def test_rows_that_cannot_be_learned_from_are_refused():
    with pytest.raises(DataError, match="single class"):
        train_model(TRAIN.take(np.flatnonzero(TRAIN.y == 0)), ML)


@pytest.mark.parametrize(
    ("values", "missing", "differ"),
    [
        ([1.0, 1.0], [False, False], False),
        ([1.0, 2.0], [False, False], True),
        ([1.0, np.nan], [False, True], True),
        ([np.nan, np.nan], [True, True], False),
    ],
)
def test_rows_are_told_apart_by_what_a_column_holds(values, missing, differ):
    column = Column("n", "float", np.array(values), np.array(missing))
    assert tells_apart(Dataset(Table((column,)), np.array([0, 1]), ("a", "b"), "y")) is differ


def test_too_many_classes_are_refused():
    data = states([np.zeros(600, dtype=np.int64)], np.arange(600) // 2)
    with pytest.raises(DataError, match="300 different values, more than the 255 classes"):
        train_model(data, ML)


def test_tables_beyond_all_memory_are_refused_before_they_are_laid_out():
    """Two identifiers of 50,000 values each make a joint table of 5e9 entries."""
    number = np.arange(100) * 505
    data = states([number, number], np.arange(100) % 2)
    for settings in (TrainSettings(parameters="ml"), TrainSettings()):
        with pytest.raises(OptionError, match=r"entries, more than .* --structure naive"):
            train_model(data, settings)


def test_notes_name_options_without_effect():
    assert train_model(TRAIN, TrainSettings(parameters="ml", lr=0.1)).notes == (
        "--lr has no effect with --parameters ml",
        SILENT,
    )


@pytest.mark.parametrize(("n_inputs", "is_noted"), [(0, False), (3, False), (4, True)])
def test_a_limit_on_columns_above_their_number_is_noted(n_inputs, is_noted):
    options = {"tables": "2", "inputs": str(n_inputs)}
    settings = TrainSettings(structure="tables", structure_options=options, epochs=1)
    note = "structure option inputs=4 has no effect, as the rows have 3 columns; choose fewer, or"
    notes = train_model(readings(), settings).notes
    assert any(each.startswith(note) for each in notes) == is_noted
    more = {**options, "differences": "2"}
    notes = train_model(readings(), replace(settings, structure_options=more)).notes
    assert not any("inputs=" in each for each in notes)


def test_counting_does_not_import_torch():
    """Nor pandas, scikit-learn: training by counts starts at once."""
    program = (
        "import sys, tests.unit.train.test_train_model as t\n"
        "t.train_model(t.TRAIN, t.ML)\n"
        "sys.exit('torch' in sys.modules)"
    )
    assert subprocess.run([sys.executable, "-c", program]).returncode == 0


def test_an_absent_device_is_one_sentence():
    with pytest.raises(OptionError, match="no device 'cuda:99' on this"):
        train_model(TRAIN, TrainSettings(device="cuda:99", epochs=1))
