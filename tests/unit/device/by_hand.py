"""A model and C written by hand for it, so that these tests need no emitter."""

from bncc.discretize.feature import Feature
from bncc.fixed_point import QFormat
from bncc.structure.graph import forest
from tests.models import model_of

MODEL = model_of(
    [
        Feature("pressure", "int16", 3, thresholds=(-5, 100)),
        Feature("light", "int16", 2, thresholds=(0,)),
    ],
    forest([None, None]),
    QFormat(2, 2),
    [2, 2, 2],
    [[[0, 1, 15], [4, 1, 7], [15, 15, 0]], [[1, 2, 3], [3, 2, 1]]],
)
"""Naive Bayes over two sensors; of its six joint states one is a tie of classes 0 and 1."""

HEADER = """\
#ifndef HAND_H
#define HAND_H
#include <stdint.h>
#define HAND_N_FEATURES 2
#define HAND_N_CLASSES 3
typedef uint8_t hand_cost_t;
typedef int16_t hand_raw_t;
int16_t hand_predict(const uint8_t x[HAND_N_FEATURES]);
int16_t hand_predict_trusted(const uint8_t x[HAND_N_FEATURES]);
int16_t hand_scores(const uint8_t x[HAND_N_FEATURES], hand_cost_t s[HAND_N_CLASSES]);
int16_t hand_predict_raw(const hand_raw_t *x);
#endif
"""

SOURCE = """\
#include "hand.h"
static const uint8_t pressure[9] = { 0, 1, 15, 4, 1, 7, 15, 15, 0 };
static const uint8_t light[6] = { 1, 2, 3, 3, 2, 1 };
int16_t hand_scores(const uint8_t x[HAND_N_FEATURES], hand_cost_t s[HAND_N_CLASSES])
{
    int best = 0;
    int c;
    uint8_t least;
    if (x[0] > 2 || x[1] > 1) {
        s[0] = s[1] = s[2] = 0;
        return -1;
    }
    for (c = 0; c < HAND_N_CLASSES; c++) {
        s[c] = (uint8_t)(2 + pressure[3 * x[0] + c] + light[3 * x[1] + c]);
        if (s[c] < s[best]) {
            best = c;
        }
    }
    least = s[best];
    for (c = 0; c < HAND_N_CLASSES; c++) {
        s[c] = (uint8_t)(s[c] - least);
    }
    return (int16_t)best;
}
int16_t hand_predict(const uint8_t x[HAND_N_FEATURES])
{
    hand_cost_t s[HAND_N_CLASSES];
    return hand_scores(x, s);
}
int16_t hand_predict_trusted(const uint8_t x[HAND_N_FEATURES])
{
    return hand_predict(x);
}
int16_t hand_predict_raw(const hand_raw_t *x)
{
    uint8_t state[2] = { 0, 0 };
    if (x[0] != INT16_MIN) {
        state[0] = (uint8_t)((x[0] > -5) + (x[0] > 100));
    }
    if (x[1] != INT16_MIN) {
        state[1] = x[1] > 0;
    }
    return hand_predict(state);
}
"""

FILES = {"hand.h": HEADER, "hand.c": SOURCE}


def spoiled(old: str, new: str) -> dict[str, str]:
    """Return the files with one mistake in the source."""
    assert old in SOURCE
    return {"hand.h": HEADER, "hand.c": SOURCE.replace(old, new, 1)}
