#include "base/sort.h"

#include <assert.h>
#include <stdlib.h>

void
sl_sort(void *list, size_t count, size_t size, int (*order)(const void *, const void *))
{
    assert((list != NULL || count == 0) && size > 0 && order != NULL);

    const char *at = list;
    size_t sorted = 1;
    for (; sorted < count && order(at, at + size) <= 0; sorted++)
        at += size;
    if (sorted < count)
        qsort(list, count, size, order);
}
