"""The ESP-IDF package: its manifest by the component manager, its CMake with stubs, its C."""

import pytest
from idf_component_tools.manager import ManifestManager

from tests.firmware.packages import KINDS, call, n_vectors, write_package

# The actions of ESP-IDF's build system for a component and for the project.
STUB = """
function(idf_component_register)
  cmake_parse_arguments(arg "" "" "SRCS;INCLUDE_DIRS;REQUIRES;PRIV_REQUIRES" ${ARGN})
  if(arg_UNPARSED_ARGUMENTS)
    message(FATAL_ERROR "unknown: ${arg_UNPARSED_ARGUMENTS}")
  endif()
  get_filename_component(name ${CMAKE_CURRENT_SOURCE_DIR} NAME)
  add_library(idf_${name} STATIC ${arg_SRCS})
  target_include_directories(idf_${name} PUBLIC ${arg_INCLUDE_DIRS})
  target_compile_options(idf_${name} PRIVATE -Wall -Wextra -Werror)
  set(COMPONENT_LIB idf_${name} PARENT_SCOPE)
endfunction()

macro(project name)
  _project(${name} LANGUAGES C)
  foreach(folder ${EXTRA_COMPONENT_DIRS})
    get_filename_component(component ${folder} ABSOLUTE)
    get_filename_component(name_of ${component} NAME)
    add_subdirectory(${component} ${name_of})
    list(APPEND components idf_${name_of})
  endforeach()
  add_subdirectory(main)
  target_link_libraries(idf_main PUBLIC ${components})
  file(WRITE ${CMAKE_BINARY_DIR}/start.c "void app_main(void);int main(void){app_main();return 0;}")
  add_executable(app ${CMAKE_BINARY_DIR}/start.c)
  target_link_libraries(app PRIVATE idf_main)
endmacro()
"""


@pytest.mark.parametrize("kind", KINDS)
def test_the_component_manager_takes_the_manifest(kind, tmp_path):
    root = write_package(tmp_path, kind, "esp-idf")
    read = ManifestManager(root, "gait").validate()
    assert read.validation_errors == []
    assert str(read.manifest.version).startswith("1.0.0+")
    assert read.manifest.description.startswith("A classifier with ")


def test_the_component_manager_refuses_a_broken_manifest(tmp_path):
    manifest = write_package(tmp_path, "array", "esp-idf") / "idf_component.yml"
    manifest.write_text(manifest.read_text().replace("1.0.0+", "first "))
    assert ManifestManager(manifest.parent, "gait").validate().validation_errors


@pytest.mark.cc
@pytest.mark.parametrize(
    ("kind", "last"), [*((kind, "0 wrong: PASS") for kind in KINDS), ("struct", "1 wrong: FAIL")]
)
def test_the_example_builds_and_compares(kind, last, require_tool, tmp_path):
    """The CMake files of component and example are run by CMake, ESP-IDF's commands stubbed."""
    for tool in ("cmake", "make", "cc"):
        require_tool(tool)
    root = write_package(tmp_path, kind, "esp-idf", corrupt="FAIL" in last)
    script = tmp_path / "idf" / "tools" / "cmake" / "project.cmake"
    script.parent.mkdir(parents=True)
    script.write_text(STUB)
    out = tmp_path / "build"
    environment = ("env", f"IDF_PATH={tmp_path / 'idf'}")
    call(*environment, "cmake", "-S", root / "examples" / "predict", "-B", out, folder=tmp_path)
    call("cmake", "--build", out, folder=tmp_path)
    said = call(out / "app", folder=tmp_path).splitlines()
    assert said[-1] == f"{n_vectors(kind)} vectors, {last}"
    assert said[0].startswith("vector 0: class ")
