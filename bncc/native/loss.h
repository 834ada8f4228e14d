/* loss.h -- loss of a sample's log p(x, c), and its slopes.
 *
 * The same mathematics as the reference implementation, bncc/train/gradient/torch_engine.py.
 */
#ifndef BNCC_LOSS_H
#define BNCC_LOSS_H

#include "arithmetic.h"
#include "types.h"

#define MOST_LANES 256U
/* Log-probability of a lane that is not a class: far below all others, and finite. */
#define NO_CLASS (-1e30f)

/* 1 if a sample is misclassified, else 0; ties go to the first class. */
static inline uint32_t is_wrong(const float *log_joint, uint32_t y, const uint32_t n_lanes)
{
    const float truth = log_joint[y];
    uint32_t n_before = 0U;
    uint32_t c;

    for (c = 0U; c < n_lanes; c++) {
        n_before += (log_joint[c] > truth) | ((log_joint[c] == truth) & (c < y));
    }
    return n_before != 0U;
}

/* S0's hinge of one sample; `slope` becomes its derivative by each class's log p(x, c). */
static inline double margin_of(
    const objective_t *o, const float *log_joint, uint32_t y, float *slope, const uint32_t n_lanes)
{
    const float truth = log_joint[y];
    float top = NO_CLASS;
    float total;
    float excess;
    uint32_t c;

    for (c = 0U; c < n_lanes; c++) {
        slope[c] = o->eta * (log_joint[c] - truth);
    }
    slope[y] = NO_CLASS; /* the soft maximum is that of the wrong classes */
    for (c = 0U; c < n_lanes; c++) {
        top = (slope[c] > top) ? slope[c] : top;
    }
    for (c = 0U; c < n_lanes; c++) {
        slope[c] = exp_of(slope[c] - top);
    }
    total = sum_of(slope, n_lanes);
    excess = o->gamma + (top + log_of(total)) / o->eta;
    if (excess <= 0.0f) {
        memset(slope, 0, n_lanes * sizeof(float));
        return 0.0;
    }
    for (c = 0U; c < n_lanes; c++) {
        slope[c] *= o->lambda / total;
    }
    slope[y] = -o->lambda;
    return (double)o->lambda * excess;
}

/* -log p(c|x) of one sample; its derivatives are added to `slope`. */
static inline double entropy_of(
    const float *log_joint, uint32_t y, float *slope, const uint32_t n_lanes)
{
    float power[MOST_LANES];
    float top = NO_CLASS;
    float total;
    uint32_t c;

    for (c = 0U; c < n_lanes; c++) {
        top = (log_joint[c] > top) ? log_joint[c] : top;
    }
    for (c = 0U; c < n_lanes; c++) {
        power[c] = exp_of(log_joint[c] - top);
    }
    total = sum_of(power, n_lanes);
    for (c = 0U; c < n_lanes; c++) {
        slope[c] += power[c] / total;
    }
    slope[y] -= 1.0f;
    return (double)(top - log_joint[y]) + log_of(total);
}

/* Loss of one sample; `slope` becomes its derivative by each class's log p(x, c). */
static inline double loss_of(
    const objective_t *o, const float *log_joint, uint32_t y, float *slope, const uint32_t n_lanes)
{
    double loss = 0.0;

    if (o->has_margin) {
        loss = margin_of(o, log_joint, y, slope, n_lanes);
    } else {
        memset(slope, 0, n_lanes * sizeof(float));
    }
    if (o->is_conditional) {
        return loss + entropy_of(log_joint, y, slope, n_lanes);
    }
    slope[y] -= 1.0f;
    return loss - log_joint[y];
}

#endif
