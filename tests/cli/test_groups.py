"""``--groups`` and ``--ordered``: splits that respect people and time, through every command."""

import csv
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from click.testing import Result

from bncc import BNClassifier
from bncc.data import splits
from bncc.data.readers import read_table
from bncc.data.target import dataset_of
from bncc.model.file import load_model
from bncc.search.split_folds import folds_of
from bncc.structure.margin_scores import held_out
from bncc.train.settings import TrainSettings
from tests.cli.conftest import write_csv

Run = Callable[..., Result]
RunJson = Callable[..., dict[str, Any]]
Refused = Callable[..., str]

N_GROUPS, N_ROWS = 20, 12
BINS = ("--discretize", "width", "--n-bins", "20")


@pytest.fixture
def people(tmp_path: Path) -> Path:
    """
    Return rows whose one feature identifies the person, who alone determines the class.

    With training rows of the same person the error is 0; other people are unpredictable. The
    last column is that of the groups.
    """
    rng = np.random.default_rng(0)
    rows = [
        [10 * g, "odd" if g % 2 else "even", f"person {g}"]
        for _ in range(N_ROWS)
        for g in range(N_GROUPS)
    ]
    # The first rows name the persons in order, the others are mixed.
    order = [*range(N_GROUPS), *rng.permutation(range(N_GROUPS, len(rows)))]
    return write_csv(
        tmp_path / "people.csv", ["reading", "class", "person"], [rows[k] for k in order]
    )


def test_a_column_of_groups_that_is_dropped_is_told_so(
    refused: Refused, people: Path, tmp_path: Path
) -> None:
    both = ("--groups", "person", "--drop", "person")
    said = refused("train", people, "-o", tmp_path / "m.bncc", *both)
    assert said.startswith(
        "column 'person' is named by both --drop and --groups, which already excludes it from "
        "the features; leave out --drop"
    )


@pytest.mark.parametrize("command", ["train", "sweep", "baseline"])
def test_the_last_column_is_not_both_groups_and_class(
    run: Run, refused: Refused, tmp_path: Path, command: str
) -> None:
    """Without it, a reading would be predicted instead; with --class, it may be the groups."""
    rows = [[k, k % 3, f"room {k % 2}"] for k in range(60)]
    data = write_csv(tmp_path / "rows.csv", ["light", "kind", "label"], rows)
    out = {
        "sweep": ("--study", tmp_path / "s.db", "--trials", 1),
        "baseline": ("--classifier", "tree"),
    }
    words = (command, data, "--groups", "label", *out.get(command, ("-o", tmp_path / "m.bncc")))
    assert refused(*words) == (
        "column 'label' is the last one, so it is the class by default; name the class with "
        "--class, or another column with --groups"
    )
    if command == "train":
        run(*words, "--class", "kind", "--folds", 0, *LEARNERS["ml"])
        assert load_model(tmp_path / "m.bncc").training["class_name"] == "kind"


def of_one_class_each(folder: Path, classes: str) -> Path:
    """Return 12 rows of each person, whose class is the letter at the person's place."""
    rows = [[10 * g + k, c, f"person {g}"] for k in range(N_ROWS) for g, c in enumerate(classes)]
    return write_csv(folder / "rows.csv", ["reading", "class", "person"], rows)


@pytest.mark.parametrize(
    ("classes", "order", "which", "noted"),
    [
        ("abc", (), "classes a, b, c", None),
        ("aaaaccccb", (), "class b", None),
        ("aabbbbcccc", ("--ordered",), "class a", "class 'a' has no training rows in 1"),
        (
            "aabbccddee",
            ("--ordered",),
            "classes a, b, c, d, e",
            "classes 'a', 'b', 'c', 'd', 'e' have no training rows in 5",
        ),
        ("abcabcabcabc", (), None, None),
    ],
)
def test_an_error_of_classes_without_training_rows_is_marked(
    run: Run, run_json: RunJson, tmp_path: Path, classes: str, order: tuple[str, ...],
    which: str | None, noted: str | None,
) -> None:  # fmt: skip
    """The note on classes of one group is enough where there are no others."""
    data, out = of_one_class_each(tmp_path, classes), tmp_path / "m.bncc"
    options = ("--groups", "person", "--folds", "5", *order, *LEARNERS["ml"])
    done = run("train", data, "-o", out, *options)
    unseen = run_json("inspect", out).get("unseen_classes", {})
    has = "have" if which and "classes" in which else "has"
    mark = f"folds ({which} {has} no training rows in some folds), 95 % interval"
    for text in (done.stdout, run("inspect", out).stdout):
        assert (mark in text) == (which is not None)
        assert ("no training rows" in text) == (which is not None)
    assert unseen.get("cross-validation", []) == (
        which.split(" ", 1)[1].split(", ") if which else []
    )
    they = "them" if noted and "classes" in noted else "it"
    note = (
        f"{noted} of the 5 folds of the cross-validation error, because of the split by whole "
        f"groups of 'person' in file order, so every validation row of {they} there counts as an "
        "error; add rows of more groups or times"
    )
    assert (note in done.stderr) == ("no training rows" in done.stderr) == (noted is not None)


def test_an_error_of_blocks_without_training_rows_of_a_class_is_marked(
    run: Run, run_json: RunJson, tmp_path: Path
) -> None:
    """Rows in the order of their classes."""
    data, out = tmp_path / "rows.csv", tmp_path / "m.bncc"
    write_csv(data, ["reading", "class"], [[k, "abc"[k // 40]] for k in range(120)])
    done = run("train", data, "--ordered", "-o", out, "--validation", "0.34", *LEARNERS["ml"])
    facts = run_json("inspect", out)
    assert facts["unseen_classes"]["validation"] == ["c"]
    assert facts["error_validation"] == 1
    assert "100.00 % validation (class c has no training rows)" in done.stdout
    assert (
        "class 'c' has no training rows for the validation error, because of the split by blocks "
        "of rows in file order, so every validation row of it counts as an error; add rows of"
    ) in done.stderr


def test_the_error_of_a_search_is_marked_too(run: Run, run_json: RunJson, tmp_path: Path) -> None:
    data, out = of_one_class_each(tmp_path, "aabbbbcccc"), tmp_path / "m.bncc"
    options = ("--structure", "naive", "--parameters", "ml", "--max-flash", "4k", "--ordered")
    done = run("train", data, "-o", out, "--groups", "person", *options)
    assert run_json("inspect", out)["unseen_classes"] == {"validation": ["a"]}
    assert "search criterion) (class a has no training rows)" in done.stdout
    assert done.stderr.count("class 'a' has no training rows in 1 of the 5 folds of the") == 1


@pytest.fixture
def no_random_splits(monkeypatch: pytest.MonkeyPatch) -> None:
    """Make every random split of single rows fail."""

    def never(*_: object) -> None:
        raise AssertionError("rows were split at random")

    monkeypatch.setattr(splits, "stratified_holdout", never)
    monkeypatch.setattr(splits, "stratified_folds", never)
    monkeypatch.setattr(held_out, "shuffled_folds", never)


LEARNERS = {
    "ml": ("--parameters", "ml", *BINS),
    "hybrid": ("--epochs", "3", *BINS),
    "joint": ("--structure", "tan-all", "--epochs", "3", *BINS),
    "margin": ("--parameters", "margin", *BINS),
    "hill-climb": ("--structure", "hill-climb", "--parameters", "ml", *BINS),
    "tables": ("--structure", "tables", "--structure-option", "tables=8", "--epochs", "2"),
}


@pytest.mark.usefixtures("no_random_splits")
@pytest.mark.parametrize("learner", LEARNERS)
@pytest.mark.parametrize("how", [("--groups", "person"), ("--groups", "person", "--ordered")])
def test_no_stage_of_a_training_sees_a_group_on_both_sides(
    run_json: RunJson, people: Path, tmp_path: Path, learner: str, how: tuple[str, ...]
) -> None:
    """No random split: not for the bits, for folds of a learner, or for the validation error."""
    path = tmp_path / "m.bncc"
    found = run_json("train", people, *how, "-o", path, *LEARNERS[learner])
    assert found["error_validation"] > 0.4
    model = load_model(path)
    assert [feature.name for feature in model.features] == ["reading"]
    assert model.training["groups"] == "person"
    assert model.training.get("ordered") == (True if "--ordered" in how else None)


def test_random_splits_show_nothing_of_it(run_json: RunJson, people: Path, tmp_path: Path) -> None:
    """The error that the option prevents."""
    options = ("--drop", "person", "-o", tmp_path / "m.bncc", *LEARNERS["ml"])
    assert run_json("train", people, *options)["error_validation"] < 0.05


def test_folds_of_a_search_keep_groups_whole(people: Path) -> None:
    dataset = dataset_of(read_table(people), groups="person")
    base = TrainSettings(validation=0.2)
    folds = list(folds_of(dataset, base))
    assert len(folds) == 5
    judged = []
    for fold in folds:
        held, rest = (set(part.split.groups) for part in (fold.held, fold.rest))
        assert not held & rest
        judged += sorted(held)
    assert sorted(judged) == list(range(N_GROUPS))
    ordered = dataset_of(read_table(people), "class", ordered=True)
    for fold in folds_of(ordered, base):
        values = [part.table.columns[0].values.tolist() for part in (fold.held, fold.rest)]
        whole = ordered.table.columns[0].values.tolist()
        start = next(k for k in range(240) if whole[k : k + len(values[0])] == values[0])
        assert whole[:start] + whole[start + len(values[0]) :] == values[1]


@pytest.mark.usefixtures("no_random_splits")
def test_a_search_is_by_whole_groups(run_json: RunJson, people: Path, tmp_path: Path) -> None:
    options = ("--structure", "naive", "--parameters", "ml", "--max-flash", "4k")
    out = tmp_path / "m.bncc"
    found = run_json("train", people, "--groups", "person", "-o", out, *options, *BINS)
    assert all(one["error_validation"] > 0.4 for one in found["tried"])
    assert all(one["folds"] == 5 for one in found["tried"])


SPACE = """
[structure]
value = "naive"
[parameters]
value = "ml"
[discretize]
value = "width"
[n-bins]
value = 20
"""


@pytest.mark.usefixtures("no_random_splits")
def test_a_sweep_is_by_whole_groups_and_its_command_says_so(
    run_json: RunJson, refused: Refused, people: Path, tmp_path: Path
) -> None:
    pytest.importorskip("optuna", reason="sweeps need optuna")
    (tmp_path / "space.toml").write_text(SPACE)
    study = ("--study", tmp_path / "s.db", "--space", tmp_path / "space.toml", "--target", "none")
    common = (*study, "--objective", "error", "--trials", "1", "--repeats", "2")
    found = run_json("sweep", people, "--groups", "person", "--ordered", *common)
    (trial,) = found["pareto"]
    assert trial["error_validation"] > 0.4
    assert "--groups person --ordered" in trial["command"]
    other = refused("sweep", people, "--groups", "person", *common)
    assert "--ordered is given there and absent here" in other


def parted(people: Path, tmp_path: Path, n_shared: int) -> tuple[Path, Path]:
    """Return training rows of groups 0 .. 13, and test rows of the others and some shared ones."""
    with people.open(newline="") as file:
        head, *rows = csv.reader(file)
    number = [int(row[2].split()[1]) for row in rows]
    train = [row for row, g in zip(rows, number, strict=True) if g < 14]
    test = [row for row, g in zip(rows, number, strict=True) if g >= 14 - n_shared]
    paths = tmp_path / "train.csv", tmp_path / "test.csv"
    return write_csv(paths[0], head, train), write_csv(paths[1], head, test)


@pytest.mark.parametrize("command", ["train", "baseline"])
def test_groups_on_both_sides_of_a_test_are_warned_of(
    run: Run, people: Path, tmp_path: Path, command: str
) -> None:
    options: dict[str, tuple[object, ...]] = {
        "train": ("-o", tmp_path / "m.bncc", "--force", *LEARNERS["ml"]),
        "baseline": ("--classifier", "tree", *BINS),
    }
    for n_shared, said in ((0, None), (2, "share 2 of the 8 test groups of 'person'")):
        train, test = parted(people, tmp_path, n_shared)
        data = (train, "--class", "class", "--test", test)
        notes = run(command, *data, "--groups", "person", *options[command]).stderr
        assert ("the test error rate is not that of new groups" in notes) == (said is not None)
        assert said is None or said in notes
        alone = run(command, *data, "--drop", "person", *options[command]).stderr
        assert "groups" not in alone.replace("--groups", "")


def test_test_rows_of_groups_have_an_interval_of_groups(
    run: Run, run_json: RunJson, people: Path, tmp_path: Path
) -> None:
    train, test = parted(people, tmp_path, 0)
    out = ("-o", tmp_path / "m.bncc", "--force", *LEARNERS["ml"])
    data = (train, "--class", "class", "--test", test)
    found = run_json("train", *data, "--groups", "person", *out)
    assert found["interval_method"] == "Wilson, effective number of rows from 6 groups"
    said = run("train", *data, "--drop", "person", *out).stdout
    assert "(Wilson, assuming independent rows)" in said
    with test.open(newline="") as file:
        rows = [row[:2] for row in csv.reader(file)]
    nameless = write_csv(test, rows[0], rows[1:])
    done = run("train", train, "--class", "class", "--test", nameless, "--groups", "person", *out)
    assert "the test rows have no column 'person'" in done.stderr
    assert "(Wilson, assuming independent rows)" in done.stdout
    blocks = run_json("train", *data, "--drop", "person", "--ordered", *out)
    assert blocks["interval_method"] == "Wilson, effective number of rows from 20 blocks"


@pytest.mark.usefixtures("no_random_splits")
def test_a_baseline_is_judged_by_whole_groups(run_json: RunJson, people: Path) -> None:
    options = ("--classifier", "tree", *BINS)
    assert run_json("baseline", people, "--groups", "person", *options)["error_validation"] > 0.4


def test_evaluate_reports_the_error_of_each_group(
    run: Run, run_json: RunJson, refused: Refused, people: Path, tmp_path: Path
) -> None:
    path = tmp_path / "m.bncc"
    bits = ("--int-bits", "3", "--frac-bits", "3")
    run("train", people, "--groups", "person", "-o", path, *LEARNERS["ml"], *bits)
    with people.open(newline="") as file:
        head, *rows = csv.reader(file)
    # Person 1 is now even and wrongly decided; a row without a class is excluded.
    rows = [[a, "even" if c == "person 1" else b, c] for a, b, c in rows] + [["5", "?", "person 0"]]
    data = write_csv(tmp_path / "later.csv", head, rows)
    found = run_json("evaluate", path, data, "--groups", "person")
    by_group = {one["group"]: one for one in found["groups"]}
    assert set(by_group) == {f"person {g}" for g in range(N_GROUPS)}
    assert by_group["person 1"] == {"group": "person 1", "n": 12, "errors": 12, "error": 1.0}
    assert sum(one["errors"] for one in found["groups"]) == found["errors"]
    said = run("evaluate", path, data, "--groups", "person").stdout
    assert "person 1     12  100.00 %" in said
    assert said.index("person 1 ") < said.index("person 2 ")
    # Without the option the last column, which is no feature, is still not taken for the class.
    assert run_json("evaluate", path, data)["errors"] == found["errors"]
    assert "groups" not in run_json("evaluate", path, data)
    assert "no column 'device'" in refused("evaluate", path, data, "--groups", "device")
    assert "the model reads column 'reading'" in refused(
        "evaluate", path, data, "--groups", "reading"
    )


def test_groups_that_cannot_be_split_are_refused(
    refused: Refused, people: Path, tmp_path: Path
) -> None:
    out = ("-o", tmp_path / "m.bncc", *LEARNERS["ml"])
    assert "no column 'device'" in refused("train", people, "--groups", "device", *out)
    for named in ((), ("--class", "class")):
        is_class = refused("train", people, "--groups", "class", *named, *out)
        assert "column 'class' is the class" in is_class
    rows = [[k, "ab"[k % 2], "one"] for k in range(20)]
    single = write_csv(tmp_path / "single.csv", ["a", "class", "who"], rows)
    assert "all rows are in one group of 'who'" in refused("train", single, "--groups", "who", *out)
    rows[4][2] = "?"
    holes = write_csv(tmp_path / "holes.csv", ["a", "class", "who"], rows)
    assert "column 'who' has no group in row 5" in refused("train", holes, "--groups", "who", *out)


def test_groups_of_one_class_each_leave_no_validation_error(
    run: Run, run_json: RunJson, tmp_path: Path
) -> None:
    rows = [[k % 7, "ab"[k % 2], f"w{k % 2}"] for k in range(40)]
    data = write_csv(tmp_path / "d.csv", ["a", "class", "who"], rows)
    options = ("--groups", "who", "--parameters", "ml", "--force", "-o", tmp_path / "m.bncc")
    assert run_json("train", data, *options)["error_validation"] is None
    note = run("train", data, *options).stderr
    assert "by whole groups of 'who' would leave a single class for training: the bits" in note


def test_a_class_that_only_one_group_has_is_learned_in_the_end(
    run_json: RunJson, tmp_path: Path
) -> None:
    """Every family trains even on folds without any row of a class."""
    rows = [[10 * (k % 3) + k % 5, "abc"[k % 3], k % 3] for k in range(90)]
    data = write_csv(tmp_path / "d.csv", ["a", "class", "who"], rows)
    for learner in LEARNERS.values():
        out = ("--force", "-o", tmp_path / "m.bncc", *learner)
        found = run_json("train", data, "--groups", "who", *out)
        assert found["error_validation"] == 1.0
        assert found["error_train"] < 0.5


@pytest.mark.usefixtures("no_random_splits")
def test_fit_takes_groups(people: Path) -> None:
    table = read_table(people)
    X, y, groups = (column.values for column in table.columns)
    model = BNClassifier(parameters="ml", discretize="width", n_bins=20, random_state=0)
    fitted = model.fit(X[:, None], y, groups=groups)
    assert fitted.model_.training["error_validation"] > 0.4
    in_time = BNClassifier(parameters="ml", ordered=True, random_state=0).fit(X[:, None], y)
    assert in_time.model_.training["ordered"] is True
    with pytest.raises(ValueError, match="all rows are in group 'x'"):
        model.fit(X[:, None], y, groups=["x"] * len(y))
    with pytest.raises(ValueError, match="inconsistent numbers of samples"):
        model.fit(X[:, None], y, groups=groups[:-1])
