"""Many emitted models in one image of a target, queried in one run of its simulator.

Starting compilers and simulators takes most of the time of a test on a target. Here a target's
models are compiled together, each with a harness of its own, and one program answers all requests
to all models; each model has its own outcome.
"""

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np

from bncc.device.agreement import Agreement, compare
from bncc.device.cross import Toolchain
from bncc.device.image import Builder, Image
from bncc.device.inputs.cases import Case, Effort, cases
from bncc.device.inputs.missing import missing_cases
from bncc.device.machine import Harness, HarnessError, Machine, request
from bncc.device.sources import RULES, Sources, sources, support_file
from bncc.errors import MisfitError
from bncc.model.model import Model
from tests.firmware.compiled import renamed

_STATICS = ("main", "answer", "put_sizes")
_STREAM_STATICS = tuple(
    f"stream_{name}" for name in ("order", "seed", "shuffle", "refuses", "states", "readings")
)
_RULE_STATICS = ("filter", "answer_rule")
_COUNTERS_STATICS = ("counting", "counters_step", "counters_operation")
_ADAPTATION_STATICS = ("adaptation", "adaptation_digest", "adaptation_step", "adaptation_row")
_NEAR = 2**16
"""Reach of an AVR's pointers to flash; `__ctors_start` follows the constants."""
_TRAILER = 5
"""Bytes after each answer: its length, least significant byte first, and a status."""

_FRAME = """\
/* Blocks of  index of a model (1 byte), number of bytes (4, least significant first), and these
 * bytes, for the model's harness; behind each answer its length in 4 bytes, and its status. */
#include "bncc_port.h"

#define FLEET_BUFFER 256U

static unsigned char fleet_input[FLEET_BUFFER];
static unsigned char fleet_output[FLEET_BUFFER];
static uint32_t fleet_left;    /* of a block, not yet read from the port */
static size_t fleet_at;        /* of the input, and where it ends */
static size_t fleet_end;
static size_t fleet_kept;      /* of the output, not yet written to the port */
static uint32_t fleet_written; /* of an answer */

static __attribute__((noinline)) void fleet_flush(void)
{{
    port_write(fleet_output, fleet_kept);
    fleet_kept = 0U;
}}

static __attribute__((noinline)) int fleet_read(void *to, size_t size)
{{
    unsigned char *bytes = (unsigned char *)to;

    for (; size > 0U; size--) {{
        if (fleet_at == fleet_end) {{
            fleet_at = 0U;
            fleet_end = (fleet_left < FLEET_BUFFER) ? (size_t)fleet_left : FLEET_BUFFER;
            fleet_left -= (uint32_t)fleet_end;
            if (fleet_end == 0U || !port_read(fleet_input, fleet_end)) {{
                return 0;
            }}
        }}
        *bytes++ = fleet_input[fleet_at++];
    }}
    return 1;
}}

static __attribute__((noinline)) void fleet_write(const void *from, size_t size)
{{
    const unsigned char *bytes = (const unsigned char *)from;

    fleet_written += (uint32_t)size;
    for (; size > 0U; size--) {{
        if (fleet_kept == FLEET_BUFFER) {{
            fleet_flush();
        }}
        fleet_output[fleet_kept++] = *bytes++;
    }}
}}

{members}
static int fleet_main(unsigned char index)
{{
    switch (index) {{
{choices}
    default:
        return 1;
    }}
}}

int main(void)
{{
    unsigned char head[5];

    port_open();
    while (port_read(head, sizeof head)) {{
        unsigned char end[5];
        int k;

        fleet_left = (uint32_t)head[1] | ((uint32_t)head[2] << 8) | ((uint32_t)head[3] << 16)
                     | ((uint32_t)head[4] << 24);
        fleet_written = 0U;
        fleet_at = 0U;
        fleet_end = 0U;
        end[4] = (unsigned char)fleet_main(head[0]);
        for (k = 0; k < 4; k++) {{
            end[k] = (unsigned char)((fleet_written >> (8 * k)) & 0xFFU);
        }}
        while (fleet_read(head, 1U)) {{
        }}
        fleet_write(end, sizeof end);
        fleet_flush();
    }}
    return port_close(0);
}}
"""

_MEMBER = """\
/* {name} */
{undefined}
#include "{name}_glue.h"
{renamed}
static int main(void);
#define port_open() ((void)0)
#define port_read fleet_read
#define port_write fleet_write
#define port_close(status) (status)
#include "harness.c"
#undef port_open
#undef port_read
#undef port_write
#undef port_close
{restored}
"""


@dataclass(frozen=True, eq=False)
class Member:
    """A model of a fleet, its C, and its queries.

    It is compiled at its own level where it has one. `ask` runs twice: first to collect requests,
    when every answer is zero, then with the machine's answers. It asks the same both times and
    asserts nothing.
    """

    model: Model
    files: Mapping[str, str]
    ask: Callable[[Machine], Any]
    level: str | None = None

    @property
    def entries(self) -> frozenset[str]:
        """Return the entry points of the C."""
        return sources(self.model, self.files).entries


def comparing(
    model: Model,
    files: Mapping[str, str],
    n_random: int = 1000,
    *,
    entries: frozenset[str] | None = None,
    also: Sequence[Case] = (),
) -> Member:
    """Return a member that is compared with Python, as `bncc verify` does.

    `entries` are those that its C is to have; `also` are further inputs.
    """
    has = sources(model, files).entries
    assert entries is None or has == entries
    effort = Effort(n_random)
    inputs = [*cases(model, effort=effort, has_raw="raw" in has), *also]
    if "missing" in has:
        inputs += missing_cases(model, None, effort, has_raw="raw_missing" in has)
    return Member(model, files, lambda machine: compare(machine, inputs))


def disagreeing(outcomes: Mapping[str, Agreement | HarnessError]) -> dict[str, str | None]:
    """Return by model the first mismatch, or how its program ended."""
    return {
        key: str(outcome) if isinstance(outcome, HarnessError) else outcome.first_mismatch
        for key, outcome in outcomes.items()
        if isinstance(outcome, HarnessError) or not outcome.agree
    }


def answers(bench: Toolchain, level: str, members: Mapping[str, Member]) -> Mapping[str, Any]:
    """Return what each member's `ask` returns, or the `HarnessError` that ended it.

    Models that do not fit in the target's memory together are built in several images.
    """
    fleet = _Fleet(bench, level)
    for key, member in members.items():
        fleet.add(key, member)
    with TemporaryDirectory(prefix="bncc-") as folder:
        return fleet.run(Path(folder))


class _Asked(Machine):
    """A machine that records requests and answers zeros."""

    def __init__(self, model: Model, entries: frozenset[str], bench: Toolchain) -> None:
        order, packed = bench.target.byte_order, bench.target.packed
        super().__init__(model, entries, "", packed=packed, byte_order=order)
        self.requests: list[bytes] = []

    def close(self) -> None:
        pass

    def _answer(self, entry, rows):
        self.requests.append(request(entry, rows))
        n_scores = self.n_classes if entry == "scores" else 0
        return np.zeros(len(rows), np.int16), np.zeros((len(rows), n_scores), np.uint8)


@dataclass(frozen=True, eq=False)
class _Ship:
    """A member that is ready to be built: under a name of its own, with its requests."""

    member: Member
    sources: Sources
    requests: tuple[bytes, ...]


@dataclass
class _Fleet:
    bench: Toolchain
    level: str
    ships: dict[str, _Ship] = field(default_factory=dict)

    def add(self, key: str, member: Member) -> None:
        name = f"m_{re.sub(r'[^a-z0-9]+', '_', key.lower())}"
        built = sources(member.model, renamed(member.files, name))
        asked = _Asked(member.model, built.entries, self.bench)
        member.ask(asked)
        assert asked.requests, f"{key} is asked nothing"
        self.ships[key] = _Ship(member, built, tuple(asked.requests))

    def run(self, folder: Path) -> dict[str, Any]:
        builder = Builder(folder, self.bench.target, self.bench.compiler)
        builder.write(
            {
                "harness.c": support_file("harness.c"),
                "stream.h": support_file("stream.h"),
                "counters.h": support_file("counters.h"),
                "adaptation.h": support_file("adaptation.h"),
                "bncc_port.h": support_file(self.bench.simulator.port),
                "stack_paint.h": support_file("stack_paint.h"),
                "bncc_model.h": "/* Each member's glue is included before its harness. */\n",
            }
        )
        objects = {key: self._compiled(builder, ship) for key, ship in self.ships.items()}
        return self._answers(builder, objects)

    def _compiled(self, builder: Builder, ship: _Ship) -> str:
        built = ship.sources
        glue = {f"{built.name}_glue.h": built.files["bncc_model.h"]}
        own = {file: built.files[file] for file in built.files if file not in _SHARED}
        builder.write(own | glue)
        level = ship.member.level or self.level
        return builder.compile(built.main, f"{built.name}.o", level)

    def _answers(self, builder: Builder, objects: Mapping[str, str]) -> dict[str, Any]:
        """Build and run one image, or one of each half where it does not fit."""
        keys = list(objects)
        try:
            image = self._image(builder, objects)
        except MisfitError:
            if len(keys) == 1:
                raise
            half = len(keys) // 2
            parts = [{key: objects[key] for key in some} for some in (keys[:half], keys[half:])]
            return {k: v for part in parts for k, v in self._answers(builder, part).items()}
        try:
            replies = self._exchange(image, keys, keys)
        except HarnessError:
            # One crash would hide the others: each model in a run of its own.
            return {key: self._alone(image, keys, key) for key in keys}
        return {key: self._outcome(key, replies[key]) for key in keys}

    def _image(self, builder: Builder, objects: Mapping[str, str]) -> Image:
        names = [self.ships[key].sources.name for key in objects]
        builder.write({"fleet.c": fleet_source([self.ships[key].sources for key in objects])})
        main = builder.compile("fleet.c", "fleet.o", "-O1", *self.bench.simulator.defines)
        image = builder.link(f"fleet-{names[0]}.elf", *objects.values(), main)
        if image.symbols.get("__ctors_start", 0) > _NEAR:
            raise MisfitError("the models' constants do not fit in an AVR's near flash together")
        return image

    def _alone(self, image: Image, keys: list[str], key: str) -> Any:
        try:
            return self._outcome(key, self._exchange(image, keys, [key])[key])
        except HarnessError as error:
            return error

    def _exchange(self, image: Image, keys: list[str], asked: list[str]) -> dict[str, list[bytes]]:
        """Run an image of some models once, ask some of them, and return the answers of each."""
        blocks = [
            bytes([keys.index(key)]) + len(each).to_bytes(4, "little") + each
            for key in asked
            for each in self.ships[key].requests
        ]
        reply = self.bench.simulator.run(image, b"".join(blocks))
        found: dict[str, list[bytes]] = {key: [] for key in asked}
        # From the end, where the length of the last answer is.
        for key in reversed(asked):
            for _ in self.ships[key].requests:
                head, end = reply[:-_TRAILER], reply[-_TRAILER:]
                length = int.from_bytes(end[:4], "little")
                if len(end) < _TRAILER or length > len(head):
                    raise HarnessError("the program of all models answered in part")
                reply = head[: len(head) - length]
                answer = head[len(head) - length :] if end[4] == 0 else b""
                found[key].insert(0, answer)
        if reply:
            raise HarnessError("the program of all models answered too much")
        return found

    def _outcome(self, key: str, replies: list[bytes]) -> Any:
        ship = self.ships[key]
        given = iter(zip(ship.requests, replies, strict=True))

        def exchange(asked: bytes) -> bytes:
            expected, reply = next(given)
            assert asked == expected, f"{key} is asked otherwise the second time"
            return reply

        target = self.bench.target
        level = ship.member.level or self.level
        toolchain = f"{self.bench.compiler} {level}, {self.bench.place}"
        machine = Harness(
            ship.member.model, ship.sources.entries, exchange, toolchain,
            packed=target.packed, byte_order=target.byte_order,
        )  # fmt: skip
        try:
            return ship.member.ask(machine)
        except HarnessError as error:
            return error


_SHARED = ("bncc_model.h", "stream.h", "counters.h", "adaptation.h")


def fleet_source(members: list[Sources]) -> str:
    """Return the C of a program with the harness of every member."""
    macros = sorted({m for built in members for m in _macros(built)})
    guards = ("BNCC_STREAM_H", "BNCC_COUNTERS_H", "BNCC_ADAPTATION_H")
    undefined = "\n".join(f"#undef {macro}" for macro in (*macros, *guards))
    units, choices = [], []
    for k, built in enumerate(members):
        statics = _STATICS + (_STREAM_STATICS if "stream" in built.entries else ())
        statics += _RULE_STATICS if built.entries & RULES.keys() else ()
        statics += _COUNTERS_STATICS if "counters" in built.entries else ()
        statics += _ADAPTATION_STATICS if "adaptation" in built.entries else ()
        units.append(
            _MEMBER.format(
                name=built.name,
                undefined=undefined,
                renamed="\n".join(f"#define {name} {name}_{built.name}" for name in statics),
                restored="\n".join(f"#undef {name}" for name in statics),
            )
        )
        choices.append(f"    case {k}:\n        return main_{built.name}();")
    return _FRAME.format(members="\n".join(units), choices="\n".join(choices))


def _macros(built: Sources) -> set[str]:
    return set(re.findall(r"#(?:define|ifndef) (\w+)", built.files["bncc_model.h"]))
