"""Packages of the C for build systems: one description, one tree each."""

import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import PurePosixPath

from bncc.emit.environment import TERMS, render, with_terms
from bncc.emit.micropython import MICROPYTHON, RESERVED, Names, module_names
from bncc.errors import OptionError

_CMAKE = """
    all all_build clean depend edit_cache help install list_install_components package
    package_source preinstall rebuild_cache run_tests test zero_check"""
_ZEPHYR = """
    adc arc arm arm64 assert audio auxdisplay bbram bt can cache charger console counter cpp crypto
    dac debug disk_access display dma edac eeprom emul entropy errno espi ethernet events fcb flash
    fpu fuel_gauge gnss gpio haptics heap hwinfo hwspinlock i2c i2s i3c input ipm kscan led
    led_strip llext log lora mbox mdio mips mm_drv modbus modem mspi multithreading net nvs ocpp
    peci pinctrl pm poll posix printk ps2 pwm regulator reset retention riscv rtc rtio sdhc sensing
    sensor serial settings shell smbus smf smp sparc spi stepper syscon task_wdt tee test
    timing_functions tracing userspace video w1 watchdog wifi x86 xtensa zbus ztest"""

CMAKE_TARGETS = frozenset(_CMAKE.split())
"""Targets that CMake's generators make."""

ZEPHYR_SYMBOLS = frozenset(_ZEPHYR.split())
"""Kconfig symbols of Zephyr's drivers, subsystems and architectures that a model may be called."""


def kconfig_symbol(model: str) -> str:
    """Return the Kconfig symbol that switches a model on in Zephyr."""
    return f"{model}_model".upper() if model.lower() in ZEPHYR_SYMBOLS else model.upper()


@dataclass(frozen=True)
class Interface:
    """The public names of an emitted model, each in the order of the header."""

    # types, functions, constants: What C calls them; constants are macros and class indices
    types: tuple[str, ...]
    functions: tuple[str, ...]
    constants: tuple[str, ...]


def interface_of(header: str, name: str) -> Interface:
    """Find the public names of a header."""
    code = re.sub(r"/\*.*?\*/", "", header, flags=re.DOTALL)
    macro, index = rf"^#define ({name.upper()}_\w+) ", rf"^    ({name.upper()}_\w+) = \d"
    constants = dict.fromkeys(re.findall(macro, code, re.MULTILINE))
    constants |= dict.fromkeys(re.findall(index, code, re.MULTILINE))
    types = dict.fromkeys(re.findall(rf"\b({name}_\w+_t);", code))
    functions = dict.fromkeys(re.findall(rf"\b({name}_\w+)\(", code))
    return Interface(tuple(types), tuple(functions), tuple(constants))


@dataclass(frozen=True)
class Package:
    """Layout of a model's files for one build system."""

    name: str  # Name of the package and of the folder of its templates
    source: str  # source and header: Folders of ``NAME.c`` and ``NAME.h``; empty for the root
    header: str
    selftest: str  # Folder of the test vectors and of the self-test
    # Paths of all others; the template of each has the same path, and NAME is the model's
    files: tuple[str, ...]
    # Names of its templates beyond those of all
    more: Names | None = None
    # Lower-case names that no model may have here, for the build system has them
    reserved: frozenset[str] = frozenset()


PACKAGES = {
    package.name: package
    for package in (
        Package("plain", "", "", "", ("README.md",)),
        Package(
            "cmake",
            source="src",
            header="include",
            selftest="test",
            files=("README.md", "CMakeLists.txt"),
            reserved=CMAKE_TARGETS,
        ),
        Package(
            "arduino",
            source="src",
            header="src",
            selftest="examples/predict",
            files=(
                "README.md",
                "library.properties",
                "keywords.txt",
                "examples/predict/predict.ino",
            ),
        ),
        Package(
            "platformio",
            source="src",
            header="include",
            selftest="examples/predict/src",
            files=(
                "README.md",
                "library.json",
                "examples/predict/platformio.ini",
                "examples/predict/src/main.cpp",
            ),
        ),
        Package(
            "zephyr",
            source="src",
            header="include",
            selftest="samples/predict/src",
            files=(
                "README.md",
                "zephyr/module.yml",
                "zephyr/CMakeLists.txt",
                "zephyr/Kconfig",
                "samples/predict/CMakeLists.txt",
                "samples/predict/prj.conf",
                "samples/predict/sample.yaml",
                "samples/predict/src/main.c",
            ),
        ),
        Package(
            "esp-idf",
            source="src",
            header="include",
            selftest="examples/predict/main",
            files=(
                "README.md",
                "CMakeLists.txt",
                "idf_component.yml",
                "examples/predict/CMakeLists.txt",
                "examples/predict/main/CMakeLists.txt",
                "examples/predict/main/main.c",
            ),
        ),
        Package(
            MICROPYTHON,
            source="src",
            header="src",
            selftest="test",
            files=(
                "README.md",
                "Makefile",
                "micropython.mk",
                "micropython.cmake",
                "src/modNAME.c",
                "NAME.py",
                "test/test_NAME.py",
            ),
            more=module_names,
            reserved=RESERVED,
        ),
    )
}
"""Every package by its name."""


def find_package(package: str, model: str) -> Package:
    """Return a package after checking that it can hold a model of this name."""
    if package not in PACKAGES:
        raise OptionError(f"unknown package '{package}'; choose from {', '.join(PACKAGES)}")
    found = PACKAGES[package]
    if model.lower() in found.reserved:
        raise OptionError(
            f"'{model}' is a reserved name of the build system in package '{package}'; choose "
            "another"
        )
    return found


class Texts(Mapping[str, str]):
    """Files by path, each printed when it is first asked for."""

    def __init__(self, printers: Mapping[str, Callable[[], str]]) -> None:
        self._printers = printers
        self._printed: dict[str, str] = {}

    def __getitem__(self, path: str) -> str:
        """Return the text of a file."""
        if path not in self._printed:
            self._printed[path] = self._printers[path]()
        return self._printed[path]

    def __iter__(self) -> Iterator[str]:
        """Return the paths."""
        return iter(self._printers)

    def __len__(self) -> int:
        """Return the number of files."""
        return len(self._printers)

    def __or__(self, others: Mapping[str, str]) -> dict[str, str]:
        """Return all files, some replaced by others."""
        return {**self, **others}


def packaged(
    package: Package,
    context: Mapping[str, object],
    selftest: Callable[[], Mapping[str, object]],
    spdx: str | None = None,
) -> Mapping[str, str]:
    """Print the C of a model and what a build system needs around it."""
    name = str(context["name"])
    header = render("emit/model.h.j2", **context)
    templates = {
        _path(package.selftest, f"{name}_vectors.h"): "emit/vectors.h.j2",
        _path(package.selftest, f"{name}_selftest.c"): "emit/selftest.c.j2",
        **{
            file.replace("NAME", name): f"emit/packages/{package.name}/{file}.j2"
            for file in package.files
        },
    }

    @cache
    def names() -> dict[str, object]:
        return {
            **context,
            **selftest(),
            "interface": interface_of(header, name),
            "kconfig": kconfig_symbol(name),
            "permission": TERMS,
            "spdx": spdx,
        }

    def printer(path: str, template: str) -> Callable[[], str]:
        return lambda: with_terms(path, render(template, **names()), spdx)

    h_file, c_file = _path(package.header, f"{name}.h"), _path(package.source, f"{name}.c")
    source = with_terms(c_file, render("emit/model.c.j2", **context), spdx)
    terms_header = with_terms(h_file, header, spdx)
    return Texts(
        {
            h_file: lambda: terms_header,
            c_file: lambda: source,
            **{path: printer(path, template) for path, template in templates.items()},
        }
    )


def _path(folder: str, file: str) -> str:
    return str(PurePosixPath(folder) / file)
