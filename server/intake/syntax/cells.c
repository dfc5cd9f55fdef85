#include "intake/syntax/cells.h"

#include <assert.h>
#include <string.h>

#include "base/text.h"
#include "shardline/units.h"

static bool
is_blank(char c)
{
    return c == ' ' || c == '\t' || c == '\r' || c == '\n';
}

char *
sl_cell_trim(char *text)
{
    assert(text != NULL);

    while (is_blank(*text))
        text++;
    size_t length = strlen(text);
    while (length > 0 && is_blank(text[length - 1]))
        length--;
    text[length] = '\0';
    return text;
}

/* Of a cell that begins with a quote: unfolds it in place; *rest is what follows its end. */
static char *
unquote(char *cell, char **rest)
{
    char *to = cell;
    char *from = cell + 1;

    for (; *from != '\0'; from++) {
        if (*from == '"' && from[1] != '"')
            break;
        from += *from == '"';
        *to++ = *from;
    }
    *rest = *from == '"' ? from + 1 : from;
    *to = '\0';
    return cell;
}

void
sl_cells_split(char *line, char separator, sl_cells *out)
{
    assert(line != NULL && out != NULL);

    out->count = 0;
    char *at = line;
    while (out->count < SL_CELLS_MAX) {
        while (*at != separator && is_blank(*at))
            at++;
        char *rest = at;
        char *cell = *at == '"' ? unquote(at, &rest) : at;
        char *const cut = strchr(rest, separator);
        if (cut != NULL)
            *cut = '\0';
        out->at[out->count++] = sl_cell_trim(cell);
        if (cut == NULL)
            break;
        at = cut + 1;
    }
}

void
sl_cells_words(char *line, sl_cells *out)
{
    assert(line != NULL && out != NULL);

    out->count = 0;
    for (char *at = line; out->count < SL_CELLS_MAX;) {
        while (is_blank(*at))
            at++;
        if (*at == '\0')
            break;
        out->at[out->count++] = at;
        while (*at != '\0' && !is_blank(*at))
            at++;
        if (*at != '\0')
            *at++ = '\0';
    }
}

const char *
sl_cell_at(const sl_cells *cells, uint32_t at)
{
    return at >= cells->count || sl_cell_is_nothing(cells->at[at]) ? "" : cells->at[at];
}

bool
sl_cell_count(const char *text, uint32_t *out, const char **end)
{
    assert(text != NULL && out != NULL && end != NULL);

    uint32_t value = 0;
    const char *at = text;
    for (; *at >= '0' && *at <= '9'; at++) {
        if (value > (UINT32_MAX - 9) / 10)
            return false;
        value = 10 * value + (uint32_t)(*at - '0');
    }
    if (at == text)
        return false;
    *out = value;
    *end = at;
    return true;
}

bool
sl_cell_quantity(const char *text, const char *unit, double *out)
{
    static const struct {
        const char *name;
        double factor;
    } units[] = {{"B", 1},
                 {"KiB", SL_KIB_BYTES},
                 {"MiB", SL_MIB_BYTES},
                 {"GiB", SL_GIB_BYTES},
                 {"KB", SL_KIB_BYTES},
                 {"MB", SL_MIB_BYTES},
                 {"GB", SL_GIB_BYTES},
                 {"W", 1},
                 {"mW", 1e-3}};
    char number[32];
    double value = 0;
    assert(text != NULL && unit != NULL && out != NULL);

    text += strspn(text, " \t");
    const size_t length = strspn(text, "0123456789.");
    if (length == 0 || length >= sizeof number)
        return false;
    memcpy(number, text, length);
    number[length] = '\0';
    if (!sl_text_to_double(number, &value))
        return false;
    const char *printed = text + length + strspn(text + length, " \t");
    printed = *printed == '\0' ? unit : printed;
    for (size_t i = 0; i < sizeof units / sizeof units[0]; i++) {
        const size_t size = strlen(units[i].name);
        if (strncmp(printed, units[i].name, size) == 0 &&
            strspn(printed + size, " \t") == strlen(printed + size)) {
            *out = value * units[i].factor;
            return true;
        }
    }
    return false;
}

bool
sl_cell_is_nothing(const char *text)
{
    static const char *const nothing[] = {
        "", "N/A", "[N/A]", "None", "Not Supported", "[Not Supported]", "Unknown", "null", "NA"};
    assert(text != NULL);

    /* Nearly every cell is a value, and most can be told by their first byte. */
    if (strchr("NnEeUuRrGgIi[", *text) == NULL)
        return false;
    for (size_t i = 0; i < sizeof nothing / sizeof nothing[0]; i++)
        if (sl_text_equal_ignoring_case(text, nothing[i]))
            return true;
    return sl_cell_is_failure(text) || strstr(text, "has been deprecated") != NULL ||
           strstr(text, "Insufficient Permissions") != NULL;
}

bool
sl_cell_is_failure(const char *text)
{
    static const char *const words[] = {"Unknown Error", "GPU is lost", "GPU requires reset",
                                        "ERR!"};
    assert(text != NULL);

    for (size_t i = 0; i < sizeof words / sizeof words[0]; i++)
        if (strstr(text, words[i]) != NULL)
            return true;
    return false;
}
