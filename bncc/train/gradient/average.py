"""The average of tables over the epochs of a descent, which rounding disturbs less than its end."""

from bncc.train.maximum_likelihood import LogTables


def averaged(past: LogTables | None, now: LogTables, weight: float) -> LogTables:
    r"""
    Return an exponential moving average after one more epoch.

    .. math:: \bar\theta \leftarrow w \bar\theta + (1 - w)\, \theta

    Of logarithms of probabilities it is one no more, but for a factor near 1 that each
    distribution has.
    """
    if past is None or weight == 0:
        return now
    prior = weight * past[0] + (1 - weight) * now[0]
    pairs = zip(past[1], now[1], strict=True)
    return prior, tuple(weight * old + (1 - weight) * new for old, new in pairs)
