"""Adam on the rows of a tensor that a step has read, and on no others."""

import torch
from torch import Tensor

BETAS = (0.9, 0.999)
EPSILON = 1e-8


class LazyAdam:
    """
    Adam whose moments rest while a row is not read.

    Of all candidate tables a structure reads one per feature. Dense Adam would walk over all of
    them in every step, and move tables that were not even read by what is left of their
    momentum; here each row counts its own steps.

    Shapes: `value` (n_rows, n_columns) float.
    """

    def __init__(self, value: Tensor) -> None:
        self.value = value
        self._mean = torch.zeros_like(value)
        self._square = torch.zeros_like(value)
        self._count = value.new_zeros(len(value), 1)

    def state(self) -> dict[str, Tensor]:
        """Return the tensors that steps change beside `value`."""
        return {"mean": self._mean, "square": self._square, "count": self._count}

    def step(self, rows: Tensor, grad: Tensor, lr: float) -> None:
        """
        Take a step.

        Shapes: `rows` (n_read,) int64; `grad` (n_read, n_columns) float.
        """
        count = self._count[rows] + 1
        mean = self._mean[rows].lerp_(grad, 1 - BETAS[0])
        square = self._square[rows].lerp_(grad.square(), 1 - BETAS[1])
        self._count[rows], self._mean[rows], self._square[rows] = count, mean, square
        unbiased = square.div_(1 - BETAS[1] ** count).sqrt_().add_(EPSILON)
        self.value[rows] -= lr / (1 - BETAS[0] ** count) * mean / unbiased
