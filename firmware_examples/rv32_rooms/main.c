/* Tells in which of four rooms a phone is, from the signal strengths of seven access points. */
#include "board.h"
#include "check.h"
#include "rom.h"
#include "rooms.h"
#include "rooms_rows.h"
#include "rooms_vectors.h"
#include "text.h"

int main(void)
{
    static struct tally tally;

    board_begin();
    put_text(TEXT("rooms:"));
    for (uint8_t row = 0U; row < ROOMS_N_ROWS; row++) {
        rooms_raw_t dbm[ROOMS_N_FEATURES];
        int16_t room;
        uint16_t count;

        for (uint8_t i = 0U; i < ROOMS_N_FEATURES; i++) {
            dbm[i] = rooms_rows[row][i]; /* what a scan of the air would deliver */
        }
        board_count_begin();
        room = rooms_predict_raw(dbm);
        count = board_count_end();
        put_text(TEXT(" "));
        put_text(rooms_class_name((uint8_t)room));
        tally_add(&tally, room, rooms_answers[row], rooms_labels[row], count);
    }
    put_line_end();
    check_end(&tally, ROOMS_ROWS_RIGHT, ROOMS_N_VECTORS, rooms_selftest());
}
