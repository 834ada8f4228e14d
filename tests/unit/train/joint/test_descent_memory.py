"""Memory of structure learning: it does not grow with samples times candidates."""

import subprocess
import sys

import pytest

pytestmark = pytest.mark.cc

LARGE = """
from pathlib import Path
import numpy as np
from bncc.structure.candidates import find_candidates
from bncc.train.hyperparameters import hyperparameters_of
from bncc.train.settings import TrainSettings
from bncc.train.joint.descent import descend_structure
from bncc.train.gradient.engine import StructureProblem

rng = np.random.default_rng(0)
X = rng.integers(0, 13, (47_000, 196))
y = rng.integers(0, 10, len(X))
candidates = find_candidates("tan-subset", 196, {"parents": "8"}, rng)
problem = StructureProblem(X, y, [13] * 196, 10, candidates, 0.01)
hyper = hyperparameters_of(TrainSettings(engine="native", epochs=1, batch_size=250), len(X))
descend_structure(problem, hyper, rng, None)
(peak,) = (line for line in Path("/proc/self/status").open() if line.startswith("VmHWM"))
print(peak.split()[1])
"""
MOST_KIB = 1_000_000
"""A gigabyte, Python and its libraries included. Not by ru_maxrss, which begins with what
the process had that started this one."""


@pytest.mark.skipif(sys.platform != "linux", reason="/proc is Linux's")
def test_images_of_the_size_of_mnist_train_within_a_gigabyte(require_tool):
    """TAN Subset with 8 candidates: 47,000 images of 196 pixels with 13 states."""
    require_tool("gcc")
    command = [sys.executable, "-c", LARGE]
    output = subprocess.run(command, capture_output=True, text=True, check=True)
    assert int(output.stdout) < MOST_KIB
