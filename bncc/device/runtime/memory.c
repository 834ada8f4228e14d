/* memory.c -- what a compiler may call without being asked, for machines with no C library here. */
#include <stddef.h>

void *memcpy(void *restrict to, const void *restrict from, size_t size);
void *memset(void *to, int value, size_t size);

/* volatile keeps the compiler from turning a loop into a call of its own function. */
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
