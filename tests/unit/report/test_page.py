"""The page is one file, the same each time, and no name from the data breaks out of it."""

import json
import re
import sys
from dataclasses import replace
from html.parser import HTMLParser

import pytest

from bncc.report import page_data
from bncc.report.page import page_html
from bncc.report.sheets import sheets_of
from bncc.search.trial_result import Study
from tests import studies

HOSTILE = "</script><script>alert(1)</script>"


class Reader(HTMLParser):
    """Collects elements, and the text of scripts."""

    def __init__(self) -> None:
        super().__init__()
        self.tags: list[tuple[str, dict[str, str | None]]] = []
        self.scripts: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, dict(attrs)))
        if tag == "script":
            self.scripts.append("")

    def handle_data(self, data: str) -> None:
        if self.tags and self.tags[-1][0] == "script":
            self.scripts[-1] += data


def read(html: str) -> Reader:
    reader = Reader()
    reader.feed(html)
    return reader


def hostile() -> Study:
    """Return a study in which every text from outside tries to be markup."""
    features = (HOSTILE, "&amp;", '"><img src=x onerror=alert(1)>', "a\nb")
    study = studies.study(30, name=HOSTILE, features=features)
    points = tuple(
        replace(
            point,
            family=point.family + HOSTILE,
            params={**point.params, HOSTILE: HOSTILE},
            command=point.command + f" '{HOSTILE}'",
            costs={**point.costs, "rv32": HOSTILE},
        )
        for point in study.points
    )
    facts = {**study.facts, "data": HOSTILE, HOSTILE: HOSTILE}
    return replace(study, points=points, facts=facts, failed={99: HOSTILE})


@pytest.mark.no_cover
def test_the_same_studies_make_the_same_page() -> None:
    pages = {page_html(sheets_of([studies.study(25)]), "T") for _ in range(2)}
    assert len(pages) == 1


@pytest.mark.no_cover
def test_no_name_becomes_markup() -> None:
    plain = read(page_html(sheets_of([studies.study(30)]), "T"))
    found = read(page_html(sheets_of([hostile()]), HOSTILE))
    assert len(found.scripts) == len(plain.scripts) == 5
    assert not [tag for tag, _ in found.tags if tag in {"img", "iframe", "object"}]
    assert not [name for _, attrs in found.tags for name in attrs if name.startswith("on")]
    data = json.loads(found.scripts[1])
    assert data["studies"] == [HOSTILE]
    assert data["families"][0]["family"].endswith(HOSTILE)
    assert all(HOSTILE not in script for script in found.scripts)


@pytest.mark.no_cover
@pytest.mark.parametrize(
    ("baselines", "kind", "kinds"), [(0, "Structure", "Structures"), (1, "Family", "Families")]
)
def test_what_is_compared_is_called_a_structure_until_a_baseline_is_among_it(
    baselines: int, kind: str, kinds: str
) -> None:
    html = page_html(sheets_of([studies.with_baselines(studies.study(20), baselines)]), "T")
    assert f"<h2>{kinds} compared</h2>" in html
    assert f"<legend>{kinds}</legend>" in html
    assert f'<th scope="col">{kind}</th>' in html
    scripts = read(html).scripts
    assert json.loads(scripts.pop(1))["kind"] == kind
    assert not [script for script in scripts if '"Structure"' in script]


@pytest.mark.no_cover
def test_the_page_asks_for_nothing() -> None:
    reader = read(page_html(sheets_of([studies.study(10)]), "T"))
    links = [attrs.get("href") or attrs.get("src") for _, attrs in reader.tags]
    assert {link for link in links if link} == {"data:,"}
    policy = next(a["content"] for t, a in reader.tags if t == "meta" and "http-equiv" in a)
    assert policy is not None
    assert policy.startswith("default-src 'none';")


@pytest.mark.no_cover
def test_the_page_reads_without_scripts() -> None:
    study = studies.study(40)
    sheets = sheets_of([study], "avr")
    html = page_html(sheets, "Which one?")
    for advice in sheets[0].views[0].advice:
        assert all(sentence in html for sentence in advice.sentences)
    for panel in sheets[0].views[0].panels:
        assert f"Error rate on validation rows against {panel.axis.title}</title>" in html
    for point in sheets[0].views[0].on_front:
        words = (f"<span>{word}</span>" for word in point.command.split(" "))
        assert " ".join(words).replace("&&", "&amp;&amp;") in html
    assert re.search(r'data-target="cortex-m0" hidden', html)


@pytest.mark.no_cover
def test_chosen_boosted_tables_are_drawn_where_the_study_records_them() -> None:
    study = studies.study(12)
    tables = ((("light", ("≤ 2.5", "> 2.5")),),)
    points = tuple(replace(p, family="tables", parents=(), operations=40) for p in study.points)
    drawn = tuple(replace(p, tables=tables) for p in points)
    assert "Tables that read each feature" in page_html(
        sheets_of([replace(study, points=drawn)]), "T"
    )
    html = page_html(sheets_of([replace(study, points=points)]), "T")
    assert "Tables that read each feature" not in html
    assert "4 boosted tables; this study does not record" in html


@pytest.mark.no_cover
def test_failed_trials_are_named_once_per_reason() -> None:
    failed = dict.fromkeys(range(90, 95), "memory is exhausted")
    html = page_html(sheets_of([replace(studies.study(9), failed=failed)]), "T")
    assert "5 trials failed, for 1 reason<" in html
    assert html.count("memory is exhausted") == 1
    assert "trials failed" not in page_html(sheets_of([replace(studies.study(9), failed={})]), "T")


@pytest.mark.no_cover
def test_several_studies_stand_side_by_side() -> None:
    sheets = sheets_of([studies.study(12), studies.study(9, seed=1, name="b.study", targets=())])
    html = page_html(sheets, "T")
    assert html.count("<h3>b.study</h3>") >= 3


def test_without_altair_the_remedy_is_named(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setitem(sys.modules, "altair", None)
    with pytest.raises(page_data.OptionError, match=r"pip install -e '\.\[report\]'"):
        page_data.plot_spec([])
