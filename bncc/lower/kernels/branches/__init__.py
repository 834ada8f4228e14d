"""Kernel of tables that decision trees address, as nested comparisons."""

from bncc.lower.kernels.base import Family
from bncc.lower.kernels.branches.layout import BranchKernel, branches
from bncc.lower.kernels.branches.text import branches_text
from bncc.lower.kernels.branches.weights import WEIGHTS

FAMILIES = (Family("branches", branches, BranchKernel, branches_text, WEIGHTS, is_for_trees=True),)
