"""What is put around the two C files for each build system."""

from collections.abc import Mapping

from bncc.emit.environment import render
from bncc.errors import OptionError

PACKAGES = ("plain",)


def package_files(package: str, context: Mapping[str, object]) -> dict[str, str]:
    """Return the files of a package beside the C.

    Parameters
    ----------
    package : str
        One of `PACKAGES`.
    context : mapping
        The names that templates use.

    Returns
    -------
    dict of str to str
        Text by file name.

    Raises
    ------
    OptionError
        If the package is unknown.
    """
    if package not in PACKAGES:
        raise OptionError(f"there is no package '{package}'; there are {', '.join(PACKAGES)}")
    return {"README.md": render("packages/plain/README.md.j2", **context)}
