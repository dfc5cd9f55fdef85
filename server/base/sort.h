/** Sorting lists that are mostly in order, as the names that tools print. */
#ifndef SL_BASE_SORT_H
#define SL_BASE_SORT_H

#include <stddef.h>

/** As qsort; a list that is in order is only looked through. list: NULL where count is 0. */
void sl_sort(void *list, size_t count, size_t size, int (*order)(const void *, const void *));

#endif
