"""The command that a sweep shows for a point reproduces the point's figures."""

import gzip
import random
import shlex
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from bncc.cli import inputs
from bncc.cli.console import Console
from bncc.data.readers import bundled_path
from bncc.device.cross import Toolchain
from bncc.search.config import source_words
from bncc.search.space import read_space
from bncc.search.trial import Workload, measured_rows, run_trial
from bncc.search.trial_result import Choice, Footprint, Point
from tests.spaces import drawer

RunJson = Callable[..., dict[str, Any]]
RequireBench = Callable[..., Toolchain]


@pytest.fixture
def wifi(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    """Change to a folder with the bundled table, in which some rows lack the class."""
    lines = gzip.decompress(bundled_path("wifi").read_bytes()).decode().splitlines()
    for k in range(40, len(lines), 300):
        lines[k] = lines[k].rpartition(",")[0] + ",?"
    (tmp_path / "my wifi.csv").write_text("\n".join(lines) + "\n", "utf-8")
    monkeypatch.chdir(tmp_path)
    return "my wifi.csv"


def workload(data: str, targets: tuple[str, ...], repeats: int = 2, **rows: Any) -> Workload:
    """Read rows as ``bncc train`` and ``bncc bench`` do."""
    console, fold = Console(quiet=True), rows.get("fold")
    train, test = inputs.training_parts(
        data, rows.get("class_name"), fold, console, rows.get("drop", ())
    )
    if "test" in rows:
        test = inputs.test_rows(train, rows["test"], console)
    source, bench_source = source_words(data, **rows)
    readings = measured_rows(inputs.rows_to_classify(data, None, fold, console))
    return Workload(train, test, readings, source, bench_source, 11, repeats, targets)


def check(point: Point, run_json: RunJson) -> None:
    """Run the command of a point, and compare its output with the point."""
    first, *rest = (shlex.split(part)[1:] for part in point.command.split(" && "))
    trained = run_json(*first)
    assert tuple(r["error_validation"] for r in trained["repeats"]) == point.validation.errors
    tested = None if point.test is None else point.test.errors
    assert tested in (None, tuple(r["error_test"] for r in trained["repeats"]))
    assert trained["error_validation_mean"] == point.validation.mean
    assert trained["error_test_mean"] == (None if point.test is None else point.test.mean)
    assert (trained["table_entries"], trained["table_bits"]) == (point.entries, point.bits)
    measured = run_json(*rest[0])["targets"] if rest else {}
    assert set(measured) == {t for t, cost in point.costs.items() if not isinstance(cost, str)}
    for target, facts in measured.items():
        (entry,) = facts["resources"]["entries"]
        timed = facts[{"predict-raw": "raw"}.get(entry, entry)]
        cost = timed.get("cycles") or timed["instructions"]
        assert point.costs[target] == Footprint(
            facts["flash"],
            facts["ram"],
            facts["stack"],
            next(iter(timed)),
            cost["mean"],
            cost["max"],
            (entry,),
        )


def drawn(seed: int, **more: Choice) -> dict[str, Choice]:
    """Draw a point of the default space with few epochs."""
    return read_space("default").draw(drawer(seed)) | {"epochs": 2} | more


@pytest.mark.firmware
@pytest.mark.parametrize(
    ("seed", "targets"),
    [(2, ("cortex-m0",)), (4, ("avr",)), (5, ("avr", "rv32")), (7, ("cortex-m0",))],
)
def test_random_points_of_the_default_space_come_again(
    run_json: RunJson,
    require_bench: RequireBench,
    wifi: str,
    seed: int,
    targets: tuple[str, ...],
) -> None:
    for target in targets:
        require_bench(target)
    point = run_trial(workload(wifi, targets), seed, drawn(seed))
    assert set(point.costs) == set(targets)
    check(point, run_json)


@pytest.mark.firmware
@pytest.mark.parametrize("k", range(3))
def test_points_that_nobody_has_seen_come_again(
    run_json: RunJson, require_bench: RequireBench, wifi: str, k: int
) -> None:
    seed = random.randrange(2**32)
    print(f"seed {seed}")  # pytest shows it where the test fails
    rng = random.Random(seed)
    targets = tuple(rng.sample(("cortex-m0", "avr", "rv32"), 1 + k % 2))
    for target in targets:
        require_bench(target)
    space = read_space(rng.choice(("default", "s0-setting-1")))
    params = space.draw(drawer(rng.randrange(2**32))) | {"epochs": 2}
    check(run_trial(workload(wifi, targets), k, params), run_json)


@pytest.mark.firmware
def test_test_rows_dropped_columns_and_a_named_class_come_again(
    run_json: RunJson, require_bench: RequireBench, wifi: str
) -> None:
    require_bench("avr")
    lines = Path(wifi).read_text("utf-8").splitlines()
    header, rows = lines[0], lines[1:]
    Path("train.csv").write_text("\n".join([header, *rows[::2]]), "utf-8")
    Path("held out.csv").write_text("\n".join([header, *rows[1::2]]), "utf-8")
    names = header.split(",")
    work = workload(
        "train.csv",
        ("avr",),
        test="held out.csv",
        class_name=names[-1],
        drop=(names[0],),
    )
    point = run_trial(work, 0, drawn(4, parameters="ml", structure="naive"))
    assert point.test is not None
    check(point, run_json)


@pytest.mark.firmware
def test_a_fold_comes_again(
    run_json: RunJson,
    require_bench: RequireBench,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """`bncc bench --fold` measures on test rows."""
    require_bench("avr")
    monkeypatch.chdir(tmp_path)
    rng = np.random.default_rng(0)
    t = rng.integers(0, 3, 400)
    X = ((t[:, None] + rng.integers(0, 3, (400, 5))) % 4).astype(np.uint8)
    fold = {"idx_tr_fold1": np.arange(250), "idx_te_fold1": np.arange(250, 400)}
    np.savez("d.npz", x=X, t=t, **fold)
    params: dict[str, Choice] = {"structure": "chow-liu", "parameters": "ml", "bits": 4}
    point = run_trial(workload("d.npz", ("avr",), fold=1), 0, params)
    assert point.test is not None
    check(point, run_json)
