"""What a user installs: the wheel carries everything that the package reads at run time."""

import os
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

from bncc.model.file import save_model
from tests.models import naive_integer

ROOT = Path(__file__).resolve().parent.parent


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a wheel built from this tree, as `pip install` would."""
    folder = tmp_path_factory.mktemp("dist")
    command = [sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", str(folder)]
    subprocess.run(command, cwd=ROOT, check=True, capture_output=True)
    (path,) = folder.glob("*.whl")
    return path


def test_the_wheel_holds_all_that_is_no_python(wheel: Path) -> None:
    """Templates, bundled data with its licences, and the type marker are in the wheel."""
    inside = set(zipfile.ZipFile(wheel).namelist())
    templates = {
        f"bncc/_templates/{path.relative_to(ROOT / 'templates').as_posix()}"
        for path in (ROOT / "templates").rglob("*.j2")
    }
    others = {
        path.relative_to(ROOT).as_posix()
        for path in (ROOT / "bncc").rglob("*")
        if path.is_file() and path.suffix not in {".py", ".pyc"}
    }
    assert templates
    assert {"bncc/py.typed", "bncc/data/bundled/README.md"} <= others
    assert templates | others <= inside
    assert not {name for name in inside if name.startswith(("tests/", "templates/"))}


def test_an_installed_wheel_emits_c(wheel: Path, tmp_path: Path) -> None:
    """Away from the repository, `bncc emit-c` finds the templates in the package."""
    site = tmp_path / "site"
    zipfile.ZipFile(wheel).extractall(site)
    save_model(naive_integer(), tmp_path / "naive.bncc")
    script = (
        "import bncc, sys; from bncc.cli.main import main; "
        f"assert bncc.__file__.startswith({str(site)!r}); main(sys.argv[1:])"
    )
    done = subprocess.run(
        [sys.executable, "-c", script, "emit-c", "naive.bncc", "-o", "out", "--name", "naive"],
        cwd=tmp_path,
        env={**os.environ, "PYTHONPATH": str(site)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert "naive_predict" in (tmp_path / "out" / "naive.h").read_text("utf-8")
