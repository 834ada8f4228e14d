"""Kernels of planes and of columns."""

from bncc.lower.kernels.base import Family
from bncc.lower.kernels.planes.layout import PlaneKernel, columns, planes
from bncc.lower.kernels.planes.text import planes_text
from bncc.lower.kernels.planes.weights import WEIGHTS

FAMILIES = (
    Family(
        "planes",
        planes,
        PlaneKernel,
        planes_text,
        WEIGHTS,
        no_branches="one loop over all tables; straight-line code within",
    ),
    Family(
        "columns",
        columns,
        PlaneKernel,
        planes_text,
        WEIGHTS,
        no_branches="one loop over all tables and one over all planes; straight-line code within",
    ),
)
