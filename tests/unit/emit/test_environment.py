"""Templates: found in a checkout and in a wheel, strict about names, clean at line ends."""

import pytest
from jinja2 import DictLoader, UndefinedError

from bncc.emit import environment as module
from bncc.emit.environment import environment, render, template_folder


def test_a_checkout_has_its_templates_beside_the_package():
    assert (template_folder() / "emit/model.c.j2").is_file()


def test_an_installed_package_has_its_templates_inside(tmp_path, monkeypatch):
    installed = tmp_path / "bncc" / "_templates"
    installed.mkdir(parents=True)
    monkeypatch.setattr(module, "__file__", str(tmp_path / "bncc" / "emit" / "environment.py"))
    assert template_folder() == installed


@pytest.fixture
def template(monkeypatch):
    """Return ``template(text)``, which makes the text the template ``t``."""

    def make(text):
        monkeypatch.setattr(environment(), "loader", DictLoader({"t": text}))
        monkeypatch.setattr(environment(), "cache", None)

    return make


def test_blanks_at_line_ends_go_and_the_last_newline_stays(template):
    template("a {{ x }} \n b\t\n")
    assert render("t", x="") == "a\n b\n"


def test_a_missing_name_is_an_error(template):
    template("{{ forgotten }}")
    with pytest.raises(UndefinedError, match="forgotten"):
        render("t")


def test_nothing_is_escaped_as_html(template):
    template("{{ x }}")
    assert render("t", x="<&>\"'") == "<&>\"'"


def test_a_template_must_be_given_all_its_names():
    """The environment is made once more: another test may have made the cached one."""
    with pytest.raises(UndefinedError):
        environment.__wrapped__().from_string("{{ nothing }}").render()
