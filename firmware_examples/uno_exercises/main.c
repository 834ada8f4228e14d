/* Recognizes exercises from the samples of a wrist's accelerometer, twice a second. */
#include "board.h"
#include "exercises.h"
#include "exercises_recordings.h"
#include "exercises_vectors.h"
#include "recorded.h"
#include "rom.h"
#include "text.h"

int main(void)
{
    static exercises_stream_t stream;
    int16_t counts[EXERCISES_N_CHANNELS];

    board_begin();
    recorded_begin(&exercises_recorded);
    while (recorded_next(counts)) {
        int16_t exercise;
        uint16_t count;

        if (recorded_is_first()) {
            put_line_end();
            exercises_start(&stream); /* also after a gap */
        }
        board_count_begin();
        exercise = exercises_push(&stream, counts);
        count = board_count_end();
        if (exercise != EXERCISES_NO_DECISION) {
            put_text(exercises_class_name((uint8_t)exercise));
            put_text(TEXT(" "));
        }
        recorded_check(exercise, count);
    }
    put_line_end();
    recorded_end(EXERCISES_N_VECTORS, exercises_selftest());
}
