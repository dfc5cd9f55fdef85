/**
 * RFC 4180 rows, read in place: the one row reader for embedded tables and users' rows.
 * Quoted fields, doubled quotes, LF or CRLF; '#' starts a comment line, empty lines are skipped.
 * Bounded columns.
 */
#ifndef SL_BASE_CSV_H
#define SL_BASE_CSV_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/arena.h"
#include "shardline/error.h"

enum { SL_CSV_COLUMNS_MAX = 96 };

typedef struct sl_csv {
    const char *at, *end;
    sl_arena *arena;
    uint32_t line;      /* the row read last starts on it, from 1 */
    uint32_t next_line; /* the line `at` stands on */
    uint32_t column_count;
    const char *header[SL_CSV_COLUMNS_MAX];
    const char *field[SL_CSV_COLUMNS_MAX]; /* of the current row, NUL-terminated in the arena */
} sl_csv;

/** Reads the header row. text is borrowed; fields live in the arena. Column names are distinct. */
sl_code sl_csv_open(sl_csv *csv, const char *text, size_t size, sl_arena *arena,
                    sl_errors *err) SL_MUST_CHECK;

/** SL_OK with *more = false after the last row. A row with another number of fields is an
 * error (column_count); reading may go on behind it. Every fault is SL_E_SYNTAX and says its line.
 */
sl_code sl_csv_next(sl_csv *csv, bool *more, sl_errors *err) SL_MUST_CHECK;

/** Field of the current row by column name; "" when the column does not exist. */
const char *sl_csv_get(const sl_csv *csv, const char *column);

/** Number in a column; `absent` when the field is empty or "n/a"; an error when it is no number. */
sl_code sl_csv_number(const sl_csv *csv, const char *column, double absent, double *out,
                      sl_errors *err) SL_MUST_CHECK;

#endif
