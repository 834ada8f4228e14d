/* board.h -- what an example needs of a board. Each folder of boards/ implements it. */
#ifndef BOARD_H
#define BOARD_H

#include <stdbool.h>
#include <stdint.h>

/* What board_count_end returns when there was more to count than it can tell. */
#define BOARD_COUNT_LOST UINT16_MAX

/* What is counted: cycles, or the instructions that a simulator executes. In flash. */
extern const char board_count_unit[];

/* Serial line, 115200 baud, 8 bits, no parity; and the counter. */
void board_begin(void);

void board_put_char(char c);

/* The count between the two, less what the two take themselves, the same in every place. */
void board_count_begin(void) __attribute__((noinline));
uint16_t board_count_end(void) __attribute__((noinline));

/* Bytes of stack that were in use at the deepest point since reset: start-up code paints the stack,
 * and this looks how much paint is left. */
uint16_t board_stack_depth(void);

/* The end of the program. A simulator stops, a board sleeps. */
void board_end(bool has_failed) __attribute__((noreturn));

#endif
