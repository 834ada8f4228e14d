"""
False certificates: how many of them the checker rejects.

    python -m benchmarks.campaigns.false_certificates -o certificates -n 1000

Models are trained on bundled data, and their programs are proved with a certificate each. Then one
claim of a certificate at a time is made false: a digest, a bound, a value of a state for inputs
that reach it, the inputs of a state, a fact, a comparison, a step. ``--bits`` changes single bits
of programs instead, with the right digest: what the checker accepts is replayed.
"""

import gzip
import json
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from copy import deepcopy
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path
from random import Random
from typing import Any

import click

from bncc.checker.check import check
from bncc.checker.model import Program
from bncc.checker.values import RejectedError
from bncc.cli.main import main as bncc
from bncc.model.file import load_model
from bncc.prove.build import image_of
from bncc.prove.prove import prove
from bncc.targets import find_target

DATA = Path(__file__).resolve().parents[2] / "bncc" / "data" / "bundled"
SETS = ("wifi_localization",)
PROGRAMS = (
    ("cortex-m0", "trusted"), ("cortex-m0", "predict"), ("cortex-m0", "predict-raw"),
    ("cortex-m0", "scores"), ("rv32", "predict-raw"), ("cortex-m4", "predict"),
)  # fmt: skip
WORD = 1 << 32
OTHER_ENTRIES = {
    "predict-raw": "predict", "predict": "predict-raw", "trusted": "predict", "scores": "predict",
}  # fmt: skip
"""By entry point one that its function is not; `predict` also is a right `trusted`."""

Document = dict[str, Any]


@dataclass(frozen=True)
class Evidence:
    """A certificate with the program and the model that it is about."""

    document: Document
    elf: bytes
    model: bytes

    @classmethod
    def of(cls, path: Path, model: Path) -> "Evidence":
        """Read what ``bncc prove -o`` has written."""
        document = json.loads(gzip.decompress(path.read_bytes()))
        return cls(document, Path(f"{path}.elf").read_bytes(), model.read_bytes())

    def why(self, document: Document, elf: bytes | None = None) -> str | None:
        """Return why the checker rejects a certificate; None if it accepts it."""
        try:
            check(document, elf or self.elf, self.model)
        except (RejectedError, KeyError, IndexError, ValueError, TypeError) as error:
            return f"{type(error).__name__}: {error}"
        return None


class NoClaimError(Exception):
    """A certificate has no claim of some kind."""


Change = Callable[[Document, Random, Evidence], None]


def chosen(rng: Random, items: Sequence[Any]) -> Any:
    """Return one of some items at random."""
    if not items:
        raise NoClaimError
    return rng.choice(list(items))


def _digest(document: Document, rng: Random, evidence: Evidence) -> None:
    name = rng.choice(("elf", "model"))
    k = rng.randrange(64)
    other = rng.choice([c for c in "0123456789abcdef" if c != document[name][k]])
    document[name] = document[name][:k] + other + document[name][k + 1 :]


def _instructions(document: Document, rng: Random, evidence: Evidence) -> None:
    document["instructions"] = rng.randrange(min(10, document["instructions"]))


def _stack(document: Document, rng: Random, evidence: Evidence) -> None:
    document["stack"] = chosen(rng, range(0, document["stack"], 4))


def _work(document: Document, rng: Random, evidence: Evidence) -> None:
    """Claim more or less work than the check takes, or more than any check may take."""
    document["work"] += rng.choice((-1, 1, rng.randrange(2, 1000), 1 << 40))


def _entry(document: Document, rng: Random, evidence: Evidence) -> None:
    document["entry"] = OTHER_ENTRIES[document["entry"]]


def _target(document: Document, rng: Random, evidence: Evidence) -> None:
    document["target"] = "cortex-m0" if document["target"] == "rv32" else "rv32"


def _symbol(document: Document, rng: Random, evidence: Evidence) -> None:
    symbols = Program(evidence.elf).symbols
    own = symbols[document["symbol"]]
    # What an entry point calls may decide alike: that would be no false claim.
    alike = ("predict", "decide", "scores")
    others = [
        name
        for name, at in sorted(symbols.items())
        if at != own and not any(word in name for word in alike)
    ]
    document["symbol"] = chosen(rng, others)


def _states(document: Document) -> list[Document]:
    return [state for state in document["states"] if state.get("region")]


def _uses(state: Document) -> list[tuple[Any, Any]]:
    """Return where a state names a value."""
    found: list[tuple[Any, Any]] = [(state["registers"], name) for name in state["registers"]]
    return found + [(cell, 3) for cell in state["memory"]]


def _other(number: int, rng: Random) -> int:
    """Return a word whose lowest byte is another one, as only that may be claimed."""
    return (number + (rng.randrange(WORD) & ~255 | rng.randrange(1, 256))) % WORD


def _constant(document: Document, rng: Random, evidence: Evidence) -> None:
    where, key = chosen(rng, _uses(chosen(rng, _states(document))))
    const, base, terms = document["values"][where[key]]
    document["values"].append([_other(const, rng), base, terms])
    where[key] = len(document["values"]) - 1


def _base(document: Document, rng: Random, evidence: Evidence) -> None:
    where, key = chosen(rng, _uses(chosen(rng, _states(document))))
    const, base, terms = document["values"][where[key]]
    bases = {None, "stack", "input", "return", "initial r7", "initial s1"} - {base}
    other = chosen(rng, sorted(bases, key=str))
    document["values"].append([const, other, terms])
    where[key] = len(document["values"]) - 1


def _maps(document: Document) -> list[tuple[int, list[int]]]:
    """Return the levels by point in the order of their numbers, with their inputs."""
    return [(axis, levels) for axis, own in enumerate(document["maps"]) for levels in own]


def _inside(document: Document, box: Sequence[int], axis: int) -> list[int]:
    """Return the intervals of an input in a box."""
    mask = _maps(document)[box[axis]][1][::2]
    if document["entry"] == "trusted" and all(mask):
        raise NoClaimError  # Which states are in range is not in the certificate
    return [k for k, is_inside in enumerate(mask) if is_inside]


def _cell(document: Document, rng: Random, evidence: Evidence) -> None:
    """Change a value for some inputs that reach a state."""
    # Facts may exclude the inputs of a cell.
    state = chosen(rng, [one for one in _states(document) if not one["facts"]])
    where, key = chosen(rng, [(w, k) for w, k in _uses(state) if document["values"][w[k]][2]])
    const, base, terms = document["values"][where[key]]
    k = rng.randrange(len(terms))
    maps, numbers = deepcopy(document["terms"][terms[k]])
    box = chosen(rng, state["region"])
    place = 0
    for axis, levels in (_maps(document)[of] for of in maps):
        interval = chosen(rng, _inside(document, box, axis))
        place = place * (1 + max(levels)) + levels[2 * interval + rng.randrange(2)]
    numbers[place] = _other(numbers[place], rng)
    document["terms"].append([maps, numbers])
    document["values"].append([const, base, [*terms]])
    document["values"][-1][2][k] = len(document["terms"]) - 1
    where[key] = len(document["values"]) - 1


def _region(document: Document, rng: Random, evidence: Evidence) -> None:
    """Leave out inputs that reach a state."""
    state = chosen(rng, [one for one in _states(document) if not one["facts"]])
    box = chosen(rng, state["region"])
    axis = rng.randrange(len(document["axes"]))
    out = chosen(rng, _inside(document, box, axis))
    number = box[axis]
    _, mask = _maps(document)[number]
    # Its number is the next one, and those of others are larger by one.
    place = number - sum(len(own) for own in document["maps"][:axis])
    document["maps"][axis].insert(place + 1, [*mask[: 2 * out], 0, 0, *mask[2 * out + 2 :]])
    boxes = [one for some in _states(document) for one in some["region"]]
    for numbers in boxes + [maps for maps, _ in document["terms"]]:
        numbers[:] = [k + (k > number) for k in numbers]
    box[axis] = number + 1


def _fact(document: Document, rng: Random, evidence: Evidence) -> None:
    """Reverse an order of costs."""
    state = chosen(rng, [one for one in _states(document) if one["facts"]])
    k = rng.randrange(len(state["facts"]))
    a, b, least = state["facts"][k]
    state["facts"][k] = [b, a, 1 - least]


def _orders(document: Document, rng: Random) -> list[Any]:
    """Return the only pair of classes that a comparison is about."""
    some = [orders for one in document["states"] for orders in one["orders"].values()]
    (order,) = chosen(rng, [orders for orders in some if len(orders) == 1])
    return order  # type: ignore[no-any-return]


def _comparison(document: Document, rng: Random, evidence: Evidence) -> None:
    """Let a comparison be about other classes."""
    order = _orders(document, rng)
    order[:2] = order[1::-1]


def _scale(document: Document, rng: Random, evidence: Evidence) -> None:
    """Let a comparison be about another margin, multiple or rest, or about other bits."""
    order = _orders(document, rng)
    order[rng.choice((2, 3, 4, 5))] += rng.randrange(1, 8)


def _gate(document: Document, rng: Random, evidence: Evidence) -> None:
    """Claim that the tables before a gate decide, or that they do not."""
    known = [one["gate"] for one in _states(document)]
    if not (1 in known and -1 in known):
        raise NoClaimError
    one = chosen(rng, [one for one in _states(document) if one["gate"]])
    one["gate"] = -one["gate"]


def _steps(document: Document, rng: Random, evidence: Evidence) -> None:
    state = chosen(rng, _states(document))
    state["steps"] = rng.randrange(state["steps"])


def _depth(document: Document, rng: Random, evidence: Evidence) -> None:
    state = chosen(rng, [one for one in _states(document) if one["deepest"] < 0])
    state["deepest"] = rng.randrange(state["deepest"] + 1, 1)


def _place(document: Document, rng: Random, evidence: Evidence) -> None:
    state = chosen(rng, _states(document))
    state["at"] += rng.choice((-4, -2, 2, 4))


def _next(document: Document, rng: Random, evidence: Evidence) -> None:
    """Let a path lead to a state elsewhere, or to the same one later, or to another one too."""
    state = chosen(rng, [one for one in document["states"] if len(one["next"]) == 1])
    ((n, k),) = state["next"]
    own = document["states"][k]["at"]
    others = [j for j, one in enumerate(document["states"]) if one.get("at") != own]
    one = chosen(rng, others)
    state["next"] = rng.choice(([[n, one]], [[n + 1, k]], [[n, k], [n + 1, one]]))


def _memory(document: Document, rng: Random, evidence: Evidence) -> None:
    """Claim a cell of the stack that was not written."""
    state = chosen(rng, _states(document))
    base, at, size, k = chosen(rng, state["memory"])
    state["memory"].append([base, at - rng.choice((256, 512)), size, k])


def _axes(document: Document, rng: Random, evidence: Evidence) -> None:
    """Let intervals leave out numbers, or share them."""
    starts = chosen(rng, [one for one in document["axes"] if len(one) > 1])
    k = rng.randrange(len(starts))
    starts[k] = 1 if k == 0 else starts[k - 1] - rng.randrange(1 + (k > 1))


def _format(document: Document, rng: Random, evidence: Evidence) -> None:
    document["format"] += rng.choice((-1, 1))


def _score_bytes(document: Document, rng: Random, evidence: Evidence) -> None:
    document["score_bytes"] = rng.choice([n for n in (0, 1, 2, 4) if n != document["score_bytes"]])


CHANGES: dict[str, Change] = {
    "digest": _digest, "instructions": _instructions, "stack": _stack, "entry": _entry,
    "target": _target, "symbol": _symbol, "constant": _constant, "base": _base, "cell": _cell,
    "region": _region, "fact": _fact, "comparison": _comparison, "steps": _steps,
    "depth": _depth, "place": _place, "next": _next, "memory": _memory, "scale": _scale,
    "axes": _axes, "format": _format, "score-bytes": _score_bytes, "work": _work,
    "gate": _gate,
}  # fmt: skip
"""Kinds of changes, each of which makes a claim false."""


def false_certificates(evidence: Evidence, rng: Random) -> Iterator[tuple[str, Document]]:
    """Yield certificates with one false claim and its kind, without end."""
    while True:
        kind = rng.choice(sorted(CHANGES))
        document = deepcopy(evidence.document)
        try:
            CHANGES[kind](document, rng, evidence)
        except NoClaimError:
            continue
        yield kind, document


def changed_programs(evidence: Evidence, rng: Random) -> Iterator[tuple[int, bytes, Document]]:
    """Yield programs with one changed bit of code or constants, and certificates about them."""
    program = Program(evidence.elf)
    start = program.symbols[evidence.document["symbol"]]
    (code,) = (data for at, data in program.sections if at <= start < at + len(data))
    offset = evidence.elf.index(code)
    first = offset + start - next(at for at, data in program.sections if data is code)
    end = min((at for at in program.symbols.values() if at > start), default=start + 400)
    while True:
        # The function itself, or anything in its section, constants among them.
        own = range(first, min(first + end - start, offset + len(code)))
        at = rng.choice(own if rng.random() < 0.8 else range(offset, offset + len(code)))
        elf = bytearray(evidence.elf)
        elf[at] ^= 1 << rng.randrange(8)
        yield at, bytes(elf), evidence.document | {"elf": sha256(elf).hexdigest()}


def run(*arguments: str) -> None:
    """Run a command of bncc, which must succeed."""
    try:
        bncc([*arguments, "--quiet"])
    except SystemExit as end:
        if end.code:
            raise


def evidence_of(folder: Path) -> Iterator[tuple[str, Evidence]]:
    """Yield certificates of trained models, made where they are missing."""
    folder.mkdir(exist_ok=True)
    for name in SETS:
        model = folder / f"{name}.bncc"
        if not model.exists():
            learned = ("--structure", "naive", "--parameters", "ml")
            run("train", str(DATA / f"{name}.csv.gz"), "-o", str(model), *learned)
        for target, entry in PROGRAMS:
            yield f"{name} {target} {entry}", proved(model, target, entry)


def proved(model: Path, target: str, entry: str, optimize: str = "size") -> Evidence:
    """Return the certificate of a model's program, made if it is missing."""
    path = model.with_name(f"{model.stem}.{target}.{entry}.{optimize}")
    if not path.exists():
        asked = ("--target", target, "--entry", entry, "--optimize", optimize)
        run("prove", str(model), *asked, "-o", str(path))
    return Evidence.of(path, model)


def is_right(evidence: Evidence, elf: bytes, folder: Path) -> bool:
    """Return whether `bncc prove` finds no input for which a program is wrong."""
    path = folder / "changed.elf"
    path.write_bytes(elf)
    model = folder / "changed.bncc"
    model.write_bytes(evidence.model)
    document = evidence.document
    code = image_of(path, find_target(document["target"]), document["symbol"])
    found = prove(
        load_model(model), code, document["symbol"], document["entry"],
        score_size=document["score_bytes"] or 1, time_limit=60,
    )  # fmt: skip
    return found.status != "refuted"


@click.command(help=__doc__)
@click.option("-o", "--output", type=click.Path(path_type=Path), default=Path("certificates"))
@click.option("-n", "n_all", default=1000, help="Number of false certificates.")
@click.option("--seed", default=0)
@click.option("--bits", is_flag=True, help="Change bits of programs instead of claims.")
def main(output: Path, n_all: int, seed: int, bits: bool) -> None:
    """Count the false certificates that the checker rejects."""
    rng = Random(seed)
    every = list(evidence_of(output))
    for name, evidence in every:
        why = evidence.why(evidence.document)
        if why is not None:
            raise click.ClickException(f"{name} is rejected: {why}")
    made, rejected = Counter[str](), Counter[str]()
    for k in range(n_all):
        name, evidence = every[k % len(every)]
        if bits:
            at, elf, document = next(changed_programs(evidence, rng))
            if evidence.why(document, elf) is None:
                harmless = is_right(evidence, elf, output)
                made["harmless" if harmless else "WRONG"] += 1
                click.echo(f"accepted: {name}, byte {at}; harmless: {harmless}")
            else:
                made["rejected"] += 1
            continue
        kind, document = next(false_certificates(evidence, rng))
        made[kind] += 1
        if evidence.why(document) is None:
            click.echo(f"accepted: {name}, a false {kind} (number {k})")
        else:
            rejected[kind] += 1
        if (k + 1) % 100 == 0:
            click.echo(f"{rejected.total()} of {k + 1} are rejected so far")
    for kind in sorted(made):
        click.echo(f"{kind}: {made[kind]}" if bits else f"{kind}: {rejected[kind]}/{made[kind]}")
    if not bits:
        click.echo(f"{rejected.total()} of {n_all} false certificates are rejected")


if __name__ == "__main__":
    main()
