"""What is put around the C for each build system: one description, one tree."""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import PurePosixPath

from bncc.emit.environment import render
from bncc.emit.interface import interface_of
from bncc.emit.package_names import CMAKE_TARGETS, kconfig_symbol
from bncc.errors import OptionError


@dataclass(frozen=True)
class Package:
    """Where a build system looks for the files of a model.

    Parameters
    ----------
    name : str
        Of the package, and of the folder of its templates.
    source, header : str
        Folders of ``NAME.c`` and ``NAME.h``; empty for the root.
    selftest : str
        Folder of the test vectors and of the self-test.
    files : tuple of str
        Paths of all others; the template of each has the same path.
    reserved : frozenset of str
        Lower-case names that no model may have here, for the build system has them.
    """

    name: str
    source: str
    header: str
    selftest: str
    files: tuple[str, ...]
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
    """Return a package after checking that it can hold a model of this name.

    Parameters
    ----------
    package : str
        A key of `PACKAGES`.
    model : str
        Prefix of every symbol.

    Returns
    -------
    Package
        Its description.

    Raises
    ------
    OptionError
        If the package is unknown, or its build system keeps the name for itself.
    """
    if package not in PACKAGES:
        raise OptionError(f"there is no package '{package}'; there are {', '.join(PACKAGES)}")
    found = PACKAGES[package]
    if model.lower() in found.reserved:
        raise OptionError(
            f"'{model}' is a name of the build system in package '{package}'; choose another"
        )
    return found


def packaged(package: Package, context: Mapping[str, object]) -> dict[str, str]:
    """Print the C of a model and what a build system needs around it.

    Parameters
    ----------
    package : Package
        Where the files go.
    context : mapping
        The names that templates use.

    Returns
    -------
    dict of str to str
        Text by path, folders separated by ``/``; the C is the same in all packages.
    """
    name = str(context["name"])
    header = render("model.h.j2", **context)
    templates = {
        _path(package.source, f"{name}.c"): "model.c.j2",
        _path(package.selftest, f"{name}_vectors.h"): "vectors.h.j2",
        _path(package.selftest, f"{name}_selftest.c"): "selftest.c.j2",
        **{file: f"packages/{package.name}/{file}.j2" for file in package.files},
    }
    names = {
        **context,
        "interface": interface_of(header, name),
        "kconfig": kconfig_symbol(name),
    }
    texts = {path: render(template, **names) for path, template in templates.items()}
    return {_path(package.header, f"{name}.h"): header, **texts}


def _path(folder: str, file: str) -> str:
    return str(PurePosixPath(folder) / file)
