"""Arguments of the estimator from the table of options, and messages of training that name them."""

import re
from collections.abc import Callable
from functools import wraps
from inspect import Parameter, signature
from typing import Any, TypeVar

from bncc.train.options import OPTIONS

_RENAMED = {
    **{
        option.word: option.argument
        for option in OPTIONS.values()
        if option.argument not in (None, option.name)
    },
    "class": "y",
    "drop": "X.drop(columns=...)",
    "float": "quantize=False",
    "force": "overwrite=True",
    "with": "entries",
}
"""Arguments whose names differ from their flags."""
_WORDS = frozenset({"cpu", "switch"}.union(*(option.choices for option in OPTIONS.values())))
"""Possible values of a flag in a message; any other word belongs to the sentence."""
_FLAG = re.compile(r"--([a-z]+(?:-[a-z]+)*)(?: (-?\d[\w.+-]*\b|[a-z]+(?:-[a-z]+)*))?")
_STRUCTURE_OPTION = re.compile(r"--structure-option ([a-z-]+)=?([\w.]*)")

Class = TypeVar("Class", bound=type)


def with_option_arguments(before: str) -> Callable[[Class], Class]:
    """
    Add the arguments from the table of options that an estimator's constructor does not name.

    They replace ``**options`` in its signature, from which scikit-learn takes the parameters, and
    ``{arguments}`` in its docstring; in the signature they precede the argument `before`.
    """

    def decorate(estimator: Class) -> Class:
        init: Any = estimator.__init__  # type: ignore[misc]
        named = [
            each for each in signature(init).parameters.values() if each.kind != each.VAR_KEYWORD
        ]
        taken = {each.name for each in named}
        ours = [
            Parameter(
                option.argument, Parameter.KEYWORD_ONLY, default=option.default,
                annotation=option.kind | None,
            )
            for option in OPTIONS.values()
            if option.argument is not None and option.argument not in taken
        ]  # fmt: skip
        place = [each.name for each in named].index(before)
        whole = signature(init).replace(parameters=[*named[:place], *ours, *named[place:]])
        defaults = {each.name: each.default for each in ours}

        @wraps(init)
        def checked(*args: Any, **kwargs: Any) -> None:
            whole.bind(*args, **kwargs)
            init(*args, **{**defaults, **kwargs})

        checked.__signature__ = whole  # type: ignore[attr-defined]
        estimator.__init__ = checked  # type: ignore[misc]
        estimator.__doc__ = (estimator.__doc__ or "").replace("{arguments}", ", ".join(defaults))
        return estimator

    return decorate


def as_arguments(message: str) -> str:
    """Return a message in which the command line's flags are replaced by arguments."""
    message = _STRUCTURE_OPTION.sub(_structure_option, message)
    return _FLAG.sub(_argument, message)


def _structure_option(found: re.Match[str]) -> str:
    return f"structure_options={{'{found[1]}': {found[2] or '...'}}}"


def _argument(found: re.Match[str]) -> str:
    name = _RENAMED.get(found[1], found[1].replace("-", "_"))
    value = found[2]
    if (name, value) == ("adapt", "auto"):
        return "adapt=True"
    if value is None:
        return name
    if value in _WORDS and "=" not in name:
        return f"{name}={value!r}"
    return f"{name}={value}" if value[0] in "-0123456789" else f"{name} {value}"
