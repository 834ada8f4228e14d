"""Names of a layout that the C templates use."""

from bncc.discretize.feature import LARGEST_INT
from bncc.discretize.float_order import float_key
from bncc.lower.c.c99 import ArrayText, comment, counter, unsigned
from bncc.lower.c.constants import avr_error
from bncc.lower.input_check import check_text
from bncc.lower.kernels.branches.layout import BranchKernel
from bncc.lower.layout import Layout
from bncc.lower.raw import RawPlan, missing_text

PGM = {
    "uint8_t": "byte", "uint16_t": "word", "uint32_t": "dword", "int16_t": "word",
    "int32_t": "dword", "uint64_t": "qword", "int64_t": "qword", "int8_t": "byte",
}  # fmt: skip
"""Suffix of avr-libc's flash read for each type; a qword is read as two dwords."""


def template_names(layout: Layout) -> dict[str, object]:
    """Return the names that the C templates use."""
    kernel, program = layout.kernel, layout.program
    types = {a.name: a.type for a in layout.arrays}
    return {
        "n_features": len(program.features),
        "n_readings": len(layout.raw.inputs) if layout.raw else 0,
        "N_READINGS": _number_of_readings(layout),
        "n_classes": program.n_classes,
        "unit_exponent": -program.frac_bits,
        "largest_sum": kernel.largest_sum,
        "largest_in_all": layout.largest_sum,
        "cost_type": unsigned(kernel.sum_bits),
        "state_type": unsigned(layout.state_bits),
        "state_pgm": PGM[unsigned(layout.state_bits)],
        "feature_type": counter(len(program.features)),
        "known_type": types.get("known", ""),
        "cut_type": unsigned(layout.raw.cut_bits) if layout.raw else "",
        "count_type": f"uint_fast{layout.raw.count_bits}_t" if layout.raw else "",
        "avr_error": avr_error(max(a.n_bytes for a in layout.arrays), layout.rom_bytes),
        "arrays": layout.arrays,
        "readers": _readers(layout.arrays),
        "summed": layout.summed,
        "n_label_bytes": layout.labels.n_bytes,
        "check": check_text(layout.check),
        "has_unread": bool(layout.check.unread),
        "raw": layout.raw,
        "direct": layout.direct,
        "front": layout.front_text,
        "front_functions": _front_functions(layout),
        "has_apart": isinstance(kernel, BranchKernel),
        "raw_missing": _raw_missing(layout.raw),
        "narrowing": _narrowing(layout.raw),
        "stream": layout.stream,
        "missing": layout.missing,
        "over_time": layout.filter,
        "rated": layout.confidence,
        "novelty": layout.unknown,
        "counted": layout.counters,
        "adapting": layout.adaptation,
        "range_check": layout.range_check,
        "constant_time": layout.constant_time,
        "with_scores": layout.entries.scores,
        "with_sum": layout.entries.scores or not layout.decides,
        "with_scores_raw": layout.entries.scores_raw,
        "with_trusted": layout.entries.trusted,
        "float_inf_key": float_key(float("inf")),
        "float_minus_inf_key": float_key(float("-inf")),
        "labels": layout.labels.lines,
        "kernel_template": layout.text.template,
        "kernel_decides": layout.decides,
        "hands_over": layout.hands_over,
        "helper": f"{layout.name.upper()}_COPIED" if layout.hands_over else "static",
        **layout.text.context,
        "label_type": types["label_start"],
    }


def _front_functions(layout: Layout) -> frozenset[str]:
    """Return the functions that conditions of the front call, and those of the kernel do not."""
    if layout.front_text is None:
        return frozenset()
    printed = layout.direct.functions if layout.direct is not None else frozenset[str]()
    return layout.front_text.functions - printed


def _readers(arrays: tuple[ArrayText, ...]) -> list[dict[str, str]]:
    """Return the flash-reading functions needed, one per type of numbers."""
    types = dict.fromkeys(a.type for a in arrays if a.type in PGM)
    return [{"type": c_type, "pgm": PGM[c_type]} for c_type in sorted(types)]


def _number_of_readings(layout: Layout) -> str:
    """Return the number of readings in C: that of features, unless some have none."""
    if layout.raw is not None and layout.raw.has_differences:
        return f"{len(layout.raw.inputs)}U"
    return f"{layout.name.upper()}_N_FEATURES"


def _raw_missing(raw: RawPlan | None) -> str:
    if raw is None or not raw.is_array:
        return ""
    kind = raw.fields[0].kind
    if kind.startswith("code"):
        return "a number out of range"
    return missing_text(kind)


def _narrowing(raw: RawPlan | None) -> str:
    """Return what a driver has to heed where readings are integers."""
    kinds = sorted({field.kind for field in raw.inputs} & LARGEST_INT.keys()) if raw else []
    if not kinds:
        return ""
    ends = " or ".join(f"{kind.upper()}_MIN + 1" if missing_text(kind) else "0" for kind in kinds)
    return "\n * " + comment(
        f"A driver that narrows wider readings must saturate them, at the lower end to {ends}."
    )
