/* board.c -- Arduino Uno: ATmega328P at 16 MHz, cycles by timer 1. */
#include "board.h"

#include <avr/interrupt.h>
#include <avr/io.h>
#include <avr/sleep.h>

#include "rom.h"

#define BAUD 115200UL
#define PAINT 0xA5U /* startup.S */

extern uint8_t bss_end[];

const char board_count_unit[] ROM = "cycles";

static uint16_t count_overhead;

void board_begin(void)
{
    UCSR0A = _BV(U2X0);
    UBRR0 = (uint16_t)((F_CPU / 4UL / BAUD - 1UL) / 2UL);
    UCSR0B = _BV(TXEN0);
    TCCR1B = _BV(CS10); /* the processor's clock, undivided */
    board_count_begin();
    count_overhead = board_count_end();
}

void board_put_char(char c)
{
    loop_until_bit_is_set(UCSR0A, UDRE0);
    UDR0 = (uint8_t)c;
}

void board_count_begin(void)
{
    TCNT1 = 0U;
    TIFR1 = _BV(TOV1);
}

uint16_t board_count_end(void)
{
    uint16_t now = TCNT1;

    return bit_is_set(TIFR1, TOV1) ? BOARD_COUNT_LOST : now - count_overhead;
}

uint16_t board_stack_depth(void)
{
    const uint8_t *p = bss_end;

    while (*p == PAINT) {
        p++;
    }
    return RAMEND + 1U - (uint16_t)p;
}

/* The text output has the result. Sleep without interrupts ends simavr. */
void board_end(bool has_failed)
{
    (void)has_failed;
    loop_until_bit_is_set(UCSR0A, UDRE0);
    cli();
    sleep_enable();
    for (;;) {
        sleep_cpu();
    }
}
