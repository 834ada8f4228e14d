/* check.h -- whether the board decides as Python did, and what a decision takes. */
#ifndef CHECK_H
#define CHECK_H

#include <stdint.h>

/* What became of the rows so far. Starts as all zeros. */
struct tally {
    uint16_t n;
    uint16_t unlike_python;
    uint16_t right; /* the class is the label */
    uint16_t count_min;
    uint16_t count_max;
};

/* One more row: the class decided here, the one that Python decided, and the label. */
void tally_add(struct tally *tally, int16_t decided, uint8_t python, uint8_t label,
               uint16_t count);

/* Prints the outcome of all and ends the program. It ends well when the emitted self-test found no
 * vector wrong, every row's class is Python's, as many labels are right as in Python, and no count
 * was lost. */
void check_end(const struct tally *tally, uint16_t python_right, uint16_t n_vectors, int n_wrong)
    __attribute__((noreturn));

#endif
