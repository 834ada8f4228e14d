/* recorded.c -- see recorded.h */
#include "recorded.h"

#include "board.h"
#include "check.h"
#include "rom.h"
#include "text.h"

static const struct recorded *of;
static const int16_t *coming;
static uint16_t n_taken;
static uint16_t n_left; /* of the recording */
static uint16_t window; /* number of the window that ends next */
static uint8_t recording;
static bool is_first;
static uint16_t most;
static uint32_t total;
static struct tally tally;

void recorded_begin(const struct recorded *recorded)
{
    of = recorded;
    coming = recorded->samples;
}

bool recorded_next(int16_t *sample)
{
    if (n_taken == of->n_samples) {
        return false;
    }
    is_first = n_left == 0U;
    if (is_first) {
        rom_copy(&n_left, &of->lengths[recording], sizeof n_left);
        recording++;
    }
    rom_copy(sample, coming, (uint16_t)(of->n_channels * sizeof *sample));
    coming += of->n_channels;
    n_left--;
    n_taken++;
    return true;
}

bool recorded_is_first(void)
{
    return is_first;
}

/* True if a window ends with the sample that was taken last. */
static bool is_window(void)
{
    uint16_t end;

    if (window == of->n_windows) {
        return false;
    }
    rom_copy(&end, &of->ends[window], sizeof end);
    return (uint16_t)(end + 1U) == n_taken;
}

void recorded_check(int16_t decided, uint16_t count)
{
    int16_t python = of->no_decision;

    total += count;
    if (count > most) {
        most = count;
    }
    if (is_window()) {
        uint8_t answer = rom_byte(&of->answers[window]);
        uint8_t label = rom_byte(&of->labels[window]);

        window++;
        if (label != RECORDED_NO_LABEL) {
            tally_add(&tally, decided, answer, label, count);
            return;
        }
        python = answer;
    }
    if (decided != python) {
        tally.unlike_python++;
    }
}

void recorded_end(uint16_t n_vectors, int n_wrong)
{
    if (most == BOARD_COUNT_LOST) {
        tally.count_max = BOARD_COUNT_LOST; /* check_end reports it */
    }
    put_text(TEXT("samples: "));
    put_number(n_taken);
    put_text(TEXT(", windows: "));
    put_number(window);
    put_text(TEXT(", "));
    put_text(board_count_unit);
    put_text(TEXT(" per sample: "));
    put_number((uint16_t)(total / n_taken));
    put_text(TEXT(" on average, at most "));
    put_number(most);
    put_line_end();
    check_end(&tally, of->right, n_vectors, n_wrong);
}
