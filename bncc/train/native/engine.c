/* engine.c -- trains the tables of a Bayesian network classifier on one core.
 *
 * The same mathematics as bncc/train/torch_engine.py, which says what is meant: S3's normalized and
 * quantized log-probabilities, S0's hybrid loss or cross-entropy, a gradient that passes straight
 * through the quantizer, Adam. Loops over classes are innermost and end at whole vectors. Built
 * without the option that takes sums and rounding for exact arithmetic, see library.py.
 */
#include <math.h>
#include <stdint.h>
#include <string.h>
#include "engine.h"

#if defined(__SSE__)
#include <xmmintrin.h>
#endif

#define VECTOR 8U
#define MOST_LANES 256U
#define BETA1 0.9
#define BETA2 0.999
#define EPSILON 1e-8f
/* Terms below exp of it vanish beside 1, as in losses.py. */
#define NEGLIGIBLE_LOG (-80.0f)
/* Log-probability of what is no class: far below all others, and finite. */
#define NO_CLASS (-1e30f)

typedef float vector_t __attribute__((vector_size(VECTOR * sizeof(float))));

/* exp(x) for x <= 0, to two units in the last place; some 1e-35 for all below -80. */
static inline float exp_of(float x)
{
    const float bounded = (x < NEGLIGIBLE_LOG) ? NEGLIGIBLE_LOG : x;
    const float n = rintf(bounded * 1.44269504f);
    const float r = (bounded - n * 0.693359375f) + n * 2.12194440e-4f;
    const int32_t exponent = ((int32_t)n + 127) << 23;
    float power;
    float sum = 1.9875691500e-4f;

    sum = sum * r + 1.3981999507e-3f;
    sum = sum * r + 8.3334519073e-3f;
    sum = sum * r + 4.1665795894e-2f;
    sum = sum * r + 1.6666665459e-1f;
    sum = sum * r + 5.0000001201e-1f;
    memcpy(&power, &exponent, sizeof(power));
    return (sum * r * r + r + 1.0f) * power;
}

/* log(x) for normal x > 0, to two units in the last place. */
static inline float log_of(float x)
{
    int32_t bits;
    int32_t exponent;
    int32_t is_low;
    float m;
    float n;
    float r;
    float sum = 7.0376836292e-2f;

    memcpy(&bits, &x, sizeof(bits));
    exponent = (bits >> 23) - 126;
    bits = (bits & 0x7FFFFF) | 0x3F000000;
    memcpy(&m, &bits, sizeof(m));
    is_low = (m < 0.707106781f);
    n = (float)(exponent - is_low);
    r = (is_low ? m + m : m) - 1.0f;
    sum = sum * r - 1.1514610310e-1f;
    sum = sum * r + 1.1676998740e-1f;
    sum = sum * r - 1.2420140846e-1f;
    sum = sum * r + 1.4249322787e-1f;
    sum = sum * r - 1.6668057665e-1f;
    sum = sum * r + 2.0000714765e-1f;
    sum = sum * r - 2.4999993993e-1f;
    sum = sum * r + 3.3333331174e-1f;
    return (sum * r * r * r - n * 2.12194440e-4f - 0.5f * r * r + r) + n * 0.693359375f;
}

/* Sum of n_lanes numbers, in an order that suits vectors. */
static inline float sum_of(const float *x, const uint32_t n_lanes)
{
    float part[VECTOR] = {0.0f};
    uint32_t v;
    uint32_t c;

    for (v = 0U; v < n_lanes; v += VECTOR) {
        for (c = 0U; c < VECTOR; c++) {
            part[c] += x[v + c];
        }
    }
    return ((part[0] + part[4]) + (part[2] + part[6])) + ((part[1] + part[5]) + (part[3] + part[7]));
}

/* Log-probabilities as the device will have them: rounded half to even, and clipped. S3, equation
 * 11; both products are exact. */
static inline void quantize(const engine_t *e, float *theta, size_t n)
{
    const float scale = -e->scale;
    const float unit = -1.0f / e->scale;
    const float most = e->max_cost;
    size_t i;

    for (i = 0U; i < n; i++) {
        const float cost = rintf(theta[i] * scale);

        theta[i] = ((cost > most) ? most : cost) * unit;
    }
}

/* The states of one configuration of parents: n rows whose probabilities sum to 1, class by class.
 * S3, equation 9. */
static inline void normalize_rows(const engine_t *e, size_t at, size_t n, const size_t n_lanes)
{
    const float *restrict rho = &e->tables.rho[at];
    float *restrict theta = &e->tables.theta[at];
    float *restrict p = &e->tables.p[at];
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
    if (e->is_quantized) {
        quantize(e, theta, n * n_lanes);
    }
}

static void normalize_prior(const engine_t *e)
{
    const parameters_t *prior = &e->prior;
    double total = 0.0;
    float top = prior->rho[0];
    uint32_t c;

    for (c = 1U; c < e->n_classes; c++) {
        top = (prior->rho[c] > top) ? prior->rho[c] : top;
    }
    for (c = 0U; c < e->n_classes; c++) {
        total += exp((double)prior->rho[c] - top);
    }
    for (c = 0U; c < e->n_lanes; c++) {
        const double log_p = (double)prior->rho[c] - top - log(total);
        const float bounded = (log_p > 0.0) ? 0.0f : (float)log_p;

        prior->p[c] = (float)exp(log_p);
        prior->theta[c] = bounded;
    }
    if (e->is_quantized) {
        quantize(e, prior->theta, e->n_lanes);
    }
    for (c = e->n_classes; c < e->n_lanes; c++) {
        prior->p[c] = 0.0f;
        prior->theta[c] = NO_CLASS;
    }
}

/* Row of every feature in the tables: that of zeros where the feature is left out. */
static inline void find_rows(const engine_t *e, const uint16_t *x, const uint8_t *noise)
{
    const uint32_t n = e->n_features;
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
        e->row[f] = (noise[f] < e->dropped_below) ? e->n_rows : e->row[f];
    }
}

/* Loss of one sample; `slope` becomes its derivative by each class's log p(x, c). */
static inline double loss_of(
    const engine_t *e, const float *log_joint, uint32_t y, float *slope, const uint32_t n_lanes)
{
    const float truth = log_joint[y];
    const float sharpness = e->is_hybrid ? e->eta : 1.0f;
    float top = NO_CLASS;
    float total;
    float excess;
    uint32_t c;

    for (c = 0U; c < n_lanes; c++) {
        slope[c] = sharpness * (log_joint[c] - truth);
    }
    if (e->is_hybrid) {
        slope[y] = NO_CLASS; /* the soft maximum is that of the wrong classes */
    }
    for (c = 0U; c < n_lanes; c++) {
        top = (slope[c] > top) ? slope[c] : top;
    }
    for (c = 0U; c < n_lanes; c++) {
        slope[c] = exp_of(slope[c] - top);
    }
    total = sum_of(slope, n_lanes);
    if (!e->is_hybrid) {
        for (c = 0U; c < n_lanes; c++) {
            slope[c] /= total;
        }
        slope[y] -= 1.0f;
        return (double)top + log_of(total);
    }
    excess = e->gamma + (top + log_of(total)) / e->eta;
    if (excess <= 0.0f) {
        memset(slope, 0, n_lanes * sizeof(float));
        slope[y] = -1.0f;
        return -truth;
    }
    for (c = 0U; c < n_lanes; c++) {
        slope[c] *= e->lambda / total;
    }
    slope[y] = -e->lambda - 1.0f;
    return (double)e->lambda * excess - truth;
}

/* Adds what one sample says to the gradients, and returns its loss. */
static inline double learn_from(
    const engine_t *e, uint32_t sample, const uint8_t *noise, float weight, const uint32_t n_lanes)
{
    const uint32_t n_vectors = n_lanes / VECTOR;
    const vector_t *theta = (const vector_t *)e->tables.theta;
    vector_t *gradient = (vector_t *)e->tables.gradient;
    vector_t sum[MOST_LANES / VECTOR];
    vector_t slope[MOST_LANES / VECTOR];
    double loss;
    uint32_t f;
    uint32_t v;

    find_rows(e, &e->x[(size_t)sample * e->n_features], noise);
    for (v = 0U; v < n_vectors; v++) {
        sum[v] = ((const vector_t *)e->prior.theta)[v];
    }
    for (f = 0U; f < e->n_features; f++) {
#pragma GCC unroll 4
        for (v = 0U; v < n_vectors; v++) {
            sum[v] += theta[(size_t)e->row[f] * n_vectors + v];
        }
    }
    loss = loss_of(e, (const float *)sum, e->y[sample], (float *)slope, n_lanes);
    for (v = 0U; v < n_vectors; v++) {
        slope[v] *= weight;
        ((vector_t *)e->prior.gradient)[v] += slope[v];
    }
    for (f = 0U; f < e->n_features; f++) {
#pragma GCC unroll 4
        for (v = 0U; v < n_vectors; v++) {
            gradient[(size_t)e->row[f] * n_vectors + v] += slope[v];
        }
    }
    return loss;
}

/* One step of Adam on n parameters; their gradients become 0. */
static inline void adam(const parameters_t *all, size_t at, size_t n, float rate, float root)
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
        rho[i] -= rate * first[i] / (sqrtf(second[i]) * root + EPSILON);
        gradient[i] = 0.0f;
    }
}

/* From the gradients by theta to those by rho, through the normalization; then a step, and the new
 * theta. The rows of one configuration of parents stay in the nearest cache meanwhile. */
static inline void update_tables(const engine_t *e, float rate, float root, const size_t n_lanes)
{
    size_t at = 0U;
    uint32_t g;

    for (g = 0U; g < e->n_groups; g++) {
        const size_t n = e->group[2U * g + 1U];
        uint32_t q;

        for (q = 0U; q < e->group[2U * g]; q++) {
            float *restrict gradient = &e->tables.gradient[at];
            const float *restrict p = &e->tables.p[at];
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
            adam(&e->tables, at, n * n_lanes, rate, root);
            normalize_rows(e, at, n, n_lanes);
            at += n * n_lanes;
        }
    }
}

static void update_prior(const engine_t *e, float rate, float root)
{
    float total = 0.0f;
    uint32_t c;

    for (c = 0U; c < e->n_classes; c++) {
        total += e->prior.gradient[c];
    }
    for (c = 0U; c < e->n_classes; c++) {
        e->prior.gradient[c] -= e->prior.p[c] * total;
    }
    adam(&e->prior, 0U, e->n_lanes, rate, root);
    normalize_prior(e);
}

static inline double epoch(
    engine_t *e,
    const uint32_t *order,
    const uint8_t *noise,
    uint32_t n_samples,
    float lr,
    const uint32_t n_lanes)
{
    double loss = 0.0;
    uint32_t begin;

    for (begin = 0U; begin < n_samples; begin += e->batch_size) {
        const uint32_t left = n_samples - begin;
        const uint32_t n = (left < e->batch_size) ? left : e->batch_size;
        double t;
        float rate;
        float root;
        uint32_t i;

        for (i = begin; i < begin + n; i++) {
            loss += learn_from(e, order[i], &noise[(size_t)i * e->n_features], 1.0f / n, n_lanes);
        }
        e->n_steps++;
        t = (double)e->n_steps;
        rate = (float)(lr / (1.0 - pow(BETA1, t)));
        root = (float)(1.0 / sqrt(1.0 - pow(BETA2, t)));
        update_tables(e, rate, root, n_lanes);
        update_prior(e, rate, root);
    }
    return loss;
}

static double epoch_of_any(
    engine_t *e, const uint32_t *order, const uint8_t *noise, uint32_t n_samples, float lr)
{
    /* Sizes that compilers know make loops of whole vectors. */
    switch (e->n_lanes) {
    case 8U:
        return epoch(e, order, noise, n_samples, lr, 8U);
    case 16U:
        return epoch(e, order, noise, n_samples, lr, 16U);
    case 32U:
        return epoch(e, order, noise, n_samples, lr, 32U);
    default:
        return epoch(e, order, noise, n_samples, lr, e->n_lanes);
    }
}

double bncc_epoch(
    engine_t *e, const uint32_t *order, const uint8_t *noise, uint32_t n_samples, float lr)
{
#if defined(__SSE__)
    /* Numbers below 1e-38 become 0: most gradients are tiny, and their squares would each take a
     * hundred cycles. */
    const unsigned int before = _mm_getcsr();
    double loss;

    _mm_setcsr(before | 0x8040U);
    loss = epoch_of_any(e, order, noise, n_samples, lr);
    _mm_setcsr(before);
    return loss;
#else
    return epoch_of_any(e, order, noise, n_samples, lr);
#endif
}

void bncc_normalize(engine_t *e)
{
    size_t at = 0U;
    uint32_t g;
    uint32_t q;

    for (g = 0U; g < e->n_groups; g++) {
        for (q = 0U; q < e->group[2U * g]; q++) {
            normalize_rows(e, at, e->group[2U * g + 1U], e->n_lanes);
            at += (size_t)e->group[2U * g + 1U] * e->n_lanes;
        }
    }
    normalize_prior(e);
}
