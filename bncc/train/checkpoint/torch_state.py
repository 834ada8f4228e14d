"""Tensors of a training as arrays and back, bit for bit."""

from collections.abc import Mapping

import torch
from torch import Tensor

from bncc._types import AnyArray

MOMENTS = ("exp_avg", "exp_avg_sq")
STEP = "step"


def taken_down(tensors: Mapping[str, Tensor]) -> dict[str, AnyArray]:
    """Return copies of tensors as arrays."""
    return {name: tensor.detach().cpu().numpy().copy() for name, tensor in tensors.items()}


def put_back(tensors: Mapping[str, Tensor], arrays: Mapping[str, AnyArray]) -> None:
    """Fill tensors with what `taken_down` has returned."""
    with torch.no_grad():
        for name, tensor in tensors.items():
            tensor.copy_(torch.from_numpy(arrays[name]))


def optimizer_state(name: str, optimizer: torch.optim.Adam) -> dict[str, AnyArray]:
    """Return copies of the moments and steps of Adam, of zeros before its first step."""
    tensors: dict[str, Tensor] = {}
    for index, parameter in enumerate(optimizer.param_groups[0]["params"]):
        blank = dict.fromkeys(MOMENTS, torch.zeros_like(parameter)) | {STEP: torch.tensor(0.0)}
        moments = optimizer.state.get(parameter) or blank
        tensors |= {f"{name}.{index}.{part}": moments[part] for part in (*MOMENTS, STEP)}
    return taken_down(tensors)


def restore_optimizer(
    name: str, optimizer: torch.optim.Adam, arrays: Mapping[str, AnyArray]
) -> None:
    """Take the moments and steps of Adam up again."""
    saved = optimizer.state_dict()
    saved["state"] = {
        index: {
            part: torch.from_numpy(arrays[f"{name}.{index}.{part}"]).clone()
            for part in (*MOMENTS, STEP)
        }
        for index in range(len(optimizer.param_groups[0]["params"]))
    }
    optimizer.load_state_dict(saved)
