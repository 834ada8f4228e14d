/* meter.c -- what one decision of an emitted model costs: instructions or cycles, and stack.
 *
 * In:  as harness.c: blocks of an entry, a number of rows, the rows (in this machine's own types).
 * Out: first the size of a raw row, what measuring nothing costs, and what two loops of 1000 and
 *      3000 rounds cost; then for each row the class, its cost, and the deepest stack in bytes.
 *      All numbers have four bytes, least significant first.
 * The row is in memory before the clock starts. Argument set-up, call and return count. */
#include "bncc_model.h"
#include "bncc_port.h"

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

/* A round is two instructions, or four cycles of an AVR. */
static __attribute__((noinline)) void spin(uint16_t rounds)
{
#if defined(__AVR__)
    __asm__ volatile("1: sbiw %0, 1\n\tbrne 1b" : "+w"(rounds));
#else
    uint32_t n = rounds;
#if defined(__arm__)
    __asm__ volatile(".syntax unified\n1:\tsubs %0, #1\n\tbne 1b" : "+l"(n) :: "cc");
#elif defined(__riscv)
    __asm__ volatile("1:\taddi %0, %0, -1\n\tbnez %0, 1b" : "+r"(n));
#elif defined(__mips__)
    __asm__ volatile(".set push\n\t.set noreorder\n"
                     "1:\tbnez %0, 1b\n\taddiu %0, %0, -1\n\t.set pop" : "+r"(n));
#elif defined(__x86_64__)
    __asm__ volatile("1:\tdecl %0\n\tjnz 1b" : "+r"(n) :: "cc");
#else
#error "meter.c: which machine is this?"
#endif
#endif
}

/* Weak, so that a compiler presumes nothing of it: it would set up an argument before the clock
 * starts, knowing that reading the clock leaves that register alone. */
uint32_t bncc_now(void);
__attribute__((weak)) uint32_t bncc_now(void)
{
    return port_elapsed();
}

static MODEL_STATE states[MODEL_N_FEATURES];
#ifdef MODEL_RAW
static MODEL_RAW_TYPE raw[MODEL_RAW_STEP];
#endif
static volatile int16_t decision;

/* What is timed has a function of its own: in a larger one a compiler puts other work between the
 * two readings of the clock. */
#define COST_OF(what, call)                                              \
    static __attribute__((noinline)) uint32_t cost_of_##what(void)       \
    {                                                                    \
        const uint32_t start = bncc_now();                               \
        const int16_t y = call;                                          \
        const uint32_t end = bncc_now();                                 \
                                                                         \
        decision = y;                                                    \
        return end - start;                                              \
    }

COST_OF(predict, MODEL_PREDICT(states))
#ifdef MODEL_TRUSTED
COST_OF(trusted, MODEL_TRUSTED(states))
#endif
#ifdef MODEL_RAW
COST_OF(raw, MODEL_RAW(raw))
#endif
#ifdef MODEL_RAW_CHECKED
COST_OF(raw_checked, MODEL_RAW_CHECKED(raw))
#endif
#ifdef MODEL_SCORES
static MODEL_COST scores[MODEL_N_CLASSES];
COST_OF(scores, MODEL_SCORES(states, scores))
#endif
#ifdef MODEL_SCORES_RAW
COST_OF(scores_raw, MODEL_SCORES_RAW(raw, scores))
#endif
#ifdef MODEL_FILTER_T
static MODEL_FILTER_T filter;
COST_OF(filter, MODEL_FILTER_NEXT(&filter, scores))
#endif
#ifdef MODEL_SURE_CLASS
/* Both, as a caller does that displays the confidence of a decision. */
static __attribute__((noinline)) int16_t confidence(void)
{
    (void)MODEL_CONFIDENCE(scores);
    return MODEL_SURE_CLASS(scores);
}

COST_OF(confidence, confidence())
#endif
#ifdef MODEL_KNOWN_CLASS
COST_OF(unknown, MODEL_KNOWN_CLASS(raw, scores))
#endif
#ifdef MODEL_COUNT
/* The members are numbers of one type. */
static union {
    MODEL_COUNTERS_TYPE counters;
    uint16_t n[sizeof(MODEL_COUNTERS_TYPE) / sizeof(uint16_t)];
} counting;

/* The first call fills a counter, so that all are halved: no call takes longer. */
static void fill_counters(void)
{
    uint32_t k;

    for (k = 0U; k < sizeof counting / sizeof counting.n[0]; k++) {
        counting.n[k] = 0xFFFEU;
    }
#ifdef MODEL_COUNTERS_BEGIN
    counting.counters.last = 0U; /* In a sequence a call counts that the class stays or switches. */
#endif
}

#ifdef MODEL_COUNTS_UNKNOWN
COST_OF(counters, MODEL_COUNT(&counting.counters, raw, scores))
#else
COST_OF(counters, MODEL_COUNT(&counting.counters, scores))
#endif
#endif
#ifdef MODEL_LEARN
static MODEL_ADAPTATION_TYPE adaptation;

/* A class that the scores are not those of, so that offsets move when it is learned. */
static uint8_t other_class(void)
{
    uint32_t best = 0U;
    uint32_t c;

    for (c = 1U; c < MODEL_N_CLASSES; c++) {
        if (scores[c] < scores[best]) {
            best = c;
        }
    }
    return (uint8_t)((best + 1U) % MODEL_N_CLASSES);
}

/* Both, as a caller does whose inputs are labeled. */
static __attribute__((noinline)) int16_t adapted(uint8_t label)
{
    (void)MODEL_LEARN(&adaptation, states, scores, label);
    return MODEL_ADAPTED_CLASS(&adaptation, states, scores);
}

static uint8_t label;
COST_OF(adaptation, adapted(label))
#endif
#ifdef MODEL_OF_SCORES
/* Each has 4 bytes. */
static int read_scores(void)
{
    uint32_t c;
    uint32_t word;

    for (c = 0U; c < MODEL_N_CLASSES; c++) {
        if (!port_read(&word, sizeof word)) {
            return 0;
        }
        scores[c] = (MODEL_COST)word;
    }
    return 1;
}
#endif
#ifdef MODEL_MISSING
COST_OF(missing, MODEL_MISSING(states))
#endif
#ifdef MODEL_STREAM_TYPE
/* What a caller does that has all states, one after the other. */
static __attribute__((noinline)) int16_t stream(void)
{
    MODEL_STREAM_TYPE s;
    uint16_t i;

    MODEL_BEGIN(&s);
    for (i = 0U; i < MODEL_N_FEATURES; i++) {
        (void)MODEL_FEED(&s, i, states[i]);
    }
    return MODEL_END(&s);
}

COST_OF(stream, stream())
#endif

static __attribute__((noinline)) uint32_t cost_of_nothing(void)
{
    const uint32_t start = bncc_now();

    return bncc_now() - start;
}

static __attribute__((noinline)) uint32_t cost_of_spin(uint16_t rounds)
{
    const uint32_t start = bncc_now();

    spin(rounds);
    return bncc_now() - start;
}

/* The stack in a call of its own, for painting it takes time. */
#define MEASURE(what, call)            \
    do {                               \
        port_stack_mark();             \
        decision = (call);             \
        depth = port_stack_depth();    \
        cost = cost_of_##what();       \
    } while (0)

/* In a function of its own, so that no entry point's stack begins deeper for what others read. */
static __attribute__((noinline)) int read_row(unsigned char entry)
{
    int is_ruled = (entry == (unsigned char)'h') || (entry == (unsigned char)'k')
                   || (entry == (unsigned char)'u') || (entry == (unsigned char)'w')
                   || (entry == (unsigned char)'a');
    int is_raw = (entry == (unsigned char)'r') || (entry == (unsigned char)'c')
                 || (entry == (unsigned char)'u') || (entry == (unsigned char)'x');
    int is_states = !is_ruled || (entry == (unsigned char)'a');

#ifdef MODEL_COUNTS_UNKNOWN
    is_raw = is_raw || (entry == (unsigned char)'w');
#endif
#ifdef MODEL_OF_SCORES
    if (is_ruled && !read_scores()) {
        return 0;
    }
#endif
#ifdef MODEL_RAW
    if (is_raw && !port_read(raw, sizeof raw)) {
        return 0;
    }
#endif
    if (is_states && !is_raw && !port_read(states, sizeof states)) {
        return 0;
    }
    return 1;
}

static int measure(unsigned char entry)
{
#ifdef MODEL_FILTER_T
    MODEL_FILTER_T before;
#endif
#ifdef MODEL_COUNT
    MODEL_COUNTERS_TYPE counted;
#endif
#ifdef MODEL_LEARN
    MODEL_ADAPTATION_TYPE learned;
#endif
    uint32_t cost = 0U;
    uint32_t depth = 0U;

    if (!read_row(entry)) {
        return 0;
    }
    switch (entry) {
    case 'p':
        MEASURE(predict, MODEL_PREDICT(states));
        break;
#ifdef MODEL_TRUSTED
    case 't':
        MEASURE(trusted, MODEL_TRUSTED(states));
        break;
#endif
#ifdef MODEL_RAW
    case 'r':
        MEASURE(raw, MODEL_RAW(raw));
        break;
#endif
#ifdef MODEL_RAW_CHECKED
    case 'c':
        MEASURE(raw_checked, MODEL_RAW_CHECKED(raw));
        break;
#endif
#ifdef MODEL_SCORES
    case 's':
        MEASURE(scores, MODEL_SCORES(states, scores));
        break;
#endif
#ifdef MODEL_SCORES_RAW
    case 'x':
        MEASURE(scores_raw, MODEL_SCORES_RAW(raw, scores));
        break;
#endif
#ifdef MODEL_FILTER_T
    case 'h':
        before = filter;
        port_stack_mark();
        decision = MODEL_FILTER_NEXT(&filter, scores);
        depth = port_stack_depth();
        filter = before;
        cost = cost_of_filter();
        break;
#endif
#ifdef MODEL_SURE_CLASS
    case 'k':
        MEASURE(confidence, confidence());
        break;
#endif
#ifdef MODEL_KNOWN_CLASS
    case 'u':
        MEASURE(unknown, MODEL_KNOWN_CLASS(raw, scores));
        break;
#endif
#ifdef MODEL_COUNT
    case 'w':
        counted = counting.counters;
        port_stack_mark();
#ifdef MODEL_COUNTS_UNKNOWN
        decision = MODEL_COUNT(&counting.counters, raw, scores);
#else
        decision = MODEL_COUNT(&counting.counters, scores);
#endif
        depth = port_stack_depth();
        counting.counters = counted;
        cost = cost_of_counters();
        break;
#endif
#ifdef MODEL_LEARN
    case 'a':
        label = other_class();
        learned = adaptation;
        port_stack_mark();
        decision = adapted(label);
        depth = port_stack_depth();
        adaptation = learned;
        cost = cost_of_adaptation();
        break;
#endif
#ifdef MODEL_MISSING
    case 'm':
        MEASURE(missing, MODEL_MISSING(states));
        break;
#endif
#ifdef MODEL_STREAM_TYPE
    case 'f':
        MEASURE(stream, stream());
        break;
#endif
    default:
        return 0;
    }
    put((uint32_t)(int32_t)decision);
    put(cost);
    put(depth);
    return 1;
}

int main(void)
{
    /* Volatile, so that it costs the same to pass either. */
    static const volatile uint16_t few = 1000U;
    static const volatile uint16_t many = 3000U;
    unsigned char head[5];

    port_open();
    put((uint32_t)MODEL_RAW_SIZE);
    put(cost_of_nothing());
    put(cost_of_spin(few));
    put(cost_of_spin(many));
#ifdef MODEL_FILTER_T
    MODEL_FILTER_BEGIN(&filter);
#endif
#ifdef MODEL_COUNT
    fill_counters();
#endif
#ifdef MODEL_LEARN
    MODEL_FORGET(&adaptation);
#endif
    while (port_read(head, sizeof head)) {
        uint32_t n_rows = (uint32_t)head[1] | ((uint32_t)head[2] << 8) | ((uint32_t)head[3] << 16)
                          | ((uint32_t)head[4] << 24);
        for (; n_rows > 0U; n_rows--) {
            if (!measure(head[0])) {
                return port_close(1);
            }
        }
    }
    return port_close(0);
}
