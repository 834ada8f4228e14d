"""The programs that measure floors: one small case of each."""

import pytest

from benchmarks.code import kernel_floors, raw_floors
from benchmarks.shared.reference_models import Recipe, reference
from benchmarks.speed import host_batch

pytestmark = [pytest.mark.shared, pytest.mark.cc]
ONE = ["--structure", "naive", "--bits", "2", "--machine", "cortex-m0"]


@pytest.mark.firmware
def test_raw_is_measured_once_and_then_known(
    shared_data, require_tool, tmp_path, capsys, monkeypatch
):
    require_tool("arm-none-eabi-gcc")
    monkeypatch.setattr(raw_floors, "N_ROWS", 5)
    log = tmp_path / "raw.jsonl"
    words = ["--data", str(shared_data), "--dataset", "htru2", *ONE, "--log", str(log)]
    assert raw_floors.main(words) == 0
    first = capsys.readouterr().out
    assert first.startswith("htru2 naive B=2 cortex-m0: ")
    assert "cortex-m0 B=2: geometric mean" in first
    log.write_text(log.read_text() + '{"key": "cut o')
    monkeypatch.setattr(raw_floors, "measure_ours", None)
    assert raw_floors.main(words) == 0
    assert capsys.readouterr().out == first
    monkeypatch.setattr(raw_floors, "FLOOR", 1000)
    assert raw_floors.main(words) == 1


@pytest.mark.firmware
def test_kernels_are_held_against_their_floor(shared_data, require_tool, tmp_path, capsys):
    require_tool("arm-none-eabi-gcc")
    words = ["--data", str(shared_data), "--dataset", "satimage", *ONE, "--processes", "1"]
    log = tmp_path / "kernels.jsonl"
    assert kernel_floors.main([*words, "--optimize", "speed", "--log", str(log)]) == 0
    out = capsys.readouterr().out
    assert "satimage naive B=2 cortex-m0 speed best: kernel" in out
    assert "cortex-m0: textbook / bncc, geometric means" in out


def test_all_ways_of_a_batch_decide_equally(shared_data, require_tool, monkeypatch):
    require_tool("gcc")
    monkeypatch.setattr(host_batch, "N_ROWS", 500)
    recipe = Recipe("satimage", "naive", 2)
    found = host_batch.rates(reference(recipe, shared_data), 1, shared_data, recipe)
    assert set(found) == {"bncc", "numpy", "CategoricalNB"}
    assert min(found.values()) > 0


@pytest.mark.parametrize("program", [raw_floors, kernel_floors])
def test_a_folder_without_data_is_one_sentence(program, tmp_path, capsys):
    with pytest.raises(SystemExit) as end:
        program.main(["--data", str(tmp_path)])
    assert end.value.code == 2
    assert "name the data with --data" in capsys.readouterr().err
