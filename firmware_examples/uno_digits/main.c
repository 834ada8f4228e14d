/* Reads handwritten digits, images of 8 x 8 pixels with 17 shades, and draws some of them. */
#include "board.h"
#include "check.h"
#include "digits.h"
#include "digits_rows.h"
#include "digits_vectors.h"
#include "rom.h"
#include "text.h"

#define SIDE 8U
#define N_DRAWN 3U

static const char shades[] ROM = "  .:-=+*#";

/* An image as a camera would deliver it: 0 is paper, 16 is ink. */
static void read_pixels(digits_raw_t pixels[DIGITS_N_FEATURES], uint8_t row)
{
    for (uint8_t i = 0U; i < DIGITS_N_FEATURES; i++) {
        pixels[i] = (digits_raw_t)rom_byte(&digits_rows[row][i]);
    }
}

/* Draws the picture, with the digit to the right of its middle row. */
static void draw(const digits_raw_t pixels[DIGITS_N_FEATURES], int16_t digit)
{
    for (uint8_t y = 0U; y < SIDE; y++) {
        for (uint8_t x = 0U; x < SIDE; x++) {
            char shade = (char)rom_byte(&shades[pixels[SIDE * y + x] / 2]);

            board_put_char(shade);
            board_put_char(shade);
        }
        if (y == SIDE / 2U) {
            put_text(TEXT("   is a "));
            put_text(digits_class_name((uint8_t)digit));
        }
        put_line_end();
    }
}

int main(void)
{
    static struct tally tally;

    board_begin();
    for (uint8_t row = 0U; row < DIGITS_N_ROWS; row++) {
        digits_raw_t pixels[DIGITS_N_FEATURES];
        int16_t digit;
        uint16_t count;

        read_pixels(pixels, row);
        board_count_begin();
        digit = digits_predict_raw(pixels);
        count = board_count_end();
        tally_add(&tally, digit, rom_byte(&digits_answers[row]), rom_byte(&digits_labels[row]),
                  count);
        if (row < N_DRAWN) {
            draw(pixels, digit);
        }
    }
    check_end(&tally, DIGITS_ROWS_RIGHT, DIGITS_N_VECTORS, digits_selftest());
}
