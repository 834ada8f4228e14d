/* worth.h -- what a leaf is worth to second order: shared by both growths of tables. */
#ifndef BNCC_WORTH_H
#define BNCC_WORTH_H

#include "arithmetic.h"

#define MOST_CLASSES 256U

/* Twice the loss reduction of a leaf with these slopes: the sum of G^2 / (H + l2). */
static inline double worth_of(const float *slopes, uint32_t n_classes, float l2)
{
    float worth[MOST_CLASSES + VECTOR];
    const uint32_t n_padded = (n_classes + VECTOR - 1U) / VECTOR * VECTOR;
    uint32_t c;

    for (c = 0U; c < n_classes; c++) {
        worth[c] = slopes[c] * slopes[c] / (slopes[n_classes + c] + l2);
    }
    for (c = n_classes; c < n_padded; c++) {
        worth[c] = 0.0f;
    }
    return (double)sum_of(worth, n_padded);
}

#endif
