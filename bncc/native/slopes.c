/* slopes.c -- derivatives of the samples' losses, and their sums by the row of a table.
 *
 * The same mathematics as the reference implementation, bncc/boosting/sums.py.
 */
#include <stddef.h>

#include "boosting.h"
#include "loss.h"

void bncc_slopes(const slopes_t *s, const float *sums, float *slopes)
{
    const uint32_t n_classes = s->n_classes;
    const uint32_t n_lanes = (n_classes + VECTOR - 1U) / VECTOR * VECTOR;
    float log_joint[MOST_LANES];
    float first[MOST_LANES];
    uint32_t i;
    uint32_t c;

    for (c = n_classes; c < n_lanes; c++) {
        log_joint[c] = NO_CLASS;
    }
    for (i = 0U; i < s->n_samples; i++) {
        float *slope = &slopes[(size_t)i * 2U * n_classes];
        const float weight = s->weight[i];

        memcpy(log_joint, &sums[(size_t)i * n_classes], n_classes * sizeof(float));
        memset(first, 0, n_lanes * sizeof(float));
        (void)entropy_of(log_joint, s->y[i], first, n_lanes);
        for (c = 0U; c < n_classes; c++) {
            const float p = first[c] + ((c == s->y[i]) ? 1.0f : 0.0f);

            slope[c] = first[c] * weight;
            slope[n_classes + c] = p * (1.0f - p) * weight;
        }
    }
}

void bncc_slopes_by_row(const slopes_t *s, const float *slopes, const uint16_t *row, double *sums)
{
    const size_t n_lanes = 2U * (size_t)s->n_classes;
    uint32_t i;
    size_t v;

    for (i = 0U; i < s->n_samples; i++) {
        const float *slope = &slopes[i * n_lanes];
        double *sum = &sums[row[i] * n_lanes];

        for (v = 0U; v < n_lanes; v++) {
            sum[v] += (double)slope[v];
        }
    }
}
