/* systick.h -- the counter of all Cortex-M: 24 bits of clock cycles. */
#ifndef SYSTICK_H
#define SYSTICK_H

#include <stdint.h>

/* In QEMU an instruction takes 1024 ns of virtual time (-icount shift=10), so ticks count the
 * executed instructions. A board defines its ticks in 1024 ns as a fraction. */
#if SIMULATED
#define SYSTICK_UNIT "instructions"
#else
#define SYSTICK_UNIT "cycles"
#endif

/* Starts the counter; ticks per instruction in the simulator are numerator / denominator. */
void systick_begin(uint16_t numerator, uint16_t denominator);

#endif
