"""The networks of S4's table 1 and their files."""

from collections.abc import Mapping, Sequence
from pathlib import Path

from bncc.errors import DataError
from bncc.network.bif_reader import read_bif
from bncc.network.network import Network

FOLDER = "networks"
SUFFIXES = (".bif", ".bif.gz")
NETWORKS: Mapping[str, tuple[int, int]] = {
    "alarm": (37, 46), "andes": (223, 338), "asia": (8, 8), "child": (20, 25),
    "hailfinder": (56, 66), "hepar2": (70, 123), "insurance": (27, 52), "sachs": (11, 17),
    "water": (32, 66), "win95pts": (76, 112),
}  # fmt: skip
"""Variables and arcs by name, as in the slides."""
QUICK = ("alarm", "asia", "child", "insurance", "sachs", "win95pts")
"""Those of a quick study."""


def network_files(folder: Path, names: Sequence[str]) -> dict[str, Path]:
    """Find the files of networks."""
    place = folder / FOLDER if (folder / FOLDER).is_dir() else folder
    found = {}
    for name in names:
        paths = [place / f"{name}{suffix}" for suffix in SUFFIXES]
        present = [path for path in paths if path.is_file()]
        if not present:
            raise DataError(
                f"'{place}' holds no {name}.bif or {name}.bif.gz; name the folder of the networks "
                "with --data"
            )
        found[name] = present[0]
    return found


def read_network(name: str, path: Path) -> Network:
    """Read a network of the slides."""
    network = read_bif(path)
    found = (network.n_variables, network.n_arcs)
    if found != NETWORKS[name]:
        raise DataError(
            f"'{path}' has {found[0]} variables and {found[1]} arcs, and S4's {name} "
            f"{NETWORKS[name][0]} and {NETWORKS[name][1]}; take it from the bnlearn repository"
        )
    return network
