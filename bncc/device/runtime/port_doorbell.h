/* port_doorbell.h -- the harness rings a bell, and the simulator (simavr, unicorn) serves it.
 *
 * The program says in bncc_request, which the simulator finds by its name, what it wants, and
 * stores one byte, the operation, to the doorbell. When the store has happened, it is served:
 *     'r' read size bytes of the input into address; result is how many there were
 *     'w' write size bytes at address to the output
 *     't' result is how many instructions (unicorn) or cycles (simavr) came before the store
 *     'k' mark the stack; 'd' result is the deepest stack below the mark, in bytes (simavr)
 *     'q' quit with status size */
#ifndef BNCC_PORT_H
#define BNCC_PORT_H

#include <stddef.h>
#include <stdint.h>

#if defined(__AVR__)
#include <avr/io.h>
#define DOORBELL GPIOR0
#else
#define DOORBELL (*(volatile unsigned char *)(uintptr_t)BNCC_DOORBELL)
#endif

struct bncc_request {
    uint32_t address;
    uint32_t size;
    uint32_t result;
};

volatile struct bncc_request bncc_request;

/* The simulator reads and writes memory that the compiler may hold in registers: accesses before
 * the store must have reached memory, and later ones must reload it. */
static inline __attribute__((always_inline)) void ring(char operation)
{
    __asm__ volatile("" ::: "memory");
    DOORBELL = (unsigned char)operation;
    __asm__ volatile("" ::: "memory");
}

static void port_open(void)
{
}

static int port_read(void *to, size_t size)
{
    bncc_request.address = (uint32_t)(uintptr_t)to;
    bncc_request.size = (uint32_t)size;
    ring('r');
    return bncc_request.result == (uint32_t)size;
}

static void port_write(const void *from, size_t size)
{
    bncc_request.address = (uint32_t)(uintptr_t)from;
    bncc_request.size = (uint32_t)size;
    ring('w');
}

static int port_close(int status)
{
    bncc_request.size = (uint32_t)status;
    ring('q');
    return status;
}

#ifdef BNCC_METER
/* Never inlined: unicorn counts whole basic blocks, so the store has one to itself. */
static __attribute__((noinline)) uint32_t port_elapsed(void)
{
    ring('t');
    return bncc_request.result;
}

#if defined(__AVR__)
/* Always inlined: a call would move the mark by its return address. */
static inline __attribute__((always_inline)) void port_stack_mark(void)
{
    ring('k');
}

static inline __attribute__((always_inline)) uint32_t port_stack_depth(void)
{
    ring('d');
    return bncc_request.result;
}
#else
#include "stack_paint.h"
#endif
#endif

#endif
