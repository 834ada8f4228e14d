/* footprint.c -- calls the entry points that are to be kept and nothing else: an image of it less
 * the same image around stub.c is the classifier with every library routine it pulls in. */
#include "bncc_model.h"

#if defined(KEEP_PREDICT) || defined(KEEP_TRUSTED)
static MODEL_STATE states[MODEL_N_FEATURES];
#endif
#ifdef KEEP_RAW
static MODEL_RAW_TYPE raw[MODEL_RAW_STEP];
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
    return 0;
}
