"""The program compared with each baseline, chosen without test rows, in ``peer_choices.json``."""

import json
import shlex
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

from benchmarks.peers.peer_forms import FORMS, Form, emissions, emit_command, way_of
from benchmarks.peers.peer_models import Trained
from benchmarks.peers.peers import Peer

CHOICES = Path(__file__).with_name("peer_choices.json")
MODEL = "m.bncc"
"""Model file in the commands."""


@dataclass(frozen=True)
class Chosen:
    """A program with its validation error and the commands that make it."""

    form: str  # `Form.key`
    way: str  # Options of the emission, from `way_of`
    title: str  # Description of the form in the table
    validation: float  # On validation rows, percent
    flash: int  # Bytes on a Cortex-M4 at -Os
    instructions: float  # Executed on a Cortex-M0 per decision, mean of 100 rows
    code: str  # Digest of the C
    train: str  # Command that trains its model
    emit: str  # Command that emits its C

    @property
    def key(self) -> str:
        """Key in the file."""
        return f"{self.form} {self.way}"

    @property
    def words(self) -> str:
        """Label in the table."""
        return f"{self.title}, {self.way}"


Choices = Mapping[str, Chosen | None]
"""By baseline; None where no program needs as little flash and as few instructions."""


def form_of(key: str) -> Form:
    """Return a form by its key."""
    return next(form for form in FORMS if form.key == key)


def programs_of(one: Trained, archive: str) -> list[Chosen]:
    """Return the programs of a trained form."""
    form = form_of(one.form)
    train = shlex.join(form.train_command(archive, MODEL))
    emits = {
        way_of(options): shlex.join(emit_command(options, MODEL)) for options in emissions(form)
    }
    return [
        Chosen(
            one.form, each.way, form.title, one.validation, each.flash, each.instructions,
            each.code, train, emits[each.way],
        )
        for each in one.programs
    ]  # fmt: skip


def against(peer: Peer, ours: Iterable[Chosen]) -> Chosen | None:
    """Return the program compared with a baseline: lowest validation error among those that fit."""
    fitting = [
        one for one in ours
        if one.flash <= peer.flash and one.instructions <= peer.instructions
    ]  # fmt: skip
    return min(fitting, key=lambda one: (one.validation, one.flash, one.key), default=None)


def choose(peers: Sequence[Peer], ours: Sequence[Chosen]) -> dict[str, Chosen | None]:
    """Return the program compared with each baseline of a set."""
    return {peer.model: against(peer, ours) for peer in peers}


def write_choices(path: Path, found: Mapping[str, Choices]) -> None:
    """Write the choices of sets; those of other sets in the file stay."""
    whole = json.loads(path.read_text("utf-8")) if path.exists() else {}
    for name, choices in found.items():
        programs = {one.key: asdict(one) for one in choices.values() if one is not None}
        whole[name] = {
            "choices": {peer: None if one is None else one.key for peer, one in choices.items()},
            "programs": dict(sorted(programs.items())),
        }
    path.write_text(json.dumps(whole, indent=1) + "\n", "utf-8")


def read_choices(path: Path) -> dict[str, dict[str, Chosen | None]]:
    """Return the choices by set."""
    found = {}
    for name, part in json.loads(path.read_text("utf-8")).items():
        programs = {key: Chosen(**fields) for key, fields in part["programs"].items()}
        found[name] = {
            peer: None if key is None else programs[key] for peer, key in part["choices"].items()
        }
    return found
