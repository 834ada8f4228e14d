"""What the gradient descends on: a likelihood, joint or conditional, and S0's margin."""

import torch
from torch import Tensor, nn

from bncc.train.hyperparameters import Hyperparameters

NEGLIGIBLE_LOG = -80.0
"""Terms below exp of it vanish beside 1; left to underflow, each would cost ten times as much."""


def loss_of(log_joint: Tensor, y: Tensor, hyper: Hyperparameters) -> Tensor:
    r"""
    Return the loss that is asked for, as a mean over the minibatch.

    .. math::
       L_{hybrid} &= \frac1B \sum_n
           \bigl[ -\ln p(x_n, c_n) + \lambda \max(0, \gamma - \beta_n) \bigr] \\
       L_{entropy} &= \frac1B \sum_n -\ln p(c_n \mid x_n) \\
       L_{free} &= \frac1B \sum_n
           \bigl[ -\ln p(c_n \mid x_n) + \lambda \max(0, \gamma - \beta_n) \bigr]

    Tables that need not be probabilities have no joint likelihood: only what they say of the
    classes among themselves counts.

    Shapes: `log_joint` (n_samples, n_classes) float; `y` (n_samples,) int64.

    References
    ----------
    S0, equations 5 to 8; the mean over the minibatch is the authors' code.
    """
    if hyper.is_conditional:
        likelihood = nn.functional.cross_entropy(log_joint, y)
    else:
        likelihood = -log_joint.gather(1, y[:, None]).mean()
    if not hyper.has_margin:
        return likelihood
    return likelihood + hyper.lambda_ * hinge(log_joint, y, hyper.gamma, hyper.eta)


def n_wrong(log_joint: Tensor, y: Tensor) -> int:
    """
    Return how many samples would be decided wrongly; of equal classes the first is chosen.

    Shapes: `log_joint` (n_samples, n_classes) float; `y` (n_samples,) int64.
    """
    true = log_joint.gather(1, y[:, None])
    classes = torch.arange(log_joint.shape[1], device=y.device)
    is_before = (log_joint == true) & (classes < y[:, None])
    return int(((log_joint > true) | is_before).any(dim=1).sum())


def hinge(log_joint: Tensor, y: Tensor, gamma: float, eta: float) -> Tensor:
    r"""
    Return how much is missing to a margin, as a mean over the minibatch.

    .. math::
       \max(0, \gamma - \beta_n),
       \quad \beta_n = \ln p(x_n, c_n) - \frac1\eta \ln \sum_{c \ne c_n} p(x_n, c)^\eta

    Shapes: `log_joint` (n_samples, n_classes) float; `y` (n_samples,) int64.
    """
    true = log_joint.gather(1, y[:, None])
    scaled = (eta * (log_joint - true)).scatter(1, y[:, None], -torch.inf)
    top = scaled.detach().amax(dim=1, keepdim=True)
    total = (scaled - top).clamp(min=NEGLIGIBLE_LOG).exp().sum(dim=1)
    margin = -(top.squeeze(1) + total.log()) / eta
    return torch.relu(gamma - margin).mean()
