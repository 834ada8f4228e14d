"""Messages of training in the words of Python: arguments of the estimator in place of flags."""

import re

from bncc.structure.catalog import STRUCTURES
from bncc.train.settings_values import DISCRETIZERS, ENGINES, PARAMETERS

_RENAMED = {
    "class": "y",
    "drop": "X.drop(columns=...)",
    "float": "quantize=False",
    "force": "overwrite=True",
    "lambda": "lam",
    "seed": "random_state",
    "with": "entries",
}
"""Arguments that are not called as their flags are."""
_WORDS = frozenset({*STRUCTURES, *PARAMETERS, *DISCRETIZERS, *ENGINES, "cpu", "balanced"})
"""Values that a flag may have in a message; another word belongs to the sentence."""
_FLAG = re.compile(r"--([a-z]+(?:-[a-z]+)*)(?: (-?\d[\w.+-]*\b|[a-z]+(?:-[a-z]+)*))?")
_STRUCTURE_OPTION = re.compile(r"--structure-option ([a-z-]+)=?([\w.]*)")


def as_arguments(message: str) -> str:
    """Return a message with every flag of the command line as the argument of the same meaning."""
    message = _STRUCTURE_OPTION.sub(_structure_option, message)
    return _FLAG.sub(_argument, message)


def _structure_option(found: re.Match[str]) -> str:
    return f"structure_options={{'{found[1]}': {found[2] or '...'}}}"


def _argument(found: re.Match[str]) -> str:
    name = _RENAMED.get(found[1], found[1].replace("-", "_"))
    value = found[2]
    if value is None:
        return name
    if value in _WORDS and "=" not in name:
        return f"{name}={value!r}"
    return f"{name}={value}" if value[0] in "-0123456789" else f"{name} {value}"
