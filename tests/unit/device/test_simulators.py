"""Programs under QEMU and unicorn: their bytes, and how they fail; simavr has tests of its own."""

import gc
import re
import signal
import subprocess
import sys
import threading
import weakref
from dataclasses import replace
from io import BytesIO

import pytest

from bncc.device.image import Builder
from bncc.device.machine import HarnessError
from bncc.device.simulators import qemu, unicorn
from bncc.device.simulators.unicorn import _processor
from bncc.device.sources import support_file
from bncc.errors import ToolchainError
from bncc.targets import TARGETS

pytestmark = pytest.mark.firmware

PLACES = [
    (target.name, name)
    for target in TARGETS.values()
    for name in target.simulators
    if name != "simavr"
]
WITH_QEMU = [target for target, simulator in PLACES if simulator == "qemu"]
WITH_UNICORN = [target for target, simulator in PLACES if simulator == "unicorn"]

MAIN = """
#include "bncc_port.h"
int main(void);
int main(void)
{
    unsigned char c = 0U;
    port_open();
    (void)port_read(&c, 0U);
    port_write(">", 1U);
BODY
    return port_close(0);
}
"""
ECHO = """
    while (port_read(&c, 1U)) {
        port_write(&c, 1U);
    }
    port_write("<", 1U);
"""
FOREVER = """
    for (;;) {
        port_write("", 0U);
    }
"""
ILLEGAL = {"x86": "ud2", "rv32": ".word 0", "big-endian": "break"}


@pytest.fixture
def linked(require_bench, tmp_path):
    """Return ``linked(target, simulator, body)``: a program's image."""

    def build(target, simulator, body, main=MAIN):
        bench = require_bench(target, simulator=simulator)
        builder = Builder(tmp_path, bench.target, bench.compiler)
        port = support_file(bench.simulator.port)
        builder.write({"bncc_port.h": port, "main.c": main.replace("BODY", body)})
        program = builder.compile("main.c", "main.o", "-O2", *bench.simulator.defines)
        return builder.link("main.elf", program)

    return build


@pytest.fixture
def run(require_bench, linked):
    """Return ``run(target, simulator, body, request)``: what a program wrote."""

    def answer(target, simulator, body, request=b"", main=MAIN):
        image = linked(target, simulator, body, main)
        return require_bench(target, simulator=simulator).simulator.run(image, request)

    return answer


@pytest.mark.parametrize(("target", "simulator"), PLACES)
def test_bytes_go_in_and_out(run, target, simulator):
    """Every byte value, and the end of the input is seen."""
    values = bytes(range(256)) * 3
    assert run(target, simulator, ECHO, values) == b">" + values + b"<"
    assert run(target, simulator, ECHO) == b"><"


@pytest.mark.parametrize(("target", "simulator"), PLACES)
def test_a_read_past_the_end_says_so(run, target, simulator):
    """Also when a part of the request is available."""
    body = "    unsigned char four[4];\n    c = (unsigned char)(port_read(four, 4U) ? 'y' : 'n');\n"
    body += "    port_write(&c, 1U);\n"
    assert run(target, simulator, body, b"abcd") == b">y"
    assert run(target, simulator, body, b"abc") == b">n"
    assert run(target, simulator, body) == b">n"


@pytest.mark.parametrize("status", [1, 7])
@pytest.mark.parametrize(("target", "simulator"), PLACES)
def test_another_status_than_0_is_told(run, target, simulator, status):
    """It is the harness that ends so when it does not understand its input."""
    with pytest.raises(HarnessError, match=f"ended with status {status} on .*; report this"):
        run(target, simulator, f"    return port_close({status});")


@pytest.mark.parametrize(("target", "simulator"), PLACES)
def test_an_illegal_instruction_ends_the_program(run, target, simulator):
    """At once, with one sentence, and as a failed check."""
    code = ILLEGAL.get(target, ".short 0xde00")
    with pytest.raises(HarnessError, match=r"^the program (met a fault|was stopped \(Invalid ins"
                       r"truction .*\)) on (qemu|unicorn).*; report this") as error:  # fmt: skip
        run(target, simulator, f'    __asm__ volatile("{code}");')
    assert "\n" not in str(error.value)
    assert error.value.exit_code == 1


@pytest.mark.parametrize(("target", "simulator"), PLACES)
def test_a_jump_into_nowhere_ends_the_program(run, target, simulator):
    """A jump to an address without memory."""
    with pytest.raises(HarnessError, match=r"the program (met a fault|was stopped)"):
        run(target, simulator, "    ((void (*)(void))(uintptr_t)0xF0000001U)();")


@pytest.mark.parametrize(("target", "simulator"), PLACES)
def test_a_program_that_does_not_end_is_stopped(run, monkeypatch, target, simulator):
    """After the limit, with a remedy."""
    monkeypatch.setattr(qemu, "RUN_LIMIT", 0.3)
    monkeypatch.setattr(unicorn, "RUN_LIMIT", 0.3)
    told = "^the program did not end on (qemu|unicorn).* within 0 s; try fewer inputs$"
    with pytest.raises(HarnessError, match=told):
        run(target, simulator, FOREVER)


@pytest.fixture
def interruptible():
    """Ctrl-C raises, even if it is ignored because the tests run in a shell's background."""
    usual = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, usual)


@pytest.mark.usefixtures("interruptible")
@pytest.mark.parametrize("target", WITH_UNICORN)
def test_no_interruption_is_lost(linked, monkeypatch, target):
    """At any point: Python prints an exception of a function that C calls, and continues."""
    monkeypatch.setattr(unicorn, "RUN_LIMIT", 2.0)
    image = linked(target, "unicorn", FOREVER)
    assert image.segments
    assert image.symbols  # read before, for an interrupted reader warns of a file left open
    main = threading.main_thread().ident

    def interrupted(after):
        threading.Timer(after, signal.pthread_kill, (main, signal.SIGINT)).start()
        unicorn.Unicorn().run(image, b"", is_metered=True)

    for k in range(20):
        with pytest.raises(KeyboardInterrupt):
            interrupted(0.01 + 0.0007 * k)


@pytest.mark.parametrize("target", WITH_UNICORN)
def test_a_processor_is_freed_where_its_run_ends(linked, monkeypatch, target):
    """Not during the next garbage collection: freeing unicorn swallows interruptions."""
    made = []

    def noted(image, core):
        processor = _processor(image, core)
        made.append(weakref.ref(processor))
        return processor

    monkeypatch.setattr(unicorn, "_processor", noted)
    image = linked(target, "unicorn", "")
    gc.disable()
    try:
        unicorn.Unicorn().run(image, b"", is_metered=True)
        assert [ref() for ref in made] == [None]
    finally:
        gc.enable()


@pytest.mark.usefixtures("interruptible")
def test_an_interruption_before_the_program_begins_ends_it(linked, monkeypatch):
    """An interruption while there is nothing to stop yet."""

    def interrupted(image, core):
        signal.raise_signal(signal.SIGINT)
        return _processor(image, core)

    monkeypatch.setattr(unicorn, "_processor", interrupted)
    image = linked("cortex-m0", "unicorn", FOREVER)
    with pytest.raises(KeyboardInterrupt):
        unicorn.Unicorn().run(image, b"")


@pytest.mark.usefixtures("interruptible")
def test_an_interruption_that_is_only_noted_lets_the_program_end(linked, monkeypatch):
    """As in a search, which after Ctrl-C finishes its current task."""
    noted, written = [], []

    class Interrupted(BytesIO):
        def write(self, content):
            written.append(content)
            if len(written) == 2:
                signal.raise_signal(signal.SIGINT)
            return super().write(content)

    monkeypatch.setattr(unicorn, "BytesIO", Interrupted)
    image = linked("cortex-m0", "unicorn", FOREVER.replace("(;;)", "(int i = 0; i < 20; i++)"))
    signal.signal(signal.SIGINT, lambda *_: noted.append(True))
    assert unicorn.Unicorn().run(image, b"") == b">"
    assert noted == [True]
    assert len(written) == 2 + 21


@pytest.mark.parametrize("target", WITH_UNICORN)
def test_a_bell_that_asks_for_nothing_known_is_refused(run, target):
    """On every processor, though a MIPS that is stopped reports an error of its own."""
    with pytest.raises(HarnessError, match=r"asked for '\?', which nobody knows, on unicorn"):
        run(target, "unicorn", "    ring('?');")


@pytest.mark.parametrize("target", WITH_UNICORN)
def test_bytes_outside_the_memory_are_refused(run, target):
    """To read from, as to write to."""
    for call in ("port_write((void *)(uintptr_t)0x60000000U, 4U);",
                 "(void)port_read((void *)(uintptr_t)0x60000000U, 4U);"):  # fmt: skip
        with pytest.raises(HarnessError, match="was stopped"):
            run(target, "unicorn", f"    {call}", b"abcd")


@pytest.mark.parametrize("target", WITH_QEMU)
def test_what_qemu_says_is_passed_on(run, monkeypatch, target):
    """Without its warnings, of which some boards have one in every run."""
    board = qemu.board_of(TARGETS[target])
    options = (*board.options[:1], "no-such-board", *board.options[2:])
    other = replace(board, options=options)
    monkeypatch.setattr(qemu, "board_of", lambda target: other)
    told = r"the program was stopped \(.*unsupported machine type.*\) on qemu-system-"
    with pytest.raises(HarnessError, match=told) as error:
        run(target, "qemu", "")
    assert "warning" not in str(error.value)


@pytest.mark.parametrize("target", WITH_QEMU)
def test_an_old_reply_is_not_taken_for_a_new_one(run, tmp_path, target):
    """A program that ends before it opens its files has answered nothing."""
    (tmp_path / "reply").write_bytes(b"that of an earlier program")
    early = MAIN.replace("    port_open();", "    (void)port_open;\n    return port_close(0);")
    assert run(target, "qemu", "", main=early) == b""


def test_a_missing_qemu_is_told_with_its_package(monkeypatch, tmp_path):
    """Also where the program existed a moment ago."""
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(ToolchainError, match="qemu-system-arm is not installed; run `apt install"):
        qemu.Qemu().describe("cortex-m0")


@pytest.mark.parametrize(("target", "simulator"), PLACES)
def test_a_place_is_named_with_version_and_processor(require_bench, target, simulator):
    """The tool names in the report of a measurement."""
    place = require_bench(target, simulator=simulator).place
    others = {"x86": "X86", "rv32": "RISCV", "big-endian": "MIPS"}
    processor = others.get(target, f"ARM_{target.upper().replace('-', '_')}")
    pattern = {
        "unicorn": rf"unicorn \d+\.\d+\.\d+ {processor}",
        "qemu": r"qemu-system-(arm|riscv32) \d+\.\d+\.\d+ (mps2-an(385|386|500)|virt)",
    }
    assert re.fullmatch(pattern[simulator], place)


def test_unicorn_is_imported_when_it_runs():
    """The command line starts without it."""
    code = "import sys, bncc.device.cross; sys.exit('unicorn' in sys.modules)"
    assert subprocess.run((sys.executable, "-c", code)).returncode == 0
