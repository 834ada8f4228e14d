/* Tells squats, lunges and jumping jacks apart from anything else a wrist does, in 2 KB of flash. */
#include "activity.h"
#include "activity_rows.h"
#include "activity_vectors.h"
#include "board.h"
#include "check.h"
#include "rom.h"
#include "text.h"

int main(void)
{
    static struct tally tally;

    board_begin();
    for (uint8_t row = 0U; row < ACTIVITY_N_ROWS; row++) {
        activity_raw_t window[ACTIVITY_N_FEATURES]; /* what two seconds of readings add up to */
        int16_t activity;
        uint16_t count;

        rom_copy(window, activity_rows[row], sizeof window);
        board_count_begin();
        activity = activity_predict_raw(window);
        count = board_count_end();
        put_text(activity_class_name((uint8_t)activity));
        put_line_end();
        tally_add(&tally, activity, rom_byte(&activity_answers[row]),
                  rom_byte(&activity_labels[row]), count);
    }
#if SELFTEST
    check_end(&tally, ACTIVITY_ROWS_RIGHT, ACTIVITY_N_VECTORS, activity_selftest());
#else
    check_end(&tally, ACTIVITY_ROWS_RIGHT, 0U, 0);
#endif
}
