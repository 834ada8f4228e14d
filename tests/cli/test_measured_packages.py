"""``emit-c --measure`` with every package: the same header as without one."""

from collections.abc import Callable
from pathlib import Path

import pytest
from click.testing import Result

from bncc.emit.packages import PACKAGES
from bncc.model.file import save_model
from tests import models as hand

Run = Callable[..., Result]


@pytest.mark.firmware
def test_every_package_has_the_measured_header(
    run: Run, require_tool: Callable[[str], str], tmp_path: Path
) -> None:
    """Measuring builds the C alone, wherever a package puts it."""
    require_tool("avr-gcc")
    require_tool("simavr")
    save_model(hand.naive_integer(), tmp_path / "gait.bncc")
    headers = set()
    for package in PACKAGES:
        folder = tmp_path / package
        words = ("--package", package, "--target", "avr", "--measure", "-o", folder)
        run("emit-c", tmp_path / "gait.bncc", *words)
        (header,) = folder.rglob("gait.h")
        _, interface = header.read_text().split("#ifndef GAIT_H", 1)  # the command is above
        headers.add(interface)
    (only,) = headers
    assert "#define GAIT_PREDICT_STACK" in only
