"""License terms: emitted files may be used under any, and have the user's SPDX tag on request."""

import json
import re

import pytest
import yaml

from bncc.emit.emitter import EmitOptions, emit_c
from bncc.emit.environment import TERMS, check_spdx, with_terms
from bncc.emit.packages import PACKAGES
from bncc.emit.textbook import textbook_c
from bncc.errors import OptionError
from tests import models as hand
from tests.firmware.packages import KINDS, files_of

TAG = "SPDX-License-Identifier: MIT OR Apache-2.0"


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("package", PACKAGES)
def test_every_file_says_in_one_line_that_any_terms_will_do(package, kind):
    for path, text in files_of(kind, package).items():
        assert sum(TERMS in line for line in text.splitlines()) == 1, path
        assert "SPDX" not in text, path


@pytest.mark.parametrize("package", PACKAGES)
def test_every_file_is_tagged_on_request(package):
    """In its first line, as SPDX recommends; JSON, which has no comments, in its own field."""
    options = EmitOptions("gait", package=package, spdx="MIT OR Apache-2.0")
    plain = emit_c(hand.ties(), EmitOptions("gait", package=package)).files
    for path, text in emit_c(hand.ties(), options).files.items():
        if path == "library.json":
            assert json.loads(text)["license"] == "MIT OR Apache-2.0"
            assert TERMS in json.loads(text)["description"]
            continue
        first, rest = text.split("\n", 1)
        assert re.sub(r"^(/\*|//|#|;|<!--) | (\*/|-->)$", "", first) == TAG, path
        if path == "idf_component.yml":
            assert yaml.safe_load(text)["license"] == "MIT OR Apache-2.0"
        elif path == "README.md" and package != "plain":
            assert "The files carry the license tag MIT OR Apache-2.0 and name no author." in rest
        else:
            assert rest == plain[path], path


def test_a_classifier_to_compare_with_has_the_same_terms():
    files = textbook_c(hand.ties(), "book").files
    assert all(text.startswith(f"/* {TERMS} */\n") for text in files.values())


@pytest.mark.parametrize(
    "expression",
    ["MIT", "LicenseRef-ours", "GPL-2.0+ WITH GCC-exception-2.0", "(MIT OR (ISC AND 0BSD))"],
)
def test_an_expression_is_accepted(expression):
    assert check_spdx(expression) == expression


@pytest.mark.parametrize(
    "expression", ["", " ", "*/", "MIT */ x", "MIT\n", "-->", "a\\", 'MIT"', "MIT ISC"]
)
def test_what_could_end_a_comment_is_refused(expression):
    with pytest.raises(OptionError, match="is not an SPDX license expression; write one such as"):
        emit_c(hand.ties(), EmitOptions("m", spdx=expression))


def test_a_file_of_another_kind_has_comments_of_hashes():
    assert with_terms("a/Kconfig", "x\n", "MIT").startswith("# SPDX-License-Identifier: MIT\n# ")
