"""``bncc import-bif``: a Bayesian network and one of its variables as a model."""

from typing import Any

import click

from bncc.cli.console import Console, aligned
from bncc.cli.options import force_option, large_size, speaks
from bncc.cli.output import check_free, write_file
from bncc.fixed_point import MAX_BITS
from bncc.lower.c.c99 import counted
from bncc.model.card import class_parent_names, given_names, model_facts, structure_words
from bncc.model.file import to_bytes
from bncc.model.from_network import (
    DEFAULT_BITS,
    ENOUGH,
    MAX_TABLE_BYTES,
    MOST_DEFAULT_BITS,
    Import,
    model_of,
)
from bncc.network.bif import read_bif
from bncc.network.network import Network

LITTLE = 0.995
"""Share of sampled rows below which a note explains the different decisions."""


@click.command("import-bif")
@click.argument("network_path", metavar="NETWORK.bif[.gz]")
@click.option("--class", "class_name", required=True, metavar="VAR", help="Class variable.")
@click.option(
    "--bits",
    type=click.IntRange(1, MAX_BITS),
    metavar="B",
    help=f"Bits per cost [default: {DEFAULT_BITS}, or more, up to {MOST_DEFAULT_BITS}, until the "
    f"model agrees with the network on {100 * ENOUGH:g} % of sampled rows].",
)
@click.option(
    "--keep",
    type=click.Choice(("blanket", "all")),
    default="blanket",
    show_default=True,
    help="Variables that become features: the Markov blanket of the class, or all other variables.",
)
@click.option(
    "--max-table-bytes",
    callback=large_size,
    default=f"{MAX_TABLE_BYTES // 2**20}M",
    show_default=True,
    metavar="N[k|M]",
    help="Maximum size of all tables in the model file.",
)
@click.option("-o", "--output", required=True, metavar="MODEL.bncc", help="Output model file.")
@force_option
@speaks
def command(
    console: Console,
    network_path: str,
    class_name: str,
    bits: int | None,
    keep: str,
    max_table_bytes: int,
    output: str,
    force: bool,
) -> None:
    """
    Convert the network in NETWORK.bif to a model, with VAR as the class.

    Probabilities become costs of B bits, as in training. The binary point is chosen on sampled
    rows, for decisions that agree with the network. A probability of 0 has a cost above the largest
    sum of all others: an impossible class is never predicted while another is possible.
    """
    check_free(output, force=force, sources=[network_path])
    network = read_bif(network_path)
    made = model_of(
        network,
        network.index(class_name),
        bits,
        keep_all=keep == "all",
        max_table_bytes=max_table_bytes,
    )
    write_file(output, to_bytes(made.model), force=force)
    facts = facts_of(network, made, class_name, output)
    for note in facts["notes"]:
        console.note(note)
    console.result(facts, _report(network, made, output))


def facts_of(network: Network, made: Import, class_name: str, path: str) -> dict[str, Any]:
    """Return the JSON object of ``import-bif``."""
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
        "cost_bits": made.bits,
        "veto": model.veto,
        "zeros": made.n_zeros,
        "clipped": made.n_clipped,
        "agreement": made.agreement,
        "notes": _notes(made),
        **model_facts(model),
    }


def _notes(made: Import) -> list[str]:
    notes = []
    if made.agreement < LITTLE:
        remedy = "; use more --bits" if made.bits < MOST_DEFAULT_BITS else ""
        notes.append(
            f"the model agrees with the network on {100 * made.agreement:.1f} % of sampled rows; "
            f"on the others two classes are almost equally likely, and costs of {made.bits} bits "
            f"are rounded{remedy}"
        )
    if made.n_clipped:
        notes.append(
            f"nonzero probabilities with costs beyond the format: {made.n_clipped}; they are "
            "clipped to the smallest one that it can represent"
        )
    given = given_names(made.model)
    if given:
        notes.append(
            f"features without a distribution, as their tables would be too large: {len(given)}; "
            "the model agrees with the network only where all features are known"
        )
    return notes


def _report(network: Network, made: Import, path: str) -> str:
    model = made.model
    rows = [
        ["network", f"variables: {network.n_variables}, arcs: {network.n_arcs}"],
        ["features", f"{model.n_features}; variables removed: {made.n_removed}"],
        ["structure", structure_words(model)],
        ["numbers", _numbers(made)],
        [
            "agreement",
            f"{100 * made.agreement:.2f} % of sampled rows, compared with the network",
        ],
        ["model", path],
    ]
    return aligned(rows)


def _numbers(made: Import) -> str:
    veto = made.model.veto
    words = f"{made.model.q_format}, {counted(made.bits, 'bit')} per cost"
    return words if veto is None else f"{words}; a probability of 0 has cost {veto}"
