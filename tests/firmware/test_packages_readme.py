"""The commands and code in the README of each package work."""

import re

import pytest
import yaml

from bncc.emit.emitter import EmitOptions, emit_c
from bncc.emit.micropython import MICROPYTHON
from bncc.emit.packages import PACKAGES
from tests.firmware.packages import KINDS, call, files_of, n_vectors, write_package
from tests.firmware.test_packages_cmake import WAYS
from tests.unit.emit.test_emitter_adaptation_samples import adapting

OF_SAMPLES = [package for package in PACKAGES if package != MICROPYTHON]


def blocks(kind: str, package: str, *languages: str) -> list[str]:
    """Return the blocks of code in some languages."""
    return blocks_of(files_of(kind, package)["README.md"], *languages)


def blocks_of(text: str, *languages: str) -> list[str]:
    """Return the blocks of code of a text in some languages."""
    found = re.findall(r"^```(\w+)\n(.*?)^```$", text, re.DOTALL | re.MULTILINE)
    assert found, "a README without code"
    return [code for language, code in found if language in languages]


@pytest.mark.cc
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("package", PACKAGES)
def test_its_c_compiles(package, kind, require_tool, tmp_path):
    """As C99 and, as sketches are, as C++."""
    require_tool("gcc")
    require_tool("g++")
    root = write_package(tmp_path, kind, package)
    (code,) = blocks(kind, package, "c", "cpp")
    header = root / PACKAGES[package].header
    (root / "firmware.c").write_text(code)
    flags = ("-Wall", "-Wextra", "-Werror", "-O2", f"-I{header}", "-c", "-o", "firmware.o")
    call("gcc", "-std=c99", "-pedantic", *flags, "firmware.c", folder=root)
    call("g++", "-std=c++11", "-xc++", *flags, "firmware.c", folder=root)


@pytest.mark.cc
@pytest.mark.parametrize("entries", [(), ("adapt", "confidence", "counters", "filter", "unknown")])
@pytest.mark.parametrize("package", OF_SAMPLES)
def test_its_c_takes_samples_where_the_model_does(package, entries, require_tool, tmp_path):
    require_tool("gcc")
    require_tool("g++")
    options = EmitOptions("gait", frozenset(entries), package=package)
    files = emit_c(adapting("naive"), options).files
    (code,) = blocks_of(files["README.md"], "c", "cpp")
    assert "gait_start(&stream);" in code
    assert "label = gait_push(&stream, sample);" in code
    assert "predict" not in code
    assert "classify_now" not in files["README.md"]
    assert ("gait_forget(&stream.adaptation);" in code) == bool(entries)
    assert ("reset_stream()` and" in files["README.md"]) == (bool(entries) and package == "arduino")
    (header,) = (text for path, text in files.items() if path.endswith("gait.h"))
    (tmp_path / "gait.h").write_text(header)
    (tmp_path / "firmware.c").write_text(code)
    flags = ("-Wall", "-Wextra", "-Werror", "-O2", "-I.", "-c", "-o", "firmware.o")
    call("gcc", "-std=c99", "-pedantic", *flags, "firmware.c", folder=tmp_path)
    call("g++", "-std=c++11", "-xc++", *flags, "firmware.c", folder=tmp_path)


@pytest.mark.cc
@pytest.mark.parametrize("kind", KINDS)
def test_the_commands_of_the_plain_package_say_pass(kind, require_tool, tmp_path):
    require_tool("cc")
    (commands,) = blocks(kind, "plain", "sh")
    for corrupt in (False, True):
        root = write_package(tmp_path / str(corrupt), kind, "plain", corrupt=corrupt)
        assert ("PASS" in call("sh", "-c", commands, folder=root, ok=not corrupt)) != corrupt


@pytest.mark.cc
def test_the_commands_of_the_cmake_package_install_and_test_it(require_tool, tmp_path):
    for tool in ("cmake", "make", "cc"):
        require_tool(tool)
    root = write_package(tmp_path, "array", "cmake")
    install, check = blocks("array", "cmake", "sh")
    call("sh", "-e", "-c", install, folder=root)
    assert "100% tests passed" in call("sh", "-e", "-c", check, folder=root)
    assert (root / "prefix" / "include" / "gait.h").is_file()


def test_the_ways_into_a_cmake_project_are_those_that_are_tested():
    told = "".join(blocks("array", "cmake", "cmake")).replace("/path/to", "${CMAKE_SOURCE_DIR}")
    assert all(way in told for way in WAYS.values())
    assert told.count("target_link_libraries(firmware PRIVATE bncc::gait)") == len(WAYS)


def test_the_manifest_of_a_west_workspace_is_one():
    (manifest,) = blocks("array", "zephyr", "yaml")
    (project,) = yaml.safe_load(manifest)["manifest"]["projects"]
    assert set(project) == {"name", "url", "revision", "path"}
    assert project["path"] == "modules/gait"


@pytest.mark.parametrize("package", ["arduino", "platformio", "zephyr", "esp-idf"])
def test_it_shows_the_line_that_the_example_ends_with(package):
    """The tests of each example wait for the same line."""
    assert f"{n_vectors('array')} vectors, 0 wrong: PASS\n" in blocks("array", package, "text")
