"""C of scikit-learn's classifiers, written by emlearn or m2cgen where they are installed."""

import re
import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from importlib.metadata import version
from importlib.util import find_spec
from math import floor
from pathlib import Path
from types import ModuleType
from typing import Any, Literal

import numpy as np

from bncc._types import FloatArray, IntArray
from bncc.baselines.baseline import PREFIX, Code, Files
from bncc.errors import ToolchainError, extra_command

HEADERS = ("eml_trees.h", "eml_common.h", "eml_log.h")
"""Headers included by the C of the method ``loadable``."""
_BOUND = re.compile(r"(features\[\d+\] < )(\d+)\.0+f")


@dataclass(frozen=True)
class Style:
    """Format of emlearn's trees."""

    c_type: Literal["uint8_t", "int16_t", "float"]  # Type of an input value
    # Nested comparisons, or a loop over an array of nodes; the latter for ``int16_t`` only
    method: Literal["inline", "loadable"] = "inline"
    leaf_bits: int = 0  # 0 for one vote a tree, 8 for a probability of each class


def trees_text(emlearn: ModuleType, estimator: Any, style: Style) -> str:
    """
    Print a tree or a forest whose function is ``peer_predict``.

    scikit-learn descends to the left where ``x <= t``. emlearn 0.23 compares ``x < t``, with t
    truncated toward zero for integers and printed with six decimals otherwise. Here each threshold
    is the smallest number above t of the compared type, which makes the two equivalent.
    """
    is_float = style.c_type == "float"
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        wrapped = emlearn.convert(
            estimator, dtype=style.c_type, method=style.method, leaf_bits=style.leaf_bits
        )
        nodes = wrapped.forest_[0]
        thresholds = [float(node[1]) for node in nodes]
        for number, node in enumerate(nodes):
            # Indices of thresholds are passed where thresholds would lose digits.
            node[1] = number if is_float else floor(thresholds[number]) + 1
        text = str(wrapped.save(name="peer", inference=[style.method]))
    if not is_float:
        return text
    return _BOUND.sub(lambda found: f"{found[1]}{_next_float(thresholds[int(found[2])])}", text)


def _next_float(threshold: float) -> str:
    """Return the smallest float32 above a threshold, as C."""
    near = np.float32(threshold)
    above = near if float(near) > threshold else np.nextafter(near, np.float32(np.inf))
    return f"{float(above).hex()}f"


def elected(trees: Sequence[Any], X: FloatArray | IntArray, leaf_bits: int = 0) -> IntArray:
    """
    Compute the decisions of emlearn's C, sum by sum.

    Shapes: `X` (n, n_features) float or int; returns (n,) int64, class indices, the smallest on
    ties.
    """
    total = np.zeros((len(X), int(trees[0].n_classes_)), dtype=np.float32)
    for each in trees:
        shares = each.tree_.value[:, 0, :]
        said = _in_bytes(shares) if leaf_bits else np.eye(shares.shape[1])[shares.argmax(axis=1)]
        total += said.astype(np.float32)[each.tree_.apply(X.astype(np.float32))]
    return np.asarray(total.argmax(axis=1), dtype=np.int64)


def _in_bytes(shares: FloatArray) -> FloatArray:
    """Round probabilities to 255 steps, each a byte over 255, as emlearn does."""
    codes = (np.round(shares * 254) / 254 * 255).astype(np.uint8)
    return codes / np.float32(255)


_HEADER = """#ifndef M_H
#define M_H
#include <stdint.h>
int16_t m_predict(const uint8_t *x);
#endif
"""
_OWN = re.compile(r"#include <(eml_\w+\.h)>")


def is_installed(exporter: str) -> bool:
    """Return whether a C generator, ``emlearn`` or ``m2cgen``, is installed."""
    return find_spec(exporter) is not None


def printed(by: str, emit: Callable[[], Code]) -> tuple[Code | None, str]:
    """Print a baseline with a generator, if it is installed."""
    if not is_installed(by):
        return None, f"{by} is not installed; run {extra_command('baselines')}"
    return emit(), ""


def trees_by_emlearn(estimator: Any, n_features: int) -> Code:
    """Print a tree or a forest as nested byte comparisons; each tree votes for one class."""
    text = trees_text(imported("emlearn"), estimator, Style("uint8_t"))
    body = (
        f'#include "m.h"\n{text}\n'
        "int16_t m_predict(const uint8_t *x)\n{\n"
        f"    return (int16_t)peer_predict(x, {n_features});\n}}\n"
    )
    by = f"emlearn {version('emlearn')} inline, thresholds repaired"
    return Code({f"{PREFIX}.h": _HEADER, f"{PREFIX}.c": body}, by)


def gaussian_by_emlearn(estimator: Any, n_features: int, n_classes: int) -> Code:
    """
    Print a Gaussian naive Bayes in fixed point.

    emlearn 0.23 has room for 10 classes and does not check this; here there is room for more. On
    AVR it shifts a 16-bit int by 16, so its classes are wrong there.
    """
    emlearn = imported("emlearn")
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        model = _summaries(estimator)
        text = emlearn.bayes.generate_c(model, "peer")
    headers = ("eml_bayes.h", "eml_common.h", "eml_fixedpoint.h", "eml_log.h")
    body = (
        f'#define EML_MAX_CLASSES {n_classes}\n#include "m.h"\n{text}\n'
        "int16_t m_predict(const uint8_t *x)\n{\n"
        f"    float features[{n_features}];\n    int i;\n\n"
        f"    for (i = 0; i < {n_features}; i++) {{\n        features[i] = (float)x[i];\n    }}\n"
        f"    return (int16_t)peer_predict(features, {n_features});\n}}\n"
    )
    files = {f"{PREFIX}.h": _HEADER, f"{PREFIX}.c": body}
    return Code(with_headers(emlearn, files, headers), f"emlearn {version('emlearn')} loadable")


def with_headers(emlearn: ModuleType, files: Files, names: tuple[str, ...]) -> Files:
    """Add emlearn's headers to C that includes them."""
    folder = Path(str(emlearn.__file__)).parent
    all_files = {**files, **{name: (folder / name).read_text("utf-8") for name in names}}
    return {name: _OWN.sub(r'#include "\1"', text) for name, text in all_files.items()}


def by_m2cgen(estimator: Any, n_features: int, n_classes: int) -> Code:
    """Print a classifier of scikit-learn in double precision."""
    text: str = imported("m2cgen").export_to_c(estimator, function_name="peer_score")
    outputs = n_classes if "double * output" in text else 1
    decision = (
        "    peer_score(input, output);\n"
        f"    for (i = 1; i < {n_classes}; i++) {{\n"
        "        if (output[i] > output[best]) {\n"
        "            best = (int16_t)i;\n        }\n    }\n"
        if outputs > 1
        else "    best = (int16_t)(peer_score(input) > 0.0);\n"
    )
    room = f"    double output[{outputs}];\n" if outputs > 1 else ""
    body = (
        f'#include "m.h"\n{text}\n'
        "int16_t m_predict(const uint8_t *x)\n{\n"
        f"    double input[{n_features}];\n{room}    int16_t best = 0;\n    int i;\n\n"
        f"    for (i = 0; i < {n_features}; i++) {{\n        input[i] = (double)x[i];\n    }}\n"
        f"{decision}    return best;\n}}\n"
    )
    return Code({f"{PREFIX}.h": _HEADER, f"{PREFIX}.c": body}, f"m2cgen {version('m2cgen')}")


def _summaries(estimator: Any) -> Any:
    deviation = np.sqrt(estimator.var_)
    return np.stack([estimator.theta_, deviation, np.log2(deviation)], axis=2)


def imported(name: str) -> Any:
    """Import a generator, and restore numpy's error handling after emlearn changes it."""
    if not is_installed(name):
        raise ToolchainError(f"{name} is not installed; run {extra_command('baselines')}")
    before = np.geterr()
    module = __import__(name)
    np.seterr(**before)
    return module
