/* port_semihosting.h -- input and output of the harness in QEMU: semihosting, `request`, `reply`.
 * The meter reads a timer that QEMU steps with every instruction (-icount). */
#ifndef BNCC_PORT_H
#define BNCC_PORT_H

#include <stddef.h>
#include <stdint.h>

enum { SYS_OPEN = 0x01, SYS_WRITE = 0x05, SYS_READ = 0x06, SYS_EXIT_EXTENDED = 0x20 };
enum { OPEN_RB = 1, OPEN_WB = 5, APPLICATION_EXIT = 0x20026 };

static uint32_t port_in;
static uint32_t port_out;

static uint32_t semihosting(uint32_t operation, const uintptr_t *arguments)
{
#if defined(__arm__)
    register uint32_t r0 __asm__("r0") = operation;
    register const uintptr_t *r1 __asm__("r1") = arguments;
    __asm__ volatile("bkpt 0xAB" : "+r"(r0) : "r"(r1) : "memory");
    return r0;
#elif defined(__riscv)
    register uint32_t a0 __asm__("a0") = operation;
    register const uintptr_t *a1 __asm__("a1") = arguments;
    __asm__ volatile(".balign 16\n\t.option push\n\t.option norvc\n\t"
                     "slli x0, x0, 0x1f\n\tebreak\n\tsrai x0, x0, 7\n\t.option pop"
                     : "+r"(a0) : "r"(a1) : "memory");
    return a0;
#else
#error "port_semihosting.h: which machine is this?"
#endif
}

static uint32_t port_file(const char *name, uintptr_t length, uintptr_t mode)
{
    const uintptr_t arguments[3] = {(uintptr_t)name, mode, length};

    return semihosting(SYS_OPEN, arguments);
}

static int port_read(void *to, size_t size)
{
    const uintptr_t arguments[3] = {port_in, (uintptr_t)to, size};

    return semihosting(SYS_READ, arguments) == 0U;
}

static void port_write(const void *from, size_t size)
{
    const uintptr_t arguments[3] = {port_out, (uintptr_t)from, size};

    (void)semihosting(SYS_WRITE, arguments);
}

static int port_close(int status)
{
    const uintptr_t arguments[2] = {APPLICATION_EXIT, (uintptr_t)status};

    (void)semihosting(SYS_EXIT_EXTENDED, arguments);
    return status;
}

#ifdef BNCC_METER
#include "stack_paint.h"

#if defined(__arm__)
/* Timer 0 of the MPS2 boards counts down at 25 MHz. */
#define TIMER ((volatile uint32_t *)0x40000000U)
enum { TIMER_CONTROL = 0, TIMER_VALUE = 1, TIMER_RELOAD = 2 };
#endif

static __attribute__((noinline)) uint32_t port_elapsed(void)
{
#if defined(__arm__)
    return ~TIMER[TIMER_VALUE];
#else
    uint32_t retired;
    __asm__ volatile(".option push\n\t.option arch, +zicsr\n\tcsrr %0, minstret\n\t.option pop"
                     : "=r"(retired) :: "memory");
    return retired;
#endif
}
#endif

static void port_open(void)
{
    port_in = port_file("request", 7U, OPEN_RB);
    port_out = port_file("reply", 5U, OPEN_WB);
#if defined(BNCC_METER) && defined(__arm__)
    TIMER[TIMER_RELOAD] = 0xFFFFFFFFU;
    TIMER[TIMER_VALUE] = 0xFFFFFFFFU;
    TIMER[TIMER_CONTROL] = 1U;
#endif
}

#endif
