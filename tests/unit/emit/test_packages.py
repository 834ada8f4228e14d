"""The files around the C files."""

import json
import re

import pytest
import yaml

from bncc.emit.emitter import EmitOptions, emit_c
from bncc.emit.packages import PACKAGES, kconfig_symbol
from bncc.errors import OptionError
from tests import models as hand
from tests.firmware.packages import KINDS, files_of


def test_an_unknown_package_names_those_that_exist():
    with pytest.raises(
        OptionError, match="unknown package 'tar'; choose from plain, cmake, arduino"
    ):
        emit_c(hand.ties(), EmitOptions(package="tar"))


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("package", PACKAGES)
def test_the_c_is_the_same_in_all_packages(kind, package):
    """Source, header, vectors and self-test, each once, in any folder."""
    plain = files_of(kind, "plain")
    texts = {path.rpartition("/")[2]: text for path, text in files_of(kind, package).items()}
    assert len(texts) >= len(plain)
    for file in set(plain) - {"README.md"}:
        assert texts[file] == plain[file]


@pytest.mark.parametrize("package", PACKAGES)
def test_the_readme_names_every_file(package):
    files = files_of("array", package)
    for file in files:
        assert file == "README.md" or f"`{file}`" in files["README.md"]


@pytest.mark.parametrize("package", PACKAGES)
@pytest.mark.parametrize("kind", KINDS)
def test_text_ends_like_text(kind, package):
    """One newline at the end, tabs where the format requires them, two empty lines in Python."""
    for path, text in files_of(kind, package).items():
        assert text.endswith("\n"), path
        assert not text.endswith("\n\n"), path
        assert "\n\n\n" not in text or path.endswith(".py"), path
        assert "\n\n\n\n" not in text, path
        assert "\t" not in text or path in ("keywords.txt", "zephyr/Kconfig")


@pytest.mark.parametrize(
    ("kind", "call"),
    [
        (
            "array",
            "    gait_raw_t reading[GAIT_N_FEATURES];\n\n    read_sensors(reading);\n"
            "    return gait_predict_raw(reading);",
        ),
        (
            "struct",
            "    gait_raw_t reading;\n\n    read_sensors(&reading);\n"
            "    return gait_predict_raw(&reading);",
        ),
        (
            "states",
            "    uint16_t state[GAIT_N_FEATURES];\n\n    read_states(state);\n"
            "    return gait_predict(state);",
        ),
    ],
)
@pytest.mark.parametrize("package", PACKAGES)
def test_the_readme_calls_the_entry_point_that_a_firmware_wants(package, kind, call):
    assert call in files_of(kind, package)["README.md"]


@pytest.mark.parametrize("name", ["test", "ALL", "install"])
def test_a_target_of_cmake_s_own_is_refused_there(name):
    message = f"'{name}' is a reserved name of the build system in package 'cmake'; choose another"
    with pytest.raises(OptionError, match=message):
        emit_c(hand.ties(), EmitOptions(name, package="cmake"))
    emit_c(hand.ties(), EmitOptions(name))


@pytest.mark.parametrize(
    ("name", "symbol"), [("gait", "GAIT"), ("sensor", "SENSOR_MODEL"), ("Net", "NET_MODEL")]
)
def test_a_kconfig_symbol_is_not_one_of_zephyr_s(name, symbol):
    assert kconfig_symbol(name) == symbol
    files = files_of("states", "zephyr", name)
    assert f"\nconfig {symbol}\n" in files["zephyr/Kconfig"]
    assert f"if(CONFIG_{symbol})" in files["zephyr/CMakeLists.txt"]
    assert files["samples/predict/prj.conf"].splitlines()[1:] == [f"CONFIG_{symbol}=y"]
    assert f"CONFIG_{symbol}=y" in files["README.md"]


@pytest.mark.parametrize("name", ["no", "null", "on", "y", "e1"])
def test_a_name_that_yaml_takes_for_something_else_stays_a_name(name):
    assert yaml.safe_load(files_of("states", "zephyr", name)["zephyr/module.yml"])["name"] == name
    json.loads(files_of("states", "platformio", name)["library.json"])


def test_manifests_tell_models_apart():
    """The version carries the digest of the model."""
    versions = {
        json.loads(files_of(kind, "platformio")["library.json"])["version"] for kind in KINDS
    }
    assert len(versions) == len(KINDS)
    assert all(re.fullmatch(r"1\.0\.0\+[0-9a-f]{8}", version) for version in versions)
