/* harness.c -- answers blocks of inputs around one emitted model, one row in memory at a time.
 *
 * In:  blocks of  entry                         (1 byte: predict 'p', trusted 't', scores 's',
 *                                                scores of readings 'x', raw 'r', raw checked 'c', missing 'm', raw
 *                                                missing 'n', fed states 'f', fed readings
 *                                                'g', filter 'h', confidence 'k', unknown 'u', counters
 *                                                'w', adaptation 'a')
 *                 number of rows                (4 bytes, least significant first)
 *                 the rows                      (in this machine's own types; for 'n' readings,
 *                                                then a bit for each feature; for 'h' and 'k'
 *                                                4 bytes each: for 'h' not 0 to begin a sequence,
 *                                                for 'k' not 0 for the confidence, else for the
 *                                                decision; then the scores; likewise for 'u' a
 *                                                class, or none for the decision, and the scores,
 *                                                then readings; for 'w' see counters.h, and the
 *                                                readings where unknown ones are counted; for 'a'
 *                                                see adaptation.h, and states)
 * Out: first one byte, sizeof(cost type), and four of the size of a raw row, 0 without raw;
 *      then for each row an int16_t and, for 's' and 'x', the scores (in this machine's own types).
 * A row is on the stack, in an object of exactly its size, so that sanitizers detect an access on
 * either side of it.
 * bncc_port.h gives the reading and writing of bytes: standard streams on the host, semihosting
 * or a serial port under a simulator. */
#include "bncc_model.h"
#include "bncc_port.h"
#ifdef MODEL_STREAM_TYPE
#include "stream.h"
#endif
#ifdef MODEL_COUNTERS_TYPE
#include "counters.h"
#endif
#ifdef MODEL_ADAPTATION_TYPE
#include "adaptation.h"
#endif

#ifdef MODEL_RULES
#ifdef MODEL_FILTER_T
static MODEL_FILTER_T filter;
#endif

/* What a rule for decisions returns for a number and scores, and readings for 'u'. */
static int answer_rule(unsigned char entry)
{
    uint32_t asked;
    uint32_t word;
    MODEL_COST scores[MODEL_N_CLASSES];
#ifdef MODEL_KNOWN_CLASS
    MODEL_RAW_TYPE raw[MODEL_RAW_STEP];
#endif
    uint32_t c;
    int16_t y;

    if (!port_read(&asked, sizeof asked)) {
        return 0;
    }
    for (c = 0U; c < MODEL_N_CLASSES; c++) {
        if (!port_read(&word, sizeof word)) {
            return 0;
        }
        scores[c] = (MODEL_COST)word;
    }
    switch (entry) {
#ifdef MODEL_FILTER_T
    case 'h':
        if (asked != 0U) {
            MODEL_FILTER_BEGIN(&filter);
        }
        y = MODEL_FILTER_NEXT(&filter, scores);
        break;
#endif
#ifdef MODEL_SURE_CLASS
    case 'k':
        y = (asked != 0U) ? (int16_t)MODEL_CONFIDENCE(scores) : MODEL_SURE_CLASS(scores);
        break;
#endif
#ifdef MODEL_KNOWN_CLASS
    case 'u':
        if (!port_read(raw, sizeof raw)) {
            return 0;
        }
        y = (asked < MODEL_N_CLASSES) ? (int16_t)MODEL_OUTSIDE(raw, (uint8_t)asked)
                                      : MODEL_KNOWN_CLASS(raw, scores);
        break;
#endif
    default:
        return 0;
    }
    port_write(&y, sizeof y);
    return 1;
}
#endif

#ifdef MODEL_COUNTERS_TYPE
static int counters_operation(void)
{
    uint32_t words[COUNTERS_WORDS];
#ifdef MODEL_COUNTS_UNKNOWN
    MODEL_RAW_TYPE raw[MODEL_RAW_STEP];
#endif
    int16_t y;

    if (!port_read(words, sizeof words)) {
        return 0;
    }
#ifdef MODEL_COUNTS_UNKNOWN
    if (!port_read(raw, sizeof raw)) {
        return 0;
    }
    y = counters_step(words, raw);
#else
    y = counters_step(words);
#endif
    port_write(&y, sizeof y);
    return 1;
}
#endif

#ifdef MODEL_ADAPTATION_TYPE
static int adaptation_row(void)
{
    uint32_t words[ADAPTATION_WORDS];
    MODEL_STATE states[MODEL_N_FEATURES];
    int16_t y;

    if (!port_read(words, sizeof words) || !port_read(states, sizeof states)) {
        return 0;
    }
    y = adaptation_step(words, states);
    port_write(&y, sizeof y);
    return 1;
}
#endif

static int answer(unsigned char entry)
{
    MODEL_STATE states[MODEL_N_FEATURES];
#ifdef MODEL_SCORES
    MODEL_COST scores[MODEL_N_CLASSES];
#endif
#ifdef MODEL_RAW
    MODEL_RAW_TYPE raw[MODEL_RAW_STEP];
#endif
    int16_t y = -1;
#ifdef MODEL_RAW_MISSING
    uint8_t bits[MODEL_MISSING_BYTES];
#endif
    int is_raw;
#ifdef MODEL_RULES
    if (entry == (unsigned char)'h' || entry == (unsigned char)'k'
        || entry == (unsigned char)'u') {
        return answer_rule(entry);
    }
#endif
#ifdef MODEL_COUNTERS_TYPE
    if (entry == (unsigned char)'w') {
        return counters_operation();
    }
#endif
#ifdef MODEL_ADAPTATION_TYPE
    if (entry == (unsigned char)'a') {
        return adaptation_row();
    }
#endif
    is_raw = (entry == (unsigned char)'r' || entry == (unsigned char)'g'
              || entry == (unsigned char)'n' || entry == (unsigned char)'c'
              || entry == (unsigned char)'x');
#ifdef MODEL_RAW
    if (is_raw && !port_read(raw, sizeof raw)) {
        return 0;
    }
#endif
#ifdef MODEL_RAW_MISSING
    if (entry == (unsigned char)'n' && !port_read(bits, sizeof bits)) {
        return 0;
    }
#endif
    if (!is_raw && !port_read(states, sizeof states)) {
        return 0;
    }
    switch (entry) {
    case 'p':
        y = MODEL_PREDICT(states);
        break;
#ifdef MODEL_TRUSTED
    case 't':
        y = MODEL_TRUSTED(states);
        break;
#endif
#ifdef MODEL_SCORES
    case 's':
        y = MODEL_SCORES(states, scores);
        break;
#endif
#ifdef MODEL_RAW
    case 'r':
        y = MODEL_RAW(raw);
        break;
#endif
#ifdef MODEL_SCORES_RAW
    case 'x':
        y = MODEL_SCORES_RAW(raw, scores);
        break;
#endif
#ifdef MODEL_RAW_CHECKED
    case 'c':
        y = MODEL_RAW_CHECKED(raw);
        break;
#endif
#ifdef MODEL_MISSING
    case 'm':
        y = MODEL_MISSING(states);
        break;
#endif
#ifdef MODEL_RAW_MISSING
    case 'n':
        y = MODEL_RAW_MISSING(raw, bits);
        break;
#endif
#ifdef MODEL_STREAM_TYPE
    case 'f':
        y = stream_states(states);
        break;
#endif
#ifdef MODEL_FEED_RAW
    case 'g':
        y = stream_readings(raw);
        break;
#endif
    default:
        return 0;
    }
    port_write(&y, sizeof y);
#ifdef MODEL_SCORES
    if (entry == (unsigned char)'s' || entry == (unsigned char)'x') {
        port_write(scores, sizeof scores);
    }
#endif
    return 1;
}

static void put_sizes(void)
{
    uint32_t size = (uint32_t)MODEL_RAW_SIZE;
    unsigned char bytes[5];
    int k;
    bytes[0] = (unsigned char)MODEL_COST_SIZE;
    for (k = 1; k <= 4; k++) {
        bytes[k] = (unsigned char)(size & 0xFFU);
        size >>= 8;
    }
    port_write(bytes, sizeof bytes);
}

int main(void)
{
    unsigned char head[5];
    port_open();
    put_sizes();
    while (port_read(head, sizeof head)) {
        uint32_t n_rows = (uint32_t)head[1] | ((uint32_t)head[2] << 8) | ((uint32_t)head[3] << 16)
                          | ((uint32_t)head[4] << 24);
        for (; n_rows > 0U; n_rows--) {
            if (!answer(head[0])) {
                return port_close(1);
            }
        }
    }
    return port_close(0);
}
