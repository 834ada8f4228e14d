"""States of a certificate: those that paths reach, with their steps."""

from bncc.prove.certificate import reached


def test_only_states_that_paths_reach_remain():
    """The second one loses its only path, the last one the longer of two."""
    states = [
        {"next": [[2, 1], [3, 2]]},
        {"at": 4, "next": [[9, 3]], "steps": 2},
        {"at": 6, "next": [[10, 3]], "steps": 5},
        {"at": 8, "next": [], "steps": 10},
    ]
    assert reached(states, {(0, 2, 1)}) == [
        {"next": [[3, 1]]},
        {"at": 6, "next": [[8, 2]], "steps": 3},
        {"at": 8, "next": [], "steps": 8},
    ]


def test_steps_that_paths_take_stay_as_they_are():
    states = [
        {"next": [[2, 1], [3, 1]]},
        {"at": 4, "next": [[9, 2]], "steps": 3},
        {"at": 8, "next": [], "steps": 9},
    ]
    assert reached(states, ()) == states
