"""
Published cycles of silicon compared with cycles counted by the timing of a core.

CoreMark per MHz as Arm publishes it for four cores, with CoreMark's own source, which FOLDER has,
compiled here by gcc; and the cycles of a round of short loops in assembly, as vendors and others
publish them. Updates the tables of docs/how-to/time-and-energy.md. Needs arm-none-eabi-gcc, unicorn
and capstone; a minute:

    git clone https://github.com/eembc/coremark FOLDER
    .venv/bin/python -m benchmarks.code.silicon_cycles --coremark FOLDER --write
"""

import argparse
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory

from benchmarks.shared.markdown import renew, table
from bncc.device.cross import find_toolchain
from bncc.device.image import Builder, Image
from bncc.device.simulators.unicorn import Reading, Unicorn
from bncc.device.sources import support_file
from bncc.targets import find_target
from bncc.timing.clock import CycleClock

PAGE = Path("docs/how-to/time-and-energy.md")
TARGET_OF = {"cortex-m0plus": "cortex-m0"}
"""Targets of cores with another name."""
UNROLLED = "-O3 -funroll-loops"
SOURCES = ("core_list_join.c", "core_main.c", "core_matrix.c", "core_state.c", "core_util.c")
HEADER = """
#ifndef CORE_PORTME_H
#define CORE_PORTME_H
#include <stddef.h>
#define HAS_FLOAT 0
#define HAS_TIME_H 0
#define USE_CLOCK 0
#define HAS_STDIO 0
#define HAS_PRINTF 0
#define SEED_METHOD SEED_VOLATILE
#define MEM_METHOD MEM_STACK
#define MULTITHREAD 1
#define MAIN_HAS_NOARGC 1
#define MAIN_HAS_NORETURN 0
#define COMPILER_VERSION ""
#define COMPILER_FLAGS ""
#define MEM_LOCATION ""
#define PERFORMANCE_RUN 1
typedef signed short ee_s16;
typedef unsigned short ee_u16;
typedef signed int ee_s32;
typedef unsigned char ee_u8;
typedef unsigned int ee_u32;
typedef ee_u32 ee_ptr_int;
typedef size_t ee_size_t;
typedef ee_u32 CORE_TICKS;
#define align_mem(x) (void *)(4 + (((ee_ptr_int)(x) - 1) & ~3))
extern ee_u32 default_num_contexts;
typedef struct CORE_PORTABLE_S { ee_u8 portable_id; } core_portable;
void portable_init(core_portable *p, int *argc, char *argv[]);
void portable_fini(core_portable *p);
int ee_printf(const char *fmt, ...);
#endif
"""
PORT = """
#include "coremark.h"
#include <string.h>
#include "bncc_port.h"
volatile ee_s32 seed1_volatile = 0, seed2_volatile = 0, seed3_volatile = 0x66;
volatile ee_s32 seed4_volatile = 1, seed5_volatile = 0;
ee_u32 default_num_contexts = 1;
static uint32_t first, last;
void start_time(void) { first = port_elapsed(); }
void stop_time(void) { last = port_elapsed(); }
CORE_TICKS get_time(void) { return last - first; }
secs_ret time_in_secs(CORE_TICKS ticks) { return 10; }
void portable_init(core_portable *p, int *argc, char *argv[]) { port_open(); p->portable_id = 1; }
void portable_fini(core_portable *p) { port_close(0); }
int ee_printf(const char *format, ...) { port_write(format, strlen(format)); return 0; }
"""
NOW = """
static __attribute__((noinline)) uint32_t port_elapsed(void)
{
    ring('t');
    return bncc_request.result;
}
"""
LOOP = """
#include "bncc_port.h"
int main(void)
{
    register uint32_t n __asm__("r0");
    uint32_t rounds;
    port_open();
    for (rounds = 1000; rounds <= 3000; rounds += 2000) {
        port_elapsed();
        n = rounds * @STEP@;
        __asm__ volatile(".syntax unified\\n.balignw 16, 0xbf00\\n1:\\t@CODE@" : "+l"(n) :: "cc");
        port_elapsed();
    }
    return port_close(0);
}
"""


@dataclass(frozen=True)
class Score:
    """A published result of CoreMark."""

    core: str
    published: float  # Iterations per second and MHz
    source: str
    compiler: str
    flags: str  # Ours


ARM, OF_ARM = "Arm, as quoted by others", "Arm's or IAR's, flags not published"
SCORES = (
    Score("cortex-m0", 2.33, ARM, OF_ARM, UNROLLED),
    Score("cortex-m0plus", 2.46, ARM, OF_ARM, UNROLLED),
    Score("cortex-m3", 3.34, ARM, OF_ARM, UNROLLED),
    Score("cortex-m4", 3.42, ARM, OF_ARM, UNROLLED),
    Score("cortex-m0plus", 236.653 / 125, "KafCoppelia/pico-coremark: RP2040, 125 MHz, code in RAM",
          "gcc 11.2.1 `-O3`", "-O3"),
    Score("cortex-m4", 168.62 / 72, "PaulStoffregen/CoreMark: Teensy 3.2, 72 MHz, cached flash",
          "gcc, flags not published", "-O2"),
)  # fmt: skip


@dataclass(frozen=True)
class Loop:
    """A loop whose cycles per round are published."""

    core: str
    code: str  # Assembly of a round
    step: int  # Subtrahend of a round
    published: int  # Cycles of a round
    source: str


LOOPS = (
    Loop("cortex-m0", "subs r0, #4\\n\\tbhi 1b", 4, 4,
         "blaatschaap.be, *Wait a microsecond*: measured on an STM32F072"),
    Loop("cortex-m0plus", "subs r0, #3\\n\\tbhi 1b", 3, 3,
         "the same: measured on an STM32L051"),
    Loop("cortex-m3", "subs r0, #4\\n\\tbhi 1b", 4, 4,
         "the same: measured on an STM32F103, code in RAM"),
    Loop("cortex-m4", "subs r0, #3\\n\\tbhi 1b", 3, 3,
         "Nordic nrfx, `nrfx_coredep.h`, for the nRF52"),
)  # fmt: skip


class Bench:
    """Programs for one core in a folder of their own."""

    def __init__(self, core: str, folder: Path) -> None:
        self.core = core
        (found,) = find_toolchain(find_target(TARGET_OF.get(core, core)), simulator="unicorn")
        self._builder = Builder(folder, found.target, found.compiler, is_foreign=True)
        port = support_file("port_doorbell.h") + NOW
        self._builder.write({"bncc_port.h": port})

    def built(self, files: dict[str, str], flags: str) -> Image:
        """Compile and link a program."""
        self._builder.write(files)
        level, *others = flags.split()
        objects = []
        for name in (name for name in files if name.endswith(".c")):
            to = self._builder.compile(
                name, f"{name}.o", level, *Unicorn.defines, flags=("-I.", *others)
            )
            objects.append(to)
        return self._builder.link("program.elf", *objects)

    def counted(self, image: Image) -> tuple[bytes, list[tuple[int, int]]]:
        """Run a program; return its output, and the fewest and most cycles of each pair."""
        clock = CycleClock(self.core)
        output, readings = Unicorn().run_timed(image, b"", clock)
        pairs = list(zip(readings[::2], readings[1::2], strict=True))
        return output, [_between(*pair) for pair in pairs]


def _between(before: Reading, after: Reading) -> tuple[int, int]:
    if after.unknown != before.unknown:
        raise SystemExit(f"{after.unknown - before.unknown} blocks have no known time")
    return after.low - before.low, after.high - before.high


def coremark(folder: Path) -> Iterator[list[str]]:
    """Yield a row of the table for each published result."""
    files = {name: (folder / name).read_text("utf-8") for name in (*SOURCES, "coremark.h")}
    files |= {"core_portme.h": HEADER, "core_portme.c": PORT}
    for each in SCORES:
        with TemporaryDirectory() as place:
            bench = Bench(each.core, Path(place))
            output, ((low, high),) = bench.counted(bench.built(files, each.flags))
        if b"Correct operation validated" not in output or b"ERROR" in output:
            raise SystemExit(f"CoreMark reports an error: {output.decode()}")
        best, worst = 1e6 / low, 1e6 / high
        yield [each.core, each.source, each.compiler, f"{each.published:.2f}",
               f"{worst:.2f} .. {best:.2f}", f"`{each.flags}`",
               f"{100 * (best / each.published - 1):+.0f} %"]  # fmt: skip


def loops() -> Iterator[list[str]]:
    """Yield a row of the table for each loop."""
    for each in LOOPS:
        text = LOOP.replace("@STEP@", str(each.step)).replace("@CODE@", each.code)
        with TemporaryDirectory() as place:
            bench = Bench(each.core, Path(place))
            _, (few, many) = bench.counted(bench.built({"loop.c": text}, "-O2"))
        low, high = (round((many[k] - few[k]) / 2000) for k in (0, 1))
        ours = f"{low}" if low == high else f"{low} .. {high}"
        code = each.code.replace("\\n\\t", "; ").replace(" 1b", "")
        yield [each.core, f"`{code}`", each.source, f"{each.published}", ours]


def main() -> None:
    """Measure, and print or write."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parser.add_argument("--coremark", type=Path, required=True, help="CoreMark's source")
    parser.add_argument("--write", action="store_true", help=f"update {PAGE}")
    options = parser.parse_args()
    tables = {
        "published loops": table(["core", "round", "source", "published", "ours"], list(loops())),
        "published CoreMark": table(
            ["core", "source", "compiler", "published", "ours", "gcc", "our best to published"],
            list(coremark(options.coremark)),
        ),
    }  # fmt: skip
    for text in tables.values():
        print(text)
    if options.write:
        renew(PAGE, tables)


if __name__ == "__main__":
    main()
