"""Inputs with ranges for unknown readings: as many as take a share of the bytes of a model."""

from collections import Counter

from bncc.discretize.feature import Feature
from bncc.discretize.readings import is_array
from bncc.model.model import Model
from bncc.model.used import used_features, used_inputs

SHARE = 0.22
"""Most bytes of a rule, as a share of the estimate for its model, which can be too high."""
CODE, CODE_OF_RULE, OF_RANGE = 1600, 290, 18
"""Bytes of code on Cortex-M0: of a model, of a rule, and of a range where types differ."""
PER_BIT, PER_CUT = 1 / 12, 3
"""Bytes for each bit of an entry, and of a threshold for each byte of a reading."""


def rated_inputs(model: Model) -> list[Feature]:
    """Return the numeric inputs whose ranges a rule compares; those that fewest tables read go."""
    use = Counter(f for lookup in model.lookups for f in lookup.features)
    for f, n in [*use.items()]:
        use.update(dict.fromkeys(model.features[f].difference or (), n))
    left = SHARE * flash_of(model) - CODE_OF_RULE
    of_code = 0 if is_array(model.features) else OF_RANGE
    rated = []
    numeric = (f for f in used_inputs(model) if model.inputs[f].is_numeric)
    for f in sorted(numeric, key=lambda f: (-use[f], f)):
        needed = 2 * model.n_classes * bytes_of_reading(model.inputs[f]) + of_code
        if needed <= left:
            left -= needed
            rated.append(f)
    return [model.inputs[f] for f in sorted(rated)]


def flash_of(model: Model) -> int:
    """Estimate the bytes of the C of a model on Cortex-M0, with readings and scores."""
    used = [model.features[f] for f in used_features(model)]
    bits = model.q_format.bits * sum(table.size for table in model.tables)
    numeric = [feature for feature in used if feature.is_numeric]
    cuts = sum(len(feature.thresholds) * bytes_of_reading(feature) for feature in numeric)
    return CODE + round(bits * PER_BIT) + PER_CUT * cuts


def bytes_of_reading(feature: Feature) -> int:
    """Return the bytes of a number in flash."""
    return 4 if feature.kind == "float32" else int(feature.kind.strip("uint")) // 8
