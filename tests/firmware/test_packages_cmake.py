"""The CMake package: built alone, installed, added as a folder, fetched."""

from pathlib import Path

import pytest

from tests.firmware.packages import KINDS, call, write_package

pytestmark = pytest.mark.cc

MAIN = """
#include "gait.h"

int main(void)
{
    return gait_class_name(0U)[0] == '\\0';
}
"""
WAYS = {
    "find_package": "find_package(gait 1.0 REQUIRED)",
    "add_subdirectory": "add_subdirectory(gait)",
    "FetchContent": """include(FetchContent)
FetchContent_Declare(gait SOURCE_DIR ${CMAKE_SOURCE_DIR}/gait)
FetchContent_MakeAvailable(gait)""",
}


@pytest.fixture(autouse=True)
def cmake(require_tool):
    """Skip where CMake, what it drives, or a compiler is missing."""
    for tool in ("cmake", "make", "cc"):
        require_tool(tool)


def build(folder: Path, *options: str) -> Path:
    """Configure and build a project in a sibling folder."""
    out = folder / "build"
    call("cmake", "-S", folder, "-B", out, "-Werror=dev", *options, folder=folder)
    call("cmake", "--build", out, folder=folder)
    return out


@pytest.mark.parametrize("kind", KINDS)
def test_it_builds_and_passes_its_test(kind, tmp_path):
    out = build(write_package(tmp_path, kind, "cmake"))
    assert "100% tests passed, 0 tests failed out of 1" in call("ctest", folder=out)


def test_a_corrupted_vector_fails_its_test(tmp_path):
    out = build(write_package(tmp_path, "struct", "cmake", corrupt=True))
    assert "0% tests passed, 1 tests failed out of 1" in call("ctest", folder=out, ok=False)


@pytest.mark.parametrize("way", WAYS)
def test_another_project_uses_it(way, tmp_path):
    """In C, and the header in C++, as described in README.md."""
    root = write_package(tmp_path / "app", "array", "cmake")
    prefix = tmp_path / "prefix"
    if way == "find_package":
        call("cmake", "--install", build(root), "--prefix", prefix, folder=root)
        root.rename(tmp_path / "gone")
    app = tmp_path / "app"
    (app / "main.c").write_text(MAIN)
    (app / "main.cpp").write_text(MAIN)
    (app / "CMakeLists.txt").write_text(
        f"""cmake_minimum_required(VERSION 3.14)
project(app LANGUAGES C CXX)
enable_testing()
{WAYS[way]}
foreach(language c cpp)
  add_executable(app_${{language}} main.${{language}})
  target_link_libraries(app_${{language}} PRIVATE bncc::gait)
  add_test(NAME app_${{language}} COMMAND app_${{language}})
endforeach()
"""
    )
    out = build(app, f"-DCMAKE_PREFIX_PATH={prefix}")
    # The two of the application, and none of the package.
    assert "100% tests passed, 0 tests failed out of 2" in call("ctest", folder=out)
    assert not list(out.rglob("gait_selftest"))


@pytest.mark.parametrize("option", ["OFF", "ON"])
def test_a_part_of_another_project_is_installed_when_asked_for(option, tmp_path):
    app = tmp_path / "app"
    write_package(app, "array", "cmake")
    (app / "CMakeLists.txt").write_text(
        "cmake_minimum_required(VERSION 3.14)\nproject(app LANGUAGES C)\nadd_subdirectory(gait)\n"
    )
    prefix = tmp_path / "prefix"
    options = ["-DGAIT_INSTALL=ON"] if option == "ON" else []
    call("cmake", "--install", build(app, *options), "--prefix", prefix, folder=app)
    installed = {path.name for path in prefix.rglob("*") if path.is_file()}
    expected = {"gait.h", "libbncc_gait.a", "gaitConfig.cmake", "gaitConfigVersion.cmake"}
    assert installed == set() if option == "OFF" else expected < installed


def test_another_major_version_is_not_taken(tmp_path):
    root = write_package(tmp_path, "array", "cmake")
    prefix = tmp_path / "prefix"
    call("cmake", "--install", build(root), "--prefix", prefix, folder=root)
    app = tmp_path / "app"
    app.mkdir()
    (app / "CMakeLists.txt").write_text(
        "cmake_minimum_required(VERSION 3.14)\nproject(app LANGUAGES C)\n"
        "find_package(gait 2.0 REQUIRED)\n"
    )
    command = ["cmake", "-S", app, "-B", app / "build", f"-DCMAKE_PREFIX_PATH={prefix}"]
    assert "version: 1.0.0" in call(*command, folder=app, ok=False)


def test_its_own_test_can_be_left_out(tmp_path):
    """For compilers whose programs do not run here."""
    root = write_package(tmp_path, "array", "cmake")
    out = build(root, "-DBUILD_TESTING=OFF")
    assert not list(out.rglob("gait_selftest*"))
