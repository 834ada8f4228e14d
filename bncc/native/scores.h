/* scores.h -- interface between bncc/structure/margin_scores/score.py and C.
 *
 * The same integers as the reference, its numpy engine.
 */
#ifndef BNCC_SCORES_H
#define BNCC_SCORES_H

#include <stdint.h>

/* Kinds of scores. */
enum { BNCC_MM, BNCC_CR, BNCC_CL };

/* The rows, and the joint of the present tree. */
typedef struct {
    uint32_t n_samples;
    uint32_t n_classes;
    int32_t kind;
    int32_t most;        /* the largest integer of a row */
    double scale;        /* integers of one nat */
    const int32_t *y;    /* [n_samples], classes */
    int32_t *joint;      /* [n_samples][n_classes] */
    uint32_t *order;     /* [n_samples], a permutation: misclassified rows move to its front */
    int32_t *work;       /* [n_classes] */
} scores_t;

/* Term of one feature in the joint. Row m reads the values from
 * (child[m] * n_parent_states + parent[m]) * n_classes on; or from m * n_classes on where child is
 * null. */
typedef struct {
    const int32_t *values;
    const int32_t *child;  /* [n_samples], fold and state of the feature as one index */
    const int32_t *parent; /* [n_samples], states */
    int32_t n_parent_states;
} term_t;

/* Replaces a term of the joint by another. */
void bncc_exchange(scores_t *s, const term_t *out, const term_t *into);

/* Returns the score with a term exchanged. With is_bounded, rows are read in their order, and only
 * until the score cannot be at_least any more: then the return is the most that it could be. */
int64_t bncc_score(
    scores_t *s, const term_t *out, const term_t *into, int64_t at_least, int32_t is_bounded);

#endif
