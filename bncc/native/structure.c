/* structure.c -- trains a distribution of structures together with the tables of all candidates.
 *
 * The same mathematics as bncc/train/joint/network.py: one structure a minibatch, drawn by the
 * Gumbel-max trick; forward reads the drawn tables alone; what a table would have added is the
 * derivative by its indicator. Only drawn tables take a step. Feature after feature, so that a table
 * stays near while a batch reads it.
 */
#include "descent.h"
#include "slots.h"
#include "widths.h"

/* States of a batch, feature after feature. */
static void gather(const structure_engine_t *e, const uint32_t *order, uint32_t n)
{
    uint32_t i;
    uint32_t f;

    for (i = 0U; i < n; i++) {
        const uint16_t *x = &e->samples.x[(size_t)order[i] * e->samples.n_features];

        for (f = 0U; f < e->samples.n_features; f++) {
            e->state[(size_t)f * e->samples.batch_size + i] = x[f];
        }
    }
}

/* Finds the samples for which a feature is not dropped out; returns their number. */
static inline uint32_t keep(
    const structure_engine_t *e, uint32_t f, const uint8_t *noise, uint32_t n)
{
    uint32_t n_kept = 0U;
    uint32_t i;

    for (i = 0U; i < n; i++) {
        e->kept[n_kept] = i;
        n_kept += noise[(size_t)i * e->samples.n_features + f] >= e->samples.dropped_below;
    }
    return n_kept;
}

/* One table as a sample finds its row in it. */
typedef struct {
    const uint16_t *own;    /* states of its feature */
    const uint16_t *parent; /* states of its parent */
    uint32_t offset;
    uint32_t stride;
} reader_t;

/* Address of slot k of a feature among tables that begin at the given offsets. */
static inline reader_t reader_of(
    const structure_engine_t *e, const uint32_t *offset, uint32_t f, uint32_t k)
{
    const size_t slot = (size_t)f * e->n_slots + k;
    const size_t size = e->samples.batch_size;
    const reader_t reader = {
        &e->state[f * size],
        &e->state[e->parent[slot] * size],
        offset[slot],
        e->stride[slot],
    };

    return reader;
}

static inline size_t row_of(const reader_t *reader, uint32_t i)
{
    return reader->offset + reader->own[i] + (size_t)reader->stride * reader->parent[i];
}

/* log p(x, c) of all samples of a batch under the sampled structure. */
static inline void add_rows(
    const structure_engine_t *e, const uint8_t *noise, uint32_t n, const uint32_t n_lanes)
{
    const uint32_t n_vectors = n_lanes / VECTOR;
    const vector_t *theta = (const vector_t *)e->read;
    vector_t *sum = (vector_t *)e->slope;
    uint32_t f;
    uint32_t i;
    uint32_t v;

    for (i = 0U; i < n; i++) {
        memcpy(&sum[(size_t)i * n_vectors], e->prior.theta, n_lanes * sizeof(float));
    }
    for (f = 0U; f < e->samples.n_features; f++) {
        const uint32_t n_kept = keep(e, f, noise, n);
        const reader_t reader = reader_of(e, e->read_offset, f, e->choice[f]);

        for (i = 0U; i < n_kept; i++) {
            const size_t row = row_of(&reader, e->kept[i]);

#pragma GCC unroll 4
            for (v = 0U; v < n_vectors; v++) {
                sum[(size_t)e->kept[i] * n_vectors + v] += theta[row * n_vectors + v];
            }
        }
    }
}

/* Converts log p(x, c) to slopes and adds up those of the prior. Returns the sum of losses. */
static inline double judge(
    structure_engine_t *e, const uint32_t *order, uint32_t n, const uint32_t n_lanes)
{
    const float weight = 1.0f / (float)n;
    float slope[MOST_LANES];
    double loss = 0.0;
    uint32_t i;
    uint32_t c;

    for (i = 0U; i < n; i++) {
        float *of_sample = &e->slope[(size_t)i * n_lanes];

        e->samples.n_wrong += is_wrong(of_sample, e->samples.y[order[i]], n_lanes);
        loss += loss_of(&e->objective, of_sample, e->samples.y[order[i]], slope, n_lanes);
        for (c = 0U; c < n_lanes; c++) {
            of_sample[c] = slope[c] * weight;
            e->prior.gradient[c] += of_sample[c];
        }
    }
    return loss;
}

/* Gradients of the sampled tables, and of the indicator of every existing table. */
static inline void collect(
    const structure_engine_t *e, const uint8_t *noise, uint32_t n, const uint32_t n_lanes)
{
    const uint32_t n_vectors = n_lanes / VECTOR;
    const vector_t *theta = (const vector_t *)e->read;
    vector_t *gradient = (vector_t *)e->tables.gradient;
    const vector_t *slope = (const vector_t *)e->slope;
    uint32_t f;
    uint32_t k;
    uint32_t i;
    uint32_t v;

    for (f = 0U; f < e->samples.n_features; f++) {
        const uint32_t n_kept = keep(e, f, noise, n);
        const reader_t drawn = reader_of(e, e->offset, f, e->choice[f]);

        for (i = 0U; i < n_kept; i++) {
            const size_t row = row_of(&drawn, e->kept[i]);

#pragma GCC unroll 4
            for (v = 0U; v < n_vectors; v++) {
                gradient[row * n_vectors + v] += slope[(size_t)e->kept[i] * n_vectors + v];
            }
        }
        for (k = 0U; k < e->n_slots; k++) {
            vector_t part[MOST_LANES / VECTOR];
            reader_t reader;

            if (e->size[f * e->n_slots + k] == 0U) {
                continue;
            }
            reader = reader_of(e, e->read_offset, f, k);
            memset(part, 0, n_lanes * sizeof(float));
            for (i = 0U; i < n_kept; i++) {
                const size_t row = row_of(&reader, e->kept[i]);

#pragma GCC unroll 4
                for (v = 0U; v < n_vectors; v++) {
                    part[v] += theta[row * n_vectors + v]
                        * slope[(size_t)e->kept[i] * n_vectors + v];
                }
            }
            e->phi_gradient[f * e->n_slots + k] = sum_of((const float *)part, n_lanes);
        }
    }
}

/* One step of the sampled tables, the prior and phi. */
static inline void update(structure_engine_t *e, float lr, const size_t n_lanes)
{
    uint32_t f;

    for (f = 0U; f < e->samples.n_features; f++) {
        const uint32_t k = e->choice[f] % e->n_choices;
        const size_t slot = (size_t)f * e->n_slots + k;
        uint32_t *n_drawn = &e->n_drawn[(size_t)f * e->n_choices + k];
        const size_t n = e->n_states[f];
        step_t step;
        size_t row;

        ++*n_drawn;
        step = step_of(lr, *n_drawn);
        for (row = e->offset[slot]; row < e->offset[slot] + e->size[slot]; row += n) {
            update_rows(&e->objective, &e->tables, row * n_lanes, n, step, n_lanes);
        }
        narrow(e, e->offset[slot], e->size[slot], n_lanes);
    }
    e->n_steps++;
    update_prior(&e->objective, &e->prior, step_of(lr, e->n_steps));
    update_phi(e);
}

static inline double epoch(
    structure_engine_t *e,
    const uint32_t *order,
    const uint8_t *noise,
    const float *gumbel,
    uint32_t n_samples,
    float lr,
    const uint32_t n_lanes)
{
    const uint32_t n_features = e->samples.n_features;
    double loss = 0.0;
    uint32_t begin;

    e->samples.n_wrong = 0U;
    for (begin = 0U; begin < n_samples; begin += e->samples.batch_size) {
        const uint32_t left = n_samples - begin;
        const uint32_t n = (left < e->samples.batch_size) ? left : e->samples.batch_size;
        const uint8_t *of_batch = &noise[(size_t)begin * n_features];

        loss += n * draw(e, gumbel);
        gumbel += (size_t)n_features * e->n_slots;
        gather(e, &order[begin], n);
        add_rows(e, of_batch, n, n_lanes);
        loss += judge(e, &order[begin], n, n_lanes);
        collect(e, of_batch, n, n_lanes);
        update(e, lr, n_lanes);
    }
    return loss;
}

double bncc_structure_epoch(
    structure_engine_t *e,
    const uint32_t *order,
    const uint8_t *noise,
    const float *gumbel,
    uint32_t n_samples,
    float lr)
{
    const unsigned int before = flush_tiny();
    double loss;

    switch (e->objective.n_lanes) {
    case 8U:
        loss = epoch(e, order, noise, gumbel, n_samples, lr, 8U);
        break;
    case 16U:
        loss = epoch(e, order, noise, gumbel, n_samples, lr, 16U);
        break;
    case 32U:
        loss = epoch(e, order, noise, gumbel, n_samples, lr, 32U);
        break;
    default:
        loss = epoch(e, order, noise, gumbel, n_samples, lr, e->objective.n_lanes);
        break;
    }
    restore_tiny(before);
    return loss;
}

void bncc_structure_normalize(structure_engine_t *e)
{
    const size_t n_lanes = e->objective.n_lanes;
    uint32_t f;
    uint32_t k;

    for (f = 0U; f < e->samples.n_features; f++) {
        const size_t n = e->n_states[f];

        for (k = 0U; k < e->n_choices; k++) {
            const size_t slot = (size_t)f * e->n_slots + k;
            size_t row;

            for (row = e->offset[slot]; row < e->offset[slot] + e->size[slot]; row += n) {
                normalize_rows(&e->objective, &e->tables, row * n_lanes, n, n_lanes);
            }
        }
    }
    narrow(e, 0U, e->n_rows, n_lanes);
    normalize_prior(&e->objective, &e->prior);
}
