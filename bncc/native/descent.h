/* descent.h -- operations on tables of both engines: normalize, quantize, and step.
 *
 * The same mathematics as bncc/train/gradient/torch_engine.py, the reference. Loops over classes
 * are innermost and end at whole vectors; sizes that compilers know make them straight.
 */
#ifndef BNCC_DESCENT_H
#define BNCC_DESCENT_H

#include "arithmetic.h"
#include "loss.h"
#include "types.h"

#if defined(__SSE__)
#include <xmmintrin.h>
#endif

#define BETA1 0.9
#define BETA2 0.999
#define EPSILON 1e-8f

/* Parameters of Adam: its step, and the root that divides its second moment. */
typedef struct {
    float rate;
    float root;
} step_t;

/* Log-probabilities as on the device: rounded half to even, and clipped. S3, equation
 * 11; both products are exact. */
static inline void quantize(const objective_t *o, float *theta, size_t n)
{
    const float scale = -o->scale;
    const float unit = -1.0f / o->scale;
    const float most = o->max_cost;
    size_t i;

    for (i = 0U; i < n; i++) {
        const float cost = rintf(theta[i] * scale);

        theta[i] = ((cost > most) ? most : cost) * unit;
    }
}

/* Shifts rows of free tables so that the best class of each is at 0. */
static inline void shift_rows(const objective_t *o, const parameters_t *tables, size_t at, size_t n, const size_t n_lanes)
{
    const float *restrict rho = &tables->rho[at];
    float *restrict theta = &tables->theta[at];
    size_t s;
    size_t c;

    for (s = 0U; s < n; s++) {
        float top = rho[s * n_lanes];

        for (c = 1U; c < o->n_classes; c++) {
            top = (rho[s * n_lanes + c] > top) ? rho[s * n_lanes + c] : top;
        }
        for (c = 0U; c < n_lanes; c++) {
            theta[s * n_lanes + c] = rho[s * n_lanes + c] - top;
        }
    }
}

/* The states of one configuration of parents: n rows whose probabilities sum to 1, class by class.
 * S3, equation 9. */
static inline void log_softmax_rows(const parameters_t *tables, size_t at, size_t n, const size_t n_lanes)
{
    const float *restrict rho = &tables->rho[at];
    float *restrict theta = &tables->theta[at];
    float *restrict p = &tables->p[at];
    float top[MOST_LANES];
    float total[MOST_LANES];
    size_t s;
    size_t c;

    for (c = 0U; c < n_lanes; c++) {
        top[c] = rho[c];
        total[c] = 0.0f;
    }
    for (s = 1U; s < n; s++) {
        for (c = 0U; c < n_lanes; c++) {
            const float other = rho[s * n_lanes + c];

            top[c] = (other > top[c]) ? other : top[c];
        }
    }
    for (s = 0U; s < n; s++) {
        for (c = 0U; c < n_lanes; c++) {
            const float power = exp_of(rho[s * n_lanes + c] - top[c]);

            p[s * n_lanes + c] = power;
            total[c] += power;
        }
    }
    for (c = 0U; c < n_lanes; c++) {
        top[c] += log_of(total[c]);
        total[c] = 1.0f / total[c];
    }
    for (s = 0U; s < n; s++) {
        for (c = 0U; c < n_lanes; c++) {
            const float log_p = rho[s * n_lanes + c] - top[c];

            theta[s * n_lanes + c] = (log_p > 0.0f) ? 0.0f : log_p;
            p[s * n_lanes + c] *= total[c];
        }
    }
}

/* What n rows, the states of one configuration of parents, add to log p(x, c). */
static inline void normalize_rows(
    const objective_t *o, const parameters_t *tables, size_t at, size_t n, const size_t n_lanes)
{
    if (o->are_free) {
        shift_rows(o, tables, at, n, n_lanes);
    } else {
        log_softmax_rows(tables, at, n, n_lanes);
    }
    if (o->is_quantized) {
        quantize(o, &tables->theta[at], n * n_lanes);
    }
}

static inline void normalize_prior(const objective_t *o, const parameters_t *prior)
{
    double total = o->are_free ? 1.0 : 0.0;
    float top = prior->rho[0];
    uint32_t c;

    for (c = 1U; c < o->n_classes; c++) {
        top = (prior->rho[c] > top) ? prior->rho[c] : top;
    }
    for (c = 0U; (c < o->n_classes) && !o->are_free; c++) {
        total += exp((double)prior->rho[c] - top);
    }
    for (c = 0U; c < o->n_lanes; c++) {
        const double log_p = (double)prior->rho[c] - top - log(total);
        const float bounded = (log_p > 0.0) ? 0.0f : (float)log_p;

        prior->p[c] = (float)exp(log_p);
        prior->theta[c] = bounded;
    }
    if (o->is_quantized) {
        quantize(o, prior->theta, o->n_lanes);
    }
    for (c = o->n_classes; c < o->n_lanes; c++) {
        prior->p[c] = 0.0f;
        prior->theta[c] = NO_CLASS;
    }
}

/* One step of Adam on n parameters; their gradients become 0. */
static inline void adam(const parameters_t *all, size_t at, size_t n, step_t step)
{
    float *restrict rho = &all->rho[at];
    float *restrict gradient = &all->gradient[at];
    float *restrict first = &all->first[at];
    float *restrict second = &all->second[at];
    size_t i;

    for (i = 0U; i < n; i++) {
        const float g = gradient[i];

        first[i] += (float)(1.0 - BETA1) * (g - first[i]);
        second[i] = (float)BETA2 * second[i] + (float)(1.0 - BETA2) * g * g;
        rho[i] -= step.rate * first[i] / (sqrtf(second[i]) * step.root + EPSILON);
        gradient[i] = 0.0f;
    }
}

/* The n-th step of Adam with learning rate lr. */
static inline step_t step_of(double lr, uint64_t n)
{
    const step_t step = {
        (float)(lr / (1.0 - pow(BETA1, (double)n))),
        (float)(1.0 / sqrt(1.0 - pow(BETA2, (double)n))),
    };

    return step;
}

/* From the gradients by theta to those by rho, through the normalization of probabilities. */
static inline void through_softmax(
    const parameters_t *tables, size_t at, size_t n, const size_t n_lanes)
{
    float *restrict gradient = &tables->gradient[at];
    const float *restrict p = &tables->p[at];
    float total[MOST_LANES];
    size_t s;
    size_t c;

    for (c = 0U; c < n_lanes; c++) {
        total[c] = gradient[c];
    }
    for (s = 1U; s < n; s++) {
        for (c = 0U; c < n_lanes; c++) {
            total[c] += gradient[s * n_lanes + c];
        }
    }
    for (s = 0U; s < n; s++) {
        for (c = 0U; c < n_lanes; c++) {
            gradient[s * n_lanes + c] -= p[s * n_lanes + c] * total[c];
        }
    }
}

/* One step of n rows and their new theta: those of one configuration of parents, which stays in the
 * L1 cache meanwhile. */
static inline void update_rows(
    const objective_t *o,
    const parameters_t *tables,
    size_t at,
    size_t n,
    step_t step,
    const size_t n_lanes)
{
    if (!o->are_free) {
        through_softmax(tables, at, n, n_lanes);
    }
    adam(tables, at, n * n_lanes, step);
    normalize_rows(o, tables, at, n, n_lanes);
}

static inline void update_prior(const objective_t *o, const parameters_t *prior, step_t step)
{
    float total = 0.0f;
    uint32_t c;

    for (c = 0U; c < o->n_classes; c++) {
        total += prior->gradient[c];
    }
    for (c = 0U; (c < o->n_classes) && !o->are_free; c++) {
        prior->gradient[c] -= prior->p[c] * total;
    }
    adam(prior, 0U, o->n_lanes, step);
    normalize_prior(o, prior);
}

/* Lets numbers below 1e-38 become 0 and returns what was: most gradients are tiny, and their
 * squares would each take a hundred cycles. */
static inline unsigned int flush_tiny(void)
{
#if defined(__SSE__)
    const unsigned int before = _mm_getcsr();

    _mm_setcsr(before | 0x8040U);
    return before;
#else
    return 0U;
#endif
}

static inline void restore_tiny(unsigned int before)
{
#if defined(__SSE__)
    _mm_setcsr(before);
#else
    (void)before;
#endif
}

#endif
