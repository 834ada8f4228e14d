/* samples.c -- pushes samples into an emitted front end, or into a model with one.
 *
 * In:  blocks of an operation, a number of samples (four bytes, least significant first) and the
 *      samples (in this machine's own types). 's' starts a segment before them, 'p' continues it.
 *      'a' also starts one; what the model returns is then written for every sample, with the
 *      confidence of the last window and whether it is sure if the model rates decisions, and
 *      whether its class is known if the model has a rule for that, and a sum over its counters,
 *      which start at 0 with the segment, if it has any, and whether learning the window has moved
 *      offsets, if the model adapts: of class k modulo the number of classes and 1 for window k, from
 *      0, so that one of them is no class; and 2 more if a class was learned before any window. All is
 *      forgotten where a segment starts. For the meter
 *      'd' also starts one, whose samples are measured for their stack.
 * Out: what the front end returns for each window, in this machine's own types.
 *      The meter instead: first the size of the state and what measuring nothing costs, then for
 *      each sample its cost, or its stack in bytes; each number has four bytes, least significant
 *      first. */
#include "bncc_samples.h"
#include "bncc_port.h"

enum { CHUNK = 16 };

static STREAM_TYPE stream;
static STREAM_SAMPLE samples[CHUNK][STREAM_N_CHANNELS];
static STREAM_RESULT result;

/* Returns 1 if a window ends with the sample: its class or its features are then the result. */
#ifdef STREAM_NONE
#define PUSH(sample) (((result = STREAM_PUSH(&stream, (sample))) != STREAM_NONE) ? 1U : 0U)
#else
#define PUSH(sample) STREAM_PUSH(&stream, (sample), &result)
#endif

#ifdef BNCC_METER
static volatile uint8_t answer;
static uint8_t measures_stack;

static void put(uint32_t value)
{
    unsigned char bytes[4];
    int k;

    for (k = 0; k < 4; k++) {
        bytes[k] = (unsigned char)(value & 0xFFU);
        value >>= 8;
    }
    port_write(bytes, sizeof bytes);
}

/* Weak, so that a compiler presumes nothing of it; see meter.c. */
uint32_t bncc_now(void);
__attribute__((weak)) uint32_t bncc_now(void)
{
    return port_elapsed();
}

static __attribute__((noinline)) uint32_t cost_of_nothing(void)
{
    const uint32_t start = bncc_now();

    return bncc_now() - start;
}

static __attribute__((noinline)) uint32_t cost_of_push(const STREAM_SAMPLE *sample)
{
    const uint32_t start = bncc_now();
    const uint8_t is_window = PUSH(sample);
    const uint32_t end = bncc_now();

    answer = is_window;
    return end - start;
}

static void push(const STREAM_SAMPLE *sample)
{
    uint32_t depth;

    if (measures_stack == 0U) {
        put(cost_of_push(sample));
        return;
    }
    port_stack_mark();
    answer = PUSH(sample);
    depth = port_stack_depth();
    put(depth);
}
#else
static uint8_t writes_all;

#ifdef STREAM_N_COUNTERS
/* Returns the counters, each times its number from 1 on, modulo 256. */
static uint8_t sum_of_counters(void)
{
    union {
        STREAM_COUNTERS counters;
        uint16_t n[sizeof(STREAM_COUNTERS) / sizeof(uint16_t)];
    } all;
    uint16_t sum = 0U;
    uint16_t k;

    all.counters = stream.counters;
    for (k = 0U; k < STREAM_N_COUNTERS; k++) {
        sum = (uint16_t)(sum + (uint16_t)((k + 1U) * (all.n[k] & 0xFFU)));
    }
    return (uint8_t)(sum & 0xFFU);
}
#endif

#ifdef STREAM_LEARN
static uint8_t early; /* 2 if a class was learned before the first window */
static uint8_t label;

static void forget(void)
{
    early = (uint8_t)(2U * STREAM_LEARN(&stream, 0U));
    label = 0U;
}

/* Learns a window that ends with this sample. */
static uint8_t learn(void)
{
    uint8_t moved = early;

    if (result != STREAM_NONE) {
        moved = (uint8_t)(moved + STREAM_LEARN(&stream, label));
        label = (label + 1U == STREAM_LABELS) ? 0U : (uint8_t)(label + 1U);
    }
    return moved;
}
#endif

static void push(const STREAM_SAMPLE *sample)
{
    if ((PUSH(sample) != 0U) || (writes_all != 0U)) {
        port_write(&result, sizeof result);
#ifdef STREAM_RATES
        port_write(&stream.confidence, sizeof stream.confidence);
        port_write(&stream.is_sure, sizeof stream.is_sure);
#endif
#ifdef STREAM_KNOWS
        port_write(&stream.is_known, sizeof stream.is_known);
#endif
#ifdef STREAM_N_COUNTERS
        {
            const uint8_t sum = sum_of_counters();

            port_write(&sum, sizeof sum);
        }
#endif
#ifdef STREAM_LEARN
        {
            const uint8_t moved = learn();

            port_write(&moved, sizeof moved);
        }
#endif
    }
}
#endif

static int push_all(uint32_t n_samples)
{
    while (n_samples > 0U) {
        const uint32_t n = (n_samples < (uint32_t)CHUNK) ? n_samples : (uint32_t)CHUNK;
        uint32_t k;

        if (!port_read(samples, (size_t)n * sizeof samples[0])) {
            return 0;
        }
        for (k = 0U; k < n; k++) {
            push(samples[k]);
        }
        n_samples -= n;
    }
    return 1;
}

int main(void)
{
    unsigned char head[5];

    port_open();
#ifdef BNCC_METER
    put((uint32_t)sizeof stream);
    put(cost_of_nothing());
#endif
    while (port_read(head, sizeof head)) {
        const uint32_t n_samples = (uint32_t)head[1] | ((uint32_t)head[2] << 8)
                                   | ((uint32_t)head[3] << 16) | ((uint32_t)head[4] << 24);

        if (head[0] != (unsigned char)'p') {
#ifdef STREAM_N_COUNTERS
            STREAM_CLEAR(&stream.counters);
#ifdef STREAM_LAST
            stream.counters.STREAM_LAST = 0U; /* STREAM_START has to start a sequence */
#endif
#endif
#ifdef STREAM_LEARN
            STREAM_FORGET(&stream.adaptation);
#endif
            STREAM_START(&stream);
#if defined(STREAM_LEARN) && !defined(BNCC_METER)
            forget();
#endif
        }
#ifdef BNCC_METER
        measures_stack = (head[0] == (unsigned char)'d') ? 1U : 0U;
#else
        writes_all = (head[0] == (unsigned char)'a') ? 1U : 0U;
#endif
        if (!push_all(n_samples)) {
            return port_close(1);
        }
    }
    return port_close(0);
}
