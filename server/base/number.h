/** Decimal texts of numbers, as printf makes them but without its detours. */
#ifndef SL_BASE_NUMBER_H
#define SL_BASE_NUMBER_H

#include <stddef.h>
#include <stdint.h>

enum { SL_NUMBER_TEXT_SIZE = 32 };

/** What "%.12g" prints of a finite value, digit for digit. Returns the length. */
size_t sl_number_format(double value, char out[SL_NUMBER_TEXT_SIZE]);

/** What "%llu" prints, at most 20 digits and no NUL, so that it ends before `end`. Returns where it
 * begins. */
char *sl_number_whole(uint64_t value, char *end);

#endif
