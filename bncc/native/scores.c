/* scores.c -- scores trees on one core. */
#include "scores.h"

#include <math.h>
#include <stddef.h>

static inline const int32_t *values_of(const term_t *t, uint32_t m, const uint32_t n_classes)
{
    size_t cell = m;

    if (t->child != NULL) {
        cell = (size_t)t->child[m] * (size_t)t->n_parent_states + (size_t)t->parent[m];
    }
    return &t->values[cell * n_classes];
}

/* The largest joint of another class; classes before the row's own win ties on request. */
static inline int32_t best_other(
    const int32_t *joint, int32_t own, int32_t win_ties, const uint32_t n_classes)
{
    int32_t best = INT32_MIN;
    int32_t c;

    for (c = 0; c < (int32_t)n_classes; c++) {
        const int32_t value = joint[c] + ((c < own) ? win_ties : 0);

        best = ((c != own) && (value > best)) ? value : best;
    }
    return best;
}

static inline int64_t surprise(
    const scores_t *s, const int32_t *joint, int32_t own, const uint32_t n_classes)
{
    double sum = 0.0;
    int32_t top = joint[0];
    uint32_t c;

    for (c = 1U; c < n_classes; c++) {
        top = (joint[c] > top) ? joint[c] : top;
    }
    for (c = 0U; c < n_classes; c++) {
        sum += exp((double)(joint[c] - top) / s->scale);
    }
    return ((int64_t)top - joint[own]) + (int64_t)rint(log(sum) * s->scale);
}

/* The integer of one row. */
static inline int64_t gain_of(
    const scores_t *s, const int32_t *joint, int32_t own, const uint32_t n_classes)
{
    int64_t margin;

    if (s->kind == BNCC_CL) {
        return -surprise(s, joint, own, n_classes);
    }
    margin = (int64_t)joint[own] - best_other(joint, own, (s->kind == BNCC_CR) ? 1 : 0, n_classes);
    if (s->kind == BNCC_CR) {
        return (margin >= 0) ? 1 : 0;
    }
    return (margin < s->most) ? margin : s->most;
}

static inline int64_t row_gain(
    scores_t *s, const term_t *out, const term_t *into, uint32_t m, const uint32_t n_classes)
{
    const int32_t *joint = &s->joint[(size_t)m * n_classes];
    const int32_t *taken = values_of(out, m, n_classes);
    const int32_t *given = values_of(into, m, n_classes);
    int32_t *work = s->work;
    uint32_t c;

    for (c = 0U; c < n_classes; c++) {
        work[c] = joint[c] - taken[c] + given[c];
    }
    return gain_of(s, work, s->y[m], n_classes);
}

static inline int64_t score(
    scores_t *s, const term_t *out, const term_t *into, const uint32_t n_classes)
{
    int64_t total = 0;
    uint32_t m;

    for (m = 0U; m < s->n_samples; m++) {
        total += row_gain(s, out, into, m, n_classes);
    }
    return total;
}

static inline int64_t bounded_score(
    scores_t *s, const term_t *out, const term_t *into, int64_t at_least, const uint32_t n_classes)
{
    int64_t bound = (int64_t)s->n_samples * s->most;
    uint32_t n_hard = 0U;
    uint32_t i;

    for (i = 0U; (i < s->n_samples) && (bound >= at_least); i++) {
        const uint32_t m = s->order[i];
        const int64_t gain = row_gain(s, out, into, m, n_classes);

        bound -= s->most - gain;
        if (gain <= 0) {
            s->order[i] = s->order[n_hard];
            s->order[n_hard] = m;
            n_hard++;
        }
    }
    return bound;
}

int64_t bncc_score(
    scores_t *s, const term_t *out, const term_t *into, int64_t at_least, int32_t is_bounded)
{
    switch (s->n_classes) {
    case 2U:
        return is_bounded ? bounded_score(s, out, into, at_least, 2U) : score(s, out, into, 2U);
    case 10U:
        return is_bounded ? bounded_score(s, out, into, at_least, 10U) : score(s, out, into, 10U);
    default:
        return is_bounded ? bounded_score(s, out, into, at_least, s->n_classes)
                          : score(s, out, into, s->n_classes);
    }
}

void bncc_exchange(scores_t *s, const term_t *out, const term_t *into)
{
    const uint32_t n_classes = s->n_classes;
    uint32_t m;
    uint32_t c;

    for (m = 0U; m < s->n_samples; m++) {
        const int32_t *taken = values_of(out, m, n_classes);
        const int32_t *given = values_of(into, m, n_classes);

        for (c = 0U; c < n_classes; c++) {
            s->joint[(size_t)m * n_classes + c] += given[c] - taken[c];
        }
    }
}
