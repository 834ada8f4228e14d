/* stub.c -- an empty classifier: its section is left out of every sum. */
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

#ifdef MODEL_RAW_CHECKED
STUB int16_t MODEL_RAW_CHECKED(const MODEL_RAW_TYPE *x)
{
    (void)x;
    return 0;
}
#endif

#ifdef MODEL_SCORES
STUB int16_t MODEL_SCORES(const MODEL_STATE x[MODEL_N_FEATURES], MODEL_COST s[MODEL_N_CLASSES])
{
    (void)x;
    (void)s;
    return 0;
}
#endif

#ifdef MODEL_SCORES_RAW
STUB int16_t MODEL_SCORES_RAW(const MODEL_RAW_TYPE *x, MODEL_COST s[MODEL_N_CLASSES])
{
    (void)x;
    (void)s;
    return 0;
}
#endif

#ifdef MODEL_MISSING
STUB int16_t MODEL_MISSING(const MODEL_STATE x[MODEL_N_FEATURES])
{
    (void)x;
    return 0;
}
#endif

#ifdef MODEL_FILTER_T
STUB void MODEL_FILTER_BEGIN(MODEL_FILTER_T *f)
{
    (void)f;
}

STUB int16_t MODEL_FILTER_NEXT(MODEL_FILTER_T *f, const MODEL_COST s[MODEL_N_CLASSES])
{
    (void)f;
    (void)s;
    return 0;
}
#endif

#ifdef MODEL_SURE_CLASS
STUB uint8_t MODEL_CONFIDENCE(const MODEL_COST s[MODEL_N_CLASSES])
{
    (void)s;
    return 0U;
}

STUB int16_t MODEL_SURE_CLASS(const MODEL_COST s[MODEL_N_CLASSES])
{
    (void)s;
    return 0;
}
#endif

#ifdef MODEL_KNOWN_CLASS
STUB uint16_t MODEL_OUTSIDE(const MODEL_RAW_TYPE *x, uint8_t c)
{
    (void)x;
    (void)c;
    return 0U;
}

STUB int16_t MODEL_KNOWN_CLASS(const MODEL_RAW_TYPE *x, const MODEL_COST s[MODEL_N_CLASSES])
{
    (void)x;
    (void)s;
    return 0;
}
#endif

#ifdef MODEL_ADAPTATION_TYPE
STUB void MODEL_FORGET(MODEL_ADAPTATION_TYPE *a)
{
    (void)a;
}

STUB uint8_t MODEL_LEARN(MODEL_ADAPTATION_TYPE *a, const MODEL_STATE x[MODEL_N_FEATURES],
    const MODEL_COST s[MODEL_N_CLASSES], uint8_t c)
{
    (void)a;
    (void)x;
    (void)s;
    (void)c;
    return 0U;
}

STUB int16_t MODEL_ADAPTED_CLASS(const MODEL_ADAPTATION_TYPE *a,
    const MODEL_STATE x[MODEL_N_FEATURES], const MODEL_COST s[MODEL_N_CLASSES])
{
    (void)a;
    (void)x;
    (void)s;
    return 0;
}
#endif

#ifdef MODEL_ADAPTED_SCORES
STUB void MODEL_ADAPTED_SCORES(const MODEL_ADAPTATION_TYPE *a,
    const MODEL_STATE x[MODEL_N_FEATURES], const MODEL_COST s[MODEL_N_CLASSES],
    MODEL_COST t[MODEL_N_CLASSES])
{
    (void)a;
    (void)x;
    (void)s;
    (void)t;
}
#endif

#ifdef MODEL_COUNTERS_TYPE
STUB void MODEL_COUNTERS_CLEAR(MODEL_COUNTERS_TYPE *c)
{
    (void)c;
}

#ifdef MODEL_COUNTERS_BEGIN
STUB void MODEL_COUNTERS_BEGIN(MODEL_COUNTERS_TYPE *c)
{
    (void)c;
}
#endif

#ifdef MODEL_COUNTS_UNKNOWN
STUB int16_t MODEL_COUNT(MODEL_COUNTERS_TYPE *c, const MODEL_RAW_TYPE *x,
    const MODEL_COST s[MODEL_N_CLASSES])
{
    (void)x;
#else
STUB int16_t MODEL_COUNT(MODEL_COUNTERS_TYPE *c, const MODEL_COST s[MODEL_N_CLASSES])
{
#endif
    (void)c;
    (void)s;
    return 0;
}
#endif

#ifdef MODEL_STREAM_TYPE
STUB void MODEL_BEGIN(MODEL_STREAM_TYPE *s)
{
    (void)s;
}

STUB int16_t MODEL_FEED(MODEL_STREAM_TYPE *s, uint16_t i, MODEL_STATE value)
{
    (void)s;
    (void)i;
    (void)value;
    return 0;
}

STUB int16_t MODEL_END(const MODEL_STREAM_TYPE *s)
{
    (void)s;
    return 0;
}
#endif
