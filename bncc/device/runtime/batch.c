/* batch.c -- decides on many inputs on this machine: a block of inputs side by side, all classes of
 * an input in one vector.
 *
 * Built with these, from bncc/device/batch.py: N_FEATURES, N_TABLES, ARITY (most features of a
 * table), LANES (classes and padding, which loses against all classes), ALIGNMENT (of a row, in
 * bytes), STATE, SUM, KEY (twice as wide as SUM: a cost and a class) and PLACE (unsigned types).
 * Not for devices: it multiplies, and asks gcc or clang for vectors.
 */
#include <stdint.h>
#include <string.h>

/* Inputs added up side by side: two to the number of rounds that `turn` takes. */
#define BLOCK 16U
#define ROUNDS 4U

#define FIRST_HALVES 0, 16, 1, 17, 2, 18, 3, 19, 4, 20, 5, 21, 6, 22, 7, 23
#define SECOND_HALVES 8, 24, 9, 25, 10, 26, 11, 27, 12, 28, 13, 29, 14, 30, 15, 31
#ifdef __clang__
#define ZIP(a, b, halves) __builtin_shufflevector(a, b, halves)
#else
#define ZIP(a, b, halves) __builtin_shuffle(a, b, (states_t){halves})
#endif

/* One thing of all inputs of a block: a state, the place of a row. */
typedef STATE states_t __attribute__((vector_size(BLOCK * sizeof(STATE))));
typedef PLACE places_t __attribute__((vector_size(BLOCK * sizeof(PLACE))));
/* The sums of one input, and a row of a table. */
typedef SUM sums_t __attribute__((vector_size(LANES * sizeof(SUM)), aligned(ALIGNMENT)));

void bncc_batch(const STATE *x, int16_t *y, uint32_t n_rows, const STATE *last,
    const uint32_t *feature, const PLACE *stride, const uint32_t *start, const SUM *rows,
    const SUM *prior);

/* Transposes a square of states: each round moves one bit of the row's number to the column's. */
static inline void turn(states_t square[BLOCK])
{
    uint32_t round;
    uint32_t i;

#pragma GCC unroll 4
    for (round = 0U; round < ROUNDS; round++) {
        states_t next[BLOCK];

#pragma GCC unroll 8
        for (i = 0U; i < BLOCK / 2U; i++) {
            next[2U * i] = ZIP(square[i], square[i + BLOCK / 2U], FIRST_HALVES);
            next[2U * i + 1U] = ZIP(square[i], square[i + BLOCK / 2U], SECOND_HALVES);
        }
#pragma GCC unroll 16
        for (i = 0U; i < BLOCK; i++) {
            square[i] = next[i];
        }
    }
}

/* column[f] is feature f of n inputs, and 0 for the missing rest of a block. Some of the last
 * features are transposed twice if N_FEATURES is not a multiple of a block. */
static inline void turn_inputs(states_t *column, const STATE *x, uint32_t n)
{
    static const STATE missing[N_FEATURES];
    const uint32_t width = (N_FEATURES < BLOCK) ? N_FEATURES : BLOCK;
    uint32_t begin;

    for (begin = 0U; begin < N_FEATURES; begin += BLOCK) {
        const uint32_t f = (begin + width <= N_FEATURES) ? begin : N_FEATURES - width;
        states_t square[BLOCK];
        uint32_t i;

#pragma GCC unroll 16
        for (i = 0U; i < BLOCK; i++) {
            const STATE *input = (i < n) ? &x[i * N_FEATURES] : missing;

            square[i] = (states_t){0};
            memcpy(&square[i], &input[f], width * sizeof(STATE));
        }
        turn(square);
#pragma GCC unroll 16
        for (i = 0U; i < width; i++) {
            column[f + i] = square[i];
        }
    }
}

/* All bits set where an input has a state out of range; its states become 0. */
static inline states_t take_out(states_t *column, const STATE *last)
{
    static const states_t none;
    states_t out = {0};
    uint32_t f;

    for (f = 0U; f < N_FEATURES; f++) {
        out |= (states_t)(column[f] > last[f]);
    }
    if (memcmp(&out, &none, sizeof(out)) != 0) {
        for (f = 0U; f < N_FEATURES; f++) {
            column[f] &= ~out;
        }
    }
    return out;
}

/* Class of least cost, the smallest index on ties. */
static inline int16_t least(const SUM cost[LANES])
{
    KEY best = (KEY)-1;
    uint32_t c;

    for (c = 0U; c < LANES; c++) {
        const KEY key = (KEY)(((KEY)cost[c] << 8) | c);

        best = (key < best) ? key : best;
    }
    return (int16_t)(best & 0xFFU);
}

/* y[r] is the class of x[r], or -1 where a state is out of range. `feature` and `stride` have ARITY
 * entries a table: its row is the sum of strides times states, in lanes from `start` on. */
void bncc_batch(const STATE *x, int16_t *y, uint32_t n_rows, const STATE *last,
    const uint32_t *feature, const PLACE *stride, const uint32_t *start, const SUM *rows,
    const SUM *prior)
{
    states_t column[N_FEATURES];
    places_t place[N_TABLES];
    sums_t sum[BLOCK];

    while (n_rows > 0U) {
        const uint32_t n = (n_rows < BLOCK) ? n_rows : BLOCK;
        states_t out;
        uint32_t t;
        uint32_t k;
        uint32_t i;

        turn_inputs(column, x, n);
        out = take_out(column, last);
        for (t = 0U; t < N_TABLES; t++) {
            place[t] = (places_t){0};
            for (k = 0U; k < ARITY; k++) {
                const states_t state = column[feature[t * ARITY + k]];

                place[t] += __builtin_convertvector(state, places_t) * stride[t * ARITY + k];
            }
        }
        for (i = 0U; i < BLOCK; i++) {
            sum[i] = *(const sums_t *)prior;
        }
        for (t = 0U; t < N_TABLES; t++) {
            const PLACE *at = (const PLACE *)&place[t];
            const SUM *table = &rows[start[t]];

            /* So that a row's address is one addition, and the sums stay in registers. */
            __asm__("" : "+r"(table));
#pragma GCC unroll 16
            for (i = 0U; i < BLOCK; i++) {
                sum[i] += *(const sums_t *)&table[at[i]];
            }
        }
        for (i = 0U; i < n; i++) {
            const int16_t best = least((const SUM *)&sum[i]);

            y[i] = out[i] ? (int16_t)-1 : best;
        }
        x += n * N_FEATURES;
        y += n;
        n_rows -= n;
    }
}
