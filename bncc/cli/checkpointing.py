"""Checkpoints, early end and resumption of long training."""

import os
import sys
from pathlib import Path

from bncc.cli.console import Console
from bncc.errors import ModelFileError, OptionError
from bncc.model.file import load_model
from bncc.model.training_record import in_all_words
from bncc.train.checkpoint.folder import Checkpoint, Identity, identity_digest, open_checkpoint

EXIT_SIGNAL = 128
"""Offset that shells add to the number of the signal that ended a command."""


def checkpoint_of(folder: str | None, *, resume: bool, force: bool) -> Checkpoint | None:
    """Return the checkpoint of a training run, before any work is done."""
    if folder is not None:
        return open_checkpoint(folder, resume=resume, overwrite=force)
    if resume:
        raise OptionError("--resume needs a checkpoint folder; add --checkpoint")
    return None


def is_interim_of(identity: Identity, path: str) -> bool:
    """Return whether a file is the model of this training run, which was stopped early."""
    if not Path(path).is_file():
        return False
    try:
        training = load_model(path).training
    except ModelFileError:
        return False
    return training.get("interim") is True and training.get("identity") == identity_digest(identity)


def tell_of_the_end(console: Console, step: str = "epoch") -> None:
    """Confirm the first Ctrl-C on a terminal; safe in a signal handler."""
    if not console.quiet and sys.stderr.isatty():
        said = f"\nbncc: stopping after this {step}; press Ctrl-C again to stop at once\n"
        os.write(sys.stderr.fileno(), said.encode())


def interim_note(
    done: int, of_each: int, repeats: int, path: str, checkpoint: Checkpoint | None
) -> str:
    """Return the note on where a training was stopped and how to resume it."""
    how = (
        "use --checkpoint to make training resumable"
        if checkpoint is None
        else f"repeat the command with --resume to continue from '{checkpoint.folder}'"
    )
    which = f", of the first of {repeats} trainings" if repeats > 1 else ""
    when = f"{in_all_words(done, of_each)}{which}"
    return f"stopped {when}; '{path}' is the interim model; {how}"
