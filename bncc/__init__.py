"""bncc: a compiler for quantized Bayesian-network classifiers."""

from typing import TYPE_CHECKING

__version__ = "0.1.0"

if TYPE_CHECKING:
    from bncc.classifier import BNClassifier
    from bncc.model.file import load_model, save_model
    from bncc.model.model import Model
    from bncc.stream_classifier import BNStreamClassifier

__all__ = ["BNClassifier", "BNStreamClassifier", "Model", "__version__", "load_model", "save_model"]

_HOMES = {
    "BNClassifier": "bncc.classifier",
    "BNStreamClassifier": "bncc.stream_classifier",
    "Model": "bncc.model.model",
    "load_model": "bncc.model.file",
    "save_model": "bncc.model.file",
}


def __getattr__(name: str) -> object:
    """Import a public name on first use, so that ``import bncc`` stays instant."""
    if name not in _HOMES:
        raise AttributeError(f"module 'bncc' has no attribute '{name}'")
    from importlib import import_module

    return getattr(import_module(_HOMES[name]), name)
