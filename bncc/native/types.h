/* types.h -- interface of the native engines. CFFI reads this file too.
 *
 * All tables are contiguous. A row has a number per class and padding, n_lanes in all, which
 * is a multiple of 8. One more row, of zeros, is that of a feature that is dropped out.
 */
#ifndef BNCC_TYPES_H
#define BNCC_TYPES_H

#include <stdint.h>

typedef struct {
    float *rho;      /* free parameters */
    float *theta;    /* summands: logarithms, quantized once that has begun */
    float *p;        /* the probabilities, unquantized; unused where tables are free */
    float *gradient; /* of the loss with respect to theta, then to rho */
    float *first;    /* moments of Adam */
    float *second;
} parameters_t;

typedef struct {
    uint32_t n_classes;
    uint32_t n_lanes;
    uint32_t has_margin;     /* S0's hinge is part of the loss */
    uint32_t is_conditional; /* the likelihood is that of the class given the features */
    uint32_t are_free;       /* tables need not be probabilities */
    uint32_t is_quantized;
    float lambda;
    float gamma;
    float eta;
    float scale;    /* 2 to the B_F */
    float max_cost; /* 2 to the B, less 1 */
} objective_t;

typedef struct {
    uint32_t n_features;
    uint32_t batch_size;
    uint32_t dropped_below; /* a feature is dropped out if its byte of noise is below this */
    const uint16_t *x;      /* [n_samples][n_features], states */
    const uint16_t *y;      /* [n_samples], classes */
    uint32_t n_wrong;       /* samples that the last epoch misclassified */
} samples_t;

/* Tables of a given structure, as in bncc/train/gradient/layout.py. */
typedef struct {
    objective_t objective;
    samples_t samples;
    uint32_t n_tables;  /* the first features, those that have the class as a parent */
    uint32_t n_parents; /* most parents of a feature */
    uint32_t n_rows;    /* of all tables */
    uint32_t n_groups;  /* blocks of tables of equal cardinality */
    const uint32_t *offset; /* [n_tables], first row of each table */
    const uint32_t *parent; /* [n_parents][n_tables] */
    const uint32_t *stride; /* [n_parents][n_tables], in rows; 0 where there is no parent */
    const uint32_t *group;  /* [n_groups][2], configurations of parents, and states */
    uint32_t *row;          /* [n_tables], scratch */
    parameters_t tables;    /* [n_rows + 1][n_lanes] */
    parameters_t prior;     /* [n_lanes] */
    uint64_t n_steps;       /* of Adam, so far */
} tables_engine_t;

/* Computes theta and p from rho. */
void bncc_tables_normalize(tables_engine_t *e);

/* Takes one step of Adam for each batch of samples, in the order given, with n_features bytes of
 * noise for each. Returns the sum of the samples' losses. */
double bncc_tables_epoch(
    tables_engine_t *e, const uint32_t *order, const uint8_t *noise, uint32_t n_samples, float lr);

/* Tables of all candidate parents, as in bncc/train/joint/candidate_layout.py: slot 0 of a feature is that
 * without a parent. Where there are widths to choose from, all choices come once for each. */
typedef struct {
    objective_t objective;
    samples_t samples;
    uint32_t n_slots;
    uint32_t n_choices;       /* slots of one width */
    uint32_t n_widths;        /* 0 where all tables have that of the format */
    uint32_t n_rows;          /* of all tables */
    const uint32_t *n_states; /* [n_features] */
    const uint32_t *offset;   /* [n_features][n_slots], first row of each table */
    const uint32_t *parent;   /* [n_features][n_slots] */
    const uint32_t *stride;   /* [n_features][n_slots], in rows; 0 where there is no parent */
    const uint32_t *size;     /* [n_features][n_slots], rows; 0 where a slot cannot be drawn */
    const float *price;       /* [n_features][n_slots], of each table in the loss */
    const float *span;        /* [n_widths], largest range of a row's logarithms */
    float *read;              /* [n_widths][n_rows][n_lanes], theta so; tables.theta without widths */
    const uint32_t *read_offset; /* [n_features][n_slots], first row of each table in `read` */
    parameters_t tables;      /* [n_rows + 1][n_lanes] */
    parameters_t prior;       /* [n_lanes] */
    uint32_t *n_drawn;        /* [n_features][n_choices], steps that each table has taken */
    uint64_t n_steps;         /* those of the prior and of phi */
    float *phi;               /* [n_features][n_slots], unnormalized log-probabilities of slots */
    float *phi_first;         /* moments of Adam */
    float *phi_second;
    float *phi_gradient; /* of the loss with respect to the indicators, then to phi */
    float phi_lr;
    float tau; /* temperature of the relaxed indicators */
    /* Scratch: */
    float *p;         /* [n_slots], probabilities of a feature's slots */
    float *log_p;     /* [n_slots] */
    float *soft;      /* [n_features][n_slots], relaxed indicators */
    uint32_t *choice; /* [n_features], slots drawn */
    uint16_t *state;  /* [n_features][batch_size] */
    uint32_t *kept;   /* [batch_size], samples that a feature is not left out of */
    float *slope;     /* [batch_size][n_lanes], log p(x, c), then the loss's derivatives by it */
} structure_engine_t;

/* Computes theta and p of all tables from rho. */
void bncc_structure_normalize(structure_engine_t *e);

/* As bncc_tables_epoch, with a structure drawn for each batch: by n_features times n_slots numbers of
 * Gumbel's distribution for each. */
double bncc_structure_epoch(
    structure_engine_t *e,
    const uint32_t *order,
    const uint8_t *noise,
    const float *gumbel,
    uint32_t n_samples,
    float lr);

#endif
