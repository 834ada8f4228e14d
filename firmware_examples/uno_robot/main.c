/* Names the move that keeps a robot along the wall, from 24 ranges in meters. */
#include "board.h"
#include "check.h"
#include "robot.h"
#include "robot_rows.h"
#include "robot_vectors.h"
#include "rom.h"
#include "text.h"

int main(void)
{
    static struct tally tally;

    board_begin();
    for (uint8_t row = 0U; row < ROBOT_N_ROWS; row++) {
        robot_raw_t ranges[ROBOT_N_FEATURES]; /* as the sensors deliver them, clockwise */
        int16_t move;
        uint16_t count;

        rom_copy(ranges, robot_rows[row], sizeof ranges);
        board_count_begin();
        move = robot_predict_raw(ranges);
        count = board_count_end();
        put_text(robot_class_name((uint8_t)move));
        put_line_end();
        tally_add(&tally, move, rom_byte(&robot_answers[row]), rom_byte(&robot_labels[row]),
                  count);
    }
    check_end(&tally, ROBOT_ROWS_RIGHT, ROBOT_N_VECTORS, robot_selftest());
}
