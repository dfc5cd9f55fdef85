/** Small integer arithmetic over named values: how the tables of recipes write shapes. */
#ifndef SL_ENGINE_EXPRESSION_H
#define SL_ENGINE_EXPRESSION_H

#include <stdbool.h>
#include <stdint.h>

#include "shardline/error.h"

enum { SL_SCOPE_NAMES_MAX = 80 };

/** The values a recipe computes with. Names are borrowed and differ. */
typedef struct sl_scope {
    uint32_t count;
    const char *names[SL_SCOPE_NAMES_MAX];
    uint64_t values[SL_SCOPE_NAMES_MAX];
} sl_scope;

/** Sets a value, new or not. */
void sl_scope_set(sl_scope *scope, const char *name, uint64_t value);

/** NULL when there is none of that name. */
const uint64_t *sl_scope_find(const sl_scope *scope, const char *name);

/**
 * Value of a text such as "heads * head_dim + (bias != 0) * 2": decimal numbers, names of the
 * scope, + - * / % == != < <= > >= and parentheses, on natural numbers. Division rounds down,
 * multiplication binds before addition, addition before comparison, which gives 0 or 1.
 *
 * The text is one of our tables: what it does not follow, and a name the scope lacks, is asserted.
 * SL_E_RANGE when the values leave uint64_t, a difference is negative or a divisor is 0; *out is
 * then untouched.
 */
sl_code sl_expression_value(const char *text, const sl_scope *scope, uint64_t *out) SL_MUST_CHECK;

/**
 * As sl_expression_value, for a list parted by commas: at most `max` values, *count of them (an
 * empty text has none).
 */
sl_code sl_expression_list(const char *text, const sl_scope *scope, uint64_t *out, uint32_t max,
                           uint32_t *count) SL_MUST_CHECK;

#endif
