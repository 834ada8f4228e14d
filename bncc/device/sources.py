"""Emitted C ready to be built: its entry points, the types of its inputs, the glue around it."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from importlib.resources import files as package_files
from typing import Protocol

from bncc.discretize.feature import Feature, inputs_of
from bncc.discretize.readings import is_array, state_dtype
from bncc.errors import ToolchainError
from bncc.model.checked import Limits

RULES: Mapping[str, tuple[str, ...]] = {
    "filter": ("filter_t", "filter_begin", "filter_next"),
    "confidence": ("confidence", "sure_class"),
    "unknown": ("outside", "known_class"),
}
"""Names in the C of the rules for decisions without the model's prefix, what decides last."""


class Interface(Protocol):
    """Dimensions of a classifier for the C around it: a `Model`, or a baseline's `Shape`."""

    @property
    def n_states(self) -> tuple[int, ...]:
        """Cardinality of each feature."""

    @property
    def n_features(self) -> int:
        """Number of features."""

    @property
    def n_classes(self) -> int:
        """Number of classes."""

    @property
    def features(self) -> tuple[Feature, ...]:
        """Mapping from readings to states; unused if the C takes no readings."""


@dataclass(frozen=True, eq=False)
class Sources:
    """Emitted C together with its glue, ready to be compiled, run and measured."""

    name: str  # Prefix of its symbols
    interface: Interface  # Numbers and types of its inputs and classes
    # File name to text: the emission's C and header, and ``bncc_model.h``; ``stream.h`` if
    # features can be passed one by one
    files: Mapping[str, str]
    # Among ``predict``, ``trusted``, ``scores``, ``scores_raw``, ``raw``, ``raw_checked``,
    # ``missing``, ``raw_missing``, ``stream``, ``stream_raw``, ``filter``, ``confidence``,
    # ``unknown``, ``counters``, ``adaptation`` and ``adapted_scores``
    entries: frozenset[str]
    # By feature, if ``raw_checked`` is among the entry points and is to be compared
    limits: tuple[Limits, ...] = ()
    # Bound on scores, if the entry points of a rule for decisions are to be compared
    largest_score: int | None = None

    @property
    def main(self) -> str:
        """Name of the file with the tables and the kernel."""
        return f"{self.name}.c"


def sources(
    interface: Interface,
    files: Mapping[str, str],
    limits: Sequence[Limits] = (),
    largest_score: int | None = None,
) -> Sources:
    """Determine the entry points of emitted files, and write the glue for them."""
    names = [
        file[:-2] for file in sorted(files) if file.endswith(".h") and f"{file[:-2]}.c" in files
    ]
    if len(names) != 1:
        raise ToolchainError(
            "the emitted files contain no C source with a header of its name; emit the model again"
        )
    name = names[0]
    header = files[f"{name}.h"]
    entries = {
        entry
        for entry, symbol in (
            ("predict", f"{name}_predict"),
            ("trusted", f"{name}_predict_trusted"),
            ("scores", f"{name}_scores"),
            ("scores_raw", f"{name}_scores_raw"),
            ("raw", f"{name}_predict_raw"),
            ("raw_checked", f"{name}_predict_raw_checked"),
            ("missing", f"{name}_predict_missing"),
            ("raw_missing", f"{name}_predict_raw_missing"),
            ("stream", f"{name}_feed"),
            ("stream_raw", f"{name}_feed_raw"),
            *((rule, f"{name}_{decide}") for rule, (*_, decide) in RULES.items()),
            ("counters", f"{name}_count"),
            ("adaptation", f"{name}_adapted_class"),
            ("adapted_scores", f"{name}_adapted_scores"),
        )
        if re.search(rf"\b{symbol}\(", header)
    }
    # Vectors take time to compute, and nothing here reads them.
    vectors = f"{name}_vectors.h"
    kept = {file: files[file] for file in files if file.endswith(".h") and file != vectors}
    kept |= {f"{name}.c": files[f"{name}.c"]}
    kept["bncc_model.h"] = _glue(interface, name, entries, header)
    if "stream" in entries:
        kept["stream.h"] = support_file("stream.h")
    if "counters" in entries:
        kept["counters.h"] = support_file("counters.h")
    if "adaptation" in entries:
        kept["adaptation.h"] = support_file("adaptation.h")
    return Sources(name, interface, kept, frozenset(entries), tuple(limits), largest_score)


def support_file(name: str) -> str:
    """Return the text of a C file of ``runtime/``."""
    return (package_files("bncc.device") / "runtime" / name).read_text(encoding="utf-8")


def raw_step(interface: Interface) -> int:
    """Return how many ``m_raw_t`` one raw row has: all inputs, or one struct."""
    return len(inputs_of(interface.features)) if is_array(interface.features) else 1


def _glue(interface: Interface, name: str, entries: set[str], header: str) -> str:
    state = {1: "uint8_t", 2: "uint16_t"}[state_dtype(interface.n_states).itemsize]
    lines = [
        "/* Names one model for driver.c and harness.c. */",
        "#ifndef BNCC_MODEL_H",
        "#define BNCC_MODEL_H",
        "",
        f'#include "{name}.h"',
        "",
        f"#define MODEL_STATE {state}",
        f"#define MODEL_N_FEATURES {interface.n_features}",
        f"#define MODEL_N_CLASSES {interface.n_classes}",
        f"#define MODEL_PREDICT {name}_predict",
    ]
    if "trusted" in entries:
        lines.append(f"#define MODEL_TRUSTED {name}_predict_trusted")
    if "scores" in entries:
        lines += [f"#define MODEL_SCORES {name}_scores", f"#define MODEL_COST {name}_cost_t"]
        lines.append("#define MODEL_COST_SIZE sizeof(MODEL_COST)")
    else:
        lines.append("#define MODEL_COST_SIZE 0")
    if "raw" in entries:
        lines += [
            f"#define MODEL_RAW {name}_predict_raw",
            f"#define MODEL_RAW_TYPE {name}_raw_t",
            f"#define MODEL_RAW_STEP {raw_step(interface)}",
            "#define MODEL_RAW_SIZE (MODEL_RAW_STEP * sizeof(MODEL_RAW_TYPE))",
        ]
    else:
        lines.append("#define MODEL_RAW_SIZE 0")
    if "scores_raw" in entries:
        lines.append(f"#define MODEL_SCORES_RAW {name}_scores_raw")
    if "raw_checked" in entries:
        lines.append(f"#define MODEL_RAW_CHECKED {name}_predict_raw_checked")
    if "missing" in entries:
        lines.append(f"#define MODEL_MISSING {name}_predict_missing")
    if "raw_missing" in entries:
        lines.append(f"#define MODEL_RAW_MISSING {name}_predict_raw_missing")
        lines.append(f"#define MODEL_MISSING_BYTES {name.upper()}_MISSING_BYTES")
    found = [each for rule in RULES if rule in entries for each in RULES[rule]]
    lines += ["#define MODEL_RULES"] if found else []
    lines += [f"#define MODEL_{each.upper()} {name}_{each}" for each in found]
    lines += ["#define MODEL_OF_SCORES"] if found or {"counters", "adaptation"} & entries else []
    if "counters" in entries:
        lines += [
            f"#define MODEL_COUNTERS_TYPE {name}_counters_t",
            f"#define MODEL_COUNT {name}_count",
        ]
        lines.append(f"#define MODEL_COUNTERS_CLEAR {name}_counters_clear")
        if f"{name}_counters_begin(" in header:
            lines.append(f"#define MODEL_COUNTERS_BEGIN {name}_counters_begin")
        if "unknown" in entries:
            lines.append("#define MODEL_COUNTS_UNKNOWN")
    if "adaptation" in entries:
        lines.append(f"#define MODEL_ADAPTATION_TYPE {name}_adaptation_t")
        lines += [f"#define MODEL_{part.upper()} {name}_{part}" for part in _ADAPTATION]
    if "adapted_scores" in entries:
        lines.append(f"#define MODEL_ADAPTED_SCORES {name}_adapted_scores")
    lines += _stream_glue(name, entries)
    return "\n".join([*lines, "", "#endif", ""])


_ADAPTATION = ("forget", "learn", "adapted_class")


def _stream_glue(name: str, entries: set[str]) -> list[str]:
    if "stream" not in entries:
        return []
    errors = ("ERR_STATE", "ERR_FEATURE", "ERR_TWICE", "ERR_PARTIAL")
    return [
        f"#define MODEL_STREAM_TYPE {name}_state_t",
        *(f"#define MODEL_{part.upper()} {name}_{part}" for part in ("begin", "feed", "end")),
        *([f"#define MODEL_FEED_RAW {name}_feed_raw"] if "stream_raw" in entries else []),
        *(f"#define MODEL_{error} {name.upper()}_{error}" for error in errors),
    ]
