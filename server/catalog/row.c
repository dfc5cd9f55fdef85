#include "catalog/row.h"

#include <math.h>

#include "base/text.h"

void
sl_row_fault(sl_row *t, const char *column, const char *what)
{
    t->code = sl_fail(t->err, SL_E_INTERNAL, "bad_catalog", "", "%s line %u, %s: %s", t->file,
                      t->csv.line, column, what);
}

double
sl_row_number(sl_row *t, const char *column)
{
    double value = 0;
    const sl_code code = sl_csv_number(&t->csv, column, 0, &value, t->err);
    if (code != SL_OK)
        t->code = code;
    if (value < 0)
        sl_row_fault(t, column, "must not be negative");
    return value;
}

uint64_t
sl_row_whole(sl_row *t, const char *column, double max)
{
    const double value = sl_row_number(t, column);
    if (value > max || floor(value) != value) {
        sl_row_fault(t, column, "must be a whole number in range");
        return 0;
    }
    return (uint64_t)value;
}

uint32_t
sl_row_whole32(sl_row *t, const char *column)
{
    return (uint32_t)sl_row_whole(t, column, 1e9);
}

const char *
sl_row_text(sl_row *t, const char *column)
{
    return sl_csv_get(&t->csv, column);
}

void
sl_row_copy(sl_row *t, const char *column, char *to, size_t size)
{
    if (!sl_text_copy(to, size, sl_row_text(t, column)))
        sl_row_fault(t, column, "is too long");
}

const char *
sl_row_required(sl_row *t, const char *column)
{
    const char *const field = sl_row_text(t, column);
    if (*field == '\0')
        sl_row_fault(t, column, "must not be empty");
    return field;
}

bool
sl_row_flag(sl_row *t, const char *column)
{
    return sl_row_whole32(t, column) == 1;
}
