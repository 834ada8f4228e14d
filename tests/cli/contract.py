"""The JSON object of ``bncc bench`` for one target, to the letter of the contract."""

from typing import Any

KEYS = {
    "toolchain", "simulator", "optimization", "flash", "ram", "stack", "predict", "trusted", "raw",
    "missing",
    "baseline", "baseline_misfit", "ratio", "estimate",
    "resources",
}  # fmt: skip
BASELINE_KEYS = {"optimization", "flash", "ram", "stack", "predict", "trusted", "raw"}


def check_shape(facts: dict[str, Any], unit: str) -> None:
    """Compare one target's object with the contract to the letter."""
    assert set(facts) == KEYS
    for measured in (facts, facts["baseline"]):
        for entry in ("predict", "trusted", "raw"):
            assert list(measured[entry]) == [unit]
            spread = measured[entry][unit]
            assert list(spread) == ["min", "mean", "max"]
            assert 0 < spread["min"] <= spread["mean"] <= spread["max"]
        assert measured["flash"] > 0
        assert measured["ram"] == 0
        assert measured["stack"] >= 0  # registers may suffice for a small model
    assert set(facts["baseline"]) == BASELINE_KEYS
    assert set(facts["ratio"]) == {"flash", "predict", "trusted", "raw"}
    assert facts["ratio"]["flash"] == facts["baseline"]["flash"] / facts["flash"]
    for entry in ("predict", "trusted", "raw"):
        means = [part[entry][unit]["mean"] for part in (facts["baseline"], facts)]
        assert facts["ratio"][entry] == means[0] / means[1]
    assert set(facts["estimate"]) == {"flash", "ram", "instructions", "machine"}
    assert facts["baseline_misfit"] is None
