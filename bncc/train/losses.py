"""What the gradient descends on: S0's hybrid of likelihood and margin, and cross-entropy."""

import torch
from torch import Tensor, nn

NEGLIGIBLE_LOG = -80.0
"""Terms below exp of it vanish beside 1; left to underflow, each would cost ten times as much."""


def hybrid(log_joint: Tensor, y: Tensor, lambda_: float, gamma: float, eta: float) -> Tensor:
    r"""Return S0's hybrid loss, as a mean over the minibatch.

    .. math::
       L = \frac1B \sum_n \Bigl[ -\ln p(x_n, c_n) + \lambda \max(0, \gamma - \beta_n) \Bigr],
       \quad \beta_n = \ln p(x_n, c_n) - \frac1\eta \ln \sum_{c \ne c_n} p(x_n, c)^\eta

    Parameters
    ----------
    log_joint : (n_samples, n_classes) float
        log p(x, c).
    y : (n_samples,) int64
        Class indices.
    lambda_ : float
        Weight of the margin term, >= 0.
    gamma : float
        Margin asked for, in nats, >= 0.
    eta : float
        Sharpness of the soft maximum over the wrong classes, > 0.

    Returns
    -------
    () float
        The loss.

    References
    ----------
    S0, equations 5 to 8; the mean over the minibatch is the authors' code.
    """
    true = log_joint.gather(1, y[:, None])
    scaled = (eta * (log_joint - true)).scatter(1, y[:, None], -torch.inf)
    top = scaled.detach().amax(dim=1, keepdim=True)
    total = (scaled - top).clamp(min=NEGLIGIBLE_LOG).exp().sum(dim=1)
    margin = -(top.squeeze(1) + total.log()) / eta
    return lambda_ * torch.relu(gamma - margin).mean() - true.mean()


def cross_entropy(log_joint: Tensor, y: Tensor) -> Tensor:
    """Return the mean of -log p(c|x).

    Parameters
    ----------
    log_joint : (n_samples, n_classes) float
        log p(x, c).
    y : (n_samples,) int64
        Class indices.

    Returns
    -------
    () float
        The loss in nats.
    """
    return nn.functional.cross_entropy(log_joint, y)
