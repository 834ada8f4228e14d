/* stub.c -- a classifier of no size: its section is left out of every sum. */
#include "bncc_model.h"

#define STUB __attribute__((section(".stub"), noinline))

STUB int16_t MODEL_PREDICT(const MODEL_STATE x[MODEL_N_FEATURES])
{
    (void)x;
    return 0;
}

#ifdef MODEL_TRUSTED
STUB int16_t MODEL_TRUSTED(const MODEL_STATE x[MODEL_N_FEATURES])
{
    (void)x;
    return 0;
}
#endif

#ifdef MODEL_RAW
STUB int16_t MODEL_RAW(const MODEL_RAW_TYPE *x)
{
    (void)x;
    return 0;
}
#endif
