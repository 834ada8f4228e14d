"""The folder where a long training is kept, so that it can go on after whatever ended it."""

import os
from dataclasses import dataclass
from pathlib import Path

from bncc._types import StrPath
from bncc.errors import CheckpointError, ModelFileError, OptionError
from bncc.model.archive import MAX_BYTES
from bncc.model.atomic import write_whole
from bncc.train.checkpoint.codec import Saved, decode, encode
from bncc.train.checkpoint.fingerprint import Identity, difference

NAME = "train.checkpoint"
"""Of the file in the folder."""
HALF = f".{NAME}.tmp"
"""Of one that is being written; a process that is killed may leave it."""


@dataclass(frozen=True)
class Checkpoint:
    """Where a training is kept."""

    folder: Path  # Holds the file, and may hold others
    resume: bool = False  # Whether to go on from what is there

    @property
    def path(self) -> Path:
        """The file, whether it is there or not."""
        return self.folder / NAME

    def load(self, identity: Identity) -> Saved | None:
        """Return the training to go on with."""
        if not self.resume or not os.path.lexists(self.path):
            return None
        try:
            saved = decode(_read(self.path))
        except CheckpointError as error:
            raise CheckpointError(
                f"'{self.path}' is not a whole checkpoint ({error}); remove it or give another "
                "--checkpoint to begin anew"
            ) from error
        if saved.identity != identity:
            raise CheckpointError(
                f"'{self.path}' is of another training: {difference(identity, saved.identity)}; "
                "repeat the options it began with, or give another --checkpoint"
            )
        return saved

    def save(self, saved: Saved) -> None:
        """Keep a training; whatever happens, the file holds it or what was kept before."""
        try:
            self.folder.mkdir(parents=True, exist_ok=True)
            write_whole(self.path, encode(saved), half=HALF)
        except OSError as error:
            raise CheckpointError(
                f"cannot write '{self.path}' ({error.strerror or error}); make room or choose "
                "another place, and go on from what was kept before with --resume"
            ) from error
        except ModelFileError as error:
            raise CheckpointError(
                f"cannot write '{self.path}' ({error}), or leave out --checkpoint"
            ) from error

    def remove(self) -> None:
        """Forget a training that has ended well."""
        self.path.unlink(missing_ok=True)
        (self.folder / HALF).unlink(missing_ok=True)


def open_checkpoint(folder: StrPath, *, resume: bool, overwrite: bool = False) -> Checkpoint:
    """Return where a training is to be kept, before any work is done."""
    checkpoint = Checkpoint(Path(folder), resume)
    if checkpoint.folder.exists() and not checkpoint.folder.is_dir():
        raise OptionError(f"'{folder}' is not a directory; name one with --checkpoint")
    if os.path.lexists(checkpoint.path) and not (resume or overwrite):
        raise OptionError(
            f"'{folder}' holds the checkpoint of a training; give --resume to go on with it, "
            "--force to begin anew, or another --checkpoint"
        )
    return checkpoint


def _read(path: Path) -> bytes:
    if not path.is_file():
        raise CheckpointError("it is not a regular file")
    try:
        with path.open("rb") as file:
            content = file.read(MAX_BYTES + 1)
    except OSError as error:
        raise CheckpointError(error.strerror or "it cannot be read") from error
    if len(content) > MAX_BYTES:
        raise CheckpointError("it is too large")
    return content
