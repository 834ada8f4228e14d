"""
Models as data: size of the runtime and of five blobs, and speed compared with emitted C.

Run ``python -m benchmarks.code.blob_figures``. The models are those of ``tests/packed.py``, trained
on data of scikit-learn. Speed is of decisions from readings next to thresholds; a blob's are of
`int16_t` for digits, and keys of floats, whose conversion counts, for wine. It needs
arm-none-eabi-gcc and the simulators; a minute. ``--write`` updates the tables of bytes in
`docs/how-to/update.md`.
"""

from collections.abc import Mapping
from math import ceil
from pathlib import Path
from struct import calcsize

import click

from benchmarks.shared.markdown import renew, table
from bncc.device.blobs import footprints
from bncc.device.cross import Toolchain, find_toolchain
from bncc.device.meter import Inputs, Meter
from bncc.device.sources import sources
from bncc.discretize.readings import states_of_raw
from bncc.emit.emitter import EmitOptions, emit_c
from bncc.model.model import Model
from bncc.model.reference import predict
from bncc.pack.blob import HEADER, read
from bncc.pack.runtime import runtime_files
from bncc.pack.writer import pack
from bncc.resources import Optimize
from bncc.targets import find_target
from tests.packed import FIVE, probes, trained

SIZED = ("cortex-m0", "rv32", "avr")
TIMED = (("digits", "int16_t"), ("wine", "float"))
LEVEL: Mapping[Optimize, str] = {"size": "-Os", "balanced": "-O2", "speed": "-O2"}
N_ROWS = 40
PAGE = Path(__file__).resolve().parents[2] / "docs" / "how-to" / "update.md"
RATIO = 1.05
"""Goal for the bytes of a blob, as a multiple of its tables."""
PURPOSES = (
    ("magic and version", "I", "an interrupted update may be read as a model"),
    ("CRC", "I", "damage is not detected"),
    ("length, and offset of the rows", "HH", "the loader does not know where cuts and rows end"),
    ("base of all limits", "I", "every limit takes four bytes, or as many as the largest reading"),
    ("digest of the self-test", "H", "a kernel that decides differently is not detected"),
    ("numbers of readings and classes, widths", "HBB", "the loops of the kernel have no bounds"),
    ("sequence number", "H", "two slots have no order"),
)
"""Fields of the header, their formats, and what is lost without them."""


def wrapped(model: Model, raw_type: str) -> dict[str, str]:
    """Return C with the entry points of emitted C around the runtime and an opened blob."""
    blob = pack(model).content
    found = read(blob)
    n, rows_at = len(model.features), int.from_bytes(blob[10:12], "little")
    header = found.header
    fields = (
        f"&blob[{HEADER.size}], &blob[{rows_at}], {header.base}U, {header.n_classes}U, "
        f"{header.entry_bytes}U, {header.limit_bytes}U, {header.row_bytes}U, {header.cost_bits}U"
    )
    files = runtime_files()
    define = "#define BNCC_FLOATS" if raw_type == "float" else f"#define BNCC_READING_T {raw_type}"
    convert = f"""    bncc_reading_t keys[{n}];
    uint8_t k;

    for (k = 0U; k < {n}U; k++) {{
        keys[k] = bncc_float_key(x[k]);
    }}
    return bncc_predict_raw(&model, keys);"""
    body = convert if raw_type == "float" else "    return bncc_predict_raw(&model, x);"
    return {
        "m.h": f"""#include <stdint.h>
typedef {raw_type} m_raw_t;
int16_t m_predict(const uint8_t x[{n}]);
int16_t m_predict_raw(const m_raw_t *x);
""",
        "m.c": f"""#include "m.h"
{define}
{files["bncc_runtime.c"].replace('#include "bncc_runtime.h"', files["bncc_runtime.h"])}
static const uint8_t blob[{len(blob)}] = {{{", ".join(f"{byte}U" for byte in blob)}}};
static const bncc_model_t model = {{{fields}}};

int16_t m_predict(const uint8_t x[{n}])
{{
    return (int16_t)x[0];
}}

int16_t m_predict_raw(const m_raw_t *x)
{{
{body}
}}
""",
    }


def timed(
    model: Model, files: Mapping[str, str], level: str, bench: Toolchain
) -> tuple[int, float]:
    """Return flash and mean instructions of ``predict_raw``, whose decisions are compared."""
    R = probes(model, N_ROWS)
    X = states_of_raw(model.features, R)
    with Meter(sources(model, files), bench, level) as meter:
        cost = meter.costs(Inputs(X, R), only={"raw"})["raw"]
        flash = meter.footprint(["raw"]).flash
    assert cost.classes.tolist() == predict(model, X).tolist()
    return flash, cost.mean


def speed_rows(bench: Toolchain) -> list[str]:
    """Return a line for each model and form."""
    lines, entries = [], ("predict-raw",)
    for name, raw_type in TIMED:
        model = trained(name)
        for level in ("-Os", "-O2"):
            flash, blob = timed(model, wrapped(model, raw_type), level, bench)
            lines.append(f"| {name} | blob, {level} | {flash:,} B | {blob:,.0f} | |")
        for optimize, level in LEVEL.items():
            options = EmitOptions("m", optimize=optimize, target="cortex-m0", priced=entries)
            emission = emit_c(model, options)
            flash, count = timed(model, emission.files, level, bench)
            lines.append(
                f"| {name} | `emit-c --optimize {optimize}` ({emission.kernel}), {level} | "
                f"{flash:,} B | {count:,.0f} | {blob / count:.1f} |"
            )
    return lines


def overhead() -> str:
    """Return the table of the bytes of a header, and the tables from which on they are few."""
    sizes = [calcsize(f"<{form}") for _, form, _ in PURPOSES]
    rows = [(name, str(size), lost) for (name, _, lost), size in zip(PURPOSES, sizes, strict=True)]
    found = table(("field", "bytes", "without it"), [*rows, ("all", str(sum(sizes)), "")])
    least = least_tables()
    return f"{found}\nA blob is at most {RATIO} times its tables from {least} bytes of tables on.\n"


def least_tables() -> int:
    """Return the bytes of tables from which on the header is within `RATIO`."""
    return ceil(round(HEADER.size / (RATIO - 1), 6))


def blob_rows() -> str:
    """Return the table of the bytes of five blobs."""
    rows = []
    for name in FIVE:
        one = pack(trained(name))
        sizes = (f"{one.table_bytes:,} B", f"{len(one.content):,} B", f"{one.ratio:.3f}")
        rows.append((name, str(one.n_tables), str(one.n_cuts), *sizes))
    return table(("model", "tables", "cuts", "table bytes", "blob", "ratio"), rows)


@click.command()
@click.option("--write", is_flag=True, help="Update the tables of bytes.")
def main(write: bool) -> None:
    """Print the tables of ``docs/how-to/update.md``."""
    tables = {"header": overhead(), "blobs": blob_rows()}
    print("\n".join(tables.values()))
    if write:
        renew(PAGE, tables)
    print("| target, -Os | loader and kernel | with the choice of a slot |\n|---|--:|--:|")
    for target in SIZED:
        bench = find_toolchain(find_target(target))[0]
        found = footprints(runtime_files(), bench)
        sizes = " | ".join(f"{flash:,} B" for flash in found.values())
        print(f"| {bench.target.title}, {bench.compiler} | {sizes} |")
    print("\n| model | code | flash | instructions | blob at -O2 / code |\n|---|---|--:|--:|--:|")
    print("\n".join(speed_rows(find_toolchain(find_target("cortex-m0"))[0])))


if __name__ == "__main__":
    main()
