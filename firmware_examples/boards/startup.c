/* startup.c -- memory as C expects it, then main; for boards with one address space. The first
 * instructions after reset, which the processor's folder has, come here with a stack. */
#include <stdint.h>

#include "board.h"
#include "startup.h"

/* From sections.ld. */
extern uint32_t data_load[];
extern uint32_t data_start[];
extern uint32_t data_end[];
extern uint32_t bss_start[];
extern uint32_t bss_end[];
extern uint32_t stack_top[];

int main(void);

void startup(void)
{
    const uint32_t *from = data_load;
    uint32_t *to;

    for (to = data_start; to < data_end; to++) {
        *to = *from++;
    }
    for (to = bss_start; to < bss_end; to++) {
        *to = 0U;
    }
    /* The rest is stack, up to this function's own frame. */
    while (to < (uint32_t *)__builtin_frame_address(0) - STARTUP_FRAME) {
        *to++ = STACK_PAINT;
    }
    (void)main();
    for (;;) {
    }
}

uint16_t board_stack_depth(void)
{
    const uint32_t *p = bss_end;

    while (*p == STACK_PAINT) {
        p++;
    }
    return (uint16_t)((uintptr_t)stack_top - (uintptr_t)p);
}
