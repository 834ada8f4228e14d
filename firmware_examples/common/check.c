/* check.c -- see check.h */
#include "check.h"

#include <stdbool.h>

#include "board.h"
#include "rom.h"
#include "text.h"

void tally_add(struct tally *tally, int16_t decided, uint8_t python, uint8_t label,
               uint16_t count)
{
    if (tally->n == 0U || count < tally->count_min) {
        tally->count_min = count;
    }
    if (count > tally->count_max) {
        tally->count_max = count;
    }
    tally->n++;
    if (decided != (int16_t)python) {
        tally->unlike_python++;
    }
    if (decided == (int16_t)label) {
        tally->right++;
    }
}

static void put_item(const char *name, uint16_t number)
{
    put_text(name);
    put_number(number);
}

void check_end(const struct tally *tally, uint16_t python_right, uint16_t n_vectors, int n_wrong)
{
    bool is_good = n_wrong == 0 && tally->unlike_python == 0U && tally->right == python_right &&
                   tally->count_max != BOARD_COUNT_LOST;

    put_item(TEXT("vectors: "), n_vectors);
    put_item(TEXT(", wrong: "), (uint16_t)n_wrong);
    put_item(TEXT("\r\nrows: "), tally->n);
    put_item(TEXT(", unlike Python: "), tally->unlike_python);
    put_item(TEXT(", right: "), tally->right);
    put_item(TEXT(", right in Python: "), python_right);
    put_text(TEXT("\r\n"));
    put_text(board_count_unit);
    put_item(TEXT(" per decision: "), tally->count_min);
    put_item(TEXT(" .. "), tally->count_max);
    put_item(TEXT("\r\nstack: "), board_stack_depth());
    put_text(is_good ? TEXT(" bytes\r\nPASS\r\n") : TEXT(" bytes\r\nFAIL\r\n"));
    board_end(!is_good);
}
