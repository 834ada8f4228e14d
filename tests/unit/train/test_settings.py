"""Every option of training: defaults, refusals, and notes on what has no effect."""

from dataclasses import replace

import numpy as np
import pytest

from bncc.errors import OptionError
from bncc.train.hyperparameters import hyperparameters_of
from bncc.train.margin.settings import MarginSettings, margin_settings_of
from bncc.train.record import settings_record
from bncc.train.settings import TrainSettings
from bncc.train.unused_options import idle_notes


def test_the_defaults_serve_a_newcomer():
    settings = TrainSettings()
    assert (settings.structure, settings.parameters) == ("chow-liu", "hybrid")
    assert (settings.total_bits, settings.alpha, idle_notes(settings)) == (6, 2.0, ())
    assert not settings.is_counted


BITS = {"structure": "tan-all", "structure_options": {"price": "bits"}}
WIDTHS = {"structure": "tan-all", "structure_options": {"widths": "2,4"}}


@pytest.mark.parametrize(
    ("options", "bits"),
    [
        ({"bits": 3}, 3),
        ({"int_bits": 3, "frac_bits": -1}, 2),
        ({"int_bits": 3, "frac_bits": 2, "bits": 5}, 5),
        ({"int_bits": 3}, 6),
        ({"frac_bits": -4, "bits": 1}, 1),
    ],
)
def test_bits_follow_from_what_is_given(options, bits):
    assert TrainSettings(**options).total_bits == bits


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (
            {"structure": "curriculum", "structure_options": {"step": "4"}},
            "choose best, 0, 1, 2 or",
        ),
        ({"structure": "tree"}, "unknown structure 'tree'"),
        ({"structure": "naive", "structure_options": {"alpha": "1"}}, "knows no option 'alpha'"),
        ({"structure": "forest", "structure_options": {"alpha": "x"}}, "not a positive number"),
        ({"parameters": "mle"}, "unknown parameters 'mle'; choose hybrid"),
        ({"discretize": "chi"}, "unknown discretization 'chi'; choose mdl, quantile"),
        ({"size_weight": 0.1}, "--size-weight needs .* choose --structure tan-subset, tan-all or"),
        ({"structure": "tan-all", "size_weight": -0.1}, "--size-weight is -0.1; it must be a nu"),
        ({"structure": "tan-all", "structure_options": {"parents": "2"}}, "no option 'parents'"),
        ({"structure": "tan-subset", "structure_options": {"order": "D"}}, "order=D is unknown"),
        (BITS | {"float_": True}, "price=bits asks for bits; leave it or --float out"),
        (WIDTHS | {"float_": True}, "widths=2,4 asks for bits; leave it or --float out"),
        (BITS | {"parameters": "ml"}, "price=bits needs tables .* choose --parameters hybrid"),
        (BITS | {"parameters": "margin"}, "price=bits needs tables .* choose --parameters hybrid"),
        (WIDTHS | {"parameters": "bdeu"}, "widths=2,4 needs tables .* or leave it out"),
        (
            WIDTHS | {"bits": 3},
            "more than the 3 bits of a cost; choose widths up to 3, or --bits 4",
        ),
        ({"structure_options": {"price": "bits"}}, "'chow-liu' knows no option 'price'"),
        ({"structure_options": {"widths": "2"}}, "'chow-liu' knows no option 'widths'"),
        ({"engine": "native", "device": "cuda"}, "'native' runs on a CPU; leave out --device cuda"),
        ({"engine": "jax"}, "unknown engine 'jax'; choose native or torch"),
        ({"epochs": 0}, "--epochs is 0; it must be at least 1"),
        ({"dropout": 1.0}, "--dropout is 1.0; it must be a fraction from 0 to below 1"),
        ({"batch_size": 0}, "--batch-size is 0"),
        ({"threads": 0}, "--threads is 0"),
        ({"seed": -1}, "--seed is -1"),
        ({"seed": 2**63}, "--seed is 9223372036854775808; it must be at most"),
        ({"n_bins": 1}, "--n-bins is 1"),
        ({"lr": 0.0}, "--lr is 0.0; it must be a positive number"),
        ({"eta": float("nan")}, "--eta is nan"),
        ({"lambda_": -1.0}, "--lambda is -1.0"),
        ({"gamma": float("inf")}, "--gamma is inf"),
        ({"validation": 1.0}, "--validation is 1.0"),
        ({"validation": float("nan")}, "--validation is nan"),
        ({"bits": 0}, "0 bits per cost were asked for; choose 1 to 8"),
        ({"bits": 9}, "9 bits per cost"),
        ({"int_bits": 4, "frac_bits": 8}, "12 bits per cost"),
        ({"bits": 6, "int_bits": 4, "frac_bits": 3}, "make 7 bits, not --bits 6"),
        ({"int_bits": 40}, "40 integer bits"),
        ({"frac_bits": 30}, "-24 integer bits"),
        ({"float_": True, "bits": 6}, "leave out the bits or --float"),
        ({"device": "nonsense"}, "unknown device 'nonsense'"),
    ],
)
def test_what_makes_no_sense_is_refused_in_one_sentence(options, message):
    with pytest.raises(OptionError, match=message) as caught:
        TrainSettings(**options)
    assert "\n" not in str(caught.value)


def test_alpha_serves_bdeu_parameters_under_any_structure():
    options = {"structure": "naive", "parameters": "bdeu", "structure_options": {"alpha": "7"}}
    assert TrainSettings(**options).alpha == 7.0


def test_options_without_effect_are_named():
    settings = TrainSettings(
        parameters="ml", epochs=3, lambda_=1.0, threads=1, engine="torch", n_bins=4
    )
    assert idle_notes(settings) == (
        "--epochs has no effect with --parameters ml",
        "--lambda has no effect with --parameters ml",
        "--threads has no effect with --parameters ml",
        "--engine has no effect with --parameters ml",
        "--n-bins has no effect with --discretize mdl",
    )
    assert idle_notes(TrainSettings(engine="native", threads=2)) == (
        "--threads has no effect with --engine native",
    )
    settings = TrainSettings(parameters="cross-entropy", gamma=1.0, epochs=3)
    assert idle_notes(settings) == ("--gamma has no effect with --parameters cross-entropy",)
    assert idle_notes(TrainSettings(discretize="width", n_bins=4)) == ()
    assert idle_notes(TrainSettings(float_=True, quantize_from=0.2)) == (
        "--quantize-from has no effect with --float",
    )


@pytest.mark.parametrize(
    ("name", "value", "words"),
    [
        ("epochs", 2.5, "--epochs is 2.5; it must be a whole number"),
        ("bits", "6", "--bits is '6'; it must be a whole number"),
        ("lambda_", "x", "--lambda is 'x'; it must be a number"),
        ("validation", "0.1", "--validation is '0.1'; it must be a number"),
    ],
)
def test_what_is_no_number_is_refused(name, value, words):
    with pytest.raises(OptionError, match=words):
        TrainSettings(**{name: value})
    assert TrainSettings(epochs=np.int64(3), lr=np.float32(0.5), bits=np.uint8(4)).epochs == 3


@pytest.mark.parametrize(
    ("structure", "options", "note"),
    [
        ("hill-climb", {"lambda": "0.2", "score": "cr"}, "lambda has no effect without score=mm"),
        ("anneal", {"lambda": "0.2", "score": "cl"}, "lambda has no effect without score=mm"),
        ("anneal", {"lambda": "0.2"}, None),
        ("chow-liu", {"alpha": "3"}, "alpha has no effect without score=bdeu"),
        ("chow-liu", {"alpha": "3", "score": "bdeu"}, None),
        ("etan", {"alpha": "3", "score": "bic"}, "alpha has no effect without score=bdeu"),
        ("etan", {"alpha": "3"}, None),
        ("tan-subset", {"parents": "3"}, None),
    ],
)
def test_options_that_a_score_does_not_read_are_named(structure, options, note):
    notes = () if note is None else (f"structure option {note}",)
    settings = TrainSettings(structure=structure, structure_options=options)
    assert idle_notes(settings) == notes


def test_alpha_is_that_of_the_tables_too():
    settings = TrainSettings(parameters="bdeu", structure_options={"alpha": "3"})
    assert idle_notes(settings) == ()


def test_margin_heeds_lambda_eta_epochs_and_seed():
    every = {"lr": 0.1, "gamma": 1.0, "dropout": 0.1, "engine": "torch", "quantize_from": 0.5}
    given = {"epochs": 7, "lambda_": 0.2, "eta": 3.0, "seed": 5}
    settings = TrainSettings(parameters="margin", structure="naive", **given)
    assert idle_notes(settings) == ()
    assert idle_notes(replace(settings, **every)) == tuple(
        f"--{name} has no effect with --parameters margin"
        for name in ("lr", "dropout", "quantize-from", "gamma", "engine")
    )
    assert margin_settings_of(settings) == MarginSettings((0.2,), 3.0, 7, seed=5)
    assert margin_settings_of(TrainSettings(parameters="margin")) == MarginSettings()
    record = settings_record(settings, 100)
    assert (record["epochs"], record["lambdas"], record["eta"]) == (7, [0.2], 3.0)


def test_a_joint_structure_descends_before_its_margin():
    """Options of the descent do not apply to the margin, which has another scale."""
    settings = TrainSettings(structure="tan-all", parameters="margin", lambda_=50.0, epochs=3)
    assert (settings.descends, settings.is_refit, settings.is_counted) == (True, True, False)
    assert hyperparameters_of(settings, 100).loss == "hybrid"
    assert margin_settings_of(settings) == MarginSettings()
    assert idle_notes(replace(settings, average=0.5)) == (
        "--average has no effect with --parameters margin",
    )
    record = settings_record(settings, 100)
    assert (record["lambda"], record["epochs"]) == (50.0, 3)
    assert "quantize_from" not in record


def test_a_joint_structure_descends_whatever_the_parameters():
    counted = TrainSettings(structure="tan-all", parameters="ml", epochs=3, lambda_=1.0)
    assert (counted.is_joint, counted.is_counted, counted.descends) == (True, True, True)
    assert counted.loss == hyperparameters_of(counted, 100).loss == "hybrid"
    assert idle_notes(counted) == ()
    assert idle_notes(replace(counted, average=0.5, quantize_from=0.2, float_=True)) == (
        "--average has no effect with --parameters ml",
        "--quantize-from has no effect with --parameters ml",
    )
    free = hyperparameters_of(TrainSettings(parameters="free"), 100)
    hybrid = hyperparameters_of(TrainSettings(), 100)
    assert free.lambda_ < hybrid.lambda_
    entropy = TrainSettings(structure="tan-all", parameters="cross-entropy", gamma=1.0)
    assert entropy.loss == "cross-entropy"
    assert idle_notes(entropy) == ("--gamma has no effect with --parameters cross-entropy",)
    assert not TrainSettings(parameters="ml").descends
    assert TrainSettings().descends
    assert not TrainSettings().is_joint


def test_given_values_replace_the_defaults_of_descent():
    hyper = hyperparameters_of(
        TrainSettings(epochs=3, batch_size=7, lr=0.5, lambda_=0.0, gamma=2.0, eta=3.0, seed=9), 100
    )
    assert (hyper.loss, hyper.epochs, hyper.batch_size, hyper.lr) == ("hybrid", 3, 7, 0.5)
    assert (hyper.lambda_, hyper.gamma, hyper.eta, hyper.seed) == (0.0, 2.0, 3.0, 9)


def test_small_tables_get_small_batches():
    sizes = [hyperparameters_of(TrainSettings(), n).batch_size for n in (10, 2500, 10**6)]
    assert sizes[0] < sizes[1] < sizes[2]


def test_a_price_that_nothing_is_weighted_by_is_noted():
    (note,) = idle_notes(TrainSettings(**BITS))
    assert note == "structure option price=bits has no effect without --size-weight"
    assert idle_notes(TrainSettings(**BITS, size_weight=1e-3)) == ()
    assert idle_notes(TrainSettings(**WIDTHS)) == ()
