/* window_features.c -- see window_features.h */
#include "window_features.h"

#define LENGTH ((int32_t)AXIS_LENGTH)

static int32_t mean_of(const int16_t *axis)
{
    int32_t sum = 0;

    for (uint32_t i = 0U; i < AXIS_LENGTH; i++) {
        sum += axis[i];
    }
    return sum / LENGTH; /* C99 rounds towards 0 */
}

static int32_t range_of(const int16_t *axis)
{
    int32_t least = axis[0];
    int32_t greatest = axis[0];

    for (uint32_t i = 1U; i < AXIS_LENGTH; i++) {
        if (axis[i] < least) {
            least = axis[i];
        }
        if (axis[i] > greatest) {
            greatest = axis[i];
        }
    }
    return greatest - least;
}

static int32_t travel_of(const int16_t *axis)
{
    int32_t sum = 0;

    for (uint32_t i = 1U; i < AXIS_LENGTH; i++) {
        int32_t step = (int32_t)axis[i] - axis[i - 1U];

        sum += (step < 0) ? -step : step;
    }
    return sum / LENGTH;
}

static int32_t crossings_of(const int16_t *axis, int32_t level)
{
    int32_t n = 0;

    for (uint32_t i = 1U; i < AXIS_LENGTH; i++) {
        if ((axis[i - 1U] < level) != (axis[i] < level)) {
            n++;
        }
    }
    return n;
}

void compute_features(const int16_t window[N_AXES * AXIS_LENGTH],
                      int16_t features[N_AXES * FEATURES_PER_AXIS])
{
    for (uint32_t k = 0U; k < N_AXES; k++) {
        const int16_t *axis = &window[k * AXIS_LENGTH];
        int16_t *of_axis = &features[k * FEATURES_PER_AXIS];
        int32_t mean = mean_of(axis);
        int32_t travel = travel_of(axis);

        of_axis[0] = (int16_t)mean;
        of_axis[1] = (int16_t)(range_of(axis) / 4);
        of_axis[2] = (int16_t)((travel < INT16_MAX) ? travel : INT16_MAX);
        of_axis[3] = (int16_t)crossings_of(axis, mean);
    }
}
