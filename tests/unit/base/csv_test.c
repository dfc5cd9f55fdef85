#include "base/csv.h"

#include <glob.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "harness.h"

enum { ARENA_BYTES = 64 * 1024 * 1024 };

/* Reads all rows and joins their fields as "a|b;c|d;" ; the rule of the first fault instead. */
static void
expect_rows(const char *text, size_t size, const char *expected)
{
    char seen[512] = "";
    size_t used = 0;
    sl_errors err = {0};
    sl_csv csv;
    bool more = true;
    sl_arena *const arena = sl_arena_new(ARENA_BYTES);
    CU_ASSERT_PTR_NOT_NULL_FATAL(arena);
    sl_code code = sl_csv_open(&csv, text, size, arena, &err);
    while (code == SL_OK && more) {
        code = sl_csv_next(&csv, &more, &err);
        for (uint32_t i = 0; code == SL_OK && more && i < csv.column_count; i++) {
            const int length = snprintf(seen + used, sizeof seen - used, "%s%s", csv.field[i],
                                        i + 1 < csv.column_count ? "|" : ";");
            used += length > 0 ? (size_t)length : 0;
        }
    }
    if (code != SL_OK) {
        CU_ASSERT_EQUAL(code, SL_E_SYNTAX);
        CU_ASSERT_EQUAL(strncmp(err.list[0].message, "line ", 5), 0);
        sl_expect_text(err.list[0].rule, expected, text);
    } else {
        sl_expect_text(seen, expected, text);
    }
    sl_arena_free(arena);
}

static void
rows_are_read_as_rfc_4180_says(void)
{
    static const struct {
        const char *text, *rows;
    } tries[] = {
        {"a,b\n1,2\n3,4\n", "1|2;3|4;"},
        {"a,b\r\n1,2\r\n3,4", "1|2;3|4;"},
        {"a,b\n,\n", "|;"},
        {"a,b\n\"x,y\",\"he said \"\"no\"\"\"\n", "x,y|he said \"no\";"},
        {"a,b\n\"two\nlines\",\"\"\n", "two\nlines|;"},
        {"\"a\",b\n\"\"\"\",1\n", "\"|1;"},
        {"\xEF\xBB\xBF# a table\n\na,b\n#1,2\n\r\n3,4#\n# end", "3|4#;"},
        {"a\n 1 \n", " 1 ;"},
        {"a,b\n", ""},
        {"a,b", ""},
    };
    for (size_t i = 0; i < sizeof tries / sizeof tries[0]; i++)
        expect_rows(tries[i].text, strlen(tries[i].text), tries[i].rows);
}

static void
broken_rows_are_refused_with_their_line(void)
{
    static const char *const tries[] = {"a,b\n\"never ends\n", "a,b\n\"x\"y,2\n", "a,b\nx\"y,2\n",
                                        "a,b\nx\ry,2\n", "a,a\n1,2\n"};
    for (size_t i = 0; i < sizeof tries / sizeof tries[0]; i++)
        expect_rows(tries[i], strlen(tries[i]), "malformed_csv");
    expect_rows("a,b\nx\0y,2\n", 10, "malformed_csv");
    expect_rows("a,b\n\"x\0y\",2\n", 12, "malformed_csv");
    expect_rows("a,b\n1\n", 6, "column_count");
    expect_rows("a,b\n1,2,3\n", 10, "column_count");
}

static void
a_missing_header_is_refused(void)
{
    static const char *const tries[] = {"", "\n\n", "# only a comment\n"};
    sl_arena *const arena = sl_arena_new(ARENA_BYTES);
    CU_ASSERT_PTR_NOT_NULL_FATAL(arena);
    for (size_t i = 0; i < sizeof tries / sizeof tries[0]; i++) {
        sl_errors err = {0};
        sl_csv csv;
        CU_ASSERT_EQUAL(sl_csv_open(&csv, tries[i], strlen(tries[i]), arena, &err), SL_E_SYNTAX);
        CU_ASSERT_EQUAL(err.count, 1);
    }
    sl_arena_free(arena);
}

static void
columns_are_bounded(void)
{
    char text[2 * SL_CSV_COLUMNS_MAX + 8];
    size_t used = 0;
    for (int i = 0; i <= SL_CSV_COLUMNS_MAX; i++) {
        text[used++] = (char)('0' + i);
        text[used++] = i < SL_CSV_COLUMNS_MAX ? ',' : '\n';
    }
    sl_arena *const arena = sl_arena_new(ARENA_BYTES);
    CU_ASSERT_PTR_NOT_NULL_FATAL(arena);
    sl_errors err = {0};
    sl_csv csv;
    CU_ASSERT_EQUAL(sl_csv_open(&csv, text, used, arena, &err), SL_E_SYNTAX);
    text[used - 3] = '\n'; /* one column less */
    CU_ASSERT_EQUAL(sl_csv_open(&csv, text, used - 2, arena, &err), SL_OK);
    CU_ASSERT_EQUAL(csv.column_count, SL_CSV_COLUMNS_MAX);
    sl_arena_free(arena);
}

static void
lines_are_counted_through_quotes_and_comments(void)
{
    static const char text[] = "# one\na,b\n\"x\ny\",1\n\n2,2\n";
    sl_arena *const arena = sl_arena_new(ARENA_BYTES);
    CU_ASSERT_PTR_NOT_NULL_FATAL(arena);
    sl_errors err = {0};
    sl_csv csv;
    bool more = false;
    CU_ASSERT_EQUAL(sl_csv_open(&csv, text, sizeof text - 1, arena, &err), SL_OK);
    CU_ASSERT_EQUAL(csv.line, 2);
    CU_ASSERT_EQUAL(sl_csv_next(&csv, &more, &err), SL_OK);
    CU_ASSERT_EQUAL(csv.line, 3);
    CU_ASSERT_EQUAL(sl_csv_next(&csv, &more, &err), SL_OK);
    CU_ASSERT_EQUAL(csv.line, 6);
    CU_ASSERT_TRUE(more);
    sl_arena_free(arena);
}

static void
numbers_are_read_by_column(void)
{
    static const char text[] = "a,b,c,d\n1.5,,N/A,fast\n";
    sl_arena *const arena = sl_arena_new(ARENA_BYTES);
    CU_ASSERT_PTR_NOT_NULL_FATAL(arena);
    sl_errors err = {0};
    sl_csv csv;
    bool more = false;
    double value = 0;
    CU_ASSERT_EQUAL(sl_csv_open(&csv, text, sizeof text - 1, arena, &err), SL_OK);
    sl_expect_text(sl_csv_get(&csv, "a"), "", "no row yet");
    CU_ASSERT_EQUAL(sl_csv_next(&csv, &more, &err), SL_OK);
    CU_ASSERT_EQUAL(sl_csv_number(&csv, "a", -1, &value, &err), SL_OK);
    sl_expect_near(value, 1.5, 0, "a");
    CU_ASSERT_EQUAL(sl_csv_number(&csv, "b", -1, &value, &err), SL_OK);
    sl_expect_near(value, -1, 0, "empty");
    CU_ASSERT_EQUAL(sl_csv_number(&csv, "c", -2, &value, &err), SL_OK);
    sl_expect_near(value, -2, 0, "n/a");
    CU_ASSERT_EQUAL(sl_csv_number(&csv, "no such column", -3, &value, &err), SL_OK);
    sl_expect_near(value, -3, 0, "no column");
    CU_ASSERT_EQUAL(err.count, 0);
    CU_ASSERT_EQUAL(sl_csv_number(&csv, "d", -4, &value, &err), SL_E_SYNTAX);
    sl_expect_near(value, -3, 0, "untouched");
    sl_expect_text(err.list[0].rule, "not_a_number", "rule");
    sl_expect_text(err.list[0].message, "line 2, column d: must be a number, got \"fast\"",
                   "error");
    sl_arena_free(arena);
}

static void
reading_goes_on_behind_a_row_of_another_length(void)
{
    static const char text[] = "a,b\n1\n3,4\n";
    sl_arena *const arena = sl_arena_new(ARENA_BYTES);
    CU_ASSERT_PTR_NOT_NULL_FATAL(arena);
    sl_errors err = {0};
    sl_csv csv;
    bool more = false;
    CU_ASSERT_EQUAL(sl_csv_open(&csv, text, sizeof text - 1, arena, &err), SL_OK);
    CU_ASSERT_EQUAL(sl_csv_next(&csv, &more, &err), SL_E_SYNTAX);
    CU_ASSERT_EQUAL(sl_csv_next(&csv, &more, &err), SL_OK);
    sl_expect_text(sl_csv_get(&csv, "b"), "4", "the row behind");
    sl_arena_free(arena);
}

static void
an_exhausted_arena_is_an_error(void)
{
    sl_arena *const arena = sl_arena_new(6);
    CU_ASSERT_PTR_NOT_NULL_FATAL(arena);
    sl_errors err = {0};
    sl_csv csv;
    bool more = false;
    CU_ASSERT_EQUAL(sl_csv_open(&csv, "a,b\nlong,longer\n", 16, arena, &err), SL_OK);
    CU_ASSERT_EQUAL(sl_csv_next(&csv, &more, &err), SL_E_MEMORY);
    CU_ASSERT_EQUAL(sl_csv_open(&csv, "\"abcdefg\"\n", 10, arena, &err), SL_E_MEMORY);
    sl_arena_free(arena);
}

/* Every row of a table, in an arena of its own. */
static size_t
count_rows(const char *path, sl_errors *err)
{
    size_t size = 0, rows = 0;
    sl_csv csv;
    bool more = true;
    char *const text = sl_read_file(path, &size);
    sl_arena *const arena = sl_arena_new(ARENA_BYTES);
    if (text != NULL && arena != NULL && sl_csv_open(&csv, text, size, arena, err) == SL_OK) {
        while (sl_csv_next(&csv, &more, err) == SL_OK && more)
            rows++;
    }
    sl_arena_free(arena);
    free(text);
    return rows;
}

static void
the_published_tables_are_read_whole(void)
{
    const char *const pattern = sl_shared_path("data");
    if (pattern == NULL) {
        sl_skip("the folder of real data is absent");
        return;
    }
    char wildcard[1200];
    (void)snprintf(wildcard, sizeof wildcard, "%s/*.csv", pattern);
    glob_t found = {0};
    CU_ASSERT_EQUAL_FATAL(glob(wildcard, 0, NULL, &found), 0);
    for (size_t i = 0; i < found.gl_pathc; i++) {
        sl_errors err = {0};
        CU_ASSERT_TRUE(count_rows(found.gl_pathv[i], &err) > 0);
        sl_expect_text(err.count > 0 ? err.list[0].message : "", "", found.gl_pathv[i]);
    }
    globfree(&found);
}

int
main(int argc, char **argv)
{
    static const sl_case cases[] = {
        SL_CASE(rows_are_read_as_rfc_4180_says),
        SL_CASE(broken_rows_are_refused_with_their_line),
        SL_CASE(a_missing_header_is_refused),
        SL_CASE(columns_are_bounded),
        SL_CASE(lines_are_counted_through_quotes_and_comments),
        SL_CASE(numbers_are_read_by_column),
        SL_CASE(reading_goes_on_behind_a_row_of_another_length),
        SL_CASE(an_exhausted_arena_is_an_error),
        SL_CASE(the_published_tables_are_read_whole),
    };
    return sl_run_cases(argc, argv, "csv", cases, sizeof cases / sizeof cases[0]);
}
