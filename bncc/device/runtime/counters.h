/* counters.h -- operations on the counters of an emitted model, for driver.c and harness.c. */
#ifndef BNCC_COUNTERS_H
#define BNCC_COUNTERS_H

#include "bncc_model.h"

/* Operations: from 3 on the number of a counter to be read, with 2^16 added to be set. */
#define COUNTERS_COUNT 0U
#define COUNTERS_CLEAR 1U
#define COUNTERS_BEGIN 2U
#define COUNTERS_READ 3U
#define COUNTERS_SET 0x10000U

/* Words of a row: an operation, the value to be set, and the scores. */
#define COUNTERS_WORDS (2U + MODEL_N_CLASSES)

/* The members are numbers of one type, without padding. */
static union {
    MODEL_COUNTERS_TYPE counters;
    uint16_t n[sizeof(MODEL_COUNTERS_TYPE) / sizeof(uint16_t)];
} counting;

#ifdef MODEL_COUNTS_UNKNOWN
static int16_t counters_step(const uint32_t *words, const MODEL_RAW_TYPE *raw)
#else
static int16_t counters_step(const uint32_t *words)
#endif
{
    const uint32_t operation = words[0];
    MODEL_COST scores[MODEL_N_CLASSES];
    uint32_t c;

    if (operation >= COUNTERS_SET) {
        counting.n[operation - COUNTERS_SET - COUNTERS_READ] = (uint16_t)words[1];
        return 0;
    }
    if (operation >= COUNTERS_READ) {
        return (int16_t)counting.n[operation - COUNTERS_READ];
    }
    if (operation == COUNTERS_CLEAR) {
        MODEL_COUNTERS_CLEAR(&counting.counters);
        return 0;
    }
    if (operation == COUNTERS_BEGIN) {
#ifdef MODEL_COUNTERS_BEGIN
        MODEL_COUNTERS_BEGIN(&counting.counters);
#endif
        return 0;
    }
    for (c = 0U; c < MODEL_N_CLASSES; c++) {
        scores[c] = (MODEL_COST)words[2U + c];
    }
#ifdef MODEL_COUNTS_UNKNOWN
    return MODEL_COUNT(&counting.counters, raw, scores);
#else
    return MODEL_COUNT(&counting.counters, scores);
#endif
}

#endif
