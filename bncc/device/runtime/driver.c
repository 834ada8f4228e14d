/* driver.c -- loops over rows around one emitted model, as a shared library on the host.
 * bncc_model.h, written to the same folder by bncc/device/sources.py, selects the model. */
#include "bncc_model.h"
#ifdef MODEL_STREAM_TYPE
#include "stream.h"
#endif
#ifdef MODEL_COUNTERS_TYPE
#include "counters.h"
#endif
#ifdef MODEL_ADAPTATION_TYPE
#include "adaptation.h"
#endif

uint32_t bncc_cost_size(void);
uint32_t bncc_raw_size(void);
void bncc_predict(const MODEL_STATE *x, int16_t *y, uint32_t n_rows);

uint32_t bncc_cost_size(void)
{
    return (uint32_t)MODEL_COST_SIZE;
}

uint32_t bncc_raw_size(void)
{
    return (uint32_t)MODEL_RAW_SIZE;
}

void bncc_predict(const MODEL_STATE *x, int16_t *y, uint32_t n_rows)
{
    for (; n_rows > 0U; n_rows--) {
        *y++ = MODEL_PREDICT(x);
        x += MODEL_N_FEATURES;
    }
}

#ifdef MODEL_TRUSTED
void bncc_trusted(const MODEL_STATE *x, int16_t *y, uint32_t n_rows);

void bncc_trusted(const MODEL_STATE *x, int16_t *y, uint32_t n_rows)
{
    for (; n_rows > 0U; n_rows--) {
        *y++ = MODEL_TRUSTED(x);
        x += MODEL_N_FEATURES;
    }
}
#endif

#ifdef MODEL_SCORES
void bncc_scores(const MODEL_STATE *x, int16_t *y, MODEL_COST *s, uint32_t n_rows);

void bncc_scores(const MODEL_STATE *x, int16_t *y, MODEL_COST *s, uint32_t n_rows)
{
    for (; n_rows > 0U; n_rows--) {
        *y++ = MODEL_SCORES(x, s);
        x += MODEL_N_FEATURES;
        s += MODEL_N_CLASSES;
    }
}
#endif

#ifdef MODEL_RAW
void bncc_raw(const MODEL_RAW_TYPE *x, int16_t *y, uint32_t n_rows);

void bncc_raw(const MODEL_RAW_TYPE *x, int16_t *y, uint32_t n_rows)
{
    for (; n_rows > 0U; n_rows--) {
        *y++ = MODEL_RAW(x);
        x += MODEL_RAW_STEP;
    }
}
#endif

#ifdef MODEL_SCORES_RAW
void bncc_scores_raw(const MODEL_RAW_TYPE *x, int16_t *y, MODEL_COST *s, uint32_t n_rows);

void bncc_scores_raw(const MODEL_RAW_TYPE *x, int16_t *y, MODEL_COST *s, uint32_t n_rows)
{
    for (; n_rows > 0U; n_rows--) {
        *y++ = MODEL_SCORES_RAW(x, s);
        x += MODEL_RAW_STEP;
        s += MODEL_N_CLASSES;
    }
}
#endif

#ifdef MODEL_RAW_CHECKED
void bncc_raw_checked(const MODEL_RAW_TYPE *x, int16_t *y, uint32_t n_rows);

void bncc_raw_checked(const MODEL_RAW_TYPE *x, int16_t *y, uint32_t n_rows)
{
    for (; n_rows > 0U; n_rows--) {
        *y++ = MODEL_RAW_CHECKED(x);
        x += MODEL_RAW_STEP;
    }
}
#endif

#ifdef MODEL_MISSING
void bncc_missing(const MODEL_STATE *x, int16_t *y, uint32_t n_rows);

void bncc_missing(const MODEL_STATE *x, int16_t *y, uint32_t n_rows)
{
    for (; n_rows > 0U; n_rows--) {
        *y++ = MODEL_MISSING(x);
        x += MODEL_N_FEATURES;
    }
}
#endif

#ifdef MODEL_RAW_MISSING
void bncc_raw_missing(const unsigned char *x, int16_t *y, uint32_t n_rows);

/* A row is the readings, then the bits; it is copied to where readings may lie. */
void bncc_raw_missing(const unsigned char *x, int16_t *y, uint32_t n_rows)
{
    MODEL_RAW_TYPE raw[MODEL_RAW_STEP];
    unsigned char *to;
    uint32_t k;

    for (; n_rows > 0U; n_rows--) {
        to = (unsigned char *)raw;
        for (k = 0U; k < (uint32_t)sizeof raw; k++) {
            *to++ = *x++;
        }
        *y++ = MODEL_RAW_MISSING(raw, x);
        x += MODEL_MISSING_BYTES;
    }
}
#endif

#ifdef MODEL_STREAM_TYPE
void bncc_stream(const MODEL_STATE *x, int16_t *y, uint32_t n_rows);

void bncc_stream(const MODEL_STATE *x, int16_t *y, uint32_t n_rows)
{
    for (; n_rows > 0U; n_rows--) {
        *y++ = stream_states(x);
        x += MODEL_N_FEATURES;
    }
}
#endif

#ifdef MODEL_FILTER_T
void bncc_filter(const uint32_t *x, int16_t *y, uint32_t n_rows);

/* A row is a number other than 0 where a sequence starts, then the scores. */
void bncc_filter(const uint32_t *x, int16_t *y, uint32_t n_rows)
{
    MODEL_FILTER_T filter;
    MODEL_COST scores[MODEL_N_CLASSES];
    uint32_t c;

    MODEL_FILTER_BEGIN(&filter);
    for (; n_rows > 0U; n_rows--) {
        if (*x++ != 0U) {
            MODEL_FILTER_BEGIN(&filter);
        }
        for (c = 0U; c < MODEL_N_CLASSES; c++) {
            scores[c] = (MODEL_COST)*x++;
        }
        *y++ = MODEL_FILTER_NEXT(&filter, scores);
    }
}
#endif

#ifdef MODEL_SURE_CLASS
void bncc_confidence(const uint32_t *x, int16_t *y, uint32_t n_rows);

/* A row is a number other than 0 where the confidence is wanted, else 0, then the scores. */
void bncc_confidence(const uint32_t *x, int16_t *y, uint32_t n_rows)
{
    MODEL_COST scores[MODEL_N_CLASSES];
    uint32_t c;

    for (; n_rows > 0U; n_rows--) {
        const uint32_t is_confidence = *x++;

        for (c = 0U; c < MODEL_N_CLASSES; c++) {
            scores[c] = (MODEL_COST)*x++;
        }
        *y++ = (is_confidence != 0U) ? (int16_t)MODEL_CONFIDENCE(scores) : MODEL_SURE_CLASS(scores);
    }
}
#endif

#ifdef MODEL_KNOWN_CLASS
void bncc_unknown(const unsigned char *x, int16_t *y, uint32_t n_rows);

/* A row is a class, or a number that is none for the decision, and the scores, then the readings;
 * it is copied to where numbers and readings may lie. */
void bncc_unknown(const unsigned char *x, int16_t *y, uint32_t n_rows)
{
    uint32_t words[1U + MODEL_N_CLASSES];
    MODEL_RAW_TYPE raw[MODEL_RAW_STEP];
    MODEL_COST scores[MODEL_N_CLASSES];
    unsigned char *to;
    uint32_t k;

    for (; n_rows > 0U; n_rows--) {
        to = (unsigned char *)words;
        for (k = 0U; k < (uint32_t)sizeof words; k++) {
            *to++ = *x++;
        }
        to = (unsigned char *)raw;
        for (k = 0U; k < (uint32_t)sizeof raw; k++) {
            *to++ = *x++;
        }
        for (k = 0U; k < MODEL_N_CLASSES; k++) {
            scores[k] = (MODEL_COST)words[1U + k];
        }
        *y++ = (words[0] < MODEL_N_CLASSES) ? (int16_t)MODEL_OUTSIDE(raw, (uint8_t)words[0])
                                            : MODEL_KNOWN_CLASS(raw, scores);
    }
}
#endif

#ifdef MODEL_ADAPTATION_TYPE
void bncc_adaptation(const unsigned char *x, int16_t *y, uint32_t n_rows);

/* A row is the words of adaptation.h, then the states; it is copied to where both may lie. */
void bncc_adaptation(const unsigned char *x, int16_t *y, uint32_t n_rows)
{
    uint32_t words[ADAPTATION_WORDS];
    MODEL_STATE states[MODEL_N_FEATURES];
    unsigned char *to;
    uint32_t k;

    for (; n_rows > 0U; n_rows--) {
        to = (unsigned char *)words;
        for (k = 0U; k < (uint32_t)sizeof words; k++) {
            *to++ = *x++;
        }
        to = (unsigned char *)states;
        for (k = 0U; k < (uint32_t)sizeof states; k++) {
            *to++ = *x++;
        }
        *y++ = adaptation_step(words, states);
    }
}
#endif

#ifdef MODEL_COUNTERS_TYPE
void bncc_counters(const unsigned char *x, int16_t *y, uint32_t n_rows);

/* A row is the words of counters.h, then the readings where unknown ones are counted; it is copied
 * to where numbers and readings may lie. */
void bncc_counters(const unsigned char *x, int16_t *y, uint32_t n_rows)
{
    uint32_t words[COUNTERS_WORDS];
#ifdef MODEL_COUNTS_UNKNOWN
    MODEL_RAW_TYPE raw[MODEL_RAW_STEP];
#endif
    unsigned char *to;
    uint32_t k;

    for (; n_rows > 0U; n_rows--) {
        to = (unsigned char *)words;
        for (k = 0U; k < (uint32_t)sizeof words; k++) {
            *to++ = *x++;
        }
#ifdef MODEL_COUNTS_UNKNOWN
        to = (unsigned char *)raw;
        for (k = 0U; k < (uint32_t)sizeof raw; k++) {
            *to++ = *x++;
        }
        *y++ = counters_step(words, raw);
#else
        *y++ = counters_step(words);
#endif
    }
}
#endif

#ifdef MODEL_FEED_RAW
void bncc_stream_raw(const MODEL_RAW_TYPE *x, int16_t *y, uint32_t n_rows);

void bncc_stream_raw(const MODEL_RAW_TYPE *x, int16_t *y, uint32_t n_rows)
{
    for (; n_rows > 0U; n_rows--) {
        *y++ = stream_readings(x);
        x += MODEL_RAW_STEP;
    }
}
#endif
