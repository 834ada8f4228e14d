"""Adam on the rows read: torch's Adam where all are read, at rest where none is."""

import numpy as np
import torch

from bncc.train.joint.torch_engine import LazyAdam

GENERATOR = torch.Generator().manual_seed(0)


def gradients(n_steps, n_rows):
    return [
        torch.randn(n_rows, 3, generator=GENERATOR, dtype=torch.float64) for _ in range(n_steps)
    ]


def test_reading_every_row_is_adam():
    start = torch.randn(4, 3, generator=GENERATOR, dtype=torch.float64)
    ours, theirs = start.clone(), start.clone().requires_grad_()
    lazy, adam = LazyAdam(ours), torch.optim.Adam([theirs], lr=0.1)
    for grad in gradients(5, 4):
        lazy.step(torch.arange(4), grad, 0.1)
        theirs.grad = grad
        adam.step()
    assert torch.allclose(ours, theirs.detach(), rtol=1e-9)


def test_a_row_counts_its_own_steps_and_rests_between_them():
    ours, alone = torch.zeros(3, 3, dtype=torch.float64), torch.zeros(1, 3, dtype=torch.float64)
    lazy, single = LazyAdam(ours), LazyAdam(alone)
    for k, grad in enumerate(gradients(6, 2)):
        before = ours.clone()
        if k % 2:
            lazy.step(torch.tensor([2, 0]), grad, 0.1)
            single.step(torch.tensor([0]), grad[:1], 0.1)
        else:
            lazy.step(torch.tensor([0]), grad[:1], 0.1)
            assert torch.equal(ours[1:], before[1:])
    assert np.allclose(ours[2], alone[0], rtol=1e-12)
    assert torch.equal(ours[1], torch.zeros(3, dtype=torch.float64))
