/** Sums and products of counts and bytes that may not leave uint64_t. */
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

#endif
