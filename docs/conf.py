"""Configuration of Sphinx, for `make docs`."""

import sys
from pathlib import Path

DOCS = Path(__file__).parent
sys.path[:0] = [str(DOCS / "_extensions"), str(DOCS.parent)]

import bncc  # noqa: E402

project = "bncc"
version = release = bncc.__version__
author = "the authors of bncc"

extensions = [
    "myst_parser",
    "numpydoc",
    "outside",
    "sphinx.ext.autodoc",
    "sphinx_click",
    "stars",
]
exclude_patterns = ["_build"]
nitpicky = True
default_role = "code"

myst_heading_anchors = 4
myst_enable_extensions = ["colon_fence", "deflist"]
suppress_warnings = ["misc.highlighting_failure"]

# Docstrings describe types in words.
autodoc_typehints = "none"
autodoc_member_order = "bysource"
numpydoc_show_class_members = False

html_theme = "furo"
html_title = f"bncc {release}"
html_copy_source = False
html_show_sphinx = False
html_show_copyright = False
html_static_path: list[str] = []
html_theme_options = {
    "light_css_variables": {"color-brand-primary": "#1b5e83", "color-brand-content": "#1b5e83"},
    "dark_css_variables": {"color-brand-primary": "#7fbfe3", "color-brand-content": "#7fbfe3"},
}
