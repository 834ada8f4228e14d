/* memory.c -- functions that a compiler may call implicitly, for targets without a C library. */
#include <stddef.h>

void *memcpy(void *restrict to, const void *restrict from, size_t size);
void *memset(void *to, int value, size_t size);

/* volatile keeps the compiler from replacing a loop by a call of the function that contains it. */
void *memcpy(void *restrict to, const void *restrict from, size_t size)
{
    volatile unsigned char *d = to;
    const unsigned char *s = from;

    while (size > 0U) {
        *d++ = *s++;
        size--;
    }
    return to;
}

void *memset(void *to, int value, size_t size)
{
    volatile unsigned char *d = to;

    while (size > 0U) {
        *d++ = (unsigned char)value;
        size--;
    }
    return to;
}
