"""The Zephyr package: its descriptions by Zephyr's schemas, its CMake with stubs, its C."""

import re
from pathlib import Path

import jsonschema
import kconfiglib
import pytest
import yaml

from tests.firmware.packages import KINDS, call, files_of, n_vectors, write_package

TEXT = {"type": "string"}
TRUTH = {"type": "boolean"}
TEXTS = {"type": "array", "items": TEXT}


def mapping(**properties) -> dict:
    """Return the schema of a mapping that has these keys and no other."""
    return {"type": "object", "properties": properties, "additionalProperties": False}


# After METADATA_SCHEMA in scripts/zephyr_module.py of Zephyr, described under "Modules".
MODULE = mapping(
    name=TEXT,
    build=mapping(
        **dict.fromkeys(("cmake", "kconfig", "sysbuild-cmake", "sysbuild-kconfig"), TEXT),
        **{f"{part}-ext": TRUTH for part in ("cmake", "kconfig")},
        depends=TEXTS,
        settings={"type": "object"},
    ),
    tests=TEXTS,
    samples=TEXTS,
    boards=TEXTS,
    blobs={"type": "array"},
)
# After scripts/schemas/twister/testsuite-schema.yaml of Zephyr, described under "Test Runner".
SCENARIO = mapping(
    **dict.fromkeys(("depends_on", "filter", "harness", "extra_args", "arch_allow"), TEXT),
    **{key: {"type": ["string", "array"]} for key in ("tags", "platform_allow")},
    **dict.fromkeys(("build_only", "skip", "slow", "sysbuild"), TRUTH),
    **{key: {"type": "integer"} for key in ("min_ram", "min_flash", "timeout")},
    **dict.fromkeys(("extra_configs", "integration_platforms", "modules"), TEXTS),
    harness_config=mapping(
        type={"enum": ["one_line", "multi_line"]},
        regex=TEXTS,
        ordered=TRUTH,
        repeat={"type": "integer"},
        fixture=TEXT,
    ),
)
SAMPLE = mapping(
    sample=mapping(name=TEXT, description=TEXT) | {"required": ["name"]},
    common=SCENARIO,
    tests={
        "type": "object",
        "patternProperties": {r"^[A-Za-z0-9_.-]+$": SCENARIO},
        "additionalProperties": False,
    },
) | {"required": ["tests"]}

# The actions of Zephyr's build system for an application and its modules.
STUB = """
macro(zephyr_library)
  string(MAKE_C_IDENTIFIER "${CMAKE_CURRENT_SOURCE_DIR}" ZEPHYR_CURRENT_LIBRARY)
  add_library(${ZEPHYR_CURRENT_LIBRARY} STATIC "")
  target_link_libraries(${ZEPHYR_CURRENT_LIBRARY} PUBLIC zephyr_interface)
  target_link_libraries(app PRIVATE ${ZEPHYR_CURRENT_LIBRARY})
endmacro()
function(zephyr_library_sources)
  target_sources(${ZEPHYR_CURRENT_LIBRARY} PRIVATE ${ARGV})
endfunction()
function(zephyr_include_directories)
  target_include_directories(zephyr_interface INTERFACE ${ARGV})
endfunction()

enable_language(C)
add_library(zephyr_interface INTERFACE)
target_include_directories(zephyr_interface INTERFACE ${ZEPHYR_STUB}/include)
target_compile_options(zephyr_interface INTERFACE -Wall -Wextra -Werror)
add_executable(app "")
target_link_libraries(app PRIVATE zephyr_interface)
file(STRINGS ${CMAKE_SOURCE_DIR}/prj.conf settings)
foreach(setting ${settings})
  string(REPLACE "=" ";" setting ${setting})
  set(${setting})
endforeach()
foreach(module ${EXTRA_ZEPHYR_MODULES})
  add_subdirectory(${module}/zephyr ${CMAKE_BINARY_DIR}/module)
endforeach()
set(Zephyr_FOUND TRUE)
"""
PRINTK = "#include <stdio.h>\n#define printk printf\n"


@pytest.mark.parametrize("kind", KINDS)
def test_the_module_is_described_by_zephyr_s_schema(kind, tmp_path):
    """The named files exist, as zephyr_module.py demands."""
    module = yaml.safe_load(files_of(kind, "zephyr")["zephyr/module.yml"])
    jsonschema.validate(module, MODULE)
    assert module["name"] == "gait"
    root = write_package(tmp_path, kind, "zephyr")
    assert (root / module["build"]["cmake"] / "CMakeLists.txt").is_file()
    assert (root / module["build"]["kconfig"]).is_file()
    assert all((root / folder).is_dir() for folder in module["samples"])


@pytest.mark.parametrize("kind", KINDS)
def test_the_sample_is_described_by_twister_s_schema(kind):
    """Its console check takes a pass, and no failure."""
    sample = yaml.safe_load(files_of(kind, "zephyr")["samples/predict/sample.yaml"])
    jsonschema.validate(sample, SAMPLE)
    ((name, scenario),) = sample["tests"].items()
    assert name == "sample.bncc.gait"
    (pattern,) = scenario["harness_config"]["regex"]
    assert re.match(pattern, "32 vectors, 0 wrong: PASS")
    assert not re.match(pattern, "32 vectors, 10 wrong: FAIL")


@pytest.mark.parametrize("wrong", [{"build": {"cmakes": "zephyr"}}, {"samples": "samples"}])
def test_the_schemas_refuse_what_zephyr_would(wrong):
    with pytest.raises(jsonschema.ValidationError):
        jsonschema.validate(wrong, MODULE)
    with pytest.raises(jsonschema.ValidationError):
        jsonschema.validate({"sample": {"name": "x"}, "test": {}}, SAMPLE)


@pytest.mark.parametrize("kind", KINDS)
def test_kconfig_offers_one_switch_that_is_off(kind, tmp_path):
    root = write_package(tmp_path, kind, "zephyr")
    options = kconfiglib.Kconfig(str(root / "zephyr" / "Kconfig"), warn_to_stderr=False)
    (symbol,) = options.unique_defined_syms
    assert options.warnings == []
    assert (symbol.name, symbol.type, symbol.str_value) == ("GAIT", kconfiglib.BOOL, "n")
    assert symbol.nodes[0].prompt[0] == "gait, a classifier generated by bncc"
    options.load_config(str(root / "samples" / "predict" / "prj.conf"))
    assert symbol.str_value == "y"
    assert options.warnings == []


def built(folder: Path, root: Path, *, ok: bool = True) -> Path:
    """Build the sample with Zephyr's commands stubbed, and return the program."""
    stub = folder / "zephyr"
    (stub / "include" / "zephyr" / "sys").mkdir(parents=True)
    (stub / "include" / "zephyr" / "sys" / "printk.h").write_text(PRINTK)
    (stub / "ZephyrConfig.cmake").write_text(STUB)
    out = folder / "build"
    options = (f"-DZephyr_DIR={stub}", f"-DZEPHYR_STUB={stub}")
    call("cmake", "-S", root / "samples" / "predict", "-B", out, *options, folder=folder)
    call("cmake", "--build", out, folder=folder, ok=ok)
    return out / "app"


@pytest.fixture
def tools(require_tool) -> None:
    """Skip where CMake, what it drives, or a compiler is missing."""
    for tool in ("cmake", "make", "cc"):
        require_tool(tool)


@pytest.mark.cc
@pytest.mark.parametrize(
    ("kind", "last"), [*((kind, "0 wrong: PASS") for kind in KINDS), ("struct", "1 wrong: FAIL")]
)
def test_the_sample_builds_and_compares(kind, last, tools, tmp_path):
    """The CMake files of module and sample are run by CMake."""
    root = write_package(tmp_path, kind, "zephyr", corrupt="FAIL" in last)
    said = call(built(tmp_path, root), folder=tmp_path).splitlines()
    assert said[-1] == f"{n_vectors(kind)} vectors, {last}"
    assert said[0].startswith("vector 0: class ")


@pytest.mark.cc
def test_nothing_is_built_where_the_switch_is_off(tools, tmp_path):
    """The sample then lacks the header."""
    root = write_package(tmp_path, "array", "zephyr")
    (root / "samples" / "predict" / "prj.conf").write_text("CONFIG_GAIT=n\n")
    built(tmp_path, root, ok=False)
