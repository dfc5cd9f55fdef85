/** A CSV table of measured figures, row by row; what cannot be read fails the test. */
#ifndef SL_TESTS_MEASURED_TABLE_H
#define SL_TESTS_MEASURED_TABLE_H

#include <stdbool.h>

#include "base/arena.h"
#include "base/csv.h"

typedef struct sl_table {
    char *text;
    sl_arena *arena;
    sl_csv csv;
} sl_table;

void sl_table_open(sl_table *table, const char *path);

/** One of ../shared; skips the test and returns false where that folder is absent. */
bool sl_table_open_shared(sl_table *table, const char *name);

bool sl_table_next(sl_table *table);
void sl_table_close(sl_table *table);

double sl_table_number(const sl_table *table, const char *column);

/** Whether the cell holds the words somewhere, or is just the text. */
bool sl_table_has(const sl_table *table, const char *column, const char *words);
bool sl_table_is(const sl_table *table, const char *column, const char *text);

#endif
