/* A sensor node that tells when a room becomes occupied or empty, and is silent in between: what it
 * does not send costs no energy. */
#include "board.h"
#include "check.h"
#include "occupancy.h"
#include "occupancy_rows.h"
#include "occupancy_vectors.h"
#include "text.h"

enum { LIGHT, CO2 }; /* in tenths of a lux, and in ppm */

static void put_change(uint16_t n, int16_t is_now, const occupancy_raw_t *reading)
{
    put_text("reading ");
    put_number(n);
    put_text(": ");
    put_text(occupancy_class_name((uint8_t)is_now));
    put_text(" at ");
    put_number((uint16_t)reading[LIGHT] / 10U);
    put_text(" lx, ");
    put_number((uint16_t)reading[CO2]);
    put_text(" ppm");
    put_line_end();
}

/* Stands for the wake-up by a clock and the conversation with the sensors: a recorded reading. */
static const occupancy_raw_t *next_reading(uint16_t n)
{
    return occupancy_rows[n];
}

int main(void)
{
    static struct tally tally;
    int16_t was = -1;

    board_begin();
    for (uint16_t n = 0U; n < OCCUPANCY_N_ROWS; n++) {
        const occupancy_raw_t *reading = next_reading(n);
        int16_t is_now;
        uint16_t count;

        board_count_begin();
        is_now = occupancy_predict_raw(reading);
        count = board_count_end();
        if (is_now != was) {
            put_change(n, is_now, reading);
            was = is_now;
        }
        tally_add(&tally, is_now, occupancy_answers[n], occupancy_labels[n], count);
    }
    check_end(&tally, OCCUPANCY_ROWS_RIGHT, OCCUPANCY_N_VECTORS, occupancy_selftest());
}
