/* What emitted C uses of avr-libc, for static analysis: there it is macros of assembly. */
#ifndef AVR_PGMSPACE_H
#define AVR_PGMSPACE_H

#include <stdint.h>

#define PROGMEM

uint8_t pgm_read_byte(const void *p);
uint16_t pgm_read_word(const void *p);
uint32_t pgm_read_dword(const void *p);
const void *pgm_read_ptr(const void *p);

#endif
