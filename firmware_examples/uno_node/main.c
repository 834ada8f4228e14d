/* A sensor node that predicts whether a room is occupied, detects failing sensors, and decides by
 * the others. */
#include "board.h"
#include "check.h"
#include "node.h"
#include "node_rows.h"
#include "node_vectors.h"
#include "rom.h"
#include "text.h"

/* What a sensor that works delivers, in the units of data/README.md. Temperature, humidity and CO2
 * always vary a little; nights are dark for hours. */
struct bounds {
    int16_t low;
    int16_t high;
    uint8_t most_equal; /* readings in a row; 255 for any number */
};

static const struct bounds all_bounds[NODE_N_FEATURES] ROM = {
    {-4000, 8500, 20U}, /* temperature */
    {0, 10000, 20U},    /* humidity */
    {0, 32000, 255U},   /* light */
    {300, 5000, 4U},    /* CO2 */
};

/* What is known of each sensor. Starts as all zeros. */
struct sensor {
    node_raw_t before;
    uint8_t n_equal; /* its last readings that were the same */
};

/* True if a sensor's new reading is out of range, or stale: unchanged for too long. */
static uint8_t is_failing(struct sensor *sensor, const struct bounds *bounds, node_raw_t reading)
{
    if ((sensor->n_equal == 0U) || (reading != sensor->before)) {
        sensor->n_equal = 1U;
    } else if (sensor->n_equal < UINT8_MAX) {
        sensor->n_equal++;
    }
    sensor->before = reading;
    return ((reading < bounds->low) || (reading > bounds->high)
            || (sensor->n_equal > bounds->most_equal)) ? 1U : 0U;
}

/* The bits of the sensors that fail. Four fit a byte. */
static uint8_t find_failing(struct sensor sensors[NODE_N_FEATURES],
                            const node_raw_t readings[NODE_N_FEATURES])
{
    uint8_t failing = 0U;

    for (uint8_t i = 0U; i < NODE_N_FEATURES; i++) {
        struct bounds bounds;

        rom_copy(&bounds, &all_bounds[i], sizeof bounds);
        if (is_failing(&sensors[i], &bounds, readings[i]) != 0U) {
            failing = (uint8_t)(failing | (1U << i));
        }
    }
    return failing;
}

static void put_failing(uint16_t row, uint8_t failing)
{
    put_text(TEXT("reading "));
    put_number(row);
    put_text(TEXT(": failing sensors:"));
    put_text(((failing & 1U) != 0U) ? TEXT(" temperature") : TEXT(""));
    put_text(((failing & 2U) != 0U) ? TEXT(" humidity") : TEXT(""));
    put_text(((failing & 4U) != 0U) ? TEXT(" light") : TEXT(""));
    put_text(((failing & 8U) != 0U) ? TEXT(" CO2") : TEXT(""));
    put_text((failing == 0U) ? TEXT(" none") : TEXT(""));
    put_line_end();
}

static void put_count(const char *text, uint16_t n)
{
    put_text(text);
    put_number(n);
    put_line_end();
}

/* 1 where a decision that knows of no gap is right, else 0. */
static uint8_t is_right(const node_raw_t readings[NODE_N_FEATURES], uint16_t row)
{
    return (node_predict_raw(readings) == (int16_t)rom_byte(&node_labels[row])) ? 1U : 0U;
}

int main(void)
{
    static struct tally tally;
    static struct sensor sensors[NODE_N_FEATURES];
    uint16_t right_as_delivered = 0U;
    uint16_t right_by_usual = 0U;
    uint8_t failed = 0U;

    board_begin();
    for (uint16_t row = 0U; row < NODE_N_ROWS; row++) {
        node_raw_t readings[NODE_N_FEATURES];
        uint8_t failing[NODE_MISSING_BYTES];
        int16_t is_occupied;
        uint16_t count;

        rom_copy(readings, node_rows[row], sizeof readings);
        failing[0] = find_failing(sensors, readings);
        if (failing[0] != failed) {
            put_failing(row, failing[0]);
            failed = failing[0];
        }
        board_count_begin();
        is_occupied = node_predict_raw_missing(readings, failing);
        count = board_count_end();
        tally_add(&tally, is_occupied, rom_byte(&node_answers[row]), rom_byte(&node_labels[row]),
                  count);
        right_as_delivered = (uint16_t)(right_as_delivered + is_right(readings, row));
        for (uint8_t i = 0U; i < NODE_N_FEATURES; i++) {
            if ((failing[0] & (1U << i)) != 0U) {
                readings[i] = INT16_MIN; /* which node_predict_raw takes for the usual state */
            }
        }
        right_by_usual = (uint16_t)(right_by_usual + is_right(readings, row));
    }
    put_count(TEXT("right if all readings were used: "), right_as_delivered);
    put_count(TEXT("right if failing sensors read as usual: "), right_by_usual);
    check_end(&tally, NODE_ROWS_RIGHT, NODE_N_VECTORS, node_selftest());
}
