/* startup.S -- from reset to main on the ATmega328P. Interrupts stay disabled, so the reset vector
 * is the only one, and code may lie where the others would be. */
#define __SFR_OFFSET 0 /* registers by their number in I/O space, as `out` takes it */
#include <avr/io.h>

#define PAINT 0xA5

    .section .reset, "ax", @progbits
    .global reset
reset:
    jmp start

    .text
start:
    clr  r1                     /* compiled code relies on r1 = 0 */
    out  _SFR_IO_ADDR(SREG), r1
    ldi  r28, lo8(RAMEND)
    ldi  r29, hi8(RAMEND)
    out  _SFR_IO_ADDR(SPH), r29
    out  _SFR_IO_ADDR(SPL), r28

    /* gcc names the next two when a program has variables, to have them linked. */
    .global __do_copy_data
__do_copy_data:
    ldi  r26, lo8(data_start)
    ldi  r27, hi8(data_start)
    ldi  r30, lo8(data_load)
    ldi  r31, hi8(data_load)
    ldi  r24, hi8(data_end)
    rjmp 2f
1:  lpm  r0, Z+
    st   X+, r0
2:  cpi  r26, lo8(data_end)
    cpc  r27, r24
    brne 1b

    .global __do_clear_bss
__do_clear_bss:
    ldi  r24, hi8(bss_end)
    rjmp 2f
1:  st   X+, r1
2:  cpi  r26, lo8(bss_end)
    cpc  r27, r24
    brne 1b

    /* The rest is stack. */
    ldi  r25, PAINT
    ldi  r24, hi8(RAMEND + 1)
1:  st   X+, r25
    cpi  r26, lo8(RAMEND + 1)
    cpc  r27, r24
    brne 1b

    rjmp main                   /* which does not return */
