/* tables.c -- trains the tables of a Bayesian network classifier on one core. */
#include "descent.h"

/* Row of every feature that has a table: the row of zeros if the feature is dropped out. */
static inline void find_rows(const tables_engine_t *e, const uint16_t *x, const uint8_t *noise)
{
    const uint32_t n = e->n_tables;
    uint32_t f;
    uint32_t k;

    for (f = 0U; f < n; f++) {
        e->row[f] = e->offset[f] + x[f];
    }
    for (k = 0U; k < e->n_parents; k++) {
        for (f = 0U; f < n; f++) {
            e->row[f] += e->stride[k * n + f] * x[e->parent[k * n + f]];
        }
    }
    for (f = 0U; f < n; f++) {
        e->row[f] = (noise[f] < e->samples.dropped_below) ? e->n_rows : e->row[f];
    }
}

/* Adds the gradients of one sample, and returns its loss. */
static inline double learn_from(
    tables_engine_t *e, uint32_t sample, const uint8_t *noise, float weight, const uint32_t n_lanes)
{
    const uint32_t n_vectors = n_lanes / VECTOR;
    const vector_t *theta = (const vector_t *)e->tables.theta;
    vector_t *gradient = (vector_t *)e->tables.gradient;
    vector_t sum[MOST_LANES / VECTOR];
    vector_t slope[MOST_LANES / VECTOR];
    double loss;
    uint32_t f;
    uint32_t v;

    find_rows(e, &e->samples.x[(size_t)sample * e->samples.n_features], noise);
    for (v = 0U; v < n_vectors; v++) {
        sum[v] = ((const vector_t *)e->prior.theta)[v];
    }
    for (f = 0U; f < e->n_tables; f++) {
#pragma GCC unroll 4
        for (v = 0U; v < n_vectors; v++) {
            sum[v] += theta[(size_t)e->row[f] * n_vectors + v];
        }
    }
    e->samples.n_wrong += is_wrong((const float *)sum, e->samples.y[sample], n_lanes);
    loss = loss_of(
        &e->objective, (const float *)sum, e->samples.y[sample], (float *)slope, n_lanes);
    for (v = 0U; v < n_vectors; v++) {
        slope[v] *= weight;
        ((vector_t *)e->prior.gradient)[v] += slope[v];
    }
    for (f = 0U; f < e->n_tables; f++) {
#pragma GCC unroll 4
        for (v = 0U; v < n_vectors; v++) {
            gradient[(size_t)e->row[f] * n_vectors + v] += slope[v];
        }
    }
    return loss;
}

static inline void update(const tables_engine_t *e, step_t step, const size_t n_lanes)
{
    size_t at = 0U;
    uint32_t g;
    uint32_t q;

    for (g = 0U; g < e->n_groups; g++) {
        const size_t n = e->group[2U * g + 1U];

        for (q = 0U; q < e->group[2U * g]; q++) {
            update_rows(&e->objective, &e->tables, at, n, step, n_lanes);
            at += n * n_lanes;
        }
    }
    update_prior(&e->objective, &e->prior, step);
}

static inline double epoch(
    tables_engine_t *e,
    const uint32_t *order,
    const uint8_t *noise,
    uint32_t n_samples,
    float lr,
    const uint32_t n_lanes)
{
    const uint32_t size = e->samples.batch_size;
    double loss = 0.0;
    uint32_t begin;

    e->samples.n_wrong = 0U;
    for (begin = 0U; begin < n_samples; begin += size) {
        const uint32_t left = n_samples - begin;
        const uint32_t n = (left < size) ? left : size;
        const float weight = 1.0f / (float)n;
        uint32_t i;

        for (i = begin; i < begin + n; i++) {
            const uint8_t *of_sample = &noise[(size_t)i * e->samples.n_features];

            loss += learn_from(e, order[i], of_sample, weight, n_lanes);
        }
        e->n_steps++;
        update(e, step_of(lr, e->n_steps), n_lanes);
    }
    return loss;
}

double bncc_tables_epoch(
    tables_engine_t *e, const uint32_t *order, const uint8_t *noise, uint32_t n_samples, float lr)
{
    const unsigned int before = flush_tiny();
    double loss;

    switch (e->objective.n_lanes) {
    case 8U:
        loss = epoch(e, order, noise, n_samples, lr, 8U);
        break;
    case 16U:
        loss = epoch(e, order, noise, n_samples, lr, 16U);
        break;
    case 32U:
        loss = epoch(e, order, noise, n_samples, lr, 32U);
        break;
    default:
        loss = epoch(e, order, noise, n_samples, lr, e->objective.n_lanes);
        break;
    }
    restore_tiny(before);
    return loss;
}

void bncc_tables_normalize(tables_engine_t *e)
{
    size_t at = 0U;
    uint32_t g;
    uint32_t q;

    for (g = 0U; g < e->n_groups; g++) {
        const size_t n = e->group[2U * g + 1U];

        for (q = 0U; q < e->group[2U * g]; q++) {
            normalize_rows(&e->objective, &e->tables, at, n, e->objective.n_lanes);
            at += n * e->objective.n_lanes;
        }
    }
    normalize_prior(&e->objective, &e->prior);
}
