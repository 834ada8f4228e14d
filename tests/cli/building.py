"""The C that ``verify`` and ``prove`` build with some options."""

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import pytest

from bncc.emit.emitter import Emission, emit_as
from bncc.emit.provenance import code_digest
from bncc.errors import ToolchainError
from bncc.model.file import load_model
from bncc.model.model import Model
from tests.cli.conftest import invoke


def built_by(command: str, *words: object) -> tuple[Emission, str, str]:
    """Return the C that ``verify`` or ``prove`` would build, the level, and the messages."""
    found: list[tuple[Emission, str]] = []

    def verified(*_: object, emission: Emission, opt_level: str, **others: object) -> None:
        found.append((emission, opt_level))
        raise ToolchainError("nothing is built")

    def linked(model: Model, emission: Emission, bench: object, level: str, *_: object) -> None:
        verified(emission=emission, opt_level=level)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("bncc.cli.verify.verify", verified)
        patch.setattr("bncc.cli.prove.linked_program", linked)
        result = invoke(command, *words, "-v")  # Messages appear in spite of the error
    assert result.exit_code == 2, result.output
    ((emission, level),) = found
    return emission, level, result.stderr


def code_verified(model: Path, words: Sequence[object], entries: frozenset[str]) -> str:
    """Return the digest of the C that ``verify`` builds, with the functions of ``emit-c``."""
    emission, _, _ = built_by("verify", *words)
    assert emission.options.entries >= entries | {"raw", "scores", "trusted"}
    alike = emit_as(load_model(model), replace(emission.options, entries=entries), emission)
    return code_digest(alike.files, alike.name)


def codes_of_checks(model: Path, options: Sequence[object]) -> list[str]:
    """Return the digests of the C that ``prove`` and ``verify`` build, with the same functions."""
    proved, _, _ = built_by("prove", *options)
    digest = code_digest(proved.files, proved.name)
    return [digest, code_verified(model, options, proved.options.entries)]
