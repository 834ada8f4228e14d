"""C of scikit-learn's classifiers, written by emlearn or m2cgen where they are installed."""

import re
import warnings
from collections.abc import Callable
from importlib.metadata import version
from importlib.util import find_spec
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np

from bncc.baselines.emlearn_trees import Style, trees_text
from bncc.baselines.rival import PREFIX, Code, Files
from bncc.errors import ToolchainError, extra_command

_HEADER = """#ifndef M_H
#define M_H
#include <stdint.h>
int16_t m_predict(const uint8_t *x);
#endif
"""
_OWN = re.compile(r"#include <(eml_\w+\.h)>")


def is_installed(exporter: str) -> bool:
    """Return whether a generator of C, ``emlearn`` or ``m2cgen``, is there."""
    return find_spec(exporter) is not None


def printed(by: str, emit: Callable[[], Code]) -> tuple[Code | None, str]:
    """Have a generator print a rival, if it is there."""
    if not is_installed(by):
        return None, f"{by} is not installed; run {extra_command('baselines')}"
    return emit(), ""


def trees_by_emlearn(estimator: Any, n_features: int) -> Code:
    """Print a tree or a forest as nested comparisons of bytes, which vote one class each."""
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

    emlearn 0.23 has room for 10 classes and checks nothing; more are given room here. On AVR it
    shifts an int of 16 bits by 16, so its classes are wrong there.
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
    """Put headers of emlearn's beside C that includes them."""
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
    """Import a generator, and undo what emlearn does to numpy's handling of errors."""
    if not is_installed(name):
        raise ToolchainError(f"{name} is not installed; run {extra_command('baselines')}")
    before = np.geterr()
    module = __import__(name)
    np.seterr(**before)
    return module
