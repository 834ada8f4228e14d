/* stack_paint.h -- how deep a call goes: paint the memory below the stack, call, look what is left.
 * Nothing here may call a function: its frame would be in the paint. */
#ifndef BNCC_STACK_PAINT_H
#define BNCC_STACK_PAINT_H

#include <stdint.h>

/* Words of paint: an emitted model keeps at most its states and its costs on the stack. */
#define STACK_WORDS (256U + (uint32_t)MODEL_N_FEATURES + (uint32_t)MODEL_N_CLASSES)
#define STACK_PAINT 0xA5A5A5A5U

static uint32_t *stack_mark;

static inline __attribute__((always_inline)) uint32_t *stack_pointer(void)
{
    uint32_t *here;
#if defined(__arm__)
    __asm__ volatile("mov %0, sp" : "=r"(here));
#elif defined(__riscv)
    __asm__ volatile("mv %0, sp" : "=r"(here));
#elif defined(__mips__)
    __asm__ volatile("move %0, $29" : "=r"(here));
#elif defined(__x86_64__)
    __asm__ volatile("movq %%rsp, %0" : "=r"(here));
#else
#error "stack_paint.h: which machine is this?"
#endif
    return here;
}

static inline __attribute__((always_inline)) void port_stack_mark(void)
{
    volatile uint32_t *p = stack_pointer();
    uint32_t left;

    stack_mark = stack_pointer();
    for (left = STACK_WORDS; left > 0U; left--) {
        *--p = STACK_PAINT;
    }
}

static inline __attribute__((always_inline)) uint32_t port_stack_depth(void)
{
    const volatile uint32_t *p = stack_mark - STACK_WORDS;
    uint32_t left = STACK_WORDS;

    while (left > 0U && *p == STACK_PAINT) {
        p++;
        left--;
    }
    return (left == STACK_WORDS) ? UINT32_MAX : 4U * left; /* the former: deeper than the paint */
}

#endif
