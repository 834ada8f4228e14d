"""A cluster of dask.distributed on loopback, with a worker that is killed."""

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

import bncc
from bncc.data.readers import bundled_path
from tests.cli.conftest import SUM, Searched
from tests.cli.sweeping import Sweeps, found_in, wait_for

Refused = Callable[..., str]


class Cluster:
    """A scheduler on loopback, and workers in processes of their own."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self.processes: list[subprocess.Popen[bytes]] = []
        words = ["--host", "127.0.0.1", "--port", "0", "--no-dashboard", "--no-jupyter"]
        self.scheduler = self._start("dask_scheduler", *words, "--scheduler-file", self._file)
        self.address = self._address()

    @property
    def _file(self) -> str:
        return str(self._folder / "scheduler.json")

    def _start(self, module: str, *words: str) -> "subprocess.Popen[bytes]":
        process = subprocess.Popen(
            [sys.executable, "-m", f"distributed.cli.{module}", *words],
            stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
            env={**os.environ, "TMPDIR": str(self._folder), "PYTHONWARNINGS": "ignore"},
        )  # fmt: skip
        self.processes.append(process)
        return process

    def worker(self, name: str | None = None) -> "subprocess.Popen[bytes]":
        """Start a worker of one thread that is not restarted."""
        words = ["--scheduler-file", self._file, "--no-nanny", "--nthreads", "1"]
        words += [] if name is None else ["--name", name]
        return self._start(
            "dask_worker", *words, "--no-dashboard", "--host", "127.0.0.1",
            "--local-directory", str(self._folder),
        )  # fmt: skip

    def await_workers(self, n: int) -> None:
        """Wait until so many workers have joined."""
        from distributed import Client

        with Client(self.address, set_as_default=False) as client:
            client.wait_for_workers(n, timeout=60)

    def await_task(self, name: str) -> None:
        """Wait until a worker has a task."""
        from distributed import Client

        end = time.monotonic() + 60
        with Client(self.address, set_as_default=False) as client:
            workers = client.scheduler_info()["workers"].items()
            (address,) = (address for address, facts in workers if facts["id"] == name)
            while not client.processing().get(address):
                assert time.monotonic() < end
                time.sleep(0.01)

    def _address(self) -> str:
        end = time.monotonic() + 60
        while True:
            assert time.monotonic() < end
            assert self.scheduler.poll() is None
            try:
                return str(json.loads(Path(self._file).read_text())["address"])
            except (OSError, ValueError):
                time.sleep(0.02)

    def end(self) -> None:
        """Kill the scheduler and all workers."""
        for process in self.processes:
            process.kill()
            process.wait()


@pytest.fixture
def cluster(tmp_path: Path) -> Iterator[Cluster]:
    """Return a scheduler without workers."""
    found = Cluster(tmp_path)
    yield found
    found.end()


def test_a_killed_worker_loses_no_trial(cluster: Cluster, sweeps: Sweeps, tmp_path: Path) -> None:
    first, _ = cluster.worker("first"), cluster.worker()
    cluster.await_workers(2)
    process = sweeps.start(tmp_path / "c.db", "--scheduler", cluster.address, "--repeats", 20)
    assert wait_for(process, ": trial")
    cluster.await_task("first")
    first.send_signal(signal.SIGKILL)
    _, said = process.communicate(timeout=120)
    assert process.returncode == 0, said
    sweeps.finish(tmp_path / "here.db", "--repeats", 20)
    assert sorted(found_in(tmp_path / "c.db")) == list(range(12))
    assert found_in(tmp_path / "c.db") == found_in(tmp_path / "here.db")


@pytest.mark.long
def test_a_search_for_a_budget_finds_the_same_on_a_cluster(
    cluster: Cluster, searched: Searched, few: Path, tmp_path: Path
) -> None:
    """Equal to the bit, although a busy worker is killed."""
    first, _ = cluster.worker("first"), cluster.worker()
    cluster.await_workers(2)
    model = tmp_path / "m.bncc"
    words = ["train", few, "-o", model, *SUM, "--checkpoint", tmp_path / "kept"]
    words += ["--scheduler", cluster.address]
    process = subprocess.Popen(
        [sys.executable, "-m", "bncc", *map(str, words)], text=True,
        stdout=subprocess.PIPE, stderr=subprocess.PIPE,
    )  # fmt: skip
    cluster.await_task("first")
    first.send_signal(signal.SIGKILL)
    _, said = process.communicate(timeout=600)
    assert process.returncode == 0, said
    assert model.read_bytes() == searched.model


def test_a_worker_that_comes_later_takes_part(
    cluster: Cluster, sweeps: Sweeps, tmp_path: Path
) -> None:
    first = cluster.worker()
    cluster.await_workers(1)
    process = sweeps.start(tmp_path / "c.db", "--scheduler", cluster.address, "--repeats", 20)
    assert wait_for(process, ": trial")
    first.kill()
    cluster.worker()
    _, said = process.communicate(timeout=120)
    assert process.returncode == 0, said
    assert sorted(found_in(tmp_path / "c.db")) == list(range(12))


def test_a_scheduler_that_goes_away_ends_the_sweep(
    cluster: Cluster, sweeps: Sweeps, tmp_path: Path
) -> None:
    cluster.worker()
    cluster.await_workers(1)
    study = tmp_path / "c.db"
    process = sweeps.start(study, "--scheduler", cluster.address, "--repeats", 20)
    assert wait_for(process, ": trial")
    cluster.end()
    _, said = process.communicate(timeout=120)
    assert process.returncode == 2, said
    assert all(line.startswith("bncc: ") for line in said.splitlines())
    last = said.splitlines()[-1]
    assert last.startswith("bncc: error: the scheduler at 'tcp://127.0.0.1")
    assert last.endswith("restart it and repeat the command, which resumes the study")
    sweeps.finish(study, "--repeats", 20)
    assert sorted(found_in(study)) == list(range(12))


def test_a_scheduler_without_workers_of_this_version_is_refused(
    cluster: Cluster, refused: Refused, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    options = ("--target", "none", "--study", tmp_path / "c.db")
    line = refused("sweep", bundled_path("wifi"), *options, "--scheduler", cluster.address)
    assert "has no workers; start some with `dask worker tcp://127.0.0.1:" in line
    cluster.worker()
    cluster.await_workers(1)
    here = bncc.__version__
    monkeypatch.setattr(bncc, "__version__", "99.0")
    options = (*options, "--study", tmp_path / "d.db")
    line = refused("sweep", bundled_path("wifi"), *options, "--scheduler", cluster.address)
    assert line.endswith(f"has bncc {here}, and this process 99.0; install the same version there")


@pytest.mark.parametrize("address", ["127.0.0.1:1", "tcp://127.0.0.1:1", "nonsense://x"])
def test_an_address_where_nobody_answers_is_refused(
    refused: Refused, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, address: str
) -> None:
    monkeypatch.setattr("bncc.search.cluster._PATIENCE", 0.5)
    options = ("--target", "none", "--study", tmp_path / "c.db")
    line = refused("sweep", bundled_path("wifi"), *options, "--scheduler", address)
    assert line.startswith(f"no scheduler responds at '{address}'; start one with `dask scheduler`")


def test_a_cluster_needs_its_package(
    refused: Refused, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "distributed", None)
    options = ("--target", "none", "--study", tmp_path / "c.db", "--scheduler", "127.0.0.1:8786")
    line = refused("sweep", bundled_path("wifi"), *options)
    remedy = "run `pip install -e '.[sweep]'` in bncc's clone"
    assert line == f"--scheduler needs dask.distributed; {remedy}"
