"""Choice of the model compared with a peer: by validation error among those that fit."""

from benchmarks.peers.peer_points import (
    SETS,
    Ours,
    Peer,
    against,
    counts,
    is_better,
    peer_rows,
    peers_of,
)

PEER = Peer("tree", "emlearn inline", True, 10.0, 1000, 500)


def ours(name, validation, error, flash, instructions):
    return Ours(name, "size", validation, error, flash, instructions)


def test_of_what_fits_the_least_validation_error_stands_even_if_it_tests_worse():
    better_on_test = ours("a", 9.0, 8.0, 900, 400.0)
    chosen = ours("b", 8.0, 10.5, 1000, 500.0)
    too_large = ours("c", 1.0, 1.0, 1001, 100.0)
    too_slow = ours("d", 1.0, 1.0, 100, 500.5)
    assert against(PEER, [better_on_test, chosen, too_large, too_slow]) is chosen
    assert not is_better((PEER, chosen))
    assert is_better((PEER, better_on_test))


def test_where_nothing_fits_nothing_stands():
    assert against(PEER, [ours("c", 1.0, 1.0, 1001, 100.0)]) is None
    assert not is_better((PEER, None))
    assert "none within its flash and instructions" in peer_rows([(PEER, None)])


def test_equal_in_all_three_is_as_good():
    assert is_better((PEER, ours("a", 5.0, 10.0, 1000, 500.0)))


def test_the_frontier_is_counted_apart():
    other = Peer("forest", "m2cgen", False, 9.0, 9000, 900)
    rows = [(PEER, ours("a", 5.0, 9.0, 10, 10.0)), (other, None)]
    assert "| letter | 1 of 2 | 1 of 1 |" in counts({"letter": rows})


def test_each_set_has_peers_and_a_frontier():
    for name in SETS:
        found = peers_of(name)
        assert len(found) > 40
        assert any(peer.is_frontier for peer in found)
