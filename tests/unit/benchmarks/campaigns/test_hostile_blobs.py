"""The campaign of hostile blobs: it finds nothing, and notices each check that is missing."""

import pytest

from benchmarks.campaigns.hostile_blobs import KINDS, WrongAnswerError, campaign, good_blobs
from bncc.device.blobs import host_runner
from bncc.device.machine import HarnessError
from bncc.pack.runtime import runtime_files
from tests.tiers import examples

pytestmark = [pytest.mark.cc, pytest.mark.no_cover]
N = 4000
CHECKS = {
    "length": ("(length > size) || ", ""),
    "short length": (" || (length < BNCC_HEADER)", ""),
    "crc": ("if (digest != ~crc)", "if (digest == 0x12345678U)"),
    "features": ("(n_features > BNCC_MAX_FEATURES) || ", ""),
    "classes": ("(m->n_classes > BNCC_MAX_CLASSES) || ", ""),
    "no classes": (" || (m->n_classes == 0U)", ""),
    "rows": ("if (rows > length)", "if (rows > size + 65536U)"),
    "cuts": ("(m->rows - p) < (m->entry_bytes + m->limit_bytes)", "p == m->rows"),
    "reading": ("((reading >> 2U) >= n_features) || ", ""),
    "table": (" || (n_bytes > left)", ""),
    "all rows": ("if (left != 0U)", "if (left > 65535U)"),
    "decisions": ("((digest & 0xFFFFU) == crc)", "(digest != 0x12345678U)"),
}
"""Text of each check of the loader, and text without it."""


def test_nothing_is_found(require_tool):
    """The C answers as the reader, and every kind of blob and every answer occurs."""
    require_tool("gcc")
    with host_runner(runtime_files()) as runner:
        counts = campaign(runner, examples(N), 7, good_blobs())
    assert {kind for kind, _ in counts} == set(KINDS)
    assert {answer for _, answer in counts} == {
        "accepted", "MAGIC", "SIZE", "CRC", "CAPACITY", "TABLES", "SELFTEST",
    }  # fmt: skip


@pytest.mark.parametrize("check", CHECKS)
def test_a_missing_check_is_noticed(require_tool, check):
    """A sanitizer stops the runtime, or it accepts what the reader refuses."""
    require_tool("gcc")
    files = dict(runtime_files())
    whole, without = CHECKS[check]
    text = files["bncc_runtime.c"]
    assert text.count(whole) == 1
    files["bncc_runtime.c"] = text.replace(whole, without)
    goods = good_blobs()
    with (
        host_runner(files, opt_level="-O1") as runner,
        pytest.raises((WrongAnswerError, HarnessError)),
    ):
        campaign(runner, N, 7, goods)
