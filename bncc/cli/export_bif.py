"""``bncc export-bif``: a model as a Bayesian network in a BIF file."""

import click

from bncc.cli.console import Console
from bncc.cli.options import force_option, model_argument, speaks
from bncc.cli.output import check_free, write_file
from bncc.model.card import given_names
from bncc.model.file import load_model
from bncc.model.model import Model
from bncc.model.to_network import Export, network_of_model
from bncc.network.bif import bif_bytes


@click.command("export-bif")
@model_argument
@click.option("-o", "--output", required=True, metavar="NETWORK.bif[.gz]", help="Output BIF file.")
@force_option
@speaks
def command(console: Console, model_path: str, output: str, force: bool) -> None:
    """
    Export MODEL as a Bayesian network, for other tools.

    Its probabilities are those that the model's integers represent, normalized row by row. States
    are named after their labels, or after the range of readings that they represent.
    """
    check_free(output, force=force, sources=[model_path])
    model = load_model(model_path)
    made = network_of_model(model)
    content = bif_bytes(made.network, compress=output.lower().endswith(".gz"))
    write_file(output, content, force=force)
    notes = _notes(model, made)
    for note in notes:
        console.note(note)
    network = made.network
    facts = {
        "network": output,
        "class": network.names[-1],
        "variables": network.n_variables,
        "arcs": network.n_arcs,
        "notes": notes,
    }
    words = f"wrote {network.n_variables} variables and {network.n_arcs} arcs to {output}"
    console.result(facts, words)


def _notes(model: Model, made: Export) -> list[str]:
    notes = []
    if made.n_changed:
        notes.append(
            f"rows of the model's tables that were not distributions: {made.n_changed}; they "
            "were normalized, so the network's decisions may differ from the model's"
        )
    given = given_names(model)
    if given:
        notes.append(f"features without a distribution, written as uniform: {len(given)}")
    return notes
