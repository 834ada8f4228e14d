"""
Links to files of the repository that are no pages.

On GitHub a link such as ``../CONTRIBUTING.md`` leads there. The built pages may stand anywhere, far
from the repository, so there it becomes the file's path.
"""

from pathlib import Path

from docutils import nodes
from sphinx import addnodes
from sphinx.application import Sphinx
from sphinx.transforms import SphinxTransform

ROOT = Path(__file__).resolve().parents[2]


class OutsideLinks(SphinxTransform):
    """Replaces links out of the documentation by the path in the repository."""

    default_priority = 5

    def apply(self, **kwargs: object) -> None:
        """Rewrite the page that is read."""
        page = Path(self.env.doc2path(self.env.docname)).parent
        for link in list(self.document.findall(addnodes.pending_xref)):
            # A page is named without its suffix.
            suffix = ".md" if link.get("refdomain") == "doc" else ""
            path = str(link.get("reftarget", "")).partition("#")[0]
            self._replace(link, page / f"{path}{suffix}")
        for link in list(self.document.findall(addnodes.download_reference)):
            self._replace(link, page / str(link.get("reftarget", "")))

    def _replace(self, link: nodes.Element, target: Path) -> None:
        target = target.resolve()
        inside = Path(self.env.srcdir)
        if target.exists() and target.is_relative_to(ROOT) and not target.is_relative_to(inside):
            path = target.relative_to(ROOT).as_posix() + ("/" if target.is_dir() else "")
            words = link.astext()
            link.replace_self(
                [nodes.literal(path, path)]
                if words.strip("/`") in path
                else [nodes.Text(f"{words} ("), nodes.literal(path, path), nodes.Text(")")]
            )


def setup(app: Sphinx) -> dict[str, bool]:
    """Enter the transform."""
    app.add_transform(OutsideLinks)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
