#include "base/embed.h"

#include <assert.h>
#include <string.h>

const sl_embedded *
sl_embedded_find(const sl_embedded_set *set, const char *name)
{
    assert(set != NULL && name != NULL);

    size_t low = 0, high = set->count;
    while (low < high) {
        const size_t middle = low + (high - low) / 2;
        const int order = strcmp(name, set->files[middle].name);
        if (order == 0)
            return &set->files[middle];
        if (order < 0)
            high = middle;
        else
            low = middle + 1;
    }
    return NULL;
}
