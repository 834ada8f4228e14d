"""``bncc import-bif``: a Bayesian network and one of its variables as a model."""

from typing import Any

import click

from bncc.cli.console import Console, aligned
from bncc.cli.options import force_option, speaks
from bncc.cli.output import check_free, write_file
from bncc.fixed_point import MAX_BITS
from bncc.model.card import class_parent_names, given_names, model_facts, structure_words
from bncc.model.file import to_bytes
from bncc.model.from_network import DEFAULT_BITS, Import, model_of
from bncc.network.bif_reader import read_bif
from bncc.network.network import Network


@click.command("import-bif")
@click.argument("network_path", metavar="NETWORK.bif[.gz]")
@click.option("--class", "class_name", required=True, metavar="VAR", help="The class variable.")
@click.option(
    "--bits",
    type=click.IntRange(1, MAX_BITS),
    default=DEFAULT_BITS,
    show_default=True,
    metavar="B",
    help="Bits of a cost.",
)
@click.option(
    "--keep",
    type=click.Choice(("blanket", "all")),
    default="blanket",
    show_default=True,
    help="Variables that become features: those that tell of the class where all are known, or all "
    "but the class.",
)
@click.option("-o", "--output", required=True, metavar="MODEL.bncc", help="The model file.")
@force_option
@speaks
def command(
    console: Console,
    network_path: str,
    class_name: str,
    bits: int,
    keep: str,
    output: str,
    force: bool,
) -> None:
    """Make a model of the network in NETWORK.bif, with VAR as the class.

    Probabilities become costs of B bits, as in training. The binary point is placed so that the
    least probability above 0 still fits; a probability of 0 has the largest cost.
    """
    check_free(output, force=force, sources=[network_path])
    network = read_bif(network_path)
    made = model_of(network, network.index(class_name), bits, keep_all=keep == "all")
    write_file(output, to_bytes(made.model), force=force)
    facts = facts_of(network, made, class_name, output)
    for note in facts["notes"]:
        console.note(note)
    console.result(facts, _report(network, made, output))


def facts_of(network: Network, made: Import, class_name: str, path: str) -> dict[str, Any]:
    """Return the JSON object of ``import-bif``.

    Parameters
    ----------
    network : Network
        What was read.
    made : Import
        What was made of it.
    class_name : str
        The class.
    path : str
        The model file.

    Returns
    -------
    dict
        ``model``, ``class``, ``variables``, ``arcs`` and ``removed`` (numbers), ``features``,
        ``class_parents`` and ``given`` (names), ``notes``, and the fields of a model.
    """
    model = made.model
    return {
        "model": path,
        "class": class_name,
        "variables": network.n_variables,
        "arcs": network.n_arcs,
        "removed": made.n_removed,
        "features": [feature.name for feature in model.features],
        "class_parents": class_parent_names(model),
        "given": given_names(model),
        "notes": _notes(made),
        **model_facts(model),
    }


def _notes(made: Import) -> list[str]:
    notes = []
    if made.n_clipped:
        notes.append(
            f"numbers below the least probability of a cost, 0 among them: {made.n_clipped}; they "
            "count as the least"
        )
    given = given_names(made.model)
    if given:
        notes.append(
            f"features without a distribution, as its table would be too large: {len(given)}; "
            "decisions are the network's where all features are known, and there alone"
        )
    return notes


def _report(network: Network, made: Import, path: str) -> str:
    model = made.model
    rows = [
        ["network", f"variables: {network.n_variables}, arcs: {network.n_arcs}"],
        ["features", f"{model.n_features}; variables removed: {made.n_removed}"],
        ["structure", structure_words(model)],
        ["numbers", str(model.q_format)],
        ["model", path],
    ]
    return aligned(rows)
