"""``bncc prove -o`` and ``python -m bncc.checker``: files, exit codes, and what is refused."""

import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from bncc.data.readers import bundled_path

pytestmark = pytest.mark.firmware
pytest.importorskip("capstone")


@pytest.fixture
def trained(run: Any, tmp_path: Path) -> Path:
    """Return a model whose programs are proved."""
    path = tmp_path / "rooms.bncc"
    learned = ("--structure", "naive", "--parameters", "ml", "--folds", "0")
    run("train", bundled_path("wifi"), "-o", path, *learned, "--quiet")
    return path


def checker(*files: object) -> subprocess.CompletedProcess[str]:
    """Run the checker as a user does."""
    command = [sys.executable, "-m", "bncc.checker", *map(str, files)]
    return subprocess.run(command, capture_output=True, text=True, check=False)


def test_a_certificate_is_written_and_accepted(
    run: Any, run_json: Any, require_bench: Any, trained: Path, tmp_path: Path
) -> None:
    require_bench("cortex-m0")
    path = tmp_path / "proof"
    asked = ("prove", trained, "--target", "cortex-m0", "--optimize", "size", "-o", path)
    said = run_json(*asked)
    assert said["certificate"] == str(path)
    assert said["program"] == f"{path}.elf"
    found = checker(path, f"{path}.elf", trained)
    assert found.returncode == 0, found.stdout
    assert found.stdout.startswith("accepted: ")
    content = path.read_bytes()
    assert "exists; use --force" in run(*asked, code=2).stderr
    run(*asked, "--force")
    assert path.read_bytes() == content
    elf = Path(f"{path}.elf").read_bytes()
    (tmp_path / "other.elf").write_bytes(elf + b"\0")
    found = checker(path, tmp_path / "other.elf", trained)
    assert found.returncode == 1
    assert found.stdout.startswith("rejected: the certificate is about another program")


def test_bad_use_of_the_checker_is_exit_code_2(model: Path, tmp_path: Path) -> None:
    assert checker().returncode == 2
    assert checker(tmp_path / "none", model, model).returncode == 2
    found = checker(model, model, model)
    assert found.returncode == 1
    assert found.stdout == "rejected: the first file is no certificate of bncc\n"


def test_several_proofs_have_no_one_certificate(run: Any, model: Path, tmp_path: Path) -> None:
    asked = ("prove", model, "-o", tmp_path / "proof")
    for more in (("--entry", "all"), ("--target", "cortex-m0", "--target", "rv32")):
        said = run(*asked, *more, code=2).stderr
        assert "name one --target and --entry" in said
    assert not list(tmp_path.glob("proof*"))


def test_a_target_that_the_checker_does_not_know_is_named(
    run: Any, model: Path, tmp_path: Path
) -> None:
    """Before anything is built or proved."""
    said = run("prove", model, "--target", "avr", "-o", tmp_path / "proof", code=2).stderr
    assert "no certificate covers avr yet; leave out -o, or use --target cortex-m0 or" in said
    assert not list(tmp_path.glob("proof*"))


def test_a_model_that_the_checker_does_not_read_is_named(
    run: Any, require_bench: Any, tmp_path: Path
) -> None:
    require_bench("cortex-m0")
    counting = tmp_path / "counting.bncc"
    learned = ("--structure", "naive", "--parameters", "ml", "--folds", "0", "--counters")
    run("train", bundled_path("wifi"), "-o", counting, *learned, "--quiet")
    asked = ("prove", counting, "--target", "cortex-m0", "--optimize", "size")
    said = run(*asked, "-o", tmp_path / "proof", code=2).stderr
    assert "no certificate covers a model with counters yet; leave out -o" in said
    run(*asked)
