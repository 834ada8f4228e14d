"""A saved training is restored bit for bit, or is refused in one sentence."""

import json
from dataclasses import replace

import numpy as np
import pytest

from bncc.data.dataset import Column, Dataset, Table
from bncc.errors import CheckpointError, OptionError
from bncc.fixed_point import QFormat
from bncc.model import archive
from bncc.model.archive import pack, unpack, with_sums
from bncc.model.file import to_bytes
from bncc.train.checkpoint import folder as checkpoint_codec
from bncc.train.checkpoint.folder import (
    ARRAYS,
    DOCUMENT,
    FIRST,
    HALF,
    NAME,
    Checkpoint,
    Saved,
    data_digest,
    decode,
    difference,
    encode,
    identity_of,
    open_checkpoint,
)
from bncc.train.checkpoint.snapshot import TrainingState
from bncc.train.settings import TrainSettings
from bncc.train.train_model import train_model

ARRAYS_KEPT = {
    "rho": np.array([[0.1, -0.0], [np.float32(1e-45), -30.0]], dtype=np.float32),
    "n_drawn": np.array([[1, 2**32 - 1]], dtype=np.uint32),
    "n_steps": np.array([2**63], dtype=np.uint64),
    "step": np.array(3.0, dtype=np.float32),
    "average": np.array([-0.1], dtype=np.float64),
}
CHANCE = np.random.default_rng(5).bit_generator.state
AVERAGE = np.array([-0.1, -2.0]), (np.zeros((3, 2)), np.full((1, 2), -1e-300))
MOMENT = TrainingState("native", 7, QFormat(3, -1), CHANCE, ARRAYS_KEPT)
IDENTITY = {"bncc": "1", "data": "d", "lr": 0.1, "structure_options": {"order": "A"}}
NUMBERS = Table((Column("a", "integer", np.arange(40) % 7, np.zeros(40, dtype=np.bool_)),))
DATA = Dataset(NUMBERS, np.arange(40) % 2, ("no", "yes"), "class")


@pytest.fixture(scope="module")
def first():
    """Return the result of a first descent."""
    return train_model(DATA, TrainSettings(parameters="ml")).model


def test_all_comes_back_bit_for_bit(first):
    for saved in (
        Saved(IDENTITY, MOMENT, None),
        Saved(IDENTITY, replace(MOMENT, fmt=None, average=AVERAGE), first),
    ):
        found = decode(encode(saved))
        assert (found.identity, found.moment.engine, found.moment.epoch) == (IDENTITY, "native", 7)
        assert (found.moment.fmt, found.moment.chance) == (saved.moment.fmt, CHANCE)
        assert list(found.moment.arrays) == list(ARRAYS_KEPT)
        for name, array in ARRAYS_KEPT.items():
            kept = found.moment.arrays[name]
            assert (kept.tobytes(), kept.shape, kept.dtype) == (
                array.tobytes(), array.shape, array.dtype,
            )  # fmt: skip
        if saved.moment.average is None:
            assert found.moment.average is None
        else:
            prior, tables = found.moment.average
            assert all(map(np.array_equal, (prior, *tables), (AVERAGE[0], *AVERAGE[1])))
        assert (found.first is None) == (saved.first is None)
        assert found.first is None or to_bytes(found.first) == to_bytes(first)


def test_no_flipped_byte_and_no_cut_passes(first):
    content = encode(Saved(IDENTITY, MOMENT, first))
    for position in range(0, len(content), 7):
        flipped = bytearray(content)
        flipped[position] ^= 0x10
        with pytest.raises(CheckpointError):
            decode(bytes(flipped))
        with pytest.raises(CheckpointError):
            decode(content[:position])


def forged(**changes):
    """Return a checkpoint with other words but right digests."""
    entries = unpack(encode(Saved(IDENTITY, MOMENT, None)))
    entries.pop("SHA256SUMS")
    document = json.loads(entries[DOCUMENT]) | changes
    entries[DOCUMENT] = json.dumps(document).encode()
    return pack(with_sums(entries))


@pytest.mark.parametrize(
    "changes",
    [
        {"format": 2},
        {"epoch": "7"},
        {"epoch": -1},
        {"q_format": [40, 2]},
        {"q_format": [1, 2, 3]},
        {"chance": 5},
        {"identity": [1]},
        {"arrays": []},
        {"arrays": [["rho", "|O", [1]]]},
        {"arrays": [["rho", "|u1", [sum(array.nbytes for array in ARRAYS_KEPT.values())]]]},
        {"arrays": [["rho", "<f4", [2**70]]]},
        {"arrays": [["rho", "<f4", [-1]]]},
        {"arrays": [["rho", "<f4", [1]]]},
        {"arrays": [["rho", "<f4"]]},
        {"arrays": None},
    ],
    ids=str,
)
def test_a_forged_document_is_refused(changes):
    assert decode(forged()).moment.epoch == 7
    with pytest.raises(CheckpointError):
        decode(forged(**changes))


@pytest.mark.parametrize("entry", [DOCUMENT, ARRAYS])
def test_a_missing_entry_is_refused(entry):
    entries = unpack(encode(Saved(IDENTITY, MOMENT, None)))
    kept = {name: entries[name] for name in (DOCUMENT, ARRAYS) if name != entry}
    with pytest.raises(CheckpointError, match="malformed"):
        decode(pack(with_sums(kept)))


def test_a_first_model_that_is_none_is_refused():
    entries = unpack(encode(Saved(IDENTITY, MOMENT, None)))
    entries.pop("SHA256SUMS")
    with pytest.raises(CheckpointError, match="not a whole bncc model"):
        decode(pack(with_sums(entries | {FIRST: b"no model"})))


def test_a_newer_format_says_so(monkeypatch, tmp_path):
    monkeypatch.setattr(checkpoint_codec, "FORMAT", 2)
    content = encode(Saved(IDENTITY, MOMENT, None))
    monkeypatch.undo()
    (tmp_path / NAME).write_bytes(content)
    with pytest.raises(CheckpointError, match="format 2 and this bncc reads 1"):
        Checkpoint(tmp_path, resume=True).load(IDENTITY)


def test_a_folder_is_made_filled_and_emptied(tmp_path):
    place = open_checkpoint(tmp_path / "a" / "b", resume=True)
    assert place.load(IDENTITY) is None
    assert not place.folder.exists()
    for epoch in (1, 2):
        place.save(Saved(IDENTITY, replace(MOMENT, epoch=epoch), None))
        assert place.load(IDENTITY).moment.epoch == epoch
    assert Checkpoint(place.folder).load(IDENTITY) is None
    (place.folder / HALF).write_bytes(b"left by a process that was killed")
    place.save(Saved(IDENTITY, MOMENT, None))
    assert [path.name for path in place.folder.iterdir()] == [NAME]
    (place.folder / HALF).write_bytes(b"")
    place.remove()
    place.remove()
    assert list(place.folder.iterdir()) == []


def test_a_training_too_large_for_a_file_says_so(tmp_path, monkeypatch):
    monkeypatch.setattr(archive, "MAX_BYTES", 1000)
    with pytest.raises(CheckpointError, match=r"more than 1000 bytes; .* leave out --checkpoint"):
        Checkpoint(tmp_path).save(Saved(IDENTITY, MOMENT, None))
    assert list(tmp_path.iterdir()) == []


def test_a_checkpoint_is_not_lost_by_oversight(tmp_path):
    open_checkpoint(tmp_path, resume=False).save(Saved(IDENTITY, MOMENT, None))
    with pytest.raises(OptionError, match="holds the checkpoint of a training; give --resume"):
        open_checkpoint(tmp_path, resume=False)
    open_checkpoint(tmp_path, resume=True)
    open_checkpoint(tmp_path, resume=False, overwrite=True)
    with pytest.raises(OptionError, match="is not a directory"):
        open_checkpoint(tmp_path / NAME, resume=True)


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"lr": 0.2}, "lr is 0.2 here and 0.1 there"),
        ({"bncc": "2"}, "the version of bncc is 2 here and 1 there"),
        ({"data": "e"}, "the rows are others"),
        ({"structure_options": {}}, "structure options is {} here and {'order': 'A'} there"),
    ],
)
def test_another_training_is_told_by_what_differs(tmp_path, change, said):
    place = Checkpoint(tmp_path, resume=True)
    place.save(Saved(IDENTITY, MOMENT, None))
    with pytest.raises(CheckpointError, match="is of another training: ") as caught:
        place.load(IDENTITY | change)
    assert said in str(caught.value)
    assert difference(IDENTITY | change, IDENTITY) == said


def column(values, kind="integer", name="a", missing=False):
    return Column(name, kind, np.array(values), np.full(len(values), missing))


def digest(*columns, y=(0, 1), classes=("no", "yes"), class_name="class"):
    return data_digest(Dataset(Table(columns), np.array(y), classes, class_name))


def test_the_identity_is_that_of_data_and_options():
    plain = digest(column([1, 2]))
    assert plain == digest(column([1, 2]))
    others = [
        digest(column([1, 3])),
        digest(column([1.0, 2.0], "float")),
        digest(column([1, 2], "state")),
        digest(column([1, 2], name="b")),
        digest(column([1, 2], missing=True)),
        digest(column(["1", "2"], "category")),
        digest(column(["12", ""], "category")),
        digest(column([1, 2]), y=(1, 1)),
        digest(column([1, 2]), classes=("no", "maybe")),
        digest(column([1, 2]), class_name="k"),
    ]
    assert len({plain, *others}) == len(others) + 1
    same = [
        identity_of(DATA, TrainSettings(structure="tan-subset", structure_options=options))
        for options in ({"order": "A", "parents": "2"}, {"parents": "2", "order": "A"})
    ]
    assert same[0] == same[1] == json.loads(json.dumps(same[0]))
    assert identity_of(DATA, TrainSettings(seed=1)) != identity_of(DATA, TrainSettings())
