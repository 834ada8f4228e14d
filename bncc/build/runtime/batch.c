/* batch.c -- decides on many inputs on this machine: the rows of all tables as vectors of sums.
 *
 * Built with these, from bncc/build/batch.py: N_FEATURES, N_TABLES, ARITY (most features of a
 * table), LANES (classes and padding, which loses against all classes), SUM and STATE (unsigned
 * types), KEY (twice as wide as SUM: a cost and a class), BLOCK. Not for devices: it multiplies,
 * and asks gcc or clang for vectors.
 */
#include <stdint.h>

typedef SUM vector_t __attribute__((vector_size(LANES * sizeof(SUM)), aligned(sizeof(SUM))));

void bncc_batch(const STATE *x, int16_t *y, uint32_t n_rows, const STATE *last,
    const uint32_t *feature, const uint32_t *stride, const uint32_t *start, const SUM *rows,
    const SUM *prior);

/* Class of least cost, the smallest index on ties. */
static int16_t least(const SUM cost[LANES])
{
    KEY best = (KEY)-1;
    uint32_t c;

    for (c = 0U; c < LANES; c++) {
        const KEY key = (KEY)(((KEY)cost[c] << 8) | c);

        best = (key < best) ? key : best;
    }
    return (int16_t)(best & 0xFFU);
}

/* 1 when a state of an input is out of range, else 0. */
static uint32_t is_out(const STATE x[N_FEATURES], const STATE last[N_FEATURES])
{
    uint32_t out = 0U;
    uint32_t f;

    for (f = 0U; f < N_FEATURES; f++) {
        out |= (uint32_t)(x[f] > last[f]);
    }
    return out;
}

/* y[r] is the class of x[r], or -1 where a state is out of range. `feature` and `stride` have ARITY
 * entries a table: its row is the sum of strides times states, in lanes from `start` on. Inputs are
 * taken in blocks, so that what is read of a table serves many. */
void bncc_batch(const STATE *x, int16_t *y, uint32_t n_rows, const STATE *last,
    const uint32_t *feature, const uint32_t *stride, const uint32_t *start, const SUM *rows,
    const SUM *prior)
{
    static const STATE zeros[N_FEATURES];
    vector_t sum[BLOCK];
    const STATE *input[BLOCK];
    uint32_t out[BLOCK];

    while (n_rows > 0U) {
        const uint32_t n = (n_rows < BLOCK) ? n_rows : BLOCK;
        uint32_t r;
        uint32_t t;

        for (r = 0U; r < BLOCK; r++) {
            const STATE *row = (r < n) ? &x[r * N_FEATURES] : zeros;

            /* What is out of range, or behind the last input, is added as zeros. */
            out[r] = is_out(row, last);
            input[r] = out[r] ? zeros : row;
            sum[r] = *(const vector_t *)prior;
        }
        for (t = 0U; t < N_TABLES; t++) {
            const SUM *table = &rows[start[t]];

/* So that the sums stay in registers. */
#pragma GCC unroll 16
            for (r = 0U; r < BLOCK; r++) {
                uint32_t at = stride[t * ARITY] * input[r][feature[t * ARITY]];
                uint32_t k;

                for (k = 1U; k < ARITY; k++) {
                    at += stride[t * ARITY + k] * input[r][feature[t * ARITY + k]];
                }
                sum[r] += *(const vector_t *)&table[at];
            }
        }
        for (r = 0U; r < n; r++) {
            SUM cost[LANES];

            *(vector_t *)cost = sum[r];
            y[r] = out[r] ? (int16_t)-1 : least(cost);
        }
        x += n * N_FEATURES;
        y += n;
        n_rows -= n;
    }
}
