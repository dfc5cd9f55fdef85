/** The regular expressions that quantisation configs hold, in the words of POSIX. */
#ifndef SL_HF_REGEX_H
#define SL_HF_REGEX_H

#include <stdbool.h>
#include <stddef.h>

enum { SL_HF_REGEX_MAX = 256 };

/**
 * Translates a Python expression that is matched from the start of a text into an extended POSIX
 * one, "^(...)". What means the same in both is copied; \d, \w, (?: and lazy repeats are put into
 * other words. False when the text is too long or holds anything else: look-around, back
 * references, counts in braces, flags, possessive repeats.
 */
bool sl_hf_regex_translate(const char *python, char out[SL_HF_REGEX_MAX]);

#endif
