/* rom.h -- constants that stay in flash. On AVR they have an address space of their own and need
 * an instruction of their own; elsewhere flash is memory like any other. */
#ifndef ROM_H
#define ROM_H

#include <stdint.h>

#if defined(__AVR__)
#include <avr/pgmspace.h>
#define ROM PROGMEM
#define TEXT(text) PSTR(text)
#else
#define ROM
#define TEXT(text) (text)
#endif

static inline uint8_t rom_byte(const void *address)
{
#if defined(__AVR__)
    return pgm_read_byte(address);
#else
    return *(const uint8_t *)address;
#endif
}

/* Bytes from flash into RAM. */
static inline void rom_copy(void *to, const void *from, uint16_t n_bytes)
{
    uint8_t *out = to;
    const uint8_t *in = from;

    while (n_bytes > 0U) {
        *out++ = rom_byte(in++);
        n_bytes--;
    }
}

#endif
