"""The installed package: the wheel contains everything that is read at run time."""

import json
import os
import subprocess
import sys
import tarfile
import zipfile
from collections.abc import Callable, Sequence
from pathlib import Path

import pytest

from bncc.device.cross import Toolchain
from bncc.model.file import save_model
from tests.models import naive_integer

ROOT = Path(__file__).resolve().parent.parent


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a wheel built from this tree, as `pip install` would."""
    return build("wheel", ROOT, tmp_path_factory.mktemp("dist"))


@pytest.fixture(scope="module")
def site(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a folder with the wheel's content, as in site-packages."""
    folder = tmp_path_factory.mktemp("site")
    zipfile.ZipFile(wheel).extractall(folder)
    return folder


def build(kind: str, source: Path, folder: Path) -> Path:
    """Build a wheel or an sdist and return it."""
    command = [sys.executable, "-m", "hatchling", "build", "-t", kind, "-d", str(folder)]
    subprocess.run(command, cwd=source, check=True, capture_output=True)
    (path,) = folder.iterdir()
    return path


def names(wheel: Path) -> set[str]:
    """Return the files in a wheel."""
    return set(zipfile.ZipFile(wheel).namelist())


def bncc(site: Path, folder: Path, words: Sequence[str], **env: str) -> str:
    """Run the command of an unpacked wheel away from the repository and return its stdout."""
    script = (
        "import bncc, sys; from bncc.cli.main import main; "
        f"assert bncc.__file__.startswith({str(site)!r}); main(sys.argv[1:])"
    )
    done = subprocess.run(
        [sys.executable, "-c", script, *words],
        cwd=folder,
        env={**os.environ, "PYTHONPATH": str(site), **env},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_the_wheel_holds_all_that_is_no_python(wheel: Path) -> None:
    """Templates, C that runs around a model, bundled data with its licenses, the type marker."""
    inside = names(wheel)
    templates = {
        f"bncc/_templates/{path.relative_to(ROOT / 'templates').as_posix()}"
        for path in (ROOT / "templates").rglob("*.j2")
    }
    others = {
        path.relative_to(ROOT).as_posix()
        for path in (ROOT / "bncc").rglob("*")
        if path.is_file() and path.suffix not in {".py", ".pyc"}
    }
    assert "bncc/_templates/emit/textbook/textbook.c.j2" in templates
    assert {"bncc/py.typed", "bncc/data/bundled/README.md"} <= others
    assert {f"bncc/device/runtime/{name}" for name in ("meter.c", "stack_paint.h", "bare.ld")} <= (
        others
    )
    assert "bncc/search/spaces/default.toml" in others
    assert templates | others <= inside
    licenses = {name.rpartition("/")[2] for name in inside if ".dist-info/licenses/" in name}
    assert licenses == {"LICENSE", "LICENSE-EXCEPTION"}
    assert not {name for name in inside if name.startswith(("tests/", "templates/"))}


def test_torch_is_an_extra_that_all_brings(wheel: Path) -> None:
    """A firmware's CI installs two gigabytes less; `make demo` and `make test` install `all`."""
    archive = zipfile.ZipFile(wheel)
    (path,) = [name for name in archive.namelist() if name.endswith(".dist-info/METADATA")]
    lines = archive.read(path).decode().splitlines()
    needed = [line for line in lines if line.startswith("Requires-Dist: ")]
    assert len(needed) > 10
    assert {line for line in needed if line.split()[1].startswith("torch")} == {
        "Requires-Dist: torch>=2.2; extra == 'torch'",
        "Requires-Dist: torch>=2.2; extra == 'all'",
    }
    assert '--editable ".[all]"' in (ROOT / "Makefile").read_text("utf-8")


def test_the_sdist_builds_the_same_wheel(wheel: Path, tmp_path: Path) -> None:
    """An installation from source has all files, and the sdist contains the tests too."""
    sdist = build("sdist", ROOT, tmp_path / "sdist")
    with tarfile.open(sdist) as archive:
        archive.extraction_filter = getattr(tarfile, "data_filter", None)  # since 3.11.4
        archive.extractall(tmp_path)
    source = tmp_path / sdist.name.removesuffix(".tar.gz")
    assert names(build("wheel", source, tmp_path / "wheel")) == names(wheel)
    for name in ("Makefile", ".ci/run", ".ci/toolchains", "tests/conftest.py"):
        assert (source / name).is_file()


def test_an_installed_wheel_emits_c(site: Path, tmp_path: Path) -> None:
    """Away from the repository, `bncc emit-c` finds the templates in the package."""
    save_model(naive_integer(), tmp_path / "naive.bncc")
    words = ["emit-c", "naive.bncc", "-o", "out", "--name", "naive", "--package", "zephyr"]
    bncc(site, tmp_path, words)
    assert "naive_predict" in (tmp_path / "out" / "include" / "naive.h").read_text("utf-8")
    assert (tmp_path / "out" / "samples" / "predict" / "src" / "main.c").is_file()


@pytest.mark.firmware
def test_an_installed_wheel_serves_targets(
    site: Path, tmp_path: Path, require_bench: Callable[..., Toolchain]
) -> None:
    """No program is within reach: the wheels ziglang and unicorn do it, with C of the package."""
    for target in ("cortex-m0", "rv32"):
        require_bench(target, "ziglang", "unicorn")
    save_model(naive_integer(), tmp_path / "naive.bncc")
    nowhere = {"PATH": str(tmp_path), "CC": ""}
    words = ["verify", "naive.bncc", "--target", "cortex-m0", "--target", "rv32", "--json"]
    report = json.loads(bncc(site, tmp_path, words, **nowhere))
    assert report["agree"]
    assert set(report["targets"]) == {"cortex-m0", "rv32"}
    for outcome in report["targets"].values():
        assert outcome["toolchain"].startswith("ziglang ")
        assert "unicorn " in outcome["toolchain"]
    words = ["bench", "naive.bncc", "--target", "cortex-m0", "--json"]
    figures = json.loads(bncc(site, tmp_path, words, **nowhere))["targets"]["cortex-m0"]
    assert figures["flash"] > 0
    assert figures["baseline"]["flash"] > 0
