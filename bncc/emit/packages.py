"""What is put around the C for each build system: one description, one tree."""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import PurePosixPath

from bncc.emit.environment import render
from bncc.emit.interface import interface_of
from bncc.emit.package_names import CMAKE_TARGETS, kconfig_symbol
from bncc.emit.terms import TERMS, with_terms
from bncc.errors import OptionError


@dataclass(frozen=True)
class Package:
    """Where a build system looks for the files of a model."""

    name: str  # Of the package, and of the folder of its templates
    source: str  # source and header: Folders of ``NAME.c`` and ``NAME.h``; empty for the root
    header: str
    selftest: str  # Folder of the test vectors and of the self-test
    files: tuple[str, ...]  # Paths of all others; the template of each has the same path
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
    )
}
"""Every package by its name."""


def find_package(package: str, model: str) -> Package:
    """Return a package after checking that it can hold a model of this name."""
    if package not in PACKAGES:
        raise OptionError(f"there is no package '{package}'; there are {', '.join(PACKAGES)}")
    found = PACKAGES[package]
    if model.lower() in found.reserved:
        raise OptionError(
            f"'{model}' is a name of the build system in package '{package}'; choose another"
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
    header = render("model.h.j2", **context)
    templates = {
        _path(package.selftest, f"{name}_vectors.h"): "vectors.h.j2",
        _path(package.selftest, f"{name}_selftest.c"): "selftest.c.j2",
        **{file: f"packages/{package.name}/{file}.j2" for file in package.files},
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
    source = with_terms(c_file, render("model.c.j2", **context), spdx)
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
