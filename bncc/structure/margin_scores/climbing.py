"""Hill climbing: the edge of greatest score, until the features form a tree."""

from bncc.structure.learner import Tell
from bncc.structure.margin_scores.scored_tree import Found, ScoredTree


def climb(tree: ScoredTree, tell: Tell, *, is_full: bool = True) -> Found:
    """Add edges to a forest, each time that of greatest score.

    Of equal scores, the edge of the smallest child and then of the smallest parent is added.

    Parameters
    ----------
    tree : ScoredTree
        Where the search begins: without edges in S1. It is left where the search ends.
    tell : callable
        Told of each edge.
    is_full : bool
        Whether edges are added up to a tree even if the score falls, as in S1; otherwise the
        search ends with the last edge that raises the score.

    Returns
    -------
    Found
        The last tree is the best by definition.

    References
    ----------
    S1, section 4.2.
    """
    before = tree.n_evaluations
    total = tree.score_now()
    free = [int(i) for i in tree.features if tree.parent[i] == tree.held_out.n_features]
    n_edges = len(free) - 1
    for done in range(n_edges):
        best, edge = _best_edge(tree, free)
        if best <= total and not is_full:
            break
        total = best
        tree.set_parent(*edge)
        free.remove(edge[0])
        value = tree.kind.value(total, tree.held_out.n_samples)
        scored = tree.n_evaluations - before
        tell((done + 1) / n_edges, f"edge {done + 1}, score {value:.4f}, {scored} scores")
    value = tree.kind.value(total, tree.held_out.n_samples)
    found = tree.structure()
    return Found(found, value, tree.n_evaluations - before, found, value, tree.kind.lambda_)


def _best_edge(tree: ScoredTree, free: list[int]) -> tuple[int, tuple[int, int]]:
    """Return the first edge of greatest score; only a feature without a parent is a child."""
    root = [tree.root_of(i) for i in range(tree.held_out.n_features)]
    best: int | None = None
    edge = (0, 0)
    for child in free:
        for parent in map(int, tree.features):
            if root[parent] == child:
                continue
            total = tree.score_with(child, parent, None if best is None else best + 1)
            if best is None or total > best:
                best, edge = total, (child, parent)
    assert best is not None
    return best, edge
