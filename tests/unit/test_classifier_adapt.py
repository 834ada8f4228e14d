"""Estimators that learn labeled readings of a person, as devices do."""

import numpy as np
import pytest
from sklearn.base import clone

from bncc import BNClassifier, BNStreamClassifier
from bncc.model.adapted import AdaptedModel
from tests.dwelling import arrays
from tests.recorded import LABELS, recordings


def naive(**options: object) -> BNClassifier:
    """Return an estimator that adapts."""
    return BNClassifier("naive", parameters="ml", discretize="quantile", adapt=True, **options)


@pytest.fixture(scope="module")
def fitted() -> BNClassifier:
    R, y, groups = arrays()
    return naive().fit(R, np.array(["rest", "run", "walk"])[y], groups=groups)


def test_readings_are_learned_and_forgotten(fitted: BNClassifier) -> None:
    R, _, _ = arrays(seed=1)
    model, states = fitted.to_model(), fitted._states(R)
    labels = ["walk"] * 200
    assert fitted.predict_adapted(R).tolist() == fitted.predict(R).tolist()
    moved = fitted.learn(R[:200], labels)
    adapted = AdaptedModel(model)
    assert moved == adapted.learn(states[:200], np.full(200, 2)) > 0
    said = fitted.predict_adapted(R)
    assert said.tolist() == fitted.classes_[adapted.scores(states).argmin(axis=1)].tolist()
    assert (said == "walk").sum() > (fitted.predict(R) == "walk").sum()
    assert fitted.forget() is fitted
    assert fitted.predict_adapted(R).tolist() == fitted.predict(R).tolist()


def test_another_fit_forgets() -> None:
    R, y, groups = arrays()
    estimator = naive().fit(R, y, groups=groups)
    estimator.learn(R[:200], [2] * 200)
    assert estimator.fit(R, y, groups=groups).predict_adapted(R).tolist() == (
        estimator.predict(R).tolist()
    )
    assert clone(estimator).adapt is True
    alike = estimator.set_params(adapt=np.bool_(True)).fit(R, y, groups=groups).to_model()
    assert alike.adaptation is not None


@pytest.fixture
def stream() -> BNStreamClassifier:
    found = recordings(4, 640).recordings
    labels = [[LABELS[k] for k in each.labels.tolist()] for each in found]
    clf = BNStreamClassifier(
        32, 16, classifier=naive(), channels=["x", "y"], sample_type="-2048..2047"
    )
    persons = [str(each.group) for each in found]
    return clf.fit([each.samples for each in found], labels, groups=persons)


@pytest.mark.filterwarnings("ignore:no adaptation has fewer errors")
def test_windows_are_learned_and_forgotten(stream: BNStreamClassifier) -> None:
    samples = recordings(4, 640).recordings[0].samples
    alone = stream.predict(samples)
    assert stream.predict_adapted(samples).tolist() == alone.tolist()
    other = next(label for label in LABELS if (alone != label).any())
    assert stream.learn(samples, other) > 0
    assert (stream.predict_adapted(samples) == other).sum() > (alone == other).sum()
    assert stream.forget() is stream
    assert stream.predict_adapted(samples).tolist() == alone.tolist()
    assert stream.learn(samples, [other] * len(alone)) > 0


@pytest.mark.filterwarnings("ignore:no adaptation has fewer errors")
def test_a_stream_adapts_as_a_device_does(stream: BNStreamClassifier) -> None:
    """Each window is decided on with what the windows before it have taught."""
    samples = np.tile(recordings(4, 640).recordings[0].samples, (2, 1))
    states, adapted = stream._states(samples), AdaptedModel(stream.to_model())
    other = LABELS[0]
    assert not stream.learn_window(other)
    moved, said = [], []
    for begin in range(0, len(samples), 8):
        ended = stream.partial(samples[begin : begin + 8], adapted=True).tolist()
        said += ended
        moved += [stream.learn_window(other)] if ended else []
    expected, expected_moved = [], []
    for state in states:
        expected.append(stream.classes_[adapted.scores(state[None]).argmin()])
        expected_moved.append(adapted.learn(state[None], np.array([0])) > 0)
    assert (said, moved) == (expected, expected_moved)
    assert any(moved)
    assert said != stream.predict(samples).tolist()
    assert stream.predict_adapted(samples).tolist() == (
        stream.classes_[adapted.scores(states).argmin(axis=1)].tolist()
    )
    stream.start()
    assert not stream.learn_window(other)
    assert stream.partial(samples).tolist() == stream.predict(samples).tolist()
    with pytest.raises(ValueError, match="the model has no class 'swim'"):
        stream.learn_window("swim")


def test_misuse_is_one_clear_sentence(fitted: BNClassifier) -> None:
    R, y, groups = arrays()
    with pytest.raises(ValueError, match="the model has no class 'swim'"):
        fitted.learn(R[:1], ["swim"])
    with pytest.raises(ValueError, match="inconsistent numbers"):
        fitted.learn(R[:2], ["run"])
    with pytest.raises(ValueError, match="whose rows are whose"):
        naive().fit(R, y)
    plain = BNClassifier("naive", parameters="ml").fit(R, y)
    with pytest.raises(ValueError, match=r"does not adapt; train it with adapt=True and groups$"):
        plain.learn(R[:1], [0])
    with pytest.raises(ValueError, match=r"^adapt is 'auto'; it must be True or False$"):
        BNClassifier("naive", adapt="auto").fit(R, y, groups=groups)
    with pytest.raises(ValueError, match="does not marginalize missing readings"):
        naive(missing="marginal").fit(R, y, groups=groups).predict_adapted(R)
