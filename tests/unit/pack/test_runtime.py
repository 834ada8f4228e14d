"""The runtime of blobs on this computer: the same decisions, and the same refusals."""

import numpy as np
import pytest

from bncc.device.blobs import Request, host_runner
from bncc.pack.blob import CODES
from bncc.pack.runtime import FILES, runtime_files
from bncc.pack.writer import pack
from tests import models as hand
from tests.packed import FIVE, trained, tried
from tests.unit.pack.test_blob import GOOD, changed

pytestmark = pytest.mark.cc


@pytest.fixture(scope="module")
def runner(require_tool):
    require_tool("gcc")
    with host_runner(runtime_files()) as built:
        yield built


def test_one_firmware_decides_as_five_trained_models(runner):
    """Under sanitizers, next to every threshold."""
    found = [(pack(trained(name)).content, *tried(trained(name), 2000)) for name in FIVE]
    answers = runner.answers([Request(blob, x) for blob, x, _ in found])
    for answer, (_, _, y) in zip(answers, found, strict=True):
        assert answer.opened == 0
        assert np.array_equal(answer.classes, y)


def test_models_of_every_type_of_readings_agree(runner):
    """Among them categories, missing states and priors."""
    names = ("bytes_and_others", "category_with_missing", "int32_thresholds", "general_network")
    models = [hand.NAMED[name]() for name in names]
    found = [(pack(model).content, *tried(model, 500)) for model in models]
    answers = runner.answers([Request(blob, x) for blob, x, _ in found])
    for answer, (_, _, y) in zip(answers, found, strict=True):
        assert answer.opened == 0
        assert np.array_equal(answer.classes, y)


@pytest.mark.parametrize(
    ("blob", "name"),
    [
        (b"", "SIZE"),
        (GOOD[:-1], "SIZE"),
        (changed(3, 2), "MAGIC"),
        (changed(8, 23, 2), "SIZE"),
        (GOOD[:-1] + b"\x00", "CRC"),
        (changed(18, 65, 2), "CAPACITY"),
        (changed(20, 0), "CAPACITY"),
        (changed(18, 1, 2), "TABLES"),
        (changed(10, 24, 2), "TABLES"),
        (changed(10, 31, 2), "TABLES"),
        (changed(30, 0b110), "TABLES"),
        (changed(30, 0b101), "TABLES"),
        (changed(26, 0b000), "TABLES"),
        (changed(16, 0, 2), "SELFTEST"),
    ],
)
def test_a_blob_is_refused_with_the_code_of_the_reader(runner, blob, name):
    """No decision follows."""
    (answer,) = runner.answers([Request(blob, np.zeros((3, 2), dtype=np.int64))])
    assert answer.opened == CODES[name]
    assert not answer.classes.size


def test_a_signature_is_checked_by_a_function_of_the_firmware(require_tool):
    """The function has the blob, its length and the space behind it, for the signature."""
    require_tool("gcc")
    files = dict(runtime_files())
    files["bncc_runtime.c"] += """
int verified(const uint8_t *blob, uint32_t length, uint32_t size)
{
    return (size == length + 1U && blob[length] == 0xA5U) ? 0 : 1;
}
"""
    with host_runner(files, "BNCC_VERIFY=verified") as built:
        rows = np.zeros((0, 2), dtype=np.int64)
        signed, other = built.answers([Request(GOOD + end, rows) for end in (b"\xa5", b"\x5a")])
    assert (signed.opened, other.opened) == (0, CODES["SIGNATURE"])


def test_float_keys_are_those_of_the_reader(require_tool):
    """The runtime's own function is compiled on request alone."""
    require_tool("gcc")
    files = runtime_files()
    assert tuple(files) == FILES
    assert "bncc_float_key" in files["bncc_runtime.h"]
    with host_runner(files, "BNCC_FLOATS") as built:
        (answer,) = built.answers([Request(GOOD, np.zeros((1, 2), dtype=np.int64))])
    assert answer.opened == 0
