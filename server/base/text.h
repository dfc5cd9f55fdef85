/** Bounded, locale-free text helpers. */
#ifndef SL_BASE_TEXT_H
#define SL_BASE_TEXT_H

#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "shardline/error.h"

/** Copies at most size-1 bytes, whole UTF-8 characters, and always terminates. False when it had
 * to cut. */
bool sl_text_copy(char *to, size_t size, const char *from);

/** snprintf that always terminates and cuts between UTF-8 characters. False when it had to cut. */
bool sl_text_format(char *to, size_t size, const char *format, ...) SL_PRINTF(3, 4);
bool sl_text_vformat(char *to, size_t size, const char *format, va_list arguments) SL_PRINTF(3, 0);

bool sl_text_equal(const char *a, const char *b);
/** Whether these bytes, which need no NUL behind them, are the word. */
bool sl_text_is(const char *bytes, size_t size, const char *word);
bool sl_text_ends_with(const char *text, const char *end);
bool sl_text_equal_ignoring_case(const char *a, const char *b); /* ASCII */
/** True when `part` stands anywhere in `text`; an empty part stands in every text. */
bool sl_text_holds_ignoring_case(const char *text, const char *part); /* ASCII */

/** Whole text as a decimal number, nothing before or after. False leaves *out untouched. */
bool sl_text_to_uint(const char *text, uint64_t *out);
bool sl_text_to_double(const char *text, double *out); /* finite; a sign and an exponent may be */

/**
 * The entry nearest to `word` by edit distance (swapping two neighbours counts once), or NULL when
 * none is near enough to suggest: a distance above a third of the word's length, at least 2, or so
 * large that no letter of the word would remain. Case is ignored. Bounded: words over 64 bytes are
 * never near.
 */
const char *sl_text_nearest(const char *word, const char *const *list, size_t count);

/** Index of `word` in `list`, or -1. */
int sl_text_index(const char *word, const char *const *list, size_t count);

/**
 * Bytes of the UTF-8 character at `bytes`, 1 to 4; 0 when it is not valid UTF-8 (overlong forms,
 * surrogates and characters cut by the end included). length >= 1.
 */
size_t sl_text_character(const char *bytes, size_t length);

enum { SL_TEXT_CHARACTER_MAX = 4 };

/** Writes a character in UTF-8 and returns its size. What is none, half of a surrogate pair or past
 * U+10FFFF, becomes U+FFFD. */
size_t sl_text_put_character(uint32_t code, char out[SL_TEXT_CHARACTER_MAX]);

/** The quote that ends a JSON string, of which `from` is the first byte; NULL where none does before
 * `end`. */
const char *sl_text_closing_quote(const char *from, const char *end);

enum { SL_TEXT_ESCAPED_MAX = 6 };

/**
 * Writes the first character of `bytes` as it stands inside a JSON string (no NUL) and returns its
 * size; *taken is how many bytes it was. An invalid byte becomes U+FFFD. length >= 1.
 */
size_t sl_text_json_escape(const char *bytes, size_t length, char out[SL_TEXT_ESCAPED_MAX],
                           size_t *taken);

#endif
