/* stream.h -- rows fed to an emitted model feature by feature, each row in another order.
 *
 * In between it misuses the interface: it ends too early, feeds twice, and feeds features that do
 * not exist. Each misuse must be rejected and must not change the result. */
#ifndef BNCC_STREAM_H
#define BNCC_STREAM_H

#include "bncc_model.h"

/* The answer where a misuse was not rejected: no class and none of the errors. */
#define STREAM_WRONG ((int16_t)-100)

static uint16_t stream_order[MODEL_N_FEATURES];
static uint32_t stream_seed = 1U;

/* Samples an order; the first one is the same in every program. */
static void stream_shuffle(void)
{
    uint32_t k;

    for (k = 0U; k < MODEL_N_FEATURES; k++) {
        uint32_t at;

        stream_seed = stream_seed * 1664525U + 1013904223U;
        at = (stream_seed >> 16) % (k + 1U);
        stream_order[k] = stream_order[at];
        stream_order[at] = (uint16_t)k;
    }
}

/* 1 if features that do not exist are rejected, and so is an early end. */
static int stream_refuses(MODEL_STREAM_TYPE *s)
{
    return MODEL_FEED(s, MODEL_N_FEATURES, 0U) == MODEL_ERR_FEATURE
           && MODEL_FEED(s, UINT16_MAX, 0U) == MODEL_ERR_FEATURE
           && MODEL_END(s) == MODEL_ERR_PARTIAL;
}

/* The decision from states; MODEL_ERR_STATE if one of them is rejected. */
static int16_t stream_states(const MODEL_STATE *x)
{
    MODEL_STREAM_TYPE s;
    int16_t refused = 0;
    uint32_t k;

    stream_shuffle();
    MODEL_BEGIN(&s);
    for (k = 0U; k < MODEL_N_FEATURES; k++) {
        const uint16_t i = stream_order[k];
        int16_t answer;

        if (!stream_refuses(&s)) {
            return STREAM_WRONG;
        }
        answer = MODEL_FEED(&s, i, x[i]);
        if (answer == MODEL_ERR_STATE) {
            refused = answer;
            answer = MODEL_FEED(&s, i, 0U);
        }
        if (answer != 0 || MODEL_FEED(&s, i, 0U) != MODEL_ERR_TWICE) {
            return STREAM_WRONG;
        }
    }
    return refused != 0 ? refused : MODEL_END(&s);
}

#ifdef MODEL_FEED_RAW
/* The decision from readings. */
static int16_t stream_readings(const MODEL_RAW_TYPE *x)
{
    MODEL_STREAM_TYPE s;
    uint32_t k;

    stream_shuffle();
    MODEL_BEGIN(&s);
    for (k = 0U; k < MODEL_N_FEATURES; k++) {
        const uint16_t i = stream_order[k];

        if (!stream_refuses(&s) || MODEL_FEED_RAW(&s, MODEL_N_FEATURES, x[i]) != MODEL_ERR_FEATURE
            || MODEL_FEED_RAW(&s, i, x[i]) != 0
            || MODEL_FEED_RAW(&s, i, x[i]) != MODEL_ERR_TWICE) {
            return STREAM_WRONG;
        }
    }
    return MODEL_END(&s);
}
#endif

#endif
