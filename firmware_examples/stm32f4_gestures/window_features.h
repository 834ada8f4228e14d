/* window_features.h -- a second of accelerometer readings as twelve numbers, by integer arithmetic.
 * window_features.py computes the same for training, bit for bit. */
#ifndef WINDOW_FEATURES_H
#define WINDOW_FEATURES_H

#include <stdint.h>

#define N_AXES 3U
#define AXIS_LENGTH 100U     /* readings at 100 Hz */
#define FEATURES_PER_AXIS 4U

/* Features per axis:
 *   the mean, rounded towards 0;
 *   a quarter of the distance between the minimum and the maximum reading;
 *   the mean distance between consecutive readings, at most 32767;
 *   the number of crossings of the mean. */
void compute_features(const int16_t window[N_AXES * AXIS_LENGTH],
                      int16_t features[N_AXES * FEATURES_PER_AXIS]);

#endif
