"""The campaign of hostile input: a slice of it, and its detection of defects."""

import pytest

from benchmarks.campaigns import campaign
from benchmarks.campaigns.campaign import command, file_case, model_case, study_case, table_case
from bncc.errors import StudyError
from bncc.search import storage
from bncc.search.storage import place_of


@pytest.mark.no_cover
@pytest.mark.cc
def test_drawn_models_agree(require_tool) -> None:
    for tool in ("gcc", "clang"):
        require_tool(tool)
    outcomes = [model_case(7, 2000, k) for k in range(3)]
    assert [outcome.wrong for outcome in outcomes] == [""] * 3
    assert all(outcome.compared > 1000 for outcome in outcomes)


@pytest.mark.no_cover
def test_hostile_files_tables_and_studies_end_in_a_sentence() -> None:
    outcomes = [
        *(file_case(7, k) for k in range(40)),
        *(table_case(7, k) for k in range(6)),
        *(study_case(0, k) for k in (2, 5, 6)),  # of these, each ended with 70 once
    ]
    assert [outcome.wrong for outcome in outcomes if outcome.wrong] == []


def test_an_internal_error_and_a_hang_are_failures(monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(*words: object) -> None:
        raise ZeroDivisionError

    def slow(*words: object) -> None:
        while True:
            pass

    monkeypatch.setattr("bncc.cli.targets.find_tools", broken)
    assert "exit 70" in command("targets")
    monkeypatch.setattr("bncc.cli.targets.find_tools", slow)
    monkeypatch.setattr(campaign, "LIMIT", 1)
    assert command("targets") == "targets: over 1 s"


def test_errors_of_ours_are_no_damaged_studies() -> None:
    """A mistake in bncc's own code is reported as one."""
    from optuna.distributions import json_to_distribution

    place = place_of("s.db")
    with pytest.raises(ValueError, match="ours"), storage._in_words(place):
        raise ValueError("ours")
    with pytest.raises(StudyError, match="is corrupt"), storage._in_words(place):
        json_to_distribution('{"name": "nan", "attributes": {}}')
