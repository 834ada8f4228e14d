"""Choosing compiler and simulator, and what is said when one is missing or does not serve."""

import pytest

from bncc.device.cross import CrossHarness, find_toolchain
from bncc.device.machine import HarnessError
from bncc.device.simulators import simavr
from bncc.device.sources import sources
from bncc.errors import OptionError, ToolchainError
from bncc.on_device import verify
from bncc.targets import TARGETS
from bncc.toolchain.tools import Tool, find_tools
from tests import models as hand
from tests.agreement.mistakes import verify_files
from tests.unit.device.written import MODEL, in_c


@pytest.fixture
def installed(monkeypatch):
    """Return a function that makes just these tools installed."""
    monkeypatch.delenv("CC", raising=False)
    known = find_tools()

    def only(*names):
        tools = tuple(
            Tool(t.name, f"/{t.name}" if t.name in names else None, None, t.serves,
                 t.install_hint, t.role)
            for t in known
        )  # fmt: skip
        for module in ("bncc.device.cross", "bncc.device.simulators.qemu",
                       "bncc.device.simulators.unicorn"):  # fmt: skip
            monkeypatch.setattr(f"{module}.find_tools", lambda: tools)
        monkeypatch.setattr(simavr, "_build", lambda: None)

    return only


def chosen(target, **choice):
    return [(b.compiler.name, b.simulator.name) for b in find_toolchain(TARGETS[target], **choice)]


ALL = ("gcc", "clang", "arm-none-eabi-gcc", "riscv64-unknown-elf-gcc", "mips-linux-gnu-gcc",
       "qemu-system-arm", "qemu-system-riscv32", "ziglang", "unicorn")  # fmt: skip


def test_the_preferred_tools_are_cross_gcc_and_qemu(installed):
    """The preference among several tools; QEMU where it has the processor, else unicorn."""
    installed(*ALL)
    assert chosen("cortex-m3") == [("arm-none-eabi-gcc", "qemu")]
    assert chosen("cortex-m0") == [("arm-none-eabi-gcc", "unicorn")]
    assert chosen("rv32") == [("riscv64-unknown-elf-gcc", "qemu")]
    assert chosen("big-endian") == [("mips-linux-gnu-gcc", "unicorn")]


def test_wheels_serve_where_nothing_else_is_installed(installed):
    """The pip-only path."""
    installed("ziglang", "unicorn")
    for target in TARGETS:
        if target != "avr":
            assert chosen(target) == [("ziglang", "unicorn")]
            assert chosen(target, compiler="all", simulator="all") == [("ziglang", "unicorn")]


def test_a_tool_may_be_chosen_by_name(installed):
    """The simulator QEMU also by the name of its command."""
    installed(*ALL)
    both = {"compiler": "ziglang", "simulator": "unicorn"}
    assert chosen("cortex-m3", **both) == [("ziglang", "unicorn")]
    assert chosen("cortex-m3", simulator="qemu-system-arm") == [("arm-none-eabi-gcc", "qemu")]
    assert chosen("cortex-m3", simulator="qemu") == [("arm-none-eabi-gcc", "qemu")]


@pytest.mark.parametrize(
    ("target", "choice", "told"),
    [
        ("avr", {"compiler": "gcc"},
         "the compiler 'gcc' does not serve avr; use avr-gcc"),
        ("rv32", {"compiler": "clang"},
         "the compiler 'clang' does not serve rv32; use riscv64-unknown-elf-gcc or ziglang"),
        ("cortex-m0", {"simulator": "simavr"},
         "the simulator 'simavr' does not serve cortex-m0; use unicorn or qemu"),
        ("big-endian", {"simulator": "qemu"},
         "the simulator 'qemu' does not serve big-endian; use unicorn"),
    ],
)  # fmt: skip
def test_a_tool_that_does_not_serve_is_told_with_those_that_do(installed, target, choice, told):
    """In one sentence, exit code 2."""
    installed(*ALL)
    with pytest.raises(ToolchainError) as error:
        find_toolchain(TARGETS[target], **choice)
    assert str(error.value) == told
    assert error.value.exit_code == 2


@pytest.mark.parametrize(
    ("target", "tools", "choice", "told"),
    [
        ("cortex-m4", (), {},
         "no compiler for cortex-m4 is installed; run `apt install gcc-arm-none-eabi` or "
         "`pip install ziglang`"),
        ("cortex-m4", ("ziglang",), {},
         "no simulator for cortex-m4 is installed; run `apt install qemu-system-arm` or "
         "`pip install unicorn`"),
        ("rv32", ("ziglang", "unicorn"), {"compiler": "riscv64-unknown-elf-gcc"},
         "no compiler for rv32 is installed; run `apt install gcc-riscv64-unknown-elf`"),
        ("rv32", ("ziglang", "unicorn"), {"simulator": "qemu"},
         "no simulator for rv32 is installed; run `apt install qemu-system-misc`"),
        ("avr", ("unicorn",), {"compiler": "all"},
         "no compiler for avr is installed; run `apt install gcc-avr avr-libc`"),
        ("avr", ("avr-gcc",), {},
         "no simulator for avr is installed; run `apt install libsimavr-dev libelf-dev`"),
        ("big-endian", ("gcc",), {},
         "no compiler for big-endian is installed; run `apt install gcc-mips-linux-gnu` or "
         "`pip install ziglang`"),
    ],
)  # fmt: skip
def test_a_missing_tool_is_told_with_the_command_that_installs_it(
    installed, target, tools, choice, told
):
    """One sentence, exit code 2; `verify` says the same."""
    installed(*tools)
    with pytest.raises(ToolchainError) as error:
        find_toolchain(TARGETS[target], **choice)
    assert str(error.value) == told
    assert error.value.exit_code == 2
    with pytest.raises(ToolchainError) as error:
        verify(hand.ties(), target, **choice)
    assert str(error.value) == told


def test_sanitizers_watch_on_this_machine_alone():
    """Said before anything is built."""
    with pytest.raises(OptionError, match="not on rv32; use --target host"):
        verify(hand.ties(), "rv32", sanitize=True)


@pytest.mark.firmware
@pytest.mark.parametrize("target", TARGETS)
def test_a_harness_leaves_nothing_behind(require_bench, monkeypatch, tmp_path, target):
    """Neither when it is closed nor when the C does not compile."""
    bench = require_bench(target)
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    with CrossHarness(sources(MODEL, in_c("return x[0] * 0;")), bench, "-O1") as machine:
        assert list(tmp_path.glob("bncc-*"))
        assert machine.entries == {"predict"}
    with pytest.raises(ToolchainError, match=r"failed: t\.c"):
        CrossHarness(sources(MODEL, in_c("return y;")), bench, "-O1")
    assert not list(tmp_path.glob("bncc-*"))


@pytest.mark.firmware
@pytest.mark.parametrize("target", ["avr", "cortex-m0", "big-endian"])
def test_an_entry_point_the_c_lacks_is_refused(require_bench, target):
    """Instead of an answer that means nothing."""
    with (
        CrossHarness(
            sources(MODEL, in_c("return x[0] * 0;")), require_bench(target), "-O1"
        ) as machine,
        pytest.raises(HarnessError, match="status 1"),
    ):
        machine.trusted([[0]])


@pytest.mark.firmware
def test_verify_runs_every_bench_of_a_target(require_bench):
    """Inputs of all are added up, and each is named."""
    places = [require_bench("cortex-m3", "arm-none-eabi-gcc", name) for name in ("qemu", "unicorn")]
    one = verify(hand.ties(), "cortex-m3", compiler="arm-none-eabi-gcc", n_random=20)
    both = verify(
        hand.ties(), "cortex-m3", compiler="arm-none-eabi-gcc", simulator="all", n_random=20
    )
    assert both.agree
    assert both.checked == 2 * one.checked
    assert both.toolchain == "; ".join(f"{b.compiler} -O2, {b.place}" for b in places)


@pytest.mark.firmware
@pytest.mark.parametrize(
    ("target", "simulator"), [(t.name, name) for t in TARGETS.values() for name in t.simulators]
)
def test_a_crash_on_a_target_is_a_mismatch(require_bench, target, simulator):
    """The report has the end of the program, and is not an error of the user."""
    require_bench(target, simulator=simulator)
    far = "#if defined(__AVR__)\n#define FAR 0xF000U\n#else\n#define FAR 0xF0000000U\n#endif"
    files = in_c("return *(const volatile int16_t *)(uintptr_t)(FAR + x[0]);", far)
    outcome = verify_files(MODEL, files, target, simulator=simulator, n_random=5)
    assert not outcome.agree
    assert outcome.mismatches == 1
    assert outcome.first_mismatch.startswith("the program ")
