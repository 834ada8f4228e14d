/* growth.c -- the cut of a feature with the largest gain, in all cells of a table at once.
 *
 * The same mathematics as the reference implementation, bncc/boosting/cuts.py.
 */
#include <stddef.h>

#include "boosting.h"
#include "worth.h"

/* Slopes summed by cell and bin. */
static inline void add_up(const growth_t *g, uint32_t feature, const uint32_t n_lanes)
{
    const uint8_t *bins = &g->bins[(size_t)feature * g->n_samples];
    const size_t n_bins = g->n_bins[feature];
    const size_t n_vectors = n_lanes / VECTOR;
    const vector_t *slopes = (const vector_t *)g->slopes;
    vector_t *sums = (vector_t *)g->sums;
    uint32_t i;
    size_t v;

    memset(sums, 0, g->n_cells * n_bins * n_lanes * sizeof(float));
    for (i = 0U; i < g->n_samples; i++) {
        vector_t *sum = &sums[(g->cell[i] * n_bins + bins[i]) * n_vectors];

#pragma GCC unroll 8
        for (v = 0U; v < n_vectors; v++) {
            sum[v] += slopes[i * n_vectors + v];
        }
    }
}

/* Adds the gain of each cut of one cell. */
static inline void gain_of_cell(const growth_t *g, const float *sums, size_t n_bins)
{
    float left[2U * MOST_CLASSES + VECTOR] = {0.0f};
    float right[2U * MOST_CLASSES + VECTOR] = {0.0f};
    const uint32_t n_lanes = g->n_lanes;
    double whole;
    size_t b;
    uint32_t v;

    for (b = 0U; b < n_bins; b++) {
        for (v = 0U; v < n_lanes; v++) {
            right[v] += sums[b * n_lanes + v];
        }
    }
    whole = worth_of(right, g->n_classes, g->l2);
    for (b = 0U; b + 1U < n_bins; b++) {
        for (v = 0U; v < n_lanes; v++) {
            left[v] += sums[b * n_lanes + v];
            right[v] -= sums[b * n_lanes + v];
        }
        g->gain[b] += worth_of(left, g->n_classes, g->l2) + worth_of(right, g->n_classes, g->l2)
            - whole;
    }
}

cut_t bncc_best_cut(const growth_t *g, uint32_t feature)
{
    const size_t n_bins = g->n_bins[feature];
    cut_t best = {0.0, 0U};
    uint32_t cell;
    uint32_t b;

    switch (g->n_lanes) {
    case 8U:
        add_up(g, feature, 8U);
        break;
    case 16U:
        add_up(g, feature, 16U);
        break;
    case 24U:
        add_up(g, feature, 24U);
        break;
    case 56U:
        add_up(g, feature, 56U);
        break;
    default:
        add_up(g, feature, g->n_lanes);
        break;
    }
    memset(g->gain, 0, n_bins * sizeof(double));
    for (cell = 0U; cell < g->n_cells; cell++) {
        gain_of_cell(g, &g->sums[cell * n_bins * g->n_lanes], n_bins);
    }
    for (b = 0U; b + 1U < n_bins; b++) {
        if (g->gain[b] > best.gain) {
            best.gain = g->gain[b];
            best.bin = b;
        }
    }
    return best;
}
