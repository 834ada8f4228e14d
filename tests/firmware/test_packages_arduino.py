"""The Arduino package: its files by the written specification, its sketch on a simulated Uno."""

import re
from pathlib import Path

import pytest

from tests.firmware.arduino_core import CORE, build_core, build_sketch, run_sketch
from tests.firmware.packages import KINDS, files_of, n_vectors, write_package

SKETCH = Path("examples", "predict", "predict.ino")

# "Library specification", 1.5 library format (rev. 2.2), in the documentation of arduino-cli.
REQUIRED = {
    "name": r"(?=.*[A-Za-z])(?![Aa]rduino)[A-Za-z0-9][A-Za-z0-9 _.-]{0,62}",
    "version": r"(0|[1-9]\d*)\.(0|[1-9]\d*)\.(0|[1-9]\d*)(-[0-9A-Za-z.-]+)?(\+[0-9A-Za-z.-]+)?",
    "author": r"\S.*",
    "maintainer": r"\S.*",
    "sentence": r"\S.*",
    "paragraph": r"\S.*",
    "category": "Display|Communication|Signal Input/Output|Sensors|Device Control|Timing|"
    "Data Storage|Data Processing|Other",
    "url": r"https?://\S+",
    "architectures": r"\*|\w+(,\w+)*",
}
OPTIONAL = {"depends": ".+", "dot_a_linkage": "true|false", "includes": r"[\w.]+(,[\w.]+)*"}
KEYWORD = re.compile(r"\w+\t(KEYWORD[123]|LITERAL[12])(\t[^\t]*){0,2}")


def properties(text: str) -> dict[str, str]:
    """Return the fields of a library.properties, in which `#` begins a comment."""
    return dict(line.split("=", 1) for line in text.splitlines() if not line.startswith("#"))


def misfits(fields: dict[str, str]) -> set[str]:
    """Return the fields that the specification does not allow."""
    rules = REQUIRED | OPTIONAL
    wrong = {key for key, value in fields.items() if not re.fullmatch(rules.get(key, "$."), value)}
    return wrong | (set(REQUIRED) - set(fields))


@pytest.mark.parametrize("kind", KINDS)
def test_the_properties_are_those_of_the_specification(kind):
    fields = properties(files_of(kind, "arduino")["library.properties"])
    assert misfits(fields) == set()
    assert fields["name"] == "gait"
    assert f"src/{fields['includes']}" in files_of(kind, "arduino")


def test_the_checker_of_properties_finds_mistakes():
    fields = properties(files_of("array", "arduino")["library.properties"])
    for key, value in (
        ("name", "a/b"), ("version", "r5"), ("category", "AI"), ("url", ""), ("license_", "x")
    ):  # fmt: skip
        assert misfits(fields | {key: value}) == {key}
    del fields["maintainer"]
    assert misfits(fields) == {"maintainer"}


@pytest.mark.parametrize("kind", KINDS)
def test_keywords_are_those_of_the_header(kind):
    """Every name of the interface, each once, with single tabs."""
    files = files_of(kind, "arduino")
    lines = [line for line in files["keywords.txt"].splitlines() if line and line[0] != "#"]
    assert all(KEYWORD.fullmatch(line) for line in lines)
    words = [line.split("\t")[0] for line in lines]
    header = re.sub(r"/\*.*?\*/", "", files["src/gait.h"], flags=re.DOTALL)
    guarded = {"GAIT_H"}
    assert len(set(words)) == len(words)
    assert set(words) == set(re.findall(r"\b(?:gait|GAIT)_\w+", header)) - guarded


@pytest.mark.parametrize("kind", KINDS)
def test_only_the_interface_lies_where_sketches_include_from(kind):
    """Only the classifier is compiled into every sketch."""
    sources = {path for path in files_of(kind, "arduino") if path.startswith("src/")}
    assert sources == {"src/gait.c", "src/gait.h"}
    assert SKETCH.stem == SKETCH.parent.name, "a sketch has the name of its folder"


@pytest.fixture(scope="module")
def core(require_tool, missing, tmp_path_factory) -> Path:
    """Return the core's archive, built once."""
    for tool in ("avr-gcc", "avr-g++", "simavr", "stdbuf"):
        require_tool(tool)
    if not CORE.is_dir():
        missing("the Arduino core for AVR is not installed (arduino-core-avr)")
    return build_core(tmp_path_factory.mktemp("core"))


@pytest.mark.firmware
@pytest.mark.parametrize("kind", KINDS)
def test_the_sketch_passes_on_an_uno(kind, core, tmp_path):
    """Built with the real core as the IDE builds it, without a warning in our code."""
    root = write_package(tmp_path, kind, "arduino")
    said = run_sketch(build_sketch(root, root / SKETCH, core, tmp_path / "b"), ("PASS", "FAIL"))
    assert f"{n_vectors(kind)} vectors, 0 wrong: PASS" in said
    assert len(re.findall(r"vector \d+: class \d+ ", said)) == n_vectors(kind)


@pytest.mark.firmware
def test_the_sketch_notices_a_wrong_class(core, tmp_path):
    root = write_package(tmp_path, "struct", "arduino", corrupt=True)
    said = run_sketch(build_sketch(root, root / SKETCH, core, tmp_path / "b"), ("PASS", "FAIL"))
    assert f"{n_vectors('struct')} vectors, 1 wrong: FAIL" in said
