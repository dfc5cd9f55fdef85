#include "measured_table.h"

#include <stdlib.h>
#include <string.h>

#include "harness.h"

void
sl_table_open(sl_table *table, const char *path)
{
    size_t size = 0;
    sl_errors err = {0};

    table->text = sl_read_file(path, &size);
    table->arena = sl_arena_new(64 << 20);
    CU_ASSERT_PTR_NOT_NULL_FATAL(table->text);
    CU_ASSERT_PTR_NOT_NULL_FATAL(table->arena);
    CU_ASSERT_EQUAL_FATAL(sl_csv_open(&table->csv, table->text, size, table->arena, &err), SL_OK);
}

bool
sl_table_open_shared(sl_table *table, const char *name)
{
    const char *path = sl_shared_path(name);

    if (path == NULL) {
        sl_skip("the measured tables are absent");
        return false;
    }
    sl_table_open(table, path);
    return true;
}

bool
sl_table_next(sl_table *table)
{
    sl_errors err = {0};
    bool more = false;

    return sl_csv_next(&table->csv, &more, &err) == SL_OK && more;
}

void
sl_table_close(sl_table *table)
{
    sl_arena_free(table->arena);
    free(table->text);
}

double
sl_table_number(const sl_table *table, const char *column)
{
    return strtod(sl_csv_get(&table->csv, column), NULL);
}

bool
sl_table_has(const sl_table *table, const char *column, const char *words)
{
    return strstr(sl_csv_get(&table->csv, column), words) != NULL;
}

bool
sl_table_is(const sl_table *table, const char *column, const char *text)
{
    return strcmp(sl_csv_get(&table->csv, column), text) == 0;
}
