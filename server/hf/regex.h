/** The regular expressions that quantisation configs hold, matched in bounded time. */
#ifndef SL_HF_REGEX_H
#define SL_HF_REGEX_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/arena.h"

enum { SL_HF_REGEX_MAX = 256 }; /* bytes of an expression, with its end */

/** A compiled expression, of the arena it was made in. */
typedef struct sl_hf_regex sl_hf_regex;

/**
 * Compiles a Python expression: letters, sets, groups, alternatives, * + ? (lazy or not), ^ and $,
 * \d and \w, and signs behind a backslash. Its size is that of the text, however deep its groups
 * and repeats nest.
 *
 * NULL when memory is short, the text is too long or nested too deep, or holds anything else:
 * look-around, back references, counts in braces, flags, possessive repeats, letters beyond ASCII.
 */
sl_hf_regex *sl_hf_regex_new(sl_arena *arena, const char *python) SL_MUST_CHECK;

/**
 * True when the expression matches from the start of `text` to wherever it ends, as Python's
 * re.match. Adds the steps it took to *work: at most those of the expression for each letter of the
 * text, whatever the expression is.
 */
bool sl_hf_regex_match(const sl_hf_regex *regex, const char *text, uint64_t *work);

#endif
