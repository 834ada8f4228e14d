"""Small quantized networks as baselines of naive Bayes's size (S3, V-C and V-D), and their C."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from bncc import __version__
from bncc._types import IntArray
from bncc.baselines.baseline import PREFIX, Baseline, Code, Options, Rows
from bncc.baselines.integer import IntegerLayer, IntegerNetwork
from bncc.baselines.plan import POOL, WIDTH, Form, NetworkPlan, Task, plan_within, starts_of
from bncc.emit.environment import render, with_terms
from bncc.errors import OptionError
from bncc.lower.c.c99 import ArrayText, array
from bncc.progress import Progress, silence
from bncc.train.gradient.engines import check_torch

WORD = 32
"""Bits of a word of weight codes."""
_READERS = (("int8_t", "byte"), ("int16_t", "word"), ("int32_t", "dword"), ("uint16_t", "word"))


@dataclass(frozen=True)
class _LayerText:
    """Template data of a layer."""

    number: int
    form: str
    n_in: int
    n_out: int
    n_values: int
    side: int
    row_words: int
    in_type: str
    out_type: str
    is_last: bool
    thresholds: bool
    rescaling: object


def network_c(network: IntegerNetwork, name: str) -> Mapping[str, str]:
    """Print an integer network as C99."""
    plan = network.plan
    layers = _layers(network)
    arrays = _arrays(network)
    used = {each.type for each in arrays}
    context = {
        "name": name,
        "NAME": name.upper(),
        "version": __version__,
        "summary": _summary(network),
        "n_features": plan.n_features,
        "n_classes": plan.n_classes,
        "state_type": "uint8_t" if max(network.n_states) <= 255 else "uint16_t",
        "input_type": "" if network.inputs is None else "int8_t",
        "bits": plan.bits,
        "steps": 2**plan.bits - 1,
        "per_word": WORD // plan.bits,
        "bias_shift": network.bias_shift,
        "width": WIDTH,
        "pool": POOL,
        "arrays": arrays,
        "layers": layers,
        "readers": [r for r in (*_READERS, ("uint32_t", "dword")) if r[0] in used],
    }
    return {
        file: with_terms(file, render(f"baselines/network.{file[-1]}.j2", **context))
        for file in (f"{name}.h", f"{name}.c")
    }


def packed(codes: IntArray, bits: int) -> list[int]:
    """
    Pack codes into words, lowest bits first; each row starts a new word.

    Shapes: `codes` (n_rows, n) int64.
    """
    per_word = WORD // bits
    n_words = -(-codes.shape[1] // per_word)
    padded = np.zeros((len(codes), n_words * per_word), dtype=np.int64)
    padded[:, : codes.shape[1]] = codes
    shifts = np.arange(per_word) * bits
    words = (padded.reshape(len(codes), n_words, per_word) << shifts).sum(axis=2)
    return [int(word) for word in words.ravel()]


def _rows(network: IntegerNetwork, k: int) -> IntArray:
    """Return the codes of a layer in the order in which its C reads them."""
    codes = network.layers[k].codes
    rows = codes.reshape(len(codes), -1)
    return rows.T if k == 0 and network.plan.is_one_hot else rows


def _layers(network: IntegerNetwork) -> list[_LayerText]:
    texts = []
    value_type = "int8_t"
    for k, each in enumerate(network.layers):
        per_word = WORD // network.plan.bits
        n_columns = _rows(network, k).shape[1]
        words = -(-n_columns // per_word)
        out_type = "uint8_t" if each.rescaling is not None else "int8_t"
        side = each.layer.side
        texts.append(
            _LayerText(
                number=k + 1,
                form=_form(network, each, k),
                n_in=each.layer.n_in,
                n_out=each.layer.n_out,
                n_values=each.layer.n_out * max(1, side // POOL) ** 2,
                side=side,
                row_words=words,
                in_type=value_type,
                out_type=out_type,
                is_last=k == len(network.layers) - 1,
                thresholds=each.thresholds is not None,
                rescaling=each.rescaling,
            )
        )
        value_type = out_type
    return texts


def _form(network: IntegerNetwork, layer: IntegerLayer, k: int) -> str:
    if layer.layer.is_convolution:
        return "convolution"
    return "one hot" if k == 0 and network.plan.is_one_hot else "dense"


def _arrays(network: IntegerNetwork) -> list[ArrayText]:
    plan, found = network.plan, []
    starts = starts_of(network.n_states).tolist()
    found.append(array("first", 16, starts, "Where the states of each feature begin."))
    if network.inputs is not None:
        codes = network.inputs.codes.tolist()
        found.append(array("inputs", 8, codes, "What each state is as a number.", signed=True))
    for k, each in enumerate(network.layers):
        n = k + 1
        words = packed(_rows(network, k), plan.bits)
        found.append(array(f"weights{n}", WORD, words, f"Weights of layer {n}."))
        if each.rescaling is not None:
            found += [
                array(
                    f"factors{n}",
                    16,
                    each.rescaling.factors.tolist(),
                    "For each unit.",
                    signed=True,
                ),
                array(
                    f"offsets{n}",
                    32,
                    each.rescaling.offsets.tolist(),
                    "For each unit.",
                    signed=True,
                ),
            ]
        if each.thresholds is not None:
            text = "Least sum with sign 1."
            found.append(array(f"thresholds{n}", 32, each.thresholds.tolist(), text, signed=True))
    found.append(array("bias", 32, network.bias.tolist(), "For each class.", signed=True))
    return found


def _summary(network: IntegerNetwork) -> str:
    def words(each: IntegerLayer) -> str:
        layer = each.layer
        if layer.is_convolution:
            return f"{layer.n_out} channels of {layer.side} x {layer.side}"
        return str(layer.n_out)

    form: Sequence[str] = [words(each) for each in network.layers]
    return f"{network.plan.n_features} features, then {', '.join(form)}; {network.plan.activation}."


def dense(rows: Rows, options: Options, seed: int, tell: Progress = silence) -> Baseline:
    """Learn a fully connected network."""
    return _network(rows, options, seed, tell, is_convolutional=False)


def convolutional(rows: Rows, options: Options, seed: int, tell: Progress = silence) -> Baseline:
    """Learn a convolutional network of one or two convolutions."""
    return _network(rows, options, seed, tell, is_convolutional=True)


def plan_from(rows: Rows, options: Options, *, is_convolutional: bool) -> NetworkPlan:
    """Return the network plan for the given options."""
    bits, depth = int(options["bits"]), int(options["layers"])
    if not 1 <= bits <= 8:
        raise OptionError(f"weights of {bits} bits are not supported; choose 1 .. 8")
    if not 1 <= depth <= (2 if is_convolutional else 5):
        raise OptionError(f"{depth} layers are not supported; choose up to 5, or 2 convolutions")
    if options["activation"] not in ("relu", "sign"):
        raise OptionError(f"unknown activation '{options['activation']}'; use relu or sign")
    if ("memory" in options) == ("operations" in options):
        raise OptionError("a network needs memory or operations as its budget; set one of them")
    form = Form(
        depth,
        bits,
        "relu" if options["activation"] == "relu" else "sign",
        bool(options["norm"]),
        is_convolutional,
        bool(options.get("one-hot", False)),
    )
    task = Task(rows.n_states, rows.n_classes)
    if "memory" in options:
        limit = round(float(options["memory"]) * rows.n_classes * (1 + sum(rows.n_states)))
        return plan_within(task, form, lambda plan: plan.parameter_bits, limit)
    limit = round(float(options["operations"]) * rows.n_classes * (1 + rows.n_features))
    return plan_within(task, form, lambda plan: plan.operations, limit)


def _network(
    rows: Rows, options: Options, seed: int, tell: Progress, *, is_convolutional: bool
) -> Baseline:
    plan = plan_from(rows, options, is_convolutional=is_convolutional)
    check_torch("a neural network as a baseline")
    from bncc.baselines.freeze import freeze_network  # local: other baselines need no torch
    from bncc.baselines.trainer import NetworkSettings, train_network

    settings = NetworkSettings(
        int(options["epochs"]), int(options["batch-size"]), float(options["lr"]), seed
    )

    def told(epoch: int) -> None:
        tell(epoch / settings.epochs, f"epoch {epoch} of {settings.epochs}")

    trained = train_network(plan, rows.X, rows.y, rows.n_states, settings, told)
    frozen = freeze_network(trained, rows.X)
    return Baseline(
        frozen.predict, plan.parameter_bits, plan.operations,
        Code(network_c(frozen, PREFIX), "bncc's integer network"),
    )  # fmt: skip
