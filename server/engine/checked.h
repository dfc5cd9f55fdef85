/** Arithmetic of counts and bytes: sums and products that may not leave uint64_t, common
 * divisors. */
#ifndef SL_ENGINE_CHECKED_H
#define SL_ENGINE_CHECKED_H

#include <stdbool.h>
#include <stdint.h>

/** False, with *out untouched, when the product leaves uint64_t. */
static inline bool
sl_multiply(uint64_t a, uint64_t b, uint64_t *out)
{
    if (a != 0 && b > UINT64_MAX / a)
        return false;
    *out = a * b;
    return true;
}

/** False, with *sum untouched, when the sum leaves uint64_t. */
static inline bool
sl_add(uint64_t *sum, uint64_t value)
{
    if (value > UINT64_MAX - *sum)
        return false;
    *sum += value;
    return true;
}

/** The greatest that divides both; of 0 and another number the other. */
static inline uint64_t
sl_common_divisor(uint64_t a, uint64_t b)
{
    while (b != 0) {
        const uint64_t rest = a % b;
        a = b;
        b = rest;
    }
    return a;
}

#endif
