"""What long training asks of a command: a place to be kept, an early end, a way to go on."""

import os
import sys
from pathlib import Path

from bncc.cli.console import Console
from bncc.errors import ModelFileError, OptionError
from bncc.model.file import load_model
from bncc.train.checkpoint.folder import Checkpoint, Identity, identity_digest, open_checkpoint

EXIT_SIGNAL = 128
"""What shells add to the number of the signal that ended a command."""


def checkpoint_of(folder: str | None, *, resume: bool, force: bool) -> Checkpoint | None:
    """Return where a training is to be kept, before any work is done."""
    if folder is not None:
        return open_checkpoint(folder, resume=resume, overwrite=force)
    if resume:
        raise OptionError("--resume needs the folder that training was kept in; add --checkpoint")
    return None


def is_interim_of(identity: Identity, path: str) -> bool:
    """Return whether a file is the model of a training that was ended early, and of which one."""
    if not Path(path).is_file():
        return False
    try:
        training = load_model(path).training
    except ModelFileError:
        return False
    return training.get("interim") is True and training.get("identity") == identity_digest(identity)


def tell_of_the_end(console: Console, step: str = "epoch") -> None:
    """Say on a terminal that the first Ctrl-C was heard; safe in a handler of signals."""
    if not console.quiet and sys.stderr.isatty():
        said = f"\nbncc: stopping after this {step}; press Ctrl-C again to stop at once\n"
        os.write(sys.stderr.fileno(), said.encode())


def interim_note(
    done: int, of_each: int, repeats: int, path: str, checkpoint: Checkpoint | None
) -> str:
    """Say where a training was stopped, and how it goes on."""
    how = (
        "to be able to go on, train with --checkpoint"
        if checkpoint is None
        else f"repeat the command with --resume to go on from '{checkpoint.folder}'"
    )
    epochs = f"{done} of {repeats * of_each} epochs"
    return f"stopped after {epochs} in all; '{path}' is the model so far; {how}"
