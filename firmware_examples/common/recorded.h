/* recorded.h -- recordings in flash in place of a sensor, and whether the board decides on them as
 * Python did. */
#ifndef RECORDED_H
#define RECORDED_H

#include <stdbool.h>
#include <stdint.h>

/* The label of a window whose samples have several, or none. */
#define RECORDED_NO_LABEL UINT8_MAX

/* Recordings one after another, written by recordings.py. All arrays are in flash. */
struct recorded {
    const int16_t *samples;  /* n_samples times n_channels */
    const uint16_t *lengths; /* samples of each recording */
    const uint16_t *ends;    /* number of the last sample of each window, from 0 */
    const uint8_t *answers;  /* the class of each window that Python decided */
    const uint8_t *labels;   /* the label of each window */
    uint16_t n_samples;
    uint16_t n_windows;
    uint16_t right; /* so many labels Python gets right */
    int16_t no_decision;
    uint8_t n_channels;
};

void recorded_begin(const struct recorded *recorded);

/* The next sample, as a driver would deliver it; false after the last one. */
bool recorded_next(int16_t *sample);

/* True if that sample is the first of its recording. */
bool recorded_is_first(void);

/* What the board decided after that sample, or no_decision; and what the sample took. */
void recorded_check(int16_t decided, uint16_t count);

/* Prints what the samples took and the outcome of all, and ends the program; see check.h. */
void recorded_end(uint16_t n_vectors, int n_wrong) __attribute__((noreturn));

#endif
