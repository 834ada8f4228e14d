/* Detects ventricular beats (V) among normal ones (N) in an ECG, at every 16th sample. */
#include "board.h"
#include "ecg.h"
#include "ecg_recordings.h"
#include "ecg_vectors.h"
#include "recorded.h"
#include "rom.h"
#include "text.h"

int main(void)
{
    static ecg_stream_t stream;
    int16_t counts[ECG_N_CHANNELS];

    board_begin();
    recorded_begin(&ecg_recorded);
    while (recorded_next(counts)) {
        int16_t beat;
        uint16_t count;

        if (recorded_is_first()) {
            put_line_end();
            ecg_start(&stream); /* also after a gap */
        }
        board_count_begin();
        beat = ecg_push(&stream, counts);
        count = board_count_end();
        if (beat != ECG_NO_DECISION) {
            put_text(ecg_class_name((uint8_t)beat));
        }
        recorded_check(beat, count);
    }
    put_line_end();
    recorded_end(ECG_N_VECTORS, ecg_selftest());
}
