/* samples_footprint.c -- calls the functions of a front end, or with STREAM_STUB is an empty one: an
 * image of both the caller and a front end minus one of the caller and the empty front end is the
 * front end, with its model and every library routine that they call. */
#include "bncc_samples.h"

#ifdef STREAM_STUB
#define STUB __attribute__((section(".stub"), noinline))

STUB void STREAM_START(STREAM_TYPE *s)
{
    (void)s;
}

#ifdef STREAM_LEARN
STUB void STREAM_FORGET(STREAM_ADAPTATION *a)
{
    (void)a;
}

STUB uint8_t STREAM_LEARN(STREAM_TYPE *s, uint8_t c)
{
    (void)s;
    (void)c;
    return 0U;
}
#endif

#ifdef STREAM_NONE
STUB int16_t STREAM_PUSH(STREAM_TYPE *s, const STREAM_SAMPLE sample[STREAM_N_CHANNELS])
{
    (void)s;
    (void)sample;
    return 0;
}
#else
STUB uint8_t STREAM_PUSH(STREAM_TYPE *s, const STREAM_SAMPLE sample[STREAM_N_CHANNELS],
    STREAM_RESULT *x)
{
    (void)s;
    (void)sample;
    (void)x;
    return 0U;
}
#endif
#else
static STREAM_TYPE stream;
static STREAM_SAMPLE sample[STREAM_N_CHANNELS];
#ifndef STREAM_NONE
static STREAM_RESULT result;
#endif
static volatile int16_t answer;

int main(void)
{
#ifdef STREAM_LEARN
    STREAM_FORGET(&stream.adaptation);
#endif
    STREAM_START(&stream);
#ifdef STREAM_NONE
    answer = STREAM_PUSH(&stream, sample);
#else
    answer = STREAM_PUSH(&stream, sample, &result);
#endif
#ifdef STREAM_LEARN
    answer = STREAM_LEARN(&stream, 0U);
#endif
    return 0;
}
#endif
