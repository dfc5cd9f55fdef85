/** Decimal texts of numbers, as printf makes them but without its detours. */
#ifndef SL_BASE_NUMBER_H
#define SL_BASE_NUMBER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { SL_NUMBER_TEXT_SIZE = 32 };

/** What "%.12g" prints of a finite value, digit for digit. Returns the length. */
size_t sl_number_format(double value, char out[SL_NUMBER_TEXT_SIZE]);

/** Whether a value is whole and below 2^53, so that every digit of it counts. */
bool sl_number_is_whole(double value);

/** What JSON says of a finite value: whole ones with every digit, others as sl_number_format.
 * Returns the length. */
size_t sl_number_json(double value, char out[SL_NUMBER_TEXT_SIZE]);

/** What "%llu" prints, at most 20 digits and no NUL, so that it ends before `end`. Returns where it
 * begins. */
char *sl_number_whole(uint64_t value, char *end);

/** Numbers of a list as JSON has them, a comma before each; `none` among whole ones is null. Writes no
 * more than SL_NUMBER_TEXT_SIZE bytes of each. Returns the end. */
char *sl_number_list_whole(const uint32_t *values, size_t count, uint32_t none, char *out);
char *sl_number_list(const double *values, size_t count, char *out);

typedef struct sl_number_text {
    char text[SL_NUMBER_TEXT_SIZE];
} sl_number_text;

/**
 * A figure for a sentence: as many digits as the spread around it bears out, three at most, and
 * no exponent below 1e18: 429 +- 90 is "430", 2290000 "2,290,000". The dashboard writes by the same rule
 * (static/src/units.js, borneOut).
 *
 * value   finite; beyond 1e18, or below 1e-9, its zeros would be all that is read
 * spread  half of the interval, in the unit of the value; 0 = none is known
 */
sl_number_text sl_number_say(double value, double spread);

#endif
