"""Data of the page: every command can be restored to the letter."""

import json
from dataclasses import replace

from hypothesis import given
from hypothesis import strategies as st

from bncc.report.page_data import embedded, page_data
from bncc.search.trial_result import Study
from tests import studies


def commands(study: Study) -> list[str]:
    """Put commands together as the page's script does."""
    data = json.loads(embedded(page_data([study], None)))
    found = []
    for row, number in enumerate(data["columns"]["number"]):
        parts = data["commands"]["values"][data["commands"]["index"][row]].split("\x01")
        for k in range(1, len(parts), 2):
            option = data["params"].get(parts[k])
            parts[k] = (
                f"trial-{number}.bncc" if not parts[k] else option["values"][option["index"][row]]
            )
        found.append("".join(parts))
    return found


def test_commands_come_back() -> None:
    study = studies.study(40)
    assert commands(study) == [point.command for point in study.points]
    assert len(page_data([study], None)["commands"]["values"]) < 5


@given(
    st.text(max_size=30).filter(lambda text: "\x01" not in text),
    st.text("abc -=1", max_size=20),
    st.sampled_from(["1", "a", 1, 0.5, True]),
)
def test_any_command_comes_back(file: str, value: str, other: str | float) -> None:
    (point,) = studies.study(1).points
    params = {"structure": value, "structure-option.a": other}
    command = f"bncc train {file} --structure {value} --structure-option a={other} -o trial-0.bncc"
    study = replace(studies.study(1), points=(replace(point, params=params, command=command),))
    assert commands(study) == [command]


def test_figures_stand_in_columns() -> None:
    study = studies.study(30)
    data = page_data([study, replace(study, name="again")], "avr")
    assert data["studies"] == ["wifi.study", "again"]
    assert data["columns"]["study"] == [0] * 30 + [1] * 30
    assert data["costs"]["avr"]["unit"] == "cycles"
    flash = [cost.flash if (cost := p.footprint("avr")) else None for p in study.points]
    assert data["costs"]["avr"]["flash"] == flash * 2
    for axes in data["axes"].values():
        for axis in axes:
            assert {front["study"] for front in axis["fronts"]} == {0, 1}
            assert all(len(front["rows"]) == len(front["sure"]) for front in axis["fronts"])
