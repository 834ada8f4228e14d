/* systick.c -- see systick.h */
#include "systick.h"

#include "board.h"

#define SYSTICK ((volatile uint32_t *)0xE000E010U)
enum { CONTROL = 0, RELOAD = 1, VALUE = 2 };

#define LAST_TICK 0xFFFFFFU
#define RUN 5U           /* from the processor's clock, without interrupt */
#define HAS_WRAPPED (1U << 16)

const char board_count_unit[] = SYSTICK_UNIT;

static uint16_t per_instruction[2];
static uint32_t overhead;

static uint32_t units(uint32_t ticks)
{
#if SIMULATED
    return (ticks * per_instruction[1] + per_instruction[0] / 2U) / per_instruction[0];
#else
    return ticks;
#endif
}

void systick_begin(uint16_t numerator, uint16_t denominator)
{
    per_instruction[0] = numerator;
    per_instruction[1] = denominator;
    SYSTICK[RELOAD] = LAST_TICK;
    SYSTICK[CONTROL] = RUN;
    board_count_begin();
    overhead = board_count_end();
}

void board_count_begin(void)
{
    SYSTICK[VALUE] = 0U; /* whatever is written: it starts from LAST_TICK, and has not wrapped */
}

uint16_t board_count_end(void)
{
    uint32_t now = SYSTICK[VALUE];
    uint32_t count = units(LAST_TICK - now) - overhead;

    if ((SYSTICK[CONTROL] & HAS_WRAPPED) != 0U || count >= BOARD_COUNT_LOST) {
        return BOARD_COUNT_LOST;
    }
    return (uint16_t)count;
}
