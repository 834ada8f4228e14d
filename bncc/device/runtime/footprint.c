/* footprint.c -- calls only the entry points that are kept: an image of it minus the same image
 * around stub.c is the classifier with every library routine that it calls. */
#include "bncc_model.h"

#if defined(KEEP_FILTER) || defined(KEEP_CONFIDENCE) || defined(KEEP_UNKNOWN) \
    || defined(KEEP_COUNTERS) || defined(KEEP_ADAPTATION)
#define KEEP_RULES
#endif
#if defined(KEEP_PREDICT) || defined(KEEP_TRUSTED) || defined(KEEP_SCORES) \
    || defined(KEEP_MISSING) || defined(KEEP_STREAM) || defined(KEEP_RULES)
static MODEL_STATE states[MODEL_N_FEATURES];
#endif
#if defined(KEEP_RAW) || defined(KEEP_RAW_CHECKED) || defined(KEEP_UNKNOWN) \
    || defined(KEEP_SCORES_RAW) || (defined(KEEP_COUNTERS) && defined(MODEL_COUNTS_UNKNOWN))
static MODEL_RAW_TYPE raw[MODEL_RAW_STEP];
#endif
#if defined(KEEP_SCORES) || defined(KEEP_SCORES_RAW) || defined(KEEP_RULES)
static MODEL_COST scores[MODEL_N_CLASSES];
#endif
#ifdef KEEP_STREAM
static MODEL_STREAM_TYPE stream;
#endif
#ifdef KEEP_FILTER
static MODEL_FILTER_T filter;
#endif
#ifdef KEEP_COUNTERS
static MODEL_COUNTERS_TYPE counters;
#endif
#ifdef KEEP_ADAPTATION
static MODEL_ADAPTATION_TYPE adaptation;
#endif
static volatile int16_t answer;

int main(void)
{
#ifdef KEEP_PREDICT
    answer = MODEL_PREDICT(states);
#endif
#ifdef KEEP_TRUSTED
    answer = MODEL_TRUSTED(states);
#endif
#ifdef KEEP_RAW
    answer = MODEL_RAW(raw);
#endif
#ifdef KEEP_RAW_CHECKED
    answer = MODEL_RAW_CHECKED(raw);
#endif
#ifdef KEEP_SCORES
    answer = MODEL_SCORES(states, scores);
#endif
#ifdef KEEP_SCORES_RAW
    answer = MODEL_SCORES_RAW(raw, scores);
#endif
#ifdef KEEP_MISSING
    answer = MODEL_MISSING(states);
#endif
#ifdef KEEP_FILTER
    MODEL_FILTER_BEGIN(&filter);
#endif
#ifdef KEEP_RULES /* which need scores */
    answer = MODEL_SCORES(states, scores);
#endif
#ifdef KEEP_FILTER
    answer = MODEL_FILTER_NEXT(&filter, scores);
#endif
#ifdef KEEP_CONFIDENCE
    answer = MODEL_CONFIDENCE(scores);
    answer = MODEL_SURE_CLASS(scores);
#endif
#ifdef KEEP_UNKNOWN
    answer = MODEL_KNOWN_CLASS(raw, scores);
#endif
#ifdef KEEP_COUNTERS
    MODEL_COUNTERS_CLEAR(&counters);
#ifdef MODEL_COUNTERS_BEGIN
    MODEL_COUNTERS_BEGIN(&counters);
#endif
#ifdef MODEL_COUNTS_UNKNOWN
    answer = MODEL_COUNT(&counters, raw, scores);
#else
    answer = MODEL_COUNT(&counters, scores);
#endif
#endif
#ifdef KEEP_ADAPTATION
    MODEL_FORGET(&adaptation);
    answer = (int16_t)MODEL_LEARN(&adaptation, states, scores, 0U);
    answer = MODEL_ADAPTED_CLASS(&adaptation, states, scores);
#ifdef MODEL_ADAPTED_SCORES
    MODEL_ADAPTED_SCORES(&adaptation, states, scores, scores);
#endif
#endif
#ifdef KEEP_STREAM
    MODEL_BEGIN(&stream);
    answer = MODEL_FEED(&stream, 0U, states[0]);
    answer = MODEL_END(&stream);
#endif
    return 0;
}
