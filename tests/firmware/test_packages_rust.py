"""The Rust crate: its tests pass, an error in it shows, and its style is Rust's own."""

import re
import shutil
from pathlib import Path

import pytest

from bncc.emit.options import EmitOptions
from bncc.emit.rust import emit_crate
from tests.firmware.packages import call
from tests.other_languages import BUILT, TRAINED, built, trained, vectors

pytestmark = pytest.mark.firmware
ENTRIES = frozenset({"checked", "scores", "trusted"})
N_TESTS = 6
"""Tests of a crate that takes readings and has all entry points."""


def write(folder: Path, kind: str) -> Path:
    """Write the crate of a model with all entry points; return its folder."""
    if kind in TRAINED:
        options = EmitOptions("gait", ENTRIES, package="rust", vectors=vectors(kind))
        crate = emit_crate(trained(kind), options)
    else:
        crate = emit_crate(built(kind), EmitOptions("gait", ENTRIES, package="rust"))
    for path, text in crate.files.items():
        (folder / path).parent.mkdir(parents=True, exist_ok=True)
        (folder / path).write_text(text, "utf-8")
    return folder


@pytest.fixture
def cargo(require_tool):
    """Skip where there is no Rust."""
    for tool in ("cargo", "rustc"):
        require_tool(tool)


def check(folder: Path) -> None:
    """Run the tests of a crate with all warnings as errors."""
    said = call("env", "RUSTFLAGS=-Dwarnings", "cargo", "test", "--offline", folder=folder)
    assert f"{N_TESTS} passed; 0 failed" in said


@pytest.mark.parametrize("kind", TRAINED)
def test_every_vector_of_a_trained_model_agrees(kind, cargo, tmp_path):
    """On rows of the data, at limits, and near ties, where a wrong entry shows."""
    check(write(tmp_path, kind))


@pytest.mark.parametrize("kind", BUILT)
def test_every_vector_of_any_model_agrees(kind, cargo, tmp_path):
    """Readings of every type, and their ends."""
    check(write(tmp_path, kind))


WRONG = {
    "a cost": (r"(static TABLE_1: .*\n    \[)\d+", r"\g<1>99"),
    "a threshold": (r"(static THRESHOLDS_1: .*\n    -?)\d", r"\g<1>9"),
    "the prior": (r"(let mut sums: .*\n +)\d+", r"\g<1>99"),
    "a row": (r"(TABLE_2.get\()", r"\g<1>1 + "),
    "a limit": (r"check\((.*), -?\d+\)\?", r"check(\1, 99)?"),
    "the last state": (r"(LAST_STATES: .*\n    )\d+", r"\g<1>99"),
}


@pytest.mark.parametrize("what", WRONG)
def test_an_error_shows(what, cargo, tmp_path):
    pattern, replacement = WRONG[what]
    tables = write(tmp_path, "naive") / "src" / "tables.rs"
    text, n = re.subn(pattern, replacement, tables.read_text(), count=1)
    assert n == 1
    tables.write_text(text)
    assert "test result: FAILED" in call("cargo", "test", "--offline", folder=tmp_path, ok=False)


@pytest.mark.parametrize("kind", ["naive", "branching", "front", "struct", "states"])
def test_the_linter_and_the_formatter_find_nothing(kind, cargo, tmp_path):
    """Their findings depend on their version, so no computer needs them."""
    for tool in ("cargo-clippy", "rustfmt"):
        if shutil.which(tool) is None:
            pytest.skip(f"{tool} is not installed")
    root = write(tmp_path, kind)
    call("cargo", "fmt", "--", "--check", folder=root)
    call(
        "cargo", "clippy", "--offline", "--all-targets", "--", "-D", "warnings", folder=root
    )  # fmt: skip


@pytest.mark.parametrize("kind", ["array", "struct", "states"])
def test_the_code_in_the_readme_compiles(kind, cargo, tmp_path):
    root = write(tmp_path, kind)
    (code,) = re.findall(r"```rust\n(.*?)```", (root / "README.md").read_text(), re.DOTALL)
    (root / "tests" / "readme.rs").write_text(code)
    call("env", "RUSTFLAGS=-Dwarnings", "cargo", "build", "--offline", "--tests", folder=root)


FIRMWARE = """\
#![no_std]
#[panic_handler]
fn panic(_: &core::panic::PanicInfo) -> ! {
    extern "C" {
        fn panicked() -> !;
    }
    unsafe { panicked() }
}
#[no_mangle]
pub extern "C" fn classify(x: &gait::Readings) -> u8 {
    gait::predict_raw(x)
}
"""
MANIFEST = """\
[package]
name = "firmware"
version = "0.1.0"
edition = "2021"
[lib]
crate-type = ["staticlib"]
[dependencies]
gait = { path = "../gait" }
[profile.release]
opt-level = "s"
lto = true
codegen-units = 1
panic = "abort"
"""
MAIN = """\
char classify(const void *x);
void panicked(void);
void panicked(void) { for (;;) { } }
long x[99];
int main(void) { return classify(x); }
"""


@pytest.mark.parametrize("kind", ["naive", "branching", "front"])
def test_a_firmware_contains_no_code_of_a_panic(kind, cargo, require_tool, tmp_path):
    """No index of a release build can panic; one beyond a table would show."""
    for tool in ("gcc", "nm"):
        require_tool(tool)
    write(tmp_path / "gait", kind)
    (tmp_path / "firmware" / "src").mkdir(parents=True)
    (tmp_path / "firmware" / "Cargo.toml").write_text(MANIFEST)
    (tmp_path / "main.c").write_text(MAIN)
    (tmp_path / "firmware" / "src" / "lib.rs").write_text(FIRMWARE)
    tables = tmp_path / "gait" / "src" / "tables.rs"
    assert not has_panic(tmp_path)
    indexed = re.sub(r"TABLE_0\.get\((.*)\)\);", r"Some(&TABLE_0[\1 + 1]));", tables.read_text())
    assert indexed != tables.read_text()
    tables.write_text(indexed)
    assert has_panic(tmp_path)


def has_panic(folder: Path) -> bool:
    """Build the firmware, and return whether any function of a panic is linked."""
    call("cargo", "build", "--release", "--offline", folder=folder / "firmware")
    archive = folder / "firmware" / "target" / "release" / "libfirmware.a"
    flags = ("-ffunction-sections", "-Wl,--gc-sections")
    call("gcc", *flags, "-o", "program", "main.c", archive, folder=folder)
    return "panicked" in call("nm", "program", folder=folder)
