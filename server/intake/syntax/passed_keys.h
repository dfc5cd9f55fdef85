/** Keys of members that are passed over: of every mapping that is open, the innermost's last. No
 * decoder sees them, and none may be there twice all the same. */
#ifndef SL_INTAKE_SYNTAX_PASSED_KEYS_H
#define SL_INTAKE_SYNTAX_PASSED_KEYS_H

#include <stdint.h>

#include "base/buffer.h"

typedef struct sl_passed_keys {
    sl_buffer text; /* one after another, a NUL behind each */
    const char **sorted;
    size_t capacity;
} sl_passed_keys;

/** most_bytes: of the keys that are there at a time with a NUL each, as the caller sees to. */
void sl_passed_keys_init(sl_passed_keys *keys, size_t most_bytes);
void sl_passed_keys_clear(sl_passed_keys *keys);

/** Of the innermost mapping. The key holds no NUL. */
void sl_passed_keys_add(sl_passed_keys *keys, const char *key, size_t size);

/** The innermost mapping ends: its keys, which are those from `from`, a size of the text, are taken
 * back. `line`: where it begins. SL_E_SYNTAX duplicate_key; SL_E_MEMORY. */
sl_code sl_passed_keys_end(sl_passed_keys *keys, size_t from, uint32_t line,
                           sl_errors *err) SL_MUST_CHECK;

#endif
