"""The parts of a release: workflows, templates, fragments of the changelog, hints of a wheel."""

import re
import subprocess
from pathlib import Path
from typing import Any

import pytest
import yaml

from bncc import errors
from bncc.errors import ToolchainError, extra_command
from bncc.search import families
from bncc.search.families import FAMILIES, NETWORKS, families_of
from bncc.train.gradient import engines
from bncc.train.settings import TrainSettings

ROOT = Path(__file__).resolve().parent.parent
FRAGMENT = re.compile(r"[a-z0-9-]+\.(added|changed|deprecated|removed|fixed|security)\.md")


def test_workflows_and_templates_are_yaml() -> None:
    paths = sorted((ROOT / ".github").rglob("*.yml"))
    assert {path.name for path in paths} >= {"release.yml", "bug.yml", "feature.yml"}
    for path in paths:
        assert isinstance(yaml.safe_load(path.read_text("utf-8")), dict), path


def test_a_release_publishes_nothing_and_runs_the_script() -> None:
    text = (ROOT / ".github" / "workflows" / "release.yml").read_text("utf-8")
    workflow: dict[str, Any] = yaml.safe_load(text)
    steps = [step for job in workflow["jobs"].values() for step in job["steps"]]
    assert {"run": ".ci/release dist"} in steps
    assert not re.search(r"twine upload|gh-action-pypi-publish|secrets\.", text)
    script = ROOT / ".ci" / "release"
    subprocess.run(["bash", "-n", script], check=True)
    assert "twine upload" not in script.read_text("utf-8")


def test_fragments_of_the_changelog_have_a_type_and_a_sentence() -> None:
    for path in (ROOT / "changelog.d").iterdir():
        if path.name != "README.md":
            assert FRAGMENT.fullmatch(path.name), path.name
            assert path.read_text("utf-8").strip().endswith((".", "`")), path.name


def test_a_wheel_names_packages_and_a_clone_its_extra(monkeypatch: pytest.MonkeyPatch) -> None:
    assert extra_command("prove") == "`pip install -e '.[prove]'` in bncc's clone"
    monkeypatch.setattr(errors, "_is_clone", lambda: False)
    assert extra_command("prove") == "`pip install 'capstone>=5'`"
    assert re.fullmatch(
        r"`pip install 'distributed\S+' 'optuna\S+' 'sqlalchemy\S+'`", extra_command("sweep")
    )


def test_descent_needs_a_compiler_or_torch(monkeypatch: pytest.MonkeyPatch) -> None:
    def none() -> tuple[()]:
        raise ToolchainError("no C compiler is installed on this computer; run `apt install gcc`")

    monkeypatch.setattr(engines, "host_compilers", none)
    monkeypatch.setattr(engines, "find_spec", lambda name: None)
    assert engines.descent_lack() == (
        "gradient descent needs a C compiler or torch: no C compiler is installed on this "
        "computer; run `apt install gcc`"
    )
    monkeypatch.setattr(engines, "find_spec", lambda name: object())
    assert engines.descent_lack() is None
    monkeypatch.setattr(engines, "find_spec", lambda name: None)
    monkeypatch.setattr(engines, "host_compilers", lambda: ())
    assert engines.descent_lack() is None


def test_a_search_without_descent_tries_boosted_tables(monkeypatch: pytest.MonkeyPatch) -> None:
    assert families_of(TrainSettings(), None) == (FAMILIES, None)
    monkeypatch.setattr(families, "descent_lack", lambda: "nothing descends")
    assert families_of(TrainSettings(), None) == (
        ("tables",), "networks are not tried: nothing descends",
    )  # fmt: skip
    assert families_of(TrainSettings(), "naive") == (("naive",), None)
    assert families_of(TrainSettings(parameters="ml"), None)[0] == NETWORKS
