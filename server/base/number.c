#include "base/number.h"

#include <assert.h>
#include <math.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

/* Exact: 5^27 fits the 64 bits of the narrowest long double. */
static const long double tens[] = {1.0L, 1e1L, 1e2L,  1e3L,  1e4L,  1e5L,  1e6L,  1e7L,
                                   1e8L, 1e9L, 1e10L, 1e11L, 1e12L, 1e13L, 1e14L, 1e15L};

enum { DIGITS = 12, EXPONENT_MIN = -4, EXPONENT_MAX = 10 };

static bool
reaches(long double magnitude, int exponent)
{
    return exponent >= 0 ? magnitude >= tens[exponent] : magnitude * tens[-exponent] >= 1.0L;
}

/* Of the first digit. The power of two is about three tenths of it. */
static int
exponent_of(double magnitude)
{
    int binary = 0;
    (void)frexp(magnitude, &binary);
    int e = (binary + 100) * 3 / 10 - 30;

    while (e > EXPONENT_MIN && !reaches((long double)magnitude, e))
        e--;
    while (e < EXPONENT_MAX && reaches((long double)magnitude, e + 1))
        e++;
    return e;
}

/* The twelve digits of a magnitude and the exponent of the first; false where rounding would be close to a
 * tie, which the product cannot decide, and where "%g" would not print it without an exponent. */
static bool
digits_of(double magnitude, uint64_t *digits, int *exponent)
{
    if (!(magnitude >= 1e-4 && magnitude < 1e11))
        return false;

    const int e = exponent_of(magnitude);
    const long double scaled = (long double)magnitude * tens[DIGITS - 1 - e];
    const uint64_t whole = (uint64_t)scaled;
    const long double rest = scaled - (long double)whole;
    if (rest > 0.499999L && rest < 0.500001L)
        return false;
    *digits = whole + (rest > 0.5L);
    *exponent = e;
    /* Rounding up may have made one digit more; a power of ten is better left to printf. */
    return *digits >= 100000000000U && *digits < 1000000000000U;
}

size_t
sl_number_format(double value, char out[SL_NUMBER_TEXT_SIZE])
{
    char text[DIGITS];
    uint64_t digits = 0;
    int e = 0;
    size_t size = 0;

    assert(isfinite(value));
    if (!digits_of(fabs(value), &digits, &e)) {
        const int length = snprintf(out, SL_NUMBER_TEXT_SIZE, "%.12g", value);
        assert(length > 0 && length < SL_NUMBER_TEXT_SIZE);
        return (size_t)length;
    }
    for (int i = DIGITS; i > 0; i -= 2, digits /= 100) {
        const uint32_t pair = (uint32_t)(digits % 100);
        text[i - 2] = (char)('0' + pair / 10);
        text[i - 1] = (char)('0' + pair % 10);
    }
    int last = DIGITS; /* zeros behind the point are left out */
    while (last > 1 && last > e + 1 && text[last - 1] == '0')
        last--;
    if (value < 0.0)
        out[size++] = '-';
    if (e < 0) {
        memcpy(out + size, "0.0000", (size_t)(1 - e));
        size += (size_t)(1 - e);
    }
    for (int i = 0; i < last; i++) {
        if (i == e + 1 && e >= 0)
            out[size++] = '.';
        out[size++] = text[i];
    }
    out[size] = '\0';
    return size;
}
