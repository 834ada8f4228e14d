"""From log-probabilities to the frozen integer model."""

from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import Any

from bncc._types import FloatArray
from bncc.discretize.feature import Feature
from bncc.fixed_point import QFormat, quantize
from bncc.model.model import Model, check_model
from bncc.structure.graph import Structure


def freeze(
    features: Sequence[Feature],
    classes: Sequence[str],
    structure: Structure,
    log_prior: FloatArray,
    log_tables: Sequence[FloatArray],
    q_format: QFormat,
    training: Mapping[str, Any],
) -> Model:
    """
    Quantize log-probabilities into a model: prior and tables alike, S3 equation 11.

    Shapes: `log_prior` (n_classes,) float64.
    """
    model = Model(
        features=tuple(features),
        classes=tuple(classes),
        structure=structure,
        q_format=q_format,
        prior=quantize(log_prior, q_format),
        tables=tuple(quantize(table, q_format) for table in log_tables),
        training=MappingProxyType(dict(training)),
    )
    check_model(model)
    return model
