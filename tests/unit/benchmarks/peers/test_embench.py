"""Embench's task: conversion of the images, its files with other images, and its harness."""

import gzip

import numpy as np
import pytest

from benchmarks.peers.embench import (
    FORMS,
    NAME,
    Result,
    command,
    forms,
    results_table,
    run_task,
    trees,
)
from benchmarks.peers.embench_digits import (
    PARTS,
    Digits,
    digits,
    small,
    task_files,
    task_rows,
    with_rows,
)
from bncc.device.sources import Sources, sources
from bncc.errors import DataError

ROWS = Digits(np.arange(256, dtype=np.uint8).reshape(4, 64), np.array([0, 4, 8, 2], np.uint8))

HEADER = """#include <stdint.h>
#define SAMPLES_IN_FILE 4
#define SAMPLE_SIZE 64
uint8_t predict(const uint8_t *x);
extern const uint8_t X_test[SAMPLES_IN_FILE][SAMPLE_SIZE];
extern const uint8_t Y_test[SAMPLES_IN_FILE];
"""
# Right on two of the rows above, whose first pixels are 0, 64, 128 and 192.
SOURCE = """#include "xgboost.h"
uint8_t predict(const uint8_t *x) { return (uint8_t)(x[0] / 32U * (x[0] < 100U ? 2U : 1U)); }
"""
TESTBENCH = """#include "xgboost.h"
static int count(unsigned int rounds)
{
    int right = 0;
    for (; rounds > 0U; rounds--)
        for (int i = 0; i < SAMPLES_IN_FILE; i++)
            right += predict(X_test[i]) == Y_test[i];
    return right;
}
void warm_caches(int heat) { (void)count((unsigned int)heat); }
int benchmark(void) { return count(GLOBAL_SCALE_FACTOR); }
void initialise_benchmark(void) { }
int verify_benchmark(int r) { return r >= 3 * GLOBAL_SCALE_FACTOR; }
"""


@pytest.fixture(scope="module")
def task():
    files = {"xgboost.h": HEADER, "xgboost.c": SOURCE, "testbench.c": TESTBENCH}
    return with_rows(files, ROWS)


def always(features, answer):
    """Return C of bncc's interface that always decides the same."""
    header = (
        "#ifndef DIGITS_H\n#define DIGITS_H\n#include <stdint.h>\ntypedef uint8_t digits_raw_t;\n"
        "int16_t digits_predict(const uint8_t *x);\n"
        "int16_t digits_predict_raw(const digits_raw_t *x);\n#endif\n"
    )
    body = '#include "digits.h"\n' + "".join(
        f"int16_t digits_{name}(const uint8_t *x)\n{{\n    (void)x;\n    return {answer};\n}}\n"
        for name in ("predict", "predict_raw")
    )
    return sources(features, {f"{NAME}.h": header, f"{NAME}.c": body})


def test_images_are_smoothed_over_blocks_of_their_inner_pixels():
    images = np.zeros((4, 28, 28), np.uint8)
    images[0] = 255  # constant
    images[1, :2] = images[1, :, -2:] = 255  # border only
    images[2, 12, 12] = 251  # in the middle of a block
    images[3, 2, 2] = 255  # in a corner, which the mirrored border does not repeat
    found = small(images).reshape(4, 8, 8)
    assert (found[0] == 255).all()
    assert not found[1].any()
    # Squares of the weights of a normal distribution at 0 and at 1.
    assert found[2, 3, 3] == int(251 / 255 * 256 * 0.39894**2) > int(251 * 0.39894**2)
    assert found[2].sum() == found[2, 3, 3]  # the middles of other blocks are three pixels away
    assert found[3, 0, 0] == int(256 * 0.24197**2)


def test_the_rows_of_a_task_are_read_back(task):
    found = task_rows(task["xgboost.c"])
    assert found.X.tolist() == ROWS.X.tolist()
    assert found.y.tolist() == ROWS.y.tolist()
    assert "#define SAMPLES_IN_FILE 4\n" in task["xgboost.h"]
    fewer = with_rows(task, Digits(ROWS.X[:1], ROWS.y[:1]))
    assert "#define SAMPLES_IN_FILE 1\n" in fewer["xgboost.h"]
    assert fewer["xgboost.c"].count("Y_test[") == 1
    with pytest.raises(DataError, match="no rows of 64 pixels"):
        task_rows(SOURCE)


def test_the_harness_counts_right_answers_and_gives_its_verdict(task, require_bench):
    bench = require_bench("cortex-m0", simulator="unicorn")
    theirs = trees(task)
    assert isinstance(theirs, Sources)
    assert run_task(theirs, task, bench, 4, 3) == (2, False)
    ours = always(theirs.interface, 8)
    assert run_task(ours, task, bench, 4, 3) == (1, False)
    agreeing = with_rows(task, Digits(ROWS.X, np.full(4, 8, np.uint8)))
    assert run_task(ours, agreeing, bench, 4, 3) == (4, True)


def test_forms_have_commands_that_train_them(tmp_path):
    found = [command(form, tmp_path / "digits.npz") for form in forms()]
    assert len(set(found)) == len(FORMS)
    assert found[0].startswith("bncc train digits.npz --fold 1 --structure tables ")


def test_a_row_of_the_table_states_accuracy_and_costs():
    one = Result("trees", right=9582, harness=126, is_verified=True, flash=31599, mean=3.4, max=5)
    last = results_table([one], 10000, 128).splitlines()[-1]
    assert last == "| trees | 95.82 % | 126 of 128 | accepted | 31,599 | 3 | 5 |"


def test_files_that_are_missing_or_short_are_named(tmp_path):
    with pytest.raises(DataError, match="--embench"):
        task_files(tmp_path)
    with pytest.raises(DataError, match="--mnist"):
        digits(tmp_path, "t10k")
    (tmp_path / "t10k-images-idx3-ubyte.gz").write_bytes(gzip.compress(bytes(20)))
    with pytest.raises(DataError, match=f"not {16 + PARTS['t10k'] * 784:,}"):
        digits(tmp_path, "t10k")
