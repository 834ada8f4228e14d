"""Emitted front ends on this computer and on simulated targets: samples in, features out."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Literal

import numpy as np

from bncc._types import AnyArray, IntArray
from bncc.device.cross import Toolchain, link_program
from bncc.device.host import run_program
from bncc.device.image import Builder
from bncc.device.machine import HarnessError
from bncc.device.sources import support_file
from bncc.model.counters import CounterLayout
from bncc.model.filter import NO_DECISION
from bncc.recordings.windows import Windows
from bncc.resources import Span
from bncc.toolchain.tools import STRICT_C_FLAGS, STRICT_FLAGS, Tool, host_compilers, run


@dataclass(frozen=True)
class StreamSources:
    """The C of a front end, ready to be compiled, run and measured."""

    name: str  # Prefix of its symbols
    files: Mapping[str, str]  # Text by name: NAME.c and NAME.h
    n_channels: int
    sample_type: str  # Type of a sample, such as ``int16``
    types: tuple[str, ...]  # Types of the features; ``int16`` alone for a class
    decides: bool = False  # True if a sample returns a class
    is_filtered: bool = False  # True if that is the class of the model's filter
    is_rated: bool = False  # True if the decision also has a confidence
    knows: bool = False  # True if it also says whether the class is known
    counters: CounterLayout | None = None  # The counters of decisions that it keeps
    n_classes: int = 0
    adapts: bool = False  # True if it learns windows: that of class k % (n_classes + 1) after k

    @property
    def ratings(self) -> tuple[str, ...]:
        """Names of the bytes by which a window is rated."""
        rated = ("confidence", "sure") if self.is_rated else ()
        known = ("known",) if self.knows else ()
        counted = ("counters",) if self.counters is not None else ()
        return (*rated, *known, *counted, *(("moved",) if self.adapts else ()))

    @property
    def all_files(self) -> Mapping[str, str]:
        """The files, and the header that names the front end for ``samples.c``."""
        lines = [
            "/* Names one front end for samples.c. */",
            "#ifndef BNCC_SAMPLES_H",
            "#define BNCC_SAMPLES_H",
            f'#include "{self.name}.h"',
            f"#define STREAM_TYPE {self.name}_stream_t",
            f"#define STREAM_SAMPLE {self.sample_type}_t",
            f"#define STREAM_RESULT {'int16_t' if self.decides else f'{self.name}_features_t'}",
            *(["#define STREAM_RATES"] if self.is_rated else []),
            *(["#define STREAM_KNOWS"] if self.knows else []),
            *self._counter_lines,
            *self._adaptation_lines,
            *([f"#define STREAM_NONE {self.name.upper()}_NO_DECISION"] if self.decides else []),
            f"#define STREAM_START {self.name}_start",
            f"#define STREAM_PUSH {self.name}_push",
            f"#define STREAM_N_CHANNELS {self.n_channels}",
            f"#define MODEL_N_FEATURES {len(self.types)}",
            "#define MODEL_N_CLASSES 0",
            "#endif",
            "",
        ]
        return {**self.files, "bncc_samples.h": "\n".join(lines)}

    @property
    def _counter_lines(self) -> list[str]:
        """Return the lines that name counters."""
        if self.counters is None:
            return []
        return [
            f"#define STREAM_COUNTERS {self.name}_counters_t",
            f"#define STREAM_CLEAR {self.name}_counters_clear",
            f"#define STREAM_N_COUNTERS {len(self.counters.names)}U",
            *(["#define STREAM_LAST last"] if self.counters.is_in_time else []),
        ]

    @property
    def _adaptation_lines(self) -> list[str]:
        """Return the lines that name an adaptation."""
        if not self.adapts:
            return []
        return [
            f"#define STREAM_FORGET {self.name}_forget",
            f"#define STREAM_ADAPTATION {self.name}_adaptation_t",
            f"#define STREAM_LEARN {self.name}_learn_window",
            f"#define STREAM_LABELS {self.n_classes + 1}U",
        ]

    def row(
        self, byte_order: Literal["<", ">"] = "<", *, packed: bool = False
    ) -> np.dtype[np.void]:
        """Return the layout of the struct of features."""
        fields = [
            (f"f{k}", np.dtype(kind).newbyteorder(byte_order)) for k, kind in enumerate(self.types)
        ]
        return np.dtype(fields, align=not packed)


_FOOTPRINT = "samples_footprint.c"


def rated_answer(classes: IntArray, ratings: Sequence[AnyArray]) -> IntArray:
    """Return a number for a class and the bytes by which its window is rated, if it is one."""
    bytes_of = (rating.astype(np.int64) << 16 + 8 * k for k, rating in enumerate(ratings))
    return np.where(classes == NO_DECISION, NO_DECISION, sum(bytes_of, classes))


@dataclass(frozen=True)
class StreamProgram:
    """A front end with ``samples.c`` around it, built for a processor."""

    sources: StreamSources
    run: Callable[[bytes], bytes]  # From the bytes that it reads to those that it writes
    byte_order: Literal["<", ">"] = "<"
    packed: bool = False

    def counts(self, segments: Sequence[IntArray], operation: bytes = b"s") -> tuple[int, IntArray]:
        """Return the bytes of the state, and by sample the time or the stack, if metered."""
        reply = self.run(self._request(segments, operation))
        words = np.frombuffer(reply, "<u4").astype(np.int64)
        if len(words) != 2 + sum(map(len, segments)):
            raise HarnessError("a sample was not measured; report this, it is a bug in bncc")
        nothing = words[1] if operation == b"s" else 0
        return int(words[0]), np.asarray((words[2:] - nothing) % 2**32)

    def features(self, segments: Sequence[IntArray]) -> IntArray:
        """
        Return the features of all windows of some segments.

        Shapes: each segment (n, n_channels) int of the samples' type; the result
        (n_windows, n_features) int64.
        """
        reply = self.run(self._request(segments))
        row = self.sources.row(self.byte_order, packed=self.packed)
        if len(reply) % row.itemsize:
            raise HarnessError(
                "a front end wrote a part of a row; report this, it is a bug in bncc"
            )
        found = np.frombuffer(reply, row)
        return np.column_stack([found[name].astype(np.int64) for name in row.names or ()])

    def results(self, segments: Sequence[IntArray]) -> IntArray:
        """
        Return what the C of a model returns for each sample of some segments.

        Shapes: each segment (n, n_channels) int of the samples' type; the result (n_samples,)
        int64, the class of the window that ends with a sample, or `NO_DECISION`; see `rated_answer`
        for a model that rates decisions.
        """
        reply = self.run(self._request(segments, b"a"))
        # Written one after the other
        row = self.sources.row(self.byte_order, packed=True)
        if len(reply) != row.itemsize * sum(map(len, segments)):
            raise HarnessError("a sample was not answered; report this, it is a bug in bncc")
        found = np.frombuffer(reply, row)
        classes = np.asarray(found["f0"].astype(np.int64))
        ratings = [found[name] for name in (row.names or ())[1:]]
        return rated_answer(classes, ratings)

    def _request(self, segments: Sequence[IntArray], operation: bytes = b"s") -> bytes:
        dtype = np.dtype(self.sources.sample_type).newbyteorder(self.byte_order)
        blocks = []
        for samples in segments:
            assert samples.shape[1] == self.sources.n_channels
            blocks.append(operation + len(samples).to_bytes(4, "little"))
            blocks.append(samples.astype(dtype).tobytes())
        return b"".join(blocks)


@contextmanager
def host_stream(
    sources: StreamSources, flags: Sequence[str] = ("-O2",), compiler: Tool | None = None
) -> Iterator[StreamProgram]:
    """Build a front end for this computer."""
    tool = compiler or host_compilers()[0]
    with TemporaryDirectory(prefix="bncc-") as name:
        folder = Path(name)
        support = {
            "samples.c": support_file("samples.c"),
            "bncc_port.h": support_file("port_host.h"),
        }
        for file, text in {**sources.all_files, **support}.items():
            (folder / file).write_text(text, encoding="utf-8", newline="\n")
        strict = ("-std=c99", *STRICT_FLAGS, *STRICT_C_FLAGS, *flags)
        run((*tool.command, *strict, f"{sources.name}.c", "samples.c", "-o", "samples"), folder)

        words = " ".join((str(tool), *flags))
        yield StreamProgram(
            sources, lambda request: run_program(folder / "samples", request, words)
        )


@contextmanager
def cross_stream(
    sources: StreamSources, bench: Toolchain, opt_level: str = "-Os"
) -> Iterator[StreamProgram]:
    """Build a front end for a simulated target."""
    with _built(sources, bench, opt_level) as (builder, compiled):
        yield _program(sources, bench, builder, compiled, is_metered=False)


@contextmanager
def _built(
    sources: StreamSources, bench: Toolchain, opt_level: str, *, is_metered: bool = False
) -> Iterator[tuple[Builder, str]]:
    """Compile a front end in a folder of its own."""
    with TemporaryDirectory(prefix="bncc-") as name:
        builder = Builder(Path(name), bench.target, bench.compiler, is_metered=is_metered)
        builder.write(sources.all_files)
        yield builder, builder.compile(f"{sources.name}.c", f"{sources.name}.o", opt_level)


def _program(
    sources: StreamSources, bench: Toolchain, builder: Builder, compiled: str, *, is_metered: bool
) -> StreamProgram:
    defines = ("BNCC_METER",) if is_metered else ()
    image = link_program(builder, bench.simulator, "samples", compiled, *defines)
    return StreamProgram(
        sources,
        lambda request: bench.simulator.run(image, request, is_metered=is_metered),
        bench.target.byte_order,
        bench.target.packed,
    )


@dataclass(frozen=True)
class StreamCost:
    """Cost of a front end, and of the model behind it if there is one, on a target."""

    flash: int  # Bytes of code and constants with all library routines that they link
    state: int  # Bytes of a stream between two samples
    stack: int  # Largest stack of a sample, in bytes
    samples: IntArray  # (n,) int64: instructions or cycles of each sample

    @property
    def ram(self) -> int:
        """Bytes of the state and of the stack."""
        return self.state + self.stack


@dataclass(frozen=True)
class SampleTimes:
    """Instructions or cycles of samples, those of a call included."""

    every: Span  # All samples
    deciding: Span  # Samples with which a window ends
    per_sample: float  # Mean over the hops that end with a window
    n_samples: int
    n_windows: int


def times_of(cost: StreamCost, lengths: Sequence[int], windows: Windows) -> SampleTimes:
    """Return the times of the samples of segments, each of which has a window."""
    ends = np.zeros(len(cost.samples), dtype=np.bool_)
    counted = np.zeros(len(cost.samples), dtype=np.bool_)
    start = 0
    for length in lengths:
        ends[start + windows.length - 1 : start + length : windows.hop] = True
        n_counted = windows.hop * windows.count(length)
        first = start + windows.length - windows.hop
        counted[first : first + n_counted] = True
        start += length
    return SampleTimes(
        _span(cost.samples),
        _span(cost.samples[ends]),
        float(cost.samples[counted].mean()),
        len(cost.samples),
        int(ends.sum()),
    )


def _span(times: IntArray) -> Span:
    return Span(int(times.min()), float(times.mean()), int(times.max()))


def stream_cost(
    sources: StreamSources, bench: Toolchain, segments: Sequence[IntArray], opt_level: str = "-Os"
) -> StreamCost:
    """Measure a front end on segments of samples; the last one alone shows the stack."""
    with _built(sources, bench, opt_level, is_metered=True) as (builder, compiled):
        program = _program(sources, bench, builder, compiled, is_metered=True)
        state, samples = program.counts(segments)
        _, stacks = program.counts(segments[-1:], b"d")
        main = builder.compile_glue(_FOOTPRINT, "footprint.o", "-Os")
        stub = builder.compile_glue(_FOOTPRINT, "stub.o", "-Os", "STREAM_STUB")
        full = builder.link("footprint.elf", main, compiled)
        empty = builder.link("empty.elf", main, stub)
        costs = np.rint(samples / bench.simulator.per_unit(bench.target.name))
        n_bytes = full.flash - empty.flash
        return StreamCost(n_bytes, state, int(stacks.max()), costs.astype(np.int64))
