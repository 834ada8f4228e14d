/* text.c -- see text.h */
#include "text.h"

#include "board.h"
#include "rom.h"

void put_text(const char *text)
{
    char c;

    for (c = (char)rom_byte(text); c != '\0'; c = (char)rom_byte(++text)) {
        board_put_char(c);
    }
}

void put_number(uint16_t number)
{
    char digits[5]; /* of 65535 */
    uint8_t n = 0U;

    do {
        digits[n++] = (char)('0' + number % 10U);
        number /= 10U;
    } while (number > 0U);
    while (n > 0U) {
        board_put_char(digits[--n]);
    }
}

void put_line_end(void)
{
    board_put_char('\r');
    board_put_char('\n');
}
