#include "intake/syntax/passed_keys.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

enum { FIRST_CAPACITY = 64 };

void
sl_passed_keys_init(sl_passed_keys *keys, size_t most_bytes)
{
    assert(keys != NULL);

    *keys = (sl_passed_keys){.sorted = NULL};
    sl_buffer_init(&keys->text, most_bytes);
}

void
sl_passed_keys_clear(sl_passed_keys *keys)
{
    assert(keys != NULL);

    sl_buffer_clear(&keys->text);
    free(keys->sorted);
}

void
sl_passed_keys_add(sl_passed_keys *keys, const char *key, size_t size)
{
    assert(keys != NULL && key != NULL);

    sl_buffer_append(&keys->text, key, size);
    sl_buffer_append(&keys->text, "", 1);
}

static sl_code
out_of_memory(sl_errors *err)
{
    return sl_fail(err, SL_E_MEMORY, "out_of_memory", "", "no memory to read YAML");
}

static int
by_text(const void *a, const void *b)
{
    const char *const *const left = a;
    const char *const *const right = b;
    return strcmp(*left, *right);
}

/* Room for one more behind `count`. */
static bool
reserve(sl_passed_keys *keys, size_t count)
{
    if (count < keys->capacity)
        return true;
    const size_t capacity = keys->capacity > 0 ? 2 * keys->capacity : FIRST_CAPACITY;
    const char **const grown = realloc(keys->sorted, capacity * sizeof *grown);
    if (grown == NULL)
        return false;
    keys->sorted = grown;
    keys->capacity = capacity;
    return true;
}

sl_code
sl_passed_keys_end(sl_passed_keys *keys, size_t from, uint32_t line, sl_errors *err)
{
    assert(keys != NULL && from <= keys->text.size && err != NULL);

    size_t count = 0;
    if (keys->text.failed)
        return out_of_memory(err);
    for (size_t at = from; at < keys->text.size; at += strlen(keys->text.data + at) + 1) {
        if (!reserve(keys, count))
            return out_of_memory(err);
        keys->sorted[count++] = keys->text.data + at;
    }
    keys->text.size = from;
    if (count < 2)
        return SL_OK;
    qsort(keys->sorted, count, sizeof *keys->sorted, by_text);
    for (size_t i = 1; i < count; i++)
        if (strcmp(keys->sorted[i - 1], keys->sorted[i]) == 0)
            return sl_fail(err, SL_E_SYNTAX, "duplicate_key", "",
                           "the mapping from line %u has the key \"%.60s\" twice", line,
                           keys->sorted[i]);
    return SL_OK;
}
