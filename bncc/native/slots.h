/* slots.h -- the distribution of structures: sampling by the Gumbel-max trick, and its step. */
#ifndef BNCC_SLOTS_H
#define BNCC_SLOTS_H

#include "descent.h"

/* Log-probabilities of a feature's slots go to `log_p`, their exp to e->p. */
static inline void slot_probabilities(const structure_engine_t *e, uint32_t f, float *log_p)
{
    const float *phi = &e->phi[f * e->n_slots];
    const uint32_t *size = &e->size[f * e->n_slots];
    float top = phi[0];
    float total = 0.0f;
    uint32_t k;

    for (k = 1U; k < e->n_slots; k++) {
        top = (size[k] != 0U && phi[k] > top) ? phi[k] : top;
    }
    for (k = 0U; k < e->n_slots; k++) {
        e->p[k] = (size[k] != 0U) ? exp_of(phi[k] - top) : 0.0f;
        total += e->p[k];
    }
    for (k = 0U; k < e->n_slots; k++) {
        log_p[k] = (size[k] != 0U) ? phi[k] - top - log_of(total) : NO_CLASS;
        e->p[k] /= total;
    }
}

/* Samples the slot of every feature, and relaxes the indicators. Returns the expected price of all
 * tables: S3, equation 18. */
static inline double draw(structure_engine_t *e, const float *gumbel)
{
    double price = 0.0;
    uint32_t f;

    for (f = 0U; f < e->samples.n_features; f++) {
        float *soft = &e->soft[f * e->n_slots];
        float total = 0.0f;
        uint32_t best = 0U;
        float top;
        uint32_t k;

        slot_probabilities(e, f, soft);
        for (k = 0U; k < e->n_slots; k++) {
            price += (double)e->p[k] * e->price[f * e->n_slots + k];
            soft[k] += (e->size[f * e->n_slots + k] != 0U) ? gumbel[f * e->n_slots + k] : 0.0f;
            best = (soft[k] > soft[best]) ? k : best;
        }
        e->choice[f] = best;
        top = soft[best];
        for (k = 0U; k < e->n_slots; k++) {
            soft[k] = (e->size[f * e->n_slots + k] != 0U) ? exp_of((soft[k] - top) / e->tau) : 0.0f;
            total += soft[k];
        }
        for (k = 0U; k < e->n_slots; k++) {
            soft[k] /= total;
        }
    }
    return price;
}

/* From the derivatives by the indicators to those by phi, through both softmaxes, with the prices;
 * then a step. */
static inline void update_phi(structure_engine_t *e)
{
    const parameters_t phi = {
        .rho = e->phi,
        .gradient = e->phi_gradient,
        .first = e->phi_first,
        .second = e->phi_second,
    };
    uint32_t f;
    uint32_t k;

    for (f = 0U; f < e->samples.n_features; f++) {
        const float *price = &e->price[f * e->n_slots];
        const float *soft = &e->soft[f * e->n_slots];
        float *slope = &e->phi_gradient[f * e->n_slots];
        float mean = 0.0f;
        float mean_price = 0.0f;

        slot_probabilities(e, f, e->log_p);
        for (k = 0U; k < e->n_slots; k++) {
            mean += soft[k] * slope[k];
            mean_price += e->p[k] * price[k];
        }
        /* The slopes sum to 0, so what the normalization of phi would take from them is 0 too. */
        for (k = 0U; k < e->n_slots; k++) {
            const float more = price[k] - mean_price;

            slope[k] = soft[k] * (slope[k] - mean) / e->tau + e->p[k] * more;
        }
    }
    adam(&phi, 0U, (size_t)e->samples.n_features * e->n_slots, step_of(e->phi_lr, e->n_steps));
}

#endif
