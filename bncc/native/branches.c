/* branches.c -- the cut of a leaf with the largest gain, of all features.
 *
 * The same mathematics as the reference implementation, bncc/boosting/branches.py.
 */
#include <stddef.h>

#include "boosting.h"
#include "worth.h"

/* Slopes summed, and samples counted, by bin. */
static inline void add_up(
    const branches_t *g,
    const uint32_t *sample,
    uint32_t n_in_leaf,
    uint32_t feature,
    const uint32_t n_lanes)
{
    const uint8_t *bins = &g->bins[(size_t)feature * g->n_samples];
    const size_t n_bins = g->n_bins[feature];
    const size_t n_vectors = n_lanes / VECTOR;
    const vector_t *slopes = (const vector_t *)g->slopes;
    vector_t *sums = (vector_t *)g->sums;
    uint32_t i;
    size_t v;

    memset(sums, 0, n_bins * n_lanes * sizeof(float));
    memset(g->counts, 0, n_bins * sizeof(uint32_t));
    for (i = 0U; i < n_in_leaf; i++) {
        const size_t at = sample[i];
        vector_t *sum = &sums[bins[at] * n_vectors];

        g->counts[bins[at]]++;
#pragma GCC unroll 8
        for (v = 0U; v < n_vectors; v++) {
            sum[v] += slopes[at * n_vectors + v];
        }
    }
}

/* Replaces the best cut if one of this feature gains more. */
static inline void compare(const branches_t *g, uint32_t n_in_leaf, uint32_t feature, split_t *best)
{
    float left[2U * MOST_CLASSES + VECTOR] = {0.0f};
    float right[2U * MOST_CLASSES + VECTOR] = {0.0f};
    const uint32_t n_lanes = g->n_lanes;
    const uint32_t n_bins = g->n_bins[feature];
    uint32_t n_left = 0U;
    double whole;
    uint32_t b;
    uint32_t v;

    for (b = 0U; b < n_bins; b++) {
        for (v = 0U; v < n_lanes; v++) {
            right[v] += g->sums[(size_t)b * n_lanes + v];
        }
    }
    whole = worth_of(right, g->n_classes, g->l2);
    for (b = 0U; b + 1U < n_bins; b++) {
        /* A cut above a bin without samples gains as much as the one below it. */
        if (g->counts[b] != 0U) {
            for (v = 0U; v < n_lanes; v++) {
                left[v] += g->sums[(size_t)b * n_lanes + v];
                right[v] -= g->sums[(size_t)b * n_lanes + v];
            }
            n_left += g->counts[b];
            if ((n_left >= g->least) && (n_in_leaf - n_left >= g->least)) {
                const double gain = worth_of(left, g->n_classes, g->l2)
                    + worth_of(right, g->n_classes, g->l2) - whole;

                if (gain > best->gain) {
                    best->gain = gain;
                    best->feature = feature;
                    best->bin = b;
                }
            }
        }
    }
}

split_t bncc_best_split(
    const branches_t *g,
    const uint32_t *sample,
    uint32_t n_in_leaf,
    const uint32_t *feature,
    uint32_t n_features)
{
    split_t best = {0.0, 0U, 0U};
    uint32_t k;

    for (k = 0U; k < n_features; k++) {
        switch (g->n_lanes) {
        case 8U:
            add_up(g, sample, n_in_leaf, feature[k], 8U);
            break;
        case 16U:
            add_up(g, sample, n_in_leaf, feature[k], 16U);
            break;
        case 24U:
            add_up(g, sample, n_in_leaf, feature[k], 24U);
            break;
        default:
            add_up(g, sample, n_in_leaf, feature[k], g->n_lanes);
            break;
        }
        compare(g, n_in_leaf, feature[k], &best);
    }
    return best;
}
