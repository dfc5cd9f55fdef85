#include "base/csv.h"

#include <assert.h>
#include <string.h>

#include "base/text.h"

static sl_code
malformed(const sl_csv *csv, sl_errors *err, const char *what)
{
    return sl_fail(err, SL_E_SYNTAX, "malformed_csv", "", "line %u: %s", csv->next_line, what);
}

static bool
at_line_end(const sl_csv *csv)
{
    return csv->at == csv->end || *csv->at == '\n' ||
           (*csv->at == '\r' && csv->at + 1 < csv->end && csv->at[1] == '\n');
}

static void
skip_line_end(sl_csv *csv)
{
    if (csv->at == csv->end)
        return;
    csv->at += *csv->at == '\r' ? 2 : 1;
    csv->next_line++;
}

static void
skip_blank_and_comment_lines(sl_csv *csv)
{
    while (csv->at < csv->end && (at_line_end(csv) || *csv->at == '#')) {
        while (!at_line_end(csv))
            csv->at++;
        skip_line_end(csv);
    }
}

/* csv->at stands behind the opening quote. */
static sl_code
read_quoted(sl_csv *csv, const char **out, sl_errors *err)
{
    const char *const start = csv->at;
    size_t length = 0, doubled = 0;
    for (;; length++) {
        if (start + length == csv->end)
            return malformed(csv, err, "a quoted field never ends");
        if (start[length] == '\0')
            return malformed(csv, err, "a field holds a NUL byte");
        if (start[length] != '"')
            continue;
        if (start + length + 1 == csv->end || start[length + 1] != '"')
            break;
        length++;
        doubled++;
    }

    char *const field = sl_arena_copy_bytes(csv->arena, start, length - doubled);
    if (field == NULL)
        return sl_fail(err, SL_E_MEMORY, "out_of_memory", "", "line %u does not fit",
                       csv->next_line);
    for (size_t from = 0, to = 0; from < length; from++, to++) {
        field[to] = start[from];
        if (start[from] == '"')
            from++;
        if (start[from] == '\n')
            csv->next_line++;
    }
    csv->at = start + length + 1;
    if (!at_line_end(csv) && *csv->at != ',')
        return malformed(csv, err, "text follows the closing quote of a field");
    *out = field;
    return SL_OK;
}

static sl_code
read_plain(sl_csv *csv, const char **out, sl_errors *err)
{
    const char *const start = csv->at;
    for (; !at_line_end(csv) && *csv->at != ','; csv->at++) {
        if (*csv->at == '"')
            return malformed(csv, err, "a quote stands inside a field that is not quoted");
        if (*csv->at == '\0' || *csv->at == '\r')
            return malformed(csv, err, "a field holds a NUL byte or a lone carriage return");
    }
    *out = sl_arena_copy_bytes(csv->arena, start, (size_t)(csv->at - start));
    if (*out == NULL)
        return sl_fail(err, SL_E_MEMORY, "out_of_memory", "", "line %u does not fit",
                       csv->next_line);
    return SL_OK;
}

/* Fields of one row; csv->at stands on its first byte and ends behind its line end. */
static sl_code
read_row(sl_csv *csv, const char *fields[SL_CSV_COLUMNS_MAX], uint32_t *count, sl_errors *err)
{
    csv->line = csv->next_line;
    for (*count = 0;; csv->at++) {
        if (*count == SL_CSV_COLUMNS_MAX)
            return malformed(csv, err, "too many columns");
        const bool quoted = csv->at < csv->end && *csv->at == '"';
        if (quoted)
            csv->at++;
        const sl_code code =
            quoted ? read_quoted(csv, &fields[*count], err) : read_plain(csv, &fields[*count], err);
        if (code != SL_OK)
            return code;
        (*count)++;
        if (at_line_end(csv))
            break;
    }
    skip_line_end(csv);
    return SL_OK;
}

sl_code
sl_csv_open(sl_csv *csv, const char *text, size_t size, sl_arena *arena, sl_errors *err)
{
    assert(csv != NULL && (text != NULL || size == 0) && arena != NULL && err != NULL);

    static const char byte_order_mark[] = "\xEF\xBB\xBF";
    const char *const start = text != NULL ? text : "";
    *csv = (sl_csv){.at = start, .end = start + size, .arena = arena, .next_line = 1};
    if (size >= 3 && memcmp(start, byte_order_mark, 3) == 0)
        csv->at += 3;
    skip_blank_and_comment_lines(csv);
    if (csv->at == csv->end)
        return sl_fail(err, SL_E_SYNTAX, "malformed_csv", "", "the header row is missing");

    const sl_code code = read_row(csv, csv->header, &csv->column_count, err);
    if (code != SL_OK)
        return code;
    for (uint32_t i = 1; i < csv->column_count; i++) {
        if (sl_text_index(csv->header[i], csv->header, i) >= 0)
            return sl_fail(err, SL_E_SYNTAX, "malformed_csv", "",
                           "line %u: column \"%s\" appears twice", csv->line, csv->header[i]);
    }
    return SL_OK;
}

sl_code
sl_csv_next(sl_csv *csv, bool *more, sl_errors *err)
{
    assert(csv != NULL && more != NULL && err != NULL);

    skip_blank_and_comment_lines(csv);
    if (csv->at == csv->end) {
        *more = false;
        return SL_OK;
    }
    uint32_t count = 0;
    const sl_code code = read_row(csv, csv->field, &count, err);
    if (code != SL_OK)
        return code;
    if (count != csv->column_count)
        return sl_fail(err, SL_E_SYNTAX, "column_count", "",
                       "line %u must have the header's %u fields, got %u", csv->line,
                       csv->column_count, count);
    *more = true;
    return SL_OK;
}

const char *
sl_csv_get(const sl_csv *csv, const char *column)
{
    assert(csv != NULL && column != NULL);

    const int index = sl_text_index(column, csv->header, csv->column_count);
    return index >= 0 && csv->field[index] != NULL ? csv->field[index] : "";
}

sl_code
sl_csv_number(const sl_csv *csv, const char *column, double absent, double *out, sl_errors *err)
{
    assert(csv != NULL && column != NULL && out != NULL && err != NULL);

    const char *const field = sl_csv_get(csv, column);
    double value = absent;
    if (*field != '\0' && !sl_text_equal_ignoring_case(field, "n/a") &&
        !sl_text_to_double(field, &value))
        return sl_fail(err, SL_E_SYNTAX, "not_a_number", "",
                       "line %u, column %s: must be a number, got \"%s\"", csv->line, column,
                       field);
    *out = value;
    return SL_OK;
}
