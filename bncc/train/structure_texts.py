"""Structures and their options in words: what ``bncc structures`` prints."""

from collections.abc import Mapping
from dataclasses import dataclass, replace

from bncc.boosting.front import MOST_DIFFERING
from bncc.boosting.settings import BoostSettings
from bncc.structure.catalog import ALIASES, SUM, option_keys
from bncc.structure.dags.curriculum import STEPS
from bncc.structure.dags.dag_score import MAX_ENTRIES
from bncc.structure.dags.neighbors import LEVEL
from bncc.structure.learner import OptionText
from bncc.structure.learners import LEARNERS, etan, networks
from bncc.structure.learners.margin import STARTS, STOPS
from bncc.structure.learners.trees import SCORES as TREE_SCORES
from bncc.structure.margin_scores.held_out import DEFAULT_FOLDS
from bncc.structure.margin_scores.score import KINDS
from bncc.structure.margin_scores.search import LAMBDAS
from bncc.structure.options import (
    DEFAULT_ALPHA,
    DEFAULT_PARENTS,
    DEFAULT_STEP,
    NO_ORDER,
    ORDERS,
    PRICES,
)
from bncc.train.sum_settings import DEFAULT_CUTS


@dataclass(frozen=True)
class StructureText:
    """One structure."""

    text: str
    options: Mapping[str, OptionText]
    aliases: tuple[str, ...]


_TEXTS = {
    "naive": "Naive Bayes: the class is the only parent of every feature.",
    "chow-liu": "Chow-Liu TAN: maximum spanning tree of conditional mutual information.",
    "forest": "TAN forest: maximum spanning forest of BDeu gains.",
    "random": "TAN with a random earlier feature as parent.",
    "tan-subset": "TAN trained by gradient descent; candidate parents: a random subset.",
    "tan-all": "TAN trained by gradient descent; candidate parents: all earlier features.",
    "tan-heuristic": "TAN trained by gradient descent; candidate parents: nearby pixels of an "
    "image.",
    "hill-climb": "TAN by hill climbing on a discriminative score.",
    "anneal": "TAN by simulated annealing on a discriminative score.",
    "etan": "Extended TAN: maximum branching of BDeu or BIC; features may lack the class parent.",
    "s-etan": "Simplified extended TAN: a feature parent requires the class as a parent.",
    "a-etan": "Extended TAN with the equivalent sample size of highest BDeu.",
    "sa-etan": "Simplified extended TAN with the equivalent sample size of highest BDeu.",
    "network-hill-climb": "Bayesian network by hill climbing; the class may have parents.",
    "tabu": "Bayesian network by tabu search; the class may have parents.",
    "mmhc": "Bayesian network by max-min hill climbing; the class may have parents.",
    "curriculum": "Bayesian network by curriculum learning; the class may have parents.",
    SUM: "Boosted tables: an additive ensemble of small decision tables, trained by gradient "
    "boosting.",
}

_BOOSTING = BoostSettings()
_OPTIONS = {
    "alpha": OptionText("N", f"{DEFAULT_ALPHA:g}", "Equivalent sample size of the BDeu prior."),
    "alphas": OptionText(
        "N,...",
        ",".join(f"{alpha:g}" for alpha in etan.DEFAULT_ALPHAS),
        "Equivalent sample sizes to choose from.",
    ),
    "order": OptionText(
        "|".join((*ORDERS, NO_ORDER)),
        ORDERS[0],
        "Feature order, parents first; A to C: images.",
    ),
    "width": OptionText(
        "N", "square image", "Image width in pixels, for A, B, C.", is_literal=False
    ),
    "parents": OptionText("N", str(DEFAULT_PARENTS), "Candidate parents per feature."),
    "price": OptionText("|".join(PRICES), PRICES[0], "Unit that --size-weight applies to."),
    "step": OptionText("R", f"{DEFAULT_STEP:g}", "Learning rate of the structure weights."),
    "widths": OptionText(
        "B,...", "--bits", "Bit widths to choose from for each table.", is_literal=False
    ),
    "score": OptionText("|".join(etan.SCORES), etan.SCORES[0], "Score that is maximized."),
    "lambda": OptionText(
        "L",
        f"best of {', '.join(f'{each:g}' for each in LAMBDAS)}",
        "Scale of the log margin in score=mm.",
        is_literal=False,
    ),
    "folds": OptionText("N", str(DEFAULT_FOLDS), "Cross-validation folds of the score."),
    "stop": OptionText("|".join(STOPS), STOPS[0], "Stop at a full tree, or at the best score."),
    "cooling": OptionText("R", "0.8", "Cooling factor of the temperature."),
    "scale": OptionText(
        "S", "by score", "Initial temperature, in units of the score.", is_literal=False
    ),
    "runs": OptionText("N", "1", "Number of annealing runs; the best tree is kept."),
    "start": OptionText("|".join(STARTS), STARTS[0], "Initial tree."),
    "max-parents": OptionText("N", str(networks.DEFAULT_PARENTS), "Maximum parents per variable."),
    "max-entries": OptionText("N", str(MAX_ENTRIES), "Maximum entries of a variable's table."),
    "candidates": OptionText(
        "|".join(networks.CANDIDATES),
        networks.CANDIDATES[0],
        "Arcs to consider: all, or those admitted by MMPC.",
    ),
    "level": OptionText("P", f"{LEVEL:g}", "Significance level of MMPC's independence tests."),
    "tables": OptionText("N", str(_BOOSTING.n_tables), "Maximum number of tables."),
    "rows": OptionText("N", str(_BOOSTING.rows), "Maximum number of rows per table."),
    "features": OptionText("N", str(_BOOSTING.features), "Maximum number of features per table."),
    "inputs": OptionText(
        "N",
        str(_BOOSTING.n_inputs),
        "Maximum number of features over all tables, by recursive elimination; 0: all.",
    ),
    "leaves": OptionText(
        "N",
        str(_BOOSTING.leaves),
        "Maximum number of leaves per table, which a tree addresses; 0: rows by cuts.",
    ),
    "depth": OptionText(
        "N", str(_BOOSTING.depth), "Maximum depth of such a tree; 0: log2(leaves) + 2."
    ),
    "front": OptionText(
        "N",
        str(_BOOSTING.front),
        "Maximum leaves, 2 to 256, of a tree that answers the sure rows first; 0: none.",
    ),
    "front-differing": OptionText(
        "R",
        f"{MOST_DIFFERING:g}",
        "With a front: maximum share of decisions it changes, cross-validated.",
    ),
    "gate": OptionText(
        "N",
        str(_BOOSTING.gate),
        "Tables that decide alone where their margin is large, such as a third; 0: none.",
    ),
    "gate-differing": OptionText(
        "R",
        f"{MOST_DIFFERING:g}",
        "With a gate: maximum share of decisions it changes, cross-validated.",
    ),
    "cuts": OptionText("N", str(DEFAULT_CUTS), "Maximum number of candidate cuts per column."),
    "cut-bits": OptionText(
        "0|8|16",
        "0",
        "Cuts that the highest bits decide: 8, of integers; 16, of floats too; 0: all cuts.",
    ),
    "differences": OptionText(
        "N", "0", "Maximum number of differences of two integer columns to cut as well."
    ),
    "dictionary": OptionText(
        "N",
        str(_BOOSTING.dictionary),
        "Maximum number of distinct rows over all tables; 0 for no limit.",
    ),
    "rate": OptionText("R", "by tables", "Learning rate of boosting.", is_literal=False),
    "decay": OptionText("R", f"{_BOOSTING.weight_decay:g}", "Weight decay of the joint refit."),
    "shift": OptionText(
        "HxW",
        "none",
        "Image height and width; adds training rows shifted by one pixel.",
        is_literal=False,
    ),
}
_NETWORKS = ("network-hill-climb", "tabu", "mmhc", "curriculum")
_OF = {
    ("chow-liu", "score"): OptionText(
        "|".join(TREE_SCORES), TREE_SCORES[0], "Arc weights: mutual information or BDeu gains."
    ),
    ("random", "order"): replace(
        _OPTIONS["order"],
        values="|".join(ORDERS),
    ),
    ("tan-heuristic", "order"): replace(_OPTIONS["order"], default="C"),
    **{
        (name, "score"): OptionText(
            "|".join(KINDS),
            KINDS[0],
            "Held-out margin, accuracy or conditional likelihood.",
        )
        for name in ("hill-climb", "anneal")
    },
    **{
        (name, "alpha"): replace(_OPTIONS["alpha"], default=f"{networks.DEFAULT_ALPHA:g}")
        for name in _NETWORKS
    },
    ("curriculum", "step"): OptionText(
        "|".join((networks.BEST, *map(str, STEPS))),
        networks.BEST,
        "Variables added per stage; 0 for a single stage.",
    ),
}


def structure_text(name: str) -> StructureText:
    """Return a structure and its options in words."""
    learner = LEARNERS.get(name)
    text = _TEXTS.get(name) or (learner and learner.text)
    if not text:
        raise RuntimeError(f"structure '{name}' has no help text; add text to its Learner")
    own = learner.option_texts if learner else {}
    aliases = tuple(alias for alias, other in ALIASES.items() if other == name)
    return StructureText(
        text, {key: _option_text(name, key, own) for key in option_keys(name)}, aliases
    )


def _option_text(name: str, key: str, own: Mapping[str, OptionText]) -> OptionText:
    """Return the help of a structure option: the learner's own, else a common one."""
    found = own.get(key) or _OF.get((name, key)) or _OPTIONS.get(key)
    if found is None:
        raise RuntimeError(
            f"option '{key}' of structure '{name}' has no help text; add it to option_texts of "
            "its Learner"
        )
    return found
