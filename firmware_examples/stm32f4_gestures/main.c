/* Recognizes gestures from the samples of an accelerometer, four times a second. */
#include "board.h"
#include "gestures.h"
#include "gestures_recordings.h"
#include "gestures_vectors.h"
#include "recorded.h"
#include "rom.h"
#include "text.h"

int main(void)
{
    static gestures_stream_t stream;
    int16_t counts[GESTURES_N_CHANNELS];

    board_begin();
    recorded_begin(&gestures_recorded);
    while (recorded_next(counts)) {
        int16_t gesture;
        uint16_t count;

        if (recorded_is_first()) {
            put_line_end();
            gestures_start(&stream); /* also after a gap */
        }
        board_count_begin();
        gesture = gestures_push(&stream, counts);
        count = board_count_end();
        if (gesture != GESTURES_NO_DECISION) {
            put_text(gestures_class_name((uint8_t)gesture));
            put_text(TEXT(" "));
        }
        recorded_check(gesture, count);
    }
    put_line_end();
    recorded_end(GESTURES_N_VECTORS, gestures_selftest());
}
