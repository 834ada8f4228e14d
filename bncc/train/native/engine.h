/* What Python hands to the native engine. CFFI reads this file too: there is nothing but C here.
 *
 * All tables lie below one another as in bncc/train/layout.py. A row has a number per class and
 * padding, n_lanes in all, which is a multiple of 8. One more row, of zeros, is that of a feature
 * which is left out.
 */
typedef struct {
    float *rho;      /* free parameters */
    float *theta;    /* their logarithms of probabilities, quantized once that has begun */
    float *p;        /* the probabilities, unquantized */
    float *gradient; /* of the loss with respect to theta, then to rho */
    float *first;    /* moments of Adam */
    float *second;
} parameters_t;

typedef struct {
    uint32_t n_features;
    uint32_t n_parents; /* most parents of a feature */
    uint32_t n_classes;
    uint32_t n_lanes;
    uint32_t n_rows;   /* of all tables */
    uint32_t n_groups; /* blocks of tables of equal cardinality */
    uint32_t batch_size;
    uint32_t dropped_below; /* a feature is left out where its byte of noise is below this */
    uint32_t is_hybrid;     /* S0's hybrid loss, else cross-entropy */
    uint32_t is_quantized;
    float lambda;
    float gamma;
    float eta;
    float scale;    /* 2 to the B_F */
    float max_cost; /* 2 to the B, less 1 */
    uint64_t n_steps; /* of Adam, so far */

    const uint16_t *x;      /* [n_samples][n_features], states */
    const uint16_t *y;      /* [n_samples], classes */
    const uint32_t *offset; /* [n_features], first row of each table */
    const uint32_t *parent; /* [n_parents][n_features] */
    const uint32_t *stride; /* [n_parents][n_features], in rows; 0 where there is no parent */
    const uint32_t *group;  /* [n_groups][2], configurations of parents, and states */
    uint32_t *row;          /* [n_features], scratch */

    parameters_t tables; /* [n_rows + 1][n_lanes] */
    parameters_t prior;  /* [n_lanes] */
} engine_t;

/* Computes theta and p from rho. */
void bncc_normalize(engine_t *e);

/* Takes one step of Adam for each batch of samples, in the order given, with n_features bytes of
 * noise for each. Returns the sum of the samples' losses. */
double bncc_epoch(
    engine_t *e, const uint32_t *order, const uint8_t *noise, uint32_t n_samples, float lr);
