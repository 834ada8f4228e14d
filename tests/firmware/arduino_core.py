"""The Arduino core for AVR of the operating system, to build sketches as the Arduino IDE does."""

import subprocess
from pathlib import Path
from threading import Timer

from tests.firmware.packages import call

AVR = Path("/usr/share/arduino/hardware/arduino/avr")
CORE, VARIANT = AVR / "cores" / "arduino", AVR / "variants" / "standard"
UNO = (
    "-mmcu=atmega328p", "-DF_CPU=16000000L", "-DARDUINO=10819", "-DARDUINO_AVR_UNO",
    "-DARDUINO_ARCH_AVR", "-Os", "-Wall", "-Wextra", "-ffunction-sections", "-fdata-sections",
    f"-I{CORE}", f"-I{VARIANT}",
)  # fmt: skip
LANGUAGES = {
    ".c": ("avr-gcc", "-std=gnu11"),
    ".cpp": (
        "avr-g++", "-std=gnu++11", "-fpermissive", "-fno-exceptions", "-fno-threadsafe-statics",
    ),
    ".S": ("avr-gcc", "-x", "assembler-with-cpp"),
}  # fmt: skip


def compile_all(out: Path, sources: list[Path], *flags: str) -> list[Path]:
    """Compile sources, each in the language of its suffix, to objects in a folder."""
    out.mkdir(parents=True, exist_ok=True)
    objects = []
    for source in sources:
        compiler, *language = LANGUAGES[source.suffix]
        objects.append(out / f"{source.name}.o")
        call(compiler, *language, *UNO, *flags, "-c", source, "-o", objects[-1], folder=out)
    return objects


def build_core(out: Path) -> Path:
    """
    Compile the core to an archive, without its warnings.

    It needs DECIMAL_DIG of <float.h>, which avr-gcc 5 defines for C only.
    """
    sources = [path for path in sorted(CORE.iterdir()) if path.suffix in LANGUAGES]
    objects = compile_all(out, sources, "-w", "-DDECIMAL_DIG=17")
    call("avr-ar", "rcs", out / "core.a", *objects, folder=out)
    return out / "core.a"


def build_sketch(library: Path, sketch: Path, core: Path, out: Path) -> Path:
    """Build a sketch with a library, with the same preamble that the IDE adds."""
    out.mkdir(parents=True)
    source = out / f"{sketch.name}.cpp"
    text = sketch.read_text("utf-8")
    source.write_text(f'#include <Arduino.h>\n#line 1 "{sketch.name}"\n{text}', "utf-8")
    beside = [path for path in sorted(sketch.parent.iterdir()) if path.suffix in LANGUAGES]
    own = sorted((library / "src").glob("*.c"))
    flags = (f"-I{library / 'src'}", f"-I{sketch.parent}", "-Werror")
    objects = compile_all(out, [source, *beside, *own], *flags)
    elf = out / "sketch.elf"
    link = ("avr-gcc", "-Os", "-mmcu=atmega328p", "-Wl,--gc-sections")
    call(*link, *objects, core, "-lm", "-o", elf, folder=out)
    return elf


def run_sketch(elf: Path, last: tuple[str, ...]) -> str:
    """Simulate a sketch, which never ends, until its UART has printed one of the final texts."""
    command = ("stdbuf", "-o0", "simavr", "-m", "atmega328p", "-f", "16000000", str(elf))
    said = ""
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT) as simavr:
        assert simavr.stdout is not None
        alarm = Timer(20, simavr.kill)
        alarm.start()
        try:
            for line in simavr.stdout:
                said += line.decode("utf-8", errors="replace")
                if any(word in said for word in last):
                    break
        finally:
            alarm.cancel()
            simavr.kill()
    return said
