/* end.c -- the end of a program on a Cortex-M. */
#include "board.h"

#if SIMULATED
/* Semihosting: a breakpoint that QEMU takes for a request, here to exit with a status. */
void board_end(bool has_failed)
{
    const uint32_t reason[2] = {0x20026U /* the application ends */, has_failed ? 1U : 0U};
    register uint32_t operation __asm__("r0") = 0x20U; /* SYS_EXIT_EXTENDED */
    register const uint32_t *argument __asm__("r1") = reason;

    __asm__ volatile("bkpt 0xAB" : "+r"(operation) : "r"(argument) : "memory");
    for (;;) {
    }
}
#else
/* The text output has the result. A breakpoint is a fault where no debugger is attached. */
void board_end(bool has_failed)
{
    (void)has_failed;
    for (;;) {
        __asm__ volatile("wfi");
    }
}
#endif
