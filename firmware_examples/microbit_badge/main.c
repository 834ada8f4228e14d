/* A badge that predicts its room from the signal strengths of access points, also when some of
 * them are silent. */
#include "badge.h"
#include "badge_rows.h"
#include "badge_vectors.h"
#include "board.h"
#include "check.h"
#include "text.h"

/* What a scan of the air delivers for an access point that it does not hear. */
#define NOT_HEARD INT16_MIN

/* Sets the bit of each access point that is not heard, and returns how many these are. */
static uint8_t find_silent(const badge_raw_t dbm[BADGE_N_FEATURES],
                           uint8_t silent[BADGE_MISSING_BYTES])
{
    uint8_t n = 0U;

    for (uint8_t k = 0U; k < BADGE_MISSING_BYTES; k++) {
        silent[k] = 0U;
    }
    for (uint8_t i = 0U; i < BADGE_N_FEATURES; i++) {
        if (dbm[i] == NOT_HEARD) {
            silent[i / 8U] |= (uint8_t)(1U << (i % 8U));
            n++;
        }
    }
    return n;
}

static void put_failure(uint16_t row, uint8_t n_silent)
{
    put_text("row ");
    put_number(row);
    put_text(": silent access points: ");
    put_number(n_silent);
    put_line_end();
}

int main(void)
{
    static struct tally tally;
    uint16_t right_by_usual = 0U;
    uint8_t n_before = 0U;

    board_begin();
    for (uint16_t row = 0U; row < BADGE_N_ROWS; row++) {
        const badge_raw_t *dbm = badge_rows[row];
        uint8_t silent[BADGE_MISSING_BYTES];
        uint8_t n_silent;
        int16_t room;
        uint16_t count;

        n_silent = find_silent(dbm, silent);
        if (n_silent != n_before) {
            put_failure(row, n_silent);
            n_before = n_silent;
        }
        board_count_begin();
        room = badge_predict_raw_missing(dbm, silent);
        count = board_count_end();
        tally_add(&tally, room, badge_answers[row], badge_labels[row], count);
        if (badge_predict_raw(dbm) == (int16_t)badge_labels[row]) {
            right_by_usual++;
        }
    }
    put_text("right if silent ones had their usual strength: ");
    put_number(right_by_usual);
    put_line_end();
    check_end(&tally, BADGE_ROWS_RIGHT, BADGE_N_VECTORS, badge_selftest());
}
