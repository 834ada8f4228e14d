"""Options that have no effect, because of others."""

from bncc.structure.learners import LEARNERS
from bncc.structure.options import price_of
from bncc.train.settings import TrainSettings
from bncc.train.settings_values import MARGIN, option_name

_MARGIN = ("lambda_", "gamma", "eta")
_OF_TABLES = ("average", "quantize_from")
"""What has no effect on the structure, and so none where its tables are found anew."""
_STEPS = ("batch_size", "lr")
_SHARES = ("dropout", "jitter", *_OF_TABLES)
_MACHINES = ("device", "threads", "engine")
_OF_NETWORKS = (*_MARGIN, "jitter", *_OF_TABLES, "device", "threads")
"""What has no effect on a boosted sum."""


def idle_notes(settings: TrainSettings) -> tuple[str, ...]:
    """Return a sentence for each option that has no effect in a combination."""
    idle: tuple[str, ...] = ()
    method = f"--parameters {settings.parameters}"
    if settings.is_boosted:
        idle, method = _OF_NETWORKS, f"--structure {settings.structure}"
    elif settings.parameters == MARGIN and not settings.descends:
        idle = (*_STEPS, *_SHARES, "gamma", *_MACHINES)
    elif not settings.descends:
        idle = ("epochs", *_STEPS, *_SHARES, *_MARGIN, *_MACHINES)
    elif settings.is_refit:
        idle = _OF_TABLES
    elif settings.loss == "cross-entropy":
        idle = _MARGIN
    notes = [f"{option} has no effect with {method}" for option in _given(settings, idle)]
    if settings.float_ and not settings.is_refit and settings.quantize_from is not None:
        notes.append("--quantize-from has no effect with --float")
    has_engine = settings.descends and not settings.is_refit
    if has_engine and settings.engine == "native" and settings.threads is not None:
        notes.append("--threads has no effect with --engine native")
    if price_of(settings.structure_options) == "bits" and settings.size_weight == 0:
        notes.append("structure option price=bits has no effect without --size-weight")
    notes += _idle_structure_options(settings)
    if settings.n_bins != 8 and settings.discretize not in ("quantile", "width"):
        is_implied = settings.is_boosted and settings.discretize is None
        by = f"{method} alone" if is_implied else f"--discretize {settings.discretize or 'mdl'}"
        notes.append(f"--n-bins has no effect with {by}")
    return tuple(notes)


def _idle_structure_options(settings: TrainSettings) -> list[str]:
    if settings.structure not in LEARNERS:
        return []
    # With --parameters bdeu alpha is that of the tables too.
    own = {
        key: value
        for key, value in settings.structure_options.items()
        if key != "alpha" or settings.parameters != "bdeu"
    }
    return list(LEARNERS[settings.structure].idle(own))


def _given(settings: TrainSettings, names: tuple[str, ...]) -> list[str]:
    return [option_name(name) for name in names if getattr(settings, name) is not None]
