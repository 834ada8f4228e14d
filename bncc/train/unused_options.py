"""Options without effect because of other options."""

from dataclasses import replace

from bncc.structure.learners import LEARNERS
from bncc.structure.options import price_of
from bncc.train.options import OPTIONS, in_record_order
from bncc.train.settings import TrainSettings


def idle_notes(settings: TrainSettings) -> tuple[str, ...]:
    """Return a sentence for each option that has no effect in a combination."""
    method = f"--parameters {settings.parameters}"
    if settings.is_boosted:
        method = f"--structure {settings.structure}"
    unused = [
        option
        for option in (OPTIONS.values() if settings.is_boosted else in_record_order(OPTIONS))
        if option.uses
        and getattr(settings, option.name) is not None
        and not option.takes_effect(settings.uses)
    ]
    quantized = replace(settings, float_=False).uses
    by_float = [option for option in unused if option.takes_effect(quantized)]
    notes = [f"{each.flag} has no effect with {method}" for each in unused if each not in by_float]
    notes += [f"{option.flag} has no effect with --float" for option in by_float]
    has_engine = settings.descends and not settings.is_refit
    if has_engine and settings.engine == "native" and settings.threads is not None:
        notes.append("--threads has no effect with --engine native")
    if settings.effort == "thorough" and settings.descends and not settings.is_thorough:
        notes.append(f"--effort thorough has no effect with {method}")
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
    # With --parameters bdeu, alpha is that of the tables too.
    own = {
        key: value
        for key, value in settings.structure_options.items()
        if key != "alpha" or settings.parameters != "bdeu"
    }
    return list(LEARNERS[settings.structure].idle(own))
