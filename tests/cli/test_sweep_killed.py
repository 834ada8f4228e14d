"""A study is a function of its seed, independent of kills and stops."""

import random
import signal
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from bncc.data.readers import bundled_path
from tests.cli.sweeping import Sweeps, found_in, wait_for

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="looks for processes in /proc")


@pytest.mark.long
@pytest.mark.parametrize("n_kills", [4, 20])
def test_a_killed_study_is_the_one_that_was_not(
    sweeps: Sweeps, tmp_path: Path, n_kills: int
) -> None:
    study = tmp_path / "killed.db"
    long = ("--repeats", 10 + n_kills)  # a trial takes tenths of a second
    rng = random.Random()
    n_killed = 0
    for k in range(n_kills):
        process = sweeps.start(study, *long)
        # Some after the end of a trial, most before: in the store, processes, imports.
        wait_for(process, ": trial" if k % 4 == 3 else "read 2000 rows")
        time.sleep(rng.uniform(0, 0.05 if k % 4 == 3 else 0.6))
        process.kill()
        process.communicate()
        n_killed += process.returncode == -signal.SIGKILL
        sweeps.await_end()
    sweeps.finish(study, *long)
    sweeps.finish(tmp_path / "whole.db", *long)
    assert sorted(found_in(study)) == list(range(12))
    assert found_in(study) == found_in(tmp_path / "whole.db")
    assert not list(tmp_path.glob(".*"))
    assert n_killed >= n_kills // 2  # a study with all its trials ends on its own


@pytest.mark.parametrize(("number", "code"), [(signal.SIGINT, 130), (signal.SIGTERM, 143)])
def test_a_polite_end_says_how_it_goes_on(
    sweeps: Sweeps, tmp_path: Path, number: signal.Signals, code: int
) -> None:
    study = tmp_path / "s.db"
    process = sweeps.start(study, "--repeats", 50)
    assert wait_for(process, ": trial")
    process.send_signal(number)
    found, said = process.communicate(timeout=60)
    assert process.returncode == code
    assert found.startswith("Pareto front of ")
    last = said.splitlines()[-1]
    done = len(found_in(study))
    assert last == f"bncc: stopped; {done} of 12 trials finished; repeat the command to resume"
    assert 1 <= done < 12
    sweeps.await_end()
    assert not list(tmp_path.glob(".*"))
    assert list((tmp_path / "scratch").iterdir()) == []


def test_one_process_at_a_time_works_on_a_file(
    sweeps: Sweeps, tmp_path: Path, refused: Callable[..., str]
) -> None:
    study = tmp_path / "s.db"
    process = sweeps.start(study, "--repeats", 50)
    assert wait_for(process, ": trial")
    options = ("--target", "none", "--space", tmp_path / "space.toml", "--repeats", 50)
    line = refused("sweep", bundled_path("wifi"), "--study", study, *options)
    assert line.startswith(f"another bncc is using the study '{study}'; wait until it ends")
    assert found_in(study)  # and others may look
    assert process.poll() is None
