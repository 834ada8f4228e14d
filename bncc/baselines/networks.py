"""Small quantized networks as baselines, as large as naive Bayes (S3, sections V-C and V-D)."""

from bncc.baselines.baseline import PREFIX, Baseline, Code, Options, Rows
from bncc.baselines.emit import network_c
from bncc.baselines.plan import Form, NetworkPlan, Task, plan_within
from bncc.errors import OptionError
from bncc.train.gradient.engines import check_torch


def dense(rows: Rows, options: Options, seed: int) -> Baseline:
    """Learn a fully connected network."""
    return _network(rows, options, seed, is_convolutional=False)


def convolutional(rows: Rows, options: Options, seed: int) -> Baseline:
    """Learn a convolutional network of one or two convolutions."""
    return _network(rows, options, seed, is_convolutional=True)


def plan_from(rows: Rows, options: Options, *, is_convolutional: bool) -> NetworkPlan:
    """Return the network that options name."""
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


def _network(rows: Rows, options: Options, seed: int, *, is_convolutional: bool) -> Baseline:
    plan = plan_from(rows, options, is_convolutional=is_convolutional)
    check_torch("a neural network as a baseline")
    from bncc.baselines.freeze import freeze_network  # only here: other baselines need no torch
    from bncc.baselines.trainer import NetworkSettings, train_network

    settings = NetworkSettings(
        int(options["epochs"]), int(options["batch-size"]), float(options["lr"]), seed
    )
    trained = train_network(plan, rows.X, rows.y, rows.n_states, settings)
    frozen = freeze_network(trained, rows.X)
    return Baseline(
        frozen.predict, plan.parameter_bits, plan.operations,
        Code(network_c(frozen, PREFIX), "bncc's integer network"),
    )  # fmt: skip
