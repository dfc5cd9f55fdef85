/** Golden tables: rows of a CSV file under tests/, compared with what the program says. */
#ifndef SL_TESTS_GOLDEN_H
#define SL_TESTS_GOLDEN_H

#include "harness.h"

#include <stdio.h>
#include <stdlib.h>

#include "base/arena.h"
#include "base/csv.h"
#include "base/text.h"

static inline uint64_t
golden_number(const sl_csv *csv, const char *column)
{
    uint64_t value = 0;
    if (!sl_text_to_uint(sl_csv_get(csv, column), &value))
        CU_FAIL("the golden value is no number");
    return value;
}

/* Equal numbers, printing both when not. */
static inline bool
expect_count(const char *name, const char *what, uint64_t actual, uint64_t expected)
{
    if (actual == expected)
        return true;
    printf("%s: %s is %llu, expected %llu\n", name, what, (unsigned long long)actual,
           (unsigned long long)expected);
    CU_FAIL("count differs");
    return false;
}

/* Calls `compare` with every row; returns how many there were. */
static inline uint32_t
read_golden(const char *relative, void (*compare)(const sl_csv *csv))
{
    size_t size = 0;
    char *text = sl_read_file(sl_tests_path(relative), &size);
    CU_ASSERT_PTR_NOT_NULL_FATAL(text);
    sl_arena *arena = sl_arena_new(1 << 20);
    CU_ASSERT_PTR_NOT_NULL_FATAL(arena);
    sl_errors err = {0};
    sl_csv csv;
    bool more = false;
    uint32_t rows = 0;

    CU_ASSERT_EQUAL_FATAL(sl_csv_open(&csv, text, size, arena, &err), SL_OK);
    while (sl_csv_next(&csv, &more, &err) == SL_OK && more) {
        compare(&csv);
        rows++;
    }
    CU_ASSERT_EQUAL(err.count, 0);
    sl_arena_free(arena);
    free(text);
    return rows;
}

#endif
