"""``bncc prove``: verdicts of the engine as sentences, JSON and exit codes; what is refused."""

import importlib.util
import sys
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from click.testing import Result

from bncc.cli import prove
from bncc.device.cross import link_program
from bncc.device.image import Builder, model_object
from bncc.emit.emitter import EmitOptions, emit_c
from bncc.errors import ToolchainError
from bncc.model.file import load_model, model_digest, save_model
from bncc.on_device import sources_of
from bncc.prove import build as building
from bncc.prove.build import TARGETS
from bncc.prove.code import Code
from bncc.prove.verdict import Verdict
from bncc.targets import find_target
from tests import models as hand

Run = Callable[..., Result]
RunJson = Callable[..., dict[str, Any]]
Refused = Callable[..., str]
Asked = list[dict[str, Any]]
Answer = Callable[..., Asked]

PROVED: dict[str, Any] = {"status": "proved", "instructions": 412, "stack": 48, "seconds": 0.42}
REFUTED: dict[str, Any] = {
    "status": "refuted", "reason": "wrong-answer", "input": {"light": 3, "slope": 0.5},
    "expected": 2, "actual": 1,
}  # fmt: skip
OPEN: dict[str, Any] = {
    "status": "undecided", "reason": "time-limit", "detail": "60 s were not enough",
}  # fmt: skip


@pytest.fixture
def answer(monkeypatch: pytest.MonkeyPatch) -> Answer:
    """
    Return ``answer(verdict, **others)``: the verdicts of the engine, by entry point or target.

    It returns what the engine was asked. A name has no hyphens: ``predict_raw``, ``cortex_m4``.
    """

    def install(verdict: dict[str, Any], **others: dict[str, Any]) -> Asked:
        asked: Asked = []

        def fake(
            model: Any,
            code: Code,
            symbol: str,
            entry: str,
            *,
            time_limit: float | None = None,
            score_size: int = 1,
            recorder: object = None,
        ) -> Verdict:
            assert (score_size, recorder) == (1, None)
            target = code.target.name
            asked.append(
                {
                    "model": model,
                    "code": code,
                    "symbol": symbol,
                    "entry": entry,
                    "limit": time_limit,
                }
            )
            names = (entry.replace("-", "_"), target.replace("-", "_"))
            said = next((others[name] for name in names if name in others), verdict)
            return Verdict(entry=entry, target=target, **said)

        monkeypatch.setitem(sys.modules, "bncc.prove.prove", SimpleNamespace(prove=fake))
        return asked

    return install


@pytest.fixture
def no_builds(monkeypatch: pytest.MonkeyPatch) -> list[tuple[Any, ...]]:
    """Build nothing, with all tools installed; return the emission, level and entries of each."""
    built: list[tuple[Any, ...]] = []

    def fake(
        model: Any, emission: Any, bench: Any, level: str, entries: tuple[str, ...]
    ) -> tuple[Code, dict[str, str]]:
        built.append((emission, level, entries, bench.compiler))
        symbols = {entry: f"m_{entry.replace('-', '_')}" for entry in entries}
        return Code(bench.target, (), {}, "5a" * 32), symbols

    def find(target: Any, *, compiler: str | None = None) -> tuple[SimpleNamespace, ...]:
        return (SimpleNamespace(target=target, compiler=compiler or "gcc 12"),)

    monkeypatch.setattr(building, "build", fake)
    monkeypatch.setattr(prove, "find_toolchain", find)
    return built


@pytest.fixture
def image(require_bench: Callable[..., Any], model: Path, tmp_path: Path) -> Path:
    """Return a program for a Cortex-M0 with the C of `model`, as an own firmware would have it."""
    bench, loaded = require_bench("cortex-m0"), load_model(model)
    built = sources_of(loaded, emit_c(loaded, EmitOptions("rooms", target="cortex-m0")))
    builder = Builder(tmp_path, bench.target, bench.compiler)
    return link_program(
        builder, bench.simulator, "harness", model_object(builder, built, "-O1")
    ).path


@pytest.mark.usefixtures("no_builds")
def test_all_proved_is_exit_code_0(run: Run, answer: Answer, model: Path) -> None:
    answer(PROVED)
    result = run("prove", model)
    assert result.stdout == (
        "cortex-m0: predict-raw decides as the model does for every input: 412 instructions and "
        "48 bytes of stack at most (0.4 s)\n"
    )
    assert result.stderr == ""
    assert run("prove", model, "--quiet").stdout == ""


@pytest.mark.usefixtures("no_builds")
def test_a_refutation_is_exit_code_1_and_shows_the_input(
    run: Run, run_json: RunJson, answer: Answer, model: Path
) -> None:
    """Also if another entry point is undecided."""
    answer(PROVED, predict_raw=REFUTED, predict=OPEN)
    said = run("prove", model, "--entry", "all", code=1).stdout
    assert "predict-raw DOES NOT decide as the model does: for light = 3, slope = 0.5" in said
    assert "the code returns 1, the model 2" in said
    assert "cortex-m0: predict is NOT DECIDED: time-limit: 60 s were not enough" in said
    assert "cortex-m0: trusted decides as the model does" in said
    found = run_json("prove", model, code=1)
    assert found["proved"] is False
    facts = found["targets"]["cortex-m0"]["predict-raw"]
    assert facts["verdict"] == "refuted"
    assert facts["counterexample"] == {
        "input": {"light": 3, "slope": 0.5}, "expected": 2, "actual": 1,
    }  # fmt: skip


@pytest.mark.usefixtures("no_builds")
def test_undecided_is_exit_code_3(run: Run, run_json: RunJson, answer: Answer, model: Path) -> None:
    answer(PROVED, rv32=OPEN)
    both = ["--target", "rv32", "--target", "cortex-m4"]
    said = run("prove", model, *both, code=3).stdout
    assert "rv32: predict-raw is NOT DECIDED: " in said
    assert said.endswith("\nremedy for time-limit: a longer --time-limit\n")
    found = run_json("prove", model, *both, code=3)
    facts = found["targets"]["rv32"]["predict-raw"]
    assert found["proved"] is False
    assert (facts["verdict"], facts["reason"]) == ("undecided", "time-limit")
    assert (facts["detail"], facts["remedy"]) == ("60 s were not enough", "a longer --time-limit")
    assert run("prove", model, "--target", "cortex-m4", "--quiet").exit_code == 0


@pytest.mark.usefixtures("no_builds")
def test_the_object_is_that_of_the_contract(run_json: RunJson, answer: Answer, model: Path) -> None:
    answer(PROVED)
    found = run_json("prove", model, "--target", "cortex-m3", "--target", "rv32", "--entry", "all")
    assert found.keys() == {"proved", "targets", "skipped"}
    assert found["proved"] is True
    assert list(found["targets"]) == ["cortex-m3", "rv32"]
    assert list(found["targets"]["rv32"]) == ["predict-raw", "predict", "trusted", "scores"]
    facts = found["targets"]["rv32"]["predict"]
    assert facts.pop("kernel") in {"lanes", "packed", "plain", "bytes", "columns", "planes"}
    assert facts == {
        "verdict": "proved",
        **dict.fromkeys(("reason", "detail", "remedy", "counterexample")),
        "inputs": str(2**24),
        "instructions": {"max": 412},
        "stack": 48,
        "seconds": 0.42,
        "symbol": "m_predict",
        "toolchain": "gcc 12 -O2",
        "elf": "5a" * 32,
        "model": model_digest(load_model(model)),
    }


def test_options_reach_the_engine_and_the_build(
    run: Run, answer: Answer, no_builds: list[tuple[Any, ...]], model: Path
) -> None:
    asked = answer(PROVED)
    run(
        "prove", model, "--entry", "trusted", "--entry", "predict-raw", "--compiler", "ziglang",
        "--optimize", "size", "--kernel", "lanes", "--time-limit", "1.5m", "--constant-time",
    )  # fmt: skip
    ((emission, level, entries, compiler),) = no_builds
    assert emission.kernel == "lanes"
    assert "one path for all inputs" in emission.files["m.h"]
    assert (level, entries, compiler) == ("-Os", ("predict-raw", "trusted"), "ziglang")
    assert [(each["entry"], each["limit"]) for each in asked] == [
        ("predict-raw", 90.0), ("trusted", 90.0),
    ]  # fmt: skip
    run("prove", model, "--optimize", "size", "--opt-level", "3", "--time-limit", "20")
    assert no_builds[1][1] == "-O3"
    assert asked[-1]["limit"] == 20.0
    run("prove", model)
    assert asked[-1]["limit"] is None


def test_the_c_is_that_of_emit_c(
    run: Run, answer: Answer, no_builds: list[tuple[Any, ...]], model: Path, tmp_path: Path
) -> None:
    """With the same options."""
    answer(PROVED)
    for k, words in enumerate(
        (
            [],
            ["--optimize", "size", "--entry", "predict"],
            ["--entry", "scores", "--entry", "trusted", "--kernel", "planes"],
        )
    ):
        folder = tmp_path / str(k)
        run("emit-c", model, "-o", folder, "--name", "m", "--target", "cortex-m0", *words)
        run("prove", model, *words)
        assert (folder / "m.c").read_text("utf-8") == no_builds[k][0].files["m.c"]


def test_inputs_that_no_decision_needs_are_left_out(
    run_json: RunJson, answer: Answer, no_builds: list[tuple[Any, ...]], tmp_path: Path
) -> None:
    """The digest is that of the model's file."""
    path, whole = tmp_path / "m.bncc", hand.sum_of_tables()
    save_model(whole, path)
    asked = answer(PROVED)
    found = run_json("prove", path, "--inputs", "used")
    assert asked[0]["model"].n_features == whole.n_features - 1
    facts = found["targets"]["cortex-m0"]["predict-raw"]
    assert facts["model"] == model_digest(whole)
    assert facts["inputs"] == str(2**40)


@pytest.mark.usefixtures("no_builds")
def test_without_thresholds_states_are_the_input(
    run_json: RunJson, answer: Answer, tmp_path: Path
) -> None:
    save_model(hand.all_zero(), tmp_path / "m.bncc")
    answer(PROVED)
    found = run_json("prove", tmp_path / "m.bncc")
    assert list(found["targets"]["cortex-m0"]) == ["predict"]


@pytest.mark.usefixtures("no_builds")
def test_all_targets_are_those_with_decoders_and_tools(
    run: Run, run_json: RunJson, answer: Answer, model: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    answer(PROVED)
    found = run_json("prove", model, "--target", "all")
    assert set(found["targets"]) == set(TARGETS)
    assert found["skipped"] == {}
    available = prove.find_toolchain

    def find(target: Any, **tools: Any) -> Any:
        if target.name == "rv32":
            raise ToolchainError("no compiler for rv32 is installed; run `apt install x`")
        return available(target, **tools)

    monkeypatch.setattr(prove, "find_toolchain", find)
    found = run_json("prove", model, "--target", "all")
    assert set(found["targets"]) == set(TARGETS) - {"rv32"}
    assert found["skipped"] == {"rv32": "no compiler for rv32 is installed; run `apt install x`"}
    said = run("prove", model, "--target", "all").stdout
    assert said.endswith("rv32: skipped, no compiler for rv32 is installed; run `apt install x`\n")


@pytest.mark.firmware
def test_a_program_of_the_user_is_proved(
    run_json: RunJson, answer: Answer, model: Path, image: Path
) -> None:
    asked = answer(PROVED)
    words = ["--target", "stm32f030", "--elf", image, "--symbol", "rooms_predict_raw"]
    found = run_json("prove", model, *words)
    facts = found["targets"]["cortex-m0"]["predict-raw"]
    assert (facts["symbol"], facts["toolchain"]) == ("rooms_predict_raw", None)
    ((call),) = asked
    assert (call["symbol"], call["entry"]) == ("rooms_predict_raw", "predict-raw")
    assert call["code"].entry("rooms_predict_raw") > 0
    assert facts["elf"] == call["code"].sha256


@pytest.mark.firmware
@pytest.mark.parametrize(
    ("options", "message"),
    [
        (
            ["--symbol", "rooms_scores"],
            "no symbol 'rooms_scores'; it may be inlined, unused or stripped: check the name",
        ),
        ([], "--elf and --symbol need each other"),
        (["--symbol", "rooms_predict", "--target", "rv32"], "add one --target"),
        (["--symbol", "x", "--entry", "all"], "name its entry point by one --entry"),
        (["--symbol", "x", "--optimize", "size"], "--optimize has no effect on --elf"),
        (["--symbol", "x", "--opt-level", "s"], "--opt-level has no effect on --elf"),
        (["--symbol", "x", "--constant-time"], "--constant-time has no effect on --elf"),
        (["--symbol", "x", "--part", "stm32f030"], "--part has no effect on --elf"),
        (["--symbol", "x", "--clock", "8M"], "--clock has no effect on --elf"),
    ],
)
def test_a_program_that_cannot_be_proved_is_one_line(
    refused: Refused, answer: Answer, model: Path, image: Path, options: list[str], message: str
) -> None:
    asked = answer(PROVED)
    assert message in refused("prove", model, "--target", "cortex-m0", "--elf", image, *options)
    assert asked == []


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--target", "x86"], "proofs do not cover x86 yet; use --target cortex-m0 or cortex-m3"),
        (["--target", "host"], "proofs do not cover host yet"),
        (["--entry", "filter"], "and scores-raw, not filter; name some of these with --entry"),
        (["--target", "toaster"], "is not one of"),
        (["--entry", "stream"], "scores-raw, not stream; name some of these with --entry"),
        (["--entry", "predicts"], "is not one of 'predict-raw'"),
        (["--compiler", "all"], "--compiler all is not supported by prove; name one compiler"),
        (["--compiler", "gcc"], "the compiler 'gcc' does not support cortex-m0; use"),
        (["--symbol", "m_predict"], "--elf and --symbol need each other"),
        (["--elf", "absent.elf", "--symbol", "x"], "--elf needs the target that the program is"),
        (
            ["--target", "rv32", "--elf", "absent.elf", "--symbol", "x"],
            "'absent.elf': no such file",
        ),
        (["--target", "rv32", "--elf", ".", "--symbol", "x"], "is a directory"),
        (["--time-limit", "soon"], "'soon' is not a time such as 30s, 10m or 2h"),
        (["--kernel", "swar"], "is not one of"),
    ],
)
def test_what_cannot_be_done_is_one_line(
    refused: Refused, answer: Answer, model: Path, options: list[str], message: str
) -> None:
    asked = answer(PROVED)
    assert message in refused("prove", model, *options)
    assert asked == []


def test_a_model_that_does_not_exist_is_one_line(refused: Refused) -> None:
    assert "'absent.bncc' does not exist" in refused("prove", "absent.bncc")


@pytest.mark.usefixtures("no_builds")
def test_a_build_that_fails_names_the_target(
    refused: Refused, answer: Answer, model: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*_: object) -> None:
        raise ToolchainError("gcc failed: m.c:1: error: oops; report it")

    answer(PROVED)
    monkeypatch.setattr(building, "build", fail)
    line = refused("prove", model, "--target", "cortex-m7")
    assert line == "cortex-m7: gcc failed: m.c:1: error: oops; report it"


def test_without_capstone_the_extra_is_named(
    refused: Refused, model: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    found = importlib.util.find_spec
    monkeypatch.setattr(
        building, "find_spec", lambda name: None if name == "capstone" else found(name)
    )
    line = refused("prove", model)
    assert line == (
        "a proof needs capstone, which decodes machine code; run `pip install -e '.[prove]'` in "
        "bncc's clone"
    )


@pytest.mark.firmware
@pytest.mark.parametrize("target", TARGETS)
def test_the_program_is_built(
    run_json: RunJson, answer: Answer, require_bench: Callable[..., Any], model: Path, target: str
) -> None:
    """The engine gets machine code at the address of the symbol."""
    bench = require_bench(target)
    asked = answer(PROVED)
    found = run_json("prove", model, "--target", target, "--entry", "all")
    facts = found["targets"][target]
    assert list(facts) == [each["entry"] for each in asked]
    assert len(facts) == 4
    for call in asked:
        code = call["code"]
        assert code.target == find_target(target)
        assert code.bytes_at(code.entry(call["symbol"]), 4)
        assert facts[call["entry"]]["elf"] == code.sha256
        assert facts[call["entry"]]["toolchain"] == f"{bench.compiler} -O2"


@pytest.mark.parametrize(
    ("symbol", "entry"),
    [
        ("app_predict", "predict"),
        ("app_predict_raw", "predict-raw"),
        ("app_predict_trusted", "trusted"),
        ("app_scores", "scores"),
    ],
)
def test_the_function_of_a_program_names_its_entry_point(
    run_json: RunJson,
    answer: Answer,
    monkeypatch: pytest.MonkeyPatch,
    model: Path,
    symbol: str,
    entry: str,
) -> None:
    """A wrong one would be searched for a counterexample; ``--entry`` takes precedence."""
    asked = answer(PROVED)
    code = Code(find_target("rv32"), (), {}, "5a" * 32)
    monkeypatch.setattr(prove, "image_of", lambda path, target, symbol: code)
    words = ("prove", model, "--target", "rv32", "--elf", model, "--symbol", symbol)
    assert list(run_json(*words)["targets"]["rv32"]) == [entry]
    assert list(run_json(*words, "--entry", "trusted")["targets"]["rv32"]) == ["trusted"]
    assert [each["symbol"] for each in asked] == [symbol, symbol]


@pytest.mark.parametrize("symbol", ["classify", "m_states", "main"])
def test_a_function_of_another_name_needs_its_entry_point(
    run: Run,
    refused: Refused,
    answer: Answer,
    monkeypatch: pytest.MonkeyPatch,
    model: Path,
    symbol: str,
) -> None:
    """Taken for predict-raw, a function such as ``m_states`` would be refuted."""
    asked = answer(PROVED)
    code = Code(find_target("rv32"), (), {symbol: 0}, "5a" * 32)
    monkeypatch.setattr(prove, "image_of", lambda path, target, symbol: code)
    words = ("prove", model, "--target", "rv32", "--elf", model, "--symbol", symbol)
    assert refused(*words) == (
        f"the name {symbol} ends with no entry point of emitted C; add its --entry, or name "
        "another --symbol"
    )
    assert asked == []
    run(*words, "--entry", "predict")
    assert [each["entry"] for each in asked] == ["predict"]


@pytest.mark.parametrize(
    ("symbol", "entry", "remedy"),
    [
        ("m_predict", "predict-raw", "--symbol m_predict_raw"),
        ("m_predict_raw", "scores", "--symbol m_scores"),
        ("m_predict_trusted", "predict", "--symbol m_predict"),
        ("m_predict", "trusted", None),
        ("m_predict", "predict", None),
        ("n_predict", "predict-raw", None),
    ],
)
def test_a_function_of_another_entry_point_is_refused(
    run: Run,
    answer: Answer,
    monkeypatch: pytest.MonkeyPatch,
    model: Path,
    symbol: str,
    entry: str,
    remedy: str | None,
) -> None:
    """If the program has the one that is meant; a function of other names may be any."""
    asked = answer(PROVED)
    names = ("m_predict_raw", "m_predict", "m_predict_trusted", "m_scores", "n_predict")
    code = Code(find_target("rv32"), (), dict.fromkeys(names, 0), "5a" * 32)
    monkeypatch.setattr(prove, "image_of", lambda path, target, symbol: code)
    words = ("prove", model, "--target", "rv32", "--elf", model, "--symbol", symbol)
    said = run(*words, "--entry", entry, code=2 if remedy else 0)
    assert not remedy or f"leave out --entry {entry}, or use {remedy}\n" in said.stderr
    assert len(asked) == (remedy is None)
