/* arithmetic.h -- exp, log and sums in loops that compilers vectorize. */
#ifndef BNCC_ARITHMETIC_H
#define BNCC_ARITHMETIC_H

#include <math.h>
#include <stdint.h>
#include <string.h>

#define VECTOR 8U
/* Terms below its exp are lost when added to 1, as in losses.py. */
#define NEGLIGIBLE_LOG (-80.0f)

typedef float vector_t __attribute__((vector_size(VECTOR * sizeof(float))));

/* exp(x) for x <= 0, to two units in the last place; some 1e-35 for all below -80. */
static inline float exp_of(float x)
{
    const float bounded = (x < NEGLIGIBLE_LOG) ? NEGLIGIBLE_LOG : x;
    const float n = rintf(bounded * 1.44269504f);
    const float r = (bounded - n * 0.693359375f) + n * 2.12194440e-4f;
    const int32_t exponent = ((int32_t)n + 127) << 23;
    float power;
    float sum = 1.9875691500e-4f;

    sum = sum * r + 1.3981999507e-3f;
    sum = sum * r + 8.3334519073e-3f;
    sum = sum * r + 4.1665795894e-2f;
    sum = sum * r + 1.6666665459e-1f;
    sum = sum * r + 5.0000001201e-1f;
    memcpy(&power, &exponent, sizeof(power));
    return (sum * r * r + r + 1.0f) * power;
}

/* log(x) for normal x > 0, to two units in the last place. */
static inline float log_of(float x)
{
    int32_t bits;
    int32_t exponent;
    int32_t is_low;
    float m;
    float n;
    float r;
    float sum = 7.0376836292e-2f;

    memcpy(&bits, &x, sizeof(bits));
    exponent = (bits >> 23) - 126;
    bits = (bits & 0x7FFFFF) | 0x3F000000;
    memcpy(&m, &bits, sizeof(m));
    is_low = (m < 0.707106781f);
    n = (float)(exponent - is_low);
    r = (is_low ? m + m : m) - 1.0f;
    sum = sum * r - 1.1514610310e-1f;
    sum = sum * r + 1.1676998740e-1f;
    sum = sum * r - 1.2420140846e-1f;
    sum = sum * r + 1.4249322787e-1f;
    sum = sum * r - 1.6668057665e-1f;
    sum = sum * r + 2.0000714765e-1f;
    sum = sum * r - 2.4999993993e-1f;
    sum = sum * r + 3.3333331174e-1f;
    return (sum * r * r * r - n * 2.12194440e-4f - 0.5f * r * r + r) + n * 0.693359375f;
}

/* Sum of n_lanes numbers, in an order that can be vectorized. */
static inline float sum_of(const float *x, const uint32_t n_lanes)
{
    float part[VECTOR] = {0.0f};
    uint32_t v;
    uint32_t c;

    for (v = 0U; v < n_lanes; v += VECTOR) {
        for (c = 0U; c < VECTOR; c++) {
            part[c] += x[v + c];
        }
    }
    return ((part[0] + part[4]) + (part[2] + part[6])) + ((part[1] + part[5]) + (part[3] + part[7]));
}

#endif
