"""A front end in a model: its columns are the inputs, and the file defines every integer."""

import json
from dataclasses import replace
from fractions import Fraction

import pytest

from bncc.discretize.feature import Feature
from bncc.errors import ModelError, ModelFileError
from bncc.model.archive import pack, unpack, with_sums
from bncc.model.card import model_facts
from bncc.model.file import DOCUMENT, encode, from_bytes, model_digest, to_bytes
from bncc.model.model import Model, check_model
from bncc.recordings.front_end import FrontEnd, columns_of_names
from bncc.recordings.recording import SampleFormat
from bncc.recordings.windows import Windows
from tests import models as hand

NAMES = ("x.sum", "x-y.range", "jerk(x,y).haar2", "y.crossings(5)", "x.above(-3)")


def with_inputs(model: Model, names: tuple[str, ...]) -> Model:
    """Return a model whose inputs are integers with some names."""
    inputs = [
        Feature(name, "int16", feature.n_states, tuple(range(feature.n_states - 1)))
        for name, feature in zip(names, model.features, strict=False)
    ]
    return replace(model, features=(*inputs, *model.features[len(inputs) :]))


def front_end(names: tuple[str, ...], rate: Fraction | None = Fraction(50)) -> FrontEnd:
    """Return a front end of some columns."""
    channels = ("x", "y")
    columns = columns_of_names(names, channels)
    return FrontEnd(SampleFormat(-2048, 2047), channels, Windows(8, 4), columns, rate)


def model_of(rate: Fraction | None = Fraction(50)) -> Model:
    """Return a hand-built sum of tables with a front end."""
    plain = hand.sum_of_tables()
    names = NAMES[: plain.n_features]
    return replace(with_inputs(plain, names), front_end=front_end(names, rate))


def rewritten(model: Model, **changes: object) -> bytes:
    """Return a file with other values in the record of its front end."""
    entries = unpack(to_bytes(model))
    document = json.loads(entries[DOCUMENT])
    document["front_end"] |= changes
    text = json.dumps(document, sort_keys=True, separators=(",", ":")) + "\n"
    entries[DOCUMENT] = text.encode()
    del entries["SHA256SUMS"]
    return pack(with_sums(entries))


@pytest.mark.parametrize("rate", [None, Fraction(50), Fraction(1000, 7), Fraction("0.5")])
def test_it_comes_back_from_a_file(rate: Fraction | None) -> None:
    model = model_of(rate)
    found = from_bytes(to_bytes(model), "m")
    assert found.front_end == model.front_end
    assert found.features == model.features
    assert to_bytes(found) == to_bytes(model)


def test_the_classifier_keeps_its_own_format() -> None:
    """A gate and a network are written as they are without a front end."""
    plain = with_inputs(hand.tan_float(), NAMES)
    names = tuple(feature.name for feature in plain.inputs)
    for model in (hand.gated(model_of(), 1, 5), replace(plain, front_end=front_end(names))):
        found = from_bytes(to_bytes(model), "m")
        assert (found.gate, found.front_end) == (model.gate, model.front_end)
        alone = json.loads(encode(replace(model, front_end=None))[DOCUMENT])
        document = json.loads(encode(model)[DOCUMENT])
        assert document.pop("format") == 7
        assert document.pop("classifier_format") == alone.pop("format")
        assert document.pop("front_end") == {
            "channels": ["x", "y"],
            "samples": [-2048, 2047],
            "window": 8,
            "hop": 4,
            "rate": "50",
        }
        assert document == alone


def test_the_facts_of_a_model_have_it() -> None:
    model = model_of()
    assert model.front_end is not None
    assert model_facts(model)["front_end"] == model.front_end.to_json()
    assert "front_end" not in model_facts(replace(model, front_end=None))
    assert model.front_end.words == "x, y in -2048 .. 2047 at 50 Hz; windows of 8, every 4"


def test_it_is_part_of_the_digest() -> None:
    model = model_of()
    assert model.front_end is not None
    other = replace(model, front_end=replace(model.front_end, windows=Windows(16, 4)))
    digests = {model_digest(each) for each in (model, other, replace(model, front_end=None))}
    assert len(digests) == 3


def test_its_columns_are_the_inputs_in_order() -> None:
    model = model_of()
    names = tuple(feature.name for feature in model.inputs)
    for others in ((names[1], names[0], *names[2:]), names[:-1]):
        with pytest.raises(ModelError, match="does not read the features of its front end"):
            check_model(replace(model, front_end=front_end(others)))


def test_its_columns_are_integers() -> None:
    model = model_of()
    first, *others = model.features
    as_float = replace(first, kind="float32", thresholds=tuple(float(t) for t in first.thresholds))
    with pytest.raises(ModelError, match=r"reads 'x\.sum' as float32"):
        check_model(replace(model, features=(as_float, *others)))


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"channels": ["x", "z"]}, "'x-y' is no signal"),
        ({"channels": "xy"}, "a list of str is malformed"),
        ({"samples": [-2048]}, "the range of its samples is malformed"),
        ({"samples": [5, 2]}, "no 16-bit type"),
        ({"window": 9}, "no multiple of a hop"),
        ({"window": 2}, "is not possible"),
        ({"hop": True}, "a number is malformed"),
        ({"rate": 50}, "the rate of its front end is malformed"),
        ({"rate": "050"}, "the rate of its front end is malformed"),
        ({"rate": "-50"}, "the rate of its front end is malformed"),
        ({"rate": "fast"}, "Invalid literal"),
        ({"scale": 2}, "the record of channels, hop, rate, samples, window is malformed"),
    ],
)
def test_an_unsound_record_is_refused(changes: dict[str, object], message: str) -> None:
    with pytest.raises(ModelFileError, match=message):
        from_bytes(rewritten(model_of(), **changes), "m")


def test_the_format_of_the_classifier_is_one_of_the_others() -> None:
    for number in (7, 0, "2", None):
        entries = unpack(to_bytes(model_of()))
        document = {**json.loads(entries[DOCUMENT]), "classifier_format": number}
        text = json.dumps(document, sort_keys=True, separators=(",", ":")) + "\n"
        entries[DOCUMENT] = text.encode()
        del entries["SHA256SUMS"]
        with pytest.raises(ModelFileError, match="is malformed"):
            from_bytes(pack(with_sums(entries)), "m")
