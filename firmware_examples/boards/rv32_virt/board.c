/* board.c -- QEMU's board virt: RV32IMC, a 16550 UART, a device that ends the simulation. */
#include "board.h"

#include "text.h"

#define UART ((volatile uint8_t *)0x10000000U)
#define FINISHER ((volatile uint32_t *)0x00100000U)

enum { TX_DATA = 0, LINE_STATUS = 5 };

#define TX_EMPTY (1U << 5)
#define FINISH_WELL 0x5555U
#define FINISH_WITH_STATUS_1 0x13333U

void trap(void);

const char board_count_unit[] = "instructions";

static uint32_t started;
static uint32_t overhead;

static uint32_t executed(void)
{
    uint32_t count;

    __asm__ volatile("csrr %0, minstret" : "=r"(count) : : "memory");
    return count;
}

void board_begin(void)
{
    board_count_begin();
    overhead = board_count_end();
}

void board_put_char(char c)
{
    while ((UART[LINE_STATUS] & TX_EMPTY) == 0U) {
    }
    UART[TX_DATA] = (uint8_t)c;
}

void board_count_begin(void)
{
    started = executed();
}

uint16_t board_count_end(void)
{
    uint32_t count = executed() - started - overhead;

    return (count < BOARD_COUNT_LOST) ? (uint16_t)count : BOARD_COUNT_LOST;
}

void board_end(bool has_failed)
{
    *FINISHER = has_failed ? FINISH_WITH_STATUS_1 : FINISH_WELL;
    for (;;) {
    }
}

/* An exception: no interrupt is enabled. */
void trap(void)
{
    put_text("FAULT\r\n");
    board_end(true);
}
