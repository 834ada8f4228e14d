"""One firmware with the runtime of blobs on simulated boards: five models, and its footprint."""

import numpy as np
import pytest

from bncc.device.blobs import Request, footprints, target_runner
from bncc.device.cross import find_toolchain
from bncc.errors import ToolchainError
from bncc.pack.blob import CODES
from bncc.pack.runtime import runtime_files
from bncc.pack.writer import pack
from bncc.targets import find_target
from tests.packed import FIVE, trained, tried

pytestmark = [pytest.mark.cc, pytest.mark.firmware]
MOST_FLASH = 900
"""Bytes of the loader and the kernel on a Cortex-M0 at -Os; 768 when this was written."""


def toolchain(target, **choice):
    """Return a toolchain, or skip the test."""
    try:
        return find_toolchain(find_target(target), **choice)[0]
    except ToolchainError as error:
        pytest.skip(str(error))


@pytest.mark.parametrize("target", ["cortex-m0", "rv32", "avr", "big-endian"])
def test_one_firmware_decides_as_five_trained_models(target):
    """The same image for all models, which are in its memory."""
    found = [(pack(trained(name)).content, *tried(trained(name), 200)) for name in FIVE]
    requests = [Request(blob, x) for blob, x, _ in found]
    damaged = found[0][0][:-1] + bytes([found[0][0][-1] ^ 1])
    with target_runner(runtime_files(), toolchain(target)) as runner:
        *answers, refused = runner.answers([*requests, Request(damaged, requests[0].readings)])
    for answer, (_, _, y) in zip(answers, found, strict=True):
        assert answer.opened == 0
        assert np.array_equal(answer.classes, y)
    assert refused.opened == CODES["CRC"]


def test_readings_of_16_bits_are_enough_for_a_model_of_integers():
    """With BNCC_READING_T=int16_t, digits take half the memory."""
    model = trained("digits")
    x, y = tried(model, 200)
    defines = ("BNCC_READING_T=int16_t",)
    with target_runner(runtime_files(), toolchain("avr"), *defines) as runner:
        (answer,) = runner.answers([Request(pack(model).content, x)])
    assert answer.opened == 0
    assert np.array_equal(answer.classes, y)


def test_loader_and_kernel_take_at_most_900_bytes_of_a_cortex_m0():
    """The check of every index included; the choice of a slot takes some more."""
    found = footprints(runtime_files(), toolchain("cortex-m0", compiler="arm-none-eabi-gcc"))
    print(found)
    assert found["loader and kernel"] <= MOST_FLASH
    assert found["with slots"] <= MOST_FLASH + 150
