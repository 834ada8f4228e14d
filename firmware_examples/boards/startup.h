/* startup.h -- from the first instructions to main. */
#ifndef STARTUP_H
#define STARTUP_H

#include <stdint.h>

#define STACK_PAINT 0xA5A5A5A5U

/* Words below the frame's address that startup itself may use. */
#define STARTUP_FRAME 16

void startup(void) __attribute__((noreturn));

#endif
