#include "base/number.h"

#include <assert.h>
#include <math.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Exact: 5^16 fits the 53 bits of a double. */
static const double tens[] = {1.0, 1e1,  1e2,  1e3,  1e4,  1e5,  1e6,  1e7, 1e8,
                              1e9, 1e10, 1e11, 1e12, 1e13, 1e14, 1e15, 1e16};

enum { DIGITS = 12, HALF = DIGITS / 2 };

/* Of the first digit, or one below it: the power of two is about 0.30103 of it, 1233 / 4096. */
static int
exponent_below(double magnitude)
{
    enum { MANTISSA_BITS = 52, BIAS = 1023, SHIFT = 4096 }; /* a division rounds down so */
    uint64_t bits = 0;

    memcpy(&bits, &magnitude, sizeof bits);
    const int binary = (int)(bits >> MANTISSA_BITS) - BIAS;
    return (binary + SHIFT) * 1233 / 4096 - 1233;
}

/* The twelve digits of a magnitude and the exponent of the first; false where rounding would be
 * close to a tie, which the product cannot decide: it is off by 2^-53 of 10^12 at most, 1.2e-4; and
 * where "%g" would not print it without an exponent. */
static bool
digits_of(double magnitude, uint64_t *digits, int *exponent)
{
    if (!(magnitude >= 1e-4 && magnitude < 1e11))
        return false;

    int e = exponent_below(magnitude);
    double scaled = magnitude * tens[DIGITS - 1 - e];
    if (scaled >= 1e12)
        scaled = magnitude * tens[DIGITS - 1 - ++e];
    const int64_t whole = (int64_t)scaled;
    const double rest = scaled - (double)whole;
    if (rest > 0.4998 && rest < 0.5002)
        return false;
    *digits = (uint64_t)whole + (rest > 0.5);
    *exponent = e;
    /* Rounding up may have made one digit more; a power of ten is better left to printf. */
    return *digits < 1000000000000U;
}

static void
write_pair(char out[2], uint32_t pair)
{
    static const char pairs[] = "00010203040506070809101112131415161718192021222324"
                                "25262728293031323334353637383940414243444546474849"
                                "50515253545556575859606162636465666768697071727374"
                                "75767778798081828384858687888990919293949596979899";

    memcpy(out, pairs + 2 * (size_t)pair, 2);
}

/* Six digits, below 10^6. */
static void
write_half(char out[HALF], uint32_t digits)
{
    write_pair(out, digits / 10000);
    write_pair(out + 2, digits / 100 % 100);
    write_pair(out + 4, digits % 100);
}

char *
sl_number_whole(uint64_t value, char *end)
{
    for (; value >= 100; value /= 100)
        write_pair(end -= 2, (uint32_t)(value % 100));
    if (value < 10)
        *--end = (char)('0' + value);
    else
        write_pair(end -= 2, (uint32_t)value);
    return end;
}

size_t
sl_number_format(double value, char out[SL_NUMBER_TEXT_SIZE])
{
    char text[2 * DIGITS] = {0}; /* behind any digit there is room for a copy of all */
    uint64_t digits = 0;
    int e = 0;

    assert(isfinite(value));
    if (!digits_of(fabs(value), &digits, &e)) {
        const int length = snprintf(out, SL_NUMBER_TEXT_SIZE, "%.12g", value);
        assert(length > 0 && length < SL_NUMBER_TEXT_SIZE);
        return (size_t)length;
    }
    write_half(text, (uint32_t)(digits / 1000000));
    write_half(text + HALF, (uint32_t)(digits % 1000000));
    const int point = e < 0 ? 0 : e + 1; /* digits before it */
    int last = DIGITS;                   /* zeros behind it are left out */
    while (last > point && text[last - 1] == '0')
        last--;
    char *at = out;
    *at = '-';
    at += value < 0.0;
    if (e < 0) {
        memcpy(at, "0.0000", 6);
        at += 1 - e;
    } else { /* whole digits, then the rest a place further */
        memcpy(at, text, DIGITS);
        at += point;
        *at = '.';
        at += last > point;
    }
    memcpy(at, text + point, DIGITS);
    at += last - point;
    *at = '\0';
    return (size_t)(at - out);
}

bool
sl_number_is_whole(double value)
{
    return fabs(value) < 9007199254740992.0 && (double)(int64_t)value == value;
}

size_t
sl_number_json(double value, char out[SL_NUMBER_TEXT_SIZE])
{
    char digits[SL_NUMBER_TEXT_SIZE];

    if (!sl_number_is_whole(value))
        return sl_number_format(value, out);
    char *begin = sl_number_whole((uint64_t)fabs(value), digits + sizeof digits);
    if (value < 0.0)
        *--begin = '-';
    const size_t size = (size_t)(digits + sizeof digits - begin);
    memcpy(out, begin, size);
    return size;
}

/* Up to four digits take no loop, and no copy. */
static char *
put_whole(char *out, uint32_t value)
{
    if (value >= 10000) {
        char digits[SL_NUMBER_TEXT_SIZE];
        const char *begin = sl_number_whole(value, digits + sizeof digits);
        const size_t size = (size_t)(digits + sizeof digits - begin);
        memcpy(out, begin, size);
        return out + size;
    }
    if (value >= 1000) {
        write_pair(out, value / 100);
        write_pair(out + 2, value % 100);
        return out + 4;
    }
    if (value >= 100)
        *out++ = (char)('0' + value / 100);
    if (value < 10) {
        *out = (char)('0' + value);
        return out + 1;
    }
    write_pair(out, value % 100);
    return out + 2;
}

char *
sl_number_list_whole(const uint32_t *values, size_t count, uint32_t none, char *out)
{
    for (size_t i = 0; i < count; i++) {
        *out++ = ',';
        if (values[i] != none) {
            out = put_whole(out, values[i]);
            continue;
        }
        memcpy(out, "null", 4);
        out += 4;
    }
    return out;
}

char *
sl_number_list(const double *values, size_t count, char *out)
{
    for (size_t i = 0; i < count; i++) {
        *out++ = ',';
        out += sl_number_json(values[i], out);
    }
    return out;
}

enum { SAID_DIGITS = 3, MOST_SAID = 18, LEAST_SAID = -9 };

/* Of the first digit of a magnitude. */
static int
exponent_of(double magnitude)
{
    return (int)floor(log10(magnitude));
}

/* Commas between every three digits before the point. */
static void
group_digits(const char *plain, char out[SL_NUMBER_TEXT_SIZE])
{
    const size_t sign = plain[0] == '-';
    const size_t whole = sign + strspn(plain + sign, "0123456789");
    size_t used = 0;

    for (size_t i = 0; plain[i] != '\0' && used + 2 < SL_NUMBER_TEXT_SIZE; i++) {
        if (i > sign && i < whole && (whole - i) % 3 == 0)
            out[used++] = ',';
        out[used++] = plain[i];
    }
    out[used] = '\0';
}

sl_number_text
sl_number_say(double value, double spread)
{
    const double magnitude = fabs(value);
    sl_number_text said = {"0"};
    char plain[SL_NUMBER_TEXT_SIZE];

    if (!(magnitude > 0.0) || exponent_of(magnitude) < LEAST_SAID)
        return said;
    if (exponent_of(magnitude) >= MOST_SAID) {
        (void)snprintf(said.text, sizeof said.text, "%.2e", value);
        return said;
    }
    const int first = exponent_of(magnitude);
    const int sure = spread > 0.0 ? first - exponent_of(spread / 2.0) + 1 : SAID_DIGITS;
    const int kept = sure < 1 ? 1 : sure > SAID_DIGITS ? SAID_DIGITS : sure;

    /* Read back, what rounding made may have one digit more before the point. */
    (void)snprintf(plain, sizeof plain, "%.*e", kept - 1, value);
    const double rounded = strtod(plain, NULL);
    const int decimals = kept - 1 - exponent_of(fabs(rounded));
    (void)snprintf(plain, sizeof plain, "%.*f", decimals > 0 ? decimals : 0, rounded);
    group_digits(plain, said.text);
    return said;
}
