/* reset.c -- how a Cortex-M starts, and what it does after a fault. */
#include <stdint.h>

#include "board.h"
#include "startup.h"
#include "text.h"

extern uint32_t stack_top[];

void reset(void);
static void fault(void);

/* The processor reads its stack pointer and its handlers from the start of flash. No interrupt is
 * enabled, so the table ends with the faults. */
union vector {
    uint32_t *stack;
    void (*handler)(void);
};

__attribute__((section(".reset"), used)) static const union vector vectors[7] = {
    {.stack = stack_top},
    {.handler = reset},
    {.handler = fault}, /* NMI */
    {.handler = fault}, /* hard fault */
    {.handler = fault}, /* memory management, bus and usage fault: not on a Cortex-M0 */
    {.handler = fault},
    {.handler = fault},
};

void reset(void)
{
    startup();
}

static void fault(void)
{
    put_text("FAULT\r\n");
    board_end(true);
}
