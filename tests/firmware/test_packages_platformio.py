"""The PlatformIO package, and PlatformIO's own check of it and of the Arduino package."""

import configparser
import json
import os
import subprocess
import sys
import tarfile
from pathlib import Path

import pytest

from tests.firmware.arduino_core import CORE, build_core, build_sketch, run_sketch
from tests.firmware.packages import KINDS, files_of, n_vectors, write_package

MANIFESTS = {"arduino": "library.properties", "platformio": "library.json"}


def pack(root: Path, home: Path) -> subprocess.CompletedProcess[str]:
    """Run `pio pkg pack`, which reads and checks the manifest, without network."""
    command = [sys.executable, "-m", "platformio", "pkg", "pack", "-o", str(home / "gait.tar.gz")]
    environment = {
        **os.environ,
        "PLATFORMIO_CORE_DIR": str(home / "core"),
        "PLATFORMIO_SETTING_ENABLE_TELEMETRY": "no",
        "CI": "true",
    }
    return subprocess.run(
        command, cwd=root, env=environment, capture_output=True, text=True, check=False, timeout=120
    )


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("package", MANIFESTS)
def test_it_is_packed_whole(package, kind, tmp_path):
    done = pack(write_package(tmp_path, kind, package), tmp_path)
    assert done.returncode == 0, done.stdout + done.stderr
    with tarfile.open(tmp_path / "gait.tar.gz") as archive:
        assert set(archive.getnames()) == set(files_of(kind, package))


@pytest.mark.parametrize("package", MANIFESTS)
def test_a_broken_manifest_is_refused(package, tmp_path):
    root = write_package(tmp_path, "array", package)
    manifest = root / MANIFESTS[package]
    manifest.write_text(manifest.read_text().replace("1.0.0+", "version "))
    done = pack(root, tmp_path)
    assert done.returncode != 0
    assert "Invalid semantic versioning format" in done.stdout + done.stderr


@pytest.mark.parametrize("kind", KINDS)
def test_the_manifest_names_what_is_there(kind):
    files = files_of(kind, "platformio")
    manifest = json.loads(files["library.json"])
    assert manifest["name"] == "gait"
    assert f"include/{manifest['headers']}" in files
    (example,) = manifest["examples"]
    beside = {path for path in files if path.startswith(f"{example['base']}/")}
    assert {f"{example['base']}/{file}" for file in example["files"]} == beside


@pytest.mark.parametrize("kind", KINDS)
def test_the_example_s_project_has_a_board_and_this_machine(kind):
    project = configparser.ConfigParser()
    project.read_string(files_of(kind, "platformio")["examples/predict/platformio.ini"])
    assert project["env"]["lib_deps"] == "symlink://../.."
    assert project["env:uno"]["framework"] == "arduino"
    assert project["env:native"]["build_src_filter"] == "-<*> +<gait_selftest.c>"


@pytest.mark.firmware
def test_the_example_passes_on_an_uno(require_tool, missing, tmp_path):
    """It is the sketch of the Arduino package, with its headers where this package has them."""
    for tool in ("avr-gcc", "avr-g++", "simavr", "stdbuf"):
        require_tool(tool)
    if not CORE.is_dir():
        missing("the Arduino core for AVR is not installed (arduino-core-avr)")
    root = write_package(tmp_path, "array", "platformio")
    (root / "include" / "gait.h").rename(root / "src" / "gait.h")
    main = root / "examples" / "predict" / "src" / "main.cpp"
    sketch = main.rename(main.with_suffix(".ino"))
    core = build_core(tmp_path / "core")
    assert (
        main.with_suffix(".ino").read_text()
        == files_of("array", "arduino")["examples/predict/predict.ino"]
    )
    said = run_sketch(build_sketch(root, sketch, core, tmp_path / "b"), ("PASS", "FAIL"))
    assert f"{n_vectors('array')} vectors, 0 wrong: PASS" in said
