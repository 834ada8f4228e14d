/* boosting.h -- interface of the native steps of boosting. CFFI reads this file too. */
#ifndef BNCC_BOOSTING_H
#define BNCC_BOOSTING_H

#include <stdint.h>

/* A table in growth: samples in cells, one for each of its rows so far. A sample's slopes are the
 * first derivatives of the loss by the classes' scores, then the second ones, then padding. */
typedef struct {
    uint32_t n_samples;
    uint32_t n_classes;
    uint32_t n_lanes; /* of a sample's slopes: a multiple of 8, at least two per class */
    uint32_t n_cells;
    const float *slopes;    /* [n_samples][n_lanes] */
    const uint16_t *cell;   /* [n_samples] */
    const uint8_t *bins;    /* [n_features][n_samples] */
    const uint16_t *n_bins; /* [n_features] */
    float *sums;            /* [n_cells][most bins][n_lanes], scratch */
    double *gain;           /* [most bins], scratch */
    float l2;
} growth_t;

/* Writes the largest gain of a cut of one feature, and the bin below that cut. */
typedef struct {
    double gain;
    uint32_t bin;
} cut_t;

cut_t bncc_best_cut(const growth_t *g, uint32_t feature);

/* A branching table in growth: samples with slopes as above. */
typedef struct {
    uint32_t n_samples;
    uint32_t n_classes;
    uint32_t n_lanes;       /* of a sample's slopes: a multiple of 8, at least two per class */
    uint32_t least;         /* fewest samples on either side of a cut */
    const float *slopes;    /* [n_samples][n_lanes] */
    const uint8_t *bins;    /* [n_features][n_samples] */
    const uint16_t *n_bins; /* [n_features] */
    float *sums;            /* [most bins][n_lanes], scratch */
    uint32_t *counts;       /* [most bins], scratch */
    float l2;
} branches_t;

/* The cut of a leaf with the largest gain; none gains anything if the gain is 0. */
typedef struct {
    double gain;
    uint32_t feature;
    uint32_t bin; /* the last one below the cut */
} split_t;

/* Finds the best cut of a leaf's samples by one of some features, the first on ties. */
split_t bncc_best_split(
    const branches_t *g,
    const uint32_t *sample,
    uint32_t n_in_leaf,
    const uint32_t *feature,
    uint32_t n_features);

/* Samples whose losses have slopes: as above, without padding. */
typedef struct {
    uint32_t n_samples;
    uint32_t n_classes;
    const uint16_t *y;   /* [n_samples], classes */
    const float *weight; /* [n_samples], of mean 1 */
} slopes_t;

/* Writes slopes, [n_samples][2 * n_classes], of sums, [n_samples][n_classes]. */
void bncc_slopes(const slopes_t *s, const float *sums, float *slopes);

/* Adds slopes to sums, [n_rows][2 * n_classes], by the row of each sample. */
void bncc_slopes_by_row(const slopes_t *s, const float *slopes, const uint16_t *row, double *sums);

/* Boosted tables in training. All rows are contiguous, n_lanes numbers each: those of the
 * tables, the prior, and one of zeros for a table that is dropped out. */
typedef struct {
    uint32_t n_tables;
    uint32_t n_classes;
    uint32_t n_lanes; /* a multiple of 8 */
    uint32_t n_rows;  /* of the tables; the prior's index */
    uint32_t batch_size;
    uint32_t dropped_below; /* a table is dropped out if its byte of noise is below this */
    uint32_t has_prior;     /* the prior is trained too */
    uint32_t is_quantized;
    uint32_t n_gate;   /* tables whose sum has a loss of its own; 0 for none */
    float gate_weight; /* of that loss; that of all tables has the remainder of 1 */
    float unit;  /* nats of a cost of 1 */
    float most;  /* the largest cost in a table */
    float decay; /* weight decay, as a part of the step of Adam */
    const uint32_t *row;   /* [n_samples][n_tables] */
    const uint16_t *y;     /* [n_samples], classes */
    const float *weight;   /* [n_samples], of mean 1 */
    float *rho;            /* [n_rows + 2][n_lanes], free parameters */
    float *theta;          /* the values that are read: quantized once that has begun */
    float *gradient;
    float *first;          /* moments of Adam */
    float *second;
    uint32_t *n_hits;      /* [n_rows + 2], samples of a batch that read a row */
    uint64_t n_steps;      /* of Adam, so far */
} sum_t;

/* Computes theta of all rows from rho. */
void bncc_sum_read(sum_t *s);

/* Takes one step of Adam for each batch of samples, in the order given, with n_tables bytes of noise
 * for each. Returns the sum of the samples' losses. */
double bncc_sum_epoch(
    sum_t *s, const uint32_t *order, const uint8_t *noise, uint32_t n_samples, float lr);

#endif
