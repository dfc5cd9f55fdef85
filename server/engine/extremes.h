/** The larger and the smaller of two numbers, neither of them NaN, and numbers rounded up. fmax and
 * fmin are calls, ceil is long without the instruction for it, and a search asks with every
 * plan. */
#ifndef SL_ENGINE_EXTREMES_H
#define SL_ENGINE_EXTREMES_H

#include <stdint.h>

static inline double
sl_larger(double a, double b)
{
    return a > b ? a : b;
}

static inline double
sl_smaller(double a, double b)
{
    return a < b ? a : b;
}

/** The least whole number that x, 0 or more, is not above; ceil asks more of x. */
static inline double
sl_rounded_up(double x)
{
    const double fractions_end = 4503599627370496.0; /* 2^52 */
    const double down = x < fractions_end ? (double)(int64_t)x : x;

    return down < x ? down + 1.0 : down;
}

/** Bytes that shares of a whole come to, rounded up but for what rounded them. */
static inline double
sl_whole_bytes(double bytes)
{
    return sl_rounded_up(bytes * (1.0 - 1e-14));
}

#endif
