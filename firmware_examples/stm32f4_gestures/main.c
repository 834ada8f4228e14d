/* Recognizes gestures from a second of accelerometer readings: features first, then the class. */
#include "board.h"
#include "check.h"
#include "window_features.h"
#include "gestures.h"
#include "gestures_rows.h"
#include "gestures_vectors.h"
#include "text.h"

static int16_t recognize(const int16_t window[N_AXES * AXIS_LENGTH])
{
    gestures_raw_t features[GESTURES_N_FEATURES];

    compute_features(window, features);
    return gestures_predict_raw(features);
}

int main(void)
{
    static struct tally tally;

    board_begin();
    for (uint8_t row = 0U; row < GESTURES_N_ROWS; row++) {
        int16_t gesture;
        uint16_t count;

        board_count_begin();
        gesture = recognize(gestures_rows[row]);
        count = board_count_end();
        put_text(gestures_class_name((uint8_t)gesture));
        put_text((gesture == gestures_labels[row]) ? "\r\n" : ", was another\r\n");
        tally_add(&tally, gesture, gestures_answers[row], gestures_labels[row], count);
    }
    check_end(&tally, GESTURES_ROWS_RIGHT, GESTURES_N_VECTORS, gestures_selftest());
}
