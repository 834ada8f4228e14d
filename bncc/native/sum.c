/* sum.c -- trains boosted tables on one core.
 *
 * The same mathematics as the reference implementation, bncc/boosting/descent.py.
 */
#include "boosting.h"
#include "descent.h"

/* A row as on the device: costs relative to its best class, rounded half to even and clipped.
 * The prior has no bound. */
static inline void read_row(const sum_t *s, uint32_t row, const uint32_t n_lanes)
{
    const float *restrict rho = &s->rho[(size_t)row * n_lanes];
    float *restrict theta = &s->theta[(size_t)row * n_lanes];
    const float scale = 1.0f / s->unit;
    const float most = (row == s->n_rows) ? -NO_CLASS : s->most;
    float top = rho[0];
    uint32_t c;

    for (c = 1U; c < s->n_classes; c++) {
        top = (rho[c] > top) ? rho[c] : top;
    }
    for (c = 0U; c < n_lanes; c++) {
        const float cost = rintf((top - rho[c]) * scale);

        theta[c] = ((cost > most) ? most : cost) * -s->unit;
    }
}

static inline void read_or_copy(const sum_t *s, uint32_t row, const uint32_t n_lanes)
{
    if (s->is_quantized) {
        read_row(s, row, n_lanes);
    } else {
        const size_t at = (size_t)row * n_lanes;

        memcpy(&s->theta[at], &s->rho[at], n_lanes * sizeof(float));
    }
}

/* Adds the gradients of one sample, and returns its loss. */
static inline double learn_from(
    sum_t *s, uint32_t sample, const uint8_t *noise, float share, const uint32_t n_lanes)
{
    const uint32_t n_vectors = n_lanes / VECTOR;
    const uint32_t *row = &s->row[(size_t)sample * s->n_tables];
    const vector_t *theta = (const vector_t *)s->theta;
    vector_t *gradient = (vector_t *)s->gradient;
    vector_t sum[MOST_LANES / VECTOR];
    vector_t slope[MOST_LANES / VECTOR];
    vector_t early[MOST_LANES / VECTOR];
    float whole = 1.0f;
    double loss = 0.0;
    uint32_t t;
    uint32_t v;

    for (v = 0U; v < n_vectors; v++) {
        sum[v] = theta[(size_t)s->n_rows * n_vectors + v];
    }
    for (t = 0U; t < s->n_tables; t++) {
        const size_t at = (noise[t] < s->dropped_below) ? s->n_rows + 1U : row[t];

#pragma GCC unroll 4
        for (v = 0U; v < n_vectors; v++) {
            sum[v] += theta[at * n_vectors + v];
        }
        if (t + 1U == s->n_gate) {
            memset(early, 0, n_lanes * sizeof(float));
            loss = s->gate_weight
                * entropy_of((const float *)sum, s->y[sample], (float *)early, n_lanes);
            whole = 1.0f - s->gate_weight;
        }
    }
    memset(slope, 0, n_lanes * sizeof(float));
    loss += whole * entropy_of((const float *)sum, s->y[sample], (float *)slope, n_lanes);
    for (v = 0U; v < n_vectors; v++) {
        slope[v] *= whole * share * s->weight[sample];
    }
    for (t = s->n_tables; t-- > 0U;) {
        const size_t at = (noise[t] < s->dropped_below) ? s->n_rows + 1U : row[t];

        if (t + 1U == s->n_gate) {
            for (v = 0U; v < n_vectors; v++) {
                slope[v] += s->gate_weight * share * s->weight[sample] * early[v];
            }
        }
        s->n_hits[at]++;
#pragma GCC unroll 4
        for (v = 0U; v < n_vectors; v++) {
            gradient[at * n_vectors + v] += slope[v];
        }
    }
    for (v = 0U; v < n_vectors; v++) {
        gradient[(size_t)s->n_rows * n_vectors + v] += slope[v];
    }
    return loss * s->weight[sample];
}

/* One step of all rows that the batch has read, after weight decay. */
static inline void update(sum_t *s, float lr, const uint32_t n_lanes)
{
    const parameters_t all = {
        .rho = s->rho, .gradient = s->gradient, .first = s->first, .second = s->second,
    };
    const step_t step = step_of(lr, s->n_steps);
    const float kept = 1.0f - lr * s->decay;
    uint32_t row;
    uint32_t c;

    for (row = 0U; row < s->n_rows; row++) {
        const size_t at = (size_t)row * n_lanes;

        if (s->n_hits[row] != 0U) {
            for (c = 0U; c < n_lanes; c++) {
                s->rho[at + c] *= kept;
            }
            adam(&all, at, n_lanes, step);
            read_or_copy(s, row, n_lanes);
            s->n_hits[row] = 0U;
        }
    }
    if (s->has_prior) {
        adam(&all, (size_t)s->n_rows * n_lanes, n_lanes, step);
        read_or_copy(s, s->n_rows, n_lanes);
    }
}

static inline double epoch(
    sum_t *s,
    const uint32_t *order,
    const uint8_t *noise,
    uint32_t n_samples,
    float lr,
    const uint32_t n_lanes)
{
    double loss = 0.0;
    uint32_t begin;

    for (begin = 0U; begin < n_samples; begin += s->batch_size) {
        const uint32_t left = n_samples - begin;
        const uint32_t n = (left < s->batch_size) ? left : s->batch_size;
        uint32_t i;

        for (i = begin; i < begin + n; i++) {
            loss += learn_from(s, order[i], &noise[(size_t)i * s->n_tables], 1.0f / (float)n, n_lanes);
        }
        s->n_steps++;
        update(s, lr, n_lanes);
    }
    return loss;
}

double bncc_sum_epoch(
    sum_t *s, const uint32_t *order, const uint8_t *noise, uint32_t n_samples, float lr)
{
    const unsigned int before = flush_tiny();
    double loss;

    switch (s->n_lanes) {
    case 8U:
        loss = epoch(s, order, noise, n_samples, lr, 8U);
        break;
    case 16U:
        loss = epoch(s, order, noise, n_samples, lr, 16U);
        break;
    case 32U:
        loss = epoch(s, order, noise, n_samples, lr, 32U);
        break;
    default:
        loss = epoch(s, order, noise, n_samples, lr, s->n_lanes);
        break;
    }
    restore_tiny(before);
    return loss;
}

void bncc_sum_read(sum_t *s)
{
    uint32_t row;

    for (row = 0U; row <= s->n_rows; row++) {
        read_or_copy(s, row, s->n_lanes);
    }
}
