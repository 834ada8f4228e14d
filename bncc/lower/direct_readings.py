"""When cuts can be compared with readings themselves, without looking for states."""

from bncc.discretize.readings import raw_dtypes
from bncc.lower.kernels.shared.cut_places import cuts_of, is_of_cuts
from bncc.program.ir import Program

STATE_CODE = 136
"""Bytes of the code that looks for the states of an array of readings, Cortex-M4 at -Os: 128 to 147
in sums of 419 to 646 cuts of floats, their lists subtracted."""
STATE_LISTS = 3
"""Bytes of a column beside its thresholds: how many, the state of a missing reading, the last."""


def reads_directly(program: Program) -> bool:
    """
    Return whether comparing readings with thresholds finds the row of every table.

    A state reaches ``least`` if and only if the reading exceeds ``thresholds[least - 1]``, for a
    state counts the thresholds below its reading. Where the state of missing readings reaches no
    cut, one may be taken for the least of all readings, which exceeds no threshold.
    """
    features = program.features
    is_array = features[0].is_numeric and len({feature.kind for feature in features}) == 1
    return (
        is_array
        and is_of_cuts(program)
        and all(
            features[each.feature].missing_state < each.least[0]
            for table in program.tables
            for each in cuts_of(table)
        )
        and is_smaller(program)
    )


def is_smaller(program: Program) -> bool:
    """Return whether limits of all cuts take less flash than states and shared thresholds."""
    width = raw_dtypes(program.features)[0].itemsize
    n_cuts = sum(len(each.least) for table in program.tables for each in cuts_of(table))
    n_thresholds = sum(len(feature.thresholds) for feature in program.features)
    of_states = n_cuts + n_thresholds * width + STATE_LISTS * len(program.features) + STATE_CODE
    return n_cuts * width < of_states
