"""The kernels of planes as C: additions of a word to its sums, and the costs at the end."""

from collections.abc import Iterator

from bncc.lower.c.c99 import ArrayText, array, counted, counter, unsigned
from bncc.lower.kernels.base import KernelText
from bncc.lower.kernels.planes.layout import PlaneKernel
from bncc.lower.kernels.shared.packing import (
    Part,
    added_whole,
    lane_values,
    plane_lines,
    plus,
    taken_off,
)
from bncc.lower.kernels.shared.row_finder import finder_arrays, finder_names
from bncc.program.ir import Program, width_of


def planes_text(program: Program, kernel: PlaneKernel, name: str, state_bits: int) -> KernelText:
    """Print the arrays and expressions of a kernel of planes."""
    by_row, finder, packing = kernel.family == "planes", kernel.finder, kernel.packing
    tables = list(_word_arrays(kernel))
    prior = _prior(kernel)
    if prior is not None:
        tables.append(prior)
    own = _rows_context(kernel, name) if by_row else _columns_context(kernel, name, prior)
    return KernelText(
        template=f"lower/kernels/{kernel.family}.c.j2",
        arrays=(
            *tables,
            *finder_arrays(finder, finder.entries[:, 0], "its first row"),
        ),
        table_bytes=sum(a.n_bytes for a in tables),
        context={
            **finder_names(finder, width_of(kernel.n_rows * kernel.n_alike)),
            **own,
            "n_tables": len(kernel.tables),
            "table_type": counter(len(kernel.tables)),
            "n_sums": len(kernel.parts),
            "n_parts": kernel.n_parts,
            "entry_bits": packing.entry_bits,
            "lane_bits": kernel.parts[0].lane_bits,
        },
    )


def _word_arrays(kernel: PlaneKernel) -> Iterator[ArrayText]:
    """Print the planes of words as wide as the packing's, and the one of narrower words."""
    packing, words = kernel.packing, {8: "byte", 16: "16-bit word", 32: "32-bit word"}
    ends = {"words": (0, kernel.n_alike, packing.word_bits)}
    if kernel.n_alike < kernel.n_planes:
        ends["last"] = kernel.n_alike, kernel.n_planes, kernel.last_bits
    for name, (first, end, bits) in ends.items():
        planes = kernel.words[first:end]
        lines = plane_lines(
            kernel.program,
            packing,
            planes,
            tables=kernel.tables,
            classes=kernel.classes[first * packing.per_word :],
            word_bits=bits,
        )
        meaning = f"Costs of the last classes, a {words[bits]} per row, the first class lowest."
        if name == "words":
            meaning = (
                f"Costs of {counted(packing.entry_bits, 'bit')}, {packing.per_word} per "
                f"{words[bits]}, the first in the lowest bits: for some classes a word per row, "
                "then for others."
            )
        n_bytes = planes.size * bits // 8
        yield ArrayText(unsigned(bits), name, planes.size, meaning, tuple(lines), n_bytes)


def _prior(kernel: PlaneKernel) -> ArrayText | None:
    """Print the initial values of sums that a loop returns."""
    prior = kernel.prior
    if prior is None:
        return None
    bits = width_of(int(prior.max()))
    return array("prior", bits, prior.tolist(), "Prior cost of each class.")


def _rows_context(kernel: PlaneKernel, name: str) -> dict[str, object]:
    """Print the additions of a row to the sums of all planes."""
    lines, ends, k = [], [], 0
    for plane in range(kernel.n_planes):
        parts = _parts_of(kernel, plane)
        lines += added_whole(kernel.packing, parts, k, _read(kernel, plane, name))
        ends += taken_off(parts, k)
        k += len(parts)
    starts = [f"{start}U" if start else "" for start in kernel.program.prior.tolist()]
    results = [
        plus(*both) for both in zip(starts, lane_values(kernel.parts, kernel.sum_bits), strict=True)
    ]
    return {"row_lines": lines, "ends": ends, "results": results}


def _columns_context(kernel: PlaneKernel, name: str, prior: ArrayText | None) -> dict[str, object]:
    """Print the additions of a word to the sums of a full plane and of a partial one."""

    def body(plane: int, read: str, first: str) -> dict[str, object]:
        parts = _parts_of(kernel, plane)
        classes = sorted(c for part in parts for c in part.classes)
        results = {}
        for k, lane in zip(classes, lane_values(parts, kernel.sum_bits), strict=True):
            c = f"{first} + {k}U" if first and k else first or str(k)
            start = f"{name}_rom_{prior.type[:-2]}(&{name}_prior[{c}])" if prior else ""
            results[c] = plus(start, lane)
        return {
            "n_parts": len(parts),
            "lines": added_whole(kernel.packing, parts, 0, read),
            "ends": taken_off(parts, 0),
            "results": results,
        }

    # A row's number that is a byte would be multiplied on an AVR to find a word.
    is_widened = kernel.finder.entry_bits == 8 and kernel.packing.word_bits > 8
    row = f"{name}_wide(row[t])" if is_widened else "row[t]"
    read = f"{name}_rom_uint{kernel.packing.word_bits}(&plane[{row}])"
    has_rest = kernel.n_full < kernel.n_planes
    return {
        "full": body(0, read, "c"),
        "rest": body(kernel.n_full, _read(kernel, kernel.n_full, name), "") if has_rest else None,
        "n_full": kernel.n_full,
        "n_rows": kernel.n_rows,
        "word_type": unsigned(kernel.packing.word_bits),
        "row_type": unsigned(kernel.finder.entry_bits),
        "is_widened": is_widened,
    }


def _read(kernel: PlaneKernel, plane: int, name: str) -> str:
    """Print a word of the row that `at` has found."""
    if plane >= kernel.n_alike:
        return f"{name}_rom_uint{kernel.last_bits}(&{name}_last[at])"
    place = f"at + {plane * kernel.n_rows}U" if plane else "at"
    return f"{name}_rom_uint{kernel.packing.word_bits}(&{name}_words[{place}])"


def _parts_of(kernel: PlaneKernel, plane: int) -> list[Part]:
    return [part for part in kernel.parts if part.word == plane]
